"""The words cases are written in.

A claim is what the author of a step expects, short and by hand. The oracle works out the whole
outcome, and `make.py` refuses to write a vector whose outcome does not bear out its claim.
"""

import json

SIX = [
    "tool_pre_invoke",
    "tool_post_invoke",
    "prompt_pre_fetch",
    "prompt_post_fetch",
    "resource_pre_fetch",
    "resource_post_fetch",
]
LEDGER = "ledger_append"
ALL = [*SIX, LEDGER]


def vector(name, setup, *steps):
    """A vector; the request names of its steps become ids that no other vector has."""
    for step in steps:
        if "request" in step:
            step["request"] = {"id": f"{name}/{step['request'][0]}", **step["request"][1]}
    return {"name": name, "setup": setup, "steps": list(steps)}


def step(hook, payload, claim, request=None, caller=None):
    """A payload that is not text yet is a Python value whose member order counts."""
    text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    made = {"hook": hook, "payload": text, "claim": claim}
    if request is not None:
        made["request"] = (request, caller or {})
    return made


def tool(args, claim, request=None, caller=None, name="note"):
    """A tool_pre_invoke step; `args` may be JSON text, to keep escapes and numbers as written."""
    text = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False, separators=(",", ":"))
    return step("tool_pre_invoke", f'{{"name":{json.dumps(name)},"args":{text}}}', claim, request, caller)


class Text(str):
    """JSON text where a plain string would be a value."""


def result(value, claim, request=None):
    """A tool_post_invoke step."""
    text = value if isinstance(value, Text) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return step("tool_post_invoke", f'{{"name":"note","result":{text}}}', claim, request)


def prompt(args, claim, request=None, caller=None, prompt_id="greet"):
    """A prompt_pre_fetch step."""
    return step("prompt_pre_fetch", {"prompt_id": prompt_id, "args": args}, claim, request, caller)


def rendered(texts, claim, request=None, prompt_id="greet", **more):
    """A prompt_post_fetch step with one message a text, from the user and the assistant by turns."""
    roles = ["user", "assistant"]
    messages = [{"role": roles[i % 2], "content": {"type": "text", "text": text}} for i, text in enumerate(texts)]
    return step("prompt_post_fetch", {"prompt_id": prompt_id, "result": {"messages": messages, **more}}, claim, request)


def resource(uri, claim, request=None, caller=None, **metadata):
    """A resource_pre_fetch step."""
    return step("resource_pre_fetch", {"uri": uri, **metadata}, claim, request, caller)


def fetched(text, claim, request=None, uri="file:///notes/1", mime_type="text/plain"):
    """A resource_post_fetch step with plain text content."""
    content = {"type": "resource", "id": "r1", "uri": uri, "mime_type": mime_type, "text": text}
    return step("resource_post_fetch", {"uri": uri, "content": content}, claim, request)


def ledger(payload, claim, request=None, caller=None):
    """A step of the custom hook."""
    return step(LEDGER, payload, claim, request, caller)


def allow(**meta):
    """Allowed unchanged, with exactly this metadata."""
    return {"decision": "allow", "modified": False, "metadata": meta}


def modify(at, **meta):
    """Allowed with these values at these pointers, and exactly this metadata. `GONE` stands for nothing there."""
    return {"decision": "allow", "modified": True, "at": at, "metadata": meta}


def deny(code, plugin=None, **meta):
    """Denied with this code, by this plugin, with exactly this metadata."""
    return {"decision": "deny", "code": code, "plugin": plugin, "metadata": meta}


def word(found, at):
    """Denied by a deny-list for this word at this pointer."""
    return {"decision": "deny", "code": "DENY_WORD", "word": found, "where": at, "metadata": {}}


def fault(*faults, then, **meta):
    """Faults as (plugin, kind, on_error), then allow, modify or deny."""
    return {**then, "faults": [list(one) for one in faults], "metadata": meta}


class GONE:
    """Nothing at the pointer."""


INVALID = {"error": "invalid_payload"}
