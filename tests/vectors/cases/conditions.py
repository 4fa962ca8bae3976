"""When a plugin with `conditions:` is asked: every field against every kind of hook, and the odd ends.

Each case says by hand whether the plugin is asked. The framework's own answer is the same, which
`make.py --check-reference` asks it; where it raises instead of answering, `home` says so.
"""

# Who calls, where a case says nothing else.
CALLER = {"user": "alice", "tenant_id": "t1", "server_id": "s1", "content_type": "application/json"}
RAISES = "raises"

# Per hook: a payload, and the field that is compared with its subject.
HOOKS = {
    "tool_pre_invoke": ({"name": "search", "args": {"q": "x"}}, "tools"),
    "tool_post_invoke": ({"name": "search", "result": 1}, "tools"),
    "prompt_pre_fetch": ({"prompt_id": "greet", "args": {"who": "x"}}, "prompts"),
    "prompt_post_fetch": ({"prompt_id": "greet", "result": {"messages": []}}, "prompts"),
    "resource_pre_fetch": ({"uri": "file:///a"}, "resources"),
    "resource_post_fetch": ({"uri": "file:///a", "content": "x"}, "resources"),
    "agent_pre_invoke": ({"agent_id": "planner", "messages": []}, "agents"),
    "agent_post_invoke": ({"agent_id": "planner", "messages": []}, "agents"),
    "token_delegate": ({"target_name": "search"}, "tools"),
    "identity_resolve": ({"raw_token": "search"}, "tools"),
    "http_pre_request": ({"path": "/search", "method": "GET", "headers": {}}, None),
    "http_auth_check_permission": ({"user_email": "alice", "permission": "search"}, None),
    "cmf.tool_pre_invoke": ({"name": "search", "agent_id": "planner"}, None),
    "deploy.started": ({"name": "search", "uri": "file:///a"}, None),
}

# Per field: what holds for CALLER and the payloads above, and what does not.
FIELDS = {
    "server_ids": ["s9", "s1"],
    "tenant_ids": ["t1"],
    "tools": ["search", "fetch"],
    "prompts": ["greet"],
    "resources": ["file:///a"],
    "agents": ["planner"],
    "user_patterns": ["lic"],
    "content_types": ["application/json", "text/html"],
}
OF_REQUEST = {
    "server_ids": "server_id",
    "tenant_ids": "tenant_id",
    "user_patterns": "user",
    "content_types": "content_type",
}
OTHER = ["zz"]


def case(name, conditions, asked, hook="tool_pre_invoke", payload=None, caller=None, home=None):
    """One case; `caller` goes over CALLER, and a value of `...` takes a member away."""
    request = {key: value for key, value in {**CALLER, **(caller or {})}.items() if value is not ...}
    return {
        "name": name,
        "hook": hook,
        "payload": HOOKS[hook][0] if payload is None else payload,
        "request": request,
        "conditions": conditions,
        "home": asked if home is None else home,
        "asked": asked,
    }


def table():
    """Every field, as nothing, empty, holding and not holding, at every hook."""
    for hook, (_, compared) in HOOKS.items():
        yield case(f"no-condition-at-{hook}", [], True, hook)
        yield case(f"empty-condition-at-{hook}", [{}], True, hook)
        for field, holding in FIELDS.items():
            counts = field in OF_REQUEST or field == compared
            # A token is hidden from comparison, so that it never equals a tool's name.
            hidden = hook == "identity_resolve" and field == "tools"
            yield case(f"{field}-null-at-{hook}", [{field: None}], True, hook)
            yield case(f"{field}-empty-at-{hook}", [{field: []}], True, hook)
            yield case(f"{field}-held-at-{hook}", [{field: holding}], not hidden, hook)
            yield case(f"{field}-not-held-at-{hook}", [{field: OTHER}], not counts, hook)


