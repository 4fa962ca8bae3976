"""A plugin written for the gateway's own framework: every import is by the old names."""

import mcpgateway.plugins.framework as old
from cpex.framework import Plugin as NewPlugin
from cpex.framework.models import PluginViolation as NewViolation
from mcpgateway.common.models import Message, PromptResult, ResourceContent, Role, TextContent, Tool
from mcpgateway.config import get_settings, settings
from mcpgateway.models import ResourceContent as OldResourceContent
from mcpgateway.plugins.framework import Plugin, PluginResult, PluginViolation, get_hook_registry
from mcpgateway.plugins.framework.constants import GATEWAY_METADATA, TOOL_METADATA
from mcpgateway.plugins.framework.decorator import hook
from mcpgateway.plugins.framework.hooks.tools import ToolPreInvokePayload
from mcpgateway.plugins.framework.models import PluginViolation as ModelsViolation
from mcpgateway.services.logging_service import LoggingService
from mcpgateway.utils.primary_worker import is_primary_worker
from mcpgateway.utils.retry_manager import ResilientHttpClient
from mcpgateway.utils.url_auth import sanitize_exception_message, sanitize_url_for_logging

logger = LoggingService().get_logger("old.plugin")


class Old(Plugin):
    """Denies, edits and reports under the old names."""

    async def tool_pre_invoke(self, payload, context):
        """What the tool's name says."""
        return await getattr(self, f"do_{payload.name}")(payload, context)

    async def do_deny(self, payload, context):
        """Denies with the old name's violation."""
        logger.warning("denied by the old name")
        return PluginResult(
            continue_processing=False,
            violation=PluginViolation(reason="r", description="d", code="OLD"),
        )

    async def do_edit(self, payload, context):
        """Edits with the old name's payload."""
        return PluginResult(modified_payload=ToolPreInvokePayload(name=payload.name, args={"by": "old"}))

    async def do_same(self, payload, context):
        """Whether the names mean the same objects."""
        return PluginResult(
            metadata={
                "plugin": Plugin is NewPlugin,
                "violation": ModelsViolation is NewViolation is PluginViolation,
                "module": old.__name__,
                "registry": get_hook_registry() is old.hooks.registry.get_hook_registry(),
                "payload": type(payload) is ToolPreInvokePayload,
                "constants": [TOOL_METADATA, GATEWAY_METADATA],
                "models": ResourceContent is OldResourceContent,
            }
        )

    async def do_settings(self, payload, context):
        """Reads settings by name; one that is not there is told by its message."""
        found = {}
        for name in payload.args["names"]:
            try:
                value = getattr(settings, name)
            except AttributeError as error:
                value = f"AttributeError: {error}"
            found[name] = value if isinstance(value, (int, float, str, list, type(None))) else repr(value)
        same = get_settings() is get_settings() and get_settings().port == settings.port
        return PluginResult(metadata={"found": found, "same": same})

    async def do_urls(self, payload, context):
        """Addresses for a log."""
        return PluginResult(
            metadata={
                "urls": [sanitize_url_for_logging(url) for url in payload.args["urls"]],
                "known": sanitize_url_for_logging("http://h/?x=1&y=2", {"X": "1"}),
                "message": sanitize_exception_message("no answer from http://u:p@h/?token=t at all"),
            }
        )

    async def do_primary(self, payload, context):
        """Whether this worker is the primary one."""
        return PluginResult(metadata={"primary": [is_primary_worker(), is_primary_worker()]})

    async def do_import(self, payload, context):
        """Imports what the arguments name; what that raises is a fault."""
        exec(payload.args["statement"], {})
        return PluginResult()

    async def do_http(self, payload, context):
        """Asks a server that must be asked more than once."""
        given = {"base_backoff": 0.001, "max_delay": 0.01, **payload.args.get("client", {})}
        async with ResilientHttpClient(client_args={"timeout": 10.0}, **given) as client:
            response = await client.get(payload.args["url"])
            async with client.stream("POST", payload.args["url"], content=b"x") as streamed:
                body = await streamed.aread()
            return PluginResult(
                metadata={"status": response.status_code, "streamed": streamed.status_code, "body": body.decode()}
            )

    async def prompt_post_fetch(self, payload, context):
        """Whether the typed content is of the gateway's classes."""
        message = payload.result.messages[0]
        kinds = [isinstance(payload.result, PromptResult), isinstance(message, Message)]
        kinds += [isinstance(message.content, TextContent), message.role is Role.USER]
        added = Message(role=Role.ASSISTANT, content=TextContent(type="text", text="more"))
        changed = payload.result.model_copy(update={"messages": [*payload.result.messages, added]})
        return PluginResult(modified_payload=payload.model_copy(update={"result": changed}), metadata={"kinds": kinds})

    async def resource_post_fetch(self, payload, context):
        """The same for a resource."""
        return PluginResult(metadata={"kinds": [isinstance(payload.content, ResourceContent)]})

    @hook("tool_post_invoke")
    async def afterwards(self, payload, context):
        """Found by the old name's decorator; a tool's model takes what a gateway sends."""
        tool = Tool.model_validate({"name": "t", "url": "http://h/", "tags": [{"id": "a"}]})
        return PluginResult(metadata={"tool": tool.model_dump(exclude_none=True)})
