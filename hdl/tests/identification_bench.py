"""Coroutines of the bench of member sets, filters and the adjustable clock: see ``test_identification_modules.py``."""

from __future__ import annotations

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from counts import times

PORTS, RULES, VALUE_WIDTH = 4, 4, 6
NOMINAL = 8 << 24


async def begin(dut) -> None:
    """A reset with all inputs low; then the table has been filled."""
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    for signal in ("vlan_lookup_i", "vlan_vid_i", "vlan_write_i", "vlan_write_vid_i", "vlan_write_members_i", "start_i",
                   "octet_valid_i", "octet_i", "rule_ports_i", "octet_write_i", "rule_write_i", "clock_step_valid_i"):  # fmt: skip
        getattr(dut, signal).value = 0
    dut.clock_rate_i.value = NOMINAL
    dut.rst_ni.value = 0
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


@cocotb.test
async def member_sets_are_those_that_were_written(dut) -> None:
    await begin(dut)
    rng = random.Random(1)
    while not int(dut.vlan_ready_o.value):
        await FallingEdge(dut.clk_i)
    members = dict.fromkeys(range(4096), (1 << PORTS) - 1)
    pool = [0, 1, 2, 4095, *rng.sample(range(3, 4095), 12)]
    # By port: the VLAN asked for and how long ago, and the sets that it had since then.
    asked: dict[int, tuple[int, int]] = {}
    seen: dict[int, set[int]] = {}
    answered = 0
    for _ in range(times(600)):
        lookup = vids = 0
        for port in range(PORTS):
            if port not in asked and rng.random() < 0.4:
                asked[port] = rng.choice(pool), 0
                seen[port] = {members[asked[port][0]]}
                lookup |= 1 << port
            vids |= asked.get(port, (0, 0))[0] << 12 * port
        dut.vlan_lookup_i.value, dut.vlan_vid_i.value = lookup, vids
        write = rng.random() < 0.2
        vid, ports = rng.choice(pool), rng.randrange(1 << PORTS)
        dut.vlan_write_i.value, dut.vlan_write_vid_i.value, dut.vlan_write_members_i.value = write, vid, ports
        if write:
            members[vid] = ports
            for port in asked:
                if asked[port][0] == vid:
                    seen[port].add(ports)
        await FallingEdge(dut.clk_i)
        answers = int(dut.vlan_answer_o.value)
        assert answers & answers - 1 == 0, "one at a time"
        for port in list(asked):
            vid, age = asked[port]
            asked[port] = vid, age + 1
            assert age <= PORTS + 2, "answered in time"
            if answers >> port & 1:
                assert int(dut.vlan_members_o.value) in seen[port]
                del asked[port], seen[port]
                answered += 1
    assert answered > 200


async def write_rule(dut, ports: int, rule: int, octets: list[tuple[int, int]], value: int, enable: bool) -> None:
    dut.rule_ports_i.value = ports
    for place, (wanted, mask) in enumerate(octets):
        dut.octet_write_i.value, dut.octet_rule_i.value, dut.octet_place_i.value = 1, rule, place
        dut.octet_value_i.value, dut.octet_mask_i.value = wanted, mask
        await FallingEdge(dut.clk_i)
    dut.octet_write_i.value = 0
    dut.rule_write_i.value, dut.rule_index_i.value = 1, rule
    dut.rule_enable_i.value, dut.rule_value_i.value = enable, value
    await FallingEdge(dut.clk_i)
    dut.rule_write_i.value = 0


@cocotb.test
async def the_first_rule_that_agrees_holds(dut) -> None:
    await begin(dut)
    rng = random.Random(2)
    base = rng.randbytes(64)
    # By port.
    rules: list[list[tuple[bool, int, list[tuple[int, int]]]]] = [[] for _ in range(PORTS)]
    for rule in range(RULES):
        # The first one is of all ports, the others are of each port's own; some of a port are used.
        for ports in [(1 << PORTS) - 1] if rule == 0 else [1 << port for port in range(PORTS)]:
            # Frames near to the base agree with some.
            octets = [(base[k], rng.choice([0x01, 0x80, 0xF0, 0xFF]) if rng.random() < 0.3 else 0) for k in range(64)]
            one = (bool(rule == 0 or ports >> rule & 1 == 0), rng.randrange(1 << VALUE_WIDTH), octets)
            await write_rule(dut, ports, rule, octets, one[1], one[0])
            for port in range(PORTS):
                if ports >> port & 1:
                    rules[port].append(one)
    hits = 0
    for _ in range(60):
        frames = []
        for _ in range(PORTS):
            frame = bytearray(base + rng.randbytes(16))
            for _ in range(rng.choice([0, 1, 8, 40])):
                frame[rng.randrange(80)] ^= 1 << rng.randrange(8)
            frames.append(bytes(frame))
        dut.start_i.value = (1 << PORTS) - 1
        await FallingEdge(dut.clk_i)
        dut.start_i.value = 0
        await FallingEdge(dut.clk_i)
        dut.octet_valid_i.value = (1 << PORTS) - 1
        for k in range(80):
            dut.octet_i.value = sum(frame[k] << 8 * port for port, frame in enumerate(frames))
            await FallingEdge(dut.clk_i)
        dut.octet_valid_i.value = 0
        for _ in range(3):
            await FallingEdge(dut.clk_i)
        for port, frame in enumerate(frames):
            agreeing = [value for used, value, octets in rules[port]
                        if used and all((frame[k] ^ wanted) & mask == 0 for k, (wanted, mask) in enumerate(octets))]  # fmt: skip
            assert int(dut.hit_o.value) >> port & 1 == bool(agreeing)
            if agreeing:
                hits += 1
                found = int(dut.value_o.value) >> VALUE_WIDTH * port & (1 << VALUE_WIDTH) - 1
                assert found == agreeing[0]
        # A gap and a preamble.
        for _ in range(4):
            await FallingEdge(dut.clk_i)
    assert 20 < hits < 60 * PORTS - 20


@cocotb.test
async def the_clock_adds_its_rate_and_steps(dut) -> None:
    await begin(dut)
    rng = random.Random(3)
    # With the fraction of 24 digits; what a cycle adds has a register behind what software writes, and is in force behind that.
    now, addend, written = 0, 0, 0
    for _ in range(times(500)):
        rate = NOMINAL + rng.randrange(-(1 << 20), 1 << 20)
        step = rng.randrange(-(1 << 40), 1 << 40) if rng.random() < 0.1 else 0
        dut.clock_rate_i.value = rate
        # What is not valid may be anything.
        dut.clock_step_valid_i.value, dut.clock_step_i.value = step != 0, (step or rng.getrandbits(64)) % (1 << 64)
        await FallingEdge(dut.clk_i)
        now, addend, written = (now + addend) % (1 << 88), written, rate + (step << 24)
        assert int(dut.clock_o.value) == now >> 24
