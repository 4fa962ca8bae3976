"""I-JSON text to values and back, with numbers kept as they were written.

Strings are `str`, objects `dict` in document order, arrays `list`, and numbers `Number`, so that
`1.10`, `-0.0` and `1e400` come out as they went in. The reader is written out rather than borrowed
from `json`, which lets duplicate keys, lone surrogates, `NaN` and unlimited nesting pass.
"""

import json
import re
from dataclasses import dataclass
from decimal import Decimal

MAX_DEPTH = 100

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_SPACE = re.compile(r"[ \t\n\r]*")
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"true": True, "false": False, "null": None}


class NotIJson(ValueError):
    """The text is not an I-JSON value within the nesting limit."""


@dataclass(frozen=True)
class Number:
    """A number by its text; equal only to a number with the same text."""

    text: str

    def exact(self):
        """The value, for the places where numbers compare as exact decimals."""
        return Decimal(self.text)


def parse(text):
    """The value of a whole text; `NotIJson` if there is anything wrong with it."""
    value, end = _value(text, _skip(text, 0), 1)
    end = _skip(text, end)
    if end != len(text):
        raise NotIJson(f"something follows the value at {end}")
    return value


def _skip(text, at):
    return _SPACE.match(text, at).end()


def _value(text, at, depth):
    first = text[at : at + 1]
    if first == "{":
        return _object(text, at + 1, depth)
    if first == "[":
        return _array(text, at + 1, depth)
    if first == '"':
        return _string(text, at + 1)
    for word, value in _WORDS.items():
        if text.startswith(word, at):
            return value, at + len(word)
    number = _NUMBER.match(text, at)
    if number is None:
        raise NotIJson(f"no value at {at}")
    return Number(number.group()), number.end()


def _object(text, at, depth):
    if depth > MAX_DEPTH:
        raise NotIJson("nested too deep")
    members = {}
    at = _skip(text, at)
    if text[at : at + 1] == "}":
        return members, at + 1
    while True:
        if text[at : at + 1] != '"':
            raise NotIJson(f"no key at {at}")
        key, at = _string(text, at + 1)
        if key in members:
            raise NotIJson(f"duplicate key {key!r}")
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise NotIJson(f"no colon at {at}")
        members[key], at = _value(text, _skip(text, at + 1), depth + 1)
        at = _skip(text, at)
        if text[at : at + 1] == "}":
            return members, at + 1
        if text[at : at + 1] != ",":
            raise NotIJson(f"no comma at {at}")
        at = _skip(text, at + 1)


def _array(text, at, depth):
    if depth > MAX_DEPTH:
        raise NotIJson("nested too deep")
    elements = []
    at = _skip(text, at)
    if text[at : at + 1] == "]":
        return elements, at + 1
    while True:
        element, at = _value(text, at, depth + 1)
        elements.append(element)
        at = _skip(text, at)
        if text[at : at + 1] == "]":
            return elements, at + 1
        if text[at : at + 1] != ",":
            raise NotIJson(f"no comma at {at}")
        at = _skip(text, at + 1)


def _string(text, at):
    parts = []
    while True:
        plain = _PLAIN.match(text, at)
        parts.append(plain.group())
        at = plain.end()
        stop = text[at : at + 1]
        if stop == '"':
            return _scalars("".join(parts)), at + 1
        if stop != "\\":
            raise NotIJson(f"string not closed or control character at {at}")
        kind = text[at + 1 : at + 2]
        if kind == "u":
            unit = _HEX4.match(text, at + 2)
            if unit is None:
                raise NotIJson(f"bad escape at {at}")
            parts.append(chr(int(unit.group(), 16)))
            at += 6
        elif kind in _ESCAPES:
            parts.append(_ESCAPES[kind])
            at += 2
        else:
            raise NotIJson(f"bad escape at {at}")


def _scalars(units):
    """Joins surrogate pairs; a surrogate without its partner is an error."""
    if not any("\ud800" <= unit <= "\udfff" for unit in set(units)):
        return units
    try:
        return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise NotIJson("lone surrogate") from None


def dump(value):
    """Compact text of a value; ASCII only, so that no editor changes it."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{dump(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(dump(item) for item in value) + "]"
    return json.dumps(value)


def from_python(value):
    """A value written as a Python literal, with its numbers turned into `Number`."""
    return parse(json.dumps(value, allow_nan=False))


def plain(value):
    """A value as `json.loads` would give it."""
    return json.loads(dump(value))


def equal(left, right):
    """JSON equality: numbers by value, a boolean is never a number, key order is irrelevant."""
    if isinstance(left, Number) and isinstance(right, Number):
        same = left.exact() == right.exact()
        # Implementations may differ on whether 1 equals 1.0, so no vector may depend on it.
        assert not same or left.text == right.text, f"{left.text} and {right.text} are equal with different text"
        return same
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return left == right


def escape(key):
    """One reference token of an RFC 6901 pointer."""
    return str(key).replace("~", "~0").replace("/", "~1")


def tokens(pointer):
    """The unescaped reference tokens of a pointer."""
    if pointer == "":
        return []
    assert pointer.startswith("/"), pointer
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/")]


def lookup(value, pointer):
    """`(True, value)` at the pointer or `(False, None)`."""
    for token in tokens(pointer):
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and re.fullmatch("0|[1-9][0-9]*", token) and int(token) < len(value):
            value = value[int(token)]
        else:
            return False, None
    return True, value
