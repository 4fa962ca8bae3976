"""A plugin that allows everything."""

from cpex.framework import Plugin, PluginResult


class Quiet(Plugin):
    """Allows."""

    async def tool_pre_invoke(self, payload, context):
        """Allows."""
        return PluginResult()
