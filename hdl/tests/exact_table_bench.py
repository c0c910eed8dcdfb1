"""Coroutines of the bench of the table of exact matches: see ``test_exact_table.py``.

The model keeps what was written and taught: what was taught gives way when the table is full, what software wrote does not; three
ageing ticks forget what was taught and not taught again. Where entries are is not its matter.
"""

from __future__ import annotations

import dataclasses
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from counts import times

REQUESTERS, PLACES, KEY_WIDTH, VALUE_WIDTH, MOVES_MAX = 4, 16, 12, 4, 64
# The shortest frame leaves so many cycles between its header and its end.
ANSWER_MAX = 46
# Nothing is on its way any more.
SETTLED = 24
POLYNOMIAL = 0xEDB88320


def rows_of(key: int, width: int, rows: int) -> list[int]:
    """The row of a key in each of four ways, as the text of the module says."""
    crc = 0
    for k in range(width):
        crc = crc >> 1 ^ (POLYNOMIAL if (crc ^ key >> k) & 1 else 0)

    def turned(word: int, by: int) -> int:
        return (word >> by | word << 32 - by) & 0xFFFF_FFFF

    found = []
    for way in range(4):
        word = turned(crc, 8 * way)
        word ^= turned(word, 11) & turned(word, 17) ^ turned(word, 5) & turned(word, 26)
        found.append(word % rows)
    return found


