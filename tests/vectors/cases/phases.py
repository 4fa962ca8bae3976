"""Phases together: who runs when, what a later phase sees of an earlier one, and what is left beside a denial.

One setup with plugins of every mode, listed in another order than they run in. What each does stands in the
payload under `/args/<name>`; whoever is not named there allows.
"""

from cases.modes import ASK, DENY, READS
from cases.script import op, plugin, refusal
from cases.steps import INVALID, LEDGER, Text, ledger, tool, vector

PLACES = {
    # name: mode, priority, on_error; in the order of the configuration
    "watch": ("fire_and_forget", 1, "ignore"),
    "gate-one": ("concurrent", 90, "fail"),
    "extra-one": ("concurrent", 80, "ignore"),
    "gate-two": ("concurrent", 10, "fail"),
    "extra-two": ("concurrent", 20, "disable"),
    "look": ("audit", 1, "fail"),
    "shape": ("transform", 1, "fail"),
    "second": ("sequential", 20, "fail"),
    "first": ("sequential", 10, "fail"),
}


def listed(name, mode, priority, on_error):
    hooks = {"tool_pre_invoke": [op("do", **{"from": f"/args/{name}"})]}
    if name == "watch":
        hooks[LEDGER] = [op("annotate", key="watch", value=1), op("deny", violation=refusal("NEVER"))]
    return plugin(name, hooks, mode=mode, priority=priority, on_error=on_error)


SETUPS = {"phases": {"plugins": [listed(name, *place) for name, place in PLACES.items()]}}

FAIL = op("fail", message="broken on purpose")
HANG = op("hang")


def sees(name):
    return op("annotate_get", key=name, **{"from": "/args/q"})


def sets(value):
    return op("set", at="/args/q", value=value)


def call(does, claim, request=None):
    """Each named plugin does what is said of it; all share the argument `q`."""
    return tool({"q": "given", **does}, claim, request)


def end(decision="allow", q=None, **more):
    """A claim; `q` as it is in the end, where it is another than it was."""
    at = {} if decision == "deny" else {"at": {"/args/q": q or "given"}}
    return {"decision": decision, "modified": q is not None, "metadata": {}, **at, **more}


def denied(by, code="NO", **more):
    return end("deny", plugin=by, code=code, **more)


def fault(by, on_error="fail"):
    return [[by, "plugin_error", on_error]]


EVERYBODY_SEES = {name: [sees(name)] for name in PLACES}
NAMED = {name: "given" for name in PLACES if name != "watch"}


def one(name, does, claim, *more):
    return vector(f"phases-{name}", "phases", call(does, claim, "a"), *more)


