"""The side-channel slots: the framework's `Extensions` out of what the host lends, and a plugin's changes as edits.

The host has filtered the slots by the plugin's grants and judges what comes back; nothing is granted or refused
here. Edits refer to the slots as the host sent them, so that values nobody touched keep their text.
"""

from cpex.framework.extensions.extensions import Extensions
from pydantic import BaseModel, ValidationError

from hookgate_worker.differences import edits_between, same
from hookgate_worker.log_output import MESSAGE_CHARS, log, sendable
from hookgate_worker.plain import is_nothing, members_of, whole

# How often what does not fit is taken out before its whole slot is: each round goes one level further up.
ROUNDS = 8
# Places one warning names.
SHOWN_PLACES = 8

_unknown = set()


def lend(sent, quiet=False):
    """The framework's object for the slots as sent, as far as they fit its types; what is left out is logged."""
    if not sent:
        return Extensions()
    slots = {}
    for name, value in sent.items():
        if name in Extensions.model_fields:
            slots[name] = _inward(name, value)
        elif not quiet and name not in _unknown:
            # Once per name: the host may send it with every call.
            _unknown.add(name)
            log.warning("this framework has no extension slot '%s': left out", sendable(name, 64))
    left_out = []
    for _ in range(ROUNDS):
        try:
            return Extensions.model_validate(slots)
        except ValidationError as error:
            _take_out(slots, error, left_out, quiet)
    try:
        fits = {name: value for name, value in slots.items() if name not in {place.split(".")[0] for place in left_out}}
        return Extensions.model_validate(fits)
    except ValidationError:
        return Extensions()


def edits(modified, given, sent):
    """What a plugin changed, as edits of the slots as sent; `given` is what the hook was handed, if anything.

    A slot the plugin does not return is unchanged, but a `custom` of None is an empty one.
    """
    rebuilt = lend(sent, quiet=True)
    before, after = _slots(rebuilt), _slots(modified)
    if given is not None:
        # Hops are given the time of day where none was sent; unlike the other slots they cannot be changed in place.
        before["delegation"] = _data(given.delegation)
    found = []
    for name, new in after.items():
        old = before[name]
        if same(old, new):
            continue
        if new is None:
            if name == "custom":
                found.append(_set("/custom", None))
        elif old is None or not isinstance(new, dict):
            found.append(_set(f"/{name}", _new_slot(name, new, sent.get(name))))
        else:
            found.extend(_WAYS.get(name, _members)(name, old, new, sent[name]))
    return found


def _inward(name, value):
    """A slot with its members named as this framework names them."""
    if not isinstance(value, dict):
        return value
    if name == "http" and _headers_name(value) != "headers":
        return {**value, "headers": value.get("request_headers") or {}}
    subject = value.get("subject") if name == "security" else None
    if isinstance(subject, dict) and "subject_type" in subject and "type" not in subject:
        return {**value, "subject": {**subject, "type": subject["subject_type"]}}
    return value


def _headers_name(http):
    """What the caller calls the map of the request's headers: this framework has one map, its successor has two."""
    successor = isinstance(http, dict) and ("request_headers" in http or "response_headers" in http)
    return "request_headers" if successor and http.get("headers") is None else "headers"


def _take_out(slots, error, left_out, quiet):
    """Takes out of the slots what does not fit: the smallest part each error names, or what holds it."""
    places = {}
    for one in error.errors(include_url=False, include_input=False, include_context=False):
        container, path = slots, []
        for step in one["loc"]:
            inner = _item(container, step)
            path.append((container, step))
            if inner is _MISSING:
                # A member that should be there: what lacks it goes.
                path.pop()
                break
            container = inner
        if path:
            container, step = path[-1]
            name = ".".join(str(step) for _, step in path)
            places[name] = (container, step, one["msg"])
    # From the back, so that indexes still mean what they meant.
    for container, step, _ in sorted(places.values(), key=lambda place: isinstance(place[1], int) and -place[1]):
        del container[step]
    left_out.extend(places)
    if not quiet:
        shown = [f"{name}: {message}" for name, (_, _, message) in list(places.items())[:SHOWN_PLACES]]
        log.warning(
            "extensions that do not fit the framework's types are left out (%d): %s",
            len(places),
            sendable("; ".join(shown), MESSAGE_CHARS),
        )


