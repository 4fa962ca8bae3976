"""What the request's metadata says of tool, gateway, server and agent: objects with attributes that stay JSON."""

import unittest

from driver import WorkerProcess

UNCHANGED = {"set": {}, "remove": []}
TOOL = {
    "name": "t",
    "original_name": "o",
    "description": "d",
    "created_at": "2026-01-02T03:04:05Z",
    "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}},
}
GATEWAY = {
    "id": "g1",
    "name": "g",
    "url": "http://gateway.example",
    "tags": [{"id": "a", "label": "A"}],
    "capabilities": {"tools": {"listChanged": True}},
}
METADATA = {
    "tool": TOOL,
    "gateway": GATEWAY,
    "server": {"owner": "o"},
    "a2a_agent": {"id": "1", "name": "n", "visibility": "public", "enabled": True},
}


class Targets(unittest.TestCase):
    """One worker with the plugin that reads them."""

    @classmethod
    def setUpClass(cls):
        cls.worker = WorkerProcess()
        cls.addClassCleanup(cls.worker.__exit__)
        ready = cls.worker.start("about_targets.AboutTargets", ["tool_pre_invoke", "tool_post_invoke"])
        assert ready["type"] == "ready", ready

    def call(self, name):
        return self.worker.call("tool_pre_invoke", {"name": name}, request={"metadata": METADATA})

    def test_read_in_every_way(self):
        answer = self.call("read")
        self.assertEqual(answer["type"], "answer", answer)
        self.assertEqual(
            answer["metadata"],
            {
                "attributes": ["t", "o", "d", False],
                "schema": TOOL["input_schema"],
                "nested": ["string", "A", {"listChanged": True}],
                # At the defaults of the gateway's model.
                "absent": [None, None, "SSE"],
                "helper": ["-", "t", "-"],
                "items": [True, "g", "g", 1, list(TOOL)],
                "url": ["http://gateway.example/", "gateway.example", "http://gateway.example"],
                "time": [2026, "2026-01-02T03:04:05Z"],
                "dump": GATEWAY,
                "some": {"name": "t"},
                "json": True,
                "copy": "string",
                "server": "o",
                "agent": [None, []],
                "whole": TOOL,
            },
        )
        self.assertEqual((answer["request_metadata"], answer["state"], answer["shared"]), (UNCHANGED,) * 3)

    def test_members_nobody_has(self):
        answer = self.call("unknown")
        self.assertEqual(answer["kind"], "plugin_error")
        self.assertIn("AttributeError: no member 'nonsense'", answer["message"])

    def test_changes_are_noticed(self):
        changed = {
            "tool": {**TOOL, "description": "new"},
            "gateway": {**GATEWAY, "tags": [*GATEWAY["tags"], {"label": "more"}]},
        }
        self.assertEqual(self.call("set")["request_metadata"], {"set": changed, "remove": []})
        bare = {name: value for name, value in TOOL.items() if name != "description"}
        self.assertEqual(self.call("delete")["request_metadata"], {"set": {"tool": bare}, "remove": []})

    def test_objects_travel_as_json(self):
        self.assertEqual(self.call("move")["shared"], {"set": {"seen": {"tools": [TOOL]}}, "remove": []})

    def test_an_object_that_is_kept_is_that_object(self):
        payload, request = {"name": "t", "result": 1}, {"id": "keeping", "metadata": METADATA}
        answers = [self.worker.call("tool_post_invoke", payload, request=request) for _ in range(2)]
        self.assertEqual([answer["metadata"] for answer in answers], [{"kept": None}, {"kept": "t"}])


class Models(unittest.TestCase):
    """The names that are absent are those of the gateway's models."""

    def test_defaults_are_those_of_the_models(self):
        statement = """
from hookgate_worker import attributes, gateway_models
for kind, model in ((attributes.Tool, gateway_models.Tool), (attributes.Gateway, gateway_models.Gateway)):
    for name, field in model.model_fields.items():
        if field.is_required() and type(None) not in getattr(field.annotation, '__args__', ()):
            assert not hasattr(kind(), name), name
        else:
            default = None if field.is_required() else field.get_default(call_default_factory=True)
            assert getattr(kind(), name) == default, name
"""
        with WorkerProcess() as worker:
            worker.start("gateway_imports.Old", ["tool_pre_invoke"])
            answer = worker.call("tool_pre_invoke", {"name": "import", "args": {"statement": statement}})
            self.assertEqual(answer["type"], "answer", answer)


if __name__ == "__main__":
    unittest.main()
