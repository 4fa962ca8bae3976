"""Does what its config lists, step by step, so that one set of tests can drive every kind of plugin (cpex.framework plugin).

Config: `{"hooks": {"<hook name>": [{"op": ...}, ...]}}`. The ops listed for a hook run in order; the end of the list allows.
The same policy exists as `script-rust` and `script-python`.
"""

import asyncio
import copy
import time

from cpex.framework import Plugin, PluginPayload, PluginResult, PluginViolation, get_hook_registry
from pydantic import ConfigDict

from script_extensions import Slots
from script_payload import Edits, get

_MISSING = object()


class AnyPayload(PluginPayload):
    """The payload of a hook the framework has no type for: whatever members the caller sent."""

    model_config = ConfigDict(extra="allow")


class ScriptPlugin(Plugin):
    """One method for every hook the entry names, known to the framework or not."""

    def __init__(self, config):
        super().__init__(config)
        self._script = (config.config or {}).get("hooks") or {}
        registry = get_hook_registry()
        for hook in self.hooks:
            if not registry.is_registered(hook):
                registry.register_hook(hook, AnyPayload, PluginResult[AnyPayload])
            setattr(self, hook, self._listener(hook))

    def _listener(self, hook):
        async def listen(payload, context, extensions):
            return await _Run(payload, context, extensions).answer(self._script.get(hook, []))

        return listen


class _Run:
    """One call: what the ops have gathered so far."""

    def __init__(self, payload, context, extensions):
        self.payload = payload
        self.slots = Slots(extensions)
        self.state = context.state
        self.shared = context.global_context.state
        self.caller = context.global_context
        self.edits = Edits(payload)
        self.metadata = {}
        self.headers = {}
        self.retry_ms = 0

    async def answer(self, ops):
        verdict = await self.steps(ops) or {}
        # Also with a denial, where it must not count.
        return PluginResult(
            modified_payload=self.edits.apply(),
            metadata=self.metadata,
            http_headers=self.headers or None,
            retry_delay_ms=self.retry_ms,
            modified_extensions=self.slots.modified,
            **verdict,
        )

    async def steps(self, ops):
        for op in ops:
            verdict = await self.step(op)
            if verdict is not None:
                return verdict
        return None

    async def step(self, op):
        """Runs one op; a verdict ends the run, None goes on."""
        match op["op"]:
            case "do":
                # So that one plugin can be told call by call what to do.
                return await self.steps(get(self.payload, op["from"], []))
            case "set":
                self.edits.set(op["at"], copy.deepcopy(op["value"]))
            case "copy":
                value = get(self.payload, op["from"], _MISSING)
                if value is _MISSING:
                    raise ValueError(f"nothing to copy at {op['from']}")
                self.edits.set(op["at"], value)
            case "remove":
                self.edits.remove(op["at"])
            case "append":
                self.edits.append(op["at"], copy.deepcopy(op["value"]))
            case "state":
                self.state[op["key"]] = copy.deepcopy(op["value"])
            case "forget":
                self.state.pop(op["key"], None)
            case "count":
                self.state[op["key"]] = _count(self.state.get(op["key"], 0))
            case "shared":
                self.shared[op["key"]] = copy.deepcopy(op["value"])
            case "forget_shared":
                self.shared.pop(op["key"], None)
            case "annotate":
                self.metadata[op["key"]] = copy.deepcopy(op["value"])
            case "annotate_get":
                self.metadata[op["key"]] = get(self.payload, op["from"], None)
            case "annotate_state":
                self.metadata[op["key"]] = copy.deepcopy(self.state.get(op["from"]))
            case "annotate_shared":
                self.metadata[op["key"]] = copy.deepcopy(self.shared.get(op["from"]))
            case "annotate_caller":
                self.metadata[op["key"]] = copy.deepcopy(getattr(self.caller, op["field"], None))
            case "annotate_extension":
                self.metadata[op["key"]] = self.slots.get(op["slot"], op["from"])
            case "extend":
                self.slots.set(op["slot"], op["at"], copy.deepcopy(op["value"]))
            case "shrink":
                self.slots.remove(op["slot"], op["at"])
            case "header":
                self.headers[op["name"]] = op["value"]
            case "retry":
                self.retry_ms = op["ms"]
            case "deny":
                return _denial(op["violation"])
            case "deny_without_violation":
                return {"continue_processing": False}
            case "allow_with_violation":
                return {"violation": PluginViolation(**op["violation"])}
            case "deny_if_state":
                return _denial_if(self.state, op)
            case "deny_if_shared":
                return _denial_if(self.shared, op)
            case "fail":
                raise RuntimeError(op["message"])
            case "spin":
                while True:
                    pass
            case "block":
                # Holds up everything in the worker, a cancellation included.
                time.sleep(op["ms"] / 1000)
            case "hang":
                # For ever, and gives way.
                await asyncio.Event().wait()
            case unknown:
                raise ValueError(f"unknown op {unknown}")
        return None


def _denial(violation):
    return {"continue_processing": False, "violation": PluginViolation(**violation)}


def _denial_if(store, op):
    return _denial(op["violation"]) if op["key"] in store and _same(store[op["key"]], op["equals"]) else None


def _count(number):
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError(f"the state to count is no integer: {number!r}")
    return number + 1


def _same(a, b):
    """JSON equality: members in any order, numbers by value, and a boolean is no number."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and a == b
