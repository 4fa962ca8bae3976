"""What plugins see of side-channel slots, and what of their changes counts: cases for extensions.json.

FILTERS say what a plugin with these grants is lent, MERGES what becomes of the slots it returns. Slots are JSON of the
framework's own types; a slot a plugin leaves out of what it returns is None to the framework. `unlike_home` says why
a merge comes out differently here, and how.
"""

HOP = {"subject_id": "alice", "subject_type": "user", "timestamp": "2030-01-01T00:00:00Z", "scopes_granted": ["read"]}
SECOND = {"subject_id": "svc", "subject_type": "service", "timestamp": "2030-01-01T00:00:01Z", "strategy": "ucan"}
THIRD = {"subject_id": "svc-2", "subject_type": "service", "timestamp": "2030-01-01T00:00:02Z"}
SUBJECT = {
    "id": "alice",
    "type": "user",
    "roles": ["admin", "dev"],
    "permissions": ["db.read"],
    "teams": ["t1"],
    "claims": {"iss": "idp"},
}
SECURITY = {
    "labels": ["PII", "internal"],
    "classification": "confidential",
    "subject": SUBJECT,
    "objects": {"tool-a": {"managed_by": "tool", "permissions": ["x"]}},
    "data": {"tool-a": {"apply_labels": ["PII"], "denied_actions": ["export"]}},
}
DELEGATION = {
    "chain": [HOP],
    "depth": 1,
    "origin_subject_id": "alice",
    "actor_subject_id": "alice",
    "delegated": True,
    "age_seconds": 2.5,
}
FULL = {
    "request": {"environment": "test", "request_id": "r", "trace_id": "t"},
    "agent": {"session_id": "s", "agent_id": "a", "turn": 3},
    "http": {"headers": {"X-Trace": "1", "Accept": "text/plain"}},
    "security": SECURITY,
    "delegation": DELEGATION,
    "mcp": {"tool": {"name": "tool-a", "input_schema": {"type": "object"}}},
    "completion": {"stop_reason": "end", "tokens": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}},
    "provenance": {"source": "user", "message_id": "m"},
    "llm": {"model_id": "m", "capabilities": ["vision"]},
    "framework": {"framework": "f", "metadata": {"a": [1, {"b": 2}]}},
    "meta": {"tags": ["hr", "pii"], "scope": "v", "properties": {"owner": "o"}},
    "custom": {"k": 1, "deep": {"a": [1, 2]}},
}
CAPABILITIES = [
    "append_delegation",
    "append_labels",
    "read_agent",
    "read_claims",
    "read_delegation",
    "read_headers",
    "read_labels",
    "read_permissions",
    "read_roles",
    "read_subject",
    "read_teams",
    "write_headers",
]


def _filters():
    yield "nothing granted", FULL, []
    yield "everything granted", FULL, CAPABILITIES
    for one in CAPABILITIES:
        yield f"only {one}", FULL, [one]
    for one in CAPABILITIES:
        yield f"all but {one}", FULL, [other for other in CAPABILITIES if other != one]
    yield "no slots", {}, CAPABILITIES
    yield "labels alone, not granted", {"security": {"labels": ["PII"]}}, []
    yield "labels alone, granted", {"security": {"labels": ["PII"]}}, ["read_labels"]
    yield "no labels, granted", {"security": {"labels": []}}, ["append_labels"]
    yield "subject alone, not granted", {"security": {"subject": SUBJECT}}, ["read_labels", "read_headers"]
    yield "subject without roles", {"security": {"subject": {"id": "a", "type": "agent"}}}, ["read_roles"]
    yield "two parts of a subject", {"security": {"subject": SUBJECT}}, ["read_roles", "read_claims"]
    yield "null slots", {"http": None, "security": None, "custom": None}, CAPABILITIES
    yield "null members", {"security": {"labels": ["a"], "subject": None, "classification": None}}, ["read_subject"]
    yield "empty custom", {"custom": {}}, []
    yield "an empty chain", {"delegation": {"chain": [], "delegated": False}}, ["read_delegation"]


FILTERS = [{"name": name, "extensions": slots, "capabilities": grants} for name, slots, grants in _filters()]

# What most merges are about; what a plugin returns is given by what differs from it.
BASE = {name: FULL[name] for name in ("request", "http", "security", "delegation", "custom")}
HEADERS = BASE["http"]["headers"]
APPENDED = {**DELEGATION, "chain": [HOP, SECOND], "depth": 2, "actor_subject_id": "svc"}


def _back(**changed):
    """What a plugin returns that changed this of BASE: what it leaves out is unchanged, but for custom."""
    return {"custom": BASE["custom"], **changed}


def _labels(*labels, **more):
    return {**SECURITY, "labels": list(labels), **more}


def _chain(*hops, **more):
    return {**APPENDED, "chain": list(hops), **more}


def _unlike(why, refused=None, **merged):
    """A merge that comes out differently here: `merged` slots differ from what was sent, `refused` is a slot."""
    return {"why": why, "merged": merged, "refused": [refused] if refused else []}


