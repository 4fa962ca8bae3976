"""Leaves the custom sections (names for debuggers) out of a WebAssembly binary: strip.py IN OUT."""

import sys


def number(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned LEB128 number and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def main() -> None:
    source, target = sys.argv[1:]
    with open(source, "rb") as file:
        data = file.read()
    kept, at = data[:8], 8
    while at < len(data):
        size, body = number(data, at + 1)
        if data[at] != 0:
            kept += data[at : body + size]
        at = body + size
    with open(target, "wb") as file:
        file.write(kept)


main()
