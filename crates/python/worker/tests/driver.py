"""Speaks worker protocol 2 to a real worker process, as the host does."""

import json
import os
import select
import subprocess
import threading
import time
from pathlib import Path

WORKER = Path(__file__).resolve().parent.parent
PLUGINS = Path(__file__).resolve().parent / "plugins"
# Nothing here takes long; a worker that has not answered by then never will.
PATIENCE_S = 60.0


def interpreter():
    """The interpreter of the environment that holds cpex and the published plugins."""
    python = os.environ.get("HOOKGATE_TEST_PYTHON")
    if not python:
        raise RuntimeError(
            "HOOKGATE_TEST_PYTHON is not set\n"
            "hint: HOOKGATE_TEST_PYTHON=<venv>/bin/python, with the packages that tests/data/legacy-pypi.json names"
        )
    return python


def sources():
    """The worker's modules by dotted name, as the host sends them."""
    modules = {}
    for path in sorted((WORKER / "hookgate_worker").glob("*.py")):
        name = "hookgate_worker" if path.stem == "__init__" else f"hookgate_worker.{path.stem}"
        modules[name] = path.read_text(encoding="utf-8")
    return {"type": "sources", "modules": modules}


class WorkerProcess:
    """A worker with its pipes. What it writes to stderr is collected by a thread."""

    def __init__(self, python=None, stderr=None):
        to_worker_read, self.write_fd = os.pipe()
        self.read_fd, from_worker_write = os.pipe()
        self.process = subprocess.Popen(
            [python or interpreter(), "-I", "-S", "-B", "-c", (WORKER / "boot.py").read_text(encoding="utf-8")],
            stdin=to_worker_read,
            stdout=from_worker_write,
            stderr=subprocess.PIPE if stderr is None else stderr,
            env={"PATH": os.environ.get("PATH", "")},
            process_group=0,
        )
        os.close(to_worker_read)
        os.close(from_worker_write)
        self._held = bytearray()
        self._log = b""
        self._log_grew = threading.Condition()
        self._log_reader = threading.Thread(target=self._read_log, daemon=True)
        if stderr is None:
            self._log_reader.start()
        self._next_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for fd in (self.write_fd, self.read_fd):
            if fd is not None:
                os.close(fd)
        self.write_fd = self.read_fd = None
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stderr is not None:
            self._log_reader.join()
            self.process.stderr.close()

    def _read_log(self):
        while chunk := os.read(self.process.stderr.fileno(), 65536):
            with self._log_grew:
                self._log += chunk
                self._log_grew.notify_all()

    def log_with(self, text):
        """Waits until the log holds `text`; gives the whole log."""
        with self._log_grew:
            if not self._log_grew.wait_for(lambda: text.encode() in self._log, PATIENCE_S):
                raise AssertionError(f"the log never held {text!r} but: {self._log.decode(errors='replace')[-2000:]}")
            return self._log.decode(errors="replace")

    def whole_log(self):
        """The log of a worker that has ended."""
        self._log_reader.join(PATIENCE_S)
        return self._log.decode(errors="replace")

    def is_heard(self):
        """Whether a process still holds the other end of the log."""
        return self._log_reader.is_alive()

    def send_body(self, body):
        """Sends bytes as one frame."""
        rest = len(body).to_bytes(4, "big") + body
        while rest:
            rest = rest[os.write(self.write_fd, rest) :]

    def send(self, message):
        """Sends a message as one frame."""
        self.send_body(json.dumps(message, ensure_ascii=False).encode())

    def receive(self):
        """The next message; None at the end of the pipe."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            if len(self._held) >= 4:
                end = 4 + int.from_bytes(self._held[:4], "big")
                if len(self._held) >= end:
                    body = bytes(self._held[4:end])
                    del self._held[:end]
                    return json.loads(body)
            ready, _, _ = select.select([self.read_fd], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise AssertionError(
                    f"no frame within {PATIENCE_S} s; log: {self._log.decode(errors='replace')[-2000:]}"
                )
            chunk = os.read(self.read_fd, 65536)
            if not chunk:
                assert not self._held, f"the pipe ended inside a frame: {bytes(self._held[:200])!r}"
                return None
            self._held += chunk

    def start(self, class_path, hooks, config=None, **changes):
        """Sends the sources and a start frame; gives the answer to it."""
        self.send(sources())
        message = {
            "type": "start",
            "protocol": 2,
            "class": class_path,
            "plugin_dirs": [str(PLUGINS)],
            "workdir": None,
            "plugin": {
                "name": "under-test",
                "kind": class_path,
                "description": "d",
                "author": "a",
                "version": "1.0.0",
                "hooks": hooks,
                "tags": ["t"],
                "mode": "sequential",
                "on_error": "fail",
                "priority": 7,
                "conditions": [],
                "capabilities": [],
                "config": config or {},
            },
            "limits": {"requests": 10000, "idle_s": 600, "log_bytes": 65536},
        }
        for key, value in changes.items():
            message[key] = {**message[key], **value} if isinstance(message.get(key), dict) else value
        self.send(message)
        return self.receive()

    def post(self, hook, payload, state=None, shared=None, request=None, call_id=None, extensions=None):
        """Sends a call; gives its id."""
        if call_id is None:
            self._next_id += 1
            call_id = self._next_id
        given = {
            "id": "r1",
            "call_id": None,
            "user": None,
            "user_context": None,
            "tenant_id": None,
            "server_id": None,
            "content_type": None,
            "metadata": {},
            **(request or {}),
        }
        side = {} if extensions is None else {"extensions": extensions}
        self.send(
            {
                "type": "call",
                **side,
                "id": call_id,
                "hook": hook,
                "payload": payload,
                "request": given,
                "state": state or {},
                "shared": shared or {},
                "deadline_ms": 30000,
            }
        )
        return call_id

    def call(self, hook, payload, **given):
        """Sends a call and gives the next frame, which must be its answer."""
        call_id = self.post(hook, payload, **given)
        answer = self.receive()
        assert answer is not None and answer["id"] == call_id, answer
        return answer


def applied(sent, edits):
    """The payload after the edits, all of which refer to the payload as it was sent."""
    result = json.loads(json.dumps(sent))
    removals = []
    for edit in edits:
        *path, last = [part.replace("~1", "/").replace("~0", "~") for part in edit["at"].split("/")[1:]]
        parent = result
        for part in path:
            parent = parent[int(part)] if isinstance(parent, list) else parent[part]
        if edit["op"] == "remove":
            removals.append((parent, int(last) if isinstance(parent, list) else last))
        elif isinstance(parent, list) and last == "-":
            parent.append(edit["value"])
        elif isinstance(parent, list):
            parent[int(last)] = edit["value"]
        else:
            parent[last] = edit["value"]
    # From the back, so that indexes still mean what they meant in the payload as sent.
    for parent, key in sorted(removals, key=lambda removal: isinstance(removal[1], int) and -removal[1]):
        del parent[key]
    return result
