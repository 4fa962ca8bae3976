"""The side-channel slots: what a hook is handed of them, and what it made of them."""

import unittest

from driver import WorkerProcess

SENT = {
    "request": {"environment": "test"},
    "http": {"headers": {"X-A": "1", "X-B": "1"}, "method": "GET"},
    "security": {"labels": ["C", "A"], "auth_method": "jwt", "subject": {"id": "u", "type": "user", "roles": ["r", "q"]}},
    "delegation": {"chain": [{"subject_id": "a", "subject_type": "user"}], "depth": 1, "delegated": True},
    "custom": {"list": [1, 2], "gone": None, "kept": 1.10},
}


class Lent(unittest.TestCase):
    """One worker; the plugin does what the payload says."""

    @classmethod
    def setUpClass(cls):
        cls.worker = WorkerProcess()
        cls.addClassCleanup(cls.worker.__exit__)
        cls.ready = cls.worker.start("extending.Extending", ["tool_pre_invoke", "tool_post_invoke"])
        assert cls.ready["type"] == "ready", cls.ready

    def call(self, do, extensions=SENT, **args):
        return self.worker.call("tool_pre_invoke", {"name": "t", "args": {"do": do, **args}}, extensions=extensions)

    def edits(self, do, extensions=SENT, **args):
        return self.call(do, extensions, **args)["extensions"]

    def seen(self, extensions):
        answer = self.call("nothing", extensions)
        self.assertEqual(answer["metadata"]["type"], "Extensions")
        return answer["metadata"]["seen"]

    def test_the_host_hears_which_hooks_want_them(self):
        self.assertEqual(self.ready["extensions"], ["tool_pre_invoke"])

    def test_the_return_field_matches_the_python_plugin_result_model(self):
        answer = self.call("custom")
        self.assertIn("cpex.framework.extensions.extensions.Extensions", answer["metadata"]["returned"])
        self.assertTrue(answer["extensions"])

    def test_a_hook_gets_the_framework_s_own_object(self):
        seen = self.seen(SENT)
        self.assertEqual(seen["request"], {"environment": "test"})
        self.assertEqual(seen["http"], {"headers": {"X-A": "1", "X-B": "1"}})
        self.assertEqual(seen["security"]["labels"], ["A", "C"])
        self.assertEqual(seen["security"]["subject"]["id"], "u")
        self.assertEqual(seen["delegation"]["chain"][0]["subject_id"], "a")
        self.assertEqual(seen["custom"], SENT["custom"])
        self.assertNotIn("agent", seen)

    def test_a_hook_without_any_gets_an_empty_one(self):
        for extensions in (None, {}):
            self.assertEqual(self.seen(extensions), {})

    def test_members_have_the_framework_s_names(self):
        seen = self.seen(
            {
                "http": {"request_headers": {"X-A": "1"}, "response_headers": {"X-R": "1"}},
                "security": {"subject": {"id": "u", "subject_type": "service"}},
            }
        )
        self.assertEqual(seen["http"], {"headers": {"X-A": "1"}})
        self.assertEqual(seen["security"]["subject"]["type"], "service")

    def test_unknown_slots_are_left_out_and_said_once(self):
        seen = self.seen({"candidate_constraint": {"allow_regions": ["eu"]}, "custom": {"a": 1}})
        self.assertEqual(seen, {"custom": {"a": 1}})
        self.seen({"candidate_constraint": {}, "tomorrow": {}})
        said = self.worker.log_with("has no extension slot 'tomorrow'")
        self.assertEqual(said.count("has no extension slot 'candidate_constraint'"), 1)

    def test_what_does_not_fit_is_left_out_and_the_rest_is_there(self):
        seen = self.seen(
            {
                "request": {"environment": 1, "trace_id": "t"},
                "security": {
                    "labels": ["A"],
                    "subject": {"id": "u", "type": "user", "claims": {"sub": "u", "exp": 1}},
                    "objects": {"o": {"permissions": ["a", 1, 2, "b"]}},
                },
                "completion": {"tokens": {"input_tokens": 1}, "model": "m"},
                "agent": {"turn": "first"},
            }
        )
        self.assertEqual(seen["request"], {"trace_id": "t"})
        self.assertEqual(seen["security"]["labels"], ["A"])
        self.assertEqual(seen["security"]["subject"]["claims"], {"sub": "u"})
        self.assertEqual(seen["security"]["objects"]["o"]["permissions"], ["a", "b"])
        self.assertEqual(seen["completion"], {"model": "m"})
        self.assertEqual(seen["agent"], {})
        said = self.worker.log_with("security.subject.claims.exp: Input should be a valid string")
        self.assertNotIn("first", said.split("agent.turn", 1)[1].split("\n", 1)[0])

    def test_a_subject_without_its_type_is_left_out(self):
        seen = self.seen({"security": {"labels": ["A"], "subject": {"id": "u"}}})
        self.assertEqual(seen["security"]["labels"], ["A"])
        self.assertNotIn("subject", seen["security"])
        seen = self.seen({"security": {"subject": {"id": "u", "type": "nobody"}}})
        self.assertNotIn("subject", seen["security"])

    def test_nothing_returned_or_changed_is_no_edit(self):
        for do in ("nothing", "same", "copy"):
            self.assertEqual(self.edits(do), [], do)

    def test_labels(self):
        self.assertEqual(
            self.edits("label"), [{"op": "set", "at": "/security/labels", "value": ["C", "A", "B", "Z"]}]
        )
        self.assertEqual(self.edits("unlabel", {"security": {"labels": ["C", "A", "B"]}})[0]["value"], ["C", "A"])
        # Where the slot was not sent it holds what the plugin put there and nothing a model only has a place for.
        self.assertEqual(self.edits("label", {}), [{"op": "set", "at": "/security", "value": {"labels": ["B", "Z"]}}])
        self.assertEqual(
            self.edits("label", {"security": {"objects": {}}}),
            [{"op": "set", "at": "/security/labels", "value": ["B", "Z"]}],
        )

    def test_a_copy_may_hold_anything(self):
        found = self.edits("label-list")
        self.assertIn({"op": "set", "at": "/security/labels", "value": ["A", "Z"]}, found)
        self.assertIn({"op": "remove", "at": "/security/subject"}, found)

    def test_headers_under_the_caller_s_name(self):
        changed = {"X-A": "2", "X-C": "3"}
        for name in ("headers", "request_headers"):
            found = self.edits("header", {"http": {name: {"X-A": "1", "X-B": "1", "X-D": "4"}}})
            self.assertEqual(
                found,
                [
                    {"op": "set", "at": f"/http/{name}/X-A", "value": "2"},
                    {"op": "remove", "at": f"/http/{name}/X-B"},
                    {"op": "set", "at": f"/http/{name}/X-C", "value": "3"},
                ],
            )
        for sent, at, value in (
            ({}, "/http", {"headers": changed}),
            ({"http": {"method": "GET"}}, "/http/headers", changed),
            ({"http": {"response_headers": {}}}, "/http/request_headers", changed),
        ):
            self.assertEqual(self.edits("header", sent), [{"op": "set", "at": at, "value": value}])

    def test_hops(self):
        found = self.edits("hop")
        self.assertEqual(
            sorted(edit["at"] for edit in found),
            [
                "/delegation/actor_subject_id",
                "/delegation/age_seconds",
                "/delegation/chain/-",
                "/delegation/depth",
                "/delegation/origin_subject_id",
            ],
        )
        [added] = [edit["value"] for edit in found if edit["at"] == "/delegation/chain/-"]
        self.assertEqual((added["subject_id"], added["timestamp"]), ("b", "2030-01-01T12:00:00Z"))
        self.assertEqual(self.edits("unhop"), [{"op": "set", "at": "/delegation/chain", "value": []}])
        [whole] = self.edits("hop", {})
        self.assertEqual((whole["at"], whole["value"]["depth"]), ("/delegation", 1))

    def test_custom(self):
        self.assertEqual(self.edits("custom"), [{"op": "set", "at": "/custom/new", "value": {"a": [1]}}])
        self.assertEqual(
            self.edits("custom-in-place"),
            [{"op": "set", "at": "/custom/list/-", "value": 3}, {"op": "remove", "at": "/custom/gone"}],
        )
        self.assertEqual(self.edits("custom-none"), [{"op": "set", "at": "/custom", "value": None}])

    def test_slots_that_are_not_returned_are_unchanged(self):
        self.assertEqual(
            self.edits("fresh", {"http": {"headers": {}}, "agent": {}}),
            [{"op": "set", "at": "/custom", "value": {"mine": 1}}],
        )
        self.assertEqual(self.edits("dict", {}), [{"op": "set", "at": "/custom", "value": {"mine": 1}}])

    def test_a_forged_slot_is_sent_for_the_host_to_judge(self):
        self.assertEqual(
            self.edits("forge", {"request": {"environment": "test"}}),
            [
                {"op": "set", "at": "/request/environment", "value": "forged"},
                {"op": "set", "at": "/custom", "value": {"mine": 1}},
            ],
        )

    def test_a_denial_has_them_too(self):
        answer = self.call("custom", deny=True)
        self.assertEqual(answer["verdict"], "deny")
        self.assertEqual(answer["extensions"], [{"op": "set", "at": "/custom/new", "value": {"a": [1]}}])

    def test_a_hook_that_takes_none_may_give_some(self):
        answer = self.worker.call("tool_post_invoke", {"name": "t", "result": None})
        self.assertEqual(answer["extensions"], [{"op": "set", "at": "/security", "value": {"labels": ["Z"]}}])

    def test_what_is_no_extensions_is_a_fault(self):
        for do, message in (
            ("other", "modified_extensions of hook 'tool_pre_invoke' is list, Extensions is possible"),
            ("nan", "not JSON compliant"),
        ):
            answer = self.call(do)
            self.assertEqual((answer["type"], answer["kind"]), ("fault", "plugin_error"))
            self.assertIn(message, answer["message"])


if __name__ == "__main__":
    unittest.main()
