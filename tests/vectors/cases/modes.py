"""Every cell of the mode table: what a plugin does, in every mode, under every `on_error`, at three places.

A setup for each mode holds the plugin under test once for every `on_error`. What it does stands in the payload;
which plugins are asked besides is chosen by the tool's name, `<place>/<on_error>`:

- `alone`;
- `followed`: by `beside`, of the same mode, and by `later`, of the next one, which mark the `/args/q` they see;
- `preceded`: by `before`, which edits `/args/q` and marks the shared state it finds.

TABLE says by hand what comes of each cell; the oracle works it out from the rules.
"""

from cases.script import op, plugin, refusal
from cases.steps import tool, vector

MODES = ["sequential", "transform", "audit", "concurrent", "fire_and_forget"]
ON_ERRORS = ["fail", "ignore", "disable"]
PLACES = ["alone", "followed", "preceded"]
LATER = {"sequential": "transform", "transform": "audit", "audit": "concurrent", "concurrent": "fire_and_forget"}

# Long enough that a slow machine is in the plugin by then: the outcome says so.
HANGS_FOR_MS = 2_000

SEES = op("annotate_get", key="subject", **{"from": "/args/q"})
EDIT = op("set", at="/args/q", value="edited")
ASK = op("ask", approval={"reason": "is this right?", "risk": "high", "details": {"rule": 7}})
DENY = op("deny", violation=refusal("NO", details={"rule": 7}))
NOWHERE = {"at": "/args/none/there", "value": 1}
LEAVES = [
    op("header", name="X-Subject", value="1"), op("retry", ms=40),
    op("state", key="s", value=1), op("shared", key="sh", value=1),
    op("extend", slot="custom", at="/k", value=[1, None]),
]
READS = op("annotate_state", key="state", **{"from": "s"})

DOES = {
    "allows": [SEES],
    "edits": [SEES, EDIT],
    "asks": [SEES, ASK],
    "edits-and-asks": [SEES, EDIT, ASK],
    "denies": [SEES, DENY],
    "edits-and-denies": [SEES, EDIT, DENY],
    "denies-without-violation": [SEES, EDIT, op("deny_without_violation")],
    "allows-with-violation": [SEES, EDIT, op("allow_with_violation", violation=refusal("HM"))],
    "is-refused-an-edit-and-denies": [SEES, op("set_anyway", **NOWHERE), DENY],
    "raises": [SEES, *LEAVES, EDIT, op("fail", message="broken on purpose")],
    "edits-nowhere": [SEES, *LEAVES, EDIT, op("set", **NOWHERE)],
    "edits-against-the-shape": [SEES, op("set", at="/name", value=5)],
    "is-refused-an-edit-and-allows": [SEES, op("set_anyway", **NOWHERE)],
    "is-refused-an-edit-and-asks": [SEES, op("set_anyway", **NOWHERE), ASK],
}
SUPPRESSED_DENIAL = ("deny", "suppressed deny", "suppressed deny", "deny", "")
TABLE = {
    #                          sequential             transform             audit             concurrent    fire_and_forget
    "allows":                 ("allow",               "allow",              "allow",          "allow",      ""),
    "edits":                  ("allow edited",        "allow edited",       "allow",          "allow",      ""),
    "asks":                   ("ask",                 "suppressed ask",     "suppressed ask", "ask",        ""),
    "edits-and-asks":         ("ask edited",          "suppressed ask edited", "suppressed ask", "ask",     ""),
    "denies":                        SUPPRESSED_DENIAL,
    "edits-and-denies":              SUPPRESSED_DENIAL,
    "denies-without-violation":      SUPPRESSED_DENIAL,
    "is-refused-an-edit-and-denies": SUPPRESSED_DENIAL,
    "allows-with-violation":  ("suppressed allow edited", "suppressed allow edited", "suppressed allow", "suppressed allow", ""),
}
# A fault is no verdict: on_error alone says what comes of it, in every mode but fire_and_forget.
FAULTS = {
    "raises": "plugin_error",
    "edits-nowhere": "plugin_error",
    "edits-against-the-shape": "plugin_error",
    "is-refused-an-edit-and-allows": "protocol",
    "is-refused-an-edit-and-asks": "protocol",
}
FAULT = {"fail": "deny fault", "ignore": "fault", "disable": "fault"}
# What of an answer's effects the caller, or the next hook of the request, gets to see.
KEPT = {
    #                   sequential transform audit  concurrent fire_and_forget
    "metadata":        (True,      True,     True,  True,      False),
    "headers":         (True,      True,     False, True,      False),
    "retry":           (True,      True,     False, True,      False),
    "result":          (True,      True,     False, True,      False),
    "extensions":      (True,      True,     False, True,      False),
    "state":           (True,      True,     False, True,      False),
    "shared":          (True,      True,     False, True,      False),
}


