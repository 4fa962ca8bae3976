"""Chains: what a later plugin sees, what a denial stops, and in which order plugins run."""

from cases.script import op, plugin, refusal
from cases.steps import (
    ALL, LEDGER, Text, allow, deny, fetched, ledger, modify, prompt, rendered, resource, result, tool, vector, word,
)

CHAIN = [
    {"name": "deny-list", "policy": "deny-list", "hooks": ALL, "config": {"words": ["credit card", "sudo", "secret", "[redacted]"]}},
    {"name": "redactor", "policy": "redactor", "hooks": ALL, "config": {"words": ["password", "admin", "token"]}},
    plugin("marker", {
        "tool_pre_invoke": [op("annotate_get", key="q", **{"from": "/args/q"}), op("header", name="X-Seen", value="1"),
                            op("set", at="/args/marked", value="by admin")],
        "tool_post_invoke": [op("annotate", key="seen", value=True)],
        "prompt_pre_fetch": [op("annotate_get", key="who", **{"from": "/args/who"}), op("count", key="n"),
                             op("deny_if_state", key="n", equals=2, violation=refusal("AGAIN", details={"n": 2}))],
        "prompt_post_fetch": [op("annotate_get", key="text", **{"from": "/result/messages/0/content/text"}), op("retry", ms=70)],
        "resource_pre_fetch": [op("annotate_get", key="o", **{"from": "/metadata/o"})],
        "resource_post_fetch": [op("annotate_get", key="text", **{"from": "/content/text"}),
                                op("set", at="/content/mime_type", value="text/markdown")],
        LEDGER: [op("annotate_get", key="all", **{"from": ""}), op("copy", **{"from": "/memo"}, at="/copied")],
    }),
]

# In list order the last comes first; `off` is not there at all.
OUT_OF_ORDER = [
    plugin("last", {
        "tool_pre_invoke": [op("annotate_get", key="q", **{"from": "/args/q"})],
        "tool_post_invoke": [op("annotate_get", key="r", **{"from": "/result"}), op("deny", violation=refusal("LAST"))],
        "prompt_post_fetch": [op("annotate", key="last", value=True)],
        "resource_pre_fetch": [op("annotate_shared", key="first", **{"from": "first"})],
    }),
    {"name": "off", "policy": "deny-list", "hooks": ALL, "config": {"words": ["hello", "[gone]"]}, "mode": "disabled", "priority": 1},
    {"name": "second", "policy": "deny-list", "hooks": [hook for hook in ALL if hook != "resource_post_fetch"],
     "config": {"words": ["[gone]2", "boom"]}, "mode": "sequential", "priority": 20},
    {"name": "first", "policy": "redactor", "hooks": [hook for hook in ALL if hook != "resource_post_fetch"],
     "config": {"words": ["rumour", "boomerang"], "replacement": "[gone]"}, "priority": 5},
]

SETUPS = {"chain": {"plugins": CHAIN}, "out-of-order": {"plugins": OUT_OF_ORDER}}

R = "[redacted]"

