"""Private state that is not JSON (a lock, an open client, a set): it stays in the worker, per request."""

import time
from collections import OrderedDict


class KeptState:
    """Values by request id, bounded in number and in idle time; least recently used goes first."""

    def __init__(self, requests, idle_s, clock=time.monotonic):
        self._requests = requests
        self._idle_s = idle_s
        self._clock = clock
        # Request id to [last use, {(prefix, key): value}], least recently used first.
        self._entries = OrderedDict()

    def merged(self, request_id, state, metadata):
        """Puts the request's kept values over the received ones; gives the keys that were lent."""
        if not self._entries:
            return ()
        self._expire()
        entry = self._entries.get(request_id)
        if entry is None:
            return ()
        self._touch(request_id, entry)
        for (prefix, key), value in entry[1].items():
            (state if prefix == "state:" else metadata)[key] = value
        return frozenset(entry[1])

    def update(self, request_id, values, lent):
        """Keeps `values`; a value that was lent and is no longer there is forgotten.

        Another call of the same request may have kept something meanwhile, so nothing else is touched.
        """
        entry = self._entries.get(request_id) or [0, {}]
        held = entry[1]
        for key in lent:
            if key not in values:
                held.pop(key, None)
        held.update(values)
        if held:
            self._entries[request_id] = entry
            self._touch(request_id, entry)
        else:
            self._entries.pop(request_id, None)
        self._expire()

    def __len__(self):
        return len(self._entries)

    def _touch(self, request_id, entry):
        entry[0] = self._clock()
        self._entries.move_to_end(request_id)

    def _expire(self):
        entries = self._entries
        oldest = self._clock() - self._idle_s
        while entries:
            request_id, entry = next(iter(entries.items()))
            if len(entries) <= self._requests and entry[0] > oldest:
                return
            del entries[request_id]
