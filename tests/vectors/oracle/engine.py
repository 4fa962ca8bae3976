"""The engine as the contract words it: the check at the door, the sequential pipeline, state, faults, the outcome.

One `Engine` stands for one running setup. It holds what outlives a call: state per request and the
plugins that `on_error: disable` has taken out.
"""

import copy
import itertools

from oracle import ijson
from oracle.ijson import Number, equal, from_python, lookup, tokens
from oracle.policies import POLICIES, SUBJECTS, Call, Failed, violation

MAX_PAYLOAD_BYTES = 10_000_000
# Members a known hook may have besides its subject: name, check, whether it may be absent.
MEMBERS = {
    "tool_pre_invoke": [("args", "object?", True), ("headers", "strings?", True)],
    "tool_post_invoke": [("result", "any", False)],
    "prompt_pre_fetch": [("args", "strings?", True)],
    "prompt_post_fetch": [("result", "any", False)],
    "resource_pre_fetch": [("metadata", "object?", True)],
    "resource_post_fetch": [("content", "any", False)],
}


class InvalidPayload(Exception):
    """The payload does not pass the door."""


def check(hook, text):
    """The payload, or `InvalidPayload`."""
    if len(text.encode()) > MAX_PAYLOAD_BYTES:
        raise InvalidPayload("too large")
    try:
        payload = ijson.parse(text)
    except ijson.NotIJson as why:
        raise InvalidPayload(str(why)) from None
    check_shape(hook, payload)
    return payload


def check_shape(hook, payload):
    """Objects for every hook; subject and members for those of the table."""
    if not isinstance(payload, dict):
        raise InvalidPayload("not an object")
    if hook not in SUBJECTS:
        return
    if not isinstance(payload.get(SUBJECTS[hook]), str):
        raise InvalidPayload("subject is not a string")
    for name, wanted, optional in MEMBERS[hook]:
        if name not in payload:
            if not optional:
                raise InvalidPayload(f"{name} is missing")
        elif not _fits(payload[name], wanted):
            raise InvalidPayload(f"{name} has the wrong shape")
    # A legacy class sees only the members of its framework's type, in this order.
    order = [SUBJECTS[hook]] + [name for name, _, _ in MEMBERS[hook]]
    assert list(payload) == [name for name in order if name in payload], f"members of {hook}: {list(payload)}"


def _fits(value, wanted):
    if wanted == "any" or value is None:
        return True
    if not isinstance(value, dict):
        return False
    return wanted == "object?" or all(isinstance(item, str) for item in value.values())


def apply_edits(payload, edits):
    """All edits at once, each pointing into the payload as it was received."""
    # An append takes a place of its own; nothing else may be set twice or inside what is set.
    places = [pointer + "/-" if op == "append" else pointer for op, pointer, _ in edits]
    for one, other in itertools.permutations(places, 2):
        assert one.endswith("/-") or not f"{other}/".startswith(f"{one}/"), f"{one} and {other} touch"
    result = copy.deepcopy(payload)
    # Appends and sets first, then removals from the highest index down, so that no index moves.
    removals = [tokens(edit[1]) for edit in edits if edit[0] == "remove"]
    for op, pointer, value in edits:
        if op == "append":
            lookup(result, pointer)[1].append(value)
        elif op == "set":
            parent, key = _place(result, tokens(pointer))
            parent[key] = value
    for path in sorted(removals, key=lambda path: [(len(token), token) for token in path], reverse=True):
        parent, key = _place(result, path)
        del parent[key]
    return result


def _place(value, path):
    """The container and the key of a place whose parent exists."""
    for token in path[:-1]:
        value = value[int(token)] if isinstance(value, list) else value[token]
    if isinstance(value, list):
        assert int(path[-1]) < len(value), path
        return value, int(path[-1])
    assert isinstance(value, dict), path
    return value, path[-1]


class Engine:
    """One setup, running."""

    def __init__(self, setup):
        plugins = [plugin for plugin in setup["plugins"] if plugin.get("mode", "sequential") != "disabled"]
        self.plugins = sorted(plugins, key=lambda plugin: plugin.get("priority", 100))
        self.disabled = set()
        self.requests = {}

    def invoke(self, hook, text, request=None):
        """The canonical outcome of one step; raises `InvalidPayload`."""
        listeners = [plugin for plugin in self.plugins if hook in plugin["hooks"]]
        if not listeners:
            return _outcome("allow", ijson.parse(text), False, None, [], Effects())
        received = payload = check(hook, text)
        request = request or {}
        # A request without an id is one of its own: what it writes is never seen again.
        private, shared = self.requests.setdefault(request["id"], ({}, {})) if "id" in request else ({}, {})
        effects, faults = Effects(), []
        for plugin in listeners:
            name, on_error = plugin["name"], plugin.get("on_error", "fail")
            if name in self.disabled:
                continue
            call = Call(from_python(request), copy.deepcopy(private.get(name, {})), copy.deepcopy(shared))
            if hook == "tool_pre_invoke" and payload.get("headers"):
                assert "read_headers" in plugin.get("data", []), "headers need a grant"
            try:
                answer = POLICIES[plugin["policy"]](hook, payload, from_python(plugin["config"]), call)
            except Failed as failed:
                kind = str(failed)
                fault = {"plugin": name, "kind": kind, "on_error": on_error}
                if kind == "timeout":
                    fault["phase"] = "guest"
                faults.append(fault)
                if on_error == "disable":
                    self.disabled.add(name)
                if on_error == "fail":
                    denied = {"plugin": name, **violation("plugin_fault", "plugin fault", details={"fault": kind})}
                    return _outcome("deny", None, False, denied, faults, effects)
                continue
            private[name] = call.state
            shared.clear()
            shared.update(call.shared)
            effects.add(answer)
            if answer.violation is not None:
                return _outcome("deny", None, False, {"plugin": name, **answer.violation}, faults, effects)
            payload = apply_edits(payload, answer.edits)
            check_shape(hook, payload)
        return _outcome("allow", payload, not equal(received, payload), None, faults, effects)


class Effects:
    """What plugins leave for the caller."""

    def __init__(self):
        self.metadata, self.headers, self.retry_ms = {}, {}, None

    def add(self, answer):
        """Metadata by key, headers without regard to case, the largest delay."""
        self.metadata.update(answer.metadata)
        for name, value in answer.headers:
            self.headers[name.lower()] = (name, value)
        if answer.retry_ms is not None:
            self.retry_ms = max(answer.retry_ms, self.retry_ms or 0)


def _outcome(decision, payload, modified, denied, faults, effects):
    return {
        "decision": decision,
        "payload": payload,
        "modified": modified,
        "violation": denied,
        "approvals": [],
        "suppressed": [],
        "faults": faults,
        "effects": {
            "metadata": effects.metadata,
            "headers": dict(effects.headers.values()),
            "retry_after_ms": None if effects.retry_ms is None else Number(str(effects.retry_ms)),
            "extensions": {},
            "result": None,
        },
    }
