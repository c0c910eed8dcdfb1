"""Registers of a switch on a board by its serial line (``hdl/rtl/uart_registers.sv``, 115200 bit/s).

python hdl/uart.py /dev/ttyUSB1 read identity
python hdl/uart.py /dev/ttyUSB1 read received 1          that of port 1
python hdl/uart.py /dev/ttyUSB1 write ats_classes 0x40
python hdl/uart.py /dev/ttyUSB1 counters                 all that are not 0
"""

from __future__ import annotations

import os
import select
import sys
import termios
import time
from collections.abc import Callable

import registers

OKAY = 0
SECONDS = 1.0
Exchange = Callable[[bytes, int], bytes]


class Refused(Exception):
    """The switch answered by SLVERR."""


def read_request(address: int) -> bytes:
    return b"R" + address.to_bytes(2, "big")


def write_request(address: int, word: int) -> bytes:
    return b"W" + address.to_bytes(2, "big") + word.to_bytes(4, "big")


def read(exchange: Exchange, address: int) -> int:
    """A word; ``exchange`` sends octets and returns so many that are answered."""
    answer = exchange(read_request(address), 5)
    if answer[0] != OKAY:
        raise Refused(f"a read of {address:#05x}")
    return int.from_bytes(answer[1:], "big")


def write(exchange: Exchange, address: int, word: int) -> None:
    if exchange(write_request(address, word), 1)[0] != OKAY:
        raise Refused(f"a write of {word:#x} to {address:#05x}")


def address_of(found: registers.Map, name: str, port: int | None) -> int:
    """The address of a register, or of that of a port."""
    for one in found.registers:
        if one.name == name and bool(one.block) == (port is not None):
            return one.address + (found.port_base + port * found.port_stride if port is not None else 0)
    raise SystemExit(f"no register {name}{'' if port is None else ' of a port'}: docs/hardware/registers.md has their names")


def line(path: str) -> Exchange:
    """A serial line at 115200 bit/s."""
    descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY)
    settings = termios.tcgetattr(descriptor)
    settings[0] = settings[1] = settings[3] = 0
    settings[2] = termios.CS8 | termios.CREAD | termios.CLOCAL
    settings[4] = settings[5] = termios.B115200
    settings[6][termios.VMIN], settings[6][termios.VTIME] = 0, 0
    termios.tcsetattr(descriptor, termios.TCSANOW, settings)
    termios.tcflush(descriptor, termios.TCIOFLUSH)

    def exchange(request: bytes, count: int) -> bytes:
        os.write(descriptor, request)
        answer, until = b"", time.monotonic() + SECONDS
        while len(answer) < count:
            left = until - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise SystemExit(f"{path}: no answer within {SECONDS:.0f} s")
            answer += os.read(descriptor, count - len(answer))
        return answer

    return exchange


def main(arguments: list[str]) -> None:
    match arguments:
        case [path, "read", name, *port] if len(port) <= 1:
            found = registers.read_map()
            print(f"{read(line(path), address_of(found, name, int(port[0]) if port else None)):#010x}")
        case [path, "write", name, *port, word] if len(port) <= 1:
            found = registers.read_map()
            write(line(path), address_of(found, name, int(port[0]) if port else None), int(word, 0))
        case [path, "counters"]:
            found, exchange = registers.read_map(), line(path)
            ports = read(exchange, address_of(found, "shape", None)) & 0xFF
            for one in found.registers:
                if one.access != "ro" or one.constant is not None:
                    continue
                for each in range(ports) if one.block else (None,):
                    count = read(exchange, address_of(found, one.name, each))
                    if count:
                        print(f"{one.name}{'' if each is None else f' of port {each}'}: {count}")
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
