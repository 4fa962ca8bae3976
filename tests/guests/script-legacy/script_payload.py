"""Reading and editing a legacy payload by pointer, with the rules a component's edits have.

Pointers mean the payload as it was received, edits do not touch each other, and all are applied together. Objects keep their types.
Of a model only the members that were set exist; a member is found by its alias or its field name.
"""

import copy
from types import SimpleNamespace

from cpex.framework import HttpHeaderPayload
from pydantic import BaseModel, RootModel, SecretStr
from pydantic_core import to_jsonable_python

_MISSING = object()


def get(payload, at, default):
    """The value at the pointer as plain JSON data, `default` where nothing is there."""
    value = payload
    for token in _tokens(at):
        value = _member(value, token)
        if value is _MISSING:
            return default
    return _plain(value)


class Edits:
    """The edits of one call."""

    def __init__(self, payload):
        self._payload = payload
        self._sets = []
        self._removes = []

    def set(self, at, value):
        """Replaces the value, adds a member, or appends to an array with `-`."""
        self._sets.append((self._claim(at), value))

    def append(self, at, value):
        """Appends to the array at the pointer."""
        tokens = _tokens(at)
        if not isinstance(_resolve(self._payload, tokens), list):
            raise ValueError(f"no array at {at}")
        self._sets.append((self._claim(f"{at}/-"), value))

    def remove(self, at):
        """Removes what is at the pointer."""
        tokens = self._claim(at)
        if _resolve(self._payload, tokens) is _MISSING:
            raise ValueError(f"nothing to remove at {at}")
        self._removes.append(tokens)

    def apply(self):
        """The edited copy, None without edits."""
        if not self._sets and not self._removes:
            return None
        payload = self._payload
        for tokens, value in self._sets:
            payload = _edited(payload, tokens, lambda _: value)
        # From the back, so that an index still means the element it meant in the received array.
        for tokens in sorted(self._removes, key=_position, reverse=True):
            payload = _edited(payload, tokens, lambda _: _MISSING)
        return payload

    def _claim(self, at):
        tokens = _tokens(at)
        if not tokens:
            raise ValueError("the whole payload cannot be replaced")
        parent = _resolve(self._payload, tokens[:-1])
        if isinstance(parent, list):
            if tokens[-1] != "-" and _member(parent, tokens[-1]) is _MISSING:
                raise ValueError(f"no element at {at}")
        elif not isinstance(parent, (dict, BaseModel, SimpleNamespace)):
            raise ValueError(f"nothing to edit at {at}")
        for other in [tokens for tokens, _ in self._sets] + self._removes:
            short, long = sorted((tokens, other), key=len)
            if long[: len(short)] == short and not (short == long and short[-1] == "-" and isinstance(parent, list)):
                raise ValueError(f"two edits touch each other at {at}")
        return tokens


def _tokens(at):
    if at == "":
        return []
    if not at.startswith("/"):
        raise ValueError(f"not a pointer: {at}")
    return [token.replace("~1", "/").replace("~0", "~") for token in at[1:].split("/")]


def _position(tokens):
    """Array indexes by number; where a token is a name, its order does not matter."""
    return [(int(token), "") if token.isdecimal() else (-1, token) for token in tokens]


def _resolve(value, tokens):
    for token in tokens:
        value = _member(value, token)
    return value.root if isinstance(value, RootModel) else value


def _field(model, token):
    """The attribute's name for a token: the token itself unless it is an alias."""
    for name, field in type(model).model_fields.items():
        if token in (name, field.alias, field.serialization_alias):
            return name
    return token


def _member(value, token):
    if isinstance(value, RootModel):
        return _member(value.root, token)
    if isinstance(value, dict):
        return value.get(token, _MISSING)
    if isinstance(value, list):
        is_index = token.isascii() and token.isdecimal() and (token == "0" or token[0] != "0")
        return value[int(token)] if is_index and int(token) < len(value) else _MISSING
    if isinstance(value, BaseModel):
        name = _field(value, token)
        return getattr(value, name) if name in value.model_fields_set else _MISSING
    if isinstance(value, SimpleNamespace):
        return vars(value).get(token, _MISSING)
    return _MISSING


def _edited(value, tokens, change):
    """A copy of `value` with the place at `tokens` changed; `_MISSING` as the new value removes it."""
    token, rest = tokens[0], tokens[1:]
    if isinstance(value, RootModel):
        return value.model_copy(update={"root": _edited(value.root, tokens, change)})
    old = _member(value, token)
    new = _edited(old, rest, change) if rest else change(old)
    if isinstance(value, list):
        clone = list(value)
        if token == "-":
            clone.append(new)
        elif new is _MISSING:
            del clone[int(token)]
        else:
            clone[int(token)] = new
        return clone
    if isinstance(value, BaseModel):
        return _edited_model(value, _field(value, token), new)
    clone = dict(value) if isinstance(value, dict) else copy.copy(value)
    members = clone if isinstance(clone, dict) else vars(clone)
    if new is _MISSING:
        del members[token]
    else:
        members[token] = new
    return clone


def _edited_model(model, name, new):
    if name == "headers" and isinstance(new, dict):
        new = HttpHeaderPayload(new)
    if new is not _MISSING:
        return model.model_copy(update={name: new})
    clone = model.model_copy()
    if name in (clone.model_extra or {}):
        del clone.__pydantic_extra__[name]
        clone.__pydantic_fields_set__.discard(name)
        return clone
    if type(model).model_fields[name].is_required():
        raise ValueError(f"{name} cannot be removed")
    # A field of a type cannot be absent: null is the nearest to it.
    return model.model_copy(update={name: None})


def _plain(value):
    if isinstance(value, RootModel):
        return _plain(value.root)
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(element) for element in value]
    if isinstance(value, BaseModel):
        members = {}
        for name, field in type(value).model_fields.items():
            if name in value.model_fields_set:
                members[field.serialization_alias or field.alias or name] = _plain(getattr(value, name))
        return members | {name: _plain(member) for name, member in (value.model_extra or {}).items()}
    if isinstance(value, SimpleNamespace):
        return {name: _plain(member) for name, member in vars(value).items()}
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return to_jsonable_python(value)
