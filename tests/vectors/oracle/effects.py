"""What plugins leave for the caller."""

from oracle.ijson import Number


class Effects:
    """Merged in the order in which they are added."""

    def __init__(self):
        self.metadata, self.headers, self.retry_ms, self.result, self.extensions = {}, {}, None, None, {}

    def add(self, answer):
        """Metadata by key, headers without regard to case, the largest delay, the last result, slots member by member."""
        self.metadata.update(answer.metadata)
        for name, value in answer.headers:
            self.headers[name.lower()] = (name, value)
        if answer.retry_ms is not None:
            self.retry_ms = max(answer.retry_ms, self.retry_ms or 0)
        if answer.result is not None:
            self.result = answer.result
        for slot, members in answer.extensions.items():
            self.extensions.setdefault(slot, {}).update(members)

    def outcome(self):
        """As an outcome shows them."""
        return {
            "metadata": self.metadata,
            "headers": dict(self.headers.values()),
            "retry_after_ms": None if self.retry_ms is None else Number(str(self.retry_ms)),
            "extensions": self.extensions,
            "result": self.result,
        }
