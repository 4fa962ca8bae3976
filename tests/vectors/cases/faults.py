"""Faults: what each `on_error` makes of a plugin that does not answer, alone and in a chain."""

from cases.script import op, plugin, refusal
from cases.steps import LEDGER, Text, allow, deny, fault, fetched, ledger, modify, prompt, rendered, resource, result, tool, vector

BREAK = op("fail", message="broken on purpose: \u00fc \U0001f600")
WRITE = [
    op("state", key="s", value="lost"), op("shared", key="sh", value="lost"), op("annotate", key="broken", value="lost"),
    op("header", name="X-Broken", value="lost"), op("retry", ms=9000),
]


def reads(key):
    """Marks that show what a faulted plugin left behind."""
    return [op("annotate_state", key=f"{key}_state", **{"from": "s"}), op("annotate_shared", key=f"{key}_shared", **{"from": "sh"})]


SETUPS = {
    # `broken` says nothing about on_error: the default is fail.
    "fault-fail": {"plugins": [
        plugin("before", {
            "tool_pre_invoke": [op("annotate", key="before", value=True), op("set", at="/args/q", value="edited"),
                                op("shared", key="kept", value="yes"), op("header", name="X-Before", value="1"), op("retry", ms=10)],
            "prompt_pre_fetch": [op("annotate_shared", key="kept", **{"from": "kept"}), *reads("before")],
        }),
        plugin("broken", {
            "tool_pre_invoke": [*WRITE, op("set", at="/args/x", value=1), BREAK, op("annotate", key="late", value=True)],
            "tool_post_invoke": [BREAK],
            "prompt_pre_fetch": reads("broken"),
            "prompt_post_fetch": [op("append", at="/result/messages", value={"role": "user", "content": {"type": "text", "text": "x"}}), BREAK],
            "resource_post_fetch": [op("deny_if_state", key="never", equals=1, violation=refusal("NEVER")), BREAK],
            LEDGER: [*WRITE, BREAK],
        }),
        plugin("after", {
            "tool_pre_invoke": [op("annotate", key="after", value=True)],
            "prompt_post_fetch": [op("annotate", key="after", value=True)],
        }),
    ]},
    "fault-ignore": {"plugins": [
        plugin("flaky", {
            "tool_pre_invoke": [*WRITE, op("set", at="/args/q", value="lost"), BREAK],
            "tool_post_invoke": [op("append", at="/result", value="lost"), BREAK],
            "prompt_pre_fetch": [op("annotate", key="flaky", value="fine"), *reads("flaky")],
            "resource_pre_fetch": [op("annotate", key="flaky", value="lost"), BREAK],
            "resource_post_fetch": [*WRITE, BREAK],
            LEDGER: [*WRITE, BREAK],
        }, on_error="ignore"),
        plugin("strict", {
            "tool_pre_invoke": [op("annotate_get", key="q", **{"from": "/args/q"}), op("set", at="/args/strict", value=True), *reads("strict")],
            "resource_pre_fetch": [BREAK],
            "resource_post_fetch": [op("annotate", key="strict", value="denied"), op("deny", violation=refusal("STRICT"))],
        }, on_error="fail"),
    ]},
    "fault-disable": {"plugins": [
        plugin("fragile", {
            "tool_pre_invoke": [op("annotate", key="fragile", value="fine")],
            "prompt_pre_fetch": [op("set", at="/args/q", value="lost"), *WRITE, BREAK],
            LEDGER: [op("annotate", key="fragile", value="fine")],
        }, on_error="disable"),
        plugin("brittle", {
            "resource_post_fetch": [BREAK],
            "prompt_pre_fetch": [op("annotate", key="brittle", value="fine")],
            LEDGER: [op("deny", violation=refusal("BRITTLE"))],
        }, on_error="disable"),
        plugin("steady", {
            "tool_pre_invoke": [op("annotate", key="steady", value=True)],
            "prompt_pre_fetch": [op("annotate_get", key="q", **{"from": "/args/q"}), *reads("steady")],
        }),
    ]},
    "fault-spin": {"plugins": [
        plugin("spinner", {"tool_pre_invoke": [op("annotate", key="spinning", value=True), op("spin")]}, on_error="fail", timeout_ms=3000),
    ]},
}

