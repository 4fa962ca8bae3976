"""Replaces listed words in every string value of a payload, except in the hook's own subject (cpex.framework plugin).

The answer is a modified copy in which every object keeps its type: the framework's payload, typed content inside it, header
mappings. What holds no listed word is shared with the original, so that a caller can tell what changed.

- Of a model only the members that were set are visited; defaults the framework added are not.
- Bytes are read as UTF-8 text, as they were in JSON, and written back as bytes; bytes that are not text stay.
- Members the type does not know are gone before a plugin sees the payload.
- Any other object (a URL, a date, an enum, a dataclass) is looked at as pydantic writes it to JSON, and replaced by that text or data
  if it holds a word. One that cannot be written is an error, not an allow.
"""

import copy
import re
from types import SimpleNamespace

from cpex.framework import Plugin, PluginPayload, PluginResult, get_hook_registry
from pydantic import BaseModel, ConfigDict, RootModel, SecretStr
from pydantic_core import to_jsonable_python


class AnyPayload(PluginPayload):
    """The payload of a hook the framework has no type for: whatever members the caller sent."""

    model_config = ConfigDict(extra="allow")


class RedactorPlugin(Plugin):
    """Config: `{"words": [string, ...], "replacement": "[redacted]"}`."""

    def __init__(self, config):
        super().__init__(config)
        settings = config.config or {}
        words = _words(settings)
        self._replacement = _replacement(settings)
        # An alternation takes the first branch that fits: the first word of the list that starts at a position.
        self._pattern = re.compile("|".join(map(re.escape, words))) if words else None
        self._listen_to_custom_hooks()

    def _listen_to_custom_hooks(self):
        registry = get_hook_registry()
        for hook in self.hooks:
            if not registry.is_registered(hook):
                registry.register_hook(hook, AnyPayload, PluginResult[AnyPayload])
            if not hasattr(self, hook):
                setattr(self, hook, self._any_hook)

    def _redact(self, payload, subject=None):
        redacted = payload if self._pattern is None else self._rewrite(payload, subject)
        return PluginResult(modified_payload=None if redacted is payload else redacted)

    def _rewrite(self, value, skip=None):
        """`value` with its strings redacted; the very same object if nothing in it changed."""
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, str):
            return self._rewrite_text(value, value, str)
        if isinstance(value, SecretStr):
            return self._rewrite_text(value, value.get_secret_value(), type(value))
        if isinstance(value, bytes):
            try:
                return self._rewrite_text(value, value.decode(), str.encode)
            except UnicodeDecodeError:
                return value
        if isinstance(value, (list, tuple)):
            elements = [self._rewrite(element) for element in value]
            changed = any(new is not old for new, old in zip(elements, value))
            return type(value)(elements) if changed else value
        if not isinstance(value, (dict, BaseModel, SimpleNamespace)):
            plain = to_jsonable_python(value)
            new = self._rewrite(plain)
            return value if new is plain else new
        changed = {}
        for name, member in _members(value):
            if name != skip:
                new = self._rewrite(member)
                if new is not member:
                    changed[name] = new
        return _with_members(value, changed) if changed else value

    def _rewrite_text(self, value, text, rebuild):
        # A function as replacement: in a string, backslashes would mean groups.
        new, count = self._pattern.subn(lambda _: self._replacement, text)
        return rebuild(new) if count else value

    async def tool_pre_invoke(self, payload, context):
        return self._redact(payload, "name")

    async def tool_post_invoke(self, payload, context):
        return self._redact(payload, "name")

    async def prompt_pre_fetch(self, payload, context):
        return self._redact(payload, "prompt_id")

    async def prompt_post_fetch(self, payload, context):
        return self._redact(payload, "prompt_id")

    async def resource_pre_fetch(self, payload, context):
        return self._redact(payload, "uri")

    async def resource_post_fetch(self, payload, context):
        return self._redact(payload, "uri")

    async def agent_pre_invoke(self, payload, context):
        return self._redact(payload, "agent_id")

    async def agent_post_invoke(self, payload, context):
        return self._redact(payload, "agent_id")

    async def _any_hook(self, payload, context):
        return self._redact(payload)


def _members(value):
    """The members of an object with the names `_with_members` takes."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, RootModel):
        yield "root", value.root
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            if name in value.model_fields_set:
                yield name, getattr(value, name)
        yield from (value.model_extra or {}).items()
    else:
        yield from vars(value).items()


def _with_members(value, changed):
    """A copy of `value`, of its own type, with some members replaced."""
    if isinstance(value, BaseModel):
        return value.model_copy(update=changed)
    if isinstance(value, dict):
        return {**value, **changed}
    clone = copy.copy(value)
    vars(clone).update(changed)
    return clone


def _words(settings):
    if "words" not in settings:
        raise ValueError("config `words` is missing; hint: words: [secret]")
    words = settings["words"]
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError("config `words` is not a list of strings; hint: words: [secret]")
    if "" in words:
        raise ValueError("config `words` holds an empty word, which every string contains; hint: remove it")
    return words


def _replacement(settings):
    value = settings.get("replacement", "[redacted]")
    if not isinstance(value, str):
        raise ValueError('config `replacement` is not a string; hint: replacement: "[redacted]"')
    return value
