"""Plugins that need more of the gateway than there is without it."""

from mcpgateway.db import get_db
from mcpgateway.plugins.framework import Plugin


class NeedsDatabase(Plugin):
    """Never made."""

    database = get_db
