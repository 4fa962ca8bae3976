"""Decides by what the gateway tells of the tool and of the server behind it."""

from cpex.framework import Plugin, PluginResult, PluginViolation
from cpex.framework.constants import GATEWAY_METADATA, TOOL_METADATA


class TypedMetadata(Plugin):
    """Denies arguments that a tool does not declare, and tools of servers with a tag."""

    async def tool_pre_invoke(self, payload, context):
        """Reads attributes, as of the models in process."""
        tool = context.global_context.metadata.get(TOOL_METADATA)
        gateway = context.global_context.metadata.get(GATEWAY_METADATA)
        if tool is None or gateway is None:
            return self.denied("UNKNOWN", "nothing is known of the tool")
        declared = tool.input_schema["properties"]
        unknown = sorted(set(payload.args) - set(declared))
        if unknown:
            return self.denied("ARGUMENT", f"{tool.name} has no {', '.join(unknown)}")
        if any(tag.get("label") == "internal" for tag in gateway.tags or []):
            return self.denied("INTERNAL", f"{gateway.name} at {gateway.url}")
        return PluginResult(metadata={"team": tool.team_id, "at": str(gateway.url)})

    @staticmethod
    def denied(code, description):
        """A denial."""
        violation = PluginViolation(reason="denied", description=description, code=code)
        return PluginResult(continue_processing=False, violation=violation)
