"""The context: what a hook sees and which of its changes come back."""

import unittest

from driver import WorkerProcess

UNCHANGED = {"set": {}, "remove": []}


class Context(unittest.TestCase):
    """One worker; every test uses a request id of its own."""

    @classmethod
    def setUpClass(cls):
        cls.worker = WorkerProcess()
        cls.addClassCleanup(cls.worker.__exit__)
        ready = cls.worker.start("states.States", ["tool_pre_invoke"], limits={"requests": 2})
        assert ready["type"] == "ready", ready

    def call(self, *steps, raises=False, **given):
        given["request"] = {"id": self.id(), **given.get("request", {})}
        payload = {"name": "t", "args": {"steps": list(steps), "raise": raises}}
        return self.worker.call("tool_pre_invoke", payload, **given)

    def test_private_state(self):
        answer = self.call(
            ["state", "set", "new", {"a": [1]}],
            ["state", "set", "changed", 1.0],
            ["state", "append", "list", 2],
            ["state", "remove", "gone", None],
            ["metadata", "set", "m", None],
            state={"state:changed": 1, "state:list": [1], "state:gone": 0, "state:same": {"x": 1}, "metadata:same": 5},
        )
        self.assertEqual(
            answer["metadata"]["seen"]["state"], {"changed": "1", "list": "[1]", "gone": "0", "same": "{'x': 1}"}
        )
        self.assertEqual(answer["metadata"]["seen"]["metadata"], {"same": "5"})
        self.assertEqual(
            answer["state"],
            {
                "set": {"state:changed": 1.0, "state:list": [1, 2], "state:new": {"a": [1]}, "metadata:m": None},
                "remove": ["state:gone"],
            },
        )
        self.assertIs(type(answer["state"]["set"]["state:changed"]), float)
        self.assertEqual((answer["shared"], answer["request_metadata"]), (UNCHANGED, UNCHANGED))

    def test_replaced_state(self):
        answer = self.call(["state", "replace", "", {"b": 2}], state={"state:a": 1})
        self.assertEqual(answer["state"], {"set": {"state:b": 2}, "remove": ["state:a"]})

    def test_shared_state_and_request_metadata(self):
        answer = self.call(
            ["shared", "set", "new", [1]],
            ["shared", "append", "list", 2],
            ["shared", "remove", "gone", None],
            ["request", "set", "r", True],
            ["request", "remove", "old", None],
            shared={"list": [1], "gone": 1, "same": "s"},
            request={"metadata": {"old": 1, "same": 1}},
        )
        self.assertEqual(answer["metadata"]["seen"]["shared"], {"list": "[1]", "gone": "1", "same": "'s'"})
        self.assertEqual(answer["metadata"]["seen"]["request"], {"old": "1", "same": "1"})
        self.assertEqual(answer["shared"], {"set": {"list": [1, 2], "new": [1]}, "remove": ["gone"]})
        self.assertEqual(answer["request_metadata"], {"set": {"r": True}, "remove": ["old"]})
        self.assertEqual(answer["state"], UNCHANGED)

    def test_nothing_changed(self):
        answer = self.call(state={"state:a": [1.5, {"b": None}]}, shared={"c": {}})
        self.assertEqual((answer["state"], answer["shared"]), (UNCHANGED, UNCHANGED))

    def test_private_values_that_are_not_json_stay(self):
        answer = self.call(
            ["state", "marked", "m", None],
            ["metadata", "tuple", "t", None],
            ["state", "nan", "n", None],
            ["state", "surrogate", "s", None],
        )
        self.assertEqual(answer["state"], UNCHANGED)
        answer = self.call(["state", "set", "json", 1])
        self.assertEqual(answer["metadata"]["seen"]["state"], {"m": "marked with 2", "n": "nan", "s": "'\\udc00'"})
        self.assertEqual(answer["metadata"]["seen"]["metadata"], {"t": "(1, 2)"})
        self.assertEqual(answer["state"], {"set": {"state:json": 1}, "remove": []})

    def test_kept_value_is_of_one_request(self):
        self.call(["state", "marked", "m", None])
        self.assertEqual(self.call(request={"id": "another"})["metadata"]["seen"]["state"], {})

    def test_kept_value_takes_the_place_of_a_json_one_and_back(self):
        answer = self.call(["state", "lock", "x", None], state={"state:x": 1})
        self.assertEqual(answer["state"], {"set": {}, "remove": ["state:x"]})
        answer = self.call(["state", "set", "x", 2])
        self.assertIn("lock", answer["metadata"]["seen"]["state"]["x"])
        self.assertEqual(answer["state"], {"set": {"state:x": 2}, "remove": []})
        self.assertEqual(self.call(state={"state:x": 2})["metadata"]["seen"]["state"], {"x": "2"})

    def test_kept_value_is_removed(self):
        self.call(["state", "marked", "m", None])
        self.assertEqual(self.call(["state", "remove", "m", None])["state"], UNCHANGED)
        self.assertEqual(self.call()["metadata"]["seen"]["state"], {})

    def test_requests_are_bounded(self):
        for number in range(3):
            self.call(["state", "marked", "m", None], request={"id": f"bounded {number}"})
        seen = [self.call(request={"id": f"bounded {n}"})["metadata"]["seen"]["state"] for n in range(3)]
        self.assertEqual(seen, [{}, {"m": "marked with 2"}, {"m": "marked with 2"}])

    def test_shared_values_must_be_json(self):
        for where, text in (
            ("shared", "the shared state 'bad' is not JSON but Marked"),
            ("request", "the request metadata 'bad' is not JSON but Marked"),
        ):
            answer = self.call([where, "marked", "bad", None], ["state", "marked", "kept", None])
            self.assertEqual((answer["type"], answer["kind"]), ("fault", "plugin_error"))
            self.assertIn(text, answer["message"])
        self.assertEqual(self.call()["metadata"]["seen"]["state"], {})

    def test_changes_of_a_fault_are_dropped(self):
        answer = self.call(["state", "marked", "m", None], ["shared", "set", "a", 1], raises=True)
        self.assertEqual(answer["kind"], "plugin_error")
        self.assertNotIn("shared", answer)
        self.assertEqual(self.call()["metadata"]["seen"]["state"], {})


class IdleLimit(unittest.TestCase):
    """Values of a request that was idle too long."""

    def test_idle_values_are_forgotten(self):
        with WorkerProcess() as worker:
            worker.start("states.States", ["tool_pre_invoke"], limits={"idle_s": 0})
            payload = {"name": "t", "args": {"steps": [["state", "marked", "m", None]]}}
            worker.call("tool_pre_invoke", payload)
            self.assertEqual(worker.call("tool_pre_invoke", payload)["metadata"]["seen"]["state"], {})


if __name__ == "__main__":
    unittest.main()
