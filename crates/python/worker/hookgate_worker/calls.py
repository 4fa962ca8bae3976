"""The calls in flight: each is a task of its own on the one loop, and each is answered exactly once."""

import asyncio

from pydantic import ValidationError

from hookgate_worker import frames, results
from hookgate_worker.context import NO_CHANGES, CallContext
from hookgate_worker.extensions import lend
from hookgate_worker.grants import explained
from hookgate_worker.hooks import UnsupportedHook
from hookgate_worker.log_output import traceback_of

# How long cancelled calls get to finish before the plugin is shut down; the host has its own grace.
LEAVE_S = 1.0

# The answer to the commonest result, an allow that changes nothing, needs no encoder.
_BARE_ALLOW = (
    b'{"type":"answer","id":%d,"verdict":"allow","violation":null,"edits":[],"state":{"set":{},"remove":[]},'
    b'"shared":{"set":{},"remove":[]},"request_metadata":{"set":{},"remove":[]},"metadata":{},"headers":{},'
    b'"retry_after_ms":null,"result":null,"extensions":[]}'
)

_DEFAULTS = {
    "verdict": "allow",
    "violation": None,
    "edits": [],
    "metadata": {},
    "headers": {},
    "retry_after_ms": None,
    "result": None,
    "extensions": [],
}


class _Call:
    __slots__ = ("id", "task", "started", "cancelled")

    def __init__(self, call_id):
        self.id = call_id
        self.task = None
        self.started = False
        self.cancelled = False


class Calls:
    """Runs calls of one plugin and sends what becomes of them."""

    def __init__(self, loop, hooks, kept, send):
        self._loop = loop
        self._hooks = hooks
        self._kept = kept
        self._send = send
        self._running = {}

    def begin(self, message, body):
        """Starts a call; `body` is its frame, read again if the payload as sent is needed later."""
        call_id = message.get("id")
        if type(call_id) is not int or call_id in self._running:
            raise frames.FrameError(f"a call with id {call_id!r}: a number that is not in flight is possible")
        call = self._running[call_id] = _Call(call_id)
        call.task = self._loop.create_task(self._serve(call, message, body))

    def cancel(self, call_id):
        """Cancels a call; one that was answered already is gone, and nothing happens."""
        call = self._running.get(call_id)
        if call is None:
            return
        call.cancelled = True
        call.task.cancel()
        if not call.started:
            # A task cancelled before its first step never runs, so it cannot answer for itself.
            del self._running[call_id]
            self._send(_cancelled(call_id))

    async def leave(self):
        """Cancels everything in flight and waits a moment for it to end."""
        tasks = [call.task for call in self._running.values()]
        for call_id in list(self._running):
            self.cancel(call_id)
        if tasks:
            await asyncio.wait(tasks, timeout=LEAVE_S)

    async def _serve(self, call, message, body):
        call.started = True
        try:
            answer = await self._answer(call.id, message, body)
        except UnsupportedHook as error:
            answer = fault(call.id, "unsupported", error, message=str(error))
        except (SystemExit, KeyboardInterrupt) as error:
            answer = fault(call.id, "exit", error)
        except GeneratorExit as error:
            if not self._loop.is_running():
                # Not the plugin's: the interpreter ends, and closes what is left.
                raise
            answer = fault(call.id, "plugin_error", error)
        except BaseException as error:  # noqa: BLE001  whatever a plugin raises is a fault of this call only
            answer = fault(call.id, "plugin_error", error)
        del self._running[call.id]
        self._send(_cancelled(call.id) if call.cancelled else answer)

    async def _answer(self, call_id, message, body):
        hook = self._hooks.get(message["hook"])
        try:
            payload = hook.payload(message["payload"])
            context = CallContext(
                message["request"], message.get("state") or {}, message.get("shared") or {}, self._kept
            )
        except ValidationError as error:
            raise InvalidCall(_summary(hook.name, error)) from None
        try:
            lent = None
            if hook.wants_extensions:
                lent = lend(message.get("extensions"))
                result = await hook.call(payload, context.context, lent)
            else:
                result = await hook.call(payload, context.context)
            members = results.of_result(result, hook, payload, lent, lambda: frames.decode(body))
        except Exception as error:
            members = results.of_violation_error(error)
            if members is None:
                raise
        # Encoded first: what cannot be sent must fail before the worker keeps any state of this call.
        told = frames.encode(members) if members else None
        changes = context.changes()
        if told is None and changes is None:
            return _BARE_ALLOW % call_id
        state, shared, request_metadata = changes or (NO_CHANGES, NO_CHANGES, NO_CHANGES)
        rest = {"type": "answer", "id": call_id, "state": state, "shared": shared, "request_metadata": request_metadata}
        rest.update((name, value) for name, value in _DEFAULTS.items() if name not in members)
        encoded = frames.encode(rest)
        return encoded if told is None else encoded[:-1] + b"," + told[1:]


class InvalidCall(Exception):
    """The payload or the request does not fit the framework's types."""


def fault(call_id, kind, error, message=None):
    """The frame body of a fault."""
    return frames.encode(
        {
            "type": "fault",
            "id": call_id,
            "kind": kind,
            "message": explained(error) if message is None else message,
            "traceback": traceback_of(error),
        }
    )


def _cancelled(call_id):
    return b'{"type":"cancelled","id":%d}' % call_id


def _summary(hook, error):
    """What does not fit, without the values."""
    found = [
        f"/{'/'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_url=False, include_input=False)
    ]
    return f"the call does not fit the framework's types for hook '{hook}': {'; '.join(found)}"
