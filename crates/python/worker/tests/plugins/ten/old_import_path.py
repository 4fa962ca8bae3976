"""Written for the gateway's own framework: a word that is denied, with what the gateway's logger says of it."""

from mcpgateway.plugins.framework import (
    Plugin,
    PluginConfig,
    PluginContext,
    PluginViolation,
    ToolPreInvokePayload,
    ToolPreInvokeResult,
)
from mcpgateway.services.logging_service import LoggingService
from pydantic import BaseModel

logger = LoggingService().get_logger(__name__)


class Words(BaseModel):
    """The plugin's configuration."""

    words: list[str]


class DenyWords(Plugin):
    """Denies calls whose arguments hold a word."""

    def __init__(self, config: PluginConfig):
        super().__init__(config)
        self._words = Words.model_validate(self._config.config)

    async def tool_pre_invoke(self, payload: ToolPreInvokePayload, context: PluginContext) -> ToolPreInvokeResult:
        """Looks into every argument."""
        for name, value in (payload.args or {}).items():
            if any(word in str(value) for word in self._words.words):
                logger.warning("a word in %s", name)
                violation = PluginViolation(
                    reason="word", description=f"in {name}", code="WORD", details={"argument": name}
                )
                return ToolPreInvokeResult(continue_processing=False, violation=violation)
        return ToolPreInvokeResult()
