"""script: edits, state, marks, denials and faults."""

from cases.steps import (
    GONE, INVALID, LEDGER, Text, allow, deny, fetched, ledger, modify, prompt, rendered, resource, result, step, tool, vector,
)

from oracle.ijson import parse, plain


def plugin(name, hooks, **more):
    """A script plugin that listens on the hooks it has ops for."""
    return {"name": name, "policy": "script", "hooks": list(hooks), "config": {"hooks": hooks}, **more}


def refusal(code, reason="refused by script", description="", details=None, **more):
    return {"code": code, "reason": reason, "description": description, "details": details or {}, **more}


def op(kind, /, **members):
    return {"op": kind, **members}


# Numbers in configs stay within 64 bits and keep their text in every reader.
NOTE = {"id": 9007199254740993, "ratio": 0.25, "tags": ["a", None, True, {"\u00e9/~": ""}], "empty": [{}, []]}
NOTE_IN_ANOTHER_ORDER = {"empty": [{}, []], "tags": ["a", None, True, {"\u00e9/~": ""}], "ratio": 0.25, "id": 9007199254740993}
TOO_MANY = {"limit": 3, "seen": {"hooks": ["tool_pre_invoke"], "share": 0.5}, "reset": None}
LIMITS = {"max": 9007199254740993, "min": -7, "step": 0.1, "flags": [True, False, None], "nested": {"a": [1, [2.5, {}]]}}
MESSAGE = {"role": "assistant", "content": {"type": "text", "text": "Checked \u2714"}}
CALLER = {"user": "ada", "tenant_id": "t-1", "server_id": "s-9", "content_type": "application/json"}
WHO = [op("annotate_caller", key=field, field=field) for field in CALLER]

