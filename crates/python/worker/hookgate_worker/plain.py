"""Plain data: dicts, lists and JSON scalars out of whatever a plugin hands over.

Two readings exist. `plain` is for comparing payloads: an object of a model keeps its shape (see `Members`), so
that a difference can be named as the caller names it. `whole` is for values that are only sent.
"""

from math import isfinite

from pydantic import AliasChoices, BaseModel, RootModel
from pydantic_core import to_jsonable_python

SCALARS = frozenset((str, int, float, bool, type(None)))


class Shape:
    """What has to be known of a model class to compare and name its members; one per class, cached."""

    __slots__ = ("fields", "names", "field_of", "optional", "accepts_names", "direct", "root")

    def __init__(self, model):
        declared = model.model_fields
        self.fields = tuple(declared)
        # Field to (field, alias, ...), for the fields that have aliases.
        self.names = {name: (name, *aliases_of(info)) for name, info in declared.items() if aliases_of(info)}
        self.field_of = {alias: names[0] for names in self.names.values() for alias in names[1:]}
        # Fields that are null when nobody sets them: an unsent one that is still null is no member at all.
        self.optional = frozenset(name for name, info in declared.items() if info.default is None)
        config = model.model_config
        self.accepts_names = bool(config.get("populate_by_name") or config.get("validate_by_name"))
        self.root = issubclass(model, RootModel)
        decorators = model.__pydantic_decorators__
        # Without serializers of its own the fields are read directly, else model_dump has the say.
        self.direct = not (
            decorators.field_serializers
            or decorators.model_serializers
            or decorators.computed_fields
            or any(info.exclude or any(hasattr(m, "when_used") for m in info.metadata) for info in declared.values())
        )


_shapes = {}


def shape_of(model):
    """The shape of a model class."""
    shape = _shapes.get(model)
    if shape is None:
        shape = _shapes[model] = Shape(model)
    return shape


def aliases_of(info):
    """The names other than its own under which a field is accepted or written."""
    found = []
    for alias in (info.alias, info.validation_alias, info.serialization_alias):
        choices = alias.choices if isinstance(alias, AliasChoices) else (alias,)
        found.extend(name for name in choices if type(name) is str and name not in found)
    return tuple(found)


class Members(dict):
    """The members of a model object under their field names, without optional ones that are null."""

    __slots__ = ("shape",)


def plain(value):
    """`value` as plain data with `Members` for model objects."""
    kind = type(value)
    if kind in SCALARS:
        return value
    if kind is dict:
        return members_of(value, plain)
    if kind is list:
        return [plain(item) for item in value]
    if isinstance(value, BaseModel):
        return _members(value)
    if isinstance(value, dict):
        return members_of(value, plain)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return to_jsonable_python(value, by_alias=False)


def whole(value):
    """`value` as plain data with every member, nulls included."""
    kind = type(value)
    if kind in SCALARS:
        return value
    if isinstance(value, BaseModel):
        return whole(value.model_dump())
    if isinstance(value, dict):
        return members_of(value, whole)
    if isinstance(value, (list, tuple)):
        return [whole(item) for item in value]
    return to_jsonable_python(value, by_alias=False)


def _members(model):
    shape = shape_of(type(model))
    if shape.root and shape.direct:
        return plain(model.root)
    if shape.direct:
        held = model.__dict__
        items = [(name, held[name]) for name in shape.fields if name in held]
        items.extend((model.__pydantic_extra__ or {}).items())
    else:
        dumped = model.model_dump()
        if not isinstance(dumped, dict):
            return plain(dumped)
        items = dumped.items()
    members = Members()
    members.shape = shape
    for name, value in items:
        value = plain(value)
        if value is None and name in shape.optional:
            continue
        members[name] = value
    return members


def members_of(value, convert):
    """The members of a dictionary under the keys they have in JSON, each value converted."""
    result = {}
    for key, item in value.items():
        result[key if type(key) is str else _key(key)] = convert(item)
    if len(result) != len(value):
        raise ValueError("two keys of a dictionary are the same key in JSON")
    return result


def _key(key):
    """A key that is not a string, as pydantic writes it in JSON."""
    return next(iter(to_jsonable_python({key: None})))


def is_nothing(value):
    """Whether plain data holds nothing: null, or a container without members."""
    return value is None or (isinstance(value, (dict, list)) and not value)


def is_json(value):
    """Whether `value` is JSON as it stands, so that it comes back from a round trip as the same value."""
    try:
        return _is_json(value)
    except RecursionError:
        return False


def _is_json(value):
    kind = type(value)
    if kind is str:
        return value.isascii() or is_text(value)
    if kind is float:
        return isfinite(value)
    if kind in SCALARS:
        return True
    if kind is list:
        return all(map(_is_json, value))
    if kind is dict:
        return all(type(key) is str and is_text(key) for key in value) and all(map(_is_json, value.values()))
    return False


def is_text(value):
    """Whether a string has no lone surrogates."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def copy(value):
    """A copy of JSON data, against changes in place."""
    kind = type(value)
    if kind is dict:
        return {key: copy(item) for key, item in value.items()}
    if kind is list:
        return [copy(item) for item in value]
    return value
