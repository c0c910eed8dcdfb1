"""The longest way of a descriptor, from the end of its frame to the selection, by the stages of the RTL, in cycles.

``test_way.py`` measures it: no frame takes longer, and some take nearly as long.
"""

from __future__ import annotations

# Stages of which a frame meets every one: octet to arrival time; last word written and known, descriptor in its queue;
# taken by the dispatch, taken by the engine; through the engine alone; decided, room, queue.
ARRIVAL, STORED, TAKEN, ENGINE, QUEUED = 2, 3, 2, 13, 3
# A frame in the engine's state keeps the next one for so long, and so does a step of the refresh.
ENGINE_STEP = 6
# A frame that the front of the engine has already taken when a step begins waits for all of it, one that comes later a cycle less.
FRONT = 1
# A frame past the engine that has just begun its way into the queues keeps a decision for the rest of it.
WAY = 4
# Steps of the scan beside two for every doubling of ports: queue, its filling, memory, register, what is due, candidate,
# less the first of the turn.
SCAN_STEPS = 5
# Of them those from the comparison with the time on, which is a cycle old.
DUE_STEPS = 2


def scan(ports: int, classes: int = 8) -> int:
    """From a frame's coming into its queue to its choice, at most: its class's turn and the steps."""
    return classes + SCAN_STEPS + 2 * (ports - 1).bit_length()


def due(classes: int = 8) -> int:
    """From the eligibility time of a head to its choice, at most."""
    return classes + DUE_STEPS


def queued(ports: int) -> int:
    """From the last octet into the queue, with a frame of every other port and a step of the refresh before it in the engine."""
    slots = ports
    before = ENGINE_STEP * ports + FRONT
    return ARRIVAL + STORED + slots + TAKEN + ENGINE + before + WAY + QUEUED


def lag(ports: int, classes: int = 8) -> int:
    """From the last octet to the choice."""
    return queued(ports) + scan(ports, classes)