SETUPS = {
    "edits": {"plugins": [plugin("editor", {
        "tool_pre_invoke": [op("copy", **{"from": "/args/from"}, at="/args/to")],
        "tool_post_invoke": [
            op("remove", at="/result/debug"), op("append", at="/result/log", value="checked"),
            op("append", at="/result/log", value={"by": "editor", "n": 7}),
        ],
        "prompt_pre_fetch": [op("set", at="/args/tone", value="plain")],
        "prompt_post_fetch": [
            op("set", at="/result/messages/0/content/text", value="Rewritten \U0001f469\u200d\U0001f467"),
            op("append", at="/result/messages", value=MESSAGE),
        ],
        "resource_pre_fetch": [
            op("set", at="/metadata/reviewed", value={"by": ["editor"], "at": None}),
            op("copy", **{"from": "/metadata/etag"}, at="/metadata/seen"),
        ],
        "resource_post_fetch": [op("set", at="/content/text", value="withheld\n\"quoted\"")],
        LEDGER: [
            op("annotate_get", key="before", **{"from": "/lines/1/a~1b~0"}), op("annotate_get", key="missing", **{"from": "/lines/9"}),
            op("set", at="/lines/1/a~1b~0", value=[1, {"two": 2.5}]), op("remove", at="/lines/0"),
            op("copy", **{"from": "/total"}, at="/checked"),
        ],
    })]},
    "state": {"plugins": [plugin("keeper", {
        "tool_pre_invoke": [
            op("count", key="calls"), op("annotate_state", key="calls", **{"from": "calls"}),
            op("deny_if_state", key="calls", equals=3, violation=refusal("TOO_MANY", details=TOO_MANY)),
            op("annotate", key="passed", value=True),
        ],
        "tool_post_invoke": [
            op("annotate_state", key="before", **{"from": "note"}), op("state", key="note", value=NOTE),
            op("annotate_state", key="after", **{"from": "note"}),
        ],
        "prompt_pre_fetch": [
            op("state", key="flag", value=True), op("forget", key="calls"), op("annotate_state", key="calls", **{"from": "calls"}),
        ],
        "prompt_post_fetch": [
            op("deny_if_state", key="flag", equals=1, violation=refusal("TRUE_IS_NOT_ONE")),
            op("deny_if_state", key="flag", equals=True, violation=refusal("FLAGGED")),
            op("annotate_state", key="flag", **{"from": "flag"}),
        ],
        "resource_pre_fetch": [
            op("annotate_state", key="kept", **{"from": "kept"}),
            op("deny_if_state", key="note", equals=NOTE_IN_ANOTHER_ORDER, violation=refusal("NOTED", details={"note": NOTE})),
        ],
        "resource_post_fetch": [
            op("count", key="kept"), op("deny", violation=refusal("NEVER")), op("count", key="kept"),
        ],
        LEDGER: [op("annotate_get", key="payload", **{"from": ""}), *WHO],
    })]},
    "verdicts": {"plugins": [plugin("judge", {
        "tool_pre_invoke": [
            op("set", at="/args/x", value="edited"), op("annotate", key="why", value={"rule": 4, "score": 0.75}),
            op("header", name="X-Rule", value="4"), op("header", name="x-rule", value="5"), op("retry", ms=1500),
            op("deny", violation=refusal(
                "FORBIDDEN", "not you", "the longer story \u2014 for a person", {"need": ["role:admin"], "have": {}},
                mcp_error_code=-32001, http_status_code=403,
                http_headers={"WWW-Authenticate": "Bearer realm=\"x\"", "Retry-After": "2"})),
            op("annotate", key="late", value=True),
        ],
        "tool_post_invoke": [op("annotate_get", key="result", **{"from": "/result"}), op("deny", violation=refusal("EMPTY", "", ""))],
        "prompt_pre_fetch": [
            *WHO, op("annotate_get", key="who", **{"from": "/args/who"}), op("header", name="X-Prompt", value="greet"), op("retry", ms=20),
        ],
        "prompt_post_fetch": [
            op("annotate_get", key="said", **{"from": "/result/messages/0/content/text"}),
            op("deny", violation=refusal("\u00dcBEL", "\u7981\u6b62", "\U0001f6ab\n\"no\"", {"\u00e9": "\U0001f469\u200d\U0001f467"})),
        ],
        "resource_pre_fetch": [op("deny", violation=refusal("LEGAL", details=LIMITS, http_status_code=451))],
        "resource_post_fetch": [
            op("annotate_get", key="type", **{"from": "/content/mime_type"}), op("annotate", key="list", value=[1, 0.5, "", {}]),
        ],
        LEDGER: [op("deny", violation=refusal("LEDGER_CLOSED", details={"e\u0301/~": [[[]]], "": None}, mcp_error_code=7))],
    })]},
    # Listed out of order on purpose: writer runs first, then reader, then closer.
    "shared": {"plugins": [
        plugin("reader", {
            "tool_pre_invoke": [
                op("annotate_shared", key="case", **{"from": "case"}), op("shared", key="seen", value=True),
                op("header", name="x-trace", value="reader"), op("annotate", key="by", value="reader"), op("retry", ms=200),
            ],
            "tool_post_invoke": [op("annotate_shared", key="after", **{"from": "case"})],
            "prompt_pre_fetch": [op("annotate_get", key="between", **{"from": "/args/a"})],
            "prompt_post_fetch": [op("count", key="n"), op("annotate_state", key="reader", **{"from": "n"})],
            "resource_pre_fetch": [
                op("shared", key="by", value="reader"), op("annotate", key="by", value="reader"), op("header", name="X-B", value="2"),
                op("deny_if_shared", key="verdict", equals="bad", violation=refusal("BAD", details={"from": "writer"})),
            ],
            LEDGER: [op("annotate_get", key="last", **{"from": "/entries/1"}), op("copy", **{"from": "/entries/0"}, at="/first")],
        }, priority=20),
        plugin("closer", {
            "tool_pre_invoke": [
                op("annotate_shared", key="seen", **{"from": "seen"}), op("annotate_state", key="own", **{"from": "case"}), op("retry", ms=100),
            ],
            "prompt_pre_fetch": [op("set", at="/args/a", value="same")],
            "prompt_post_fetch": [
                op("deny_if_shared", key="seen", equals=True, violation=refusal("SEEN")),
                op("annotate_shared", key="seen", **{"from": "seen"}),
            ],
            "resource_pre_fetch": [op("annotate", key="closer", value="ran"), op("shared", key="by", value="closer")],
            "resource_post_fetch": [
                op("annotate_shared", key="verdict", **{"from": "verdict"}), op("annotate_shared", key="by", **{"from": "by"}),
            ],
            LEDGER: [op("remove", at="/draft")],
        }, priority=30),
        plugin("writer", {
            "tool_pre_invoke": [
                op("shared", key="case", value=NOTE), op("header", name="X-Trace", value="writer"),
                op("annotate", key="by", value="writer"), op("annotate", key="writer", value=True), op("retry", ms=50),
            ],
            "tool_post_invoke": [op("annotate_shared", key="before", **{"from": "case"}), op("shared", key="case", value=1),
                                 op("forget_shared", key="case")],
            "prompt_pre_fetch": [op("set", at="/args/a", value="other")],
            "prompt_post_fetch": [op("count", key="n"), op("count", key="n"), op("annotate_state", key="writer", **{"from": "n"})],
            "resource_pre_fetch": [op("shared", key="verdict", value="bad"), op("header", name="X-A", value="1"), op("retry", ms=5)],
            LEDGER: [op("append", at="/entries", value="w")],
        }, priority=10),
    ]},
}

