"""Frames and output: nothing a plugin or its environment prints reaches the frame pipe."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from driver import PATIENCE_S, WorkerProcess, interpreter, sources

PTH = (
    'import os, sys; os.write(1, b\'{"type":"ready"}\'); '
    "print('from a pth file'); print(repr(sys.stdin.read()), end='')\n"
)
SITECUSTOMIZE = "import os\nprint('from sitecustomize')\nos.write(1, bytes(4))\nos.system('echo from a shell')\n"


class Output(unittest.TestCase):
    """The probe plugin prints in every way."""

    @classmethod
    def setUpClass(cls):
        cls.worker = WorkerProcess()
        cls.addClassCleanup(cls.worker.__exit__)
        ready = cls.worker.start("probe.Probe", ["tool_pre_invoke"])
        assert ready["type"] == "ready", ready

    def call(self, name, **args):
        return self.worker.call("tool_pre_invoke", {"name": name, "args": args})

    def test_prints_of_all_kinds_are_log(self):
        for _ in range(2):
            self.assertEqual(self.call("print")["metadata"], {"printed": True})
        self.assertEqual(self.call("allow")["verdict"], "allow")
        for text in (
            "printed line\n",
            '{"type":"answer"}',
            "raw write\n",
            "from a child\n",
            "from a thread\n",
            "\\ud800 surrogate\n",
            "on stderr\n",
            "on the first stdout\n",
            "INFO probe: logged\n",
        ):
            self.worker.log_with(text)

    def test_flood(self):
        self.assertEqual(self.call("flood")["verdict"], "allow")
        self.assertEqual(self.worker.log_with("end of the flood").count("x" * 1000), 2000)

    def test_stdin_is_empty(self):
        self.assertEqual(self.call("stdin")["metadata"], {"input": "EOFError", "read": "", "raw": "", "child": "''"})


class UndrainedLog(unittest.TestCase):
    """A host that does not read the log loses text, not the worker."""

    def test_flood_into_a_full_pipe(self):
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, read_end)
        worker = WorkerProcess(stderr=write_end)
        os.close(write_end)
        self.addCleanup(worker.__exit__)
        worker.start("probe.Probe", ["tool_pre_invoke"])
        for _ in range(2):
            self.assertEqual(worker.call("tool_pre_invoke", {"name": "flood"})["verdict"], "allow")

    def test_log_that_nobody_holds(self):
        read_end, write_end = os.pipe()
        worker = WorkerProcess(stderr=write_end)
        os.close(write_end)
        self.addCleanup(worker.__exit__)
        worker.start("probe.Probe", ["tool_pre_invoke"])
        os.close(read_end)
        self.assertEqual(worker.call("tool_pre_invoke", {"name": "flood"})["verdict"], "allow")


class Environment(unittest.TestCase):
    """An environment whose start-up code prints and reads."""

    def test_start_up_code_cannot_reach_the_frames(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([interpreter(), "-m", "venv", "--without-pip", directory], check=True)
            python = str(Path(directory, "bin", "python"))
            ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
            ours, packages = (
                subprocess.run([p, "-c", ask], check=True, capture_output=True, text=True).stdout.strip()
                for p in (python, interpreter())
            )
            Path(ours, "noisy.pth").write_text(f"{packages}\n{PTH}", encoding="utf-8")
            Path(ours, "sitecustomize.py").write_text(SITECUSTOMIZE, encoding="utf-8")
            with WorkerProcess(python=python) as worker:
                ready = worker.start("quiet.Quiet", ["tool_pre_invoke"])
                self.assertEqual((ready["type"], ready["hooks"]), ("ready", ["tool_pre_invoke"]))
                self.assertEqual(worker.call("tool_pre_invoke", {"name": "t"})["verdict"], "allow")
                for text in ("from a pth file\n''", "from sitecustomize", "from a shell", '{"type":"ready"}'):
                    worker.log_with(text)

    def test_environment_without_the_framework(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([interpreter(), "-m", "venv", "--without-pip", directory], check=True)
            with WorkerProcess(python=str(Path(directory, "bin", "python"))) as worker:
                failed = worker.start("quiet.Quiet", ["tool_pre_invoke"])
                self.assertEqual((failed["type"], failed["stage"]), ("failed", "framework"))
                self.assertIn("cannot import cpex.framework", failed["message"])
                self.assertEqual(worker.process.wait(PATIENCE_S), 1)


class BrokenFrames(unittest.TestCase):
    """What the worker cannot understand, and the end of the pipe."""

    def setUp(self):
        self.worker = WorkerProcess()
        self.addCleanup(self.worker.__exit__)

    def assert_exit_2(self, text):
        self.assertIsNone(self.worker.receive())
        self.assertEqual(self.worker.process.wait(PATIENCE_S), 2)
        self.assertIn(text, self.worker.whole_log())

    def test_end_before_the_first_frame(self):
        os.close(self.worker.write_fd)
        self.worker.write_fd = None
        self.assertEqual(self.worker.process.wait(PATIENCE_S), 0)

    def test_first_frame_that_is_not_the_sources(self):
        self.worker.send({"type": "start"})
        self.assert_exit_2("the first frame must be of type 'sources', not 'start'")

    def test_frame_that_is_not_json(self):
        self.worker.send(sources())
        self.worker.send_body(b"{")
        self.assert_exit_2("a frame is not JSON")

    def test_frames_out_of_place(self):
        cases = [
            ({"type": "dance"}, "a frame of type 'dance'"),
            ({"type": "call", "id": 1}, "a call before the plugin is ready"),
            ({"type": "start", "protocol": 1}, "protocol 1, 2 is possible"),
            ([], "a frame is not an object"),
        ]
        for frame, text in cases:
            with self.subTest(text), WorkerProcess() as self.worker:
                self.worker.send(sources())
                self.worker.send(frame)
                self.assert_exit_2(text)

    def test_length_out_of_reach(self):
        self.worker.send(sources())
        os.write(self.worker.write_fd, b"\xff\xff\xff\xff")
        self.assert_exit_2("a frame of 4294967295 bytes")


class Frames(unittest.TestCase):
    """Frames of all sizes."""

    @classmethod
    def setUpClass(cls):
        cls.worker = WorkerProcess()
        cls.addClassCleanup(cls.worker.__exit__)
        ready = cls.worker.start("probe.Probe", ["tool_pre_invoke", "tool_post_invoke"])
        assert ready["type"] == "ready", ready

    def test_frame_in_pieces_and_frames_together(self):
        body = b'{"type":"call","id":%d,"hook":"tool_pre_invoke","payload":{"name":"allow"},"request":{"id":"r"}}'
        frames = b"".join(len(body % n).to_bytes(4, "big") + body % n for n in (910, 911, 912))
        cut = len(frames) // 2 + 3
        for piece in (frames[:1], frames[1:5], frames[5:cut], frames[cut:]):
            os.write(self.worker.write_fd, piece)
        self.assertEqual([self.worker.receive()["id"] for _ in range(3)], [910, 911, 912])

    def test_large_payload_and_large_answer(self):
        large = ["é" * 1000 for _ in range(4000)]
        answer = self.worker.call(
            "tool_post_invoke", {"name": "t", "result": large}, shared={"target": large[::-1] + ["x"]}
        )
        self.assertEqual(answer["edits"], [{"op": "set", "at": "/result/-", "value": "x"}])
        answer = self.worker.call("tool_post_invoke", {"name": "t", "result": 1}, shared={"target": large})
        self.assertEqual(answer["edits"][0]["value"], large)

    def test_integer_with_too_many_digits(self):
        call = (
            b'{"type":"call","id":905,"hook":"tool_pre_invoke","request":{"id":"r"},'
            b'"payload":{"name":"allow","args":{"n":%s}}}'
        )
        self.worker.send_body(call % (b"7" * 100_001))
        answer = self.worker.receive()
        self.assertEqual((answer["type"], answer["id"], answer["kind"]), ("fault", 905, "plugin_error"))
        self.assertIn("more digits", answer["message"])
        self.worker.send_body(call % (b"7" * 20_000))
        self.assertEqual(self.worker.receive()["verdict"], "allow")

    def test_descriptors_are_not_inherited(self):
        self.assertTrue(sys.platform.startswith("linux"), "the worker is for Linux")
        own = [os.readlink(f"/proc/{os.getpid()}/fd/{fd}") for fd in (self.worker.read_fd, self.worker.write_fd)]
        answer = self.worker.call("tool_pre_invoke", {"name": "child_descriptors"})
        self.assertEqual([link for link in answer["metadata"]["links"] if link in own], [])
        self.assertIn("/dev/null", answer["metadata"]["links"])


if __name__ == "__main__":
    unittest.main()
