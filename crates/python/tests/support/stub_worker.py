# A worker that does what each call's payload says, for tests of supervision. It speaks the protocol by itself:
# no framework, no environment. `config` of the plugin says how it starts and ends.
import json
import os
import subprocess
import sys
import threading
import time

held, cancelled, config, plugin = {}, [], {}, {}


def exactly(count):
    data = b""
    while len(data) < count:
        piece = os.read(0, min(count - len(data), 65536))
        if not piece:
            os._exit(0)
        data += piece
    return data


def receive():
    return json.loads(exactly(int.from_bytes(exactly(4), "big")))


def send(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    view = memoryview(len(body).to_bytes(4, "big") + body)
    while view:
        view = view[os.write(1, view) :]


def hang():
    threading.Event().wait()


def allow(asked, /, **metadata):
    metadata["pid"] = os.getpid()
    send({"type": "answer", "id": asked["id"], "verdict": "allow", "metadata": metadata})


def note_start():
    """Counts starts in a file; the nth may fail as `config` says."""
    with open(config["starts"], "a+") as file:
        file.write("start\n")
        file.seek(0)
        return len(file.readlines())


def start(message):
    plugin.update(message["plugin"])
    config.update(plugin["config"])
    if "lifeline" in config:
        os.set_inheritable(os.open(config["lifeline"], os.O_WRONLY), True)
    if "meets" in config:
        # Each end of a pipe waits here until the other is there.
        with open(*config["meets"]):
            pass
    number = note_start() if "starts" in config else 1
    if number >= config.get("dies_from", 10**9):
        print("no luck at start", number, file=sys.stderr)
        os._exit(3)
    if number >= config.get("hangs_from", 10**9):
        hang()
    if "fails" in config:
        send({"type": "failed", **config["fails"]})
        sys.exit(1)
    ready = {"type": "ready", "python": "3", "framework": {"name": "stub", "version": "1"}, "hooks": ["tool_pre_invoke"]}
    send({**ready, "extensions": config.get("extensions", [])})


def do(call):
    args = call["payload"]["args"]
    if "told" in config:
        with open(config["told"], "w") as pipe:
            pipe.write(f"{plugin['name']}\n")
    what = args["do"]
    if what == "allow":
        allow(call)
    elif what == "exit":
        print("about to exit", file=sys.stderr, flush=True)
        os._exit(args["code"])
    elif what == "kill":
        os.kill(os.getpid(), 9)
    elif what == "hang":
        hang()
    elif what == "then_hang":
        allow(call)
        hang()
    elif what in ("hold", "late", "dawdle"):
        held[call["id"]] = call
    elif what == "release":
        for other in reversed(held.values()):
            allow(other, was=other["payload"]["args"]["n"])
        held.clear()
        allow(call)
    elif what == "cancelled":
        allow(call, cancelled=cancelled)
    elif what == "flood":
        os.write(2, b"x" * 65536 + b"\n")
        for number in range(args["lines"]):
            os.write(2, b"line %d %s\n" % (number, b"y" * 1000))
        allow(call)
    elif what == "big":
        send({"type": "answer", "id": call["id"], "verdict": "allow", "metadata": {"big": "x" * args["bytes"]}})
    elif what == "big_without_head":
        send({"text": "x" * args["bytes"]})
    elif what == "answer":
        send({"type": "answer", "id": call["id"], **args["frame"]})
    elif what == "bytes":
        send(args["bytes"].encode())
    elif what == "text":
        send(args["text"].replace("ID", str(call["id"])).encode())
    elif what == "lengths":
        os.write(1, b"\xff\xff\xff\xff")
    elif what == "fault":
        send({"type": "fault", "id": call["id"], **args["frame"]})
    elif what == "echo":
        allow(call, call=call, start=config, plugin=plugin, environ=dict(os.environ), cwd=os.getcwd())
    elif what == "child":
        code = "import threading; threading.Event().wait()"
        allow(call, child=subprocess.Popen([sys.executable, "-I", "-S", "-c", code], close_fds=False).pid)
    elif what == "allocate":
        try:
            bytearray(args["bytes"])
            allow(call)
        except MemoryError as error:
            send({"type": "fault", "id": call["id"], "kind": "plugin_error", "message": f"MemoryError: {error}"})


def cancel(message):
    call = held.pop(message["id"], None)
    if call is None:
        return
    cancelled.append(call["payload"]["args"]["n"])
    what = call["payload"]["args"]["do"]
    if what == "late":
        allow(call)
    elif what == "dawdle":
        time.sleep(call["payload"]["args"]["seconds"])
        allow(call)
    else:
        send({"type": "cancelled", "id": message["id"]})


assert receive()["type"] == "sources"
start(receive())
while True:
    message = receive()
    if message["type"] == "call":
        do(message)
    elif message["type"] == "cancel":
        cancel(message)
    elif message["type"] == "shutdown":
        if config.get("stubborn"):
            hang()
        if "ended" in config:
            with open(config["ended"], "w") as file:
                file.write("shut down")
        send({"type": "bye"})
        sys.exit(0)
