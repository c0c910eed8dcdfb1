"""A local worker of studies: reads pieces from stdin, runs them, and answers on stdout until stdin ends.

What tasks print goes to stderr, so that it does not come between the answers.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
from typing import Any, BinaryIO

from tautwire.studies.pieces import run_piece

__all__ = ["main"]


def main() -> int:
    """Runs until stdin ends, or the answers have no reader."""
    # Ctrl-C is for the process that started this one, which ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    job = _read(sys.stdin.buffer)
    while (order := _read(sys.stdin.buffer)) is not None:
        piece, dead = order
        try:
            done = ("done", run_piece(job, piece, dead, lambda number: _write(answers, ("at", number))))
        except BrokenPipeError:
            return 0
        except Exception as error:
            done = ("error", error)  # type: ignore[assignment]
        try:
            _write(answers, done)
        except BrokenPipeError:
            return 0
    return 0


def _read(source: BinaryIO) -> Any:
    head = source.read(8)
    if len(head) < 8:
        return None
    length = struct.unpack("<Q", head)[0]
    octets = source.read(length)
    return pickle.loads(octets) if len(octets) == length else None


def _write(to: BinaryIO, value: Any) -> None:
    octets = pickle.dumps(value)
    octets = struct.pack("<Q", len(octets)) + octets
    while octets:
        octets = octets[to.write(octets) :]


if __name__ == "__main__":
    sys.exit(main())
