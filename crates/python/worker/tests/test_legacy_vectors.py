"""The published plugins answer here as they answered under their own framework in process."""

import json
import unittest
from pathlib import Path

from driver import WorkerProcess, applied

VECTORS = json.loads((Path(__file__).resolve().parents[4] / "tests/data/legacy-pypi.json").read_text(encoding="utf-8"))
STEPS = 30


def text(value):
    """JSON text in which 1, 1.0 and true differ and the order of keys does not."""
    return json.dumps(value, sort_keys=True)


def without_added_nulls(value, sent):
    """A dumped payload without the nulls that its types added to what was sent."""
    if isinstance(value, dict):
        given = sent if isinstance(sent, dict) else {}
        return {k: without_added_nulls(v, given.get(k)) for k, v in value.items() if v is not None or k in given}
    if isinstance(value, list):
        given = sent if isinstance(sent, list) else []
        return [without_added_nulls(v, given[i] if i < len(given) else None) for i, v in enumerate(value)]
    return value


def take(value, pointer):
    """Removes and gives the value at a pointer."""
    *path, last = pointer.split("/")[1:]
    for part in path:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value.pop(last)


def state_after(before, changes):
    """A state with a frame's changes."""
    after = {**before, **changes["set"]}
    for key in changes["remove"]:
        del after[key]
    return after


class LegacyVectors(unittest.TestCase):
    """All steps of legacy-pypi.json."""

    def test_every_step_is_there(self):
        self.assertEqual(sum(len(case["steps"]) for case in VECTORS["cases"]), STEPS)

    def check_step(self, worker, step, kept):
        context, sent = step["context"], step["payload"]
        private, shared, metadata = kept.setdefault(context["request_id"], ({}, {}, {}))
        request = {
            "id": context["request_id"],
            "metadata": metadata,
            **{key: context[key] for key in ("user", "tenant_id", "server_id")},
        }
        answer = worker.call(step["hook"], sent, state=private, shared=shared, request=request)
        expected = step.get("expected_typed") or step["expected"]
        self.assertEqual(answer["type"], "answer", answer)
        self.assertEqual(answer["verdict"], "allow" if expected["continue_processing"] else "deny")
        self.assertEqual(text(answer["metadata"]), text(expected["metadata"] or {}))
        self.assertEqual(answer["retry_after_ms"], expected["retry_delay_ms"] or None)
        self.assertEqual(answer["extensions"], [])
        if expected["modified_payload"] is None:
            self.assertEqual(answer["edits"], [])
        else:
            self.assertNotEqual(answer["edits"], [])
            self.assertEqual(
                text(applied(sent, answer["edits"])), text(without_added_nulls(expected["modified_payload"], sent))
            )
        self.check_violation(answer, expected, step["volatile"])
        if not expected["continue_processing"]:
            self.assertEqual(text(answer["headers"]), text(expected["http_headers"] or {}))
        kept[context["request_id"]] = after = tuple(
            state_after(old, answer[name])
            for old, name in ((private, "state"), (shared, "shared"), (metadata, "request_metadata"))
        )
        there = step["context_after"]
        named = {f"state:{k}": v for k, v in there["state"].items()}
        named.update({f"metadata:{k}": v for k, v in there["metadata"].items()})
        self.assertEqual(text(after), text((named, there["global_state"], there["global_metadata"])))

    def check_violation(self, answer, expected, volatile):
        wanted = json.loads(json.dumps(expected["violation"]))
        found = answer["violation"]
        if wanted is not None:
            wanted["http_headers"] = wanted["http_headers"] or {}
            for pointer in volatile:
                now = take({"violation": found}, pointer)
                self.assertIs(type(now), type(take({"violation": wanted}, pointer)), pointer)
        self.assertEqual(text(found), text(wanted))


def _test_of(case):
    def test(self):
        hooks = sorted({step["hook"] for step in case["steps"]})
        with WorkerProcess() as worker:
            ready = worker.start(case["class_path"], hooks, case["config"])
            self.assertEqual(ready["type"], "ready", ready)
            self.assertEqual(ready["framework"], {"name": "cpex", "version": VECTORS["cpex"]})
            self.assertEqual(sorted(ready["hooks"]), hooks)
            kept = {}
            for index, step in enumerate(case["steps"]):
                with self.subTest(step=index, hook=step["hook"]):
                    self.check_step(worker, step, kept)

    return test


for _case in VECTORS["cases"]:
    setattr(LegacyVectors, f"test_{_case['plugin'].replace('-', '_')}", _test_of(_case))

if __name__ == "__main__":
    unittest.main()
