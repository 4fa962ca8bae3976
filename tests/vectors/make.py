"""Writes the test vectors: `python3 make.py`. See README.md.

    --check                   write nothing; exit 1 when a file differs from what would be written
    --count                   print how many vectors there are, by hook and kind
    --check-reference PYTHON  run the legacy classes in the framework's own manager and compare; also ask
                              it about the conditions of conditions.json
"""

import argparse
import collections
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from cases import chain, conditions, deny_list, door, faults, modes, phases, redactor, script, steps  # noqa: E402
from oracle import kinds, reference  # noqa: E402
from oracle import conditions as condition_answers  # noqa: E402
from oracle.door import InvalidPayload  # noqa: E402
from oracle.engine import Engine  # noqa: E402
from oracle.filling import expand, fold_strings  # noqa: E402
from oracle.ijson import dump, from_python, lookup  # noqa: E402

FILES = {
    "deny-list.json": [deny_list],
    "redactor.json": [redactor],
    "script.json": [script, faults],
    "chain.json": [chain],
    "door.json": [door],
    "phases.json": [phases],
    **{f"modes-{mode}.json": [modes.Table(mode)] for mode in modes.MODES},
}
# Vectors there must be at least, so that a case taken out is noticed.
LEAST = {"vectors": 75, "deny": 18, "modify": 18, "fault": 7, "ask": 7, "suppressed": 7, **dict.fromkeys(steps.ALL, 5)}


def gather(modules):
    """The setups and vectors of one file, each step with its outcome worked out and its claim borne out."""
    setups = {name: setup for module in modules for name, setup in module.SETUPS.items()}
    engines = {name: Engine(setup) for name, setup in setups.items()}
    vectors = []
    for vector in (vector for module in modules for vector in module.VECTORS):
        engine = engines[vector["setup"]]
        engine.enable_all()
        made = []
        for number, step in enumerate(vector["steps"], 1):
            text = expand(step["payload"])
            try:
                outcome = engine.invoke(step["hook"], text, step.get("request"))
                expected = {"outcome": outcome}
            except InvalidPayload:
                expected = {"error": "invalid_payload"}
            wrong = differs_from_claim(expected, step["claim"])
            if wrong:
                sys.exit(f"error: {vector['name']}, step {number}: {wrong}")
            kept = {key: step[key] for key in ("hook", "payload", "request") if key in step}
            made.append({**kept, "expected": expected})
        able = kinds.of(setups[vector["setup"]], vector)
        assert able, f"no kind can do {vector['name']}"
        marked = {} if able == kinds.KINDS else {"kinds": able}
        vectors.append({"name": vector["name"], "setup": vector["setup"], **marked, "steps": made})
    return {"setups": setups, "vectors": vectors}


def differs_from_claim(expected, claim):
    """What in the outcome is not as the author of the step said; None if all is."""
    if "error" in claim or "error" in expected:
        return None if claim == expected else f"claimed {claim}, worked out {dump(expected)[:300]}"
    outcome = expected["outcome"]
    denied = outcome["violation"] or {}
    found = {
        "decision": outcome["decision"],
        "modified": outcome["modified"],
        "code": denied.get("code"),
        "plugin": denied.get("plugin"),
        "word": denied.get("details", {}).get("word"),
        "where": denied.get("details", {}).get("at"),
        "metadata": outcome["effects"]["metadata"],
        "faults": [[fault[key] for key in ("plugin", "kind", "on_error")] for fault in outcome["faults"]],
        "approvals": [approval["plugin"] for approval in outcome["approvals"]],
        "suppressed": [[one[key] for key in ("plugin", "mode", "verdict")] for one in outcome["suppressed"]],
        "headers": outcome["effects"]["headers"],
        "retry": outcome["effects"]["retry_after_ms"],
        "result": outcome["effects"]["result"],
        "extensions": outcome["effects"]["extensions"],
    }
    for key, wanted in {"faults": [], "approvals": [], "suppressed": [], **claim}.items():
        if key == "at" or key == "plugin" and wanted is None:
            continue
        if found[key] != from_python(wanted):
            return f"claimed {key} {wanted!r}, worked out {found[key]!r}"
    for pointer, wanted in claim.get("at", {}).items():
        there, value = lookup(outcome["payload"], pointer)
        if wanted is steps.GONE:
            if there:
                return f"claimed nothing at {pointer}"
        elif not there or dump(value) != dump(from_python(wanted)):
            return f"claimed {wanted!r} at {pointer}, worked out {value!r}"[:400]
    return None


