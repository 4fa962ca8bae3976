"""The worker's loop: one asyncio loop for the plugin's whole life, fed by frames."""

import asyncio
import gc
import os
import platform
import select
import signal
import sys
import threading
import time

from hookgate_worker import frames, log_output
from hookgate_worker.log_output import log

PROTOCOL = 2
# Longer integers are refused for the one call that holds them: their conversion takes quadratic time.
INT_DIGITS = 100_000
# What the plugin's own tasks get for their clean-up after shutdown().
TIDY_S = 1.0
# What shutdown() gets once the host has gone without a word; as long as the host itself would give it.
ORPHAN_S = 5.0

EXIT_OK, EXIT_FAILED, EXIT_PROTOCOL = 0, 1, 2


class Worker:
    """Reads frames, starts the plugin, hands calls on, and ends in an orderly way."""

    def __init__(self, read_fd, write_fd):
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._frames = frames.FrameBuffer()
        self._loop = asyncio.new_event_loop()
        self._starting = None
        self._loaded = None
        self._calls = None
        self._ending = None
        self._exit_code = None
        # Whether the host went without asking for the end.
        self.orphaned = False

    def run(self):
        """Runs until the host or the pipe ends it; gives the exit code."""
        loop = self._loop
        asyncio.set_event_loop(loop)
        loop.add_reader(self._read_fd, self._readable)
        while self._exit_code is None:
            # A SystemExit in a plugin's own task ends run_forever, and so does a plugin's loop.stop().
            # Neither ends the worker.
            try:
                loop.run_forever()
            except (SystemExit, KeyboardInterrupt) as error:
                log.error("the plugin raised %s outside a call", log_output.describe(error))
        self._tidy()
        return self._exit_code

    def _readable(self):
        try:
            chunk = os.read(self._read_fd, frames.READ_BYTES)
            if not chunk:
                self._end(bye=False)
                return
            for body in self._frames.feed(chunk):
                self._receive(body)
        except BlockingIOError:
            return
        except Exception as error:  # noqa: BLE001  whatever it is, the two sides are out of step
            log.error("a frame cannot be understood: %s", log_output.describe(error))
            self._stop(EXIT_PROTOCOL)

    def _receive(self, body):
        try:
            message = frames.decode(body)
        except frames.NumberTooLong as error:
            if self._calls is None:
                raise
            from hookgate_worker.calls import fault

            self._send(fault(error.call_id, "plugin_error", error))
            return
        kind = message["type"]
        if kind == "call":
            if self._calls is None:
                raise frames.FrameError("a call before the plugin is ready")
            self._calls.begin(message, body)
        elif kind == "cancel":
            if self._calls is not None:
                self._calls.cancel(message["id"])
        elif kind == "start" and self._starting is None:
            if message.get("protocol") != PROTOCOL:
                raise frames.FrameError(f"protocol {message.get('protocol')!r}, {PROTOCOL} is possible")
            self._starting = self._loop.create_task(self._start(message))
            self._starting.add_done_callback(self._started)
        elif kind == "shutdown":
            self._end(bye=True)
        else:
            raise frames.FrameError(f"a frame of type '{kind}' at this point")

    async def _start(self, message):
        from hookgate_worker.start import StartFailed, load

        try:
            loaded = await load(message)
        except StartFailed as failed:
            if self._ending is not None:
                return
            self._send_message(
                {"type": "failed", "stage": failed.stage, "message": str(failed), "traceback": failed.traceback}
            )
            self._stop(EXIT_FAILED)
            return
        from hookgate_worker.calls import Calls
        from hookgate_worker.kept_state import KeptState

        limits = message["limits"]
        self._loaded = loaded
        self._calls = Calls(self._loop, loaded.hooks, KeptState(limits["requests"], limits["idle_s"]), self._send)
        # What is there now stays: the collector need not walk it during calls.
        gc.collect()
        gc.freeze()
        self._send_message(
            {
                "type": "ready",
                "python": platform.python_version(),
                "framework": loaded.framework,
                "hooks": loaded.served,
                "extensions": loaded.hooks.that_want_extensions(loaded.served),
            }
        )

    def _started(self, task):
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("the start frame cannot be understood: %s", log_output.describe(error))
            self._stop(EXIT_PROTOCOL)

    def _end(self, bye):
        """Begins an orderly end, once."""
        if self._ending is None:
            self.orphaned = not bye
            self._loop.remove_reader(self._read_fd)
            self._ending = self._loop.create_task(self._leave(bye))

    async def _leave(self, bye):
        if self._loaded is None and self._starting is not None:
            self._starting.cancel()
        try:
            if self._calls is not None:
                await self._calls.leave()
            if self._loaded is not None:
                await self._loaded.plugin.shutdown()
        except BaseException as error:  # noqa: BLE001  a plugin that cannot shut down is still to end
            log.error("shutdown() failed: %s", log_output.traceback_of(error))
        if bye:
            self._send(b'{"type":"bye"}')
        self._stop(EXIT_OK)

    def _send_message(self, message):
        self._send(frames.encode(message))

    def _send(self, body):
        try:
            frames.write(self._write_fd, body)
        except OSError:
            # The host is gone; the end of the read pipe says so too.
            self._end(bye=False)

    def _stop(self, exit_code):
        if self._exit_code is None:
            self._exit_code = exit_code
        self._loop.remove_reader(self._read_fd)
        self._loop.stop()

    def _tidy(self):
        """Lets the plugin's own tasks end as asyncio.run would, but not for ever."""
        loop = self._loop
        try:
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            if tasks:
                loop.run_until_complete(asyncio.wait(tasks, timeout=TIDY_S))
            loop.run_until_complete(loop.shutdown_asyncgens())
        except BaseException as error:  # noqa: BLE001
            log.error("the plugin's tasks did not end in order: %s", log_output.describe(error))


def _watch_host(read_fd, sleep=time.sleep):
    """Waits for the host to go, then ends the process group if the loop has not: a plugin may block it for ever."""
    hung_up = select.poll()
    hung_up.register(read_fd, 0)
    # Anything else means that the plugin closed the descriptor, and then the host ends the worker.
    if any(event & select.POLLHUP for _, event in hung_up.poll()):
        sleep(ORPHAN_S)
        _end_group()


def _end_group(kill=os.kill, killpg=os.killpg, group=os.getpgrp(), own=os.getpid()):
    """Ends this process and its children, as the host does; names are bound before a plugin can patch them."""
    if group == own:
        killpg(group, signal.SIGKILL)
    kill(own, signal.SIGKILL)


def main(read_fd, write_fd):
    """Serves the host on two descriptors; gives the exit code."""
    log_output.install()
    threading.Thread(target=_watch_host, args=(read_fd,), name="hookgate-host", daemon=True).start()
    sys.set_int_max_str_digits(INT_DIGITS)
    # A key press in the host's terminal reaches the whole process group; the host decides when a worker ends.
    # A handler, unlike ignoring, is not inherited by child processes.
    signal.signal(signal.SIGINT, lambda *_: None)
    worker = Worker(read_fd, write_fd)
    exit_code = worker.run()
    log_output.flush()
    if worker.orphaned:
        # Nobody is left to end what the plugin started, or to kill a worker that a thread of it holds.
        _end_group()
    return exit_code
