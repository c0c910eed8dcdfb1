"""The longest way of a descriptor, from the end of its frame to the selection, by the stages of the RTL, in cycles.

``test_way.py`` measures it: no frame takes longer, and some take nearly as long.
"""

from __future__ import annotations

# Stages of which a frame meets every one: octet to arrival time; last word written and known, descriptor in its queue;
# taken by the dispatch, taken by the engine; through the engine alone; decided, room, queue.
ARRIVAL, STORED, TAKEN, ENGINE, QUEUED = 2, 3, 2, 13, 3
# A frame in the engine's state keeps the next one for so long, and so does a step of the refresh.
ENGINE_STEP = 6
# Steps of the scan beside two for every doubling of ports: memory, registers, the time, which is a cycle old, the choice.
SCAN_STEPS = 6


def scan(ports: int, classes: int = 8) -> int:
    """From a head of a queue, or its eligibility, to its start, at most: its class's turn, the steps, the choice."""
    return classes + SCAN_STEPS + 2 * (ports - 1).bit_length() + 3


def lag(ports: int, classes: int = 8) -> int:
    """From the last octet to the start, with a frame of every other port before it in the engine."""
    slots = ports
    before = ENGINE_STEP * ports
    return ARRIVAL + STORED + slots + TAKEN + ENGINE + before + QUEUED + scan(ports, classes)
