"""Side-channel slots of the framework's own type: read at a pointer, changed in a copy."""

from cpex.framework.extensions.extensions import Extensions
from pydantic import BaseModel
from pydantic_core import to_jsonable_python


class Slots:
    """The slots a hook was handed, and the changed copy of them once there is one."""

    def __init__(self, extensions):
        # At home there may be none at all.
        self._now = Extensions() if extensions is None else extensions
        self.modified = None

    def get(self, slot, at):
        """What is at the pointer of a slot; None where nothing is."""
        value = self._slot(slot)
        for token in _tokens(at):
            if isinstance(value, list) and token.isdecimal() and int(token) < len(value):
                value = value[int(token)]
            elif isinstance(value, dict):
                value = value.get(token)
            else:
                return None
        return value

    def set(self, slot, at, value):
        """Sets a value, or appends it with `-`; objects on the way are made."""
        root = {"": self._slot(slot)}
        place, token = root, ""
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
        self._change(slot, root[""])

    def remove(self, slot, at):
        """Removes a member or an element."""
        value = self._slot(slot)
        *above, token = _tokens(at)
        place = value
        for step in above:
            place = place[int(step)] if isinstance(place, list) else place.get(step, {})
        if isinstance(place, list) and token.isdecimal() and int(token) < len(place):
            del place[int(token)]
        elif isinstance(place, dict):
            place.pop(token, None)
        self._change(slot, value)

    def _slot(self, name):
        return _plain(getattr(self._now, name, None))

    def _change(self, name, value):
        changed = getattr(Extensions.model_validate({name: value}), name)
        self._now = self.modified = self._now.model_copy(update={name: changed})


def _plain(value):
    """Plain data with sets in one order."""
    if isinstance(value, BaseModel):
        return {name: _plain(item) for name, item in value.__dict__.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return to_jsonable_python(value)


def _tokens(at):
    return [token.replace("~1", "/").replace("~0", "~") for token in at.split("/")[1:]]