_MISSING = object()


def _item(container, step):
    if isinstance(container, dict):
        return container.get(step, _MISSING)
    if isinstance(container, list) and type(step) is int and 0 <= step < len(container):
        return container[step]
    return _MISSING


def _slots(extensions):
    """Plain data of every slot, None where there is none."""
    return {
        name: whole(getattr(extensions, name)) if name == "custom" else _data(getattr(extensions, name))
        for name in Extensions.model_fields
    }


def _data(value):
    """Plain data with sets in one order, so that equal ones look equal."""
    if isinstance(value, BaseModel):
        return {name: _data(item) for name, item in value.__dict__.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(_data, value), key=repr)
    if isinstance(value, dict):
        return members_of(value, _data)
    if isinstance(value, (list, tuple)):
        return [_data(item) for item in value]
    return whole(value)


def _new_slot(name, new, sent):
    """A slot the caller did not send, without the members a model only has because it has a place for them."""
    if not isinstance(new, dict) or name == "custom":
        return new
    members = {key: value for key, value in new.items() if not is_nothing(value)}
    if "headers" in members and name == "http":
        members[_headers_name(sent)] = members.pop("headers")
    return members


def _members(name, old, new, sent):
    """Members that differ, each whole."""
    found = []
    for key in {**old, **new}:
        value = new.get(key)
        if same(old.get(key), value):
            continue
        if value is not None:
            found.append(_set(_at(name, key), value))
        elif key in sent:
            found.append({"op": "remove", "at": _at(name, key)})
    return found


def _http(name, old, new, sent):
    """Headers one by one, under the name the caller uses for their map."""
    headers = _headers_name(sent)
    old, new = dict(old), dict(new)
    before, after = old.pop("headers", None), new.pop("headers", None) or {}
    found = _members(name, old, new, sent)
    found.extend(edits_between({name: {headers: before}}, {name: {headers: after}}, {name: sent}))
    return found


def _security(name, old, new, sent):
    """Labels as a list in the caller's order with new ones behind it."""
    before, after = old.get("labels"), new.get("labels") or []
    rest = ({**old, "labels": None}, {**new, "labels": None})
    found = _members(name, *rest, sent)
    if not same(before, after):
        if type(after) is list and all(type(label) is str for label in after):
            known, wanted = dict.fromkeys(sent.get("labels") or ()), set(after)
            after = [label for label in known if label in wanted] + [label for label in after if label not in known]
        found.append(_set(_at(name, "labels"), after))
    return found


def _delegation(name, old, new, sent):
    """Hops appended to the chain as it was sent."""
    before, after = old.get("chain") or [], new.get("chain") or []
    rest = ({**old, "chain": None}, {**new, "chain": None})
    found = _members(name, *rest, sent)
    kept = type(after) is list and len(after) >= len(before) and all(map(same, before, after))
    if not kept or not isinstance(sent.get("chain"), list):
        if not same(before, after):
            found.append(_set(_at(name, "chain"), after))
    else:
        found.extend(_set(_at(name, "chain", "-"), hop) for hop in after[len(before) :])
    return found


def _custom(name, old, new, sent):
    return edits_between({name: old}, {name: new}, {name: sent})


_WAYS = {"http": _http, "security": _security, "delegation": _delegation, "custom": _custom}


def _at(*steps):
    return "".join(f"/{step.replace('~', '~0').replace('/', '~1')}" for step in steps)


def _set(at, value):
    return {"op": "set", "at": at, "value": value}
