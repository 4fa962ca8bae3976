"""Writes extensions.json: what the legacy framework lends and accepts of side-channel slots. See README.md.

    (nothing)                 write the file; run with a python that has cpex 0.1.4 installed
    --check                   without the framework: exit 1 when the file does not hold exactly the cases
    --check-reference PYTHON  ask the framework of that python again and compare its answers

Answers are written without what a model only has a place for: members that are null, empty, or were never set are
left out, and sets are sorted. Here such members are absent from the start, and that is the only difference there is
between what is lent here and at home. Where a merge comes out differently its case says why, and how.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from cases.extensions import FILTERS, MERGES  # noqa: E402

FILE = HERE / "extensions.json"
FRAMEWORK = "0.1.4"
# Cases there must be at least, so that some taken out are noticed.
LEAST = {"filters": 35, "merges": 50}
# Members that are sets to the framework.
SETS = {"labels", "roles", "permissions", "teams", "tags"}


def answers():
    """What the framework lends and accepts in each case."""
    from importlib.metadata import version

    if version("cpex") != FRAMEWORK:
        sys.exit(f"error: cpex {version('cpex')} is installed, {FRAMEWORK} is wanted")
    return {"filters": [lent(case) for case in FILTERS], "merges": [merged(case) for case in MERGES]}


def lent(case):
    """What a plugin with these grants sees."""
    from cpex.framework.extensions.extensions import Extensions
    from cpex.framework.extensions.tiers import filter_extensions

    slots = Extensions.model_validate(case["extensions"])
    return plain(filter_extensions(slots, frozenset(case["capabilities"])))


def merged(case):
    """What the slots are once the plugin has returned its own, or the name of the error."""
    from cpex.framework.extensions.extensions import Extensions
    from cpex.framework.extensions.tiers import TierViolationError, merge_extensions

    slots = Extensions.model_validate(case["extensions"])
    returned = None if case["returned"] is None else Extensions.model_validate(case["returned"])
    try:
        return plain(merge_extensions(slots, returned, frozenset(case["capabilities"]), "p"))
    except TierViolationError as error:
        return {"error": type(error).__name__, "slot": str(error.slot)}


def plain(extensions):
    """The slots as JSON, without what was never set, is null, or is empty."""
    return tidy(extensions.model_dump(mode="json", exclude_unset=True)) or {}


def tidy(value, name=""):
    """A value without null and empty members, sets sorted; None if nothing is left."""
    if isinstance(value, dict):
        value = {key: left for key, item in value.items() if (left := tidy(item, key)) is not None}
        return value or None
    if isinstance(value, list):
        value = [tidy(item) for item in value]
        return (sorted(value) if name in SETS else value) or None
    return value


def written(made):
    """The text of the file: one case a line."""
    parts = []
    for part, cases in (("filters", FILTERS), ("merges", MERGES)):
        lines = [json.dumps({**case, "answer": made[part][number]}) for number, case in enumerate(cases)]
        parts.append(f'"{part}": [\n' + ",\n".join(lines) + "\n]")
    return '{"framework": "cpex ' + FRAMEWORK + '", ' + ", ".join(parts) + "}\n"


def kept():
    """The file: its cases without their answers, and the answers."""
    file = json.loads(FILE.read_text(encoding="utf-8"))
    questions = {
        part: [{key: case[key] for key in case if key != "answer"} for case in file[part]] for part in LEAST
    }
    return questions, {part: [case.get("answer") for case in file[part]] for part in LEAST}


def check():
    """Why the file does not hold exactly the cases, each with an answer; None if it does."""
    questions, told = kept()
    if questions != {"filters": FILTERS, "merges": MERGES}:
        return f"error: {FILE.name} does not hold the cases of cases/extensions.py"
    for part, least in LEAST.items():
        if len(told[part]) < least:
            return f"error: {len(told[part])} {part} in {FILE.name}, at least {least} are wanted"
        names = [case["name"] for case in questions[part]]
        if len(set(names)) < len(names):
            return f"error: two {part} have one name"
    if any(not isinstance(answer, dict) for part in told for answer in told[part]):
        return f"error: a case of {FILE.name} has no answer"
    # What is said to be unlike home must be.
    for case, answer in zip(MERGES, told["merges"], strict=True):
        here = case.get("unlike_home")
        changed = here and tidy({**case["extensions"], **here["merged"]})
        if here and answer == (changed or {}):
            return f"error: {case['name']} is said to be unlike home, and is not"
        if not here and "error" in answer:
            return f"error: {case['name']} is an error at home, and nothing says what it is here"
    return None


def compare(python):
    """Why the framework does not say what the file does; None if it does."""
    done = subprocess.run([python, "-B", __file__, "--answers"], capture_output=True, text=True, check=False)
    if done.returncode:
        return f"error: the framework did not run\n{done.stderr[-4000:]}"
    found, (_, told) = json.loads(done.stdout), kept()
    differing = 0
    for part, cases in (("filters", FILTERS), ("merges", MERGES)):
        for case, one, other in zip(cases, told[part], found[part], strict=True):
            if one != other:
                differing += 1
                print(f"{case['name']}\n  file:      {json.dumps(one)}\n  framework: {json.dumps(other)}")
    print(f"{sum(map(len, found.values()))} cases compared with the framework, {differing} differ")
    return f"error: {differing} cases differ" if differing else None


def main():
    parser = argparse.ArgumentParser(description="write extensions.json, or check it")
    parser.add_argument("--check", action="store_true", help="exit 1 when the file does not hold exactly the cases")
    parser.add_argument("--check-reference", metavar="PYTHON", help="a python that has cpex 0.1.4 installed")
    parser.add_argument("--answers", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.check:
        problem = check()
        hint = f"\nhint: <python with cpex {FRAMEWORK}> tests/vectors/{Path(__file__).name}"
        return sys.exit(problem and problem + hint)
    if options.check_reference:
        return sys.exit(check() or compare(options.check_reference))
    made = answers()
    if options.answers:
        return print(json.dumps(made))
    FILE.write_text(written(made), encoding="utf-8")
    return None


if __name__ == "__main__":
    main()
