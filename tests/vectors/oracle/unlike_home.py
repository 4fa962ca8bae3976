"""Where the framework does otherwise than the contract on purpose, and why.

A rule names steps, the parts of an outcome that differ in them, and the reason. A rule under which no step
differs is an error too: it would hide a difference that comes one day.
"""

import re

EVERYTHING = {"decision", "violation", "payload", "metadata"}
# (vectors, which of their steps, parts, why)
RULES = [
    (r"shared-over-two-hooks", 2, {"metadata"},
     "shared state is only ever added to at home: a forgotten key stays"),
    (r"shared-over-two-hooks", 3, {"metadata"}, "the same"),
    (r"fault-ignore-drops-state", 2, {"metadata"},
     "a plugin that raised keeps the state it wrote before at home; here a fault leaves nothing"),
    (r"(sequential|transform|audit|concurrent)-ignore-alone-(raises|edits-nowhere)", 2, {"metadata"}, "the same"),
    (r"transform-\w+-(alone|preceded)-(edits-and-denies|denies-without-violation)", 1, {"payload"},
     "home applies the payload of a denying transform plugin; here the edits of a denial never count"),
    (r"transform-\w+-followed-(edits-and-denies|denies-without-violation)", 1, {"payload", "metadata"},
     "the same, and the plugins behind it see that payload"),
    (r"phases-edits-of-a-denial-are-nobodys", 1, {"payload", "metadata"}, "the same"),
    (r"audit-\w+-writes-its-state", 2, {"metadata"},
     "an audit plugin keeps its own state from hook to hook at home; here it leaves metadata only"),
    (r"audit-\w+-leaves-all-and-denies", 2, {"metadata"}, "the same"),
    (r"concurrent-\w+-followed-(denies|edits-and-denies|denies-without-violation)", 1, {"metadata"},
     "metadata of plugins that were done before the denial stays at home, by chance of time; here that of the denying one alone"),
    (r"phases-at-once-a-denial-drops-what-others-leave", 1, {"metadata"}, "the same"),
    (r"phases-at-once-a-denial-drops-what-others-leave", 2, {"metadata"}, "the same for their state"),
    (r"phases-at-once-merges-in-config-order", 1, {"metadata"},
     "home merges whoever is done first; here the order of the configuration decides, whatever the timing"),
    (r"phases-at-once-writes-one-key-of-the-state", 2, {"metadata"}, "the same"),
    (r"(sequential|transform|audit|concurrent)-fail-\w+-edits-against-the-shape", 1, EVERYTHING,
     "home takes whatever payload a plugin returns; here one that breaks the hook's shape is a fault"),
    (r"(sequential|transform)-(ignore|disable)-\w+-edits-against-the-shape", 1, {"payload", "metadata"}, "the same"),
    (r"(audit|concurrent)-(ignore|disable)-\w+-edits-against-the-shape", 1, {"metadata"},
     "the same: home drops that payload, and keeps the rest of the answer"),
    (r"(sequential|transform|audit|concurrent)-disable-alone-edits-against-the-shape", 2, {"metadata"},
     "the same: without a fault home has nothing to disable the plugin for"),
]


def rules(vector, step):
    """The rules that say something of a step."""
    return [rule for rule in RULES if rule[1] == step and re.fullmatch(rule[0], vector)]
