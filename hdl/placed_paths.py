"""Longest paths between registers of a placed or routed design, from the delays that nextpnr writes as SDF.

nextpnr reports one path a clock; here every register's longest one is found, and those of one kind are put together.
Delays are the greatest of each triple, in ps; of a design that is not routed they are nextpnr's estimates.
"""

from __future__ import annotations

import collections
import dataclasses
import pathlib
import re

Pin = tuple[str, str]

WIRE = re.compile(r"\(INTERCONNECT (\S+)/(\S+) (\S+)/(\S+) \(\d+:\d+:(\d+)\)")
INSTANCE = re.compile(r"\(INSTANCE (\S*)\)")
THROUGH = re.compile(r"\(IOPATH (\S+) (\S+) \(-?\d+:-?\d+:(-?\d+)\)")
# From these pins on a cell is a register or a memory.
CLOCKS = re.compile(r"CLK[AB]?$|WCK$")
SETUP = re.compile(r"\(SETUPHOLD \(?(?:posedge |negedge )?(\S+?)\)? \(\w+ \S+\) \(-?\d+:-?\d+:(-?\d+)\)")
# What a synthesiser appends to the name of a register or a memory.
APPENDED = re.compile(r"_(LUT4|PFUMX|TRELLIS_FF|L6MUX21|CCU2C)\b.*|_(LUT4|PFUMX|TRELLIS_FF|L6MUX21|CCU2C)_.*|\.\d+\.\d+.*")


@dataclasses.dataclass(frozen=True)
class Kind:
    """Paths from registers of one name to registers of one name: the longest in ns, how many, its cells."""

    start: str
    end: str
    ns: float
    count: int
    cells: int


def name_of(cell: str) -> str:
    return re.sub(r"\[\d+\]", "[]", APPENDED.sub("", cell.replace("\\", "")))


def longest(sdf: pathlib.Path, above_ns: float) -> list[Kind]:
    """Kinds of paths above a time, the longest first. Raises ValueError where a file has no register."""
    wires: dict[Pin, list[tuple[Pin, int]]] = collections.defaultdict(list)
    setup: dict[Pin, int] = {}
    arrival: dict[Pin, int] = {}
    cell = ""
    with open(sdf, encoding="utf-8") as lines:
        for line in lines:
            if found := WIRE.search(line):
                wires[found[1], found[2]].append(((found[3], found[4]), int(found[5])))
            elif found := INSTANCE.search(line):
                cell = found[1]
            elif found := THROUGH.search(line):
                if CLOCKS.match(found[1]):
                    arrival[cell, found[2]] = max(int(found[3]), arrival.get((cell, found[2]), 0))
                else:
                    wires[cell, found[1]].append(((cell, found[2]), int(found[3])))
            elif found := SETUP.search(line):
                setup[cell, found[1]] = max(int(found[2]), setup.get((cell, found[1]), 0))
    if not arrival or not setup:
        raise ValueError(f"{sdf}: no registers")
    # Pins in an order in which whatever drives one comes before it.
    waits = collections.Counter(pin for start in reached(wires, arrival) for pin, _ in wires.get(start, ()))
    ready = [pin for pin in arrival if not waits[pin]]
    before: dict[Pin, Pin] = {}
    while ready:
        pin = ready.pop()
        for following, ps in wires.get(pin, ()):
            if arrival[pin] + ps > arrival.get(following, -1):
                arrival[following], before[following] = arrival[pin] + ps, pin
            waits[following] -= 1
            if not waits[following]:
                ready.append(following)
    kinds: dict[tuple[str, str], Kind] = {}
    for pin in sorted((pin for pin in setup if pin in arrival), key=lambda pin: -(arrival[pin] + setup[pin])):
        ns = (arrival[pin] + setup[pin]) / 1000
        if ns <= above_ns:
            break
        first, cells = pin, 0
        while first in before:
            first, cells = before[first], cells + (before[first][0] != first[0])
        ends = name_of(first[0]), name_of(pin[0])
        known = kinds.setdefault(ends, Kind(*ends, ns, 0, cells))
        kinds[ends] = dataclasses.replace(known, count=known.count + 1)
    return list(kinds.values())


def reached(wires: dict[Pin, list[tuple[Pin, int]]], starts: dict[Pin, int]) -> set[Pin]:
    """Pins that a register's output leads to."""
    seen, stack = set(starts), list(starts)
    while stack:
        for pin, _ in wires.get(stack.pop(), ()):
            if pin not in seen:
                seen.add(pin)
                stack.append(pin)
    return seen
