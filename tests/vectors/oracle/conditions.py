"""The file of condition cases, and the framework's own answers to them.

`compare` starts the Python that has the framework with this very file and holds what it answers
against what each case says.
"""

import json
import subprocess
import sys
import types

# Cases there must be at least, so that one taken out is noticed.
LEAST = 300


def written(table):
    """The text of the file: a case a line, without what is as usual."""
    cases = table.CASES
    names = [case["name"] for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    assert not twice, f"two cases are named {sorted(twice)}"
    assert len(cases) >= LEAST, f"{len(cases)} cases, at least {LEAST} are wanted"
    assert all(case["home"] in (case["asked"], "raises") for case in cases), "a case answers otherwise than the framework"
    payloads = {hook: payload for hook, (payload, _) in table.HOOKS.items()}
    usual = {"request": lambda case: table.CALLER, "payload": lambda case: payloads.get(case["hook"]), "home": lambda case: case["asked"]}
    shorter = [{key: value for key, value in case.items() if key not in usual or value != usual[key](case)} for case in cases]
    lines = ",\n".join(short(case) for case in shorter)
    return f'{{"request": {short(table.CALLER)},\n"payloads": {short(payloads)},\n"cases": [\n{lines}\n]}}\n'


def short(value):
    return json.dumps(value, separators=(",", ":"))


def compare(python, cases):
    """None when the framework answers every case as it says, else the text to leave with."""
    done = subprocess.run([python, "-B", __file__], input=json.dumps(cases), capture_output=True, text=True, check=False)
    if done.returncode:
        return f"error: the framework did not run\n{done.stderr[-4000:]}"
    answers = json.loads(done.stdout)
    wrong = [(case, answer) for case, answer in zip(cases, answers, strict=True) if case["home"] != answer]
    for case, answer in wrong:
        print(f"{case['name']}\n  case:      {case['home']}\n  framework: {answer}")
    print(f"{len(answers)} conditions compared with the framework, {len(wrong)} differ")
    return f"error: {len(wrong)} conditions differ" if wrong else None


def answer(case):
    """Whether the framework would ask a plugin with these conditions, or that it raises."""
    import cpex.framework.hooks.identity  # noqa: F401
    from cpex.framework import GlobalContext, get_hook_registry
    from cpex.framework.models import PluginCondition
    from cpex.framework.utils import payload_matches
    from pydantic import ValidationError

    conditions = [PluginCondition(**condition) for condition in case["conditions"]]
    hook, registry = case["hook"], get_hook_registry()
    try:
        context = GlobalContext(request_id="r", **case["request"])
        if registry.is_registered(hook):
            payload = registry.json_to_payload(hook, case["payload"])
        else:
            payload = types.SimpleNamespace(**case["payload"])
        return payload_matches(payload, hook, conditions, context)
    except ValidationError:
        return "raises"


if __name__ == "__main__":
    json.dump([answer(case) for case in json.load(sys.stdin)], sys.stdout)
