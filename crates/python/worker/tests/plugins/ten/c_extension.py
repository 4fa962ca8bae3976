"""Reads arguments that are JSON text with an extension written in C or Rust, and writes them in order."""

import orjson
from cpex.framework import Plugin, PluginResult, PluginViolation


class CExtension(Plugin):
    """Orders the members of JSON texts."""

    async def tool_pre_invoke(self, payload, context):
        """A text that is no JSON is denied."""
        try:
            value = orjson.loads(payload.args["text"])
        except orjson.JSONDecodeError as error:
            violation = PluginViolation(reason="no JSON", description=str(error), code="JSON")
            return PluginResult(continue_processing=False, violation=violation)
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
        changed = payload.model_copy(update={"args": {**payload.args, "text": text}})
        return PluginResult(modified_payload=changed, metadata={"extension": orjson.orjson.__file__.rpartition(".")[2]})
