"""The experiments on the RTL of ``hdl/``: what a run of its device model sends, through the Verilated switch.

Talkers, streams and settings of an experiment are those of the published one, with the registers of the switch
of ``hdl/``: its ProcessingDelayMax, and frames charged as there. The run of the model says when each
frame leaves its talker; the RTL gets exactly these, so that the two can be told apart by their switches alone.

The measured frames of VI-B to VI-D come every 382 us rather than every 10 ms: in the published experiments two clocks
slip against each other until they meet every phase of the other host's milliseconds; here the interval, a golden
section of the millisecond, does. The full build of the RTL is used, without PHYs; 0.55 us are added for two.
"""

from __future__ import annotations

import struct
import sys
import tempfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import tautwire
from experiments import FULL_FRAME, arbitration_bed, burst_bed, contention_bed, shaped_bed, two_flows_bed
from measure import Passage, passage
from testbed import PRIORITY_OF_CLASS, Stream, Testbed, every

sys.path.append(str(Path(__file__).resolve().parents[2] / "hdl" / "tests"))
# It needs Verilator: `hardware_experiments.absent` says so before this module is read.
import switch_run

DEVICE = "tautwire-switch"
PMD_NS = 500
#: Time of a cycle; cycles before the first frame; from a preamble's first octet to its start delimiter.
CYCLE_NS, BEGIN, PREAMBLE = 8, 200, 7
#: What two PHYs add; both the device model and published measurements have it.
PHYS_NS = 550
#: Octets of headers up to UDP's payload, with a tag.
HEADERS = 46
PORT_OF = {"a0": 0, "a1": 1, "b0": 2}
#: A golden section of the load generator's millisecond.
PROBE_NS = 381_966
#: Parameters of the RTL that differ from their defaults, those of the full build.
FULL_BUILD: dict[str, int] = {}


def ours(bed: Testbed) -> Testbed:
    """An experiment with the switch of ``hdl/`` in place of the published one."""
    shaped = {"transmission_selection": "ats"}
    registers = {
        "traffic_class_table": "stream-reservation",
        "classes": {7: shaped, 6: shaped},
        # Rules over address and port, as there: the streams of an experiment differ in nothing else.
        "ats": {"charged_overhead": "0 B", "stream_identification": ["ip-stream-identification"]},
    }
    same = {"drift_ppb": 0, "sync_jitter_ns": 0, "capture_drift_ppm": 0, "warm_up_ns": 0}
    return replace(bed, device=DEVICE, pmd_ns=PMD_NS, registers=registers, **same)


def host(port: int) -> bytes:
    """MAC address of the card at a port."""
    return bytes([2, 0, 0, 0, 0, port])