BIG = "1208925819614629174706176"
COPIES = {
    "copy-big-integer": BIG,
    "copy-negative-big-integer": f"-{BIG}{BIG}",
    "copy-negative-zero": "-0.0",
    "copy-long-decimal": "0.30000000000000004",
    "copy-decimal-with-point-zero": "100.0",
    "copy-nested": '{"a":[%s,-0.0,123456.78901234567,{"\\u00e9/~":"\\ud83d\\ude00"}],"":null,"e":[{},[]]}' % BIG,
    "copy-string": '"\\u0041\\/\\n\\uffff"',
    "copy-null": "null",
    "copy-empty-object": "{}",
    "copy-boolean": "false",
}


def copy(name, text):
    """A value copied to a new member beside numbers that must keep their text."""
    untouched = '"n":[1.10,1E5,1e400]'
    value = plain(parse(text))
    return vector(name, "edits", tool(f'{{{untouched},"from":{text}}}', modify({"/args/from": value, "/args/to": value})))


VECTORS = [
    *[copy(name, text) for name, text in COPIES.items()],
    vector("copy-over-another-value", "edits", tool({"to": "old", "from": 5}, modify({"/args/to": 5}))),
    vector("copy-over-the-same-value", "edits", tool({"to": [1, {"a": "x"}], "from": [1, {"a": "x"}]}, allow())),
    vector("edit-result-remove-and-append", "edits", result(
        Text('{"debug":{"x":1.10},"log":[],"n":1.10}'), modify({"/result/debug": GONE, "/result/log": ["checked", {"by": "editor", "n": 7}]}))),
    vector("edit-result-append-behind-numbers", "edits", result(
        Text('{"log":[1.10,-0,"checked"],"debug":null}'), modify({"/result/debug": GONE, "/result/log/2": "checked", "/result/log/3": "checked"}))),
    vector("edit-prompt-new-argument", "edits", prompt({"who": "ada"}, modify({"/args": {"who": "ada", "tone": "plain"}}))),
    vector("edit-prompt-replaced-argument", "edits", prompt({"tone": "loud"}, modify({"/args/tone": "plain"}))),
    vector("edit-prompt-to-what-it-was", "edits", prompt({"tone": "plain"}, allow())),
    vector("edit-prompt-empty-arguments", "edits", prompt({}, modify({"/args": {"tone": "plain"}}))),
    vector("edit-messages", "edits", rendered(
        ["one", "two"], modify({"/result/messages/0/content/text": "Rewritten \U0001f469\u200d\U0001f467", "/result/messages/2": MESSAGE}))),
    vector("edit-messages-with-description", "edits", rendered(
        ["one"], modify({"/result/messages/1": MESSAGE, "/result/description": "d"}), description="d")),
    vector("edit-resource-metadata", "edits", step(
        "resource_pre_fetch", '{"uri":"u","metadata":{"etag":["a",%s],"n":1.10}}' % BIG,
        modify({"/metadata/seen/0": "a", "/metadata/reviewed/by": ["editor"]}))),
    vector("edit-content", "edits", fetched("body", modify({"/content/text": "withheld\n\"quoted\"", "/uri": "file:///notes/1"}))),
    vector("edit-ledger-lines", "edits", ledger(
        '{"lines":["x",{"a/b~":"old","n":1.10},"y"],"total":-0.0}',
        modify({"/lines/0/a~1b~0": [1, {"two": 2.5}], "/lines/1": "y", "/lines/2": GONE}, before="old", missing=None))),
    vector("edit-ledger-adds-under-an-escaped-key", "edits", ledger(
        '{"lines":["x",{}],"total":{"v":"1"},"checked":0.50}',
        modify({"/lines": [{"a/b~": [1, {"two": 2.5}]}], "/checked": {"v": "1"}}, before=None, missing=None))),

    vector("state-counts-calls-of-one-request", "state",
           tool({}, allow(calls=1, passed=True), "a"), tool({}, allow(calls=2, passed=True), "a"),
           tool({}, deny("TOO_MANY", calls=3), "a"), tool({}, allow(calls=4, passed=True), "a")),
    vector("state-stays-within-its-request", "state",
           tool({}, allow(calls=1, passed=True), "a"), tool({}, allow(calls=1, passed=True), "b"),
           tool({}, allow(calls=2, passed=True), "a"), tool({}, allow(calls=2, passed=True), "b"),
           tool({}, deny("TOO_MANY", calls=3), "b"), tool({}, deny("TOO_MANY", calls=3), "a")),
    vector("state-without-an-id-is-not-carried", "state",
           tool({}, allow(calls=1, passed=True)), tool({}, allow(calls=1, passed=True)), tool({}, allow(calls=1, passed=True)),
           result("x", allow(before=None, after=NOTE)), result("x", allow(before=None, after=NOTE))),
    vector("state-holds-nested-values", "state",
           result("x", allow(before=None, after=NOTE), "a"), result("x", allow(before=NOTE, after=NOTE), "a"),
           resource("u", deny("NOTED", kept=None), "a"), resource("u", allow(kept=None), "b")),
    vector("state-forgotten", "state",
           tool({}, allow(calls=1, passed=True), "a"), prompt({}, allow(calls=None), "a"), tool({}, allow(calls=1, passed=True), "a")),
    vector("state-true-is-not-one", "state",
           rendered(["hi"], allow(flag=None), "a"),
           tool({}, allow(calls=1, passed=True), "a"), prompt({}, allow(calls=None), "a"), rendered(["hi"], deny("FLAGGED"), "a")),
    vector("state-kept-by-a-denial", "state",
           fetched("x", deny("NEVER"), "a"), fetched("x", deny("NEVER"), "a"), resource("u", allow(kept=2), "a")),
    vector("state-not-written-by-an-invalid-payload", "state",
           tool({}, allow(calls=1, passed=True), "a"), step("tool_pre_invoke", '{"name":1}', INVALID, "a"),
           tool({}, allow(calls=2, passed=True), "a")),
    vector("caller-and-payload", "state",
           ledger({"a/b": [1, "x"], "": {}}, allow(payload={"a/b": [1, "x"], "": {}}, **CALLER), "a", CALLER)),
    vector("caller-unknown", "state", ledger("{}", allow(payload={}, **dict.fromkeys(CALLER)), "a")),
    vector("caller-is-not-carried-to-the-next-hook", "state",
           ledger("{}", allow(payload={}, **CALLER), "a", CALLER),
           ledger("{}", allow(payload={}, **{**dict.fromkeys(CALLER), "user": "bob"}), "a", {"user": "bob"})),

    vector("deny-with-everything", "verdicts", tool({"x": "given"}, deny("FORBIDDEN", why={"rule": 4, "score": 0.75}))),
    vector("deny-with-empty-texts", "verdicts", result([1, "x"], deny("EMPTY", result=[1, "x"]))),
    vector("deny-with-unicode", "verdicts", rendered(["\U0001f600 hi"], deny("\u00dcBEL", said="\U0001f600 hi"))),
    vector("deny-with-nested-details", "verdicts", resource("u", deny("LEGAL"), metadata={})),
    vector("deny-with-odd-details", "verdicts", ledger({"a": 1}, deny("LEDGER_CLOSED"))),
    vector("marks-on-an-allow", "verdicts", prompt({"who": "e\u0301"}, allow(**CALLER, who="e\u0301"), "a", CALLER)),
    vector("marks-for-what-is-missing", "verdicts", step(
        "prompt_pre_fetch", '{"prompt_id":"p","args":null}', allow(**dict.fromkeys(CALLER), who=None))),
    vector("marks-from-content", "verdicts", fetched("x", allow(type="text/markdown", list=[1, 0.5, "", {}]), mime_type="text/markdown")),

    vector("shared-over-three-plugins", "shared", tool({}, allow(case=NOTE, by="reader", writer=True, seen=True, own=None), "a")),
    vector("shared-over-two-hooks", "shared",
           tool({}, allow(case=NOTE, by="reader", writer=True, seen=True, own=None), "a"),
           result("x", allow(before=NOTE, after=None), "a"), result("x", allow(before=None, after=None), "a")),
    vector("shared-stays-within-its-request", "shared",
           tool({}, allow(case=NOTE, by="reader", writer=True, seen=True, own=None), "a"),
           rendered(["x"], allow(writer=2, reader=1, seen=None), "b"), rendered(["x"], deny("SEEN", writer=2, reader=1), "a"),
           rendered(["x"], deny("SEEN", writer=4, reader=2), "a"), rendered(["x"], allow(writer=4, reader=2, seen=None), "b")),
    vector("shared-without-an-id-is-not-carried", "shared",
           tool({}, allow(case=NOTE, by="reader", writer=True, seen=True, own=None)), rendered(["x"], allow(writer=2, reader=1, seen=None))),
    vector("shared-denial-stops-the-chain-and-keeps-state", "shared",
           resource("u", deny("BAD", "reader", by="reader"), "a"), fetched("x", allow(verdict="bad", by="reader"), "a"),
           fetched("x", allow(verdict=None, by=None), "b")),
    vector("shared-edit-undone-is-no-modification", "shared", prompt({"a": "same", "b": "x"}, allow(between="other"))),
    vector("shared-edit-overwritten", "shared", prompt({"a": "first"}, modify({"/args/a": "same"}, between="other"))),
    vector("shared-edits-add-up", "shared", ledger(
        '{"entries":[%s],"draft":[1.10],"n":1.10}' % BIG, modify({"/entries/1": "w", "/draft": GONE}, last="w"))),
]
