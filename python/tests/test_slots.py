"""Planned slots of a TDMA cycle."""

import itertools
import math
from pathlib import Path

import pytest

import tautwire

SCENARIO = Path(__file__).parents[2] / "scenarios" / "tdma.yaml"


def test_every_response_is_in_the_cycle_of_its_request() -> None:
    plan = tautwire.plan_slots(SCENARIO)
    assert plan.cycle_ps == 10**9 and plan.rounds > 1
    (pair,) = plan.pairs
    assert len(pair["answers"]) == plan.rounds
    assert all(one["ready_ps"] <= one["response_ps"] < plan.cycle_ps for one in pair["answers"])
    assert pair["round_trip_ps"] < pair["round_trip_before_ps"]


def test_slots_share_no_time_and_carry_what_their_owners_send() -> None:
    slots = tautwire.plan_slots(SCENARIO, shortest=True).slots
    for a, b in itertools.combinations(slots, 2):
        # Slots of which each has cycles of its own may lie at one place.
        if (a.phase - b.phase) % math.gcd(a.every, b.every) == 0:
            assert a.offset_ps + a.length_ps <= b.offset_ps or b.offset_ps + b.length_ps <= a.offset_ps
    assert {(one.owner, one.carries) for one in slots} >= {("master", "real-time"), ("slave-c", "ordinary")}


def test_a_cycle_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="one round needs"):
        tautwire.plan_slots(SCENARIO, cycle="200 us")
