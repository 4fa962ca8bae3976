"""deny-list: which string, which word, and at which pointer."""

from cases.steps import ALL, Text, allow, fetched, ledger, prompt, rendered, resource, result, step, tool, vector, word

FAMILY = "\U0001f469\u200d\U0001f467"  # woman, joiner, girl
WORDS = [
    "zulu", "secret", "secret key", "wipe disk", "wipe", "lima mike", "kilo lima", "quebec romeo sierra", "romeo",
    "sudo", "\u00fcbel", "caf\u00e9", "\u4e2d\u6587", FAMILY, "\U00010348", "a/b", "say \"x\"", "tab\there",
]
ANY_CASE = ["Kill", "kill", "SSN", "\u00dcbel", "stra\u00dfe", "\u0130x", "OK-2"]

SETUPS = {
    "deny": {"plugins": [
        {"name": "deny-list", "policy": "deny-list", "hooks": ALL, "config": {"words": WORDS}, "data": ["read_headers"]},
    ]},
    "deny-any-case": {"plugins": [
        {"name": "any-case", "policy": "deny-list", "hooks": ["tool_pre_invoke", "tool_post_invoke"],
         "config": {"words": ANY_CASE, "ignore_ascii_case": True}},
    ]},
}

DEEP = '{"d":' + "@@FILL:[:98@@" + '"%s"' + "@@FILL:]:98@@" + "}"


def with_headers(headers, claim):
    return step("tool_pre_invoke", '{"name":"note","args":{},"headers":%s}' % headers, claim)


def one(name, made, setup="deny"):
    return vector(name, setup, made)