def callers():
    """What a request may lack or hold, against the fields that look there."""
    for field, member in OF_REQUEST.items():
        yield case(f"{member}-absent", [{field: FIELDS[field]}], False, caller={member: ...})
        yield case(f"{member}-null", [{field: FIELDS[field]}], False, caller={member: None})
        yield case(f"{member}-absent-and-field-empty", [{field: []}], True, caller={member: ...})
        yield case(f"{member}-empty", [{field: FIELDS[field]}], False, caller={member: ""})
        yield case(f"{member}-absent-and-empty-name", [{field: [""]}], False, caller={member: ...})
    nobody = dict.fromkeys(CALLER, ...)
    yield case("nobody-and-no-condition", [], True, caller=nobody)
    yield case("nobody-and-an-empty-condition", [{}], True, caller=nobody)
    yield case("nobody-and-a-tool", [{"tools": ["search"]}], True, caller=nobody)
    yield case("nobody-and-a-tenant", [{"tenant_ids": ["t1"]}], False, caller=nobody)
    for field, member, value in (("server_ids", "server_id", "s1"), ("tenant_ids", "tenant_id", "t1")):
        yield case(f"{member}-empty-and-empty-name", [{field: [""]}], True, caller={member: ""})
        yield case(f"{member}-in-other-case", [{field: [value.upper()]}], False)
        yield case(f"{member}-with-a-space", [{field: [value]}], False, caller={member: f"{value} "})
        yield case(f"{member}-is-no-prefix", [{field: [value[0]]}], False)
        yield case(f"{member}-is-no-pattern", [{field: [f"{value[0]}*", f"{value[0]}."]}], False)
        yield case(f"{member}-listed-twice", [{field: [value, value]}], True)
        yield case(f"{member}-unicode", [{field: ["z\u00fcrich"]}], True, caller={member: "z\u00fcrich"})
        yield case(f"{member}-composed-otherwise", [{field: ["z\u00fcrich"]}], False, caller={member: "zu\u0308rich"})


def users():
    """Patterns are looked for in a name, and are keys of an object."""
    names = {
        "whole": ("alice", ["alice"], True),
        "at-the-start": ("alice@example.com", ["alice@"], True),
        "at-the-end": ("alice@example.com", ["@example.com"], True),
        "inside": ("alice@example.com", ["ce@ex"], True),
        "longer-than-the-name": ("alice", ["alice2"], False),
        "in-other-case": ("Alice", ["alice"], False),
        "one-of-two": ("alice", ["bob", "lic"], True),
        "none-of-two": ("alice", ["bob", "eve"], False),
        "listed-twice": ("alice", ["ali", "ali"], True),
        "is-no-regex": ("alice", ["a.*e", "^alice$", "[a-z]+"], False),
        "is-no-glob": ("alice", ["a*", "*", "?lice"], False),
        "with-a-literal-star": ("a*b", ["a*"], True),
        "empty-pattern": ("alice", [""], True),
        "empty-pattern-and-empty-name": ("", [""], False),
        "a-space": ("alice smith", [" "], True),
        "blank-name": ("   ", [" "], True),
        "unicode": ("j\u00fcrgen", ["\u00fcr"], True),
        "composed-otherwise": ("ju\u0308rgen", ["\u00fcr"], False),
        "a-mark-alone": ("ju\u0308rgen", ["\u0308"], True),
        "an-emoji": ("a\U0001f600b", ["\U0001f600"], True),
        "half-an-emoji-family": ("\U0001f468\u200d\U0001f469", ["\U0001f469"], True),
        "sharp-s": ("stra\u00dfe", ["ss"], False),
        "quotes": ('a"b\\c', ['"b\\'], True),
        "a-number-as-text": ("12345", ["234"], True),
    }
    for name, (user, patterns, asked) in names.items():
        yield case(f"user-{name}", [{"user_patterns": patterns}], asked, caller={"user": user})
    objects = {
        "key": ({"name": "alice"}, ["name"], True),
        "value": ({"name": "alice"}, ["alice"], False),
        "part-of-a-key": ({"name": "alice"}, ["nam"], False),
        "key-in-other-case": ({"Name": "alice"}, ["name"], False),
        "second-key": ({"a": 1, "b": 2}, ["b"], True),
        "second-pattern": ({"a": 1, "b": 2}, ["c", "a"], True),
        "no-key": ({"a": 1, "b": 2}, ["c", "d"], False),
        "key-of-null": ({"admin": None}, ["admin"], True),
        "key-of-false": ({"admin": False}, ["admin"], True),
        "nested-key": ({"a": {"admin": True}}, ["admin"], False),
        "empty": ({}, ["a"], False),
        "empty-and-empty-pattern": ({}, [""], False),
        "empty-pattern": ({"a": 1}, [""], False),
        "empty-key": ({"": 1}, [""], True),
        "unicode-key": ({"r\u00f4le": 1}, ["r\u00f4le"], True),
        "quoted-key": ({'a"b': 1}, ['a"b'], True),
        "value-like-a-key": ({"a": "b", "c": {"d": "e"}}, ["d", "b", "e"], False),
    }
    for name, (user, patterns, asked) in objects.items():
        yield case(f"user-object-{name}", [{"user_patterns": patterns}], asked, caller={"user": user})
    # At home such a call ends before any plugin is looked at. What cannot be compared keeps no plugin away.
    for name, user in {"integer": 5, "zero": 0, "true": True, "false": False, "fraction": 1.5, "list": ["alice"], "empty-list": []}.items():
        yield case(f"user-is-{name}", [{"user_patterns": ["alice"]}], True, caller={"user": user}, home=RAISES)
        yield case(f"user-is-{name}-elsewhere", [{"tenant_ids": OTHER, "user_patterns": ["alice"]}], False, caller={"user": user}, home=RAISES)


