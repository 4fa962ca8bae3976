"""`mcpgateway.common.models` where the gateway is not installed: what its hooks and services hand about.

The classes of typed content are those that payloads are made of, so `isinstance` tells them as at home.
"""

from datetime import datetime
from enum import Enum
from typing import Any, Literal, Optional, Union

from pydantic import AnyHttpUrl, AnyUrl, BaseModel, ConfigDict, Field, create_model

from hookgate_worker.typed_content import (
    Annotations,
    Content,
    ImageContent,
    Message,
    PromptResult,
    ResourceContent,
    Role,
    TextContent,
)

Text = Optional[str]
Meta = (Optional[dict[str, Any]], Field(default=None, alias="_meta"))
Members = Optional[dict[str, Any]]


def _camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


class Protocol(Content):
    """What messages of the protocol accept: names in either spelling."""

    model_config = ConfigDict(alias_generator=_camel)


def _model(class_name, doc, base=Protocol, /, **fields):
    """A model class; a field is given as its type, with `None` as the default of an optional one, or as a pair."""
    declared = {
        field: given if isinstance(given, tuple) else (given, None if _is_optional(given) else ...)
        for field, given in fields.items()
    }
    return create_model(class_name, __base__=base, __doc__=doc, __module__=__name__, **declared)


def _is_optional(kind):
    return type(None) in getattr(kind, "__args__", ())


class LogLevel(str, Enum):
    """How grave a log message is."""

    DEBUG = "debug"
    INFO = "info"
    NOTICE = "notice"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"
    ALERT = "alert"
    EMERGENCY = "emergency"


class TransportType(str, Enum):
    """How two sides are connected."""

    SSE = "SSE"
    HTTP = "HTTP"
    STDIO = "STDIO"
    STREAMABLEHTTP = "STREAMABLEHTTP"
    GRPC = "GRPC"


Flag = Optional[bool]
ToolAnnotations = _model(
    "ToolAnnotations",
    "What a tool says of its behaviour.",
    title=Text,
    read_only_hint=Flag,
    destructive_hint=Flag,
    idempotent_hint=Flag,
    open_world_hint=Flag,
)
AudioContent = _model(
    "AudioContent",
    "Sound of a message; `data` is its base64 text.",
    type=Literal["audio"],
    data=str,
    mime_type=str,
    annotations=Optional[Annotations],
    meta=Meta,
)
ResourceContents = _model("ResourceContents", "A resource's contents.", uri=str, mime_type=Text, meta=Meta)
TextResourceContents = _model("TextResourceContents", "Contents that are text.", ResourceContents, text=str)
BlobResourceContents = _model("BlobResourceContents", "Contents in base64.", ResourceContents, blob=str)
ContentType = Union[TextContent, ImageContent, ResourceContent]

Resource = _model(
    "Resource",
    "A resource of a server.",
    uri=str,
    name=str,
    description=Text,
    mime_type=Text,
    size=Optional[int],
    meta=Meta,
)
ResourceLink = _model(
    "ResourceLink",
    "A resource that a message names.",
    Resource,
    type=(Literal["resource_link"], "resource_link"),
)
ResourceTemplate = _model(
    "ResourceTemplate",
    "A pattern of resource addresses.",
    id=Text,
    uri_template=str,
    name=str,
    description=Text,
    mime_type=Text,
    annotations=Members,
    meta=Meta,
)
EmbeddedResource = _model(
    "EmbeddedResource",
    "A resource inside a message.",
    type=(Literal["resource"], "resource"),
    resource=Union[TextResourceContents, BlobResourceContents],
    annotations=Optional[Annotations],
    meta=Meta,
)
ContentBlock = Union[TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource]

