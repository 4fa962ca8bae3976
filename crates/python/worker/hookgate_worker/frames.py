"""Frames: a 4-byte big-endian length, then that many bytes of UTF-8 JSON."""

import json
import os
import select

try:
    from pydantic_core import from_json
except ImportError:
    # Without pydantic there is no framework either; the start frame is still to be read and refused.
    from_json = json.loads

# Larger reads cross the allocator's mmap threshold and cost page faults at every call.
READ_BYTES = 65536
# Far above any payload or state a host admits; a larger length means that the two sides are out of step.
FRAME_BYTES = 256 * 1024 * 1024

# ASCII escapes would hide lone surrogates; left as they are, they fail when the text becomes UTF-8.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class FrameError(Exception):
    """A frame that cannot be understood: the two sides no longer agree, so the worker ends."""


class NumberTooLong(Exception):
    """A call holds an integer with more digits than Python converts; only that call fails."""

    def __init__(self, call_id):
        self.call_id = call_id
        super().__init__("an integer in the call has more digits than this interpreter converts")


class FrameBuffer:
    """Cuts the bytes read from the pipe into frame bodies."""

    def __init__(self):
        self._held = bytearray()

    def feed(self, chunk):
        """The bodies that are complete after `chunk`."""
        if not self._held and len(chunk) >= 4 and int.from_bytes(chunk[:4], "big") == len(chunk) - 4:
            return (chunk[4:],)
        held = self._held
        held += chunk
        bodies, start = [], 0
        while len(held) - start >= 4:
            size = int.from_bytes(held[start : start + 4], "big")
            if size > FRAME_BYTES:
                raise FrameError(f"a frame of {size} bytes, at most {FRAME_BYTES} are possible")
            end = start + 4 + size
            if len(held) < end:
                break
            bodies.append(bytes(memoryview(held)[start + 4 : end]))
            start = end
        del held[:start]
        return bodies


def decode(body):
    """The message in a frame body."""
    try:
        # Twice as fast as json and equal to it in what it reads; it refuses more, and then json decides.
        message = from_json(body)
    except ValueError:
        message = _decode_slowly(body)
    if type(message) is not dict or type(message.get("type")) is not str:
        raise FrameError("a frame is not an object with a type")
    return message


def _decode_slowly(body):
    try:
        return json.loads(str(body, "utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FrameError(f"a frame is not JSON: {error}") from error
    except ValueError as error:
        # The one other ValueError is the limit on digits. Integers as text still show whose frame this is.
        message = json.loads(str(body, "utf-8"), parse_int=str)
        if isinstance(message, dict) and message.get("type") == "call" and str(message.get("id")).isdigit():
            raise NumberTooLong(int(message["id"])) from error
        raise FrameError(f"a frame is not JSON: {error}") from error


def encode(message):
    """The frame body of `message`; ValueError (also for lone surrogates) if it is not JSON."""
    return _encode(message).encode("utf-8")


def write(fd, body):
    """Writes one frame.

    The pipe is used as it comes, which is blocking: the host always drains its end, so a large answer waits for
    the host and for nothing else. A descriptor that somebody made non-blocking is waited for with poll.
    """
    data = len(body).to_bytes(4, "big") + body
    try:
        written = os.write(fd, data)
    except BlockingIOError:
        written = 0
    if written == len(data):
        return
    rest = memoryview(data)[written:]
    writable = select.poll()
    writable.register(fd, select.POLLOUT)
    while rest:
        writable.poll()
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            continue
