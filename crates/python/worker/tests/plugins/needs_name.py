"""A plugin that needs a name of a supplied module that is not supplied."""

from mcpgateway.config import UI_HIDABLE_SECTIONS
from mcpgateway.plugins.framework import Plugin


class NeedsName(Plugin):
    """Never made."""

    sections = UI_HIDABLE_SECTIONS
