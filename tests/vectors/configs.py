"""Writes configs.json: what the legacy framework reads in configurations. See README.md.

    (nothing)                 write the file; run with a python that has cpex 0.1.4 installed
    --check                   without the framework: exit 1 when the file does not hold exactly the cases
    --check-reference PYTHON  ask the framework of that python again and compare its answers
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from cases.configs import CASES  # noqa: E402

FILE = HERE / "configs.json"
FRAMEWORK = "0.1.4"
# Cases there must be at least, so that some taken out are noticed.
LEAST = 280
# Fields of a condition that are sets to the framework.
SETS = {"server_ids", "tenant_ids", "tools", "prompts", "resources", "agents"}


def answers():
    """What the framework makes of each case."""
    from importlib.metadata import version

    from cpex.framework.loader.config import ConfigLoader

    if version("cpex") != FRAMEWORK:
        sys.exit(f"error: cpex {version('cpex')} is installed, {FRAMEWORK} is wanted")
    with tempfile.TemporaryDirectory() as folder:
        return [answer(ConfigLoader, Path(folder) / "config.yaml", case) for case in CASES]


def answer(loader, file, case):
    """The plugins of one configuration, or the name of the error."""
    file.write_text(case["text"], encoding="utf-8")
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(case["env"])
    try:
        config = loader.load_config(str(file))
        plugins = [plain(plugin) for plugin in config.plugins or []]
    except Exception as error:  # noqa: BLE001 - whatever the framework raises is the answer
        return {"error": type(error).__name__}
    finally:
        os.environ.clear()
        os.environ.update(before)
    return {"plugins": plugins, "plugin_dirs": config.plugin_dirs}


def plain(plugin):
    """A plugin's model as JSON, without the members that are not set."""
    members = plugin.model_dump()
    members["capabilities"] = sorted(plugin.capabilities)
    members["conditions"] = [
        {key: sorted(items) if key in SETS else items for key, items in condition.items() if items}
        for condition in members["conditions"]
    ]
    return {key: as_json(item) for key, item in members.items() if item is not None}


def as_json(item):
    """A value with what JSON has not as text."""
    if isinstance(item, dict):
        return {key: as_json(inner) for key, inner in item.items()}
    if isinstance(item, list):
        return [as_json(inner) for inner in item]
    plain = item is None or isinstance(item, (str, bool, int)) or (isinstance(item, float) and math.isfinite(item))
    return item if plain else f"{type(item).__name__} {item}"


def written(made):
    """The text of the file: one case a line."""
    lines = [json.dumps({**case, "answer": answer}, allow_nan=False) for case, answer in zip(CASES, made, strict=True)]
    return '{"framework": "cpex ' + FRAMEWORK + '", "cases": [\n' + ",\n".join(lines) + "\n]}\n"


def check():
    """Whether the file holds exactly the cases, each with an answer."""
    kept = json.loads(FILE.read_text(encoding="utf-8"))["cases"]
    questions = [{key: case[key] for key in case if key != "answer"} for case in kept]
    if questions != CASES or not all(case["answer"].keys() & {"plugins", "error"} for case in kept):
        sys.exit(f"error: {FILE.name} does not hold the cases\nhint: VENV/bin/python {Path(__file__).name}, in a VENV with cpex {FRAMEWORK}")


def main():
    parser = argparse.ArgumentParser(description="write what the legacy framework reads, or check it")
    parser.add_argument("--check", action="store_true", help="exit 1 when the file does not hold exactly the cases")
    parser.add_argument("--check-reference", metavar="PYTHON", help="a python that has cpex 0.1.4 installed")
    parser.add_argument("--print", action="store_true", help="print the file instead of writing it")
    options = parser.parse_args()
    names = [case["name"] for case in CASES]
    if len(set(names)) != len(names) or len(names) < LEAST:
        sys.exit(f"error: {len(names)} cases, {len(names) - len(set(names))} names twice; at least {LEAST} are wanted")
    if options.check:
        return check()
    if options.check_reference:
        # Not resolved: the link in a virtualenv is what makes it one.
        python = os.path.abspath(options.check_reference)
        asked = subprocess.run([python, __file__, "--print"], capture_output=True, text=True)
        if asked.returncode:
            sys.exit(f"error: the framework cannot be asked\n{asked.stderr}")
        if asked.stdout != FILE.read_text(encoding="utf-8"):
            sys.exit(f"error: {FILE.name} is not what the framework answers")
        return None
    text = written(answers())
    if options.print:
        sys.stdout.write(text)
    else:
        FILE.write_text(text, encoding="utf-8")
    return None


if __name__ == "__main__":
    main()
