import os
import socket
import subprocess

from attempts import Attempts


class Refused(Attempts):
    """Lets what is refused end the call."""

    async def initialize(self):
        path = (self._config.config or {}).get("open_first")
        if path:
            open(path).close()

    def read(self, path):
        with open(path) as file:
            return file.read()

    def write(self, path):
        with open(path, "w") as file:
            file.write("x")

    def make(self, path):
        os.mkdir(path)

    def wrapped(self, path):
        try:
            self.read(path)
        except OSError as error:
            raise ValueError("no word list") from error

    def connect(self, port):
        socket.create_connection(("127.0.0.1", port), timeout=10)

    def connect_itself(self, port):
        with socket.socket() as made:
            made.connect(("127.0.0.1", port))

    def run(self):
        subprocess.run(["/bin/true"], check=True)

    def fork(self):
        os.fork()

    def change(self):
        path = f"{os.environ['HOME']}/own"
        open(path, "w").close()
        os.chmod(path, 0o777)

    def signal(self):
        os.kill(os.getppid(), 0)

    def unrelated(self):
        open(f"{os.environ['HOME']}/not-there").close()
