"""Methods of any name, found by their decorator; one serves two hooks."""

from cpex.framework import Plugin, PluginResult, hook


class Decorated(Plugin):
    """Counts what goes in and out."""

    def __init__(self, config):
        super().__init__(config)
        self.seen = []

    @hook(["tool_pre_invoke", "tool_post_invoke"])
    async def watch(self, payload, context):
        """Both sides of a call."""
        self.seen.append(type(payload).__name__)
        return PluginResult(metadata={"seen": list(self.seen)})

    @hook("prompt_pre_fetch")
    async def only_prompts(self, payload, context):
        """Another hook."""
        return PluginResult(modified_payload=payload.model_copy(update={"args": {"by": "decorator"}}))
