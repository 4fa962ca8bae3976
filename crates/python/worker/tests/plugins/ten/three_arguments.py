"""A hook with a third argument, the side-channel extensions, beside one without."""

from cpex.framework import Plugin, PluginResult


class ThreeArguments(Plugin):
    """Reads labels and writes a member of its own."""

    async def tool_pre_invoke(self, payload, context, extensions):
        """Takes extensions."""
        labels = sorted(extensions.security.labels) if extensions and extensions.security else []
        changed = extensions.model_copy(update={"custom": {**(extensions.custom or {}), "checked": labels}})
        return PluginResult(modified_extensions=changed, metadata={"labels": labels})

    async def tool_post_invoke(self, payload, context):
        """Takes none."""
        return PluginResult()
