"""The hooks a plugin serves: found once, kept with everything that a call needs to know about them."""

from typing import Any, TypeVar, get_args

from cpex.framework.base import HookRef
from cpex.framework.decorator import get_hook_metadata
from cpex.framework.hooks.registry import get_hook_registry

from hookgate_worker import tokens  # noqa: F401  registers the hooks about tokens
from hookgate_worker.log_output import describe
from hookgate_worker.typed_content import typed_member


class UnsupportedHook(Exception):
    """A hook that the framework does not know or the plugin does not implement."""


class Hook:
    """One hook of the plugin, ready to be called."""

    __slots__ = ("name", "call", "payload_type", "result_type", "typed", "wants_extensions")

    def __init__(self, name, call, payload_type, result_type, wants_extensions):
        self.name = name
        self.call = call
        self.payload_type = payload_type
        # What `modified_payload` is where that is not a payload, else None.
        self.result_type = result_type
        self.typed = typed_member(name)
        self.wants_extensions = wants_extensions

    def payload(self, sent):
        """The payload object for the caller's JSON. Shares the nested values of `sent`."""
        if self.typed is not None:
            sent = self.typed.applied(sent)
        return self.payload_type.model_validate(sent)


class Hooks:
    """Finds hooks by name. Only found ones are kept: a plugin may register a hook of its own at any time."""

    def __init__(self, plugin, plugin_ref):
        self._plugin = plugin
        self._plugin_ref = plugin_ref
        self._found = {}

    def get(self, name):
        """The hook `name`; UnsupportedHook if there is none."""
        hook = self._found.get(name)
        if hook is None:
            hook = self._found[name] = self._find(name)
        return hook

    def served(self, names):
        """Those of `names` that can be served."""
        return [name for name in names if self._serves(name)]

    def that_want_extensions(self, names):
        """Those of `names`, all served, that take a third argument."""
        return [name for name in names if self.get(name).wants_extensions]

    def _serves(self, name):
        try:
            self.get(name)
        except UnsupportedHook:
            return False
        return True

    def _find(self, name):
        try:
            ref = HookRef(name, self._plugin_ref)
        except Exception as error:
            raise UnsupportedHook(f"the plugin does not serve hook '{name}': {describe(error)}") from error
        payload_type, result_type = self._types(name, ref.hook)
        if payload_type is None:
            known = ", ".join(sorted(str.__str__(hook) for hook in get_hook_registry().get_registered_hooks()))
            raise UnsupportedHook(
                f"no payload type is registered for hook '{name}', registered are: {known}\n"
                f"hint: the plugin's module registers it with get_hook_registry().register_hook('{name}', ...)"
            )
        return Hook(name, ref.hook, payload_type, _cross_type(payload_type, result_type), ref.accepts_extensions)

    def _types(self, name, function):
        """Payload and result type: the plugin's own map, the registry, then the @hook decorator."""
        registry = get_hook_registry()
        payload_type = (getattr(self._plugin, "_hook_payloads", None) or {}).get(name)
        payload_type = payload_type or registry.get_payload_type(name)
        result_type = (getattr(self._plugin, "_hook_results", None) or {}).get(name)
        result_type = result_type or registry.get_result_type(name)
        metadata = get_hook_metadata(function)
        if metadata is not None and metadata.matches(name):
            payload_type = payload_type or metadata.payload_type
            result_type = result_type or metadata.result_type
        return payload_type, result_type


def _cross_type(payload_type, result_type):
    """The type of `modified_payload` declared by a result type, or None where it is the payload's own."""
    field = getattr(result_type, "model_fields", {}).get("modified_payload")
    if field is None:
        return None
    options = [option for option in get_args(field.annotation) if option is not type(None)] or [field.annotation]
    declared = options[0]
    if len(options) > 1 or declared is Any or isinstance(declared, TypeVar) or not isinstance(declared, type):
        return None
    return None if issubclass(payload_type, declared) or issubclass(declared, payload_type) else declared
