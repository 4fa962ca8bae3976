"""Hooks of the plugin's own, registered with their payload and result when its module is imported."""

from cpex.framework import Plugin, PluginPayload, PluginResult, PluginViolation, get_hook_registry


class TransferPayload(PluginPayload):
    """Money on its way."""

    to: str
    cents: int
    note: str | None = None


class Receipt(PluginPayload):
    """What a finished transfer becomes: another type than its payload."""

    number: str


TransferResult = PluginResult[TransferPayload]
ReceiptResult = PluginResult[Receipt]
get_hook_registry().register_hook("transfer_pre", TransferPayload, TransferResult)
get_hook_registry().register_hook("transfer_post", TransferPayload, ReceiptResult)


class Transfers(Plugin):
    """Denies large ones, notes the others, and gives receipts."""

    async def transfer_pre(self, payload, context):
        """Before."""
        if payload.cents > self.config.config["most"]:
            violation = PluginViolation(reason="too much", description="", code="LIMIT", mcp_error_code=-32001)
            return TransferResult(continue_processing=False, violation=violation)
        return TransferResult(modified_payload=payload.model_copy(update={"note": f"to {payload.to}"}))

    async def transfer_post(self, payload, context):
        """After."""
        return ReceiptResult(modified_payload=Receipt(number=f"{payload.to}-{payload.cents}"))