SamplingMessage = _model("SamplingMessage", "A message to a model.", BaseModel, role=Role, content=ContentType)
PromptMessage = _model("PromptMessage", "A message of a prompt.", role=Role, content=ContentBlock)
CreateMessageResult = _model(
    "CreateMessageResult",
    "What a model said.",
    content=Union[TextContent, ImageContent],
    model=str,
    role=Role,
    stop_reason=Text,
)
PromptArgument = _model(
    "PromptArgument",
    "An argument of a prompt.",
    name=str,
    title=Text,
    description=Text,
    required=(bool, False),
    meta=Meta,
)
Prompt = _model(
    "Prompt", "A prompt of a server.", name=str, description=Text, arguments=(list[PromptArgument], []), meta=Meta
)
Implementation = _model("Implementation", "Name and version of a program.", BaseModel, name=str, version=str)
ClientCapabilities = _model(
    "ClientCapabilities",
    "What a client can do.",
    BaseModel,
    roots=Members,
    sampling=Members,
    elicitation=Members,
    extensions=Members,
    experimental=Members,
)
ServerCapabilities = _model(
    "ServerCapabilities",
    "What a server can do.",
    BaseModel,
    prompts=Members,
    resources=Members,
    tools=Members,
    logging=Members,
    completions=Members,
    extensions=Members,
    experimental=Members,
)
CommonAttributes = _model(
    "CommonAttributes",
    "What tools and gateways have in common.",
    BaseModel,
    name=str,
    url=AnyHttpUrl,
    description=Text,
    created_at=Optional[datetime],
    updated_at=Optional[datetime],
    enabled=Flag,
    reachable=Flag,
    auth_type=Text,
    tags=Optional[list[dict[str, str]]],
    **{f"created_{what}": Text for what in ("by", "from_ip", "via", "user_agent")},
    **{f"modified_{what}": Text for what in ("by", "from_ip", "via", "user_agent")},
    import_batch_id=Text,
    federation_source=Text,
    version=Optional[int],
    team_id=Text,
    owner_email=Text,
    visibility=Text,
)


class _OfObjects(CommonAttributes):
    model_config = ConfigDict(from_attributes=True)


Tool = _model(
    "Tool",
    "A tool behind the gateway; `global_context.metadata['tool']` is one.",
    _OfObjects,
    original_name=Text,
    integration_type=(str, "MCP"),
    request_type=(str, "SSE"),
    headers=(Members, Field(default_factory=dict)),
    input_schema=(dict[str, Any], Field(default_factory=lambda: {"type": "object", "properties": {}})),
    output_schema=Members,
    annotations=(Members, Field(default_factory=dict)),
    auth_username=Text,
    auth_password=Text,
    auth_token=Text,
    jsonpath_filter=Text,
    custom_name=Text,
    custom_name_slug=Text,
    display_name=Text,
    gateway_id=Text,
)
Gateway = _model(
    "Gateway",
    "A server behind the gateway; `global_context.metadata['gateway']` is one.",
    _OfObjects,
    id=str,
    capabilities=ServerCapabilities,
    slug=str,
    transport=str,
    last_seen=(Optional[datetime], ...),
    passthrough_headers=(Optional[list[str]], ...),
    auth_value=(Optional[str | dict], ...),
)
CallToolResult = ToolResult = _model(
    "CallToolResult",
    "What a tool gave back.",
    content=list[ContentBlock],
    is_error=(Flag, False),
    structured_content=Members,
    meta=Meta,
)
Root = _model("Root", "A folder or file a client offers.", uri=AnyUrl, name=Text, meta=Meta)
JSONRPCRequest = _model(
    "JSONRPCRequest",
    "A request of JSON-RPC.",
    BaseModel,
    jsonrpc=Literal["2.0"],
    id=Optional[str | int],
    method=str,
    params=Members,
)
JSONRPCError = _model("JSONRPCError", "An error of JSON-RPC.", BaseModel, code=int, message=str, data=(Any, None))
JSONRPCResponse = _model(
    "JSONRPCResponse",
    "A response of JSON-RPC.",
    BaseModel,
    jsonrpc=Literal["2.0"],
    id=Optional[str | int],
    result=(Any, None),
    error=Members,
)

_HELPERS = {"Any", "AnyHttpUrl", "AnyUrl", "BaseModel", "ConfigDict", "Content", "Enum", "Field", "Flag", "Literal"}
_HELPERS |= {"Members", "Meta", "Optional", "Protocol", "Text", "Union", "create_model", "datetime"}
__all__ = sorted(name for name in globals() if name[0] != "_" and name not in _HELPERS)
