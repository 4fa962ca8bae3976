"""Does what its config lists, step by step, so that one set of tests can drive every kind of plugin.

Config: `{"hooks": {"<hook name>": [{"op": ...}, ...]}}`. The ops listed for a hook run in order; the end of the list allows.
The same policy exists as `script-rust` and `script-legacy`.

JSON values of the config stay text, so that numbers reach the payload as they were written.
"""

import contextlib
import json
import sys

import slots
from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import types


# Integers of a payload or a state may be longer than the interpreter's default of 4,300 digits.
sys.set_int_max_str_digits(100_000)


class Failed(Exception):
    """The policy fails with this message."""


def _escape(token):
    """A token of an RFC 6901 pointer."""
    return token.replace("~", "~0").replace("/", "~1")


def _read(config):
    """Every hook's ops."""
    script = {}
    for hook in config.keys("/hooks"):
        script[hook] = _list(config, f"/hooks/{_escape(hook)}")
    return script


def _list(document, at):
    """The ops of the array at a pointer; none where nothing is there."""
    ops = []
    while (text := document.get(f"{at}/{len(ops)}")) is not None:
        ops.append(_op(document, f"{at}/{len(ops)}", json.loads(text)))
    return ops


def _op(document, at, op):
    for member in ("value", "equals"):
        # A header's value is a string and stays one; the others are JSON.
        if member in op and op["op"] != "header":
            op[member] = document.get(f"{at}/{member}")
    if "violation" in op:
        op["violation"] = _violation(op["violation"], document.get(f"{at}/violation/details") or "{}")
    if "approval" in op:
        op["approval"] = _approval(op["approval"], document.get(f"{at}/approval/details") or "{}")
    return op


def _approval(approval, details):
    return types.Approval(reason=approval["reason"], risk=types.Risk[approval["risk"].upper()], details=details)


def _violation(violation, details):
    return types.Violation(
        code=violation["code"],
        reason=violation["reason"],
        description=violation["description"],
        details="{}" if details == "null" else details,
        mcp_error_code=violation.get("mcp_error_code"),
        http_status_code=violation.get("http_status_code"),
        http_headers=list((violation.get("http_headers") or {}).items()),
    )


def _run(ops, payload, ctx):
    return _steps(ops, payload, ctx) or types.Verdict_Allow()


def _steps(ops, payload, ctx):
    for op in ops:
        verdict = _step(op, payload, ctx)
        if verdict is not None:
            return verdict
    return None


def _step(op, payload, ctx):
    """Runs one op; a verdict ends the run, None goes on."""
    match op["op"]:
        case "do":
            # So that one plugin can be told call by call what to do.
            return _steps(_list(payload, op["from"]), payload, ctx)
        case "set":
            ctx.edit_set(op["at"], op["value"])
        case "set_anyway":
            # The refusal is the host's to remember.
            with contextlib.suppress(Err):
                ctx.edit_set(op["at"], op["value"])
        case "copy":
            value = payload.get(op["from"])
            if value is None:
                raise Failed(f"nothing to copy at {op['from']}")
            ctx.edit_set(op["at"], value)
        case "remove":
            ctx.edit_remove(op["at"])
        case "append":
            ctx.edit_set(op["at"] + "/-", op["value"])
        case "state":
            ctx.set_state(op["key"], op["value"])
        case "forget":
            ctx.remove_state(op["key"])
        case "count":
            ctx.set_state(op["key"], str(_count(ctx.state(op["key"]))))
        case "shared":
            ctx.set_shared(op["key"], op["value"])
        case "forget_shared":
            ctx.remove_shared(op["key"])
        case "annotate":
            ctx.annotate(op["key"], op["value"])
        case "annotate_get":
            ctx.annotate(op["key"], _or_null(payload.get(op["from"])))
        case "annotate_state":
            ctx.annotate(op["key"], _or_null(ctx.state(op["from"])))
        case "annotate_shared":
            ctx.annotate(op["key"], _or_null(ctx.shared(op["from"])))
        case "annotate_caller":
            ctx.annotate(op["key"], _or_null(ctx.caller(op["field"])))
        case "annotate_extension":
            ctx.annotate(op["key"], json.dumps(slots.get(_slot(ctx, op["slot"]), op["from"])))
        case "extend":
            _write(ctx, op["slot"], slots.with_value(_slot(ctx, op["slot"]), op["at"], json.loads(op["value"])))
        case "shrink":
            _write(ctx, op["slot"], slots.without(_slot(ctx, op["slot"]), op["at"]))
        case "header":
            ctx.set_header(op["name"], op["value"])
        case "retry":
            ctx.set_retry_ms(op["ms"])
        case "result":
            ctx.set_result(op["value"])
        case "ask":
            return types.Verdict_Ask(op["approval"])
        case "deny":
            return types.Verdict_Deny(op["violation"])
        case "deny_if_state":
            return _deny_if(ctx.state(op["key"]), op)
        case "deny_if_shared":
            return _deny_if(ctx.shared(op["key"]), op)
        case "fail":
            raise Failed(op["message"])
        # A component cannot wait otherwise.
        case "spin" | "hang":
            while True:
                pass
        case unknown:
            raise Failed(f"unknown op {unknown}")
    return None


