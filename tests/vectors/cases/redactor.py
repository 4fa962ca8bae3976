"""redactor: what is replaced, what is left alone, and what keeps its text."""

from cases.steps import ALL, Text, allow, fetched, ledger, modify, prompt, rendered, resource, result, step, tool, vector

WORDS = [
    "password", "pass", "passport", "admin", "token", "tokens", "code red", "red alert", "aba", "na\u00efve",
    "\U0001f511", "\u65e5\u672c", "a/b", "\"q\"", "e\u0301",
]
NEW = "[token]"  # holds a word of the list: a replacement is not searched again

SETUPS = {
    "redact": {"plugins": [
        {"name": "redactor", "policy": "redactor", "hooks": ALL, "config": {"words": WORDS, "replacement": NEW},
         "data": ["read_headers"]},
    ]},
}

DEEP = '{"d":' + "@@FILL:[:98@@" + '"admin"' + "@@FILL:]:98@@" + ',"n":1.10}'


def args(name, given, wanted):
    """One argument `q` before and after."""
    return vector(name, "redact", tool({"q": given}, modify({"/args/q": wanted})))


def one(name, made):
    return vector(name, "redact", made)


VECTORS = [
    one("redact-clean-tool-call", tool({"q": "hello"}, allow())),
    args("redact-word", "the admin here", f"the {NEW} here"),
    args("redact-whole-string", "admin", NEW),
    args("redact-several-words", "admin, password; admin", f"{NEW}, {NEW}; {NEW}"),
    args("redact-adjacent-words", "adminadmin", NEW + NEW),
    args("redact-earlier-word-is-longer", "passwords", f"{NEW}s"),
    args("redact-earlier-word-is-shorter", "passport", f"{NEW}port"),
    args("redact-earlier-word-is-a-prefix", "tokens", f"{NEW}s"),
    args("redact-scanning-goes-on-behind", "ababa", f"{NEW}ba"),
    args("redact-overlap-goes-to-the-left", "code red alert", f"{NEW} alert"),
    args("redact-word-after-a-false-start", "code rred alert", f"code r{NEW}"),
    args("redact-replacement-is-not-searched-again", "totokenken [token]", f"to{NEW}ken [{NEW}]"),
    args("redact-composed-letter", "na\u00efve nai\u0308ve", f"{NEW} nai\u0308ve"),
    args("redact-decomposed-letter", "caf\u00e9 cafe\u0301", f"caf\u00e9 caf{NEW}"),
    args("redact-before-a-combining-mark", "admin\u0301!", f"{NEW}\u0301!"),
    args("redact-non-bmp", "a\U0001f511b\U0001f512", f"a{NEW}b\U0001f512"),
    args("redact-inside-an-emoji-sequence", "\U0001f469\u200d\U0001f511\u200d\U0001f467", f"\U0001f469\u200d{NEW}\u200d\U0001f467"),
    args("redact-cjk", "\u5927\u65e5\u672c\u8a9e", f"\u5927{NEW}\u8a9e"),
    args("redact-behind-wide-letters", "\U0001f469\u00e9\u4e2d admin \U00010348", f"\U0001f469\u00e9\u4e2d {NEW} \U00010348"),
    args("redact-beside-quotes-and-line-ends", 'say "admin"\n\\admin\\\t\u0000', f'say "{NEW}"\n\\{NEW}\\\t\u0000'),
    args("redact-word-with-quotes", 'x"q"y', f"x{NEW}y"),
    one("redact-case-counts", tool({"q": "Admin PASSWORD Token"}, allow())),
    one("redact-word-split-over-strings", tool({"q": ["ad", "min"]}, allow())),
    one("redact-escaped-letters", tool('{"q":"\\u0061dm\\u0069n \\u00e9"}', modify({"/args/q": f"{NEW} \u00e9"}))),
    one("redact-escaped-slash", tool('{"q":"a\\/b a\\/c"}', modify({"/args/q": f"{NEW} a/c"}))),
    one("redact-surrogate-pair", tool('{"q":"\\ud83d\\udd11\\uD83D\\uDD12"}', modify({"/args/q": NEW + "\U0001f512"}))),
    one("redact-keys-are-left-alone", tool(
        {"admin": "token", "pass": {"token": 1}}, modify({"/args": {"admin": NEW, "pass": {"token": 1}}}))),
    one("redact-under-odd-keys", tool(
        '{"a/b":"admin","~":"admin","":"admin","\\u0041\\ud83d\\ude00":"admin"}',
        modify({"/args/a~1b": NEW, "/args/~0": NEW, "/args/": NEW, "/args/A\U0001f600": NEW}))),
    one("redact-many-places", tool(
        {"a": ["admin", "x", ["pass"]], "b": {"c": "aba"}, "d": ""},
        modify({"/args": {"a": [NEW, "x", [NEW]], "b": {"c": NEW}, "d": ""}}))),
    one("redact-numbers-beside-keep-their-text", tool(
        '{"q":"admin","a":1.10,"b":-0.0,"c":1e400,"d":1208925819614629174706176,"e":1E5,"f":0.30000000000000000000004}',
        modify({"/args/q": NEW}))),
    one("redact-numbers-in-the-same-array-keep-their-text", tool(
        '{"l":[1.10,"token",-0,[2.50,"pass",1e-07],1E+2]}', modify({"/args/l/1": NEW, "/args/l/3/1": NEW}))),
    one("redact-beside-a-long-integer", tool(
        '{"n":-@@FILL:7:5000@@,"q":"admin"}', modify({"/args/q": NEW}))),
    one("redact-literals-beside", tool(
        '{"a":null,"b":true,"q":"aba","c":false,"d":{},"e":[]}', modify({"/args/q": NEW, "/args/e": []}))),
    one("redact-subject-is-spared", tool({"q": "admin"}, modify({"/name": "admin", "/args/q": NEW}), name="admin")),
    one("redact-subject-alone", tool({"q": "x"}, allow(), name="password-token")),
    one("redact-name-in-arguments-is-no-subject", tool({"name": "admin"}, modify({"/args/name": NEW}))),
    one("redact-arguments-absent", step("tool_pre_invoke", '{"name":"admin"}', allow())),
    one("redact-arguments-null", step("tool_pre_invoke", '{"name":"admin","args":null}', allow())),
    one("redact-arguments-empty", step("tool_pre_invoke", '{"name":"admin","args":{}}', allow())),
    one("redact-header-value", step(
        "tool_pre_invoke", '{"name":"n","args":{"x":1.0},"headers":{"Admin":"x","X-Key":"my token"}}',
        modify({"/headers": {"Admin": "x", "X-Key": f"my {NEW}"}}))),
    one("redact-headers-clean", step("tool_pre_invoke", '{"name":"n","args":{},"headers":{"token":"x"}}', allow())),
    one("redact-formatted-payload", step(
        "tool_pre_invoke", '{\r\n  "name" : "n",\n  "args" : {\n    "q" : "admin" ,\n\t"n" : 1.50\n  }\n}\n',
        modify({"/args/q": NEW}))),
    one("redact-noncharacters-beside", tool(
        '{"q":"\\uffffadmin\\ufdd0","p":"\\udbff\\udfff"}', modify({"/args/q": f"\uffff{NEW}\ufdd0"}))),
    one("redact-at-level-100", tool(DEEP, modify({"/args/d" + "/0" * 98: NEW}))),
    one("redact-large-string", tool(
        '{"q":"admin@@FILL:y:899990@@token","n":2.0}', modify({"/args/q": NEW + "y" * 899990 + NEW}))),
    one("redact-large-string-passes", tool('{"q":"@@FILL:y:900000@@"}', allow())),
    one("redact-two-thousand-times", tool('{"q":"@@FILL:admin :2000@@"}', modify({"/args/q": f"{NEW} " * 2000}))),

    one("redact-result-string", result("the password", modify({"/result": f"the {NEW}"}))),
    one("redact-result-list", result(Text('["admin",1.10,{"k":"ok"}]'), modify({"/result/0": NEW}))),
    one("redact-result-object", result(Text('{"n":1e400,"log":["pass","pass"]}'), modify({"/result/log": [NEW, NEW]}))),
    one("redact-result-number", result(Text("1.10"), allow())),
    one("redact-result-subject-is-spared", step(
        "tool_post_invoke", '{"name":"admin","result":{"name":"admin"}}', modify({"/name": "admin", "/result/name": NEW}))),
    one("redact-result-null", result(None, allow())),

    one("redact-prompt-argument", prompt({"a": "admin", "b": "x"}, modify({"/args": {"a": NEW, "b": "x"}}))),
    one("redact-prompt-id-is-spared", prompt({"a": "admin"}, modify({"/prompt_id": "admin", "/args/a": NEW}), prompt_id="admin")),
    one("redact-prompt-clean", prompt({"admin": ""}, allow(), prompt_id="token")),
    one("redact-prompt-arguments-null", step("prompt_pre_fetch", '{"prompt_id":"admin","args":null}', allow())),

    one("redact-first-message", rendered(
        ["the admin", "fine"], modify({"/result/messages/0/content/text": f"the {NEW}", "/result/messages/1/content/text": "fine"}))),
    one("redact-message-and-description", rendered(
        ["hi", "pass"], modify({"/result/messages/1/content/text": NEW, "/result/description": f"{NEW}!"}), description="aba!")),
    one("redact-post-prompt-id-is-spared", rendered(["hi"], allow(), prompt_id="admin")),
    one("redact-messages-none", rendered([], allow(), description="")),

    one("redact-uri-is-spared", resource("file:///admin", modify({"/uri": "file:///admin", "/metadata/o": NEW}), metadata={"o": "admin"})),
    one("redact-resource-metadata", step(
        "resource_pre_fetch", '{"uri":"u","metadata":{"n":1.10,"l":["pass",{"x":"token"}]}}',
        modify({"/metadata/l/0": NEW, "/metadata/l/1/x": NEW}))),
    one("redact-resource-metadata-absent", resource("file:///admin", allow())),
    one("redact-resource-metadata-null", resource("file:///admin", allow(), metadata=None)),

    one("redact-content-text", fetched("line\nadmin", modify({"/content/text": f"line\n{NEW}"}))),
    one("redact-content-uri-is-no-subject", fetched(
        "x", modify({"/uri": "file:///admin", "/content/uri": f"file:///{NEW}"}), uri="file:///admin")),
    one("redact-content-clean", fetched("line\nline", allow())),
    one("redact-content-plain-string", step("resource_post_fetch", '{"uri":"u","content":"pass"}', modify({"/content": NEW}))),

    one("redact-ledger-has-no-subject", ledger(
        {"name": "admin", "uri": "token", "prompt_id": "aba"}, modify({"/name": NEW, "/uri": NEW, "/prompt_id": NEW}))),
    one("redact-ledger-nested", ledger(
        '{"entry":{"memo":"\\u65e5\\u672c","amount":100.00},"tags":["x","pass"]}',
        modify({"/entry/memo": NEW, "/tags/1": NEW}))),
    one("redact-ledger-clean", ledger('{"amount":100.00,"admin":-0.0}', allow())),
    one("redact-ledger-empty", ledger("{}", allow())),
]
