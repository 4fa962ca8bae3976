"""The policy `script`: does what its config lists, op by op."""

from oracle import edits
from oracle.answer import Answer, Failed, violation
from oracle.ijson import Number, equal, lookup


def script(hook, payload, config, call):
    """Runs the ops configured for the hook. Edits stay beside a denial: that they do not count is the engine's rule."""
    answer = Answer()
    _steps(config["hooks"].get(hook, []), hook, payload, call, answer)
    return answer


def _steps(ops, hook, payload, call, answer):
    return any(_step(op, hook, payload, call, answer) for op in ops)


def _step(op, hook, payload, call, answer):
    """One op; true if it ends the run."""
    match op["op"]:
        case "do":
            there, ops = lookup(payload, op["from"])
            return there and _steps(ops, hook, payload, call, answer)
        case "set" | "append" | "copy" | "remove" | "set_anyway":
            edit = _edit(op, payload)
            if not edits.refused(hook, payload, edit):
                answer.edits.append(edit)
            elif op["op"] == "set_anyway":
                answer.refused = True
            else:
                # Every implementation gives up when an edit of its is refused.
                raise Failed("plugin_error")
        case "state":
            call.state[op["key"]] = op["value"]
        case "shared":
            call.shared[op["key"]] = op["value"]
        case "forget":
            del call.state[op["key"]]
        case "forget_shared":
            del call.shared[op["key"]]
        case "count":
            before = call.state.get(op["key"], Number("0"))
            call.state[op["key"]] = Number(str(int(before.text) + 1))
        case "annotate":
            answer.metadata[op["key"]] = op["value"]
        case "annotate_get":
            _survives_python(lookup(payload, op["from"])[1])
            answer.metadata[op["key"]] = lookup(payload, op["from"])[1]
        case "annotate_state":
            answer.metadata[op["key"]] = call.state.get(op["from"])
        case "annotate_shared":
            answer.metadata[op["key"]] = call.shared.get(op["from"])
        case "annotate_caller":
            answer.metadata[op["key"]] = call.caller.get(op["field"])
        case "header":
            answer.headers.append((op["name"], op["value"]))
        case "retry":
            assert answer.retry_ms is None, "one delay a call"
            answer.retry_ms = int(op["ms"].text)
        case "result":
            answer.result = op["value"]
        case "extend":
            # What side-channel slots are about has tests of its own; here one is written that needs no grant.
            assert op["slot"] == "custom" and op["at"].count("/") == 1, "a member of the slot `custom`"
            answer.extensions.setdefault("custom", {})[op["at"][1:]] = op["value"]
        case "ask":
            answer.verdict, answer.approval = "ask", op["approval"]
            return True
        case "deny":
            answer.verdict, answer.violation = "deny", violation(**op["violation"])
            return True
        case "deny_if_state" | "deny_if_shared":
            held = call.state if op["op"] == "deny_if_state" else call.shared
            if op["key"] in held and equal(held[op["key"]], op["equals"]):
                answer.verdict, answer.violation = "deny", violation(**op["violation"])
                return True
        case "deny_without_violation":
            answer.verdict = "deny"
            return True
        case "allow_with_violation":
            answer.violation = violation(**op["violation"])
            return True
        case "fail":
            raise Failed("plugin_error")
        case "spin" | "hang":
            raise Failed("timeout")
        case other:
            raise AssertionError(f"no such op: {other}")
    return False


def _edit(op, payload):
    """The edit an op asks for: op, pointer, value."""
    match op["op"]:
        case "copy":
            there, value = lookup(payload, op["from"])
            assert there, f"nothing to copy at {op['from']}"
            _survives_python(value)
            return "set", op["at"], value
        case "remove":
            return "remove", op["at"], None
        case "append":
            return "append", op["at"], op["value"]
        case _:
            return "set", op["at"], op["value"]


def _survives_python(value):
    """A value that leaves a payload passes through Python numbers in a legacy class: its text must survive that."""
    if isinstance(value, Number):
        number = float(value.text) if any(char in value.text for char in ".eE") else int(value.text)
        assert repr(number) == value.text, f"{value.text} becomes {number!r} in Python"
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            _survives_python(item)
