"""Plugins that read and write the context."""

import threading

from cpex.framework import Plugin, PluginResult


class States(Plugin):
    """Does to the context what the tool's arguments say, and reports what was there."""

    async def tool_pre_invoke(self, payload, context):
        """`steps` is a list of [dictionary, action, key, value]."""
        shared = context.global_context
        dictionaries = {
            "state": context.state,
            "metadata": context.metadata,
            "shared": shared.state,
            "request": shared.metadata,
        }
        seen = {name: {str(key): repr(value) for key, value in held.items()} for name, held in dictionaries.items()}
        for where, action, key, value in payload.args["steps"]:
            held = dictionaries[where]
            if action == "set":
                held[key] = value
            elif action == "append":
                held[key].append(value)
            elif action == "remove":
                del held[key]
            elif action == "replace":
                context.state = value
            else:
                held[key] = SPECIAL[action]()
        if payload.args.get("raise"):
            raise ValueError("after the changes")
        return PluginResult(metadata={"seen": seen})


class Marked(set):
    """A set whose repr tells whether it is the same object."""

    def __repr__(self):
        return f"marked with {len(self)}"


SPECIAL = {
    "lock": threading.Lock,
    "marked": lambda: Marked({1, 2}),
    "tuple": lambda: (1, 2),
    "nan": lambda: float("nan"),
    "surrogate": lambda: "\udc00",
}
