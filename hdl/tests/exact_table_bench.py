"""Coroutines of the bench of the table of exact matches: see ``test_exact_table.py``.

The model keeps buckets of two as the module's text says: what was taught gives way to what is new, the older one first,
what software wrote does not; three ageing ticks forget what was taught and not taught again.
"""

from __future__ import annotations

import dataclasses
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from counts import times

REQUESTERS, BUCKETS, KEY_WIDTH, VALUE_WIDTH = 4, 4, 12, 4
# The shortest frame leaves so many cycles between its header and its end.
ANSWER_MAX = 46
# Nothing is on its way any more.
SETTLED = 24


@dataclasses.dataclass
class Entry:
    key: int
    value: int
    fixed: bool
    age: int = 0


class Model:
    """The table."""

    def __init__(self) -> None:
        self.buckets: list[list[Entry | None]] = [[None, None] for _ in range(BUCKETS)]
        self.overflows = 0

    def bucket(self, key: int) -> list[Entry | None]:
        folded, width = 0, BUCKETS.bit_length() - 1
        while key:
            folded, key = folded ^ key % BUCKETS, key >> width
        return self.buckets[folded]

    def lookup(self, key: int) -> int | None:
        return next((one.value for one in self.bucket(key) if one and one.key == key), None)

    def put(self, key: int, value: int, *, fixed: bool) -> None:
        bucket = self.bucket(key)
        for one in bucket:
            if one and one.key == key:
                if fixed or not one.fixed:
                    one.value, one.fixed, one.age = value, fixed, 0
                return
        places = [k for k, one in enumerate(bucket) if one is None or not one.fixed]
        if not places:
            self.overflows += 1
            return
        # A free place, the first; else the older one, the first of two.
        place = min(places, key=lambda k: -4 if bucket[k] is None else -bucket[k].age)
        bucket[place] = Entry(key, value, fixed)

    def remove(self, key: int) -> None:
        bucket = self.bucket(key)
        for place, one in enumerate(bucket):
            if one and one.key == key:
                bucket[place] = None

    def age(self) -> None:
        for bucket in self.buckets:
            for place, one in enumerate(bucket):
                if one and not one.fixed:
                    one.age += 1
                    if one.age == 3:
                        bucket[place] = None


async def settle(dut, cycles: int = SETTLED) -> None:
    for _ in range(cycles):
        await FallingEdge(dut.clk_i)


async def begin(dut) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    for name in ("lookup_valid_i", "learn_valid_i", "write_valid_i", "write_remove_i", "age_tick_i"):
        getattr(dut, name).value = 0
    dut.rst_ni.value = 0
    await settle(dut, 4)
    dut.rst_ni.value = 1
    while not dut.ready_o.value:
        await FallingEdge(dut.clk_i)


def at(requester: int, value: int, width: int) -> int:
    """A value in the place of one requester of a packed array."""
    return value << requester * width


async def count_overflows(dut, seen: list[int]) -> None:
    while True:
        await FallingEdge(dut.clk_i)
        seen[0] += int(dut.overflow_o.value)


async def lookup(dut, requester: int, key: int) -> int | None:
    """Looks a key up; what is there. Fails if the answer is late."""
    dut.lookup_valid_i.value = 1 << requester
    dut.lookup_key_i.value = at(requester, key, KEY_WIDTH)
    for _ in range(ANSWER_MAX):
        await FallingEdge(dut.clk_i)
        dut.lookup_valid_i.value = 0
        if int(dut.answer_valid_o.value) >> requester & 1:
            assert int(dut.answer_valid_o.value) == 1 << requester, "one requester is answered in a cycle"
            return int(dut.answer_value_o.value) if dut.answer_hit_o.value else None
    raise AssertionError(f"no answer within {ANSWER_MAX} cycles")


async def learn(dut, requester: int, key: int, value: int) -> None:
    dut.learn_valid_i.value = 1 << requester
    dut.learn_key_i.value = at(requester, key, KEY_WIDTH)
    dut.learn_value_i.value = at(requester, value, VALUE_WIDTH)
    await FallingEdge(dut.clk_i)
    dut.learn_valid_i.value = 0
    await settle(dut)


async def write(dut, key: int, value: int, *, remove: bool) -> None:
    dut.write_valid_i.value = 1
    dut.write_remove_i.value = remove
    dut.write_key_i.value = key
    dut.write_value_i.value = value
    while not dut.write_ready_o.value:
        await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.write_valid_i.value = 0
    await settle(dut)