def cell(table, row, mode):
    return table[row][MODES.index(mode)]


def setup(mode):
    """The plugins of one mode's table, listed in another order than they run in."""
    do = {"tool_pre_invoke": [op("do", **{"from": "/args/do"})]}
    sees = {key: {"tool_pre_invoke": [op("annotate_get", key=key, **{"from": "/args/q"})]} for key in ("later", "beside")}
    before = {"tool_pre_invoke": [op("annotate_shared", key="shared", **{"from": "sh"}), op("set", at="/args/q", value="before")]}
    hang = {"tool_pre_invoke": [op("hang")]}
    plugins = []
    if mode in LATER:
        plugins.append(plugin("later", sees["later"], mode=LATER[mode], priority=1, **at("followed")))
    plugins.append(plugin("beside", sees["beside"], mode=mode, priority=110, **at("followed")))
    for on_error in ON_ERRORS:
        # Written under fire_and_forget, `on_error: fail` is refused; it is the default.
        said = {} if (mode, on_error) == ("fire_and_forget", "fail") else {"on_error": on_error}
        plugins.append(plugin(f"subject-{on_error}", do, mode=mode, **said, **at(*PLACES, on_errors=[on_error])))
        plugins.append(plugin(
            f"hanging-{on_error}", hang, mode=mode, **said, timeout_ms=HANGS_FOR_MS, **at("hanging", on_errors=[on_error])))
    plugins.append(plugin("before", before, mode="sequential", priority=10, **at("preceded")))
    return {"plugins": plugins}


def at(*places, on_errors=ON_ERRORS):
    """The condition under which a plugin is asked."""
    return {"conditions": [{"tools": [f"{place}/{on_error}" for place in places for on_error in on_errors]}]}


def asked(place, on_error, ops, claim, request=None):
    """A call that makes the plugin under test run these ops."""
    return tool({"q": "given", "do": ops}, claim, request, name=f"{place}/{on_error}")


def claim(mode, on_error, does, place):
    """What comes of a cell, spelled out."""
    said = FAULT[on_error] if does in FAULTS else cell(TABLE, does, mode)
    words = said.split() if mode != "fire_and_forget" else []
    denied, edited, fault = "deny" in words[:1], "edited" in words, "fault" in words
    q = "before" if place == "preceded" else "given"
    after = "edited" if edited else q
    metadata = {"shared": None} if place == "preceded" else {}
    if cell(KEPT, "metadata", mode) and not fault:
        metadata["subject"] = q
    if place == "followed" and not denied:
        if mode != "fire_and_forget":
            metadata["beside"] = after
        if mode in LATER and LATER[mode] != "fire_and_forget":
            metadata["later"] = after
    made = {
        "decision": "deny" if denied else "ask" if "ask" in words[:1] else "allow",
        "modified": after != "given" and not denied,
        "metadata": metadata,
    }
    subject = f"subject-{on_error}"
    if denied:
        code = "plugin_fault" if fault else "denied" if does == "denies-without-violation" else "NO"
        made |= {"plugin": subject, "code": code}
    else:
        made["at"] = {"/args/q": after}
    if made["decision"] == "ask":
        made["approvals"] = [subject]
    if "suppressed" in words:
        made["suppressed"] = [[subject, mode, words[1]]]
    if fault:
        made["faults"] = [[subject, FAULTS[does], on_error]]
    return made


