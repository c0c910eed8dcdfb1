"""The experiments, each as a function of its parameters: what other processes run."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import tautwire
from measure import Passage, figures, passage, told
from tautwire import Periodic
from testbed import (
    CAPTURE_DRIFT_PPM,
    FULL_FRAME,
    MAX_RESIDENCE_TIME,
    MEASURED_FRAME,
    SYNC_JITTER_NS,
    Stream,
    Testbed,
    every,
    interval_ns,
    one_frame,
)

#: Sweep points; those of the paper are unpublished.
RATES = [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]
#: 100 frames a second.
MEASURED_INTERVAL_NS = 10_000_000
#: The load generator that is named, iperf, wakes every millisecond and sends at once what is due.
BATCH_INTERVAL_NS = 1_000_000
#: Beats of Figure 18: about 1500 frames in conflict and 2000 without, 10 ms apart, are one such interval.
DRIFT_PPB = round(BATCH_INTERVAL_NS / 3500 / MEASURED_INTERVAL_NS * 1e9)
#: A frame on the wire at 1 Gbit/s, with preamble and gap.
WIRE_NS = 8 * (FULL_FRAME + 20)


def single_latency_ns(traffic_class: int, payload: int, pmd_ns: int, cir_mbps: float = 100, seed: int = 1) -> float:
    """Latency of one frame through the idle switch."""
    bed = one_frame(traffic_class, payload, pmd_ns, cir_mbps)
    observation = tautwire.simulate(bed.network(), seed=seed, frames=True)
    (latency,) = passage(observation, "probe").latency
    return float(latency)


def plget(payload: int, frames: int, cir_mbps: float, seed: int) -> dict[str, Any]:
    """Latency of a periodic stream, as the cards tell it."""
    probe = Stream("probe", "a0", 7, every(MEASURED_INTERVAL_NS), payload + 4, cir_mbps)
    duration_ns = frames * MEASURED_INTERVAL_NS
    bed = Testbed("plget", (probe,), sync_jitter_ns=SYNC_JITTER_NS, duration_ns=duration_ns)
    observation = tautwire.simulate(bed.network(), seed=seed, frames=True)
    by_cards = told(observation, "probe")
    exact = figures(passage(observation, "probe").latency)
    return {
        "count": by_cards.count,
        "mean": by_cards.mean,
        "sd": by_cards.deviation,
        "ci": by_cards.confidence,
        "exact_mean": exact.mean,
        "exact_sd": exact.deviation,
    }


def burst(
    n: int, cbs_per_frame: int = FULL_FRAME, charged_overhead: int = 0, max_residence_time: str = "none"
) -> np.ndarray[Any, Any]:
    """Arrival intervals (ns) of frames sent back to back, with a burst size of ``n`` frames."""
    bed = burst_bed(n, cbs_per_frame)
    registers = {"ats": {"charged_overhead": f"{charged_overhead} B"}} if charged_overhead else {}
    return arrivals(replace(bed, registers=registers, max_residence_time=max_residence_time), "flow")[1]


def burst_bed(n: int, cbs_per_frame: int = FULL_FRAME, frames: int = 100) -> Testbed:
    """The test bed of Figures 12 and 13: so many frames back to back, and time for the last to leave."""
    sent = Stream("flow", "a0", 7, every(WIRE_NS), cbs_octets=cbs_per_frame * n)
    stop = {"at": f"{round(frames * WIRE_NS - 1)} ns", "stop-stream": "flow"}
    # Nothing was dropped in this experiment: the hundredth frame arrived.
    return Testbed(
        f"burst-{n}",
        (sent,),
        max_residence_time="none",
        duration_ns=20_000_000,
        more={"events": [stop]},
    )


def arrivals(bed: Testbed, stream: str) -> tuple[Passage, np.ndarray[Any, Any]]:
    """The passage of a stream and its exact arrival intervals."""
    seen = passage(tautwire.simulate(bed.network(), frames=True), stream)
    return seen, np.diff(seen.received)


def shaped(
    cir_mbps: float, seconds: float, drift_ppm: int = CAPTURE_DRIFT_PPM, charged_overhead: int = 0
) -> dict[str, Any]:
    """A stream at line rate, shaped to a CIR; its card's clock runs faster than the switch's by ``drift_ppm``."""
    bed = replace(shaped_bed(cir_mbps, seconds), capture_drift_ppm=drift_ppm)
    if charged_overhead:
        bed = replace(bed, registers={"ats": {"charged_overhead": f"{charged_overhead} B"}})
    observation = tautwire.simulate(bed.network(), frames=True)
    exact = np.diff(passage(observation, "flow").received)
    by_card = told(observation, "flow", "interval")
    return {
        "count": by_card.count,
        "exact_mean": float(exact[1:].mean()),
        "mean": by_card.mean / (1 + drift_ppm * 1e-6),
        "sd": by_card.deviation,
        "ci": by_card.confidence,
        "theory": FULL_FRAME * 8 / cir_mbps * 1000,
    }


def shaped_bed(cir_mbps: float, seconds: float) -> Testbed:
    """The test bed of Figure 14."""
    flow = Stream("flow", "a0", 7, every(interval_ns(1000)), cir_mbps=cir_mbps)
    # The first interval is that of a full bucket.
    return Testbed(
        f"rate-{cir_mbps:g}",
        (flow,),
        capture_drift_ppm=CAPTURE_DRIFT_PPM,
        warm_up_ns=1_000_000,
        duration_ns=round(seconds * 1e9),
    )


def two_flows_bed(
    seconds: float, max_residence_time: str = MAX_RESIDENCE_TIME, frame: int = 1508, order: str = "alternating"
) -> Testbed:
    """The test bed of Figure 15."""
    step = interval_ns(1000)
    second = step if order == "alternating" else 0
    streams = (
        Stream("slow", "a0", 7, every(2 * step), frame, 100, 1542, 5001),
        Stream("fast", "a0", 7, every(2 * step, second), frame, 200, 1542, 5002),
    )
    return Testbed("two-flows", streams, max_residence_time=max_residence_time, duration_ns=round(seconds * 1e9))


def two_flows(
    seconds: float,
    max_residence_time: str = MAX_RESIDENCE_TIME,
    frame: int = 1508,
    order: str = "alternating",
) -> dict[str, Any]:
    """Two streams of 500 Mbit/s from one port, with a CIR of 100 and 200 Mbit/s."""
    bed = two_flows_bed(seconds, max_residence_time, frame, order)
    observation = tautwire.simulate(bed.network(), frames=True)
    found: dict[str, Any] = {}
    for stream in bed.streams:
        seen = passage(observation, stream.name)
        # The first frames find full buckets.
        intervals = np.diff(seen.received)[20:]
        found |= {
            f"{stream.name}_mean": float(intervals.mean()),
            f"{stream.name}_low": float(intervals.min()),
            f"{stream.name}_high": float(intervals.max()),
            f"{stream.name}_latency": float(seen.latency.max()),
            f"{stream.name}_series": intervals[:200],
            f"{stream.name}_frames": len(seen.number),
        }
    return found


def one_flow_residence(max_residence_time: str, seconds: float) -> dict[str, Any]:
    """A stream of 500 Mbit/s with a CIR of 100 Mbit/s under a MaxResidenceTime."""
    flow = Stream("flow", "a0", 7, every(interval_ns(500)), 1508)
    bed = Testbed(
        "residence",
        (flow,),
        max_residence_time=max_residence_time,
        duration_ns=round(seconds * 1e9),
    )
    seen, intervals = arrivals(bed, "flow")
    return {"mean": float(intervals[2:].mean()), "latency": float(seen.latency.max())}


def arbitration(ats_mbps: float, seconds: float) -> dict[str, Any]:
    """Rates at the egress port of class 7 at a rate and class 5 at 1 Gbit/s."""
    bed = arbitration_bed(ats_mbps, seconds)
    duration_ns = bed.duration_ns
    summary = tautwire.simulate(bed.network()).summary
    counts = {one["name"]: one["frames"] for one in summary["streams"]}
    bits = 8 * (FULL_FRAME + 20)
    return {
        "ats_mbps": counts["ats"]["delivered"] * bits / duration_ns * 1000,
        "other_mbps": counts["other"]["delivered"] * bits / duration_ns * 1000,
        "offered_mbps": counts["ats"]["created"] * bits / duration_ns * 1000,
        "ats_dropped": sum(counts["ats"]["dropped"].values()),
    }


def arbitration_bed(ats_mbps: float, seconds: float) -> Testbed:
    """The test bed of Figure 16."""
    flow = Stream("ats", "a0", 7, every(interval_ns(ats_mbps)), cir_mbps=1000)
    other = Stream("other", "b0", 5, every(interval_ns(1000)))
    return Testbed("arbitration", (flow, other), drift_ppb=DRIFT_PPB, duration_ns=round(seconds * 1e9))


def contention(figure: int, level: float, frames: int, seed: int = 1, series: bool = False) -> dict[str, Any]:
    """Latency of the measured stream of Figure 17, 19, 20 or 21 at one level of its competitor."""
    bed = contention_bed(figure, level, frames, seed)
    observation = tautwire.simulate(bed.network(), seed=seed, frames=["probe"])
    seen = passage(observation, "probe")
    exact, by_cards = figures(seen.latency), told(observation, "probe")
    found = {
        "count": exact.count,
        "min": exact.least,
        "mean": exact.mean,
        "max": exact.greatest,
        "sd": exact.deviation,
        "told_min": by_cards.least,
        "told_mean": by_cards.mean,
        "told_max": by_cards.greatest,
        "told_sd": by_cards.deviation,
        "told_ci": by_cards.confidence,
    }
    return found | ({"series": seen.latency} if series else {})


def contention_bed(figure: int, level: float, frames: int, seed: int = 1) -> Testbed:
    """The test bed of Figure 17, 19, 20 or 21; best effort starts as in Figure 18, in conflict."""
    measured_class = 6 if figure == 21 else 7
    probe = Stream("probe", "a0", measured_class, every(MEASURED_INTERVAL_NS), MEASURED_FRAME)
    rivals: tuple[Stream, ...]
    if figure == 17:
        rivals = (best_effort(level),)
    elif figure == 19:
        rivals = (Stream("rival", "b0", 7, batches(1000), cir_mbps=level),)
    else:
        # When the two streams of Host B were started against each other is unpublished: it is drawn.
        offset = BATCH_INTERVAL_NS * random.Random(f"{figure} {level} {seed}").random()
        rival = Stream("rival", "b0", 6 if figure == 20 else 7, batches(100, offset), udp_port=5002)
        rivals = (rival, best_effort(level))
    return Testbed(
        f"figure-{figure}",
        (probe, *rivals),
        drift_ppb=DRIFT_PPB,
        sync_jitter_ns=SYNC_JITTER_NS,
        duration_ns=frames * MEASURED_INTERVAL_NS,
    )


def batches(rate_mbps: float, offset_ns: float = 0) -> Periodic:
    """What the load generator sends at a nominal rate: the frames of a millisecond, back to back."""
    frames = round(BATCH_INTERVAL_NS / interval_ns(rate_mbps))
    return Periodic(f"{BATCH_INTERVAL_NS} ns", offset=f"{round(offset_ns * 1000)} ps", burst=frames)


#: Start delimiter in to start delimiter out, from Tables 3 and 4, in ns.
LATENCY_NS = {
    "measured": 32 * (MEASURED_FRAME - 4) + 50_938,
    "best-effort": 32 * (FULL_FRAME - 4) + 1210,
}


def best_effort(rate_mbps: float) -> Stream:
    """Class 5 from Host B, placed so that the first measured frame finds the line just taken."""
    ahead = LATENCY_NS["measured"] - LATENCY_NS["best-effort"] - 100
    return Stream("best-effort", "b0", 5, batches(rate_mbps, ahead), udp_port=5003)
