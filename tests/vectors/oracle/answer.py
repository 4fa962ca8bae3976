"""What a plugin is lent for a call, and what it answers."""

import copy
from dataclasses import dataclass, field


class Failed(Exception):
    """The plugin did not answer; the argument is the kind of fault."""


@dataclass
class Call:
    """What a plugin is lent besides the payload. State and shared state are copies it may write."""

    caller: dict
    state: dict
    shared: dict
    found_shared: dict = field(init=False)

    def __post_init__(self):
        self.found_shared = copy.deepcopy(self.shared)


@dataclass
class Answer:
    """A verdict (`allow`, `ask`, `deny`) with what goes along with it."""

    verdict: str = "allow"
    # A denial may come without one, and an allow with one.
    violation: dict | None = None
    approval: dict | None = None
    edits: list = field(default_factory=list)
    # Whether an edit was refused and the plugin went on all the same.
    refused: bool = False
    metadata: dict = field(default_factory=dict)
    headers: list = field(default_factory=list)
    retry_ms: int | None = None
    result: object = None
    # Slot, then member: what was written there.
    extensions: dict = field(default_factory=dict)


def violation(code, reason, description="", details=None, mcp_error_code=None, http_status_code=None, http_headers=None):
    """A violation with every member present, before the engine adds the plugin."""
    return {
        "code": code,
        "reason": reason,
        "description": description,
        "details": {} if details is None else details,
        "mcp_error_code": mcp_error_code,
        "http_status_code": http_status_code,
        "http_headers": {} if http_headers is None else http_headers,
    }
