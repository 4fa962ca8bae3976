"""Plugins whose start or end is of interest."""

import asyncio
import os
import subprocess
import sys
import threading

from cpex.framework import Plugin, PluginResult


class InitRaises(Plugin):
    """Cannot be made."""

    def __init__(self, config):
        raise KeyError("in __init__")


class InitializeRaises(Plugin):
    """Cannot be initialized."""

    async def initialize(self):
        """Fails."""
        raise RuntimeError("in initialize")


class InitializeExits(Plugin):
    """Wants to leave at once."""

    async def initialize(self):
        """Leaves."""
        sys.exit(5)


class InitializeCancelled(Plugin):
    """Fails with an exception that is easily lost."""

    async def initialize(self):
        """Fails."""
        raise asyncio.CancelledError


class InitializeHangs(Plugin):
    """Never becomes ready."""

    async def initialize(self):
        """Waits."""
        print("initializing")
        await asyncio.Event().wait()


class Lives(Plugin):
    """Has a task of its own and says what happens to it."""

    async def initialize(self):
        """Starts the task."""
        print("in", os.getcwd())
        self.ticker = asyncio.create_task(self.tick())

    async def tick(self):
        """Ticks while nothing else happens."""
        try:
            for number in range(1_000_000):
                print(f"tick {number}.")
                await asyncio.sleep(0.005)
        finally:
            print("ticker ended")

    async def shutdown(self):
        """Takes a few turns of the loop."""
        print("shutting down", end=" ")
        for _ in range(3):
            await asyncio.sleep(0)
        print("done")

    async def tool_pre_invoke(self, payload, context):
        """Hangs, blocks the loop, starts what outlives it, or lets a task of its own leave the process."""
        if payload.name == "block":
            print("blocking")
            threading.Event().wait()
        if payload.name == "child":
            code = "import threading; threading.Event().wait()"
            subprocess.Popen([sys.executable, "-I", "-S", "-c", code])
        if payload.name == "thread":
            threading.Thread(target=threading.Event().wait).start()
        if payload.name == "hang":
            await asyncio.Event().wait()
        if payload.name == "leave":

            async def leave():
                sys.exit(6)

            self.leaving = asyncio.create_task(leave())
        return PluginResult()


class ShutdownRaises(Plugin):
    """Cannot be shut down in order."""

    async def shutdown(self):
        """Fails."""
        raise RuntimeError("in shutdown")