def content_types():
    """Compared without parameters and case, on both sides."""
    kinds = {
        "parameter": ("application/json; charset=utf-8", ["application/json"], True),
        "parameter-without-space": ("application/json;charset=utf-8", ["application/json"], True),
        "two-parameters": ("application/json; a=1; b=2", ["application/json"], True),
        "upper": ("APPLICATION/JSON", ["application/json"], True),
        "spaces-around": ("  application/json  ", ["application/json"], True),
        "space-before-parameters": ("application/json ; a=1", ["application/json"], True),
        "listed-with-parameter": ("application/json", ["application/json; charset=utf-8"], True),
        "listed-upper": ("application/json", ["APPLICATION/Json"], True),
        "listed-with-spaces": ("application/json", ["  application/json "], True),
        "listed-with-no-break-space": ("application/json", ["\u00a0application/json"], True),
        "both-with-other-parameters": ("text/html; charset=utf-8", ["Text/HTML; charset=latin1"], True),
        "second-listed": ("text/html", ["application/json", "text/html"], True),
        "other": ("text/plain", ["text/html"], False),
        "prefix": ("application/json-patch+json", ["application/json"], False),
        "suffix": ("application/json", ["json"], False),
        "star": ("application/json", ["application/*", "*/*"], False),
        "only-the-parameter-fits": ("text/plain; application/json", ["application/json"], False),
        "blank": ("   ", ["application/json"], False),
        "blank-and-blank-listed": ("   ", ["  "], False),
        "empty-and-empty-listed": ("", [""], False),
        "parameters-alone": (";charset=utf-8", ["application/json"], False),
        "parameters-alone-and-empty-listed": (";charset=utf-8", [""], True),
        "parameters-alone-and-the-same-listed": (" ; a=1", ["; b=2"], True),
        "unicode-upper": ("T\u00cbXT/PLAIN", ["t\u00ebxt/plain"], True),
        "dotted-i": ("TEXT/\u0130", ["text/i\u0307"], True),
        "final-sigma": ("TEXT/\u039f\u03a3", ["text/\u03bf\u03c2"], True),
        "exactly-200-characters": ("application/json;" + "x" * 183, ["application/json"], True),
    }
    for name, (kind, listed, asked) in kinds.items():
        yield case(f"content-type-{name}", [{"content_types": listed}], asked, caller={"content_type": kind})
    # At home such a call ends before any plugin is looked at. Text is compared as any other text.
    refused = {
        "201-characters": ("application/json;" + "x" * 184, True),
        "a-tab": ("application/json\t; a=1", True),
        "a-no-break-space": ("\u00a0application/json", True),
        "a-zero-width-space": ("application/json\u200b", False),
        "a-newline-inside": ("application/\njson", False),
    }
    for name, (kind, asked) in refused.items():
        yield case(f"content-type-{name}", [{"content_types": ["application/json"]}], asked, caller={"content_type": kind}, home=RAISES)


