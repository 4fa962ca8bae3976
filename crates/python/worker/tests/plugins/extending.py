"""Plugins that take side-channel slots, and one that gives some without taking any."""

import dataclasses
from datetime import datetime, timezone

from cpex.framework import Plugin, PluginResult, PluginViolation
from cpex.framework.extensions.delegation import DelegationExtension, DelegationHop
from cpex.framework.extensions.extensions import Extensions
from cpex.framework.extensions.http import HttpExtension
from cpex.framework.extensions.request import RequestExtension
from cpex.framework.extensions.security import SecurityExtension

NOON = datetime(2030, 1, 1, 12, tzinfo=timezone.utc)


def label(extensions, *names):
    """More labels."""
    security = extensions.security or SecurityExtension()
    return extensions.model_copy(
        update={"security": security.model_copy(update={"labels": security.labels | frozenset(names)})}
    )


def header(extensions, **headers):
    """Other headers; None removes one."""
    http = extensions.http or HttpExtension()
    kept = {name: value for name, value in {**http.headers, **headers}.items() if value is not None}
    return extensions.model_copy(update={"http": http.model_copy(update={"headers": kept})})


def hop(extensions, subject):
    """One more hop, as the framework's own helper makes it."""
    delegation = extensions.delegation or DelegationExtension()
    made = delegation.with_new_hop(DelegationHop(subject_id=subject, subject_type="service", timestamp=NOON))
    return extensions.model_copy(update={"delegation": made.model_copy(update={"age_seconds": 1.5})})


def custom_in_place(extensions):
    """Frozen models hold dictionaries that are not."""
    extensions.custom["list"].append(3)
    del extensions.custom["gone"]
    return extensions


ACTS = {
    "nothing": lambda extensions: None,
    "same": lambda extensions: extensions,
    "copy": lambda extensions: extensions.model_copy(deep=True),
    "label": lambda extensions: label(extensions, "Z", "B"),
    "unlabel": lambda extensions: extensions.model_copy(
        update={"security": extensions.security.model_copy(update={"labels": frozenset({"A", "C"})})}
    ),
    "label-list": lambda extensions: extensions.model_copy(update={"security": {"labels": ["A", "Z"]}}),
    "header": lambda extensions: header(extensions, **{"X-A": "2", "X-B": None, "X-C": "3"}),
    "hop": lambda extensions: hop(extensions, "b"),
    "unhop": lambda extensions: extensions.model_copy(
        update={"delegation": extensions.delegation.model_copy(update={"chain": ()})}
    ),
    "custom": lambda extensions: extensions.model_copy(update={"custom": {**extensions.custom, "new": {"a": [1]}}}),
    "custom-in-place": custom_in_place,
    "custom-none": lambda extensions: extensions.model_copy(update={"custom": None}),
    "forge": lambda extensions: extensions.model_copy(
        update={"request": RequestExtension(environment="forged"), "custom": {"mine": 1}}
    ),
    "fresh": lambda extensions: Extensions(custom={"mine": 1}),
    "dict": lambda extensions: {"custom": {"mine": 1}},
    "other": lambda extensions: [1],
    "nan": lambda extensions: extensions.model_copy(update={"custom": {"n": float("nan")}}),
}


class Extending(Plugin):
    """Does what its config says and tells what it saw."""

    async def tool_pre_invoke(self, payload, context, extensions):
        """Takes slots and returns some."""
        seen = extensions.model_dump(mode="json", exclude_none=True)
        if extensions.security is not None:
            seen["security"]["labels"] = sorted(extensions.security.labels)
        returned = ACTS[payload.args["do"]](extensions)
        field = PluginResult.model_fields["modified_extensions"]
        told = {"seen": seen, "type": type(extensions).__name__, "returned": repr(field.annotation)}
        result = PluginResult(metadata=told)
        if payload.args.get("deny"):
            result.continue_processing = False
            result.violation = PluginViolation(reason="r", description="d", code="C")
        if isinstance(returned, (Extensions, type(None))):
            result.modified_extensions = returned
            return result
        # The framework's own result would not take it.
        return dataclasses.make_dataclass("Odd", ["modified_extensions", "continue_processing"])(returned, True)

    async def tool_post_invoke(self, payload, context):
        """Takes none and returns some."""
        return PluginResult(modified_extensions=Extensions(security=SecurityExtension(labels=frozenset({"Z"}))))