def written(content):
    """The text of a vector file: one plugin or step a line."""
    lines = ['{"setups": {']
    for name, setup in content["setups"].items():
        lines.append(f'  {json.dumps(name)}: {{"plugins": [')
        lines.append(",\n".join(f"    {json.dumps(plugin)}" for plugin in setup["plugins"]))
        lines.append("  ]},")
    lines[-1] = "  ]}"
    lines += ["},", '"vectors": [']
    for vector in content["vectors"]:
        head = {key: vector[key] for key in vector if key != "steps"}
        lines.append(f'  {json.dumps(head)[:-1]}, "steps": [')
        lines.append(",\n".join(f"    {dump(folded(step))}" for step in vector["steps"]))
        lines.append("  ]},")
    lines[-1] = "  ]}"
    return "\n".join([*lines, "]}", ""])


def folded(step):
    """A step as written: what is expected with its repetitions short, the payload as its author wrote it."""
    return {**step, "expected": fold_strings(step["expected"])}


def count(contents):
    """How many vectors and steps there are, by hook and by kind of what comes out."""
    vectors, numbers, table, names = collections.Counter(), collections.Counter(), collections.Counter(), set()
    for content in contents.values():
        for vector in content["vectors"]:
            assert vector["name"] not in names, f"two vectors are named {vector['name']}"
            names.add(vector["name"])
            shown = [(step["hook"], kind) for step in vector["steps"] for kind in shown_by(step["expected"])]
            table.update(shown)
            numbers["steps"] += len(vector["steps"])
            vectors.update({hook for hook, _ in shown} | {kind for _, kind in shown} | {"vectors"})
    return vectors, numbers["steps"], table


def steps_by_kind(contents):
    """How many steps each kind has to run; the tests hold what they ran against it."""
    vectors = [vector for content in contents.values() for vector in content["vectors"]]
    ables = [(vector.get("kinds", kinds.KINDS), len(vector["steps"])) for vector in vectors]
    return {kind: sum(steps_of for able, steps_of in ables if kind in able) for kind in kinds.KINDS}


def shown_by(expected):
    """What a step shows: invalid, allow, modify, ask or deny, and besides that perhaps a fault or a suppressed verdict."""
    if "error" in expected:
        return ["invalid"]
    outcome = expected["outcome"]
    kind = "modify" if outcome["modified"] and outcome["decision"] == "allow" else outcome["decision"]
    return [kind, *(["fault"] if outcome["faults"] else []), *(["suppressed"] if outcome["suppressed"] else [])]


def print_counts(contents):
    """A table of steps by hook and kind, then vectors by kind."""
    vectors, steps_made, table = count(contents)
    shown = ["allow", "modify", "ask", "deny", "invalid", "fault", "suppressed"]
    print(f"{vectors['vectors']} vectors, {steps_made} steps, {sum(len(one['setups']) for one in contents.values())} setups")
    print(f"{'steps':22}" + "".join(f"{kind:>11}" for kind in shown) + f"{'vectors':>9}")
    for hook in dict.fromkeys(hook for hook, _ in table):
        print(f"{hook:22}" + "".join(f"{table[hook, kind]:11}" for kind in shown) + f"{vectors[hook]:9}")
    print(f"{'vectors with':22}" + "".join(f"{vectors[kind]:11}" for kind in shown))
    print("steps by kind of plugin: " + ", ".join(f"{kind} {steps}" for kind, steps in steps_by_kind(contents).items()))


def main():
    parser = argparse.ArgumentParser(description="write the test vectors, or check them")
    parser.add_argument("--check", action="store_true", help="exit 1 when a file differs from what would be written")
    parser.add_argument("--count", action="store_true", help="print counts by hook and kind")
    parser.add_argument("--check-reference", metavar="PYTHON", help="a python that has cpex 0.1.4 installed")
    options = parser.parse_args()
    contents = {name: gather(modules) for name, modules in FILES.items()}
    vectors = count(contents)[0]
    for what, least in LEAST.items():
        if vectors[what] < least:
            sys.exit(f"error: {vectors[what]} vectors with {what}, at least {least} are wanted")
    if options.count:
        return print_counts(contents)
    if options.check_reference:
        differing = condition_answers.compare(options.check_reference, conditions.CASES)
        return sys.exit(reference.compare(options.check_reference, contents) or differing)
    texts = {name: written(content) for name, content in contents.items()}
    texts["conditions.json"] = condition_answers.written(conditions)
    texts["index.json"] = json.dumps({"files": list(contents), "steps": steps_by_kind(contents)}, indent=2) + "\n"
    stale = []
    for name, text in texts.items():
        path = HERE / name
        if not path.exists() or path.read_text() != text:
            stale.append(name)
            if not options.check:
                path.write_text(text)
    if options.check and stale:
        sys.exit(f"error: not what make.py writes: {', '.join(stale)}\nhint: python3 {Path(__file__).name}")
    return None


if __name__ == "__main__":
    main()