def _slot(ctx, slot):
    """A side-channel slot; None where there is none, or where the plugin may not look."""
    with contextlib.suppress(Err):
        text = ctx.extension(slot)
        return None if text is None else json.loads(text)
    return None


def _write(ctx, slot, value):
    # The refusal is the host's to remember.
    with contextlib.suppress(Err):
        ctx.set_extension(slot, json.dumps(value))


def _deny_if(value, op):
    if value is not None and _same(json.loads(value), json.loads(op["equals"])):
        return types.Verdict_Deny(op["violation"])
    return None


def _or_null(value):
    return "null" if value is None else value


def _count(state):
    number = 0 if state is None else json.loads(state)
    if isinstance(number, bool) or not isinstance(number, int):
        raise Failed(f"the state to count is no integer: {state}")
    return number + 1


def _same(a, b):
    """JSON equality: members in any order, numbers by value, and a boolean is no number."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and a == b


_script = None


def _invoke(payload, ctx):
    if _script is None:
        raise Err(types.Failure_Failed("a hook was called before init"))
    try:
        return _run(_script.get(ctx.hook(), []), payload, ctx)
    except Failed as failed:
        raise Err(types.Failure_Failed(str(failed))) from failed
    except Err as err:
        refusal = err.value
        raise Err(types.Failure_Failed(f"refused ({refusal.code}): {refusal.message}")) from err
    except KeyError as missing:
        raise Err(types.Failure_Failed(f"config: an op lacks {missing}")) from missing


class Lifecycle(exports.Lifecycle):
    def init(self, config):
        global _script
        try:
            _script = _read(config)
        except (KeyError, TypeError, ValueError, AttributeError) as err:
            raise Err(types.Failure_Failed(f"config: {type(err).__name__}: {err}")) from err


class Tools(exports.Tools):
    def pre_invoke(self, name, payload, ctx):
        return _invoke(payload, ctx)

    def post_invoke(self, name, payload, ctx):
        return _invoke(payload, ctx)


class Prompts(exports.Prompts):
    def pre_fetch(self, prompt_id, payload, ctx):
        return _invoke(payload, ctx)

    def post_fetch(self, prompt_id, payload, ctx):
        return _invoke(payload, ctx)


class Resources(exports.Resources):
    def pre_fetch(self, uri, payload, ctx):
        return _invoke(payload, ctx)

    def post_fetch(self, uri, payload, ctx):
        return _invoke(payload, ctx)


class Agents(exports.Agents):
    def pre_invoke(self, agent_id, payload, ctx):
        return _invoke(payload, ctx)

    def post_invoke(self, agent_id, payload, ctx):
        return _invoke(payload, ctx)


class Custom(exports.Custom):
    def invoke(self, hook, payload, ctx):
        return _invoke(payload, ctx)
