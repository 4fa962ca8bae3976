# Written for the gateway's own framework: it reads the gateway's settings.
from mcpgateway.config import settings
from mcpgateway.plugins.framework import Plugin, PluginResult


class ReadsSettings(Plugin):
    async def tool_pre_invoke(self, payload, context):
        return PluginResult(metadata={name: getattr(settings, name) for name in payload.args["names"]})
