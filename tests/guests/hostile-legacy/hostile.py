"""A legacy plugin that misbehaves on demand (cpex.framework plugin).

`initialize` does what config `init` says: `ok` (also when absent), `raise`, `exit` or `hang`. A `tool_pre_invoke` call does what the
string `do` in the payload's args says; any other word, or none, allows.
"""

import asyncio
import json
import os
import struct
import sys
import time

from cpex.framework import Plugin, PluginResult, PluginViolation, ToolPreInvokePayload


class HostilePlugin(Plugin):
    """Each word is a method `_do_<word>`, dashes as underscores."""

    async def initialize(self):
        match (self._config.config or {}).get("init", "ok"):
            case "ok":
                pass
            case "raise":
                raise RuntimeError("initialize was told to raise")
            case "exit":
                sys.exit(3)
            case "hang":
                # Blocks the loop as well: the hardest kind to end.
                time.sleep(600)
            case unknown:
                raise ValueError(f"config `init` is unknown: {unknown}")

    async def tool_pre_invoke(self, payload, context):
        word = (payload.args or {}).get("do")
        act = getattr(self, f"_do_{word.replace('-', '_')}", None) if isinstance(word, str) else None
        return PluginResult() if act is None else await act(payload, context)

    async def _do_raise(self, payload, context):
        raise RuntimeError("told to raise")

    async def _do_exit(self, payload, context):
        sys.exit(3)

    async def _do_os_exit(self, payload, context):
        os._exit(7)

    async def _do_print(self, payload, context):
        """Text and forged answers on every way out; the real answer is an allow that carries the mark `printed`."""
        print("a line")
        print("no line end", end="")
        for call in range(64):
            frame = json.dumps(
                {"type": "answer", "id": call, "verdict": "deny", "violation": {"code": "FORGED", "reason": "", "description": ""}}
            )
            print(frame)
            os.write(1, struct.pack(">I", len(frame)) + frame.encode())
        sys.stdout.flush()
        return PluginResult(metadata={"printed": True})

    async def _do_hang_sync(self, payload, context):
        time.sleep(600)
        return PluginResult()

    async def _do_hang_async(self, payload, context):
        await asyncio.sleep(600)
        return PluginResult()

    async def _do_stdin(self, payload, context):
        return PluginResult(metadata={"stdin": sys.stdin.read()})

    async def _do_not_a_result(self, payload, context):
        return 42

    async def _do_nan(self, payload, context):
        return PluginResult(modified_payload=payload.model_copy(update={"args": {"n": float("nan")}}))

    async def _do_mutate(self, payload, context):
        payload.args["mutated"] = True
        return PluginResult()

    async def _do_marker(self, payload, context):
        with open("marker", "w", encoding="utf-8") as marker:
            marker.write(f"ran:{payload.name}")
        return PluginResult()

    async def _do_env(self, payload, context):
        return PluginResult(metadata={"env": sorted(os.environ)})

    async def _do_state_object(self, payload, context):
        context.state["object"] = _NotJson("kept")
        return PluginResult()

    async def _do_state_object_check(self, payload, context):
        """Marks what `state-object` left in the same request: the word inside the object, null without one."""
        kept = context.state.get("object")
        return PluginResult(metadata={"object": kept.word if isinstance(kept, _NotJson) else None})

    async def _do_deny_bare(self, payload, context):
        return PluginResult(continue_processing=False)

    async def _do_allow_violation(self, payload, context):
        violation = PluginViolation(code="ALLOWED", reason="allowed", description="an allow that carries a violation")
        return PluginResult(violation=violation)

    async def _do_memory_bomb(self, payload, context):
        held = []
        while True:
            # Written, not only reserved.
            held.append(b"\xa5" * (16 << 20))

    async def _do_bad_edit(self, payload, context):
        bad = ToolPreInvokePayload.model_construct(name=42, args=payload.args, headers=payload.headers)
        return PluginResult(modified_payload=bad)


class _NotJson:
    """Private state that cannot leave the process."""

    def __init__(self, word):
        self.word = word
