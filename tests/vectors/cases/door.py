"""The door: which payloads never reach a plugin, and which odd ones do."""

from cases.steps import ALL, INVALID, LEDGER, allow, step, tool, vector, word

SETUPS = {
    "door": {"plugins": [
        {"name": "guard", "policy": "deny-list", "hooks": ALL, "config": {"words": ["forbidden"]}, "data": ["read_headers"]},
    ]},
}

# Around the filling of the payload that is one byte too large.
HEAD, TAIL = '{"name":"n","args":{"q":"', '"}}'
OVER = 10_000_001 - len(HEAD) - len(TAIL)

REFUSED_TEXTS = {
    "duplicate-key": '{"name":"n","args":{},"args":{}}',
    "duplicate-key-same-value": '{"name":"n","name":"n"}',
    "duplicate-key-after-unescaping": '{"name":"n","args":{"a":1,"\\u0061":2}}',
    "duplicate-key-surrogate-pair": '{"name":"n","args":{"\U0001f600":1,"\\ud83d\\ude00":2}}',
    "duplicate-key-slash": '{"name":"n","args":{"/":1,"\\/":2}}',
    "duplicate-key-nested": '{"name":"n","args":{"l":[{"k":1,"k":1}]}}',
    "duplicate-key-empty": '{"name":"n","args":{"":1,"":2}}',
    "duplicate-key-beside-a-denied-word": '{"name":"forbidden","args":{"a":1,"a":2}}',
    "lone-high-surrogate": '{"name":"n","args":{"q":"\\ud800"}}',
    "lone-low-surrogate": '{"name":"n","args":{"q":"x\\udc00y"}}',
    "lone-surrogate-in-a-key": '{"name":"n","args":{"\\udbff":1}}',
    "lone-surrogate-before-a-letter": '{"name":"n","args":{"q":"\\ud83d\\u0041"}}',
    "surrogates-in-the-wrong-order": '{"name":"n","args":{"q":"\\ude00\\ud83d"}}',
    "surrogate-pair-then-a-lone-one": '{"name":"n","args":{"q":"\\ud83d\\ude00\\ud83d"}}',
    "byte-order-mark": '\ufeff{"name":"n"}',
    "trailing-text": '{"name":"n"} x',
    "trailing-brace": '{"name":"n"}}',
    "trailing-second-value": '{"name":"n"}{"name":"n"}',
    "trailing-comma-after-the-value": '{"name":"n"},',
    "trailing-nul": '{"name":"n"}\u0000',
    "trailing-no-break-space": '{"name":"n"}\u00a0',
    "form-feed-is-no-space": '{"name":\u000c"n"}',
    "not-a-number": '{"name":"n","args":{"x":NaN}}',
    "infinity": '{"name":"n","args":{"x":Infinity}}',
    "minus-infinity": '{"name":"n","args":{"x":-Infinity}}',
    "leading-zero": '{"name":"n","args":{"x":01}}',
    "leading-zero-negative": '{"name":"n","args":{"x":-00}}',
    "leading-plus": '{"name":"n","args":{"x":+1}}',
    "no-digit-before-the-point": '{"name":"n","args":{"x":.5}}',
    "no-digit-after-the-point": '{"name":"n","args":{"x":1.}}',
    "no-digit-in-the-exponent": '{"name":"n","args":{"x":1e}}',
    "only-a-minus": '{"name":"n","args":{"x":-}}',
    "hexadecimal": '{"name":"n","args":{"x":0x10}}',
    "upper-case-literal": '{"name":"n","args":{"x":True}}',
    "single-quotes": "{'name':'n'}",
    "key-without-quotes": '{name:"n"}',
    "comment": '{"name":"n"/* x */}',
    "trailing-comma-in-an-object": '{"name":"n",}',
    "trailing-comma-in-an-array": '{"name":"n","args":{"x":[1,]}}',
    "missing-comma": '{"name":"n" "args":{}}',
    "missing-colon": '{"name" "n"}',
    "raw-line-feed-in-a-string": '{"name":"a\nb"}',
    "raw-nul-in-a-string": '{"name":"a\u0000b"}',
    "unknown-escape": '{"name":"\\x41"}',
    "short-unicode-escape": '{"name":"\\u12"}',
    "cut-off-in-an-object": '{"name":"n","args":{"a":1}',
    "cut-off-in-a-string": '{"name":"n',
    "empty-text": "",
    "only-space": " \n\t",
    "array": "[]",
    "string": '"name"',
    "number": "1",
    "null": "null",
    "true": "true",
    "nesting-of-101": '{"name":"n","args":{"d":@@FILL:[:99@@@@FILL:]:99@@}}',
    "nesting-of-101-objects": '{"name":"n","args":' + '{"a":' * 99 + "{}" + "}" * 100,
    "nesting-of-thousands": '{"name":"n","args":{"d":@@FILL:[:200000@@',
    "one-byte-too-large": f"{HEAD}@@FILL:x:{OVER}@@{TAIL}",
    "one-byte-too-large-with-space": f'{{"name":"n"}}@@FILL: :{10_000_001 - 12}@@',
    "one-byte-too-large-in-wide-letters": f'{HEAD}@@FILL:\u00e9:{OVER // 2}@@{"" if OVER % 2 == 0 else "x"}{TAIL}',
}

