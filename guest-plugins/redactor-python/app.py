"""Replaces listed words in every string value of a payload, except in the hook's own subject.

Search and replacement run on the host; no payload text is copied into the component.
"""

import json

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import call, types


class Policy:
    """The words, compiled. An empty list compiles to nothing and replaces nothing."""

    def __init__(self, config):
        words = _words(config)
        self.replacement = _replacement(config)
        self.matcher = None
        if words:
            try:
                self.matcher = call.Matcher.compile(words, call.Syntax.LITERAL)
            except Err as err:
                raise ValueError(f"config `words`: {err.value.message}") from err

    def redact(self, subject, payload, ctx):
        if self.matcher is None:
            return
        if subject is None:
            ctx.redact(self.matcher, "", self.replacement)
            return
        for key in payload.keys(""):
            if key != subject:
                ctx.redact(self.matcher, _member(key), self.replacement)


def _member(key):
    """The RFC 6901 pointer to a member of the payload itself."""
    return "/" + key.replace("~", "~0").replace("/", "~1")


def _words(config):
    value = config.get("/words")
    if value is None:
        raise ValueError("config `words` is missing; hint: words: [secret]")
    words = json.loads(value)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError("config `words` is not a list of strings; hint: words: [secret]")
    if "" in words:
        raise ValueError("config `words` holds an empty word, which every string contains; hint: remove it")
    return words


def _replacement(config):
    value = config.get("/replacement")
    replacement = "[redacted]" if value is None else json.loads(value)
    if not isinstance(replacement, str):
        raise ValueError('config `replacement` is not a string; hint: replacement: "[redacted]"')
    return replacement


_policy = None


def _redact(subject, payload, ctx):
    if _policy is None:
        raise Err(types.Failure_Failed("a hook was called before init"))
    try:
        _policy.redact(subject, payload, ctx)
    except Err as err:
        # What could not be redacted must not go on.
        refusal = err.value
        raise Err(types.Failure_Failed(f"the host refused to redact ({refusal.code}): {refusal.message}")) from err
    return types.Verdict_Allow()


class Lifecycle(exports.Lifecycle):
    def init(self, config):
        global _policy
        try:
            _policy = Policy(config)
        except ValueError as err:
            raise Err(types.Failure_Failed(str(err))) from err


class Tools(exports.Tools):
    def pre_invoke(self, name, payload, ctx):
        return _redact("name", payload, ctx)

    def post_invoke(self, name, payload, ctx):
        return _redact("name", payload, ctx)


class Prompts(exports.Prompts):
    def pre_fetch(self, prompt_id, payload, ctx):
        return _redact("prompt_id", payload, ctx)

    def post_fetch(self, prompt_id, payload, ctx):
        return _redact("prompt_id", payload, ctx)


class Resources(exports.Resources):
    def pre_fetch(self, uri, payload, ctx):
        return _redact("uri", payload, ctx)

    def post_fetch(self, uri, payload, ctx):
        return _redact("uri", payload, ctx)


class Agents(exports.Agents):
    def pre_invoke(self, agent_id, payload, ctx):
        return _redact("agent_id", payload, ctx)

    def post_invoke(self, agent_id, payload, ctx):
        return _redact("agent_id", payload, ctx)


class Custom(exports.Custom):
    def invoke(self, hook, payload, ctx):
        return _redact(None, payload, ctx)
