# A class as gateways have them: it denies a word, trims what asks for it, and misbehaves on request.
import os
import sys

from cpex.framework import Plugin, PluginViolation, ToolPreInvokePayload, ToolPreInvokeResult


class Checks(Plugin):
    async def initialize(self):
        self.word = self.config.config["word"]

    async def tool_pre_invoke(self, payload, context):
        command = payload.args["cmd"]
        context.state["calls"] = context.state.get("calls", 0) + 1
        if command == "raise":
            raise ValueError("no")
        if command == "exit":
            sys.exit(3)
        if command == "die":
            os._exit(3)
        if self.word in command:
            details = {"calls": context.state["calls"]}
            violation = PluginViolation(reason="found", description="", code="WORD", details=details)
            return ToolPreInvokeResult(continue_processing=False, violation=violation)
        if command.startswith("trim"):
            args = {**payload.args, "cmd": command.strip()}
            return ToolPreInvokeResult(modified_payload=ToolPreInvokePayload(name=payload.name, args=args))
        return ToolPreInvokeResult()