def settings(bed: Testbed) -> list[switch_run.Setting]:
    """The registers of the RTL for an experiment."""
    limit = bed.max_residence_time
    residence = 2**36 - 1 if limit == "none" else int(limit.removesuffix(" ps")) // switch_run.QUANTUM_PS
    found = [switch_run.ats_setting(1000 * bed.pmd_ns // switch_run.QUANTUM_PS, 0, 0b1100_0000)]
    found.append(switch_run.address_setting(host(PORT_OF["a1"]), 1, 1 << PORT_OF["a1"]))
    found += [switch_run.class_setting(pcp, rank) for rank, pcp in PRIORITY_OF_CLASS.items()]
    for index, stream in enumerate(bed.streams):
        if stream.traffic_class < 6:
            continue
        group = 8 * PORT_OF[stream.talker] + stream.traffic_class
        rate_bps = round(stream.cir_mbps * 1_000_000)
        found.append(switch_run.group_setting(group, residence))
        found.append(switch_run.scheduler_setting(index, group, rate_bps, stream.cbs_octets))
        # IPv4, the talker's address, UDP, and the destination port.
        fields = {16: 0x08, 17: 0x00, 27: 17, 33: PORT_OF[stream.talker], 40: stream.udp_port >> 8}
        fields[41] = stream.udp_port & 0xFF
        places = {place: (value, 0xFF) for place, value in fields.items()}
        found.append(switch_run.rule_setting(index, index, places))
    return found


def datagram(index: int, stream: Stream, number: int) -> bytes:
    """A tagged UDP frame that carries the index of its stream and its number."""
    port, priority = PORT_OF[stream.talker], PRIORITY_OF_CLASS[stream.traffic_class]
    payload = struct.pack(">HI", index, number) + bytes(stream.frame - 4 - HEADERS - 6)
    ethernet = host(PORT_OF["a1"]) + host(port) + struct.pack(">HHH", 0x8100, priority << 13 | 1, 0x0800)
    ip = struct.pack(">BBHHHBBH4B4B", 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0, 10, 0, 0, port, 10, 0, 0, 1)
    body = ethernet + ip + struct.pack(">HHHH", 40_000, stream.udp_port, 8 + len(payload), 0) + payload
    return body + zlib.crc32(body).to_bytes(4, "little")


@dataclass(frozen=True)
class Both:
    """An experiment on the RTL and in a run of its device model: the passage of every stream, and frames sent to it."""

    rtl: dict[str, Passage]
    model: dict[str, Passage]
    offered: dict[str, int]


def both(bed: Testbed, seed: int = 1) -> Both:
    """Runs an experiment in the model, and what was sent there on the RTL."""
    observation = tautwire.simulate(bed.network(), seed=seed, frames=True)
    rows = pl.DataFrame(observation.frames).filter(pl.col("hop") == 0).sort("start_ps")
    index_of = {stream.name: index for index, stream in enumerate(bed.streams)}
    frames, names = [], []
    for name, number, start_ps in rows.select("stream", "number", "start_ps").iter_rows():
        stream = bed.streams[index_of[name]]
        cycle = BEGIN + -(-start_ps // (1000 * CYCLE_NS))
        frames.append(switch_run.Frame(PORT_OF[stream.talker], cycle, datagram(index_of[name], stream, number)))
        names.append((name, number))
    with tempfile.TemporaryDirectory() as folder:
        outcome = switch_run.run(settings(bed), frames, Path(folder), build=FULL_BUILD)
    came = {name: frame.sfd for name, frame in zip(names, frames, strict=True)}
    passed: dict[str, list[tuple[int, int, int, int]]] = {stream.name: [] for stream in bed.streams}
    for one in outcome.sent:
        index, number = struct.unpack(">HI", one.octets[HEADERS : HEADERS + 6])
        name = bed.streams[index].name
        sent = CYCLE_NS * (came[name, number] - PREAMBLE)
        left = CYCLE_NS * (one.sfd - PREAMBLE) + PHYS_NS
        passed[name].append((number, sent, left, left + 8 * (len(one.octets) + 8)))
    rtl = {}
    for name, found in passed.items():
        number, *times = np.array(sorted(found), dtype=np.int64).reshape(-1, 4).T
        rtl[name] = Passage(number, *(time.astype(np.float64) for time in times))
    model = {stream.name: passage(observation, stream.name) for stream in bed.streams}
    offered = {stream.name: sum(name == stream.name for name, _ in names) for stream in bed.streams}
    return Both(rtl, model, offered)


def latency_bound_ns(bed: Testbed, stream: str) -> float:
    """Tautwire's bound of a stream's latency: that of its delay less its last transmission."""
    bound = tautwire.bounds(bed.network()).delay_max_ps(stream)
    if bound is None:
        raise ValueError(f"{stream} has no bound in {bed.name}")
    frame = next(one.frame for one in bed.streams if one.name == stream)
    return bound / 1000 - 8 * (frame + 8)


def passed_bound_ns(bed: Testbed, stream: str) -> float:
    """Bound of the latency of the frames that pass, of a stream that sends more than its CIR.

    It is eligible no later than MaxResidenceTime and ProcessingDelayMax after its arrival (802.1Q-2022, 8.6.11)
    and sent when the scan has seen it and the frame on the line, of the other stream, is over.
    """
    frame = next(one.frame for one in bed.streams if one.name == stream)
    stages = {one["name"]: one["latency"] for one in bed.network().device("switch")["stages"]}
    fixed_ps = sum(stages[name]["constant_ps"] for name in ("phy-in", "arrival-time", "phy-out"))
    fixed_ps += stages["scan"]["random_max_ps"] + int(bed.max_residence_time.removesuffix(" ps"))
    return fixed_ps / 1000 + bed.pmd_ns + 8 * (frame + 8) + 8 * (max(one.frame for one in bed.streams) + 20)


Row = dict[str, Any]


def greatest(found: Both, stream: str) -> Row:
    """The greatest latency of a stream, of the RTL and of the model."""
    return {f"{side}_latency": float(getattr(found, side)[stream].latency.max()) for side in ("rtl", "model")}


def burst(n: int, frames: int) -> Row:
    """Intervals at line rate with a burst size of ``n`` frames, and the mean of the shaped ones."""
    found = both(ours(burst_bed(n, frames=frames)))
    row: Row = {"n": n}
    for side in ("rtl", "model"):
        intervals = np.diff(getattr(found, side)["flow"].received)
        at_line_rate = np.abs(intervals - 12_336) < 120
        row[f"{side}_count"] = int(np.argmin(at_line_rate))
        row[f"{side}_passed"] = len(intervals) + 1
        row[f"{side}_after"] = float(intervals[np.argmin(at_line_rate) + 1 :].mean())
    return row


def one_flow(cir_mbps: float, frames: int) -> Row:
    """A stream at line rate, shaped to a CIR: mean and deviation of its intervals."""
    theory = FULL_FRAME * 8 / cir_mbps * 1000
    bed = ours(shaped_bed(cir_mbps, frames * theory * 1e-9))
    found = both(bed)
    row: Row = {"cir_mbps": cir_mbps, "theory": theory, "bound": passed_bound_ns(bed, "flow")}
    row |= greatest(found, "flow")
    for side in ("rtl", "model"):
        # The first interval is that of a full bucket.
        intervals = np.diff(getattr(found, side)["flow"].received)[1:]
        row |= {f"{side}_mean": float(intervals.mean()), f"{side}_sd": float(intervals.std(ddof=1))}
    return row


def two_flows(seconds: float) -> Row:
    """Two streams of one group: means of their intervals, how far they stray, and the greatest latency."""
    bed = ours(two_flows_bed(seconds))
    found = both(bed)
    row: Row = {f"{stream.name}_bound": passed_bound_ns(bed, stream.name) for stream in bed.streams}
    for side in ("rtl", "model"):
        for name, one in getattr(found, side).items():
            intervals = np.diff(one.received)[5:]
            row[f"{side}_{name}_mean"] = float(intervals.mean())
            row[f"{side}_{name}_stray"] = float(intervals.max() - intervals.min()) / 2
            row[f"{side}_{name}_latency"] = float(one.latency.max())
    return row


def arbitration(ats_mbps: float, seconds: float) -> Row:
    """Rates on the wire of class 7 at a rate and class 5 at 1 Gbit/s, while frames come."""
    bed = ours(arbitration_bed(ats_mbps, seconds))
    found = both(bed)
    bits = 8 * (FULL_FRAME + 20)
    row: Row = {"ats_mbps": ats_mbps, "offered": found.offered["ats"] * bits / bed.duration_ns * 1000}
    row |= {"bound": latency_bound_ns(bed, "ats"), **greatest(found, "ats")}
    for side in ("rtl", "model"):
        passages = getattr(found, side)
        for name in ("ats", "other"):
            delivered = int((passages[name].received <= bed.duration_ns).sum())
            row[f"{side}_{name}"] = delivered * bits / bed.duration_ns * 1000
    # The run of the model ends with the last frame still on its way.
    row["dropped"] = found.offered["ats"] - len(found.rtl["ats"].number)
    return row


def contention(figure: int, level: float, probes: int) -> Row:
    """Latency of the measured stream of Figure 17, 19, 20 or 21, on the RTL, in the model, and its bound."""
    bed = ours(contention_bed(figure, level, 1))
    streams = tuple(replace(one, traffic=every(PROBE_NS)) if one.name == "probe" else one for one in bed.streams)
    bed = replace(bed, streams=streams, duration_ns=probes * PROBE_NS)
    found = both(bed)
    row: Row = {"figure": figure, "level": level, "bound": latency_bound_ns(bed, "probe")}
    for side in ("rtl", "model"):
        latency = getattr(found, side)["probe"].latency
        row |= {f"{side}_min": float(latency.min()), f"{side}_max": float(latency.max())}
        row |= {f"{side}_sd": float(latency.std(ddof=1)), f"{side}_count": len(latency)}
    return row


EXPERIMENTS = {
    "burst": burst,
    "one flow": one_flow,
    "two flows": two_flows,
    "arbitration": arbitration,
    "contention": contention,
}


def experiment(kind: str, arguments: Row) -> Row:
    """One of the experiments above: what other processes run."""
    return {"kind": kind} | EXPERIMENTS[kind](**arguments)


def points(full: bool) -> list[Row]:
    """What is run; at more levels and with more frames if the whole is asked for."""
    rates = range(100, 1000, 100) if full else (100, 500, 900)
    bursts = (1, 2, 4, 8, 16, 32, 48, 64) if full else (1, 16, 64)
    asked: list[tuple[str, Row]] = [("two flows", {"seconds": 0.05 if full else 0.006})]
    asked += [("burst", {"n": n, "frames": n + n // 5 + 10}) for n in bursts]
    asked += [("one flow", {"cir_mbps": rate, "frames": 200 if full else 40}) for rate in rates]
    asked += [("arbitration", {"ats_mbps": rate, "seconds": 0.01 if full else 0.002}) for rate in rates]
    # In Figure 21 the measured frame waits longest if it meets two others, which is rare.
    quick = {17: ((300, 700), 27), 19: ((300, 700), 27), 20: ((300, 700), 27), 21: ((300, 900), 81)}
    for figure, (levels, probes) in quick.items():
        for level in rates if full else levels:
            asked.append(("contention", {"figure": figure, "level": level, "probes": 260 if full else probes}))
    return [{"kind": kind, "arguments": arguments} for kind, arguments in asked]
