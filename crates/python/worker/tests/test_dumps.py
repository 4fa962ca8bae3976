"""Values that are not JSON become what pydantic makes of them, or a fault of their call; never something else."""

import json
import unittest

from driver import WorkerProcess


class Dumps(unittest.TestCase):
    """One worker with the plugin that has them all. Pydantic's own dump is made beside it and sent as text."""

    @classmethod
    def setUpClass(cls):
        cls.worker = WorkerProcess()
        cls.addClassCleanup(cls.worker.__exit__)
        ready = cls.worker.start("dumps.Dumps", ["tool_pre_invoke", "tool_post_invoke"])
        assert ready["type"] == "ready", ready
        cls.names = cls.worker.call("tool_post_invoke", {"name": "t", "result": None})["metadata"]

    def call(self, name, where):
        return self.worker.call("tool_pre_invoke", {"name": "t", "args": {"name": name, "where": where}})

    def test_as_pydantic_dumps_them(self):
        self.assertGreater(len(self.names["values"]), 30)
        for name in self.names["values"]:
            with self.subTest(name):
                dumped = json.loads(self.call(name, "dump")["metadata"]["text"])
                for where in ("metadata", "payload"):
                    answer = self.call(name, where)
                    self.assertEqual(answer["type"], "answer", answer)
                    found = answer["metadata"] if where == "metadata" else answer["edits"][0]
                    self.assertEqual(json.dumps(found["value"]), json.dumps(self.expected(name, dumped, where)))

    def expected(self, name, dumped, where):
        """Pydantic's dump; in a payload a model's members have the names that the model reads, and none is added."""
        if name == "model" and where == "payload":
            return {"wideness": dumped.pop("width"), **{key: value for key, value in dumped.items() if value}}
        return dumped

    def test_what_pydantic_refuses_is_a_fault(self):
        for name in self.names["refused"]:
            for where in ("metadata", "payload"):
                with self.subTest(name=name, where=where):
                    answer = self.call(name, where)
                    self.assertEqual((answer["type"], answer.get("kind")), ("fault", "plugin_error"), answer)
        self.assertEqual(self.call("text", "metadata")["type"], "answer")


if __name__ == "__main__":
    unittest.main()
