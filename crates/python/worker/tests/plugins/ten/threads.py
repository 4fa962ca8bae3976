"""Work in threads: a pool for what blocks, and one of its own that wakes the loop."""

import asyncio
import queue
import threading

from cpex.framework import Plugin, PluginResult


class Threads(Plugin):
    """Hands work out and gets it back."""

    async def initialize(self):
        """Starts the thread that answers."""
        self.loop = asyncio.get_running_loop()
        self.asked = queue.Queue()
        self.thread = threading.Thread(target=self.serve, name="answering")
        self.thread.start()

    def serve(self):
        """Answers until it is told to end."""
        while (job := self.asked.get()) is not None:
            text, future = job
            self.loop.call_soon_threadsafe(future.set_result, (text.upper(), threading.current_thread().name))

    @staticmethod
    def measure(text):
        """In the pool."""
        return len(text), threading.current_thread() is threading.main_thread()

    async def tool_pre_invoke(self, payload, context):
        """Asks both at once."""
        future = self.loop.create_future()
        self.asked.put((payload.args["text"], future))
        answered, measured = await asyncio.gather(future, asyncio.to_thread(self.measure, payload.args["text"]))
        return PluginResult(metadata={"answered": answered, "measured": measured})

    async def shutdown(self):
        """Ends the thread, or the process would wait for it."""
        self.asked.put(None)
        self.thread.join()
        print("thread ended")
