import ctypes
import hashlib
import locale
import mimetypes
import os
import sqlite3
import ssl
import tempfile
import time
import uuid
import zoneinfo

from attempts import Attempts, outcome, system_call


class Modes(Attempts):
    def change(self):
        path = f"{os.environ['HOME']}/own"
        with open(path, "w") as file:
            own = file.fileno()
            uid, gid = os.getuid(), os.getgid()
            tried = {
                "chmod": outcome(os.chmod, path, 0o777),
                "fchmod": outcome(os.fchmod, own, 0o4777),
                "fchmodat": outcome(lambda: os.chmod("own", 0o777, dir_fd=os.open(os.environ["HOME"], os.O_RDONLY))),
                "fchmodat2": outcome(system_call, "fchmodat2", -100, path.encode() + b"\0", 0o777, 0),
                "chown": outcome(os.chown, path, uid, gid),
                "fchown": outcome(os.fchown, own, uid, gid),
                "lchown": outcome(os.lchown, path, uid, gid),
                "attribute": outcome(os.setxattr, path, "user.x", b"1"),
                "times": outcome(os.utime, path, (0, 0)),
                "own_times": outcome(os.utime, own, (0, 0)),
            }
        tried["mode"] = oct(os.stat(path).st_mode & 0o7777)
        return tried

    def libraries(self):
        """What they read of the system of themselves, and what they ask of it."""
        compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
        numbers = (ctypes.c_int * 3)(3, 1, 2)
        ctypes.CDLL(None).qsort(numbers, 3, ctypes.sizeof(ctypes.c_int), compare(lambda one, two: one[0] - two[0]))
        database = sqlite3.connect(f"{os.environ['HOME']}/database")
        database.execute("create table words (word text)")
        database.execute("insert into words values ('one')")
        database.commit()
        with tempfile.NamedTemporaryFile("w+") as file:
            file.write("x")
        return {
            "callback": list(numbers),
            "database": database.execute("select word from words").fetchall()[0][0],
            "type": mimetypes.guess_type("a.html")[0],
            "tls": ssl.create_default_context().verify_mode == ssl.CERT_REQUIRED,
            "zone": zoneinfo.ZoneInfo("Europe/Berlin").key,
            "hour": time.localtime(0).tm_year in (1969, 1970),
            "digest": hashlib.new("sha256", b"").hexdigest()[:8],
            "locale": locale.setlocale(locale.LC_ALL, ""),
            "random": uuid.uuid4().version,
            "cores": os.cpu_count() == len(os.sched_getaffinity(0)) or os.cpu_count() > 0,
            "host": bool(os.uname().nodename),
        }
