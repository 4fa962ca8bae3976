"""What a plugin prints or logs: all of it goes to the pipe on fd 2, which the host reads as the plugin's log."""

import io
import logging
import os
import select
import sys
import traceback as tracebacks

# How long a print waits for a host that does not drain. After one such wait everything is dropped until there
# is room again, so a flooding plugin holds up its worker once, not for ever.
STALL_MS = 1000
# A pipe that polls as writable has room for this much (PIPE_BUF), so the write that follows does not block.
PIECE_BYTES = 4096
# Enough for any message a person reads; a traceback of deep recursion is cut in the middle.
MESSAGE_CHARS = 4096
TRACEBACK_CHARS = 32768

log = logging.getLogger("hookgate.worker")


class LogPipe(io.RawIOBase):
    """A raw stream onto a descriptor that drops text instead of blocking for ever."""

    def __init__(self, fd):
        self._fd = fd
        self._wait_ms = STALL_MS
        self._writable = select.poll()
        self._writable.register(fd, select.POLLOUT)

    def writable(self):
        """Always."""
        return True

    def fileno(self):
        """The descriptor, for plugins that hand it to child processes."""
        return self._fd

    def isatty(self):
        """Whether the log is a terminal."""
        return os.isatty(self._fd)

    def write(self, data):
        """Writes all of `data`, or drops what the host does not take; never raises for a reader that left."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        while rest:
            if not self._writable.poll(self._wait_ms):
                self._wait_ms = 0
                break
            self._wait_ms = STALL_MS
            try:
                rest = rest[os.write(self._fd, rest[:PIECE_BYTES]) :]
            except BlockingIOError:
                continue
            except OSError:
                break
        return size


def install():
    """Points print, sys.stderr and `logging` at the log."""
    for name, fd in (("stdout", 1), ("stderr", 2)):
        text = io.TextIOWrapper(LogPipe(fd), encoding="utf-8", errors="backslashreplace", line_buffering=True)
        setattr(sys, name, text)
        setattr(sys, f"__{name}__", text)
    # INFO is what legacy plugins get at home.
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")


def flush():
    """Sends what is still buffered, for instance after a print without a newline."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001  a plugin may have put anything there
            pass


def describe(error):
    """`Type: message` of an exception, as text that can be sent."""
    try:
        message = str(error)
    except BaseException as second:  # noqa: BLE001  a plugin's __str__ may raise anything
        message = f"(no message, __str__ raised {type(second).__name__})"
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return sendable(text, MESSAGE_CHARS)


def traceback_of(error):
    """The traceback of an exception as text, with its middle cut if it is long."""
    try:
        text = "".join(tracebacks.format_exception(error))
    except BaseException as second:  # noqa: BLE001
        text = f"(no traceback, formatting raised {type(second).__name__})"
    return sendable(text, TRACEBACK_CHARS)


def sendable(text, chars):
    """Text without lone surrogates and of bounded length."""
    if len(text) > chars:
        half = chars // 2
        text = f"{text[:half]}\n[... {len(text) - 2 * half} characters ...]\n{text[-half:]}"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
