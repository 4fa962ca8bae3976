"""A hook's result: what the plugin returned or raised, as the members of an answer."""

from cpex.framework.errors import PluginViolationError
from cpex.framework.extensions.extensions import Extensions
from cpex.framework.models import PluginViolation
from pydantic import BaseModel, ValidationError

from hookgate_worker import extensions, tokens
from hookgate_worker.differences import edits_between
from hookgate_worker.log_output import log
from hookgate_worker.plain import plain, whole


class ResultError(Exception):
    """What the hook returned is not a result."""


def of_violation_error(error):
    """The members of a denial raised as PluginViolationError, or None if it carries no violation."""
    if not isinstance(error, PluginViolationError) or error.violation is None:
        return None
    return {"verdict": "deny", "violation": _violation(error.violation)}


def of_result(result, hook, payload, lent, sent_again):
    """The members of the answer that differ from a bare allow.

    `lent` are the extensions the hook was handed, if any. `sent_again` gives the call as it was sent anew: the
    payload and the extensions the plugin had may have been changed in place.
    """
    try:
        go_on = result.continue_processing
    except AttributeError:
        raise ResultError(
            f"hook '{hook.name}' returned {type(result).__name__}, a PluginResult is possible\n"
            "hint: return PluginResult(continue_processing=True)"
        ) from None
    if type(go_on) is not bool:
        raise ResultError(f"continue_processing is {type(go_on).__name__}, true or false are possible")
    members = {} if go_on else {"verdict": "deny"}
    violation = getattr(result, "violation", None)
    if violation is not None:
        members["violation"] = _violation(violation)
    modified = getattr(result, "modified_payload", None)
    if modified is not None:
        # A denial has no payload.
        if go_on:
            members.update(_modified(modified, hook, sent_again))
    elif log.isEnabledFor(10):
        _note_change_in_place(hook, payload, sent_again)
    for member, name in (("metadata", "metadata"), ("headers", "http_headers")):
        if value := getattr(result, name, None):
            if not isinstance(value, dict):
                raise ResultError(f"{name} is {type(value).__name__}, a dict or None is possible")
            members[member] = whole(value)
            if member == "headers":
                _check_headers(members[member], name)
    _add_denial_metadata(members, getattr(result, "denial_metadata", None))
    if delay := getattr(result, "retry_delay_ms", None):
        if type(delay) is not int:
            raise ResultError(f"retry_delay_ms is {type(delay).__name__}, a number of milliseconds is possible")
        _check_range(delay, "retry_delay_ms", 0, 2**63)
        members["retry_after_ms"] = delay
    returned = getattr(result, "modified_extensions", None)
    if returned is not None:
        returned = _fitted(returned, Extensions, hook, "modified_extensions")
        if found := extensions.edits(returned, lent, sent_again().get("extensions") or {}):
            members["extensions"] = found
    return members


def _add_denial_metadata(members, said):
    """What a plugin says of its denial for those who read records; a place of its own in the result's metadata."""
    if not said:
        return
    if not isinstance(said, dict):
        raise ResultError(f"denial_metadata is {type(said).__name__}, a dict or None is possible")
    members["metadata"] = {"denial_metadata": whole(said), **members.get("metadata", {})}


def _modified(modified, hook, sent_again):
    """Edits for a payload; the value itself where the hook's result is of another type."""
    if not isinstance(modified, hook.payload_type):
        if hook.result_type is not None:
            modified = _fitted(modified, hook.result_type, hook)
            return {"result": tokens.revealed(hook.name, modified, whole(modified))}
        modified = _fitted(modified, hook.payload_type, hook)
    sent = sent_again()["payload"]
    before = hook.payload(sent)
    if name := tokens.changed_secret(before, modified):
        raise ResultError(
            f"{name} of the payload that hook '{hook.name}' returned is another secret: a payload takes none back\n"
            f"hint: return a new token in the hook's own result, such as DelegationResult(delegated_token=...)"
        )
    return {"edits": edits_between(plain(before), plain(modified), sent)}


def _fitted(modified, wanted, hook, member="modified_payload"):
    """`modified` as the wanted type; a plain dict is accepted if it fits."""
    if isinstance(modified, wanted):
        return modified
    if isinstance(modified, dict) and issubclass(wanted, BaseModel):
        try:
            return wanted.model_validate(modified)
        except ValidationError as error:
            raise ResultError(
                f"{member} of hook '{hook.name}' does not fit {wanted.__name__}: {error}"
            ) from None
    raise ResultError(
        f"{member} of hook '{hook.name}' is {type(modified).__name__}, {wanted.__name__} is possible"
    )


def _violation(violation):
    if not isinstance(violation, PluginViolation):
        try:
            violation = PluginViolation.model_validate(violation, from_attributes=True)
        except ValidationError as error:
            raise ResultError(f"the violation is {type(violation).__name__}, not a PluginViolation: {error}") from None
    told = {
        "code": whole(violation.code),
        "reason": whole(violation.reason),
        "description": whole(violation.description),
        "details": whole(violation.details or {}),
        "mcp_error_code": violation.mcp_error_code,
        "http_status_code": violation.http_status_code,
        "http_headers": whole(violation.http_headers or {}),
    }
    # A violation may have been made or changed without validation.
    for name in ("code", "reason", "description"):
        if not isinstance(told[name], str):
            raise ResultError(f"the violation's {name} is {type(told[name]).__name__}, text is possible")
    if not isinstance(told["details"], dict):
        raise ResultError(f"the violation's details are {type(told['details']).__name__}, a dict is possible")
    _check_headers(told["http_headers"], "the violation's http_headers")
    _check_range(told["mcp_error_code"], "the violation's mcp_error_code", -(2**31), 2**31)
    _check_range(told["http_status_code"], "the violation's http_status_code", 0, 2**16)
    return told


def _check_headers(headers, name):
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise ResultError(f"{name} is not a dict of text, which alone is possible")


def _check_range(number, name, low, end):
    if number is None or (isinstance(number, int) and type(number) is not bool and low <= number < end):
        return
    raise ResultError(f"{name} is not an integer from {low} to {end - 1}, which alone is possible")


def _note_change_in_place(hook, payload, sent_again):
    sent = sent_again()["payload"]
    edits = edits_between(plain(hook.payload(sent)), plain(payload), sent)
    if edits:
        log.debug("hook '%s' changed its payload in place without returning it: dropped", hook.name)
