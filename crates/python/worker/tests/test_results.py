"""What a hook returns or raises, and what the answer says."""

import unittest

from driver import WorkerProcess, applied

VIOLATION = {
    "code": "NO",
    "reason": "r",
    "description": "d",
    "details": {"n": 1},
    "mcp_error_code": -32000,
    "http_status_code": 429,
    "http_headers": {"Retry-After": "1"},
}
UNCHANGED = {"set": {}, "remove": []}
BARE = {
    "type": "answer",
    "verdict": "allow",
    "violation": None,
    "edits": [],
    "state": UNCHANGED,
    "shared": UNCHANGED,
    "request_metadata": UNCHANGED,
    "metadata": {},
    "headers": {},
    "retry_after_ms": None,
    "result": None,
    "extensions": [],
}


class Results(unittest.TestCase):
    """One worker with the probe plugin."""

    @classmethod
    def setUpClass(cls):
        cls.worker = WorkerProcess()
        cls.addClassCleanup(cls.worker.__exit__)
        ready = cls.worker.start("probe.Probe", ["tool_pre_invoke", "tool_post_invoke"])
        assert ready["type"] == "ready", ready

    def call(self, name, args=None, **payload):
        answer = self.worker.call("tool_pre_invoke", {"name": name, "args": args or {}, **payload})
        del answer["id"]
        return answer

    def assert_fault(self, answer, kind, *texts):
        self.assertEqual((answer["type"], answer["kind"]), ("fault", kind), answer)
        for text in texts:
            self.assertIn(text, answer["message"])

    def test_allow(self):
        self.assertEqual(self.call("allow"), BARE)

    def test_deny_carries_its_effects_but_no_edits(self):
        self.assertEqual(
            self.call("deny"),
            {
                **BARE,
                "verdict": "deny",
                "violation": VIOLATION,
                "metadata": {"seen": True},
                "headers": {"X-Why": "no"},
                "retry_after_ms": 250,
            },
        )

    def test_deny_without_violation(self):
        self.assertEqual(self.call("deny_bare"), {**BARE, "verdict": "deny"})

    def test_allow_with_violation_is_an_allow(self):
        violation = {**VIOLATION, "details": {}, "http_headers": {}}
        self.assertEqual(self.call("allow_with_violation"), {**BARE, "violation": violation})

    def test_raised_violation_is_a_denial_and_keeps_state(self):
        changed = {"set": {"state:why": "raised"}, "remove": []}
        self.assertEqual(
            self.call("raise_violation"), {**BARE, "verdict": "deny", "violation": VIOLATION, "state": changed}
        )

    def test_raised_violation_error_without_violation_is_a_fault(self):
        self.assert_fault(self.call("raise_empty_violation"), "plugin_error", "PluginViolationError: stop")

    def test_modify(self):
        answer = self.call("modify", {"q": "old", "keep": 1.5})
        self.assertEqual(
            answer["edits"],
            [{"op": "set", "at": "/args/q", "value": "new"}, {"op": "set", "at": "/args/x~1~0", "value": 1}],
        )

    def test_change_in_place_that_is_returned(self):
        self.assertEqual(
            self.call("in_place", {"list": [1, 2]})["edits"], [{"op": "set", "at": "/args/list/-", "value": 3}]
        )

    def test_change_in_place_that_is_not_returned(self):
        self.assertEqual(self.call("in_place_dropped", {"list": [1, 2]}), BARE)

    def test_dropped_change_in_place_is_noted_at_debug(self):
        self.call("debug", {"level": "DEBUG"})
        self.assertEqual(self.call("in_place_dropped", {"list": [1, 2]}), BARE)
        self.worker.log_with("changed its payload in place without returning it")
        self.call("debug", {"level": "INFO"})

    def test_same_payload_returned(self):
        self.assertEqual(self.call("same", {"a": [1, {"b": None}]}), BARE)

    def test_members_the_framework_does_not_know_stay(self):
        sent = {"name": "modify", "args": {"q": 1}, "extra": {"kept": True}}
        answer = self.worker.call("tool_pre_invoke", sent)
        self.assertEqual(
            applied(sent, answer["edits"]),
            {"name": "modify", "args": {"q": "new", "x/~": 1}, "extra": {"kept": True}},
        )

    def test_member_the_caller_did_not_send_is_set_whole(self):
        answer = self.worker.call("tool_pre_invoke", {"name": "modify"})
        self.assertEqual(answer["edits"], [{"op": "set", "at": "/args", "value": {"q": "new", "x/~": 1}}])

    def test_headers(self):
        answer = self.call("headers", headers={"A": "b"})
        self.assertEqual(answer["edits"], [{"op": "set", "at": "/headers/X-New", "value": "1"}])

    def test_members_set_to_null(self):
        answer = self.call("no_headers", {"q": 1}, headers={"A": "b"})
        nulls = [{"op": "set", "at": f"/{name}", "value": None} for name in ("args", "headers")]
        self.assertCountEqual(answer["edits"], nulls)
        self.assertEqual(self.worker.call("tool_pre_invoke", {"name": "no_headers"})["edits"], nulls[:1])

    def test_payload_as_dict(self):
        answer = self.call("as_dict", {"q": "x", "old": 1})
        self.assertEqual(
            applied({"name": "as_dict", "args": {"q": "x", "old": 1}}, answer["edits"])["args"], {"q": "dict"}
        )

    def test_payload_of_another_type(self):
        self.assert_fault(self.call("as_wrong_dict"), "plugin_error", "does not fit ToolPreInvokePayload")
        self.assert_fault(self.call("as_string"), "plugin_error", "modified_payload of hook 'tool_pre_invoke' is str")

    def test_object_that_looks_like_a_result(self):
        answer = self.call("duck")
        self.assertEqual((answer["verdict"], answer["violation"]["code"]), ("deny", "D"))

    def test_not_a_result(self):
        self.assert_fault(self.call("none"), "plugin_error", "returned NoneType", "hint:")
        self.assert_fault(self.call("truthy"), "plugin_error", "continue_processing is int")

    def test_values_that_are_not_json(self):
        for what in ("nan", "inf", "surrogate", "not_utf8", "object", "colliding"):
            for where in ("payload", "metadata"):
                with self.subTest(what=what, where=where):
                    self.assert_fault(self.call("value", {"what": what, "where": where}), "plugin_error")
        self.assertEqual(self.call("allow"), BARE)

    def test_values_that_become_json(self):
        cases = {
            "bytes": "abc",
            "date": "2020-01-02",
            "decimal": "1.50",
            "set": [7],
            "tuple": [1, "a"],
            "enum": "red",
            "keys": {"1": "a", "2": "b", "None": "c"},
        }
        for what, value in cases.items():
            with self.subTest(what=what):
                self.assertEqual(
                    self.call("value", {"what": what, "where": "payload"})["edits"],
                    [{"op": "set", "at": "/args/value", "value": value}],
                )
                self.assertEqual(self.call("value", {"what": what, "where": "metadata"})["metadata"], {"value": value})

    def test_raise(self):
        answer = self.call("raise")
        self.assert_fault(answer, "plugin_error", "ValueError: boom")
        self.assertIn('raise ValueError("boom")', answer["traceback"])
        self.assertIn("hookgate_worker/calls.py", answer["traceback"])
        self.assertIn("await hook.call(payload, context.context)", answer["traceback"])

    def test_raise_what_cannot_be_shown(self):
        self.assert_fault(self.call("raise_badly"), "plugin_error", "Badly: (no message")

        self.assert_fault(self.call("raise_worse"), "plugin_error", "Worse: (no message, __str__ raised Worse)")

    def test_raise_generator_exit(self):
        self.assert_fault(self.call("raise_generator_exit"), "plugin_error", "GeneratorExit")
        self.assertEqual(self.call("allow"), BARE)

    def test_results_that_nothing_has_checked(self):
        for what in ("header", "retry", "code", "details", "status", "error code", "violation header"):
            with self.subTest(what=what):
                self.assert_fault(self.call("unchecked", {"what": what}), "plugin_error", "ResultError: ")

    def test_raise_cancelled_without_a_cancel(self):
        self.assert_fault(self.call("raise_cancelled"), "plugin_error", "CancelledError: mine")

    def test_exit_in_a_hook(self):
        self.assert_fault(self.call("exit"), "exit", "SystemExit: 3")
        self.assert_fault(self.call("interrupt"), "exit", "KeyboardInterrupt")
        self.assert_fault(self.call("exit_in_task"), "exit", "SystemExit: 4")
        self.assertEqual(self.call("stop_loop"), BARE)
        self.assertEqual(self.call("allow"), BARE)

    def test_payload_that_does_not_fit(self):
        answer = self.worker.call("tool_pre_invoke", {"name": {"secret": 1}})
        self.assert_fault(answer, "plugin_error", "/name: Input should be a valid string")
        self.assertNotIn("secret", answer["message"] + answer["traceback"])

    def test_request_that_does_not_fit(self):
        answer = self.worker.call("tool_pre_invoke", {"name": "allow"}, request={"user": 7})
        self.assert_fault(answer, "plugin_error", "does not fit", "user")

    def test_asyncio_timeout_works_in_a_hook(self):
        self.assertEqual(self.call("timeout_inside")["metadata"], {"timed": "out"})


if __name__ == "__main__":
    unittest.main()
