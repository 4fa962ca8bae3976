"""Keeps what it hears in memory, and writes it down when it is shut down."""

import asyncio
from pathlib import Path

from cpex.framework import Plugin, PluginResult


class ShutdownEffects(Plugin):
    """Writes its file once, at the end."""

    async def initialize(self):
        """Begins with an empty list."""
        self.heard = []

    async def tool_pre_invoke(self, payload, context):
        """Hears a name."""
        self.heard.append(payload.name)
        return PluginResult()

    async def shutdown(self):
        """Takes its time, then writes."""
        await asyncio.sleep(0)
        Path(self.config.config["file"]).write_text("\n".join(self.heard), encoding="utf-8")
