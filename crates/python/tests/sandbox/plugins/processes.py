import asyncio
import ctypes
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from cpex.framework import PluginResult

from attempts import Attempts, outcome, system_call

# Taken at import, before a child could have become the parent.
ENGINE = os.getppid()


class Processes(Attempts):
    def start(self):
        def fork():
            if os.fork() == 0:
                os._exit(0)

        true = "/bin/true"
        return {
            "subprocess": outcome(lambda: subprocess.run([true]).returncode),
            "subprocess_shell": outcome(lambda: subprocess.run("true", shell=True).returncode),
            "interpreter": outcome(lambda: subprocess.run([sys.executable, "-c", ""]).returncode),
            "fork": outcome(fork),
            "posix_spawn": outcome(os.posix_spawn, true, [true], {}),
            "multiprocessing": outcome(multiprocessing.get_context("fork").Process(target=int).start),
            "exec": outcome(os.execv, true, [true]),
            "exec_interpreter": outcome(os.execv, sys.executable, [sys.executable, "-c", ""]),
            "system": os.system("true") != 0,
            "clone": outcome(system_call, "clone", int(signal.SIGCHLD), 0, 0, 0, 0),
            "clone3": outcome(system_call, "clone3", 0, 0),
            "execveat": outcome(system_call, "execveat", 5000, b"/bin/true\0", 0, 0, 0x1000),
            "setsid": outcome(system_call, "setsid"),
        }

    async def _in_a_thread(self):
        return await asyncio.to_thread(threading.get_native_id) != threading.get_native_id()

    async def tool_pre_invoke(self, payload, context):
        if (payload.args or {}).get("do") == "threads":
            with ThreadPoolExecutor(4) as pool:
                pooled = sum(pool.map(lambda number: number * number, range(10)))
            return PluginResult(metadata={"got": {"pooled": pooled, "by_loop": await self._in_a_thread()}})
        return await super().tool_pre_invoke(payload, context)

    def signals(self):
        heard = []
        signal.signal(signal.SIGUSR1, lambda *_: heard.append("usr1"))

        def own(send, *arguments):
            heard.clear()
            send(*arguments)
            deadline = time.monotonic() + 30
            while not heard and time.monotonic() < deadline:
                time.sleep(0)
            return heard[:]

        engine_group = os.getpgid(ENGINE)
        return {
            "engine": outcome(os.kill, ENGINE, 0),
            "engine_for_good": outcome(os.kill, ENGINE, signal.SIGKILL),
            "engine_group": outcome(os.killpg, engine_group, 0),
            "everybody": outcome(os.kill, -1, 0),
            "init": outcome(os.kill, 1, 0),
            "thread": outcome(system_call, "tgkill", ENGINE, ENGINE, 0),
            "old_thread": outcome(system_call, "tkill", ENGINE, 0),
            "queued": outcome(system_call, "rt_sigqueueinfo", ENGINE, 0, 0),
            "by_descriptor": outcome(self._by_descriptor),
            "limits": outcome(lambda: resource.prlimit(ENGINE, resource.RLIMIT_NOFILE, (3, 3))),
            "priority": outcome(os.setpriority, os.PRIO_PROCESS, ENGINE, 19),
            "affinity": outcome(os.sched_setaffinity, ENGINE, {0}),
            "own_raise": own(signal.raise_signal, signal.SIGUSR1),
            "own_kill": own(os.kill, os.getpid(), signal.SIGUSR1),
            "own_group": own(os.killpg, os.getpgrp(), signal.SIGUSR1),
            "own_limits": outcome(lambda: resource.getrlimit(resource.RLIMIT_CORE)[0]),
        }

    def _by_descriptor(self):
        return system_call("pidfd_send_signal", system_call("pidfd_open", ENGINE, 0), 0, 0, 0)

    def engine_only(self):
        return {
            "engine": outcome(os.kill, ENGINE, 0),
            "engine_for_good": outcome(os.kill, ENGINE, signal.SIGKILL),
            "engine_group": outcome(os.killpg, os.getpgid(ENGINE), 0),
            "by_descriptor": outcome(self._by_descriptor),
        }

    def children(self, canary, port):
        def run(*words):
            ended = subprocess.run(words, capture_output=True, text=True, timeout=30)
            return [ended.returncode, ended.stdout]

        connect = f"import socket; socket.create_connection(('127.0.0.1', {port}))"
        session = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
        session.send_signal(signal.SIGTERM)
        return {
            "echo": outcome(run, "/bin/echo", "hi"),
            "shell": outcome(run, "/bin/sh", "-c", "echo one | cat"),
            "canary": outcome(run, "/bin/cat", canary)[0] != 0,
            "connect": outcome(run, sys.executable, "-c", connect)[0] != 0,
            "namespace": outcome(run, "/usr/bin/unshare", "-Ur", "true")[0] != 0,
            "own_child": session.wait(30),
        }

    def kernel(self):
        call = system_call
        return {
            "ptrace": outcome(call, "ptrace", 16, ENGINE, 0, 0),
            "ptrace_me": outcome(call, "ptrace", 0, 0, 0, 0),
            "read_memory": outcome(call, "process_vm_readv", ENGINE, 0, 0, 0, 0, 0),
            "mount": outcome(call, "mount", b"none\0", b"/tmp\0", b"tmpfs\0", 0, 0),
            "umount": outcome(call, "umount2", b"/tmp\0", 0),
            "new_mount": outcome(call, "fsopen", b"tmpfs\0", 0),
            "chroot": outcome(call, "chroot", b"/tmp\0"),
            "unshare_user": outcome(call, "unshare", 0x10000000),
            "setns": outcome(call, "setns", 0, 0),
            "thread_in_namespace": outcome(call, "clone", 0x10000000 | int(signal.SIGCHLD), 0, 0, 0, 0),
            "keyctl": outcome(call, "keyctl", 0, 0, 0, 0, 0),
            "bpf": outcome(call, "bpf", 0, 0, 0),
            "perf": outcome(call, "perf_event_open", 0, 0, 0, 0, 0),
            "userfaultfd": outcome(call, "userfaultfd", 0),
            "io_uring": outcome(call, "io_uring_setup", 1, 0),
            "kexec": outcome(call, "kexec_load", 0, 0, 0, 0),
            "module": outcome(call, "init_module", 0, 0, 0),
            "module_file": outcome(call, "finit_module", 0, 0, 0),
            "pidfd_getfd": outcome(call, "pidfd_getfd", 0, 0, 0),
            "handle": outcome(call, "open_by_handle_at", 0, 0, 0),
            "watch": outcome(call, "inotify_init1", 0),
            "shared_segment": outcome(call, "shmget", 0, 4096, 0o1600),
            "personality": outcome(call, "personality", 0xFFFFFFFF),
            "unnamed_file": outcome(call, "memfd_create", b"x\0", 0),
        }

    def rights(self):
        library = ctypes.CDLL(None, use_errno=True)
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        sets = (ctypes.c_uint32 * 6)()
        assert library.capget(header, sets) == 0
        limits = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in ("NOFILE", "FSIZE", "CORE")}

        def write_far():
            with open(f"{os.environ['HOME']}/large", "wb") as file:
                file.seek(limits["FSIZE"][0])
                file.write(b"x")

        def raise_limit():
            try:
                resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
            except ValueError as error:
                return str(error)

        return {
            "capabilities": list(sets),
            "bounding": [number for number in range(64) if library.prctl(23, number, 0, 0, 0) == 1],
            "no_new_privs": library.prctl(39, 0, 0, 0, 0),
            "limits": {name: list(pair) for name, pair in limits.items()},
            "raise_limit": outcome(raise_limit),
            "large_file": outcome(write_far),
        }
