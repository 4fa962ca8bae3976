"""The framework's own in-process manager as a second opinion on the oracle.

`compare` starts the Python that has the framework with this very file, hands it every step the
framework can express, and holds decision, violation and payload against the expected outcomes.
Not expressible at home, and so left out: payloads that are refused at the door, hooks nobody
listens to, and a plugin that never returns (a synchronous loop cannot be interrupted there).
The manager drops headers and delays on a denial, so of the effects only metadata is compared.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ["guest-plugins/deny-list-legacy", "guest-plugins/redactor-legacy", "tests/guests/script-legacy"]
KINDS = {
    "deny-list": "deny_list.DenyListPlugin",
    "redactor": "redactor.RedactorPlugin",
    "script": "script_policy.ScriptPlugin",
}
# Steps whose metadata shows state that the framework keeps and the contract does not.
UNLIKE_HOME = {
    "shared-over-two-hooks, step 2": "shared state is only ever added to: a forgotten key stays",
    "shared-over-two-hooks, step 3": "the same",
    "fault-ignore-drops-state, step 2": "a plugin that raised keeps the state it wrote before",
}
ROW = ("code", "reason", "description", "details", "mcp_error_code", "http_status_code", "http_headers")


def compare(python, contents):
    """None when all agree, else the text to leave with."""
    from oracle.filling import expand
    from oracle.ijson import plain

    sys.set_int_max_str_digits(0)
    setups, asked, wanted = {}, [], []
    for content in contents.values():
        setups.update(content["setups"])
        for vector in content["vectors"]:
            plugins = setups[vector["setup"]]["plugins"]
            for number, step in enumerate(vector["steps"], 1):
                listened = any(step["hook"] in plugin["hooks"] for plugin in plugins)
                if "error" in step["expected"] or not listened or any("timeout_ms" in plugin for plugin in plugins):
                    continue
                asked.append({**step, "payload": expand(step["payload"]), "setup": vector["setup"], "expected": None})
                wanted.append((f"{vector['name']}, step {number}", plain(step["expected"]["outcome"])))
    task = json.dumps({"setups": setups, "steps": asked})
    done = subprocess.run([python, "-B", __file__], input=task, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        return f"error: the framework did not run\n{done.stderr[-4000:]}"
    answers = json.loads(done.stdout)
    differing = 0
    for step, (name, outcome), answer in zip(asked, wanted, answers, strict=True):
        unlike = name in UNLIKE_HOME
        expected, found = comparable(outcome, unlike), as_outcome(step, answer, unlike)
        if expected != found:
            differing += 1
            print(f"{name}\n  oracle:    {expected[:700]}\n  framework: {found[:700]}")
    print(f"{len(answers)} steps compared with the framework, {differing} differ")
    return f"error: {differing} steps differ" if differing else None


def comparable(outcome, unlike):
    """The part of an outcome that both sides can say, as text, so that 1, 1.0, true, 0.0 and -0.0 all differ."""
    metadata = None if unlike or lost_with_the_exception(outcome) else outcome["effects"]["metadata"]
    return json.dumps([outcome["decision"], outcome["violation"], outcome["payload"], metadata], sort_keys=True)


def lost_with_the_exception(outcome):
    """A fault under `on_error: fail` is an exception at home, which carries no metadata of earlier plugins."""
    return outcome["violation"] is not None and outcome["violation"]["code"] == "plugin_fault"


def as_outcome(step, answer, unlike):
    """What the framework said, in the words of an outcome."""
    said = {"decision": "deny", "payload": None, "violation": answer["violation"], "effects": {"metadata": answer["metadata"]}}
    if answer["fault"]:
        denied = {**dict.fromkeys(ROW), "code": "plugin_fault", "reason": "plugin fault", "description": "", "http_headers": {}}
        said["violation"] = {**denied, "plugin": answer["fault"], "details": {"fault": "plugin_error"}}
    if said["violation"]:
        return comparable(said, unlike)
    given, payload = json.loads(step["payload"]), answer["payload"]
    if payload is None:
        payload = given
    # Defaults that the framework's types add are not changes.
    payload = {key: value for key, value in payload.items() if key in given or value not in (None, {})}
    return comparable({**said, "decision": "allow", "payload": payload}, unlike)


async def run(task):
    """An answer for every step, setups in order of first use, one manager each."""
    from cpex.framework import PluginManager

    answers, requests, running, manager = [], {}, None, None
    for step in task["steps"]:
        if step["setup"] != running:
            running, requests = step["setup"], {}
            if manager:
                await manager.shutdown()
            PluginManager.reset()
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                # JSON is YAML; unescaped, since YAML reads no surrogate pairs.
                json.dump({"plugins": [entry(plugin) for plugin in task["setups"][running]["plugins"]], "plugin_dirs": []},
                          file, ensure_ascii=False)
                file.flush()
                manager = PluginManager(file.name)
            await manager.initialize()
        answers.append(await answer(manager, step, requests))
    return answers


def entry(plugin):
    """A `plugins:` entry of the framework's configuration."""
    kept = {key: plugin[key] for key in ("name", "hooks", "config", "mode", "on_error", "priority") if key in plugin}
    return {"mode": "sequential", "on_error": "fail", "priority": 100, **kept, "kind": KINDS[plugin["policy"]]}


async def answer(manager, step, requests):
    """One hook; state is handed from step to step as a gateway does."""
    from cpex.framework import GlobalContext, get_hook_registry
    from cpex.framework.errors import PluginError

    caller = dict(step.get("request", {}))
    identity = caller.pop("id", None) or uuid.uuid4().hex
    table, state = requests.setdefault(identity, ({}, {}))
    context = GlobalContext(request_id=identity, state=state, **caller)
    payload = get_hook_registry().json_to_payload(step["hook"], json.loads(step["payload"]))
    try:
        said, contexts = await manager.invoke_hook(step["hook"], payload, context, local_contexts=table)
    except PluginError as error:
        return {"fault": error.error.plugin_name, "violation": None, "metadata": {}, "payload": None}
    finally:
        state.update(context.state)
    table.update(contexts or {})
    violation = None
    if not said.continue_processing:
        violation = {"plugin": said.violation.plugin_name, **{key: getattr(said.violation, key) for key in ROW}}
        violation["http_headers"] = violation["http_headers"] or {}
    changed = said.modified_payload
    return {"fault": None, "violation": violation, "metadata": said.metadata, "payload": None if changed is None else changed.model_dump()}


if __name__ == "__main__":
    sys.set_int_max_str_digits(0)
    sys.path[:1] = [str(ROOT / folder) for folder in FOLDERS]
    os.environ["PLUGINS_FAIL_ON_PLUGIN_ERROR"] = "true"
    said = asyncio.run(run(json.load(sys.stdin)))
    json.dump(said, sys.stdout)