VECTORS = [
    vector("chain-passes-and-marks", "chain", tool({"q": "hi"}, modify({"/args": {"q": "hi", "marked": "by admin"}}, q="hi"))),
    vector("chain-later-plugin-sees-the-redaction", "chain", tool(
        '{"q":"the admin","n":1.10}', modify({"/args/q": f"the {R}", "/args/marked": "by admin"}, q=f"the {R}"))),
    vector("chain-denial-stops-the-chain", "chain", tool({"q": "sudo admin"}, word("sudo", "/args/q"))),
    vector("chain-earlier-plugin-does-not-see-later-edits", "chain", tool(
        {"q": "admin"}, modify({"/args/q": R}, q=R)), tool({"q": R}, word(R, "/args/q"))),
    vector("chain-denied-in-the-subject", "chain", tool({"q": "x"}, word("secret", "/name"), name="secret admin")),
    vector("chain-redacted-beside-the-subject", "chain", tool(
        {"q": "token"}, modify({"/name": "admin", "/args/q": R}, q=R), name="admin")),
    vector("chain-result-redacted", "chain", result(Text('{"a":"admin","n":[1.10,1e400]}'), modify({"/result/a": R}, seen=True))),
    vector("chain-result-denied", "chain", result({"a": "admin", "b": ["secret"]}, word("secret", "/result/b/0"))),
    vector("chain-result-clean", "chain", result([1, None], allow(seen=True))),
    vector("chain-prompt-redacted-then-denied", "chain",
           prompt({"who": "admin"}, modify({"/args/who": R}, who=R), "a"),
           prompt({"who": "admin"}, deny("AGAIN", "marker", who=R), "a"),
           prompt({"who": "ada"}, allow(who="ada"), "b")),
    vector("chain-prompt-state-is-not-written-after-an-earlier-denial", "chain",
           prompt({"who": "x"}, allow(who="x"), "a"), prompt({"who": "sudo"}, word("sudo", "/args/who"), "a"),
           prompt({"who": "x"}, deny("AGAIN", "marker", who="x"), "a")),
    vector("chain-prompt-denied", "chain", prompt({"who": "my credit card"}, word("credit card", "/args/who"))),
    vector("chain-messages-redacted", "chain", rendered(
        ["token one", "two"], modify({"/result/messages/0/content/text": f"{R} one"}, text=f"{R} one"))),
    vector("chain-messages-denied", "chain", rendered(["admin", "secret"], word("secret", "/result/messages/1/content/text"))),
    vector("chain-resource-redacted", "chain", resource("file:///admin", modify({"/metadata/o": R}, o=R), metadata={"o": "admin"})),
    vector("chain-resource-denied", "chain", resource("file:///secret", word("secret", "/uri"), metadata={"o": "admin"})),
    vector("chain-resource-without-metadata", "chain", resource("file:///admin", allow(o=None))),
    vector("chain-content-edited-twice", "chain", fetched(
        "an admin", modify({"/content/text": f"an {R}", "/content/mime_type": "text/markdown"}, text=f"an {R}"))),
    vector("chain-content-denied", "chain", fetched("a secret", word("secret", "/content/text"))),
    vector("chain-ledger-redacted-and-copied", "chain", ledger(
        '{"memo":"token","name":"admin","n":-0.0}',
        modify({"/memo": R, "/name": R, "/copied": R}, all={"memo": R, "name": R, "n": -0.0}))),
    vector("chain-ledger-denied", "chain", ledger({"memo": "token", "list": [["sudo"]]}, word("sudo", "/list/0/0"))),

    vector("order-by-priority-not-by-list", "out-of-order", tool({"q": "a rumour"}, modify({"/args/q": "a [gone]"}, q="a [gone]"))),
    vector("order-edit-then-denial", "out-of-order", tool({"q": "a rumour2"}, word("[gone]2", "/args/q"))),
    vector("order-edit-hides-a-word", "out-of-order", tool({"q": "boomerang"}, modify({"/args/q": "[gone]"}, q="[gone]"))),
    vector("order-disabled-plugin-is-not-there", "out-of-order", tool({"q": "hello"}, allow(q="hello"))),
    vector("order-edit-then-denial-by-the-last", "out-of-order", result("rumour", deny("LAST", "last", r="[gone]"))),
    vector("order-denial-before-the-last", "out-of-order", result("boom rumour", {**word("boom", "/result"), "plugin": "second"})),
    vector("order-messages", "out-of-order", rendered(
        ["rumour", "[gone]"], modify({"/result/messages/0/content/text": "[gone]"}, last=True))),
    vector("order-messages-denied-after-an-edit", "out-of-order", rendered(
        ["rumour2"], word("[gone]2", "/result/messages/0/content/text"))),
    vector("order-resource-metadata", "out-of-order", resource("u", modify({"/metadata/a": "[gone]"}, first=None), metadata={"a": "rumour"})),
    vector("order-prompt", "out-of-order", prompt({"a": "hello boom"}, word("boom", "/args/a"))),
    vector("order-only-a-disabled-plugin-listens", "out-of-order", fetched("hello", allow())),
    vector("order-ledger", "out-of-order", ledger({"rumour": ["rumour", 1]}, modify({"/rumour": ["[gone]", 1]}))),
]