def verdict_cells(mode, on_error):
    for does in TABLE:
        for place in PLACES:
            yield vector(f"{mode}-{on_error}-{place}-{does}", f"mode-{mode}", asked(place, on_error, DOES[does], claim(mode, on_error, does, place)))


def fault_cells(mode, on_error):
    """Behind each fault alone a second call of the request: nothing is left of the first, and `disable` has taken the plugin out."""
    for does in FAULTS:
        for place in PLACES:
            steps = [asked(place, on_error, DOES[does], claim(mode, on_error, does, place), "a")]
            if place == "alone":
                silent = mode == "fire_and_forget" or on_error == "disable"
                steps.append(asked(place, on_error, [READS], unchanged({} if silent else {"state": None}), "a"))
            yield vector(f"{mode}-{on_error}-{place}-{does}", f"mode-{mode}", *steps)


def hanging_cell(mode, on_error):
    fault = mode != "fire_and_forget"
    plugin_named = f"hanging-{on_error}"
    made = unchanged({})
    if fault:
        made["faults"] = [[plugin_named, "timeout", on_error]]
    if fault and on_error == "fail":
        made |= {"decision": "deny", "plugin": plugin_named, "code": "plugin_fault"}
    steps = [asked("hanging", on_error, [], made)]
    if fault and on_error == "disable":
        steps.append(asked("hanging", on_error, [], unchanged({})))
    return vector(f"{mode}-{on_error}-never-answers", f"mode-{mode}", *steps)


def effect_cells(mode, on_error):
    """One kind of effect each, and all of them beside a denial."""
    kept = {effect: cell(KEPT, effect, mode) for effect in KEPT}
    shown = {
        "headers": {"X-Subject": "1"} if kept["headers"] else {},
        "retry": 40 if kept["retry"] else None,
        "result": {"n": [1, None]} if kept["result"] else None,
        "extensions": {"custom": {"k": [1, None]}} if kept["extensions"] else {},
    }
    nothing = {"headers": {}, "retry": None, "result": None, "extensions": {}}
    state = {"state": 1 if kept["state"] else None} if kept["metadata"] else {}
    shared = {"shared": 1 if kept["shared"] else None, **({"subject": "before"} if kept["metadata"] else {})}

    def one(name, ops, made, *more):
        steps = [asked("alone", on_error, ops, {**unchanged({}), **nothing, **made}, "a"), *more]
        return vector(f"{mode}-{on_error}-{name}", f"mode-{mode}", *steps)

    def read_state():
        return asked("alone", on_error, [READS], unchanged(state), "a")

    def read_shared():
        return asked("preceded", on_error, [SEES], {**unchanged(shared), "modified": True}, "a")

    header, retry, write, share, extend = LEAVES
    yield one("sets-a-header", [header], {"headers": shown["headers"]})
    yield one("sets-a-delay", [retry], {"retry": shown["retry"]})
    yield one("sets-a-result", [op("result", value={"n": [1, None]})], {"result": shown["result"]})
    yield one("extends-a-slot", [extend], {"extensions": shown["extensions"]})
    yield one("writes-its-state", [write], {}, read_state())
    yield one("writes-shared-state", [share], {}, read_shared())
    denied = claim(mode, on_error, "denies", "alone")
    with_all = {**denied, **{effect: shown[effect] for effect in ("headers", "retry", "extensions")}}
    yield one("leaves-all-and-denies", [SEES, *LEAVES, DENY], with_all, read_state(), read_shared())


def unchanged(metadata):
    """Allowed as it came, with exactly this metadata."""
    return {"decision": "allow", "modified": False, "metadata": metadata}


def vectors(mode):
    """The whole table of one mode."""
    for on_error in ON_ERRORS:
        yield from verdict_cells(mode, on_error)
        yield from fault_cells(mode, on_error)
        yield from effect_cells(mode, on_error)
        yield hanging_cell(mode, on_error)


class Table:
    """The setups and vectors of one mode, as a module of cases has them."""

    def __init__(self, mode):
        self.SETUPS = {f"mode-{mode}": setup(mode)}
        self.VECTORS = list(vectors(mode))