def subjects():
    """Names are compared whole, and an empty one not at all."""
    for hook, member, field in (
        ("tool_pre_invoke", "name", "tools"),
        ("prompt_pre_fetch", "prompt_id", "prompts"),
        ("resource_pre_fetch", "uri", "resources"),
        ("agent_pre_invoke", "agent_id", "agents"),
        ("token_delegate", "target_name", "tools"),
    ):
        rows = {
            "empty": ("", ["search"], True),
            "empty-and-listed": ("", [""], True),
            "not-empty-and-empty-listed": ("search", [""], False),
            "in-other-case": ("Search", ["search"], False),
            "with-a-space": ("search ", ["search"], False),
            "prefix": ("search", ["sea"], False),
            "longer": ("sea", ["search"], False),
            "star": ("search", ["*", "sea*"], False),
            "unicode": ("s\u00fcche", ["s\u00fcche"], True),
            "composed-otherwise": ("su\u0308che", ["s\u00fcche"], False),
            "quotes": ('a"b\\c', ['a"b\\c'], True),
            "listed-twice": ("search", ["search", "search"], True),
        }
        for name, (subject, listed, asked) in rows.items():
            payload = {**HOOKS[hook][0], member: subject}
            yield case(f"subject-{name}-at-{hook}", [{field: listed}], asked, hook, payload)
    token = [{"tools": ["search"]}]
    yield case("token-empty", token, True, "identity_resolve", {"raw_token": ""})
    yield case("token-with-other-alternative", [*token, {"tenant_ids": ["t1"]}], True, "identity_resolve")
    yield case("token-with-other-alternative-that-does-not-hold", [*token, {"tenant_ids": OTHER}], False, "identity_resolve")
    # Payloads that the framework's types refuse. What is not there cannot be compared.
    for hook, member in (("identity_resolve", "raw_token"), ("token_delegate", "target_name")):
        for name, payload in {"absent": {}, "null": {member: None}, "a-number": {member: 5}, "an-object": {member: {"search": 1}}}.items():
            yield case(f"{member}-{name}", token, True, hook, payload, home=RAISES)
    for hook in ("tool_pre_invoked", "TOOL_PRE_INVOKE", "cmf.tool_post_invoke", "evaluate"):
        yield case(f"a-name-is-no-subject-at-{hook}", [{"tools": OTHER}], True, hook, {"name": "search"})
    nested = {"name": "search", "args": {"name": "zz"}}
    yield case("a-name-among-the-arguments-is-no-subject", [{"tools": OTHER}], False, payload=nested)


def alternatives():
    """One of them is enough, and of one all fields must hold."""
    full = {field: FIELDS[field] for field in FIELDS}
    for hook, (_, compared) in HOOKS.items():
        hidden = hook == "identity_resolve"
        yield case(f"all-fields-at-{hook}", [full], not hidden, hook)
        if compared and not hidden:
            yield case(f"all-fields-but-the-subject-at-{hook}", [{**full, compared: OTHER}], False, hook)
    for field in FIELDS:
        counts = field in OF_REQUEST or field == "tools"
        yield case(f"all-fields-but-{field}", [{**full, field: OTHER}], not counts)
    miss, hit = {"tools": OTHER}, {"tools": ["search"]}
    yield case("first-of-two", [hit, miss], True)
    yield case("second-of-two", [miss, hit], True)
    yield case("none-of-two", [miss, {"tenant_ids": OTHER}], False)
    yield case("none-of-three", [miss, {"tenant_ids": OTHER}, {"user_patterns": ["bob"]}], False)
    yield case("an-empty-one-beside", [miss, {}], True)
    yield case("an-empty-one-before", [{}, miss], True)
    yield case("one-with-empty-fields-beside", [miss, {"server_ids": [], "tools": None}], True)
    yield case("one-about-other-hooks-beside", [miss, {"prompts": OTHER}], True)
    yield case("halves-of-two-do-not-make-one", [{"tools": ["search"], "tenant_ids": OTHER}, {"tools": OTHER, "tenant_ids": ["t1"]}], False)
    yield case("the-same-twice", [hit, hit], True)
    yield case("last-of-many", [{"tools": [f"tool-{number}"]} for number in range(40)] + [hit], True)
    yield case("none-of-many", [{"tools": [f"tool-{number}"]} for number in range(40)], False)
    yield case("many-names", [{"tools": [f"tool-{number}" for number in range(100)] + ["search"]}], True)


CASES = [*table(), *callers(), *users(), *content_types(), *subjects(), *alternatives()]
