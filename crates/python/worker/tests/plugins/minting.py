"""A plugin of the hooks about tokens, which imports nothing of them by itself."""

import importlib

from cpex.framework import Plugin, PluginResult
from pydantic import SecretBytes, SecretStr

MINTED = "minted-0123456789"


class Minting(Plugin):
    """Does what the payload's last free member says."""

    async def identity_resolve(self, payload, context):
        """Gives back the payload, changed or not, or an identity."""
        types = importlib.import_module("cpex.framework.hooks.identity")
        token = payload.raw_token.get_secret_value()
        do = payload.client_host
        if do == "same":
            return PluginResult(modified_payload=payload.model_copy(update={"raw_token": SecretStr(token)}))
        if do == "other":
            return PluginResult(modified_payload=payload.model_copy(update={"raw_token": SecretStr("other")}))
        if do == "none":
            return PluginResult(modified_payload=payload.model_copy(update={"raw_token": None}))
        if do == "plain":
            return PluginResult(modified_payload=payload.model_copy(update={"raw_token": token}))
        claims = {"length": len(token), "secret": SecretStr(token), "type": type(payload).__name__}
        return PluginResult(modified_payload=types.IdentityResult(raw_claims=claims))

    async def token_delegate(self, payload, context):
        """Makes a token in one of the types it may have."""
        types = importlib.import_module("cpex.framework.hooks.identity")
        result = types.DelegationResult(delegated_token=MINTED)
        made = {"secret": SecretStr(MINTED), "bytes": SecretBytes(MINTED.encode()), "none": None}
        if payload.target_type in made:
            result = result.model_copy(update={"delegated_token": made[payload.target_type]})
        elif payload.target_type == "bearer":
            return PluginResult(modified_payload=payload.model_copy(update={"bearer_token": SecretStr(MINTED)}))
        return PluginResult(modified_payload=result)
