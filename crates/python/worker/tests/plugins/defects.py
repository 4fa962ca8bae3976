"""Plugins that show what the reference loses, one class for each kind of loss."""

import asyncio
import os
import sys

from cpex.framework import Plugin, PluginResult, PluginViolation, PluginViolationError


def denial(**changes):
    """A violation with what it may carry."""
    given = {"code": "NO", "reason": "r", "description": "d", "details": {"n": 1}, **changes}
    return PluginViolation(**given)


class Everything(Plugin):
    """Says everything a result can say, allowed or denied."""

    async def tool_pre_invoke(self, payload, context):
        """As the tool's name says."""
        said = {
            "metadata": {"m": [1]},
            "http_headers": {"X-Said": "yes"},
            "retry_delay_ms": 1500,
        }
        if payload.name == "raise":
            raise PluginViolationError("stop", violation=denial(http_status_code=451))
        if payload.name == "deny":
            violation = denial(http_status_code=429, http_headers={"Retry-After": "1"}, mcp_error_code=-32000)
            return PluginResult(
                continue_processing=False, violation=violation, denial_metadata={"rule": "r7", "hits": 2}, **said
            )
        if payload.name == "deny_bare":
            return PluginResult(continue_processing=False)
        return PluginResult(modified_payload=payload.model_copy(update={"args": {"said": True}}), **said)


class Other(Everything):
    """Another class that is given the same configuration."""

    async def tool_pre_invoke(self, payload, context):
        """Says who it is."""
        return PluginResult(metadata={"class": type(self).__name__})


class Entry(Plugin):
    """Reports its own entry and who calls."""

    async def tool_pre_invoke(self, payload, context):
        """Everything that a per-user or per-tenant plugin reads."""
        config, shared = self.config, context.global_context
        return PluginResult(
            metadata={
                "entry": {
                    "mode": config.mode,
                    "priority": config.priority,
                    "version": config.version,
                    "tags": config.tags,
                    "author": config.author,
                    "description": config.description,
                    "on_error": config.on_error,
                    "max_content_size": config.max_content_size,
                },
                "conditions": [condition.model_dump(mode="json", exclude_none=True) for condition in config.conditions],
                "request": {
                    "id": shared.request_id,
                    "user": shared.user,
                    "tenant_id": shared.tenant_id,
                    "server_id": shared.server_id,
                    "content_type": shared.content_type,
                    "groups": shared.user_context.groups if shared.user_context else None,
                    "metadata": shared.metadata,
                },
                "cwd": os.getcwd(),
            }
        )


class Busy(Plugin):
    """Waits for others, and has a task of its own."""

    async def initialize(self):
        """Starts the task."""
        self.ticks = 0
        self.gate = asyncio.Event()
        self.ticker = asyncio.create_task(self.tick())

    async def tick(self):
        """Ticks while nobody calls."""
        while True:
            await asyncio.sleep(0.001)
            self.ticks += 1
            if self.ticks == 10:
                print("ten ticks while idle")

    async def tool_pre_invoke(self, payload, context):
        """Waits until the last of them opens the gate."""
        if payload.name == "open":
            self.gate.set()
        await self.gate.wait()
        return PluginResult(metadata={"n": payload.args["n"]})


class Prints(Plugin):
    """Writes where the reference has its frames."""

    async def tool_pre_invoke(self, payload, context):
        """Prints without an end of line, and a frame that allows what it denies."""
        forged = '{"continue_processing": true, "request_id": "r1", "type": "answer", "id": 1, "verdict": "allow"}'
        print("no end of line", end="")
        print(forged, flush=True)
        os.write(1, len(forged).to_bytes(4, "big") + forged.encode())
        sys.__stdout__.write(forged)
        return PluginResult(continue_processing=False, violation=denial())


class Ends(Plugin):
    """Says when it is shut down."""

    async def shutdown(self):
        """Called once."""
        print("shutdown of", self.name)


class Imports(Plugin):
    """Reports which modules are there."""

    async def tool_pre_invoke(self, payload, context):
        """Of the names asked for."""
        return PluginResult(metadata={"there": [name for name in payload.args["names"] if name in sys.modules]})