async def tick(dut) -> None:
    dut.age_tick_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.age_tick_i.value = 0
    # A change in its turn for every bucket.
    await settle(dut, SETTLED * BUCKETS)


@cocotb.test()
async def every_operation_does_what_the_model_does(dut) -> None:
    await begin(dut)
    rng, model, overflows = random.Random(11), Model(), [0]
    cocotb.start_soon(count_overflows(dut, overflows))
    # More than two a bucket.
    keys = rng.sample(range(1 << KEY_WIDTH), 5 * BUCKETS)
    done = dict.fromkeys(("learn", "write", "remove", "age", "hit", "miss"), 0)
    for _ in range(times(500)):
        kind, key = rng.random(), rng.choice(keys)
        value, requester = rng.randrange(1 << VALUE_WIDTH), rng.randrange(REQUESTERS)
        if kind < 0.3:
            model.put(key, value, fixed=False)
            await learn(dut, requester, key, value)
            done["learn"] += 1
        elif kind < 0.37:
            model.put(key, value, fixed=True)
            await write(dut, key, value, remove=False)
            done["write"] += 1
        elif kind < 0.44:
            model.remove(key)
            await write(dut, key, value, remove=True)
            done["remove"] += 1
        elif kind < 0.5:
            model.age()
            await tick(dut)
            done["age"] += 1
        else:
            found = await lookup(dut, requester, key)
            assert found == model.lookup(key), (hex(key), found)
            done["miss" if found is None else "hit"] += 1
        assert overflows[0] == model.overflows
    assert min(done.values()) > 20 and model.overflows > 5, (done, model.overflows)


@cocotb.test()
async def an_address_is_forgotten_after_three_ticks_and_kept_while_it_is_taught(dut) -> None:
    await begin(dut)
    silent, speaks, fixed = 0x123, 0x456, 0x789
    for key in (silent, speaks):
        await learn(dut, 0, key, 1)
    await write(dut, fixed, 2, remove=False)
    for count in range(1, 9):
        await tick(dut)
        await learn(dut, 1, speaks, 3)
        assert await lookup(dut, 0, silent) == (1 if count < 3 else None), count
        assert await lookup(dut, 0, speaks) == 3
        assert await lookup(dut, 0, fixed) == 2, "what software wrote does not age"


@cocotb.test()
async def lookups_at_once_are_answered_in_time_while_the_table_changes(dut) -> None:
    await begin(dut)
    rng = random.Random(12)
    # Two of them in one bucket.
    steady = {0x001: 1, 0x012: 2, 0x100: 3}
    for key, value in steady.items():
        await write(dut, key, value, remove=False)
    asked: dict[int, tuple[int, int]] = {}
    answered, slowest = 0, 0
    for cycle in range(times(1_500)):
        valid = int(dut.answer_valid_o.value)
        for requester in range(REQUESTERS):
            if valid >> requester & 1:
                key, since = asked.pop(requester)
                found = int(dut.answer_value_o.value) if dut.answer_hit_o.value else None
                assert found == steady.get(key), hex(key)
                answered, slowest = answered + 1, max(slowest, cycle - since)
        assert all(cycle - since < ANSWER_MAX for _, since in asked.values())
        lookups, keys = 0, 0
        for requester in range(REQUESTERS):
            if requester not in asked and rng.random() < 0.5:
                key = rng.choice([*steady, 0x002, 0x020])
                asked[requester] = (key, cycle)
                lookups |= 1 << requester
                keys |= at(requester, key, KEY_WIDTH)
        dut.lookup_valid_i.value = lookups
        dut.lookup_key_i.value = keys
        # Others are taught, written and aged all the time; they never are what is looked for.
        dut.learn_valid_i.value = rng.getrandbits(REQUESTERS)
        dut.learn_key_i.value = sum(at(k, 0x800 | rng.randrange(256), KEY_WIDTH) for k in range(REQUESTERS))
        dut.learn_value_i.value = rng.getrandbits(REQUESTERS * VALUE_WIDTH)
        dut.write_valid_i.value = rng.random() < 0.1
        dut.write_remove_i.value = 1
        dut.write_key_i.value = 0x800 | rng.randrange(256)
        dut.age_tick_i.value = rng.random() < 0.01
        await FallingEdge(dut.clk_i)
    assert answered > 400
    dut._log.info("%d lookups, the slowest after %d cycles", answered, slowest)
