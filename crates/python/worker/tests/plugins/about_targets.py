"""A plugin that reads what the gateway tells of the tool, the server behind it and the agent."""

import copy
import json

from cpex.framework import Plugin, PluginResult, get_attr
from cpex.framework.constants import GATEWAY_METADATA, TOOL_METADATA


class AboutTargets(Plugin):
    """Reads the members in every way, or changes them as the arguments say."""

    async def tool_pre_invoke(self, payload, context):
        """What the tool's name says."""
        return getattr(self, f"do_{payload.name}")(context.global_context, payload.args)

    def do_read(self, request, args):
        """As plugins in process read, and as external ones do."""
        tool, gateway = request.metadata.get(TOOL_METADATA), request.metadata.get(GATEWAY_METADATA)
        return PluginResult(
            metadata={
                "attributes": [tool.name, tool.original_name, tool.description, hasattr(tool, "nothing")],
                "schema": tool.input_schema,
                "nested": [tool.input_schema.properties.q.type, gateway.tags[0].label, gateway.capabilities.tools],
                "absent": [gateway.capabilities.prompts, tool.team_id, tool.request_type],
                "helper": [get_attr(tool, "team_id", "-"), get_attr(tool, "name"), get_attr(gateway, "nothing", "-")],
                "items": ["name" in gateway, gateway["name"], gateway.get("name"), gateway.get("no", 1), list(tool)],
                "url": [str(gateway.url), gateway.url.host, gateway["url"]],
                "time": [tool.created_at.year, tool["created_at"]],
                "dump": gateway.model_dump(),
                "some": tool.model_dump(include={"name", "team_id"}, exclude_none=True),
                "json": json.loads(json.dumps(tool)) == tool.model_dump(),
                "copy": copy.deepcopy(tool).input_schema.properties.q.type,
                "server": request.metadata["server"].owner,
                "agent": [request.metadata["a2a_agent"].endpoint_url, request.metadata["a2a_agent"].tags],
                "whole": tool,
            }
        )

    def do_unknown(self, request, args):
        """A member that nobody has."""
        return PluginResult(metadata={"never": request.metadata["tool"].nonsense})

    def do_set(self, request, args):
        """Changes by attribute and in depth."""
        request.metadata["tool"].description = "new"
        request.metadata["gateway"].tags.append({"label": "more"})
        return PluginResult()

    def do_delete(self, request, args):
        """Removes a member."""
        del request.metadata["tool"].description
        return PluginResult()

    def do_move(self, request, args):
        """Puts the object where other plugins read it."""
        request.state["seen"] = {"tools": [request.metadata["tool"]]}
        return PluginResult()

    async def tool_post_invoke(self, payload, context):
        """Keeps the object for the next hook, and reads what was kept."""
        kept = context.state.get("tool")
        context.state["tool"] = context.global_context.metadata["tool"]
        return PluginResult(metadata={"kept": kept and kept.name})
