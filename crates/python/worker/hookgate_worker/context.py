"""A call's context: the framework's objects out of the request and the state, and the changes afterwards."""

from cpex.framework.models import PluginContext

from hookgate_worker.attributes import unwrapped, wrapped
from hookgate_worker.differences import same
from hookgate_worker.plain import copy, is_json, is_text

# The private state is one flat object on the wire: its keys say which dictionary of the context they belong to.
STATE = "state:"
METADATA = "metadata:"

_IDENTITY = ("user", "user_context", "tenant_id", "server_id", "content_type")

NO_CHANGES = {"set": {}, "remove": []}


class ContextError(Exception):
    """A plugin left something in the shared state or metadata that cannot travel."""


class CallContext:
    """The context handed to a hook together with what it held before."""

    __slots__ = ("context", "_request_id", "_state", "_metadata", "_shared", "_request_metadata", "_kept", "_lent")

    def __init__(self, request, private, shared, kept):
        self._request_id = request.get("id")
        self._kept = kept
        state, metadata = {}, {}
        for key, value in private.items():
            if key.startswith(STATE):
                state[key[len(STATE) :]] = value
            elif key.startswith(METADATA):
                metadata[key[len(METADATA) :]] = value
        request_metadata = request.get("metadata") or {}
        # Plugins change nested values in place, so what was received is kept apart.
        self._state, self._metadata = copy(state), copy(metadata)
        # The request's metadata is wrapped in objects of its own, so what was received stays as it is.
        self._shared, self._request_metadata = copy(shared), request_metadata
        self._lent = kept.merged(self._request_id, state, metadata)
        # Members at their default are left out: validating them would take a third of a small call's time.
        shared_context = {"request_id": self._request_id}
        for name in _IDENTITY:
            if (value := request.get(name)) is not None:
                shared_context[name] = value
        if shared:
            shared_context["state"] = shared
        if request_metadata:
            shared_context["metadata"] = wrapped(request_metadata)
        given = {"global_context": shared_context}
        if state:
            given["state"] = state
        if metadata:
            given["metadata"] = metadata
        self.context = PluginContext.model_validate(given)

    def changes(self):
        """(private, shared, request metadata) changes, or None if there are none.

        Values of the private state that are not JSON go to the worker's own store as a side effect, so this is
        called once, after everything else that can fail.
        """
        context = self.context
        shared_context = context.global_context
        if not (
            context.state
            or context.metadata
            or shared_context.state
            or shared_context.metadata
            or self._state
            or self._metadata
            or self._shared
            or self._request_metadata
            or self._lent
        ):
            return None
        shared = _json_changes("shared state", self._shared, shared_context.state)
        request_metadata = _json_changes("request metadata", self._request_metadata, shared_context.metadata)
        return self._private_changes(), shared, request_metadata

    def _private_changes(self):
        changed, removed, kept = {}, [], {}
        for prefix, before, after in (
            (STATE, self._state, self.context.state),
            (METADATA, self._metadata, self.context.metadata),
        ):
            for key, value in after.items():
                travels = type(key) is str and is_text(key)
                if travels and is_json(value):
                    if key not in before or not same(before[key], value):
                        changed[prefix + key] = value
                    continue
                kept[prefix, key] = value
                if travels and key in before:
                    removed.append(prefix + key)
            removed.extend(prefix + key for key in before if key not in after)
        if kept or self._lent:
            self._kept.update(self._request_id, kept, self._lent)
        return {"set": changed, "remove": removed}


def _json_changes(what, before, after):
    """The changes of a dictionary that other plugins read too, so all of it must be JSON."""
    changed = {}
    for key, value in after.items():
        if type(key) is not str or not is_text(key):
            raise ContextError(f"a key of the {what} is not a string: {key!r}")
        if key in before and same(before[key], value):
            continue
        value = unwrapped(value)
        if not is_json(value):
            raise ContextError(f"the {what} '{key}' is not JSON but {type(value).__name__}")
        changed[key] = value
    return {"set": changed, "remove": [key for key in before if key not in after]}
