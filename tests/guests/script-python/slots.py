"""Side-channel slots as plain data: read and changed at a pointer."""


def get(slot, at):
    """What is at the pointer; None where nothing is."""
    for token in _tokens(at):
        if isinstance(slot, list) and token.isdecimal() and int(token) < len(slot):
            slot = slot[int(token)]
        elif isinstance(slot, dict) and token in slot:
            slot = slot[token]
        else:
            return None
    return slot


def with_value(slot, at, value):
    """The slot with a value set, or appended with `-`; objects on the way are made."""
    root = place = {"": {} if slot is None else slot}
    token = ""
    for below in _tokens(at):
        if not isinstance(place[token], (dict, list)):
            place[token] = [] if below == "-" else {}
        place, token = place[token], below
        if isinstance(place, list):
            place.append(None)
            token = -1
        else:
            place.setdefault(token, None)
    place[token] = value
    return root[""]


def without(slot, at):
    """The slot without a member or an element."""
    slot = {} if slot is None else slot
    *above, token = _tokens(at)
    place = slot
    for step in above:
        place = place[int(step)] if isinstance(place, list) else place.get(step, {})
    if isinstance(place, list) and token.isdecimal() and int(token) < len(place):
        del place[int(token)]
    elif isinstance(place, dict):
        place.pop(token, None)
    return slot


def _tokens(at):
    return [token.replace("~1", "/").replace("~0", "~") for token in at.split("/")[1:]]