def _label_merges():
    append, read = ["append_labels"], ["read_labels"]
    yield "a label more", BASE, append, _back(security=_labels("PII", "internal", "HIPAA"))
    yield "a label more, in another order", BASE, append, _back(security=_labels("x", "internal", "PII"))
    yield "a label more, not granted", BASE, read, _back(security=_labels("PII", "internal", "x"))
    yield "a label more, nothing granted", BASE, [], _back(security={"labels": ["x"]})
    yield "a label fewer, not granted", BASE, read, _back(security=_labels("PII"))
    error = "at home the whole answer is an error"
    yield "a label fewer", BASE, append, _back(security=_labels("PII")), _unlike(error, "security")
    yield (
        "a label replaced, and custom",
        BASE,
        append,
        {"security": _labels("PII", "x"), "custom": {"k": 2}},
        _unlike("what is refused does not cost the rest", "security", custom={"k": 2}),
    )
    bare = {"security": {"classification": "c"}}
    yield "labels where there were none", bare, append, {"security": {"classification": "c", "labels": ["x"]}}
    yield (
        "labels where there was no slot",
        {"custom": {"k": 1}},
        append,
        {"custom": {"k": 1}, "security": {"labels": ["x"]}},
        _unlike("the successor takes them, and at home they are lost without a word", security={"labels": ["x"]}),
    )
    yield "a forged classification", BASE, append, _back(security=_labels("PII", "internal", classification="public"))
    forged = {**SUBJECT, "roles": ["root"]}
    yield "a forged subject and a label", BASE, CAPABILITIES, _back(security=_labels("PII", "internal", "x", subject=forged))


def _forged_merges():
    for slot, forged in (
        ("request", {"environment": "prod"}),
        ("agent", {"session_id": "other"}),
        ("mcp", {"tool": {"name": "other"}}),
        ("completion", {"model": "other"}),
        ("provenance", {"source": "other"}),
        ("llm", {"model_id": "other"}),
        ("framework", {"framework": "other"}),
        ("meta", {"scope": "other"}),
    ):
        sent = {slot: FULL[slot], "custom": {"k": 1}}
        yield f"a forged {slot}, and custom", sent, CAPABILITIES, {slot: forged, "custom": {"k": 2}}
        yield f"no {slot}, and custom", sent, CAPABILITIES, {slot: None, "custom": {"k": 2}}
        yield f"a {slot} where there was none", {}, CAPABILITIES, {slot: forged}


def _header_merges():
    write = ["write_headers"]
    yield "a header more", BASE, write, _back(http={"headers": {**HEADERS, "X-New": "2"}})
    yield "a header changed and one fewer", BASE, write, _back(http={"headers": {"X-Trace": "2"}})
    yield "a header more, not granted", BASE, ["read_headers"], _back(http={"headers": {**HEADERS, "X-New": "2"}})
    yield "a header more, nothing granted", BASE, [], _back(http={"headers": {"X-New": "2"}})
    yield "headers where there was no slot", {}, write, {"http": {"headers": {"X-New": "2"}}}
    yield "no headers returned", BASE, write, _back(http=None)
    yield "headers emptied", BASE, write, _back(http={"headers": {}})
    yield (
        "a sensitive header",
        BASE,
        write,
        _back(http={"headers": {**HEADERS, "Authorization": "t", "X-New": "2"}}),
        _unlike("at home only the worker takes them out", "http", http={"headers": {**HEADERS, "X-New": "2"}}),
    )
    yield (
        "a header that is none",
        BASE,
        write,
        _back(http={"headers": {**HEADERS, "X New": "2"}}),
        _unlike("no HTTP message can carry it", "http"),
    )


def _chain_merges():
    append = ["append_delegation"]
    yield "a hop more", BASE, append, _back(delegation=APPENDED)
    yield "two hops more", BASE, append, _back(delegation=_chain(HOP, SECOND, THIRD, depth=3))
    yield "a hop more, not granted", BASE, ["read_delegation"], _back(delegation=APPENDED)
    yield "a first hop", {}, append, {"delegation": {**DELEGATION, "age_seconds": 0.5}}
    yield "another actor", BASE, append, _back(delegation={**DELEGATION, "actor_subject_id": "bob"})
    error = "at home the whole answer is an error"
    for name, hops in (
        ("a hop fewer", []),
        ("a hop replaced", [SECOND]),
        ("a hop put in front", [SECOND, HOP]),
        ("a hop changed", [{**HOP, "scopes_granted": ["read", "write"]}, SECOND]),
    ):
        yield name, BASE, append, _back(delegation=_chain(*hops)), _unlike(error, "delegation")
    yield (
        "another origin",
        BASE,
        append,
        _back(delegation={**APPENDED, "origin_subject_id": "mallory"}),
        _unlike("the root of a chain is set once, as its model says and its code does not", "delegation"),
    )
    yield (
        "a depth that does not fit",
        BASE,
        append,
        _back(delegation={**APPENDED, "depth": 9, "delegated": False}),
        _unlike("both follow from the chain", delegation=APPENDED),
    )


def _custom_merges():
    yield "custom changed", BASE, [], {"custom": {"k": 2, "new": [None, True]}}
    yield "custom emptied", BASE, [], {"custom": {}}
    yield "custom none", BASE, [], {"custom": None}
    yield "custom where there was none", {}, [], {"custom": {"a": 1}}


def _merges():
    """(name, slots, grants, what is returned, what is unlike home)."""
    yield "nothing returned", FULL, CAPABILITIES, None
    yield "as it was", FULL, CAPABILITIES, FULL
    yield from _label_merges()
    yield from _forged_merges()
    yield from _header_merges()
    yield from _chain_merges()
    yield from _custom_merges()
    changed = {
        "security": _labels("PII", "internal", "x"),
        "http": {"headers": {"X-New": "1"}},
        "delegation": APPENDED,
        "custom": {"a": 1},
    }
    yield "everything at once", FULL, CAPABILITIES, {**FULL, **changed}


def _merge(name, slots, grants, returned, unlike_home=None):
    case = {"name": name, "extensions": slots, "capabilities": grants, "returned": returned}
    return {**case, "unlike_home": unlike_home} if unlike_home else case


MERGES = [_merge(*case) for case in _merges()]
