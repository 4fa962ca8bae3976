import socket

from attempts import Attempts, outcome


def connect(family, kind, address, protocol=0):
    with socket.socket(family, kind, protocol) as made:
        made.settimeout(10)
        made.connect(address)


def ask(port):
    with socket.create_connection(("127.0.0.1", port), timeout=10) as made:
        made.sendall(b"ping")
        return made.recv(4).decode()


def send(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as made:
        made.sendto(b"x", address)


class Sockets(Attempts):
    def every(self, port, udp_port, path, abstract):
        tcp, udp = socket.SOCK_STREAM, socket.SOCK_DGRAM
        local = ("127.0.0.1", port)

        def pair(kind):
            one, two = socket.socketpair(socket.AF_UNIX, kind)
            with one, two:
                one.sendall(b"x")
                return two.recv(1).decode()

        def pair_elsewhere():
            one, two = socket.socketpair(socket.AF_UNIX, udp)
            with one, two:
                one.sendto(b"x", path)

        def pair_connects():
            one, two = socket.socketpair()
            with one, two:
                one.connect(path)

        return {
            "tcp": outcome(connect, socket.AF_INET, tcp, local),
            "tcp6": outcome(connect, socket.AF_INET6, tcp, ("::1", port)),
            "udp": outcome(send, socket.AF_INET, ("127.0.0.1", udp_port)),
            "unix": outcome(connect, socket.AF_UNIX, tcp, path),
            "unix_datagram": outcome(send, socket.AF_UNIX, path),
            "abstract": outcome(connect, socket.AF_UNIX, tcp, "\0" + abstract),
            "netlink": outcome(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close()),
            "packet": outcome(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()),
            "raw": outcome(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close()),
            "vsock": outcome(lambda: socket.socket(socket.AF_VSOCK, tcp, 0).close()),
            "pair": outcome(pair, tcp),
            "pair_datagram": outcome(pair, udp),
            "pair_elsewhere": outcome(pair_elsewhere),
            "pair_connects": outcome(pair_connects),
        }

    def granted(self, port, other):
        tcp = socket.SOCK_STREAM

        def fast_open():
            with socket.socket(socket.AF_INET, tcp) as made:
                made.sendto(b"x", 0x20000000, ("127.0.0.1", other))

        def serve(kind):
            with socket.socket(socket.AF_INET, kind) as made:
                made.bind(("127.0.0.1", 0))

        def listen():
            with socket.socket(socket.AF_INET, tcp) as made:
                made.listen()

        return {
            "granted": outcome(ask, port),
            "other": outcome(connect, socket.AF_INET, tcp, ("127.0.0.1", other)),
            "multipath": outcome(connect, socket.AF_INET, tcp, ("127.0.0.1", other), 262),
            "fast_open": outcome(fast_open),
            "bind": outcome(serve, tcp),
            "bind_datagram": outcome(serve, socket.SOCK_DGRAM),
            "listen": outcome(listen),
            "resolved": outcome(lambda: socket.getaddrinfo("localhost", port, type=tcp)[0][4][1]),
        }
