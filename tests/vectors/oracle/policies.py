"""What the three policies do, stated as plainly as possible.

A policy is a function of (hook, payload, config, call) that returns an `Answer` or raises `Failed`.
It reads the payload as received and never changes it; changes are edits.
"""

from dataclasses import dataclass, field

from oracle.ijson import Number, equal, escape, lookup

SUBJECTS = {
    "tool_pre_invoke": "name",
    "tool_post_invoke": "name",
    "prompt_pre_fetch": "prompt_id",
    "prompt_post_fetch": "prompt_id",
    "resource_pre_fetch": "uri",
    "resource_post_fetch": "uri",
}


class Failed(Exception):
    """The plugin did not answer; the argument is the kind of fault."""


@dataclass
class Call:
    """What a plugin is lent besides the payload. State and shared state are copies it may write."""

    caller: dict
    state: dict
    shared: dict


@dataclass
class Answer:
    """A verdict with what goes along with it."""

    violation: dict | None = None
    edits: list = field(default_factory=list)
    metadata: dict = field(default_factory=dict)
    headers: list = field(default_factory=list)
    retry_ms: int | None = None


def violation(code, reason, description="", details=None, mcp_error_code=None, http_status_code=None, http_headers=None):
    """A violation with every member present, before the engine adds the plugin."""
    return {
        "code": code,
        "reason": reason,
        "description": description,
        "details": {} if details is None else details,
        "mcp_error_code": mcp_error_code,
        "http_status_code": http_status_code,
        "http_headers": {} if http_headers is None else http_headers,
    }


def string_values(value, at=""):
    """Every string value with its pointer, in document order; keys are not values."""
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from string_values(item, f"{at}/{escape(key)}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from string_values(item, f"{at}/{index}")


def ascii_lower(text):
    """Lower case for A to Z and nothing else."""
    return "".join(chr(ord(char) + 32) if "A" <= char <= "Z" else char for char in text)


def deny_list(hook, payload, config, call):
    """Denies at the first string that holds a word: leftmost occurrence, ties to the earlier word."""
    fold = ascii_lower if config.get("ignore_ascii_case", False) else str
    for at, text in string_values(payload):
        folded = fold(text)
        found = []
        for rank, word in enumerate(config["words"]):
            start = folded.find(fold(word))
            if start >= 0:
                found.append((start, rank, word))
        if found:
            word = min(found)[2]
            return Answer(violation("DENY_WORD", "denied word", f"'{word}' at {at}", {"word": word, "at": at}))
    return Answer()


def redact(text, words, replacement):
    """Left to right: the first word of the list that starts here is replaced, then on behind it."""
    done, at, kept = [], 0, 0
    starts = {word[0] for word in words}
    while at < len(text):
        word = text[at] in starts and next((word for word in words if text.startswith(word, at)), None)
        if word:
            done += [text[kept:at], replacement]
            at += len(word)
            kept = at
        else:
            at += 1
    return "".join(done) + text[kept:]


def redactor(hook, payload, config, call):
    """Redacts every string value but the hook's own subject."""
    subject = SUBJECTS.get(hook)
    edits = []
    for at, text in string_values(payload):
        if subject is not None and at == f"/{subject}":
            continue
        new = redact(text, config["words"], config.get("replacement", "[redacted]"))
        if new != text:
            edits.append(("set", at, new))
    return Answer(edits=edits)


def script(hook, payload, config, call):
    """Runs the ops configured for the hook."""
    answer = Answer()
    for op in config["hooks"].get(hook, []):
        if _step(op, payload, call, answer):
            break
    if answer.violation is not None:
        answer.edits = []
    return answer


def _step(op, payload, call, answer):
    """One op; true if it ends the run."""
    match op["op"]:
        case "set" | "append":
            answer.edits.append((op["op"], op["at"], op["value"]))
        case "copy":
            there, value = lookup(payload, op["from"])
            assert there, f"nothing to copy at {op['from']}"
            _survives_python(value)
            answer.edits.append(("set", op["at"], value))
        case "remove":
            answer.edits.append(("remove", op["at"], None))
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
        case "deny":
            answer.violation = violation(**op["violation"])
            return True
        case "deny_if_state" | "deny_if_shared":
            held = call.state if op["op"] == "deny_if_state" else call.shared
            if op["key"] in held and equal(held[op["key"]], op["equals"]):
                answer.violation = violation(**op["violation"])
                return True
        case "fail":
            raise Failed("plugin_error")
        case "spin":
            raise Failed("timeout")
        case other:
            raise AssertionError(f"no such op: {other}")
    return False


def _survives_python(value):
    """A value that leaves a payload passes through Python numbers in a legacy class: its text must survive that."""
    if isinstance(value, Number):
        number = float(value.text) if any(char in value.text for char in ".eE") else int(value.text)
        assert repr(number) == value.text, f"{value.text} becomes {number!r} in Python"
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            _survives_python(item)


POLICIES = {"deny-list": deny_list, "redactor": redactor, "script": script}
