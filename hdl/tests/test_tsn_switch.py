"""The whole switch on GMII: forwarding, latency, shaping, overload, bad frames.

What comes out is held against a plain model: which ports a frame is for, the eligibility times and the credit of the
machines of core, the rules of transmission selection, and its starts to the cycle (``selection.py``).
"""

from __future__ import annotations

import json
import pathlib
from collections import Counter, defaultdict
from collections.abc import Mapping

import numpy as np
import pytest
import selection
import way
from latency import OVERHEAD, cut_through_ns, host, measure, stream, summary
from switch_run import (
    ARRIVAL_AFTER,
    CLASSES,
    PORTS,
    QUANTUM_PS,
    START_BEFORE,
    TICKS_PER_CYCLE,
    Frame,
    Outcome,
    Sent,
    Setting,
    address,
    address_setting,
    ats_setting,
    class_setting,
    credit_setting,
    frame_octets,
    group_setting,
    nothing_is_left,
    run,
    scheduler_setting,
    stream_setting,
)
from tautwire.machines import AtsSchedulers
from verilated import HDL

BROADCAST = address("ff-ff-ff-ff-ff-ff")
DELAY_MAX_TICKS = 1000
# The slowest way of a descriptor from the last octet into its queue and to the scan, in cycles.
LAG = way.lag(PORTS)
NOTHING: Mapping[int, int] = {}


def introductions() -> list[Frame]:
    """One broadcast of every host, apart from each other, so that all addresses are known."""
    frames = [frame_octets(BROADCAST, host(port), b"here", pcp=0) for port in range(PORTS)]
    return [Frame(port, 100 + 1_000 * port, octets) for port, octets in enumerate(frames)]


