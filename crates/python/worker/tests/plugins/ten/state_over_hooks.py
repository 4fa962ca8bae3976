"""What the first hook of a request writes, the second reads, in every place there is."""

from cpex.framework import Plugin, PluginResult


class StateOverHooks(Plugin):
    """Remembers a call's arguments until its result comes."""

    async def tool_pre_invoke(self, payload, context):
        """Writes."""
        context.set_state("asked", {"name": payload.name, "args": dict(payload.args)})
        context.metadata["begun"] = True
        context.global_context.state.setdefault("calls", []).append(payload.name)
        context.global_context.metadata["by"] = self.name
        return PluginResult()

    async def tool_post_invoke(self, payload, context):
        """Reads."""
        return PluginResult(
            metadata={
                "asked": context.get_state("asked"),
                "begun": context.metadata.get("begun"),
                "calls": context.global_context.state.get("calls"),
                "by": context.global_context.metadata.get("by"),
            }
        )
