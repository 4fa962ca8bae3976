import os

from attempts import Attempts, outcome


class Files(Attempts):
    def canary(self, folder, file):
        scratch = os.environ["HOME"]

        def through_a_link():
            os.symlink(file, f"{scratch}/link")
            open(f"{scratch}/link").close()

        def beside_a_descriptor():
            handle = os.open(folder, os.O_PATH)
            try:
                os.open(os.path.basename(file), os.O_RDONLY, dir_fd=handle)
            finally:
                os.close(handle)

        return {
            "open": outcome(lambda: open(file).close()),
            "list": outcome(os.listdir, folder),
            "list_home": outcome(os.listdir, os.path.dirname(folder)),
            "write": outcome(lambda: open(file, "w").close()),
            "truncate": outcome(os.truncate, file, 0),
            "unlink": outcome(os.unlink, file),
            "rename": outcome(os.rename, file, f"{scratch}/stolen"),
            "hard_link": outcome(os.link, file, f"{scratch}/stolen"),
            "symbolic_link": outcome(through_a_link),
            "path_descriptor": outcome(beside_a_descriptor),
            "own_root": outcome(lambda: open(f"/proc/self/root{file}").close()),
            "own_folder": outcome(lambda: open("/proc/self/cwd" + "/.." * 32 + file).close()),
            "stat": outcome(lambda: os.stat(file) and None),
        }

    def write(self, others):
        def make(folder):
            path = os.path.join(folder, "hookgate-was-here")
            with open(path, "w") as file:
                file.write("x")

        scratch = os.environ["HOME"]
        return {
            "others": {folder: outcome(make, folder) for folder in others},
            "current": outcome(make, os.getcwd()),
            "environment": outcome(make, os.path.dirname(os.__file__)),
            "shared_memory": outcome(make, "/dev/shm"),
            "folder": outcome(os.mkdir, "/tmp/hookgate-was-here"),
            "fifo": outcome(os.mkfifo, "/tmp/hookgate-was-here"),
            "scratch": outcome(make, scratch),
            "read_back": outcome(lambda: open(f"{scratch}/hookgate-was-here").read()),
            "temporary": os.environ["TMPDIR"] == scratch,
            "replaced": outcome(self._replace, scratch),
        }

    def _replace(self, scratch):
        os.mkdir(f"{scratch}/new")
        os.rename(f"{scratch}/hookgate-was-here", f"{scratch}/new/file")
        os.unlink(f"{scratch}/new/file")
        os.rmdir(f"{scratch}/new")

    def granted(self, read, write, one, beside):
        def append(path):
            with open(path, "a") as file:
                file.write("!")

        return {
            "list": outcome(lambda: sorted(os.listdir(read))),
            "read": outcome(lambda: open(f"{read}/file").read()),
            "write_where_read": outcome(append, f"{read}/file"),
            "make_where_read": outcome(append, f"{read}/new"),
            "append": outcome(append, f"{write}/file"),
            "make": outcome(append, f"{write}/new"),
            "remove": outcome(os.unlink, f"{write}/old"),
            "one": outcome(lambda: open(one).read()),
            "beside": outcome(lambda: open(beside).read()),
        }

    def environment(self):
        def read(path):
            with open(path, "rb") as file:
                return file.read().decode()

        parent = os.getppid()
        return {
            "own": sorted(os.environ),
            "parent": outcome(read, f"/proc/{parent}/environ"),
            "parent_line": outcome(read, f"/proc/{parent}/cmdline"),
            "parent_memory": outcome(read, f"/proc/{parent}/mem"),
            "parent_descriptors": outcome(os.listdir, f"/proc/{parent}/fd"),
            "processes": outcome(os.listdir, "/proc"),
            "self": outcome(read, "/proc/self/environ"),
        }

    def inherited(self, inode):
        """Whether a descriptor of the engine is here."""
        found = []
        for descriptor in range(4096):
            try:
                found.append(os.fstat(descriptor).st_ino)
            except OSError:
                pass
        return inode in found