VECTORS = [
    one("run-in-the-order-of-modes", {
        "first": [sees("first"), sets("1"), op("annotate", key="last", value="first")],
        "second": [sees("second"), sets("2"), op("annotate", key="last", value="second")],
        "shape": [sees("shape"), sets("3"), op("annotate", key="last", value="shape")],
        "look": [sees("look"), sets("x"), op("annotate", key="last", value="look")],
        "gate-one": [sees("gate-one"), sets("y"), op("annotate", key="last", value="gate-one")],
        "gate-two": [sees("gate-two"), sets("z")],
        "watch": [sees("watch"), sets("w"), op("annotate", key="last", value="watch")],
    }, end(q="3", metadata={
        "first": "given", "second": "1", "shape": "2", "look": "3", "gate-one": "3", "gate-two": "3", "last": "gate-one"})),
    one("all-see-what-nobody-changed", EVERYBODY_SEES, end(metadata=NAMED)),

    one("ask-then-deny", {"first": [ASK], "second": [DENY]}, denied("second")),
    one("ask-then-deny-in-another-phase", {"first": [ASK], "gate-one": [DENY]}, denied("gate-one")),
    one("ask-then-a-denial-that-does-not-count", {"first": [ASK], "shape": [DENY]}, end(
        "ask", approvals=["first"], suppressed=[["shape", "transform", "deny"]])),
    one("ask-then-a-fault", {"first": [ASK], "look": [FAIL]}, denied("look", "plugin_fault", faults=fault("look"))),
    one("ask-then-a-fault-that-is-ignored", {"first": [ASK], "extra-one": [FAIL]}, end(
        "ask", approvals=["first"], faults=fault("extra-one", "ignore"))),
    one("ask-lets-the-rest-go-on", {**EVERYBODY_SEES, "first": [sees("first"), ASK]}, end("ask", approvals=["first"], metadata=NAMED)),
    one("ask-is-bound-to-later-edits", {"first": [ASK], "second": [sets("2")], "shape": [sets("3")]}, end("ask", "3", approvals=["first"])),
    one("ask-with-edits-then-more-edits", {"first": [sets("1"), ASK], "shape": [sees("shape"), sets("3")]}, end(
        "ask", "3", approvals=["first"], metadata={"shape": "1"})),
    one("ask-with-edits-then-deny", {"first": [sets("1"), ASK], "second": [sees("second"), DENY]}, denied("second", metadata={"second": "1"})),
    one("asks-of-two-phases", {"second": [ASK], "shape": [sets("3")], "gate-one": [ASK], "gate-two": [ASK]}, end(
        "ask", "3", approvals=["second", "gate-one", "gate-two"])),
    one("asks-that-count-and-that-do-not", {"first": [ASK], "shape": [ASK], "look": [ASK]}, end(
        "ask", approvals=["first"], suppressed=[["shape", "transform", "ask"], ["look", "audit", "ask"]])),

    one("edits-then-a-denial", {"first": [sets("1")], "second": [sees("second"), DENY]}, denied("second", metadata={"second": "1"})),
    one("edits-then-a-denial-in-another-phase", {"shape": [sets("3")], "gate-two": [sees("gate-two"), DENY]}, denied(
        "gate-two", metadata={"gate-two": "3"})),
    one("edits-of-a-denial-are-nobodys", {"shape": [sets("3"), DENY], "look": [sees("look")]}, end(
        metadata={"look": "given"}, suppressed=[["shape", "transform", "deny"]])),
    one("edits-undone-in-another-phase", {"first": [sets("1")], "shape": [sets("given")]}, end()),
    one("denial-stops-its-own-phase", {**EVERYBODY_SEES, "first": [sees("first"), DENY]}, denied("first", metadata={"first": "given"})),
    one("denials-that-do-not-count", {"shape": [DENY], "look": [DENY], "gate-one": [sees("gate-one")]}, end(
        metadata={"gate-one": "given"}, suppressed=[["shape", "transform", "deny"], ["look", "audit", "deny"]])),
    one("denials-that-do-not-count-before-one-that-does", {"shape": [DENY], "look": [DENY], "gate-one": [DENY]}, denied(
        "gate-one", suppressed=[["shape", "transform", "deny"], ["look", "audit", "deny"]])),

    one("fault-in-transform-stops-the-rest", {**EVERYBODY_SEES, "shape": [sees("shape"), sets("3"), FAIL]}, denied(
        "shape", "plugin_fault", metadata={"first": "given", "second": "given"}, faults=fault("shape"))),
    one("fault-in-audit-stops-the-rest", {**EVERYBODY_SEES, "look": [FAIL]}, denied(
        "look", "plugin_fault", metadata={"first": "given", "second": "given", "shape": "given"}, faults=fault("look"))),

    one("at-once-merges-in-config-order", {
        "gate-one": [op("annotate", key="k", value="one"), op("header", name="X-K", value="one"), op("retry", ms=9)],
        "gate-two": [op("annotate", key="k", value="two"), op("header", name="x-k", value="two"), op("retry", ms=5)],
    }, end(metadata={"k": "two"}, headers={"x-k": "two"}, retry=9)),
    one("at-once-writes-one-slot", {
        "gate-one": [op("extend", slot="custom", at="/k", value="one"), op("extend", slot="custom", at="/one", value=1)],
        "gate-two": [op("extend", slot="custom", at="/k", value="two"), op("extend", slot="custom", at="/two", value=2)],
    }, end(extensions={"custom": {"k": "two", "one": 1, "two": 2}})),
    one("at-once-on-one-snapshot-of-the-state", {
        "gate-one": [op("shared", key="k", value=1), op("annotate_shared", key="one", **{"from": "k"})],
        "gate-two": [op("annotate_shared", key="two", **{"from": "k"})],
    }, end(metadata={"one": 1, "two": None}), call(
        {"gate-two": [op("annotate_shared", key="two", **{"from": "k"})]}, end(metadata={"two": 1}), "a")),
    one("at-once-writes-one-key-of-the-state", {
        "gate-one": [op("shared", key="k", value=1), op("state", key="s", value="one")],
        "gate-two": [op("shared", key="k", value=2), op("state", key="s", value="two")],
    }, end(), call({
        "first": [op("annotate_shared", key="shared", **{"from": "k"}), READS],
        "gate-one": [op("annotate_state", key="one", **{"from": "s"})],
        "gate-two": [op("annotate_state", key="two", **{"from": "s"})],
    }, end(metadata={"shared": 2, "state": None, "one": "one", "two": "two"}), "a")),
    one("at-once-faults-in-config-order", {"extra-one": [FAIL], "gate-one": [sees("gate-one")], "extra-two": [FAIL]}, end(
        metadata={"gate-one": "given"}, faults=fault("extra-one", "ignore") + fault("extra-two", "disable"))),
    one("at-once-a-denial-drops-what-others-leave", {
        "gate-one": [sees("gate-one"), op("header", name="X-One", value="1"), op("retry", ms=9), op("state", key="s", value=1),
                     op("shared", key="k", value=1), op("extend", slot="custom", at="/one", value=1)],
        "gate-two": [sees("gate-two"), op("header", name="X-Two", value="2"), op("state", key="s", value=2), DENY],
        "first": [sees("first")],
    }, denied("gate-two", metadata={"first": "given", "gate-two": "given"}, headers={"X-Two": "2"}, retry=None, extensions={}), call({
        "first": [op("annotate_shared", key="shared", **{"from": "k"})],
        "gate-one": [op("annotate_state", key="one", **{"from": "s"})],
        "gate-two": [op("annotate_state", key="two", **{"from": "s"})],
    }, end(metadata={"shared": None, "one": None, "two": 2}), "a")),
    one("at-once-a-denial-drops-what-others-ask", {"gate-one": [ASK], "gate-two": [DENY]}, denied("gate-two")),
    one("at-once-a-denial-drops-what-others-ask-the-other-way-round", {"gate-one": [DENY], "gate-two": [ASK]}, denied("gate-one")),
    one("at-once-a-denial-cancels-who-never-answers", {"gate-one": [sees("gate-one"), HANG], "gate-two": [DENY]}, denied("gate-two")),
    one("at-once-a-denial-cancels-who-never-answers-the-other-way-round", {"gate-one": [DENY], "gate-two": [HANG], "extra-one": [HANG]},
        denied("gate-one")),
    one("at-once-a-fault-is-a-denial", {"gate-one": [FAIL], "gate-two": [sees("gate-two")], "extra-one": [ASK]}, denied(
        "gate-one", "plugin_fault", faults=fault("gate-one"))),
    one("at-once-a-fault-cancels-who-never-answers", {"gate-two": [FAIL], "gate-one": [HANG]}, denied(
        "gate-two", "plugin_fault", faults=fault("gate-two"))),
    one("at-once-edits-are-nobodys", {"gate-one": [sets("1")], "gate-two": [op("remove", at="/args/q")]}, end()),

    one("background-leaves-no-trace", {"first": [sees("first")], "watch": [sees("watch"), sets("w"), op("header", name="X-W", value="w"), DENY]},
        end(metadata={"first": "given"}, headers={})),
    one("background-leaves-no-trace-on-a-denial", {"first": [DENY], "watch": [sees("watch"), DENY]}, denied("first")),
    one("background-faults-leave-no-trace", {"watch": [FAIL]}, end()),
    one("background-state-is-not-kept", {"watch": [op("shared", key="w", value=1)]}, end(), call(
        {"first": [op("annotate_shared", key="w", **{"from": "w"})]}, end(metadata={"w": None}), "a")),
    vector("phases-only-the-background-listens", "phases",
           ledger('{"memo":1.10}', {"decision": "allow", "modified": False, "metadata": {}}), ledger(Text("[]"), INVALID)),
]
