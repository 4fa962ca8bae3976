"""A plugin with one behaviour per tool name, for the tests of results, output and context."""

import asyncio
import datetime
import decimal
import enum
import logging
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

from cpex.framework import Plugin, PluginResult, PluginViolation, PluginViolationError


class Colour(str, enum.Enum):
    """An enum of strings."""

    RED = "red"


class Badly(Exception):
    """An exception that cannot be shown."""

    def __str__(self):
        raise RuntimeError("no text")


class Worse(BaseException):
    """No Exception, and raised again by whoever wants to show it."""

    def __str__(self):
        raise Worse


def violation(**changes):
    """A violation with every field set."""
    given = {
        "code": "NO",
        "reason": "r",
        "description": "d",
        "details": {"n": 1},
        "mcp_error_code": -32000,
        "http_status_code": 429,
        "http_headers": {"Retry-After": "1"},
        **changes,
    }
    return PluginViolation(**given)


class Probe(Plugin):
    """`tool_pre_invoke` does what the tool's name says."""

    def __init__(self, config):
        super().__init__(config)
        self.gate = asyncio.Event()

    async def tool_pre_invoke(self, payload, context):
        """Finds the behaviour by name."""
        return await getattr(self, f"do_{payload.name}")(payload, context)

    async def tool_post_invoke(self, payload, context):
        """Replaces the result by the shared state's `target`."""
        return PluginResult(
            modified_payload=payload.model_copy(update={"result": context.global_context.state["target"]})
        )

    async def do_allow(self, payload, context):
        return PluginResult()

    async def do_deny(self, payload, context):
        return PluginResult(
            continue_processing=False,
            violation=violation(),
            metadata={"seen": True},
            http_headers={"X-Why": "no"},
            retry_delay_ms=250,
            modified_payload=payload.model_copy(update={"name": "dropped"}),
        )

    async def do_deny_bare(self, payload, context):
        return PluginResult(continue_processing=False)

    async def do_allow_with_violation(self, payload, context):
        return PluginResult(violation=violation(details=None, http_headers=None))

    async def do_raise_violation(self, payload, context):
        context.state["why"] = "raised"
        raise PluginViolationError("stop", violation=violation())

    async def do_raise_empty_violation(self, payload, context):
        raise PluginViolationError("stop")

    async def do_modify(self, payload, context):
        return PluginResult(
            modified_payload=payload.model_copy(update={"args": {**payload.args, "q": "new", "x/~": 1}})
        )

    async def do_in_place(self, payload, context):
        payload.args["list"].append(3)
        return PluginResult(modified_payload=payload)

    async def do_in_place_dropped(self, payload, context):
        payload.args["list"].append(3)
        return PluginResult()

    async def do_same(self, payload, context):
        return PluginResult(modified_payload=payload)

    async def do_headers(self, payload, context):
        payload.headers["X-New"] = "1"
        return PluginResult(modified_payload=payload)

    async def do_no_headers(self, payload, context):
        return PluginResult(modified_payload=payload.model_copy(update={"headers": None, "args": None}))

    async def do_as_dict(self, payload, context):
        return PluginResult(modified_payload={"name": "as_dict", "args": {"q": "dict"}})

    async def do_as_wrong_dict(self, payload, context):
        return PluginResult(modified_payload={"nom": 1})

    async def do_as_string(self, payload, context):
        return PluginResult(modified_payload="text")

    async def do_duck(self, payload, context):
        return SimpleNamespace(continue_processing=False, violation={"code": "D", "reason": "r", "description": ""})

    async def do_none(self, payload, context):
        return None

    async def do_truthy(self, payload, context):
        return SimpleNamespace(continue_processing=1)

    async def do_value(self, payload, context):
        values = {
            "nan": float("nan"),
            "inf": {"deep": [float("inf")]},
            "surrogate": "\ud800",
            "bytes": b"abc",
            "not_utf8": b"\xff",
            "date": datetime.date(2020, 1, 2),
            "decimal": decimal.Decimal("1.50"),
            "set": {7},
            "tuple": (1, "a"),
            "enum": Colour.RED,
            "object": object(),
            "keys": {1: "a", 2: "b", None: "c"},
            "colliding": {1: "a", "1": "b"},
        }
        if payload.args.get("where") == "metadata":
            return PluginResult(metadata={"value": values[payload.args["what"]]})
        update = {"args": {**payload.args, "value": values[payload.args["what"]]}}
        return PluginResult(modified_payload=payload.model_copy(update=update))

    async def do_unchecked(self, payload, context):
        """Results made without validation."""
        said = {"code": "C", "reason": "r", "description": "d"}
        match payload.args["what"]:
            case "header":
                return PluginResult.model_construct(continue_processing=True, http_headers={"a": 5})
            case "retry":
                return PluginResult.model_construct(continue_processing=True, retry_delay_ms=-5)
            case "code":
                said["code"] = 7
            case "details":
                said["details"] = ["x"]
            case "status":
                said["http_status_code"] = "429"
            case "error code":
                said["mcp_error_code"] = 2**40
            case "violation header":
                said["http_headers"] = {"a": None}
        bad = PluginViolation.model_construct(**{**dict.fromkeys(PluginViolation.model_fields), **said})
        return PluginResult.model_construct(continue_processing=False, violation=bad)

    async def do_raise(self, payload, context):
        context.state["lost"] = 1
        raise ValueError("boom")

    async def do_raise_badly(self, payload, context):
        raise Badly

    async def do_raise_worse(self, payload, context):
        raise Worse

    async def do_raise_generator_exit(self, payload, context):
        raise GeneratorExit

    async def do_raise_cancelled(self, payload, context):
        raise asyncio.CancelledError("mine")

    async def do_exit(self, payload, context):
        sys.exit(3)

    async def do_interrupt(self, payload, context):
        raise KeyboardInterrupt

    async def do_exit_in_task(self, payload, context):
        async def leave():
            sys.exit(4)

        await asyncio.create_task(leave())

    async def do_stop_loop(self, payload, context):
        asyncio.get_running_loop().stop()
        return PluginResult()

    async def do_print(self, payload, context):
        frame = b'\x00\x00\x00\x02{}{"type":"answer","id":1,"verdict":"allow"}\n'
        print("printed line")
        print('{"type":"answer"}', end="")
        sys.stdout.buffer.write(frame)
        os.write(1, frame)
        os.write(1, b"raw write\n")
        subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
        thread = threading.Thread(target=print, args=("from a thread",))
        thread.start()
        thread.join()
        print("\ud800 surrogate")
        sys.stderr.write("on stderr\n")
        sys.__stdout__.write("on the first stdout\n")
        logging.getLogger("probe").info("logged")
        sys.stdout.flush()
        return PluginResult(metadata={"printed": True})

    async def do_child_descriptors(self, payload, context):
        code = "import glob, os; print(*map(os.readlink, filter(os.path.lexists, glob.glob('/proc/self/fd/*'))))"
        child = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, close_fds=False)
        return PluginResult(metadata={"links": child.stdout.decode().split()})

    async def do_flood(self, payload, context):
        for _ in range(2000):
            print("x" * 1000)
        print("end of the flood")
        return PluginResult()

    async def do_stdin(self, payload, context):
        try:
            typed = input()
        except EOFError:
            typed = "EOFError"
        child = subprocess.run(
            [sys.executable, "-c", "import sys; print(repr(sys.stdin.read()))"], stdout=subprocess.PIPE
        )
        return PluginResult(
            metadata={
                "input": typed,
                "read": sys.stdin.read(),
                "raw": os.read(0, 10).decode(),
                "child": child.stdout.decode().strip(),
            }
        )

    async def do_wait(self, payload, context):
        context.state["waited"] = payload.args["n"]
        await self.gate.wait()
        return PluginResult(metadata={"n": payload.args["n"]})

    async def do_open(self, payload, context):
        self.gate.set()
        return PluginResult()

    async def do_hang(self, payload, context):
        print("hanging")
        await asyncio.Event().wait()

    async def do_hang_stubbornly(self, payload, context):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return PluginResult(metadata={"too": "late"})

    async def do_timeout_inside(self, payload, context):
        try:
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            return PluginResult(metadata={"timed": "out"})

    async def do_describe(self, payload, context):
        config = self.config
        shared = context.global_context
        user = shared.user_context
        return PluginResult(
            metadata={
                "config": {
                    "name": config.name,
                    "kind": config.kind,
                    "mode": config.mode,
                    "on_error": config.on_error,
                    "priority": config.priority,
                    "version": config.version,
                    "tags": config.tags,
                    "config": config.config,
                    "capabilities": sorted(config.capabilities),
                },
                "request": {
                    "id": shared.request_id,
                    "user": shared.user,
                    "groups": user and user.groups,
                    "at": user and user.authenticated_at,
                    "tenant_id": shared.tenant_id,
                    "server_id": shared.server_id,
                    "content_type": shared.content_type,
                    "metadata": shared.metadata,
                },
                "cwd": os.getcwd(),
                "env": sorted(os.environ),
            }
        )

    async def do_debug(self, payload, context):
        logging.getLogger("hookgate.worker").setLevel(payload.args["level"])
        return PluginResult()
