"""Every defect of the reference host that can be seen at a worker, and what is right instead.

The numbers are those of the table in the README, which also names the tests of what only the host shows.
"""

import os
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from driver import PATIENCE_S, PLUGINS, WorkerProcess

UNCHANGED = {"set": {}, "remove": []}
VIOLATION = {
    "code": "NO",
    "reason": "r",
    "description": "d",
    "details": {"n": 1},
    "mcp_error_code": None,
    "http_status_code": None,
    "http_headers": {},
}


class Rig(unittest.TestCase):
    """Starts workers and ends them."""

    def start(self, class_path, hooks=("tool_pre_invoke",), config=None, **changes):
        worker = WorkerProcess()
        self.addCleanup(worker.__exit__)
        ready = worker.start(class_path, list(hooks), config, **changes)
        self.assertEqual(ready["type"], "ready", ready)
        return worker

    def call(self, worker, name, **given):
        return worker.call("tool_pre_invoke", {"name": name, "args": given.pop("args", {})}, **given)


class Defects(Rig):
    """The numbered ones."""

    def test_defect_01_context_writes_come_back(self):
        worker = self.start("states.States")
        steps = [
            ["state", "set", "s", [1]],
            ["metadata", "set", "m", {"a": None}],
            ["shared", "set", "g", 1.5],
            ["request", "set", "r", True],
            ["shared", "remove", "gone", None],
        ]
        answer = self.call(worker, "t", args={"steps": steps}, shared={"gone": 1})
        self.assertEqual(answer["state"], {"set": {"state:s": [1], "metadata:m": {"a": None}}, "remove": []})
        self.assertEqual(answer["shared"], {"set": {"g": 1.5}, "remove": ["gone"]})
        self.assertEqual(answer["request_metadata"], {"set": {"r": True}, "remove": []})

    def test_defect_02_the_plugin_sees_who_calls(self):
        request = {
            "id": "r9",
            "user": {"email": "u"},
            "tenant_id": "t",
            "server_id": "s",
            "content_type": "application/json",
            "user_context": {"user_id": "u", "groups": ["g"]},
            "metadata": {"m": 1},
        }
        seen = self.call(self.start("defects.Entry"), "t", request=request)["metadata"]["request"]
        groups = request.pop("user_context")["groups"]
        self.assertEqual(seen, {**request, "groups": groups})

    def test_defect_03_the_plugin_sees_its_whole_entry(self):
        entry = {
            "mode": "transform",
            "priority": 3,
            "version": "2.1",
            "tags": ["a", "b"],
            "author": "who",
            "description": "what",
            "on_error": "ignore",
            "max_content_size": 123,
        }
        conditions = [{"tools": ["t"], "user_patterns": ["admin"]}]
        worker = self.start("defects.Entry", plugin={**entry, "conditions": conditions})
        seen = self.call(worker, "t")["metadata"]
        self.assertEqual(seen["entry"], entry)
        self.assertEqual([{k: c[k] for k in ("tools", "user_patterns")} for c in seen["conditions"]], conditions)

    def test_defect_04_calls_run_together_and_background_tasks_go_on(self):
        worker = self.start("defects.Busy")
        worker.log_with("ten ticks while idle")
        waiting = {self.post(worker, "wait", n): n for n in range(10)}
        waiting[self.post(worker, "open", 10)] = 10
        answers = [worker.receive() for _ in range(11)]
        self.assertEqual({answer["id"]: answer["metadata"]["n"] for answer in answers}, waiting)

    def post(self, worker, name, number):
        return worker.post("tool_pre_invoke", {"name": name, "args": {"n": number}})

    def test_defect_06_output_neither_breaks_nor_forges_answers(self):
        worker = self.start("defects.Prints")
        for _ in range(3):
            self.assertEqual(self.call(worker, "t")["verdict"], "deny")
        worker.log_with("no end of line")

    def test_defect_07_shutdown_is_called(self):
        worker = self.start("defects.Ends", hooks=())
        worker.send({"type": "shutdown"})
        self.assertEqual(worker.receive(), {"type": "bye"})
        self.assertEqual(worker.process.wait(PATIENCE_S), 0)
        self.assertEqual(worker.whole_log().count("shutdown of under-test"), 1)

    def test_defect_08_a_broken_plugin_fails_its_load(self):
        for class_path, stage in (("broken.Class", "import"), ("lives.InitializeRaises", "initialize")):
            with WorkerProcess() as worker:
                failed = worker.start(class_path, ["tool_pre_invoke"])
                self.assertEqual((failed["type"], failed["stage"]), ("failed", stage))

    def test_defect_09_headers_arrive_and_other_changes_leave_them_alone(self):
        worker = self.start("extending.Extending")
        sent = {"http": {"headers": {"X-A": "1", "Y": "2"}}, "custom": {"kept": 1}}
        answer = self.call(worker, "t", args={"do": "custom"}, extensions=sent)
        self.assertEqual(answer["metadata"]["seen"]["http"]["headers"], {"X-A": "1", "Y": "2"})
        self.assertEqual(answer["extensions"], [{"op": "set", "at": "/custom/new", "value": {"a": [1]}}])

    def test_defect_10_a_denial_needs_no_violation(self):
        answer = self.call(self.start("defects.Everything"), "deny_bare")
        self.assertEqual((answer["verdict"], answer["violation"]), ("deny", None))

    def test_defect_15_code_comes_from_the_named_folders_only(self):
        with tempfile.TemporaryDirectory() as directory:
            for folder in ("app", "app-evil"):
                Path(directory, folder).mkdir()
            text = "from cpex.framework import Plugin\nclass Evil(Plugin):\n    pass\n"
            Path(directory, "app-evil", "evil_beside.py").write_text(text, encoding="utf-8")
            app = str(Path(directory, "app"))
            with WorkerProcess() as worker:
                failed = worker.start("evil_beside.Evil", [], plugin_dirs=[app], workdir=app)
                self.assertEqual((failed["type"], failed["stage"]), ("failed", "import"))
                self.assertIn("No module named 'evil_beside'", failed["message"])

    def test_defect_17_every_field_of_a_result_comes_back(self):
        worker = self.start("defects.Everything")
        allowed = self.call(worker, "allow", args={"said": False})
        self.assertEqual(allowed["edits"], [{"op": "set", "at": "/args/said", "value": True}])
        self.assert_said(allowed, {"m": [1]})
        denied = self.call(worker, "deny")
        self.assert_said(denied, {"m": [1], "denial_metadata": {"rule": "r7", "hits": 2}})
        effects = {"http_status_code": 429, "http_headers": {"Retry-After": "1"}, "mcp_error_code": -32000}
        self.assertEqual(denied["violation"], {**VIOLATION, **effects})

    def assert_said(self, answer, metadata):
        self.assertEqual(answer["metadata"], metadata)
        self.assertEqual((answer["headers"], answer["retry_after_ms"]), ({"X-Said": "yes"}, 1500))

    def test_defect_18_nothing_is_imported_that_nobody_asked_for(self):
        # What the start and the memory of a worker are is measured against the reference by the benchmark.
        names = ["mcpgateway", "httpx", "httpx2", "hookgate_worker.gateway_settings", "hookgate_worker.gateway_models"]
        worker = self.start("defects.Imports")
        there = self.call(worker, "t", args={"names": [*names, "cpex.framework"]})["metadata"]["there"]
        self.assertEqual([name for name in there if not name.startswith("httpx")], ["cpex.framework"])


