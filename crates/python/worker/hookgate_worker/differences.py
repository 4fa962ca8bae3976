"""The differences between a payload before and after a hook, as edits of the JSON the caller sent.

`before` and `after` are plain data of the framework's types; `sent` is the caller's JSON, which decides how a
member is named and whether it is there at all. Members the framework added or dropped are thus no differences,
and a member the caller sent stays as the caller wrote it unless the plugin changed it.
"""

from math import copysign

from hookgate_worker.alignment import align, shifted
from hookgate_worker.plain import Members

MISSING = object()


def edits_between(before, after, sent):
    """The edits, disjoint and against the payload as it was sent."""
    found = _Edits(sent)
    found.objects(before, after, sent, "")
    return found.edits


def same(before, after):
    """Whether two plain values are the same JSON: 1, 1.0 and true differ, and so do 0.0 and -0.0."""
    if isinstance(before, dict):
        if not isinstance(after, dict):
            return False
        return all(b is not MISSING and a is not MISSING and same(b, a) for _, b, a in _pairs(before, after))
    if type(before) is not type(after):
        return False
    if type(before) is list:
        return len(before) == len(after) and all(map(same, before, after))
    if type(before) is float:
        if before != before:
            return after != after
        return before == after and copysign(1, before) == copysign(1, after)
    return before == after


def _pairs(before, after):
    """(key, before, after) for every member of either; the key is the field name where one side is a model."""
    of_before, of_after = type(before) is Members, type(after) is Members
    if of_before and not of_after:
        after = _renamed(after, before.shape.field_of)
    elif of_after and not of_before:
        before = _renamed(before, after.shape.field_of)
    # An optional member that a model does not show is null; a plain object has only what it shows.
    optional_before = before.shape.optional if of_before else ()
    optional_after = after.shape.optional if of_after else ()
    for key, value in before.items():
        other = after.get(key, MISSING)
        if other is MISSING and key in optional_after:
            other = None
        yield key, value, other
    for key, value in after.items():
        if key not in before:
            yield key, (None if key in optional_before else MISSING), value


def _renamed(members, field_of):
    """A plain object with aliases turned into field names, as far as that is unambiguous."""
    if not field_of:
        return members
    return {
        (field_of[key] if key in field_of and field_of[key] not in members else key): value
        for key, value in members.items()
    }


class _Edits:
    def __init__(self, sent):
        self.edits = []
        self._sent = sent
        self._aliased = None

    def set(self, at, value):
        self.edits.append({"op": "set", "at": at, "value": self.outward(value)})

    def remove(self, at):
        self.edits.append({"op": "remove", "at": at})

    def objects(self, before, after, sent, at):
        shapes = [side.shape for side in (before, after) if type(side) is Members]
        for key, old, new in _pairs(before, after):
            if old is new:
                continue
            name = self.name(key, shapes, sent)
            there = sent.get(name, MISSING)
            path = f"{at}/{name.replace('~', '~0').replace('/', '~1')}"
            if new is MISSING:
                if there is not MISSING:
                    self.remove(path)
            elif old is MISSING:
                if there is MISSING or not same(there, new):
                    self.set(path, new)
            else:
                self.values(old, new, there, path)

    def values(self, before, after, sent, at):
        if type(sent) is dict and isinstance(before, dict) and isinstance(after, dict):
            self.objects(before, after, sent, at)
        elif type(sent) is list and type(before) is list and type(after) is list and len(sent) == len(before):
            self.arrays(before, after, sent, at)
        elif not same(before, after):
            self.set(at, after)

    def arrays(self, before, after, sent, at):
        if len(before) == len(after) and not shifted(before, after, same):
            for index, (old, new) in enumerate(zip(before, after, strict=False)):
                if old is not new:
                    self.values(old, new, sent[index], f"{at}/{index}")
            return
        shorter = min(len(before), len(after))
        head = 0
        while head < shorter and same(before[head], after[head]):
            head += 1
        tail = 0
        while tail < shorter - head and same(before[-1 - tail], after[-1 - tail]):
            tail += 1
        if head + tail == len(after):
            for index in range(head, len(before) - tail):
                self.remove(f"{at}/{index}")
        elif head == len(before):
            for value in after[head:]:
                self.set(f"{at}/-", value)
        elif not self.aligned(before, after, sent, at, head, tail):
            # Elements that stayed go back as the caller wrote them.
            middle = [self.outward(value) for value in after[head : len(after) - tail]]
            kept = sent[len(sent) - tail :]
            self.edits.append({"op": "set", "at": at, "value": sent[:head] + middle + kept})

    def aligned(self, before, after, sent, at, head, tail):
        """Tells an array that changed in length and in its elements by single edits; False if that cannot be."""
        old, new = before[head : len(before) - tail], after[head : len(after) - tail]
        places = align(old, new, tail == 0, same)
        if places is None:
            return False
        kept = {place: index for index, place in enumerate(places) if place is not None}
        for place, value in enumerate(old):
            path = f"{at}/{head + place}"
            if place in kept:
                self.values(value, new[kept[place]], sent[head + place], path)
            else:
                self.remove(path)
        for place, value in zip(places, new, strict=True):
            if place is None:
                self.set(f"{at}/-", value)
        return True

    def name(self, key, shapes, sent):
        """The caller's name for a member; for one the caller did not send, the name it would have used."""
        if key in sent:
            return key
        for shape in shapes:
            names = shape.names.get(key)
            if names:
                return next((name for name in names if name in sent), None) or self.new_name(names, shape)
        return key

    def new_name(self, names, shape):
        return names[1] if self.aliased() or not shape.accepts_names else names[0]

    def outward(self, value):
        """A value to be set, with the members of models under the names the caller uses."""
        if type(value) is Members:
            shape = value.shape
            named = {key: self.new_name(names, shape) for key, names in shape.names.items() if key in value}
            return {named.get(key, key): self.outward(item) for key, item in value.items()}
        if type(value) is dict:
            return {key: self.outward(item) for key, item in value.items()}
        if type(value) is list:
            return [self.outward(item) for item in value]
        return value

    def aliased(self):
        """Whether the caller names typed content by its aliases (mimeType, _meta) anywhere in the payload."""
        if self._aliased is None:
            self._aliased = _has_alias(self._sent)
        return self._aliased


_ALIASES = frozenset(("mimeType", "_meta"))


def _has_alias(value):
    if type(value) is dict:
        return any(key in _ALIASES or _has_alias(item) for key, item in value.items())
    return type(value) is list and any(map(_has_alias, value))
