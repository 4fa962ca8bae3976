"""Typed content, hooks of other kinds, hooks of a plugin's own, and the names the caller used."""

import unittest

from driver import PLUGINS, WorkerProcess, applied

TEXT = {"type": "text", "text": "hi"}


def resource(**members):
    """A resource that fits the model."""
    return {"uri": "u", "content": {"type": "resource", "id": "1", "uri": "u", **members}}


class TypedContent(unittest.TestCase):
    """Each test has its worker, since the configuration says what the plugin does."""

    def start(self, class_path, hooks, config=None, **changes):
        worker = WorkerProcess()
        self.addCleanup(worker.__exit__)
        ready = worker.start(class_path, hooks, config, **changes)
        self.assertEqual(ready["type"], "ready", ready)
        self.ready = ready
        return worker

    def test_resource(self):
        worker = self.start(
            "typed.Typed", ["resource_post_fetch"], {"content": {"text": "T", "mime_type": "m", "meta": {"a": 1}}}
        )
        named = {
            "fields": (resource(text="t", mime_type="x"), {"text": "T", "mime_type": "m", "meta": {"a": 1}}),
            "alias": (
                resource(text="t", mimeType="x", extra=[1]),
                {"text": "T", "mimeType": "m", "_meta": {"a": 1}, "extra": [1]},
            ),
            "null alias": (resource(text="t", _meta=None), {"text": "T", "mimeType": "m", "_meta": {"a": 1}}),
            "neither": (resource(), {"text": "T", "mime_type": "m", "meta": {"a": 1}}),
        }
        for name, (sent, changed) in named.items():
            with self.subTest(name):
                answer = worker.call("resource_post_fetch", sent)
                self.assertEqual(answer["metadata"], {"type": "ResourceContent"})
                self.assertEqual(applied(sent, answer["edits"]), resource(**changed))
                self.assertNotIn("/content", [edit["at"] for edit in answer["edits"]])

    def test_resource_returned_as_a_dict(self):
        worker = self.start("typed.Typed", ["resource_post_fetch"], {"content": {"text": "T"}, "as_dict": True})
        answer = worker.call("resource_post_fetch", resource(text="t", mimeType="x", blob="YQ==", more=1))
        self.assertEqual(answer["edits"], [{"op": "set", "at": "/content/text", "value": "T"}])

    def test_the_gateway_s_own_models_come_first(self):
        dirs = [str(PLUGINS), str(PLUGINS.parent / "gateway")]
        worker = self.start("typed.Typed", ["resource_post_fetch"], {"content": {"mime_type": "m"}}, plugin_dirs=dirs)
        sent = {"uri": "u", "content": {"type": "other", "text": "t", "mimeType": "x"}}
        answer = worker.call("resource_post_fetch", sent)
        self.assertEqual(answer["metadata"], {"type": "ResourceContent"})
        self.assertEqual(answer["edits"], [{"op": "set", "at": "/content/mimeType", "value": "m"}])

    def test_content_that_does_not_fit_stays_as_it_came(self):
        worker = self.start("typed.Typed", ["resource_post_fetch"], {"content": {"text": "T"}})
        for content in ({"uri": "u", "text": "t"}, {"type": "resource", "id": 1, "uri": "u"}):
            answer = worker.call("resource_post_fetch", {"uri": "u", "content": content})
            self.assertEqual((answer["metadata"], answer["edits"]), ({"type": "dict"}, []))
        answer = worker.call("resource_post_fetch", {"uri": "u", "content": "text"})
        self.assertEqual(answer["metadata"], {"type": "str"})

    def test_prompt(self):
        worker = self.start("typed.Typed", ["prompt_post_fetch"])
        sent = {
            "prompt_id": "p",
            "result": {
                "messages": [
                    {"role": "user", "content": {**TEXT, "more": 1}},
                    {"role": "assistant", "content": {"type": "text", "text": "UP"}},
                ]
            },
        }
        answer = worker.call("prompt_post_fetch", sent)
        self.assertEqual(answer["metadata"], {"type": "PromptResult", "content": "TextContent"})
        self.assertEqual(answer["edits"], [{"op": "set", "at": "/result/messages/0/content/text", "value": "HI"}])

    def test_prompt_that_does_not_fit_is_the_framework_s_object(self):
        worker = self.start("typed.Typed", ["prompt_post_fetch"])
        sent = {"prompt_id": "p", "result": {"messages": [{"role": "robot", "content": TEXT}], "description": None}}
        answer = worker.call("prompt_post_fetch", sent)
        self.assertEqual(answer["metadata"], {"type": "StructuredData", "content": "StructuredData"})
        self.assertEqual(answer["edits"], [{"op": "set", "at": "/result/messages/0/content/text", "value": "HI"}])

    def test_added_message_has_no_added_nulls(self):
        worker = self.start("typed.Typed", ["prompt_post_fetch"], {"add": True})
        sent = {"prompt_id": "p", "result": {"messages": [{"role": "user", "content": TEXT}]}}
        answer = worker.call("prompt_post_fetch", sent)
        message = {"role": "user", "content": {"type": "text", "text": "added"}}
        self.assertEqual(answer["edits"], [{"op": "set", "at": "/result/messages/-", "value": message}])

    def test_agent_messages(self):
        worker = self.start("typed.Typed", ["agent_pre_invoke"])
        sent = {"agent_id": "a", "messages": [{"role": "user", "content": "hi", "x": None}]}
        answer = worker.call("agent_pre_invoke", sent)
        self.assertEqual(answer["edits"], [{"op": "set", "at": "/messages/0/content", "value": "hi!"}])

    def test_results_of_other_types(self):
        worker = self.start("typed.Http", ["http_pre_request", "http_auth_resolve_user", "http_auth_check_permission"])
        cases = [
            ("http_pre_request", {"path": "/p", "method": "GET", "headers": {"A": "b"}}, {"A": "b", "X-Added": "/p"}),
            (
                "http_auth_resolve_user",
                {"credentials": None, "headers": {}},
                {"email": "a@example.org", "is_admin": False, "name": None},
            ),
            (
                "http_auth_check_permission",
                {"user_email": "u", "permission": "p", "is_admin": True},
                {"granted": True, "reason": None},
            ),
        ]
        for hook, payload, result in cases:
            with self.subTest(hook):
                answer = worker.call(hook, payload)
                self.assertEqual((answer["result"], answer["edits"]), (result, []))

    def test_hooks_of_the_plugin_s_own(self):
        hooks = [
            "mail_pre_send",
            "mail_post_send",
            "cmf.tool_pre_invoke",
            "tool_pre_invoke",
            "evaluate",
            "identity_resolve",
        ]
        worker = self.start("typed.Mail", hooks)
        self.assertEqual(self.ready["hooks"], ["mail_pre_send", "mail_post_send"])
        sent = {"toAddress": "a", "other": 1}
        answer = worker.call("mail_pre_send", sent)
        self.assertEqual(answer["metadata"], {"to": "a", "copies": []})
        self.assertEqual(
            applied(sent, answer["edits"]), {"toAddress": "a", "other": 1, "cc": ["boss@example.org"], "tries": 1}
        )
        self.assertEqual(worker.call("mail_post_send", sent)["metadata"], {"to": "a"})

    def test_hooks_that_cannot_be_served(self):
        worker = self.start("typed.Mail", [])
        cases = {
            "cmf.tool_pre_invoke": "no payload type is registered for hook 'cmf.tool_pre_invoke'",
            "tool_pre_invoke": "must be async",
            "tool_post_invoke": "has no hook: 'tool_post_invoke'",
            "identity_resolve": "has no hook: 'identity_resolve'",
            "never_heard_of": "has no hook: 'never_heard_of'",
            "name": "the plugin does not serve hook 'name'",
        }
        for hook, text in cases.items():
            with self.subTest(hook):
                answer = worker.call(hook, {})
                self.assertEqual((answer["type"], answer["kind"]), ("fault", "unsupported"), answer)
                self.assertIn(text, answer["message"])
        self.assertEqual(worker.call("mail_pre_send", {"toAddress": "a"})["type"], "answer")


if __name__ == "__main__":
    unittest.main()
