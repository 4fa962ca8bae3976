"""Names the grant that would allow what the sandbox refused."""

import errno
import json
import linecache
import re

from hookgate_worker.log_output import describe, log

# Whether the worker is confined: the start frame says so. Without a sandbox a refusal is of another kind.
confined = False

# How far causes are followed: libraries wrap a refusal a few times.
CAUSES = 16

_STARTS = re.compile(r"\b(fork\w*|_fork_exec|posix_spawnp?|exec[lv]p?e?|spawn\w*|[Pp]open)\s*\(")
_CHANGES = re.compile(r"\b(l?chmod|fchmod|[lf]?chown|utime|\w+xattr|copymode|copystat)\s*\(")
_SIGNALS = re.compile(r"\b(kill|killpg|pidfd_send_signal|prlimit|setpriority|sched_set\w+)\s*\(")
_SERVES = re.compile(r"\.(bind|listen|accept)\s*\(")
_CONNECTS = re.compile(r"socket|connect|sendto|getaddrinfo")
_WRITES = re.compile(
    r"\b(mkdir|makedirs|remove|unlink|rmdir|removedirs|rename|renames|replace|symlink|link|truncate|mkfifo|mknod"
    r"|touch|write_text|write_bytes)\b|\bO_(WRONLY|RDWR|CREAT|TRUNC)\b|['\"][rbt]*[wax+][bt+]*['\"]"
)
_ADDRESS = re.compile(r"\('([^']+)', (\d+)")
_PLAIN = re.compile(r"[\w./@+-]+\Z")
# What frames of the standard library call the address they connect to.
_ADDRESS_NAMES = ("address", "sa", "sockaddr", "addr")


def explained(error):
    """`Type: message` of an exception, with a line that names the grant if the sandbox refused something."""
    text = describe(error)
    hint = _hint_for(error) if confined else None
    if hint is None:
        return text
    log.warning("the sandbox refused it: %s; hint: %s", text, hint)
    return f"{text}\nhint: {hint}"


def _hint_for(error):
    try:
        for cause in _causes(error):
            if isinstance(cause, OSError) and cause.errno in (errno.EACCES, errno.EPERM):
                return _hint(cause)
    except Exception:  # noqa: BLE001  a plugin's own exception may raise on any access
        pass
    return None


def _causes(error):
    """The exception, what it was raised from or while handling, and the parts of a group."""
    waiting, seen = [error], []
    while waiting and len(seen) < CAUSES:
        one = waiting.pop(0)
        if one is None or any(one is other for other in seen):
            continue
        seen.append(one)
        waiting += [*getattr(one, "exceptions", ()), one.__cause__, one.__context__]
    return seen


def _hint(error):
    frames = _frames(error.__traceback__)
    line = linecache.getline(frames[0][0].f_code.co_filename, frames[0][1]) if frames else ""
    if error.errno == errno.EPERM:
        if _CHANGES.search(line):
            return "no grant is for changing modes, owners, times or attributes; a new file has those of its making"
        if _SIGNALS.search(line):
            return "no grant is for other processes; a plugin signals what it started itself"
        if _STARTS.search(line):
            return "write `permissions: {processes: true}`"
        if _SERVES.search(line):
            return "no grant is for serving; a plugin connects to others"
        return _network(error, frames) if _CONNECTS.search(line) else None
    if isinstance(error.filename, (str, bytes)):
        return _file(error, line, frames)
    return _network(error, frames)


def _file(error, line, frames):
    path = error.filename if isinstance(error.filename, str) else error.filename.decode("utf-8", "replace")
    mode = frames[0][0].f_locals.get("mode") if frames else None
    writes = _WRITES.search(line) or (isinstance(mode, str) and set(mode) & set("wax+"))
    path = path if _PLAIN.match(path) else json.dumps(path)
    return f"write `permissions: {{files: [{{host: {path}, access: {'read_write' if writes else 'read'}}}]}}`"


def _network(error, frames):
    host, port = "HOST", "PORT"
    if found := _ADDRESS.search(str(error)):
        host, port = found.groups()
    else:
        for frame, _ in frames:
            known = (frame.f_locals.get(name) for name in _ADDRESS_NAMES)
            address = next((one for one in known if isinstance(one, tuple) and len(one) >= 2), None)
            if address is not None:
                host, port = address[:2]
                break
    return f"write `permissions: {{network: [{{host: {json.dumps(str(host))}, port: {port}}}]}}`"


def _frames(traceback):
    """Frames and their lines, the innermost first."""
    frames = []
    while traceback is not None:
        frames.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return frames[::-1]
