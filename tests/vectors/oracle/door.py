"""The check at the door: what a payload must be before any plugin is asked about it."""

from oracle import ijson

MAX_PAYLOAD_BYTES = 10_000_000
# What a hook is about.
SUBJECTS = {
    "tool_pre_invoke": "name",
    "tool_post_invoke": "name",
    "prompt_pre_fetch": "prompt_id",
    "prompt_post_fetch": "prompt_id",
    "resource_pre_fetch": "uri",
    "resource_post_fetch": "uri",
}
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
