"""The board: its modules have no warning, frames pass it, its registers are served (``versa_bench.py``), its bitstream is made of them."""

from __future__ import annotations

import os
import pathlib
import pty
import re
import threading

import pytest
from verilated import HDL, bench, lint

import bitstream
import uart


def test_the_board_has_no_warning() -> None:
    assert lint("versa", files=bitstream.board_files()) == ""


def test_the_board_between_two_neighbours_and_a_host(tmp_path: pathlib.Path) -> None:
    files = [*bitstream.board_files(), HDL / "tests" / "versa_bench.sv"]
    assert bench("versa_bench", files, "versa_bench", tmp_path) == 2


def test_every_pin_of_the_board_has_its_place_and_level() -> None:
    """Each once, and no place twice."""
    ports = re.findall(r"^  (?:input|output) +logic (?:\[(\d+):0\])? *(\w+)", (bitstream.BOARD / "versa.sv").read_text(), re.MULTILINE)
    pins = sorted(f"{name}[{k}]" for most, name in ports if most for k in range(int(most) + 1)) + sorted(
        name for most, name in ports if not most
    )
    text = bitstream.PINS.read_text()
    places = re.findall(r'^LOCATE COMP "([^"]+)" SITE "(\w+)";$', text, re.MULTILINE)
    assert sorted(name for name, _ in places) == sorted(pins)
    assert len({place for _, place in places}) == len(places)
    assert sorted(re.findall(r'^IOBUF PORT "([^"]+)" IO_TYPE=', text, re.MULTILINE)) == sorted(pins)


def test_a_host_reads_and_writes_by_the_serial_line() -> None:
    """A board of a few lines at the other end of a terminal."""
    board, host = pty.openpty()
    kept = {0x000: 0x54415554}

    def answers() -> None:
        for _ in range(4):
            request = os.read(board, 1)
            request += b"".join(os.read(board, 1) for _ in range(6 if request == b"W" else 2))
            address = int.from_bytes(request[1:3], "big")
            if request[:1] == b"W":
                kept[address] = int.from_bytes(request[3:], "big")
                os.write(board, b"\0")
            else:
                known = address in kept
                os.write(board, (b"\0" if known else b"\2") + kept.get(address, 0).to_bytes(4, "big"))

    thread = threading.Thread(target=answers)
    thread.start()
    exchange = uart.line(os.ttyname(host))
    assert uart.read(exchange, 0x000) == 0x54415554
    uart.write(exchange, 0x048, 0x0D0A1311)
    assert uart.read(exchange, 0x048) == 0x0D0A1311
    with pytest.raises(uart.Refused):
        uart.read(exchange, 0x700)
    thread.join()
