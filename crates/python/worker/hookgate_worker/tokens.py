"""Tokens in payloads and results: the hooks about them, and secrets that a dump would show as asterisks."""

from importlib import import_module
from importlib.util import find_spec

from pydantic import BaseModel, SecretBytes, SecretStr

# `identity_resolve` and `token_delegate` are registered by the module that has their types, which the framework
# does not import by itself.
IDENTITY = "cpex.framework.hooks.identity"
if find_spec(IDENTITY):
    import_module(IDENTITY)

# The member of a result that a host hands to the caller, and the hook that makes it.
DELEGATE, MINTED = "token_delegate", "delegated_token"

_SECRETS = (SecretStr, SecretBytes)


def revealed(hook, result, told):
    """`told`, the plain data of `result`, with the token that was made for the caller in clear.

    Every other secret stays as pydantic dumps it.
    """
    if hook == DELEGATE and isinstance(token := getattr(result, MINTED, None), _SECRETS):
        token = token.get_secret_value()
        told[MINTED] = token.decode() if isinstance(token, bytes) else token
    return told


def changed_secret(before, after):
    """The name of a member that is a secret in either payload and not the same in both; None if there is none.

    Dumps of two secrets are equal, so that a difference of theirs would go unnoticed.
    """
    if not (isinstance(before, BaseModel) and isinstance(after, BaseModel)):
        return None
    for name in type(before).model_fields.keys() | type(after).model_fields.keys():
        old, new = getattr(before, name, None), getattr(after, name, None)
        if isinstance(old, _SECRETS) or isinstance(new, _SECRETS):
            if type(old) is not type(new) or old.get_secret_value() != new.get_secret_value():
                return name
    return None