def all_fit(keys: list[int]) -> bool:
    """Whether all keys have a place of their own at once: by augmenting paths."""
    owner: dict[tuple[int, int], int] = {}

    def place(key: int, seen: set[tuple[int, int]]) -> bool:
        for one in enumerate(rows_of(key, KEY_WIDTH, PLACES // 4)):
            if one not in seen:
                seen.add(one)
                if one not in owner or place(owner[one], seen):
                    owner[one] = key
                    return True
        return False

    return all(place(key, set()) for key in keys)


@dataclasses.dataclass
class Entry:
    value: int
    fixed: bool
    age: int = 0


class Model:
    """The table."""

    def __init__(self) -> None:
        self.entries: dict[int, Entry] = {}

    def lookup(self, key: int) -> int | None:
        return self.entries[key].value if key in self.entries else None

    def put(self, key: int, value: int, *, fixed: bool) -> None:
        if fixed or key not in self.entries or not self.entries[key].fixed:
            self.entries[key] = Entry(value, fixed)

    def fixed(self) -> list[int]:
        return [key for key, one in self.entries.items() if one.fixed]

    def age(self) -> None:
        for key, one in list(self.entries.items()):
            one.age += not one.fixed
            if one.age == 3:
                del self.entries[key]


async def settle(dut, cycles: int = SETTLED) -> None:
    for _ in range(cycles):
        await FallingEdge(dut.clk_i)


async def calm(dut) -> None:
    """Until all that was asked is done, and no entry moves that may find a place."""
    await settle(dut)
    while int(dut.learn_q.value) or (int(dut.stash_q.value) >> len(dut.stash_q) - 1 and not dut.full_q.value):
        await settle(dut)


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


async def write(dut, key: int, value: int, *, remove: bool) -> bool:
    """Whether it was kept."""
    dut.write_valid_i.value = 1
    dut.write_remove_i.value = remove
    dut.write_key_i.value = key
    dut.write_value_i.value = value
    while not dut.write_ready_o.value:
        await FallingEdge(dut.clk_i)
    kept = not dut.write_refused_o.value
    await FallingEdge(dut.clk_i)
    dut.write_valid_i.value = 0
    return kept


async def tick(dut) -> None:
    dut.age_tick_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.age_tick_i.value = 0
    # A change in its turn for every row.
    await settle(dut, SETTLED * PLACES // 4)


@cocotb.test()
async def every_operation_does_what_the_model_does(dut) -> None:
    await begin(dut)
    rng, model, overflows, counted = random.Random(11), Model(), [0], 0
    cocotb.start_soon(count_overflows(dut, overflows))
    # More than there are places.
    keys = rng.sample(range(1 << KEY_WIDTH), 2 * PLACES)
    done = dict.fromkeys(("learn", "write", "remove", "age", "hit", "miss", "refused", "lost"), 0)
    for _ in range(times(700)):
        kind, key = rng.random(), rng.choice(keys)
        value, requester = rng.randrange(1 << VALUE_WIDTH), rng.randrange(REQUESTERS)
        if kind < 0.25:
            model.put(key, value, fixed=False)
            await learn(dut, requester, key, value)
            done["learn"] += 1
        elif kind < 0.45:
            if await write(dut, key, value, remove=False):
                model.put(key, value, fixed=True)
                done["write"] += 1
            else:
                await settle(dut)
                assert overflows[0] > counted, "what is refused is counted"
                counted += 1
                assert model.lookup(key) is None and not all_fit(model.fixed()), "refused while there is room"
                done["refused"] += 1
        elif kind < 0.5:
            model.entries.pop(key, None)
            assert await write(dut, key, value, remove=True)
            done["remove"] += 1
        elif kind < 0.56:
            model.age()
            await tick(dut)
            done["age"] += 1
        else:
            found, wanted = await lookup(dut, requester, key), model.lookup(key)
            # An entry that leaves in these cycles is seen below.
            assert found == wanted or (found is None and overflows[0] != counted), (hex(key), found)
            done["miss" if found is None else "hit"] += 1
        await calm(dut)
        # Every entry that had to leave was counted, and had been taught: which one is the table's matter.
        while overflows[0] != counted:
            before = overflows[0]
            lost = [one for one in model.entries if await lookup(dut, 0, one) is None]
            if overflows[0] == before:
                assert len(lost) == before - counted and not any(model.entries[one].fixed for one in lost)
                counted = before
                for one in lost:
                    del model.entries[one]
                done["lost"] += len(lost)
    assert min(done.values()) > 5, done
    dut._log.info("%s", done)


@cocotb.test()
async def an_address_is_forgotten_after_three_ticks_and_kept_while_it_is_taught(dut) -> None:
    await begin(dut)
    silent, speaks, fixed = 0x123, 0x456, 0x789
    for key in (silent, speaks):
        await learn(dut, 0, key, 1)
    assert await write(dut, fixed, 2, remove=False)
    # Ticks are counted modulo eight: more than twice around.
    for count in range(1, 20):
        await tick(dut)
        await learn(dut, 1, speaks, 3)
        assert await lookup(dut, 0, silent) == (1 if count < 3 else None), count
        assert await lookup(dut, 0, speaks) == 3
        assert await lookup(dut, 0, fixed) == 2, "what software wrote does not age"


@cocotb.test()
async def lookups_at_once_are_answered_in_time_while_entries_move(dut) -> None:
    await begin(dut)
    rng = random.Random(12)
    steady = dict(zip(rng.sample(range(0x800), 5), range(5), strict=True))
    for key, value in steady.items():
        assert await write(dut, key, value, remove=False)
    asked: dict[int, tuple[int, int]] = {}
    answered, slowest, moved, stood = 0, 0, 0, 0
    for cycle in range(times(4_000)):
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
            if requester not in asked and rng.random() < 0.2:
                key = rng.choice([*steady, 0x002, 0x020])
                asked[requester] = (key, cycle)
                lookups |= 1 << requester
                keys |= at(requester, key, KEY_WIDTH)
        dut.lookup_valid_i.value = lookups
        dut.lookup_key_i.value = keys
        # Others are taught, written and aged all the time, more than there are places; they never are what is looked for.
        dut.learn_valid_i.value = rng.getrandbits(REQUESTERS) & rng.getrandbits(REQUESTERS)
        dut.learn_key_i.value = sum(at(k, 0x800 | rng.randrange(256), KEY_WIDTH) for k in range(REQUESTERS))
        dut.learn_value_i.value = rng.getrandbits(REQUESTERS * VALUE_WIDTH)
        if not dut.write_valid_i.value or dut.write_ready_o.value:
            dut.write_valid_i.value = rng.random() < 0.1
            dut.write_remove_i.value = 1
            dut.write_key_i.value = 0x800 | rng.randrange(256)
        dut.age_tick_i.value = rng.random() < 0.002
        await FallingEdge(dut.clk_i)
        stash = int(dut.stash_q.value)
        moved += stash >> len(dut.stash_q) - 1 and stash != stood and stash >> len(dut.stash_q) - 2 & 1
        stood = stash
    assert answered > 400 and moved > 50, (answered, moved)
    dut._log.info("%d lookups, the slowest after %d cycles; entries of software gave way %d times", answered, slowest, moved)