def test_latency_of_a_frame_alone(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A frame takes its own length, ProcessingDelayMax and a constant, and so says ``hdl.json``."""
    rows = measure(tmp_path)
    for case, measured in rows.items():
        for payload, value in measured.items():
            # Destination to frame check sequence, tagged, at 8 ns an octet; ProcessingDelayMax; the rest.
            own = 8 * (payload + 22) + case.delay_max_ticks // 2
            assert own < value < own + 530, (case, payload, value)
    committed = json.loads((HDL.parent / "hdl.json").read_text())
    cut_through = cut_through_ns(tmp_path, 1500)
    figures = summary(rows, cut_through)
    assert {name: committed[name] for name in figures} == figures
    with capsys.disabled():
        print("\nSFD to SFD, store and forward, ns:      64 B   1500 B")
        for case, measured in rows.items():
            print(f"{case.name:36}{measured[64]:9}{measured[1500]:9}")


def test_addresses_are_learned_and_unknown_ones_flooded(tmp_path: pathlib.Path) -> None:
    unicast = [frame_octets(host((p + 1) % PORTS), host(p), b"%d" % p) for p in range(PORTS)]
    unknown = frame_octets(address("02-00-00-00-00-77"), host(2), b"unknown")
    reserved = frame_octets(address("01-80-c2-00-00-0e"), host(1), b"reserved")
    itself = frame_octets(host(0), host(0), b"itself")
    frames = introductions()
    frames += [Frame(p, 10_000, unicast[p]) for p in range(PORTS)]
    frames += [Frame(2, 20_000, unknown), Frame(1, 20_000, reserved), Frame(0, 20_000, itself)]
    outcome = run([], frames, tmp_path)
    got = Counter((one.port, one.octets) for one in outcome.sent)
    expected: Counter[tuple[int, bytes]] = Counter()
    for frame in introductions():
        expected.update((port, frame.octets) for port in range(PORTS) if port != frame.port)
    expected.update(((p + 1) % PORTS, unicast[p]) for p in range(PORTS))
    expected.update((port, unknown) for port in (0, 1, 3))
    assert got == expected
    assert outcome.counters["no_port"] == [1, 1, 0, 0]
    nothing_is_left(outcome)


def test_bad_frames_are_counted_and_go_nowhere(tmp_path: pathlib.Path) -> None:
    good = frame_octets(BROADCAST, host(0), bytes(100))
    flipped = good[:40] + bytes([good[40] ^ 1]) + good[41:]
    longest = frame_octets(BROADCAST, host(0), bytes(1500))
    jumbo = frame_octets(BROADCAST, host(0), bytes(1501))
    jabber = frame_octets(BROADCAST, host(0), bytes(5000))
    bad = [good[:63], good[:5], good[:4], good[:1], good[:13], flipped, good[:-1], jumbo, jabber]
    frames, at = [], 100
    for octets in [good, *bad, longest, *bad, good]:
        frames.append(Frame(0, at, octets))
        at += 50
    frames.append(Frame(0, at, good, error_at=30))
    frames.append(Frame(0, at, good))
    outcome = run([], frames, tmp_path)
    for port in (1, 2, 3):
        assert [one.octets for one in outcome.sent if one.port == port] == [good, longest, good, good]
    assert outcome.counters["received"][0] == 4
    assert outcome.counters["short"][0] == 10
    assert outcome.counters["check"][0] == 5
    assert outcome.counters["long"][0] == 4
    nothing_is_left(outcome)


def test_minimum_frames_at_line_rate_on_all_ports(tmp_path: pathlib.Path) -> None:
    """Full mesh, every port sends and receives without a gap; nothing is lost, order is kept."""
    rng = np.random.default_rng(5)
    frames, count = introductions(), 1500
    for k in range(count):
        # A permutation at a time: no port is asked for more than its rate.
        shift = 1 + int(rng.integers(0, 3))
        for port in range(PORTS):
            octets = frame_octets(host((port + shift) % PORTS), host(port), k.to_bytes(4, "big"), pcp=k % 4)
            frames.append(Frame(port, 10_000, octets))
    outcome = run([], frames, tmp_path)
    given = Counter(frame.octets for frame in frames[PORTS:])
    sent = Counter(one.octets for one in outcome.sent if one.octets[:6] != BROADCAST)
    assert sent == given
    for name in ("no_cell", "no_port", "queue_full"):
        assert outcome.counters[name] == [0] * PORTS
    orders: dict[tuple[bytes, int], list[int]] = defaultdict(list)
    for one in outcome.sent:
        orders[one.octets[:12], one.octets[14] >> 5].append(int.from_bytes(one.octets[18:22], "big"))
    for order in orders.values():
        assert order == sorted(order)
    sfds = [frame.sfd for frame in frames[PORTS:] if frame.port == 0]
    assert set(np.diff(sfds)) == {84}, "no idle octet time at the input"
    assert min(one.gap for one in outcome.sent) == 12
    nothing_is_left(outcome)


def test_overload_loses_no_frame_uncounted(tmp_path: pathlib.Path) -> None:
    """Three ports at line rate to one: queues and buffer overflow, what is lost is counted."""
    rng = np.random.default_rng(6)
    frames = introductions()
    for k in range(500):
        for port in (1, 2, 3):
            payload = int(rng.integers(1, 1500))
            frames.append(Frame(port, 10_000, frame_octets(host(0), host(port), bytes([k % 251]) * payload)))
    outcome = run([], frames, tmp_path)
    counters = {name: sum(values) for name, values in outcome.counters.items()}
    assert counters["received"] == len(frames)
    assert counters["no_cell"] > 50 and counters["queue_full"] > 0
    copies = 3 * PORTS + 1500 - counters["no_cell"] - counters["queue_full"]
    assert len(outcome.sent) == counters["sent"] == copies
    given = Counter(frame.octets for frame in frames)
    assert all(one.octets in given for one in outcome.sent)
    nothing_is_left(outcome)


def test_a_reset_under_overload_leaves_an_empty_switch(tmp_path: pathlib.Path) -> None:
    """Frames in the buffer, in queues and on the lines at the reset are gone; what comes later is sent."""
    reset_at, later = 40_000, 200_000
    before = [
        Frame(port, 100, frame_octets(BROADCAST, host(port), k.to_bytes(2, "big") * 300, pcp=k % 8))
        for k in range(150)
        for port in range(PORTS)
    ]
    after = [Frame(port, later + 2_000 * port, frame.octets) for port, frame in enumerate(introductions())]
    outcome = run([], before + after, tmp_path, reset_at=reset_at)
    sent = [one for one in outcome.sent if one.sfd > reset_at]
    given = {frame.octets for frame in before + after}
    assert all(one.octets in given for one in sent), "whole frames only"
    last = Counter((one.port, one.octets) for one in sent if one.sfd > later)
    assert last == Counter((port, f.octets) for f in after for port in range(PORTS) if port != f.port)
    assert 0 < sum(outcome.counters["received"]) < len(before)
    assert sum(outcome.counters["sent"]) == len(sent)
    nothing_is_left(outcome)


class Mixed:
    """Random streams under ATS in two classes, credit-based and strict priority traffic beside them."""

    def __init__(self, seed: int, count: int) -> None:
        rng = np.random.default_rng(seed)
        self.streams = 32
        self.ports = [int(rng.integers(0, PORTS)) for _ in range(self.streams)]
        self.targets = [int(rng.integers(1, 15)) & ~(1 << port) or 1 << (port + 1) % PORTS for port in self.ports]
        self.pcp = [5 + k % 2 for k in range(self.streams)]
        self.rate = [int(rng.integers(5_000_000, 60_000_000)) for _ in range(self.streams)]
        self.burst = [int(rng.integers(1_000, 3_000)) for _ in range(self.streams)]
        self.residence = [int(rng.integers(100_000, 800_000)) for _ in range(PORTS * CLASSES)]
        self.settings = [ats_setting(DELAY_MAX_TICKS, OVERHEAD, 0b0110_0000)]
        for k in range(self.streams):
            self.settings.append(address_setting(stream(k), 5, self.targets[k]))
            self.settings.append(stream_setting(stream(k), 5, k))
            self.settings.append(scheduler_setting(k, self.group(k), self.rate[k], self.burst[k]))
        self.settings += [group_setting(g, limit) for g, limit in enumerate(self.residence)]
        self.slopes = {3: 60_000_000, 4: 100_000_000}
        self.settings += self.credit_settings()
        self.frames = introductions()
        at = [10_000] * PORTS
        for k in range(count):
            port = int(rng.integers(0, PORTS))
            mine = [s for s in range(self.streams) if self.ports[s] == port]
            kind = rng.random()
            number = k.to_bytes(4, "big")
            if kind < 0.5 and mine:
                one = mine[int(rng.integers(0, len(mine)))]
                payload = number + bytes(int(rng.integers(0, 700)))
                octets = frame_octets(stream(one), host(port), payload, vid=5, pcp=self.pcp[one])
            else:
                target = (port + int(rng.integers(1, PORTS))) % PORTS
                payload = number + bytes(int(rng.integers(0, 1400)))
                octets = frame_octets(
                    host(target), host(port), payload, pcp=4 if kind < 0.65 else int(rng.integers(0, 4))
                )
            self.frames.append(Frame(port, at[port], octets))
            at[port] += int(len(octets) * rng.exponential(4.0))

    def credit_settings(self) -> list[Setting]:
        return [credit_setting(port, rank, slope) for port in range(PORTS) for rank, slope in self.slopes.items()]

    def group(self, index: int) -> int:
        return 8 * self.ports[index] + self.pcp[index]

    def ports_of(self, frame: Frame) -> list[int]:
        if frame.octets[:6] == BROADCAST:
            return [port for port in range(PORTS) if port != frame.port]
        if frame.octets[0] == 0x91:
            mask = self.targets[int.from_bytes(frame.octets[4:6], "big")]
            return [port for port in range(PORTS) if mask >> port & 1]
        return [frame.octets[5]]

    def eligible(self) -> dict[int, int | None]:
        """Of each frame, by its number: the cycle from which it may be sent; none if ATS discards it."""
        bank = AtsSchedulers(
            quantum_ps=QUANTUM_PS,
            charged_overhead_octets=OVERHEAD,
            processing_delay_max_ps=DELAY_MAX_TICKS * QUANTUM_PS,
        )
        for limit in self.residence:
            bank.add_group(max_residence_time_ps=limit * QUANTUM_PS)
        for k in range(self.streams):
            bank.add_scheduler(self.group(k), rate_bps=self.rate[k], burst_octets=self.burst[k])
        ends = {k: frame.sfd + len(frame.octets) + ARRIVAL_AFTER for k, frame in enumerate(self.frames)}
        shaped = sorted((k for k, f in enumerate(self.frames) if f.octets[0] == 0x91), key=ends.__getitem__)
        times = bank.process(
            [int.from_bytes(self.frames[k].octets[4:6], "big") for k in shaped],
            [ends[k] * TICKS_PER_CYCLE * QUANTUM_PS for k in shaped],
            [len(self.frames[k].octets) for k in shaped],
        )
        cycle_ps = TICKS_PER_CYCLE * QUANTUM_PS
        eligible: dict[int, int | None] = dict(ends)
        eligible.update({k: None if t < 0 else -(-int(t) // cycle_ps) for k, t in zip(shaped, times, strict=True)})
        return eligible


def check_starts(mixed: Mixed, outcome: Outcome, eligible: dict[int, int | None], more: Mapping[int, int] = NOTHING) -> int:
    """Every start is that of the model, to the cycle, if idleSlopes are so much more; how often no queue had room."""
    by_octets = {frame.octets: k for k, frame in enumerate(mixed.frames)}
    orders: dict[tuple[int, int], list[int]] = defaultdict(list)
    for k in sorted(range(len(mixed.frames)), key=lambda k: mixed.frames[k].sfd):
        if eligible[k] is not None:
            orders[mixed.frames[k].port, mixed.frames[k].octets[14] >> 5].append(k)
    masks = [sum(1 << port for port in mixed.ports_of(frame)) for frame in mixed.frames]
    found = selection.came(outcome.enqueued, PORTS, orders, masks)
    slopes = {rank: [(0, slope + more.get(rank, 0))] for rank, slope in mixed.slopes.items()}
    for port, queued in enumerate(found.queued):
        for one in queued:
            assert -(-one.eligible_ticks // TICKS_PER_CYCLE) + found.offset == eligible[one.number]
        model = [(choice + START_BEFORE, k) for choice, k in selection.starts_of(found, port, slopes, PORTS)]
        assert model == [(one.sfd, by_octets[one.octets]) for one in outcome.sent if one.port == port], "starts"
    return sum(map(len, found.dropped))


def check_selection(mixed: Mixed, outcome: Outcome, port: int, eligible: dict[int, int | None]) -> None:
    """The rules by themselves: strict priority, order of eligibility within a class, no idle line, nothing early."""
    by_octets = {frame.octets: k for k, frame in enumerate(mixed.frames)}
    mine: list[Sent] = sorted((one for one in outcome.sent if one.port == port), key=lambda one: one.sfd)
    starts = {by_octets[one.octets]: one.sfd - START_BEFORE for one in mine}
    wanted = {k for k, frame in enumerate(mixed.frames) if port in mixed.ports_of(frame) and eligible[k] is not None}
    assert set(starts) == wanted and len(mine) == len(wanted)
    ready, order, rank = {}, {}, {}
    for k in wanted:
        frame = mixed.frames[k]
        may = eligible[k]
        assert may is not None and starts[k] >= may, f"frame {k} {may - starts[k]} cycles early"
        # Seen by the selection at the latest then.
        ready[k] = max(may + way.due(), frame.sfd + len(frame.octets) + LAG)
        rank[k] = frame.octets[14] >> 5
        order[k] = (may, frame.port)
    queue = sorted(wanted, key=starts.__getitem__)
    free_at = 0
    for place, k in enumerate(queue):
        # Frames that are sent later, and were there: it must not have been their turn.
        for other in queue[place + 1 : place + 200]:
            if ready[other] < starts[k] and rank[other] not in mixed.slopes:
                assert rank[other] <= rank[k], (k, other)
                if rank[other] == rank[k]:
                    shaped = rank[k] in (5, 6)
                    assert not shaped or order[k] <= order[other], (k, other)
        if rank[k] not in mixed.slopes:
            assert starts[k] <= max(free_at, ready[k]) or starts[k] - free_at <= 16 or free_at >= starts[k], k
        free_at = starts[k] + 8 + len(mixed.frames[k].octets) + 12


@pytest.mark.parametrize("seed", [7])
def test_mixed_traffic_follows_machine_and_rules(tmp_path: pathlib.Path, seed: int) -> None:
    mixed = Mixed(seed, 3_000)
    outcome = run(mixed.settings, mixed.frames, tmp_path, quiet=200_000)
    for name in ("no_cell", "no_port", "queue_full"):
        assert outcome.counters[name] == [0] * PORTS, name
    eligible = mixed.eligible()
    discarded = Counter(
        mixed.group(int.from_bytes(frame.octets[4:6], "big"))
        for k, frame in enumerate(mixed.frames)
        if eligible[k] is None
    )
    assert sum(discarded.values()) > 20
    assert {g: int(n) for g, n in enumerate(outcome.discards.sum(axis=1)) if n} == dict(discarded)
    held = sum(1 for k, t in eligible.items() if t and t > mixed.frames[k].sfd + len(mixed.frames[k].octets) + 200)
    assert held > 100, "many frames were held back"
    for port in range(PORTS):
        check_selection(mixed, outcome, port, eligible)
    assert check_starts(mixed, outcome, eligible) == 0
    for rank, slope in mixed.slopes.items():
        with pytest.raises(AssertionError, match="starts"):
            check_starts(mixed, outcome, eligible, {rank: slope // 1_000})
    nothing_is_left(outcome)


def test_a_credit_based_class_keeps_its_slope_and_leaves_the_rest(tmp_path: pathlib.Path) -> None:
    """A quarter of the rate, always waiting, above strict priority that fills what is left."""
    frames, count = introductions(), 100
    shaped = [frame_octets(host(0), host(1), bytes([k]) * 400, pcp=1) for k in range(count)]
    rest = [frame_octets(host(0), host(2), bytes([k]) * 400, pcp=0) for k in range(2 * count)]
    # More than its share, less than what queues hold.
    frames += [Frame(1, 10_000 + 1_700 * k, octets) for k, octets in enumerate(shaped)]
    frames += [Frame(2, 10_000 + 650 * k, octets) for k, octets in enumerate(rest)]
    outcome = run([class_setting(1, 4), credit_setting(0, 4, 250_000_000)], frames, tmp_path, quiet=100_000)
    starts = [one.sfd - START_BEFORE for one in outcome.sent if one.port == 0 and one.octets in set(shaped)]
    assert len(starts) == count
    wire = len(shaped[0]) + 20
    # Back to back at a quarter of the rate four wire times apart; one frame of the rest may be in the way.
    assert all(n * 4 * wire - 5 * wire <= starts[k + n] - starts[k] for n in (1, 5, 20) for k in range(count - n))
    assert starts[-1] - starts[0] < (count - 1) * 4 * wire + 5 * wire
    assert len([one for one in outcome.sent if one.port == 0 and one.octets in set(rest)]) == 2 * count
    nothing_is_left(outcome)


@pytest.mark.slow
def test_a_full_mesh_of_minimum_frames_at_line_rate(tmp_path: pathlib.Path) -> None:
    """100 000 frames of 64 octets without a gap, streams under ATS and a credit-based class among them.

    One frame of five belongs to a stream, whose scheduler may hold it back or discard it.
    """
    rng = np.random.default_rng(8)
    mixed = Mixed(8, 0)
    mixed.targets = [1 << (port + 1 + k % 3) % PORTS for k, port in enumerate(mixed.ports)]
    mixed.rate = [int(rng.integers(10_000_000, 60_000_000)) for _ in range(mixed.streams)]
    mixed.residence = [int(rng.integers(20_000, 60_000)) for _ in range(PORTS * CLASSES)]
    mixed.slopes = {4: 150_000_000}
    mixed.settings[1:] = mixed.credit_settings()
    for k in range(mixed.streams):
        mixed.settings.append(address_setting(stream(k), 5, mixed.targets[k]))
        mixed.settings.append(stream_setting(stream(k), 5, k))
        mixed.settings.append(scheduler_setting(k, mixed.group(k), mixed.rate[k], mixed.burst[k]))
    mixed.settings += [group_setting(g, limit) for g, limit in enumerate(mixed.residence)]
    for k in range(25_000):
        shift = 1 + int(rng.integers(0, 3))
        for port in range(PORTS):
            number = (PORTS * k + port).to_bytes(4, "big")
            target = (port + shift) % PORTS
            mine = [s for s in range(mixed.streams) if mixed.ports[s] == port and mixed.targets[s] == 1 << target]
            if mine and rng.random() < 0.2:
                one = mine[int(rng.integers(0, len(mine)))]
                octets = frame_octets(stream(one), host(port), number, vid=5, pcp=mixed.pcp[one])
            else:
                octets = frame_octets(host(target), host(port), number, pcp=(0, 0, 1, 2, 4)[k % 5])
            mixed.frames.append(Frame(port, 10_000, octets))
    outcome = run(mixed.settings, mixed.frames, tmp_path, quiet=200_000)
    eligible = mixed.eligible()
    discarded = sum(1 for may in eligible.values() if may is None)
    lost = sum(outcome.counters["queue_full"])
    assert outcome.counters["no_cell"] == [0] * PORTS
    assert outcome.counters["received"] == [25_001] * PORTS
    assert int(outcome.discards.sum()) == discarded
    assert len(outcome.sent) + lost + discarded == len(mixed.frames) + 2 * PORTS
    assert check_starts(mixed, outcome, eligible) == lost
    print(f"{len(mixed.frames)} frames, {discarded} discarded by ATS, {lost} by full queues")
    nothing_is_left(outcome)