VECTORS = [
    one("deny-clean-tool-call", tool({"q": "hello world"}, allow())),
    one("deny-word-in-argument", tool({"cmd": "please sudo this"}, word("sudo", "/args/cmd"))),
    one("deny-word-is-the-whole-string", tool({"cmd": "sudo"}, word("sudo", "/args/cmd"))),
    one("deny-word-inside-a-longer-word", tool({"cmd": "visudoers"}, word("sudo", "/args/cmd"))),
    one("deny-subject-is-not-spared", tool({"q": "x"}, word("sudo", "/name"), name="sudo run")),
    one("deny-subject-comes-before-arguments", tool({"q": "zulu"}, word("romeo", "/name"), name="romeo")),
    one("deny-keys-are-not-searched", tool({"sudo": "x", "deep": {"secret key": ["y"]}}, allow())),
    one("deny-case-counts", tool({"q": "SUDO Sudo sUDO"}, allow())),
    one("deny-first-string-decides", tool({"a": "then romeo", "b": "zulu"}, word("romeo", "/args/a"))),
    one("deny-document-order-not-key-order", tool({"z": ["ok", "wipe"], "a": "zulu"}, word("wipe", "/args/z/1"))),
    one("deny-leftmost-beats-list-order", tool({"q": "romeo before zulu"}, word("romeo", "/args/q"))),
    one("deny-tie-goes-to-the-earlier-shorter-word", tool({"q": "a secret key"}, word("secret", "/args/q"))),
    one("deny-tie-goes-to-the-earlier-longer-word", tool({"q": "wipe disk now"}, word("wipe disk", "/args/q"))),
    one("deny-overlap-goes-to-the-leftmost", tool({"q": "kilo lima mike"}, word("kilo lima", "/args/q"))),
    one("deny-word-inside-a-word-that-fails", tool({"q": "quebec romeo tango"}, word("romeo", "/args/q"))),
    one("deny-longer-word-starts-first", tool({"q": "quebec romeo sierra"}, word("quebec romeo sierra", "/args/q"))),
    one("deny-word-split-over-strings", tool({"a": ["su", "do"], "b": "su", "c": "do"}, allow())),
    one("deny-pointer-escapes", tool({"a/b~c": {"~1": "sudo"}}, word("sudo", "/args/a~1b~0c/~01"))),
    one("deny-pointer-with-an-empty-key", tool({"": {"": "sudo"}}, word("sudo", "/args//"))),
    one("deny-pointer-into-arrays", tool({"l": [[], ["a", {"x": "zulu"}]]}, word("zulu", "/args/l/1/1/x"))),
    one("deny-pointer-with-an-escaped-key", tool('{"\\u0041\\/\\ud83d\\ude00":"sudo"}', word("sudo", "/args/A~1\U0001f600"))),
    one("deny-escaped-letters", tool('{"q":"\\u0073\\u0075do"}', word("sudo", "/args/q"))),
    one("deny-escaped-slash", tool('{"q":"1 a\\/b 2"}', word("a/b", "/args/q"))),
    one("deny-escaped-quotes", tool('{"q":"they say \\"x\\"."}', word('say "x"', "/args/q"))),
    one("deny-escaped-tab", tool('{"q":"tab\\there"}', word("tab\there", "/args/q"))),
    one("deny-backslash-is-not-an-escape-twice", tool('{"q":"tab\\\\there \\\\u0073udo"}', allow())),
    one("deny-surrogate-pair", tool('{"q":"gothic \\ud800\\udf48"}', word("\U00010348", "/args/q"))),
    one("deny-composed-letter", tool({"q": "un caf\u00e9"}, word("caf\u00e9", "/args/q"))),
    one("deny-decomposed-letter-is-another-text", tool({"q": "un cafe\u0301 \u0075\u0308bel"}, allow())),
    one("deny-word-before-a-combining-mark", tool({"q": "sudo\u0301"}, word("sudo", "/args/q"))),
    one("deny-cjk", tool({"q": "\u5b66\u4e2d\u6587\u7684"}, word("\u4e2d\u6587", "/args/q"))),
    one("deny-emoji-sequence", tool({"q": f"hi {FAMILY}\u200d\U0001f466"}, word(FAMILY, "/args/q"))),
    one("deny-part-of-an-emoji-sequence", tool({"q": "\U0001f469 \u200d\U0001f467 \U0001f469\u200d\U0001f466"}, allow())),
    one("deny-empty-strings-and-containers", tool({"": "", "a": [], "b": {}, "c": [{}, [""]]}, allow())),
    one("deny-numbers-keep-their-text", tool(
        '{"a":[1.10,-0.0,0e0,1E5,1e+5,1e-7,1E-07],"b":1e400,"c":1208925819614629174706176,"d":-0,'
        '"e":3.141592653589793238462643383279,"f":0.1000}', allow())),
    one("deny-literals-are-not-strings", tool({"a": None, "b": True, "c": False, "d": 0}, allow())),
    one("deny-noncharacters-and-nul", tool('{"a":"\\uffff\\ufffe\\ufdd0\\u0000","b":"\\udbff\\udfff"}', allow())),
    one("deny-behind-a-nul", tool('{"a":"\\u0000sudo"}', word("sudo", "/args/a"))),
    one("deny-large-string-passes", tool('{"q":"@@FILL:x:900000@@"}', allow())),
    one("deny-large-string-with-the-word-at-its-end", tool('{"q":"@@FILL:x:899996@@sudo"}', word("sudo", "/args/q"))),
    one("deny-nesting-of-100", tool(DEEP % "fine", allow())),
    one("deny-word-at-level-100", tool(DEEP % "zulu", word("zulu", "/args/d" + "/0" * 98))),
    one("deny-formatted-payload", step(
        "tool_pre_invoke", ' \r\n{\n\t"name" : "note" ,\n\t"args" : { "q" :\t"sudo" }\n}\n\n', word("sudo", "/args/q"))),
    one("deny-formatted-payload-passes", step(
        "tool_pre_invoke", '\t{ "name" :"note",\r\n "args": { "n" : [ 1.50 , 2 ] , "o" : { } } } ', allow())),
    one("deny-arguments-absent", step("tool_pre_invoke", '{"name":"note"}', allow())),
    one("deny-arguments-null", step("tool_pre_invoke", '{"name":"note","args":null}', allow())),
    one("deny-arguments-empty", step("tool_pre_invoke", '{"name":"note","args":{}}', allow())),
    one("deny-name-empty", step("tool_pre_invoke", '{"name":"","args":{}}', allow())),
    one("deny-header-value", with_headers('{"X-Note":"a secret"}', word("secret", "/headers/X-Note"))),
    one("deny-header-name-is-a-key", with_headers('{"secret":"x","accept":""}', allow())),
    one("deny-headers-null", with_headers("null", allow())),

    one("deny-result-string", result("ask zulu", word("zulu", "/result"))),
    one("deny-result-list", result(["a", {"b": "wipe"}], word("wipe", "/result/1/b"))),
    one("deny-result-number", result(Text("12345678901234567890.50"), allow())),
    one("deny-result-null", result(None, allow())),
    one("deny-result-boolean", result(False, allow())),
    one("deny-result-empty-object", result({}, allow())),
    one("deny-result-is-searched-after-name", step(
        "tool_post_invoke", '{"name":"zulu","result":"sudo"}', word("zulu", "/name"))),

    one("deny-prompt-argument", prompt({"who": "the \u00fcbel one"}, word("\u00fcbel", "/args/who"))),
    one("deny-prompt-id", prompt({}, word("secret", "/prompt_id"), prompt_id="secret-prompt")),
    one("deny-prompt-clean", prompt({"sudo": "", "b": "ok"}, allow())),
    one("deny-prompt-arguments-null", step("prompt_pre_fetch", '{"prompt_id":"p","args":null}', allow())),
    one("deny-prompt-arguments-absent", step("prompt_pre_fetch", '{"prompt_id":""}', allow())),

    one("deny-second-message", rendered(["hi", "sudo it"], word("sudo", "/result/messages/1/content/text"))),
    one("deny-messages-come-before-description", rendered(
        ["romeo"], word("romeo", "/result/messages/0/content/text"), description="zulu")),
    one("deny-description", rendered(["hi"], word("zulu", "/result/description"), description="about zulu")),
    one("deny-messages-clean", rendered(["hi", "", "\U0001f600"], allow(), description="")),
    one("deny-messages-none", rendered([], allow())),

    one("deny-uri", resource("file:///secret", word("secret", "/uri"), metadata={})),
    one("deny-resource-metadata", resource("file:///a", word("wipe", "/metadata/x/0"), metadata={"x": ["wipe"]})),
    one("deny-resource-metadata-clean", resource("file:///a", allow(), metadata={"etag": "1", "n": 2, "o": None})),
    one("deny-resource-metadata-absent", resource("file:///a", allow())),
    one("deny-resource-metadata-null", resource("file:///a", allow(), metadata=None)),

    one("deny-content-text", fetched("line one\nline sudo", word("sudo", "/content/text"))),
    one("deny-content-uri-comes-second", fetched("zulu", word("secret", "/uri"), uri="file:///secret")),
    one("deny-content-clean", fetched("line one\nline two", allow())),
    one("deny-content-plain-string", step("resource_post_fetch", '{"uri":"u","content":"zulu"}', word("zulu", "/content"))),
    one("deny-content-null", step("resource_post_fetch", '{"uri":"u","content":null}', allow())),

    one("deny-ledger-entry", ledger({"entry": {"memo": "sudo"}, "amount": 5}, word("sudo", "/entry/memo"))),
    one("deny-ledger-top-level-key", ledger({"~a/": "zulu"}, word("zulu", "/~0a~1"))),
    one("deny-ledger-empty-object", ledger("{}", allow())),
    one("deny-ledger-knows-no-shape", ledger({"name": 5, "args": [], "uri": None}, allow())),
    one("deny-ledger-order", ledger({"z": "romeo", "b": "zulu"}, word("romeo", "/z"))),

    one("any-case-upper", tool({"q": "KILL it"}, word("Kill", "/args/q")), "deny-any-case"),
    one("any-case-word-is-given-as-configured", tool({"q": "my ssn"}, word("SSN", "/args/q")), "deny-any-case"),
    one("any-case-digits-and-signs", tool({"q": "ok-2"}, word("OK-2", "/args/q")), "deny-any-case"),
    one("any-case-kelvin-sign-is-no-k", tool({"q": "\u212aill \u212a\u0131ll"}, allow()), "deny-any-case"),
    one("any-case-long-s-is-no-s", tool({"q": "\u017f\u017fn s\u017fn"}, allow()), "deny-any-case"),
    one("any-case-other-letters-keep-their-case", tool({"q": "\u00fcbel \u00fcBEL STRASSE"}, allow()), "deny-any-case"),
    one("any-case-around-other-letters", tool({"q": "STRA\u00dfE"}, word("stra\u00dfe", "/args/q")), "deny-any-case"),
    one("any-case-dotted-capital-i", tool({"q": "\u0130\u0130\u0130 i\u0307x \u0130X"}, word("\u0130x", "/args/q")), "deny-any-case"),
    one("any-case-dotted-capital-i-is-not-two", tool({"q": "i\u0307x ix"}, allow()), "deny-any-case"),
    one("any-case-result", result({"a": ["SsN"]}, word("SSN", "/result/a/0")), "deny-any-case"),
]
