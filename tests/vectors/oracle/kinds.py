"""Which kinds of plugin can do what a vector takes."""

import json

KINDS = ["rust", "compiled-python", "legacy", "in-process"]
COMPONENTS = {"rust", "compiled-python"}
# Ops of `script` that a kind has no words for.
CANNOT = {
    # A legacy result has no third verdict, and a result of its own only in hooks whose answer is not their payload.
    "ask": {"legacy"},
    "result": {"legacy"},
    # An edit of a legacy class is a whole payload: there is nothing it could be refused and go on.
    "set_anyway": {"legacy"},
    # The verdicts of a component hold a violation exactly when they deny.
    "deny_without_violation": COMPONENTS,
    "allow_with_violation": COMPONENTS,
    # Nobody gets back a thread that is in an endless loop of this process.
    "spin": {"in-process"},
}


def of(setup, vector):
    """The kinds, in their order."""
    hooks = {step["hook"] for step in vector["steps"]}
    ops = {op for plugin in setup["plugins"] for hook in hooks for op in named(plugin["config"].get("hooks", {}).get(hook))}
    for step in vector["steps"]:
        if '"op"' in step["payload"]:
            ops.update(named(json.loads(step["payload"])))
    cannot = {kind for op in ops for kind in CANNOT.get(op, ())}
    return [kind for kind in KINDS if kind not in cannot]


def named(value):
    """Every op in a value."""
    if isinstance(value, list):
        for item in value:
            yield from named(item)
    elif isinstance(value, dict):
        if "op" in value:
            yield value["op"]
        for item in value.values():
            yield from named(item)
