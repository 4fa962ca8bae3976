"""A module that cannot be imported."""

raise ImportError("missing on purpose")
