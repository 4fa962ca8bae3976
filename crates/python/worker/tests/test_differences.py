"""Edits: only differences, in the caller's names, disjoint."""

import json
import random
import unittest

from driver import WorkerProcess, applied

MISSING = object()


def set_(at, value):
    """A set edit."""
    return {"op": "set", "at": at, "value": value}


def remove(at):
    """A remove edit."""
    return {"op": "remove", "at": at}


# name, before, after, edits below /result
CASES = [
    ("int and float", {"a": 1, "b": 2}, {"a": 1.0, "b": 2}, [set_("/a", 1.0)]),
    ("int and bool", [1, 0], [True, 0], [set_("/0", True)]),
    ("bool and int", {"a": False}, {"a": 0}, [set_("/a", 0)]),
    ("zero and minus zero", [0.0], [-0.0], [set_("/0", -0.0)]),
    ("string and number", "1", 1, [set_("", 1)]),
    ("null and absent", {"a": None}, {}, [remove("/a")]),
    ("absent and null", {}, {"a": None}, [set_("/a", None)]),
    (
        "empty key and odd keys",
        {"": 1, "a/b": 1, "m~n": 1},
        {"": 2, "a/b": 2},
        [set_("/", 2), set_("/a~1b", 2), remove("/m~0n")],
    ),
    ("nested member", {"a": {"b": [1, {"c": 2}]}}, {"a": {"b": [1, {"c": 3}]}}, [set_("/a/b/1/c", 3)]),
    ("object to array", {"a": {}}, {"a": []}, [set_("/a", [])]),
    ("equal length", [1, 2, 3], [1, 5, 6], [set_("/1", 5), set_("/2", 6)]),
    ("shrink at the end", [1, 2, 3], [1], [remove("/1"), remove("/2")]),
    ("shrink at the start", [1, 2, 3], [3], [remove("/0"), remove("/1")]),
    ("shrink in the middle", [1, 2, 3, 4], [1, 4], [remove("/1"), remove("/2")]),
    ("shrink to nothing", [[1], [2]], [], [remove("/0"), remove("/1")]),
    ("shrink and change", [1, 2, 3], [9, 3], [remove("/0"), set_("/1", 9)]),
    (
        "shrink and change one member",
        ["x", {"a": 1, "b": 2.5}, "y"],
        [{"a": 9, "b": 2.5}, "y"],
        [remove("/0"), set_("/1/a", 9)],
    ),
    ("remove and append", ["x", 2.5, 3], [2.5, 3, 4], [remove("/0"), set_("/-", 4)]),
    ("grow at the end", [1], [1, {"a": 2}, 3], [set_("/-", {"a": 2}), set_("/-", 3)]),
    ("grow from nothing", [], [1], [set_("/-", 1)]),
    ("grow at the start", [1, 2], [0, 1, 2], [set_("", [0, 1, 2])]),
    ("grow and change", [1, 2], [1, 3, 4], [set_("/1", 3), set_("/-", 4)]),
    ("grow in the middle", [1, 3], [1, 2, 3], [set_("", [1, 2, 3])]),
    ("equal elements", [1, 1, 1], [1, 1], [remove("/2")]),
    ("one and true are not equal elements", [1, True], [True], [remove("/0")]),
]


def random_json(source, depth):
    """A small random value in which equal parts are common."""
    kind = source.randrange(7 if depth else 4)
    if kind < 4:
        return source.choice([0, 1, True, False, None, 1.0, -0.0, 0.0, "a", "b", "", "é", 2**70])
    if kind < 6:
        return [random_json(source, depth - 1) for _ in range(source.randrange(4))]
    return {
        key: random_json(source, depth - 1)
        for key in source.sample(["", "a", "b/", "~c", "-", "0"], source.randrange(4))
    }


def mutated(source, value):
    """The value with some part changed."""
    if isinstance(value, dict) and value and source.random() < 0.7:
        changed = dict(value)
        key = source.choice(list(changed))
        changed[key] = mutated(source, changed[key])
        if source.random() < 0.3:
            del changed[key]
        return changed
    if isinstance(value, list) and value and source.random() < 0.7:
        changed = list(value)
        index = source.randrange(len(changed))
        action = source.randrange(4)
        if action == 0:
            del changed[index]
        elif action == 1:
            changed.append(random_json(source, 1))
        else:
            changed[index] = mutated(source, changed[index])
        return changed
    return random_json(source, 2)


class Differences(unittest.TestCase):
    """A plugin that replaces `result` by what the shared state says."""

    @classmethod
    def setUpClass(cls):
        cls.worker = WorkerProcess()
        cls.addClassCleanup(cls.worker.__exit__)
        ready = cls.worker.start("probe.Probe", ["tool_post_invoke"])
        assert ready["type"] == "ready", ready

    def edits(self, before, after):
        answer = self.worker.call("tool_post_invoke", {"name": "t", "result": before}, shared={"target": after})
        self.assertEqual(answer["type"], "answer", answer)
        return answer["edits"]

    def test_cases(self):
        for name, before, after, edits in CASES:
            with self.subTest(name):
                found = self.edits(before, after)
                wanted = [{**edit, "at": "/result" + edit["at"]} for edit in edits]
                self.assertEqual(json.dumps(found), json.dumps(wanted))

    def test_random_values(self):
        source = random.Random(11)
        for number in range(400):
            before = random_json(source, 3)
            after = mutated(source, before)
            sent = {"name": "t", "result": before}
            edits = self.edits(before, after)
            with self.subTest(number=number, before=before, after=after):
                self.assertEqual(
                    json.dumps(applied(sent, edits), sort_keys=True),
                    json.dumps({"name": "t", "result": after}, sort_keys=True),
                )
                self.assertEqual(bool(edits), json.dumps(before, sort_keys=True) != json.dumps(after, sort_keys=True))
                self.assert_disjoint([edit["at"] for edit in edits])

    def assert_disjoint(self, pointers):
        for index, pointer in enumerate(pointers):
            for other in pointers[index + 1 :]:
                if not (pointer == other and pointer.endswith("/-")):
                    self.assertFalse((pointer + "/").startswith(other + "/"), (pointer, other))
                    self.assertFalse((other + "/").startswith(pointer + "/"), (pointer, other))

    def test_numbers_python_cannot_hold_stay_untouched(self):
        body = (
            b'{"type":"call","id":900001,"hook":"tool_post_invoke","payload":{"name":"t","result":'
            b'{"huge":1e999,"exact":0.1000000000000000000001,"x":1}},"request":{"id":"r"},"state":{},'
            b'"shared":{"target":{"huge":1e999,"exact":0.1,"x":2}},"deadline_ms":1}'
        )
        self.worker.send_body(body)
        answer = self.worker.receive()
        # The shared state was not changed either, so the infinity in it goes nowhere.
        self.assertEqual(answer["edits"], [set_("/result/x", 2)])


if __name__ == "__main__":
    unittest.main()
