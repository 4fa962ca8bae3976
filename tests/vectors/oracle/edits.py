"""Edits: which are refused, and what the others make of a payload.

An edit is `(op, pointer, value)` with op `set`, `append` or `remove`, and points into the payload as it was received.
"""

import copy
import itertools

from oracle.door import InvalidPayload, check_shape
from oracle.ijson import lookup, tokens


def refused(hook, payload, edit):
    """Whether an edit has no place in the payload, or would leave it in a shape the hook does not have."""
    op, pointer, _ = edit
    if op == "set":
        there, place = lookup(payload, pointer[: pointer.rfind("/")])
        fits = isinstance(place, (dict, list))
    else:
        there, place = lookup(payload, pointer)
        fits = op == "remove" or isinstance(place, list)
    if not there or not fits:
        return True
    try:
        check_shape(hook, apply(payload, [edit]))
    except InvalidPayload:
        return True
    return False


def apply(payload, edits):
    """The payload with all edits at once."""
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
