"""The framework's own in-process manager as a second opinion on the oracle.

`compare` starts the Python that has the framework with `at_home.py`, hands it every step the framework can
express, and holds decision, violation, payload and metadata against the expected outcomes, but for what
`unlike_home.py` lists. Not expressible at home, and so left out: payloads that are refused at the door, hooks
nobody listens to, a plugin that never returns (a synchronous loop cannot be interrupted there), and what no
legacy class can say. The manager drops headers and delays on a denial and lists neither suppressed verdicts nor
ignored faults, so of these nothing is compared.
"""

import collections
import json
import subprocess
import sys
from pathlib import Path

from oracle import kinds, unlike_home
from oracle.filling import expand
from oracle.ijson import plain

SCRIPT = Path(__file__).with_name("at_home.py")
NO_VIOLATION = {
    "code": "denied", "reason": "denied", "description": "", "details": {},
    "mcp_error_code": None, "http_status_code": None, "http_headers": {},
}


def compare(python, contents):
    """None when all agree, else the text to leave with."""
    sys.set_int_max_str_digits(0)
    setups, asked, wanted = {}, [], []
    for content in contents.values():
        setups.update(content["setups"])
        for vector in content["vectors"]:
            for number, step in enumerate(vector["steps"], 1):
                if expressible(setups[vector["setup"]]["plugins"], vector, step):
                    more = {"payload": expand(step["payload"]), "setup": vector["setup"], "vector": vector["name"], "expected": None}
                    asked.append({**step, **more})
                    wanted.append((vector["name"], number, plain(step["expected"]["outcome"])))
    answers = run(python, {"setups": setups, "steps": asked})
    differing, excused = 0, collections.Counter()
    for step, (name, number, outcome), answer in zip(asked, wanted, answers, strict=True):
        expected, found = sayable(outcome), as_outcome(step, answer)
        unlike = {part for part in expected if text(expected[part]) != text(found[part])}
        for rule in unlike_home.rules(name, number):
            excused[rule[0], rule[1]] += bool(unlike & rule[2])
            unlike -= rule[2]
        if unlike - lost_with_the_exception(outcome):
            differing += 1
            print(f"{name}, step {number}: {', '.join(sorted(unlike))}")
            print(f"  oracle:    {text(expected)[:900]}\n  framework: {text(found)[:900]}")
    idle = [rule[0] for rule in unlike_home.RULES if not excused[rule[0], rule[1]]]
    for pattern in idle:
        print(f"nothing differs where unlike_home.py says it does: {pattern}")
    print(f"{len(answers)} steps compared with the framework, {differing} differ, "
          f"{excused.total()} more differ on purpose, by {len(unlike_home.RULES)} rules")
    return "error: the oracle and the framework differ" if differing or idle else None


def expressible(plugins, vector, step):
    """Whether the framework can be asked this."""
    listened = any(step["hook"] in plugin["hooks"] for plugin in plugins)
    legacy = "legacy" in vector.get("kinds", kinds.KINDS)
    endless = "spin" in kinds.named([plugin["config"] for plugin in plugins])
    return "outcome" in step["expected"] and listened and legacy and not endless


def run(python, task):
    """What `at_home.py` answers."""
    done = subprocess.run([python, "-B", SCRIPT], input=json.dumps(task), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"error: the framework did not run\n{done.stderr[-4000:]}")
    return json.loads(done.stdout)


def sayable(outcome):
    """The part of an outcome that both sides can say."""
    return {**{part: outcome[part] for part in ("decision", "violation", "payload")}, "metadata": outcome["effects"]["metadata"]}


def lost_with_the_exception(outcome):
    """A fault under `on_error: fail` is an exception at home, which carries no metadata of earlier plugins."""
    violation = outcome["violation"]
    return {"metadata"} if violation is not None and violation["code"] == "plugin_fault" else set()


def as_outcome(step, answer):
    """What the framework said, in the words of an outcome."""
    said = {part: answer[part] for part in ("decision", "violation", "metadata")}
    if answer["fault"]:
        plugin, kind = answer["fault"]
        said["violation"] = {**NO_VIOLATION, "code": "plugin_fault", "reason": "plugin fault", "plugin": plugin, "details": {"fault": kind}}
    elif said["decision"] == "deny":
        said["violation"] = {**NO_VIOLATION, **said["violation"]}
    if said["decision"] == "deny":
        return {**said, "payload": None}
    given, payload = json.loads(step["payload"]), answer["payload"]
    if payload is None:
        payload = given
    # Defaults that the framework's types add are not changes.
    return {**said, "payload": {key: value for key, value in payload.items() if key in given or value not in (None, {})}}


def text(value):
    """Text to compare by, so that 1, 1.0, true, 0.0 and -0.0 all differ."""
    return json.dumps(value, sort_keys=True)