class Bugs(Rig):
    """Those of the framework's own worker."""

    def test_bug_b1_changes_of_the_context_are_returned_and_removals_too(self):
        worker = self.start("states.States")
        steps = [["state", "append", "list", 2], ["metadata", "remove", "m", None]]
        answer = self.call(worker, "t", args={"steps": steps}, state={"state:list": [1], "metadata:m": 1})
        self.assertEqual(answer["state"], {"set": {"state:list": [1, 2]}, "remove": ["metadata:m"]})
        self.assertEqual((answer["shared"], answer["request_metadata"]), (UNCHANGED, UNCHANGED))

    def test_bug_b2_resource_content_is_typed(self):
        worker = self.start("typed.Typed", hooks=["resource_post_fetch", "prompt_post_fetch"])
        content = {"type": "resource", "id": "1", "uri": "u", "text": "t"}
        answer = worker.call("resource_post_fetch", {"uri": "u", "content": content})
        self.assertEqual(answer["metadata"], {"type": "ResourceContent"})
        image = {"type": "image", "data": "YQ==", "mimeType": "image/png"}
        texts = [{"role": "user", "content": {"type": "text", "text": "a"}}, {"role": "user", "content": image}]
        typed = self.start("gateway_imports.Old", hooks=["prompt_post_fetch"])
        answer = typed.call("prompt_post_fetch", {"prompt_id": "p", "result": {"messages": texts}})
        self.assertEqual(answer["metadata"], {"kinds": [True, True, True, True]})

    def test_bug_b3_a_denial_keeps_its_metadata(self):
        metadata = self.call(self.start("defects.Everything"), "deny")["metadata"]
        self.assertEqual(metadata["m"], [1])

    def test_bug_b4_a_raised_violation_is_that_denial(self):
        answer = self.call(self.start("defects.Everything"), "raise")
        self.assertEqual((answer["type"], answer["verdict"]), ("answer", "deny"))
        self.assertEqual(answer["violation"], {**VIOLATION, "http_status_code": 451})

    def test_bug_b5_another_class_with_the_same_config_answers_itself(self):
        same = {"config": {"k": 1}}
        one, other = self.start("defects.Everything", **same), self.start("defects.Other", **same)
        self.assertEqual(self.call(one, "allow")["metadata"], {"m": [1]})
        self.assertEqual(self.call(other, "allow")["metadata"], {"class": "Other"})

    def test_bug_b6_calls_do_not_wait_for_each_other(self):
        worker = self.start("defects.Busy")
        first = worker.post("tool_pre_invoke", {"name": "wait", "args": {"n": 1}})
        # Answered in one turn only if the first, which needs the second, does not hold it up.
        second = worker.post("tool_pre_invoke", {"name": "open", "args": {"n": 2}})
        self.assertEqual({worker.receive()["id"], worker.receive()["id"]}, {first, second})

    def test_bug_b7_a_denial_is_told_in_every_mode(self):
        # What becomes of it is the pipeline's to say, which knows the mode too.
        for mode in ("sequential", "transform", "audit", "concurrent", "fire_and_forget", "disabled"):
            with self.subTest(mode):
                worker = self.start("defects.Everything", plugin={"mode": mode})
                answer = self.call(worker, "deny")
                self.assertEqual((answer["verdict"], answer["violation"]["code"]), ("deny", "NO"))

    def test_bug_b8_the_environment_is_what_the_host_gives(self):
        with unittest.mock.patch.dict(os.environ, {"HOOKGATE_NOT_GRANTED": "1"}):
            worker = self.start("probe.Probe")
        names = self.call(worker, "describe")["metadata"]["env"]
        self.assertIn("PATH", names)
        self.assertNotIn("HOOKGATE_NOT_GRANTED", names)

    def test_bug_b9_a_worker_starts_in_any_directory(self):
        with tempfile.TemporaryDirectory() as directory:
            worker = self.start("defects.Entry", workdir=directory, plugin_dirs=[str(PLUGINS)])
            seen = self.call(worker, "t")["metadata"]["cwd"]
            self.assertEqual(os.path.realpath(seen), os.path.realpath(directory))


if __name__ == "__main__":
    unittest.main()
