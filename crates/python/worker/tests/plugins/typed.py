"""Plugins for typed content, for hooks of other kinds and for hooks of their own."""

from cpex.framework import (
    HttpAuthCheckPermissionResultPayload,
    HttpHeaderPayload,
    Plugin,
    PluginPayload,
    PluginResult,
    get_hook_registry,
    hook,
)
from pydantic import ConfigDict, Field


class Typed(Plugin):
    """Reports the types it meets and changes what its configuration says."""

    async def resource_post_fetch(self, payload, context):
        """Sets members of the content."""
        content = payload.content
        metadata = {"type": type(content).__name__}
        change = self.config.config.get("content")
        if not change or isinstance(content, (dict, str)):
            return PluginResult(metadata=metadata)
        if self.config.config.get("as_dict"):
            changed = {**content.model_dump(), **change}
        else:
            changed = content.model_copy(update=change)
        return PluginResult(modified_payload=payload.model_copy(update={"content": changed}), metadata=metadata)

    async def prompt_post_fetch(self, payload, context):
        """Upper-cases the texts, or adds a message."""
        result = payload.result
        metadata = {"type": type(result).__name__, "content": type(result.messages[0].content).__name__}
        if self.config.config.get("add"):
            more = result.messages[0].model_copy(deep=True)
            more.content.text = "added"
            result.messages.append(more)
        else:
            for message in result.messages:
                message.content.text = message.content.text.upper()
        return PluginResult(modified_payload=payload, metadata=metadata)

    async def agent_pre_invoke(self, payload, context):
        """Reads messages by attribute and changes one."""
        payload.messages[0].content = payload.messages[0].content + "!"
        return PluginResult(modified_payload=payload)


class Http(Plugin):
    """Results that are not payloads."""

    async def http_pre_request(self, payload, context):
        """Gives headers."""
        return PluginResult(modified_payload=HttpHeaderPayload({**payload.headers.root, "X-Added": payload.path}))

    async def http_auth_resolve_user(self, payload, context):
        """Gives a user."""
        return PluginResult(modified_payload={"email": "a@example.org", "is_admin": False, "name": None})

    async def http_auth_check_permission(self, payload, context):
        """Grants."""
        return PluginResult(modified_payload=HttpAuthCheckPermissionResultPayload(granted=payload.is_admin))


class MailPayload(PluginPayload):
    """The payload of a hook of one's own, with aliases and a default."""

    model_config = ConfigDict(frozen=True)
    to_address: str = Field(alias="toAddress")
    copies: list[str] = Field(default_factory=list, alias="cc")
    tries: int = 3
    note: str | None = None


class Mail(Plugin):
    """Registers a hook of its own when it is made."""

    def __init__(self, config):
        super().__init__(config)
        get_hook_registry().register_hook("mail_pre_send", MailPayload, PluginResult[MailPayload])

    @hook("mail_pre_send")
    async def before_sending(self, payload, context):
        """Copies somebody."""
        changed = payload.model_copy(update={"copies": ["boss@example.org"], "tries": 1})
        return PluginResult(modified_payload=changed, metadata={"to": payload.to_address, "copies": payload.copies})

    @hook("mail_post_send", MailPayload, PluginResult[MailPayload])
    async def after_sending(self, payload, context):
        """Known by its decorator alone."""
        return PluginResult(metadata={"to": payload.to_address})

    @hook("cmf.tool_pre_invoke")
    async def on_message(self, payload, context):
        """Not to be reached: nobody registered the payload's type."""
        return PluginResult()

    def tool_pre_invoke(self, payload, context):
        """Not a coroutine function, so not a hook."""
        return PluginResult()
