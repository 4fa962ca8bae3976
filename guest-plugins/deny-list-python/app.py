"""Refuses a call when any string value of its payload holds a listed word.

The search runs on the host: `init` compiles the words once, each hook asks the payload where they occur.
"""

import json

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import call, types


class Policy:
    """The words, compiled. An empty list compiles to nothing and denies nothing."""

    def __init__(self, config):
        self.words = _words(config)
        syntax = call.Syntax.LITERAL_IGNORE_CASE if _ignore_ascii_case(config) else call.Syntax.LITERAL
        self.matcher = None
        if self.words:
            try:
                self.matcher = call.Matcher.compile(self.words, syntax)
            except Err as err:
                raise ValueError(f"config `words`: {err.value.message}") from err

    def check(self, payload):
        """The first string that holds a word decides; `find` answers in document order, leftmost first."""
        hits = payload.find(self.matcher, "", 1).hits if self.matcher else []
        if not hits:
            return types.Verdict_Allow()
        word, at = self.words[hits[0].pattern], hits[0].span.at
        return types.Verdict_Deny(
            types.Violation(
                code="DENY_WORD",
                reason="denied word",
                description=f"'{word}' at {at}",
                details=json.dumps({"word": word, "at": at}, ensure_ascii=False),
                mcp_error_code=None,
                http_status_code=None,
                http_headers=[],
            )
        )


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


def _ignore_ascii_case(config):
    value = json.loads(config.get("/ignore_ascii_case") or "false")
    if not isinstance(value, bool):
        raise ValueError("config `ignore_ascii_case` is not a boolean; hint: ignore_ascii_case: true")
    return value


_policy = None


def _check(payload):
    if _policy is None:
        raise Err(types.Failure_Failed("a hook was called before init"))
    return _policy.check(payload)


class Lifecycle(exports.Lifecycle):
    def init(self, config):
        global _policy
        try:
            _policy = Policy(config)
        except ValueError as err:
            raise Err(types.Failure_Failed(str(err))) from err


class Tools(exports.Tools):
    def pre_invoke(self, name, payload, ctx):
        return _check(payload)

    def post_invoke(self, name, payload, ctx):
        return _check(payload)


class Prompts(exports.Prompts):
    def pre_fetch(self, prompt_id, payload, ctx):
        return _check(payload)

    def post_fetch(self, prompt_id, payload, ctx):
        return _check(payload)


class Resources(exports.Resources):
    def pre_fetch(self, uri, payload, ctx):
        return _check(payload)

    def post_fetch(self, uri, payload, ctx):
        return _check(payload)


class Agents(exports.Agents):
    def pre_invoke(self, agent_id, payload, ctx):
        return _check(payload)

    def post_invoke(self, agent_id, payload, ctx):
        return _check(payload)


class Custom(exports.Custom):
    def invoke(self, hook, payload, ctx):
        return _check(payload)
