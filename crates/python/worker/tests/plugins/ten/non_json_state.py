"""Private state that no JSON holds: a clock's object, a set and a compiled pattern, from one hook to the next."""

import re
import time

from cpex.framework import Plugin, PluginResult


class Timer:
    """Measures from its making."""

    def __init__(self):
        self._begun = time.monotonic()

    def passed(self):
        """Seconds."""
        return time.monotonic() - self._begun


class NonJsonState(Plugin):
    """Times calls and looks for what their arguments named in the result."""

    async def tool_pre_invoke(self, payload, context):
        """Begins."""
        context.state["timer"] = Timer()
        context.state["names"] = {value for value in payload.args.values()}
        context.metadata["pattern"] = re.compile("|".join(sorted(payload.args.values())))
        return PluginResult()

    async def tool_post_invoke(self, payload, context):
        """Ends."""
        if "timer" not in context.state:
            return PluginResult(metadata={"begun": False})
        found = context.metadata["pattern"].findall(payload.result)
        return PluginResult(
            metadata={
                "begun": True,
                "passed": context.state["timer"].passed() >= 0,
                "found": found,
                "same": set(found) <= context.state["names"],
            }
        )
