# Classes of the hooks about tokens: they tell what they got by its digest, and leak it on request.
import base64
import hashlib
import json
import logging
import os
import sys
import urllib.parse

from cpex.framework import Plugin, PluginResult, PluginViolation
from cpex.framework.extensions.extensions import Extensions
from cpex.framework.hooks.identity import DelegationResult, IdentityPayload, IdentityResult
from pydantic import SecretStr


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def leak(how, token):
    """Shows a token in a way that somebody might."""
    if how == "print":
        print(f"raw [{token}]")
        print(f"json [{json.dumps({'t': token})}]")
        print(f"base64 [{base64.b64encode(token.encode()).decode()}]")
        print(f"inside [{base64.urlsafe_b64encode(b'user:' + token.encode() + b'!').decode().rstrip('=')}]")
        print(f"percent [{urllib.parse.quote(token, safe='')}]")
        print("every [" + "".join(f"%{byte:02x}" for byte in token.encode()) + "]")
        logging.getLogger("a.plugin").warning("logged [%s]", token)
        print(f"stderr [{token}]", file=sys.stderr)
        print("torn [", end="", flush=True)
        for byte in token.encode():
            os.write(2, bytes([byte]))
        print("]")
        print("x" * 8180 + token)
        os.system(f"echo 'child [{token}]' >&2")
        print("all shown", flush=True)
    elif how == "raise":
        raise ValueError(f"no use for {token}, {base64.b64encode(token.encode()).decode()}")
    elif how == "long":
        # The worker cuts a long message in its middle.
        raise ValueError("x" * (2048 - len("ValueError: ") - 14) + token + "y" * 4000)
    elif how == "exit":
        print(f"dying with {token}", flush=True)
        os._exit(3)


class Resolver(Plugin):
    async def initialize(self):
        self.calls = 0
        self.token = None

    async def identity_resolve(self, payload, context):
        self.calls += 1
        token = self.token = payload.raw_token.get_secret_value()
        do = payload.client_host
        leak(do, token)
        seen = {"calls": self.calls, "digest": digest(token), "shown": str(payload.raw_token)}
        seen |= {"source": payload.source, "headers": payload.headers, "dump": payload.model_dump(mode="json")}
        result = IdentityResult(raw_claims=seen)
        if do == "claim":
            result = IdentityResult(raw_claims={"deep": [{"token": token}]})
        elif do == "state":
            context.state["token"] = token
        elif do == "metadata":
            return PluginResult(metadata={"token": token})
        elif do == "slot":
            return PluginResult(modified_extensions=Extensions(custom={"token": token}))
        elif do == "header":
            return PluginResult(http_headers={"X-Token": token})
        elif do == "deny":
            violation = PluginViolation(reason=f"bad {token}", description="", code="BAD", details={"token": token})
            return PluginResult(continue_processing=False, violation=violation)
        elif do == "echo":
            return PluginResult(modified_payload=payload)
        elif do == "other":
            return PluginResult(modified_payload=payload.model_copy(update={"raw_token": SecretStr("another")}))
        elif do == "source":
            return PluginResult(modified_payload=IdentityPayload(raw_token=token, source="mtls", client_host=do))
        return PluginResult(modified_payload=result)

    async def tool_pre_invoke(self, payload, context, extensions):
        seen = extensions.model_dump_json() + payload.model_dump_json() + context.model_dump_json()
        leak((payload.args or {}).get("leak"), self.token)
        return PluginResult(metadata={"seen": seen})


class Both(Resolver):
    async def token_delegate(self, payload, context):
        self.calls += 1
        token = payload.bearer_token.get_secret_value() if payload.bearer_token else ""
        minted = f"minted-for-{payload.target_name}-0123456789"
        result = DelegationResult(delegated_token=minted, cache_key=digest(token), cache_ttl=self.calls)
        if payload.target_type == "secret":
            result = result.model_copy(update={"delegated_token": SecretStr(minted)})
        elif payload.target_type == "echo":
            result = DelegationResult(delegated_token=token)
        elif payload.target_type == "later":
            self.token = minted
        return PluginResult(modified_payload=result)
