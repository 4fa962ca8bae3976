"""Ten plugins, each written in another of the ways in which plugins are."""

import tempfile
import unittest
from pathlib import Path

from driver import PATIENCE_S, WorkerProcess

from test_metadata import GATEWAY, TOOL


def state_after(answer, state, shared, request_metadata):
    """What the next call of the request carries."""
    after = []
    for before, name in ((state, "state"), (shared, "shared"), (request_metadata, "request_metadata")):
        changed = {**before, **answer[name]["set"]}
        after.append({key: value for key, value in changed.items() if key not in answer[name]["remove"]})
    return after


class TenPlugins(unittest.TestCase):
    """Each has its worker."""

    def start(self, class_path, hooks, config=None):
        worker = WorkerProcess()
        self.addCleanup(worker.__exit__)
        self.ready = worker.start(f"ten.{class_path}", hooks, config)
        self.assertEqual((self.ready["type"], self.ready.get("hooks")), ("ready", hooks), self.ready)
        return worker

    def in_two_hooks(self, worker, args, result):
        """The answer of the second hook of one request."""
        request = {"id": "r-two"}
        first = worker.call("tool_pre_invoke", {"name": "t", "args": args}, request=request)
        self.assertEqual(first["type"], "answer", first)
        state, shared, metadata = state_after(first, {}, {}, {})
        second = worker.call(
            "tool_post_invoke",
            {"name": "t", "result": result},
            state=state,
            shared=shared,
            request={**request, "metadata": metadata},
        )
        self.assertEqual(second["type"], "answer", second)
        return first, second

    def test_old_import_path(self):
        worker = self.start("old_import_path.DenyWords", ["tool_pre_invoke"], {"words": ["sudo"]})
        self.assertEqual(worker.call("tool_pre_invoke", {"name": "t", "args": {"c": "ls"}})["verdict"], "allow")
        denied = worker.call("tool_pre_invoke", {"name": "t", "args": {"a": 1, "c": "sudo ls"}})
        self.assertEqual(denied["verdict"], "deny")
        self.assertEqual((denied["violation"]["code"], denied["violation"]["details"]), ("WORD", {"argument": "c"}))
        worker.log_with("WARNING ten.old_import_path: a word in c")

    def test_decorated(self):
        worker = self.start("decorated.Decorated", ["tool_pre_invoke", "tool_post_invoke", "prompt_pre_fetch"])
        worker.call("tool_pre_invoke", {"name": "t"})
        seen = worker.call("tool_post_invoke", {"name": "t", "result": 1})["metadata"]["seen"]
        self.assertEqual(seen, ["ToolPreInvokePayload", "ToolPostInvokePayload"])
        answer = worker.call("prompt_pre_fetch", {"prompt_id": "p"})
        self.assertEqual(answer["edits"], [{"op": "set", "at": "/args", "value": {"by": "decorator"}}])

    def test_three_arguments(self):
        worker = self.start("three_arguments.ThreeArguments", ["tool_pre_invoke", "tool_post_invoke"])
        self.assertEqual(self.ready["extensions"], ["tool_pre_invoke"])
        slots = {"security": {"labels": ["b", "a"]}, "custom": {"mine": 1}}
        answer = worker.call("tool_pre_invoke", {"name": "t"}, extensions=slots)
        self.assertEqual(answer["metadata"], {"labels": ["a", "b"]})
        self.assertEqual(answer["extensions"], [{"op": "set", "at": "/custom/checked", "value": ["a", "b"]}])
        self.assertEqual(worker.call("tool_post_invoke", {"name": "t", "result": 1})["verdict"], "allow")

    def test_own_hooks(self):
        worker = self.start("own_hooks.Transfers", ["transfer_pre", "transfer_post"], {"most": 100})
        answer = worker.call("transfer_pre", {"to": "ann", "cents": 5})
        self.assertEqual(answer["edits"], [{"op": "set", "at": "/note", "value": "to ann"}])
        denied = worker.call("transfer_pre", {"to": "ann", "cents": 500})["violation"]
        self.assertEqual((denied["code"], denied["mcp_error_code"]), ("LIMIT", -32001))
        self.assertEqual(worker.call("transfer_post", {"to": "ann", "cents": 5})["result"], {"number": "ann-5"})
        self.assertEqual(worker.call("transfer_pre", {"to": "ann", "cents": "many"})["kind"], "plugin_error")

    def test_state_over_hooks(self):
        worker = self.start("state_over_hooks.StateOverHooks", ["tool_pre_invoke", "tool_post_invoke"])
        first, second = self.in_two_hooks(worker, {"q": 1}, "r")
        self.assertEqual(first["shared"]["set"], {"calls": ["t"]})
        self.assertEqual(
            second["metadata"],
            {"asked": {"name": "t", "args": {"q": 1}}, "begun": True, "calls": ["t"], "by": "under-test"},
        )

    def test_non_json_state(self):
        worker = self.start("non_json_state.NonJsonState", ["tool_pre_invoke", "tool_post_invoke"])
        first, second = self.in_two_hooks(worker, {"a": "x", "b": "y"}, "a y and an x")
        self.assertEqual(first["state"], {"set": {}, "remove": []})
        self.assertEqual(second["metadata"], {"begun": True, "passed": True, "found": ["y", "x"], "same": True})
        other = worker.call("tool_post_invoke", {"name": "t", "result": "r"}, request={"id": "another"})
        self.assertEqual(other["metadata"], {"begun": False})

    def test_shutdown_effects(self):
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory, "heard")
            worker = self.start("shutdown_effects.ShutdownEffects", ["tool_pre_invoke"], {"file": str(file)})
            for name in ("a", "b"):
                worker.call("tool_pre_invoke", {"name": name})
            self.assertFalse(file.exists())
            worker.send({"type": "shutdown"})
            self.assertEqual(worker.receive(), {"type": "bye"})
            self.assertEqual(file.read_text(encoding="utf-8"), "a\nb")

    def test_threads(self):
        worker = self.start("threads.Threads", ["tool_pre_invoke"])
        texts = {worker.post("tool_pre_invoke", {"name": "t", "args": {"text": "a" * n}}): n for n in range(8)}
        for answer in (worker.receive() for _ in texts):
            length = texts[answer["id"]]
            self.assertEqual(
                answer["metadata"], {"answered": ["A" * length, "answering"], "measured": [length, False]}
            )
        worker.send({"type": "shutdown"})
        self.assertEqual(worker.receive(), {"type": "bye"})
        self.assertEqual(worker.process.wait(PATIENCE_S), 0)
        self.assertIn("thread ended", worker.whole_log())

    def test_c_extension(self):
        worker = self.start("c_extension.CExtension", ["tool_pre_invoke"])
        answer = worker.call("tool_pre_invoke", {"name": "t", "args": {"text": '{"b": 1, "a": [2]}'}})
        self.assertEqual(answer["edits"], [{"op": "set", "at": "/args/text", "value": '{"a":[2],"b":1}'}])
        self.assertEqual(answer["metadata"], {"extension": "so"})
        denied = worker.call("tool_pre_invoke", {"name": "t", "args": {"text": "{"}})
        self.assertEqual(denied["violation"]["code"], "JSON")

    def test_typed_metadata(self):
        worker = self.start("typed_metadata.TypedMetadata", ["tool_pre_invoke"])

        def ask(args, gateway=GATEWAY):
            metadata = {"tool": TOOL, "gateway": gateway}
            return worker.call("tool_pre_invoke", {"name": "t", "args": args}, request={"metadata": metadata})

        self.assertEqual(ask({"q": 1})["metadata"], {"team": None, "at": "http://gateway.example/"})
        self.assertEqual(ask({"q": 1, "z": 2})["violation"]["description"], "t has no z")
        internal = {**GATEWAY, "tags": [{"label": "internal"}]}
        self.assertEqual(ask({"q": 1}, internal)["violation"]["code"], "INTERNAL")
        bare = worker.call("tool_pre_invoke", {"name": "t", "args": {}})
        self.assertEqual(bare["violation"]["code"], "UNKNOWN")


if __name__ == "__main__":
    unittest.main()
