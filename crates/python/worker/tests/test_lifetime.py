"""Start, calls in flight, background tasks and the end of a worker."""

import os
import signal
import tempfile
import unittest

from driver import PATIENCE_S, WorkerProcess


class Start(unittest.TestCase):
    """What becomes of a start frame."""

    def start(self, class_path, hooks=(), **changes):
        self.worker = WorkerProcess()
        self.addCleanup(self.worker.__exit__)
        return self.worker.start(class_path, list(hooks), **changes)

    def assert_failed(self, answer, stage, *texts):
        self.assertEqual((answer["type"], answer["stage"]), ("failed", stage), answer)
        for text in texts:
            self.assertIn(text, answer["message"])
        self.assertIsNone(self.worker.receive())
        self.assertEqual(self.worker.process.wait(PATIENCE_S), 1)

    def test_missing_module(self):
        answer = self.start("no_such_module.Class")
        self.assert_failed(answer, "import", "cannot import module 'no_such_module'", "ModuleNotFoundError")

    def test_module_that_raises(self):
        answer = self.start("broken.Class")
        self.assertIn("missing on purpose", answer["traceback"])
        self.assert_failed(answer, "import", "ImportError: missing on purpose")

    def test_missing_class(self):
        self.assert_failed(self.start("quiet.Loud"), "class", "module 'quiet' has no class 'Loud', it has: Quiet")

    def test_class_without_module(self):
        self.assert_failed(self.start("Loud"), "class", "'Loud' names no class", "hint:")

    def test_config_that_does_not_fit(self):
        answer = self.start("quiet.Quiet", plugin={"capabilities": ["fly"]})
        self.assert_failed(answer, "config", "Unknown capability: 'fly'")

    def test_init_raises(self):
        self.assert_failed(
            self.start("lives.InitRaises"), "initialize", "cannot make a lives.InitRaises", "in __init__"
        )

    def test_initialize_raises(self):
        answer = self.start("lives.InitializeRaises")
        self.assertIn('raise RuntimeError("in initialize")', answer["traceback"])
        self.assert_failed(answer, "initialize", "RuntimeError: in initialize")

    def test_initialize_exits(self):
        self.assert_failed(self.start("lives.InitializeExits"), "initialize", "SystemExit: 5")

    def test_initialize_is_cancelled(self):
        self.assert_failed(self.start("lives.InitializeCancelled"), "initialize", "CancelledError")

    def test_missing_workdir(self):
        self.assert_failed(
            self.start("quiet.Quiet", workdir="/no/such/directory"), "config", "cannot work in directory"
        )

    def test_what_the_plugin_sees(self):
        with tempfile.TemporaryDirectory() as directory:
            plugin = {
                "mode": "enforce_ignore_error",
                "on_error": "ignore",
                "capabilities": ["read_headers"],
                "config": {"k": [1]},
            }
            ready = self.start("probe.Probe", ["tool_pre_invoke"], workdir=directory, plugin=plugin)
            self.assertEqual(ready["type"], "ready", ready)
            request = {
                "id": "r9",
                "user": {"email": "u"},
                "user_context": {"user_id": "u", "groups": ["g"], "authenticated_at": "2026-01-02T03:04:05Z"},
                "tenant_id": "t",
                "server_id": "s",
                "content_type": "application/json",
                "metadata": {"m": 1},
            }
            seen = self.worker.call("tool_pre_invoke", {"name": "describe"}, request=request)["metadata"]
            self.assertEqual(
                seen["config"],
                {
                    "name": "under-test",
                    "kind": "probe.Probe",
                    "mode": "sequential",
                    "on_error": "ignore",
                    "priority": 7,
                    "version": "1.0.0",
                    "tags": ["t"],
                    "config": {"k": [1]},
                    "capabilities": ["read_headers"],
                },
            )
            user = request.pop("user_context")
            self.assertEqual(seen["request"], {**request, "groups": ["g"], "at": user["authenticated_at"]})
            self.assertEqual(os.path.realpath(seen["cwd"]), os.path.realpath(directory))
            self.assertNotIn("HOOKGATE_TEST_PYTHON", seen["env"])

    def test_shutdown_while_initializing(self):
        self.worker = WorkerProcess()
        self.addCleanup(self.worker.__exit__)
        # `start` waits for an answer that never comes, so the frames are sent alone.
        self.worker.receive = lambda: None
        self.worker.start("lives.InitializeHangs", [])
        del self.worker.receive
        self.worker.log_with("initializing")
        self.worker.send({"type": "shutdown"})
        self.assertEqual(self.worker.receive(), {"type": "bye"})
        self.assertEqual(self.worker.process.wait(PATIENCE_S), 0)


