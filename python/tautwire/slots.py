"""Planned slots of a TDMA cycle."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tautwire import _core
from tautwire.network import Source, network_of

__all__ = ["PlannedSlot", "SlotPlan", "plan_slots"]


@dataclass(frozen=True)
class PlannedSlot:
    """A slot: its owner, its offset in the cycle and its length in picoseconds, what it carries, and in which cycles.

    It is used in every so many cycles, in those whose number leaves ``phase`` as the remainder.
    """

    owner: str
    offset_ps: int
    length_ps: int
    carries: str
    every: int = 1
    phase: int = 0


@dataclass(frozen=True)
class SlotPlan:
    """Slots of a cycle, with their proof.

    Attributes
    ----------
    cycle_ps
        Length of the cycle.
    rounds
        How often in a cycle requests are asked and answered.
    slots
        By offset.
    pairs
        Per request and response: names of the streams, ``round_trip_before_ps`` and ``round_trip_ps`` (proven, or
        ``None``), and ``answers``: per round the last slot that the request may have, when the response is ready at
        the latest, and its slot.
    """

    cycle_ps: int
    rounds: int
    slots: list[PlannedSlot]
    pairs: list[dict[str, Any]]


def plan_slots(source: Source, *, cycle: str | None = None, shortest: bool = False) -> SlotPlan:
    """Slots that make the worst round trip least, every response in the cycle of its request.

    Parameters
    ----------
    source
        A network with ``tdma`` and streams that answer others, or the path of a description. The places of its
        slots do not matter.
    cycle
        Length of the cycle with its unit; the description's by default.
    shortest
        The shortest cycle with room for one round, instead.

    Raises
    ------
    DescriptionError, FileError
        The description has faults, or cannot be read.
    ValueError
        There is nothing to plan, or the cycle is too short.

    Examples
    --------
    >>> import tautwire
    >>> network = tautwire.Network("alone", nodes={"a": {"type": "end-station"}})
    >>> plan_slots(network)
    Traceback (most recent call last):
    ValueError: the description has no `tdma:`
    """
    found = json.loads(_core.plan_slots(network_of(source).core(), cycle=cycle, shortest=shortest))
    slots = [PlannedSlot(**slot) for slot in found["slots"]]
    return SlotPlan(found["cycle_ps"], found["rounds"], slots, found["pairs"])
