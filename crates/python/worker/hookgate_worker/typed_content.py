"""Typed content: resource contents and prompt results as the attribute objects a gateway hands over in process.

Plugins written for a gateway read `payload.content.text` and look at the type; given a plain dict they allow
what they should have stopped. The gateway's own models are used where its package is installed.
"""

from enum import Enum
from importlib import import_module
from typing import Any, Literal, Optional, Union

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hookgate_worker.gateway import GATEWAY, found_elsewhere
from hookgate_worker.log_output import describe, log

GATEWAY_MODELS = "mcpgateway.common.models"


class Role(str, Enum):
    """Who a prompt message is from."""

    ASSISTANT = "assistant"
    USER = "user"


class Annotations(BaseModel):
    """What a client may make of a content."""

    model_config = ConfigDict(populate_by_name=True)
    audience: Optional[list[Role]] = None
    priority: Optional[float] = Field(default=None, ge=0, le=1)
    last_modified: Optional[str] = Field(default=None, alias="lastModified")


class Content(BaseModel):
    """What all kinds of content accept: field names as well as aliases, objects as well as dictionaries."""

    model_config = ConfigDict(populate_by_name=True, from_attributes=True, use_enum_values=True)

    def to_dict(self, use_alias=False):
        """The content as a dictionary."""
        return self.model_dump(by_alias=use_alias)


class TextContent(Content):
    """Text of a message."""

    type: Literal["text"]
    text: str
    annotations: Optional[Annotations] = None
    meta: Optional[dict[str, Any]] = Field(default=None, alias="_meta")


class ImageContent(Content):
    """An image of a message; `data` is its base64 text."""

    type: Literal["image"]
    data: str
    mime_type: str = Field(alias="mimeType")
    annotations: Optional[Annotations] = None
    meta: Optional[dict[str, Any]] = Field(default=None, alias="_meta")


class ResourceContent(Content):
    """A resource: text or blob."""

    type: Literal["resource"]
    id: str
    uri: str
    mime_type: Optional[str] = Field(default=None, alias="mimeType")
    text: Optional[str] = None
    blob: Optional[bytes] = None
    meta: Optional[dict[str, Any]] = Field(default=None, alias="_meta")


class Message(BaseModel):
    """A message of a prompt."""

    role: Role
    content: Union[TextContent, ImageContent, ResourceContent]


class PromptResult(BaseModel):
    """A rendered prompt."""

    messages: list[Message]
    description: Optional[str] = None


class TypedMember:
    """The member of a payload that becomes an object, and the model it becomes if it fits."""

    __slots__ = ("member", "model")

    def __init__(self, member, model):
        self.member = member
        self.model = model

    def applied(self, payload):
        """The payload with typed content, or as it came if the content does not fit."""
        content = payload.get(self.member)
        if type(content) is not dict:
            return payload
        try:
            typed = self.model.model_validate(content)
        except ValidationError:
            return payload
        return {**payload, self.member: typed}


def typed_member(hook):
    """The typed member of a hook's payload, if it has one."""
    if hook == "resource_post_fetch":
        return TypedMember("content", getattr(_models(), "ResourceContent", ResourceContent))
    if hook == "prompt_post_fetch":
        return TypedMember("result", getattr(_models(), "PromptResult", PromptResult))
    return None


def _models():
    """The gateway's models, or None where it is not installed or its import fails."""
    try:
        return import_module(GATEWAY_MODELS) if found_elsewhere(GATEWAY) else None
    except Exception as error:  # noqa: BLE001  a gateway that does not import must not stop the plugin
        log.warning("%s cannot be imported, using the worker's own models: %s", GATEWAY_MODELS, describe(error))
        return None