FAILED = deny("plugin_fault", "broken")
BROKEN = ("broken", "plugin_error", "fail")
FLAKY = ("flaky", "plugin_error", "ignore")
STRICT = ("strict", "plugin_error", "fail")
FRAGILE = ("fragile", "plugin_error", "disable")
BRITTLE = ("brittle", "plugin_error", "disable")

VECTORS = [
    vector("fault-fail-in-the-middle-of-a-chain", "fault-fail", tool({"q": "x"}, fault(BROKEN, then=FAILED, before=True))),
    vector("fault-fail-drops-state-but-not-the-others", "fault-fail",
           tool({"q": "x"}, fault(BROKEN, then=FAILED, before=True), "a"),
           prompt({}, allow(kept="yes", before_state=None, before_shared=None, broken_state=None, broken_shared=None), "a")),
    vector("fault-fail-alone-on-a-result", "fault-fail", result({"n": 1}, fault(BROKEN, then=FAILED))),
    vector("fault-fail-before-a-plugin-that-marks", "fault-fail", rendered(["x"], fault(BROKEN, then=FAILED))),
    vector("fault-fail-alone-on-content", "fault-fail", fetched("x", fault(BROKEN, then=FAILED))),
    vector("fault-fail-alone-on-the-ledger", "fault-fail", ledger('{"a":1.10}', fault(BROKEN, then=FAILED))),
    vector("fault-fail-comes-back", "fault-fail",
           result("x", fault(BROKEN, then=FAILED), "a"), result("x", fault(BROKEN, then=FAILED), "a"),
           prompt({}, allow(kept=None, before_state=None, before_shared=None, broken_state=None, broken_shared=None), "a")),

    vector("fault-ignore-in-a-chain", "fault-ignore", tool(
        '{"q":"given","n":1.10}',
        fault(FLAKY, then=modify({"/args/q": "given", "/args/strict": True}), q="given", strict_state=None, strict_shared=None), "a")),
    vector("fault-ignore-drops-state", "fault-ignore",
           tool({"q": "x"}, fault(FLAKY, then=modify({"/args/q": "x"}), q="x", strict_state=None, strict_shared=None), "a"),
           prompt({}, allow(flaky="fine", flaky_state=None, flaky_shared=None), "a")),
    vector("fault-ignore-alone", "fault-ignore", result(Text("[1.10,-0.0]"), fault(FLAKY, then=allow()))),
    vector("fault-ignore-alone-on-the-ledger", "fault-ignore", ledger('{"a":1e400}', fault(FLAKY, then=allow()))),
    vector("fault-ignore-then-fail", "fault-ignore", resource("u", fault(FLAKY, STRICT, then=deny("plugin_fault", "strict")))),
    vector("fault-ignore-then-a-denial", "fault-ignore", fetched("x", fault(FLAKY, then=deny("STRICT", "strict"), strict="denied"))),
    vector("fault-ignore-every-time", "fault-ignore",
           ledger("{}", fault(FLAKY, then=allow())), ledger("{}", fault(FLAKY, then=allow())), prompt({"a": "x"}, allow(
               flaky="fine", flaky_state=None, flaky_shared=None))),

    # One vector, since what is disabled stays so for the life of the engine.
    vector("fault-disable-skips-the-plugin-from-then-on", "fault-disable",
           tool({}, allow(fragile="fine", steady=True), "a"),
           prompt({"q": "given"}, fault(FRAGILE, then=allow(), brittle="fine", q="given", steady_state=None, steady_shared=None), "a"),
           prompt({"q": "given"}, allow(brittle="fine", q="given", steady_state=None, steady_shared=None), "a"),
           tool({}, allow(steady=True), "b"),
           ledger("{}", deny("BRITTLE", "brittle"), "b"),
           fetched("x", fault(BRITTLE, then=allow()), "b"),
           fetched("x", allow(), "c"),
           ledger('{"a":1.10}', allow(), "c"),
           prompt({"q": "given"}, allow(q="given", steady_state=None, steady_shared=None))),

    vector("fault-timeout-of-a-plugin-that-never-returns", "fault-spin", tool(
        {"q": "x"}, fault(("spinner", "timeout", "fail"), then=deny("plugin_fault", "spinner")))),
]
