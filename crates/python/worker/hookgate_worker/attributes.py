"""What a gateway tells plugins of the tool, server or agent a call goes to, as objects with attributes.

In process these members of the request's metadata are models; from outside they come as JSON. Here each is the
JSON object itself that also answers attributes, so a plugin written for either form reads it, and what it does
not change goes back as it came.
"""

from datetime import datetime

from pydantic import AnyHttpUrl, ValidationError


class Attributes(dict):
    """A JSON object whose members are attributes too. The methods of a dictionary come before its members."""

    __slots__ = ()

    # Names that are None where they are not sent, and those with another default, as in the gateway's model.
    _absent = frozenset()
    _defaults = {}
    # Members whose objects are of a kind that is known.
    _inner = {}

    def __getattr__(self, name):
        if name in self:
            return self[name]
        cls = type(self)
        if name in cls._absent:
            return None
        if name in cls._defaults:
            return cls._defaults[name]()
        raise AttributeError(f"no member '{name}', {', '.join(map(str, self)) or 'none'} is possible")

    def __setattr__(self, name, value):
        self[name] = value

    def __delattr__(self, name):
        try:
            del self[name]
        except KeyError:
            raise AttributeError(f"no member '{name}'") from None

    def __dir__(self):
        return [*super().__dir__(), *map(str, self)]

    def model_dump(self, *, include=None, exclude=None, exclude_none=False, **_):
        """A plain dictionary, as a model gives it."""
        return {
            name: value
            for name, value in unwrapped(self).items()
            if not (exclude_none and value is None)
            and (include is None or name in include)
            and (exclude is None or name not in exclude)
        }


def _time(text):
    """A time in JSON as the model has it."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return text


def _address(text):
    try:
        return AnyHttpUrl(text)
    except ValidationError:
        return text


# Members that are more than JSON in process; under `[]` and `.get` they are what was sent.
_READ_AS = {"created_at": _time, "updated_at": _time, "last_seen": _time, "url": _address}


class _Common(Attributes):
    """What tools and servers behind a gateway have in common."""

    __slots__ = ()
    _absent = frozenset(
        """
        description created_at updated_at enabled reachable auth_type tags import_batch_id federation_source version
        created_by created_from_ip created_via created_user_agent modified_by modified_from_ip modified_via
        modified_user_agent team_id owner_email visibility
        """.split()
    )

    def __getattr__(self, name):
        value = super().__getattr__(name)
        return _READ_AS[name](value) if name in _READ_AS and type(value) is str else value


class Tool(_Common):
    """`metadata["tool"]`."""

    __slots__ = ()
    _absent = _Common._absent | frozenset(
        """
        original_name output_schema auth_username auth_password auth_token jsonpath_filter custom_name
        custom_name_slug display_name gateway_id
        """.split()
    )
    _defaults = {
        "integration_type": lambda: "MCP",
        "request_type": lambda: "SSE",
        "headers": dict,
        "input_schema": lambda: {"type": "object", "properties": {}},
        "annotations": dict,
    }


class Capabilities(Attributes):
    """What a server can do."""

    __slots__ = ()
    _absent = frozenset("prompts resources tools logging completions extensions experimental".split())


class Gateway(_Common):
    """`metadata["gateway"]` and `metadata["server"]`."""

    __slots__ = ()
    _absent = _Common._absent | {"last_seen", "passthrough_headers", "auth_value"}
    _inner = {"capabilities": Capabilities}


class Agent(Attributes):
    """`metadata["a2a_agent"]`."""

    __slots__ = ()
    _absent = frozenset("team_id oauth_config passthrough_headers auth_type content_type endpoint_url".split())
    _defaults = {"tags": list}


_KINDS = {"tool": Tool, "gateway": Gateway, "server": Gateway, "a2a_agent": Agent}


def wrapped(metadata):
    """A request's metadata whose objects have attributes, at every depth. The dictionary itself is a plain one."""
    return {name: _wrapped(value, _KINDS.get(name, Attributes)) for name, value in metadata.items()}


def _wrapped(value, kind=Attributes):
    if type(value) is dict:
        inner = kind._inner
        return kind((key, _wrapped(item, inner.get(key, Attributes))) for key, item in value.items())
    return [_wrapped(item) for item in value] if type(value) is list else value


def unwrapped(value):
    """The same value with plain dictionaries in the place of objects with attributes."""
    if isinstance(value, Attributes) or type(value) is dict:
        return {key: unwrapped(item) for key, item in value.items()}
    return [unwrapped(item) for item in value] if type(value) is list else value
