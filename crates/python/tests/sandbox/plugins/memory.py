import mmap
import resource
import subprocess
import sys
import time

from attempts import Attempts

MIB = 1 << 20


class Memory(Attempts):
    def peak(self):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def private(self):
        held = []
        while True:
            held.append(b"\xa5" * MIB)

    def shared(self, count):
        """Fills shared memory, at most 1 MiB a millisecond, and counts it in a file that outlives the worker."""
        with open(count, "r+b") as file:
            counter = mmap.mmap(file.fileno(), 8)
        held = mmap.mmap(-1, 2048 * MIB)
        for number in range(2048):
            held[number * MIB : (number + 1) * MIB] = b"\xa5" * MIB
            counter[:8] = (number + 1).to_bytes(8, "little")
            time.sleep(0.001)

    def family(self, lifeline):
        """Children that each stay below the limit, in sessions of their own."""
        code = f"held = b'\\xa5' * (150 << 20); open({lifeline!r}, 'w').write('x'); import time; time.sleep(600)"
        kept = open(lifeline, "w")
        children = [
            subprocess.Popen([sys.executable, "-I", "-S", "-c", code], start_new_session=True, pass_fds=[kept.fileno()])
            for _ in range(4)
        ]
        for child in children:
            child.wait()