REFUSED_SHAPES = [
    ("tool-name-missing", "tool_pre_invoke", "{}"),
    ("tool-name-not-a-string", "tool_pre_invoke", '{"name":5,"args":{}}'),
    ("tool-name-null", "tool_pre_invoke", '{"name":null}'),
    ("tool-arguments-array", "tool_pre_invoke", '{"name":"n","args":[]}'),
    ("tool-arguments-string", "tool_pre_invoke", '{"name":"n","args":"{}"}'),
    ("tool-arguments-false", "tool_pre_invoke", '{"name":"n","args":false}'),
    ("tool-headers-number-value", "tool_pre_invoke", '{"name":"n","args":{},"headers":{"a":"x","b":1}}'),
    ("tool-headers-null-value", "tool_pre_invoke", '{"name":"n","args":{},"headers":{"a":null}}'),
    ("tool-headers-list-value", "tool_pre_invoke", '{"name":"n","args":{},"headers":{"a":["x"]}}'),
    ("tool-headers-array", "tool_pre_invoke", '{"name":"n","args":{},"headers":[["a","x"]]}'),
    ("result-name-missing", "tool_post_invoke", '{"result":1}'),
    ("result-name-not-a-string", "tool_post_invoke", '{"name":["n"],"result":1}'),
    ("result-missing", "tool_post_invoke", '{"name":"n"}'),
    ("prompt-id-missing", "prompt_pre_fetch", '{"args":{}}'),
    ("prompt-id-under-another-name", "prompt_pre_fetch", '{"name":"p","args":{}}'),
    ("prompt-argument-number", "prompt_pre_fetch", '{"prompt_id":"p","args":{"a":"x","n":1}}'),
    ("prompt-argument-null", "prompt_pre_fetch", '{"prompt_id":"p","args":{"a":null}}'),
    ("prompt-argument-object", "prompt_pre_fetch", '{"prompt_id":"p","args":{"a":{}}}'),
    ("prompt-arguments-array", "prompt_pre_fetch", '{"prompt_id":"p","args":["x"]}'),
    ("rendered-id-number", "prompt_post_fetch", '{"prompt_id":1,"result":{"messages":[]}}'),
    ("rendered-result-missing", "prompt_post_fetch", '{"prompt_id":"p"}'),
    ("resource-uri-missing", "resource_pre_fetch", '{"metadata":{}}'),
    ("resource-uri-object", "resource_pre_fetch", '{"uri":{},"metadata":{}}'),
    ("resource-metadata-array", "resource_pre_fetch", '{"uri":"u","metadata":[]}'),
    ("resource-metadata-number", "resource_pre_fetch", '{"uri":"u","metadata":0}'),
    ("content-uri-missing", "resource_post_fetch", '{"content":"x"}'),
    ("content-uri-null", "resource_post_fetch", '{"uri":null,"content":"x"}'),
    ("content-missing", "resource_post_fetch", '{"uri":"u"}'),
    ("ledger-array", LEDGER, '[{"a":1}]'),
    ("ledger-string", LEDGER, '"forbidden"'),
    ("ledger-null", LEDGER, "null"),
    ("ledger-duplicate-key", LEDGER, '{"a":{"b":1,"\\u0062":1}}'),
]


def one(name, made):
    return vector(name, "door", made)


VECTORS = [
    *[one(f"door-{name}", step("tool_pre_invoke", text, INVALID)) for name, text in REFUSED_TEXTS.items()],
    *[one(f"door-{name}", step(hook, text, INVALID)) for name, hook, text in REFUSED_SHAPES],

    one("door-keys-that-differ-in-case", tool('{"a":1,"A":2}', allow())),
    one("door-keys-that-differ-in-normal-form", tool('{"\\u00e9":1,"e\\u0301":2}', allow())),
    one("door-same-key-in-two-objects", tool('{"a":{"k":1},"b":{"k":1},"k":[{"k":1}]}', allow())),
    one("door-same-element-twice", tool('{"l":["a","a",{},{}]}', allow())),
    one("door-noncharacters", tool('{"\\ufffe":"\\uffff","\\udbff\\udfff":"\\ufdd0\ufdef"}', allow())),
    one("door-mark-inside-a-string", tool('{"q":"\\ufeff\ufeff"}', allow())),
    one("door-escaped-controls", tool('{"q":"\\u0000\\u001f\\u007f\\b\\f\\n\\r\\t\\"\\\\\\/"}', allow())),
    one("door-line-separators-and-delete", tool('{"q":"\u2028\u2029\u007f\u0085"}', allow())),
    one("door-nesting-of-100", tool('{"d":@@FILL:[:98@@@@FILL:]:98@@}', allow())),
    one("door-brackets-in-a-string-are-no-nesting", tool('{"q":"@@FILL:[{:500@@"}', allow())),
    one("door-wide-and-shallow", tool('{"l":[@@FILL:[],:3000@@0]}', allow())),
    one("door-numbers-of-any-size", tool(
        '{"l":[0,-0,0.0,-0.0,0e0,-0E-0,1E400,-1e-400,0.1e+1,123456789012345678901234567890,1.000]}', allow())),
    one("door-space-around-everything", step(
        "tool_pre_invoke", '\n\t\r {\r"name"\t:\n"n" , "args" : { } } \t\n', allow())),
    one("door-keys-under-escapes", step("tool_pre_invoke", '{"\\u006eame":"n","\\u0061rgs":{"q":"forbidden"}}', word("forbidden", "/args/q"))),
    one("door-ledger-nesting-of-100", step(LEDGER, '{"d":@@FILL:[:99@@@@FILL:]:99@@}', allow())),
    one("door-ledger-nesting-of-101", step(LEDGER, '{"d":@@FILL:[:100@@@@FILL:]:100@@}', INVALID)),
    one("door-a-hook-nobody-listens-to-is-not-checked", step("nobody_listens", '{"name":5,"args":"forbidden"}', allow())),
    vector("door-refusals-change-nothing", "door",
           step("tool_pre_invoke", "{", INVALID, "a"), tool({"q": "forbidden"}, word("forbidden", "/args/q"), "a"),
           step("resource_post_fetch", '{"uri":"u"}', INVALID, "a"), tool({"q": "x"}, allow(), "a")),
]