class InFlight(unittest.TestCase):
    """Several calls at once."""

    @classmethod
    def setUpClass(cls):
        cls.worker = WorkerProcess()
        cls.addClassCleanup(cls.worker.__exit__)
        ready = cls.worker.start("probe.Probe", ["tool_pre_invoke"])
        assert ready["type"] == "ready", ready

    def post(self, name, **args):
        return self.worker.post("tool_pre_invoke", {"name": name, "args": args})

    def test_ten_calls_wait_for_an_eleventh(self):
        waiting = {self.post("wait", n=n): n for n in range(10)}
        opener = self.post("open")
        answers = {answer["id"]: answer for answer in (self.worker.receive() for _ in range(11))}
        self.assertEqual(answers.pop(opener)["verdict"], "allow")
        self.assertEqual({i: a["metadata"]["n"] for i, a in answers.items()}, waiting)
        self.assertEqual({i: a["state"]["set"]["state:waited"] for i, a in answers.items()}, waiting)

    def test_cancel(self):
        for name in ("hang", "hang_stubbornly"):
            hanging = self.post(name)
            self.assertEqual(self.worker.call("tool_pre_invoke", {"name": "allow"})["verdict"], "allow")
            self.worker.send({"type": "cancel", "id": hanging})
            self.assertEqual(self.worker.receive(), {"type": "cancelled", "id": hanging})
        self.assertEqual(self.worker.call("tool_pre_invoke", {"name": "allow"})["verdict"], "allow")

    def test_cancel_that_comes_with_its_call(self):
        written = []
        self.worker.send_body = written.append
        hanging = self.post("hang")
        self.worker.send({"type": "cancel", "id": hanging})
        del self.worker.send_body
        os.write(self.worker.write_fd, b"".join(len(body).to_bytes(4, "big") + body for body in written))
        self.assertEqual(self.worker.receive(), {"type": "cancelled", "id": hanging})
        self.assertEqual(self.worker.call("tool_pre_invoke", {"name": "allow"})["verdict"], "allow")

    def test_cancel_after_the_answer_and_of_no_call(self):
        answered = self.worker.call("tool_pre_invoke", {"name": "allow"})["id"]
        for call_id in (answered, 777):
            self.worker.send({"type": "cancel", "id": call_id})
        self.assertEqual(self.worker.call("tool_pre_invoke", {"name": "allow"})["verdict"], "allow")

    def test_interrupt_from_the_terminal(self):
        os.kill(self.worker.process.pid, signal.SIGINT)
        self.assertEqual(self.worker.call("tool_pre_invoke", {"name": "allow"})["verdict"], "allow")


class Life(unittest.TestCase):
    """A plugin with a task of its own."""

    def setUp(self):
        self.worker = WorkerProcess()
        self.addCleanup(self.worker.__exit__)
        self.assertEqual(self.worker.start("lives.Lives", ["tool_pre_invoke"])["type"], "ready")

    def test_background_task_ticks_while_idle(self):
        self.worker.log_with("tick 20.")

    def test_exit_in_a_background_task(self):
        self.assertEqual(self.worker.call("tool_pre_invoke", {"name": "leave"})["verdict"], "allow")
        log = self.worker.log_with("the plugin raised SystemExit: 6 outside a call")
        self.worker.log_with(f"tick {log.count('tick') + 3}.")
        self.assertEqual(self.worker.call("tool_pre_invoke", {"name": "allow"})["verdict"], "allow")

    def test_shutdown_is_awaited(self):
        self.worker.send({"type": "shutdown"})
        self.assertEqual(self.worker.receive(), {"type": "bye"})
        self.assertIsNone(self.worker.receive())
        self.assertEqual(self.worker.process.wait(PATIENCE_S), 0)
        log = self.worker.whole_log()
        self.assertRegex(log, "(?s)shutting down .*done.*ticker ended")

    def test_shutdown_cancels_what_is_in_flight(self):
        hanging = self.worker.post("tool_pre_invoke", {"name": "hang"})
        self.worker.send({"type": "shutdown"})
        self.assertEqual(self.worker.receive(), {"type": "cancelled", "id": hanging})
        self.assertEqual(self.worker.receive(), {"type": "bye"})
        self.assertEqual(self.worker.process.wait(PATIENCE_S), 0)

    def test_end_of_the_pipe_shuts_down(self):
        self.leave_alone()
        self.assertRegex(self.worker.whole_log(), "(?s)shutting down .*done")

    def test_end_of_the_pipe_ends_children_and_threads(self):
        for name in ("child", "thread"):
            self.assertEqual(self.worker.call("tool_pre_invoke", {"name": name})["verdict"], "allow")
        self.leave_alone()
        # The log's pipe is open for as long as the child lives.
        self.worker.whole_log()
        self.assertFalse(self.worker.is_heard())

    def test_end_of_the_pipe_ends_a_plugin_that_blocks(self):
        self.worker.post("tool_pre_invoke", {"name": "block"})
        self.worker.log_with("blocking")
        self.leave_alone()

    def leave_alone(self):
        """What the worker sees when its host is killed."""
        os.close(self.worker.write_fd)
        self.worker.write_fd = None
        self.assertIsNone(self.worker.receive())
        self.assertEqual(self.worker.process.wait(PATIENCE_S), -signal.SIGKILL)

    def test_host_that_no_longer_reads(self):
        os.close(self.worker.read_fd)
        self.worker.read_fd = None
        self.worker.post("tool_pre_invoke", {"name": "allow"})
        self.assertEqual(self.worker.process.wait(PATIENCE_S), -signal.SIGKILL)
        self.assertRegex(self.worker.whole_log(), "(?s)shutting down .*done")


class ShutdownRaises(unittest.TestCase):
    """A plugin that cannot be shut down in order."""

    def test_worker_ends_all_the_same(self):
        with WorkerProcess() as worker:
            worker.start("lives.ShutdownRaises", [])
            worker.send({"type": "shutdown"})
            self.assertEqual(worker.receive(), {"type": "bye"})
            self.assertEqual(worker.process.wait(PATIENCE_S), 0)
            self.assertIn("RuntimeError: in shutdown", worker.whole_log())


if __name__ == "__main__":
    unittest.main()
