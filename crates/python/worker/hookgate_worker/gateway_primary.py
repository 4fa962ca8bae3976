"""`mcpgateway.utils.primary_worker` where the gateway is not installed: one of a plugin's workers is the primary.

All workers of one plugin share its temporary folder and nobody else does, so a lock on a file there tells them
apart. The kernel drops it with the process, and the next worker that asks takes over.
"""

import fcntl
import os
import tempfile
import threading

from hookgate_worker.gateway_settings import settings
from hookgate_worker.log_output import log

_guard = threading.Lock()
# The descriptor that holds the lock, for the rest of the process's life.
_held = []


def is_primary_worker():
    """Whether this process is the one that does what must be done once; False where that cannot be told."""
    if settings.primary_worker_election_backend != "filelock":
        log.warning(
            "no worker is the primary one: primary_worker_election_backend is '%s', 'filelock' is possible",
            settings.primary_worker_election_backend,
        )
        return False
    with _guard:
        if _held:
            return True
        path = settings.primary_worker_lock_path or os.path.join(tempfile.gettempdir(), "hookgate-primary.lock")
        try:
            # Not inherited: a child of the plugin must not hold it on.
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            log.warning("no worker is the primary one: %s", error)
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        _held.append(descriptor)
        return True


__all__ = ["is_primary_worker"]
