"""Stands for a gateway's models: here the id is optional and the text is always there."""

from pydantic import BaseModel, ConfigDict, Field


class ResourceContent(BaseModel):
    """A resource of this gateway."""

    model_config = ConfigDict(populate_by_name=True)
    type: str
    text: str
    id: str | None = None
    mime_type: str | None = Field(default=None, alias="mimeType")
