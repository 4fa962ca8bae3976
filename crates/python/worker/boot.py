# Started with `python -I -S -B -c <this text>`. Nothing of the environment has run yet: no .pth file, no
# sitecustomize. The frame pipes are moved out of the way before anything else can print or read.
import os
import sys


def take_pipes():
    """Keep fd 0 and fd 1 as private descriptors; leave an empty stdin and a stdout that is the log."""
    read_fd, write_fd = os.dup(0), os.dup(1)  # dup gives descriptors that child processes do not inherit
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)
    text = {"mode": "w", "buffering": 1, "encoding": "utf-8", "errors": "backslashreplace", "closefd": False}
    sys.stdout = sys.__stdout__ = open(1, **text)
    sys.stderr = sys.__stderr__ = open(2, **text)
    return read_fd, write_fd


read_fd, write_fd = take_pipes()

import json  # noqa: E402
import linecache  # noqa: E402
from importlib.machinery import ModuleSpec  # noqa: E402


class Sources:
    """Imports the worker's modules from the first frame; a module that has children is a package."""

    def __init__(self, modules):
        self.modules = modules

    def find_spec(self, name, path=None, target=None):
        if name not in self.modules:
            return None
        package = any(other.startswith(name + ".") for other in self.modules)
        return ModuleSpec(name, self, origin=name.replace(".", "/") + ".py", is_package=package)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name, origin = module.__name__, module.__spec__.origin
        source = self.modules[name]
        # No mtime: linecache never drops the entry, so tracebacks show the lines.
        linecache.cache[origin] = (len(source), None, source.splitlines(True), origin)
        exec(compile(source, origin, "exec", dont_inherit=True), module.__dict__)

    def get_source(self, name):
        return self.modules[name]


def read_exactly(count):
    """`count` bytes of the frame pipe; an end of file before the first frame is an orderly end."""
    data = bytearray()
    while len(data) < count:
        chunk = os.read(read_fd, min(count - len(data), 65536))
        if not chunk:
            sys.exit(0)
        data += chunk
    return bytes(data)


try:
    first = json.loads(read_exactly(int.from_bytes(read_exactly(4), "big")))
    if first["type"] != "sources":
        raise ValueError("the first frame must be of type 'sources', not %r" % first["type"])
    modules = first["modules"]
except (ValueError, KeyError, TypeError) as error:
    print("hookgate worker: the first frame cannot be understood: %s" % error, file=sys.stderr)
    sys.exit(2)

sys.meta_path.insert(0, Sources(modules))

import site  # noqa: E402

site.main()

from hookgate_worker.main import main  # noqa: E402

sys.exit(main(read_fd, write_fd))
