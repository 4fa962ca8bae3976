"""Refuses a call when any string value of its payload holds a listed word (cpex.framework plugin).

A payload reaches a legacy plugin as the framework's objects, so the walk goes over objects as well as over plain data:

- Of a model only the members that were set are visited, in the type's field order; defaults the framework added are not.
- A member is called by its alias where the type has one (`mimeType`, `_meta`): that is its name on the wire. A caller who
  sent the field name (`mime_type`) gets a pointer with the alias; the object no longer knows which of the two it was.
- Members the type does not know are gone before a plugin sees the payload.
- Bytes are read as UTF-8 text, as they were in JSON; bytes that are not text hold no word.
- Any other object (a URL, a date, an enum, a dataclass) is looked at as pydantic writes it to JSON. One that cannot be written
  is an error, not an allow.
"""

from types import SimpleNamespace

from cpex.framework import (
    Plugin,
    PluginPayload,
    PluginResult,
    PluginViolation,
    get_hook_registry,
)
from pydantic import BaseModel, ConfigDict, RootModel, SecretStr
from pydantic_core import to_jsonable_python


class AnyPayload(PluginPayload):
    """The payload of a hook the framework has no type for: whatever members the caller sent."""

    model_config = ConfigDict(extra="allow")


class DenyListPlugin(Plugin):
    """Config: `{"words": [string, ...], "ignore_ascii_case": false}`."""

    def __init__(self, config):
        super().__init__(config)
        settings = config.config or {}
        self._words = _words(settings)
        self._fold = _ascii_lower if _ignore_ascii_case(settings) else _as_is
        self._needles = [self._fold(word) for word in self._words]
        self._listen_to_custom_hooks()

    def _listen_to_custom_hooks(self):
        registry = get_hook_registry()
        for hook in self.hooks:
            if not registry.is_registered(hook):
                registry.register_hook(hook, AnyPayload, PluginResult[AnyPayload])
            if not hasattr(self, hook):
                setattr(self, hook, self._any_hook)

    def _check(self, payload):
        for at, text in _strings(payload, ""):
            word = self._first_word(text)
            if word is not None:
                return PluginResult(
                    continue_processing=False,
                    violation=PluginViolation(
                        code="DENY_WORD",
                        reason="denied word",
                        description=f"'{word}' at {at}",
                        details={"word": word, "at": at},
                    ),
                )
        return PluginResult()

    def _first_word(self, text):
        """The word, as configured, of the leftmost occurrence; a tie goes to the earlier word of the list."""
        text = self._fold(text)
        found, start = None, len(text)
        for word, needle in zip(self._words, self._needles):
            at = text.find(needle)
            if 0 <= at < start:
                found, start = word, at
        return found

    async def tool_pre_invoke(self, payload, context):
        return self._check(payload)

    async def tool_post_invoke(self, payload, context):
        return self._check(payload)

    async def prompt_pre_fetch(self, payload, context):
        return self._check(payload)

    async def prompt_post_fetch(self, payload, context):
        return self._check(payload)

    async def resource_pre_fetch(self, payload, context):
        return self._check(payload)

    async def resource_post_fetch(self, payload, context):
        return self._check(payload)

    async def agent_pre_invoke(self, payload, context):
        return self._check(payload)

    async def agent_post_invoke(self, payload, context):
        return self._check(payload)

    async def _any_hook(self, payload, context):
        return self._check(payload)


def _strings(value, at):
    """Every string value at or below `value` with its pointer, in document order."""
    if value is None or isinstance(value, (bool, int, float)):
        return
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, SecretStr):
        yield at, value.get_secret_value()
    elif isinstance(value, bytes):
        try:
            yield at, value.decode()
        except UnicodeDecodeError:
            return
    elif isinstance(value, RootModel):
        yield from _strings(value.root, at)
    elif isinstance(value, (list, tuple)):
        for index, element in enumerate(value):
            yield from _strings(element, f"{at}/{index}")
    elif isinstance(value, (dict, BaseModel, SimpleNamespace)):
        for name, member in _members(value):
            yield from _strings(member, f"{at}/{_escape(name)}")
    else:
        yield from _strings(to_jsonable_python(value), at)


def _members(value):
    """The members of an object with the names they have on the wire."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            if name in value.model_fields_set:
                yield field.serialization_alias or field.alias or name, getattr(value, name)
        yield from (value.model_extra or {}).items()
    else:
        yield from vars(value).items()


def _escape(name):
    return str(name).replace("~", "~0").replace("/", "~1")


def _as_is(text):
    return text


def _ascii_lower(text):
    """Only A to Z: `str.lower` would also move characters about, and change the length of some."""
    return text.translate(_ASCII_LOWER)


_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def _words(settings):
    if "words" not in settings:
        raise ValueError("config `words` is missing; hint: words: [secret]")
    words = settings["words"]
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError("config `words` is not a list of strings; hint: words: [secret]")
    if "" in words:
        raise ValueError("config `words` holds an empty word, which every string contains; hint: remove it")
    return words


def _ignore_ascii_case(settings):
    value = settings.get("ignore_ascii_case", False)
    if not isinstance(value, bool):
        raise ValueError("config `ignore_ascii_case` is not a boolean; hint: ignore_ascii_case: true")
    return value
