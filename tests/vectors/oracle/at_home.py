"""Runs in the Python that has the framework: the legacy classes in its own in-process manager.

Reads a task from stdin (setups, and the steps to ask in order) and writes an answer for each step to stdout.
"""

import asyncio
import json
import os
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
ENTRY = ("name", "hooks", "config", "mode", "on_error", "priority", "conditions")
ROW = ("code", "reason", "description", "details", "mcp_error_code", "http_status_code", "http_headers")


async def run(task):
    """An answer for every step, setups in order of first use, one manager each."""
    answers, running, manager, vector, requests = [], None, None, None, {}
    for step in task["steps"]:
        if step["setup"] != running:
            running, requests = step["setup"], {}
            if manager:
                await manager.shutdown()
            manager = await start(task["setups"][running]["plugins"])
        if step["vector"] != vector:
            vector = step["vector"]
            await manager.executor.reset_runtime_disabled()
        answers.append(await answer(manager, step, requests))
    return answers


async def start(plugins):
    """A manager of these plugins. It has one timeout for all of them."""
    from cpex.framework import PluginManager

    PluginManager.reset()
    timeouts = [plugin["timeout_ms"] / 1000 for plugin in plugins if "timeout_ms" in plugin]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        # JSON is YAML; unescaped, since YAML reads no surrogate pairs.
        json.dump({"plugins": [entry(plugin) for plugin in plugins], "plugin_dirs": []}, file, ensure_ascii=False)
        file.flush()
        manager = PluginManager(file.name, **({"timeout": min(timeouts)} if timeouts else {}))
    await manager.initialize()
    return manager


def entry(plugin):
    """A `plugins:` entry of the framework's configuration."""
    kept = {key: plugin[key] for key in ENTRY if key in plugin}
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
        kind = "timeout" if error.error.message.endswith("s timeout") else "plugin_error"
        return {"fault": [error.error.plugin_name, kind], "decision": "deny", "violation": None, "metadata": {}, "payload": None}
    finally:
        state.update(context.state)
    # What runs in the background ends by the manager's timeout at the latest.
    await asyncio.gather(*said.background_tasks)
    table.update(contexts or {})
    changed = said.modified_payload
    return {
        "fault": None,
        "decision": "allow" if said.continue_processing else "deny",
        "violation": None if said.continue_processing else violation(said),
        "metadata": said.metadata,
        "payload": None if changed is None else changed.model_dump(),
    }


def violation(said):
    """The violation of a denial; of one without, who it was stands in the manager's own record."""
    if said.violation is None:
        return {"plugin": next(record.plugin_name for record in said.executions if not record.effective_allow)}
    made = {"plugin": said.violation.plugin_name, **{key: getattr(said.violation, key) for key in ROW}}
    return {**made, "http_headers": made["http_headers"] or {}}


if __name__ == "__main__":
    sys.set_int_max_str_digits(0)
    sys.path[:1] = [str(ROOT / folder) for folder in FOLDERS]
    os.environ["PLUGINS_FAIL_ON_PLUGIN_ERROR"] = "true"
    said = asyncio.run(run(json.load(sys.stdin)))
    json.dump(said, sys.stdout)
