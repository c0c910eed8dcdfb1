"""The two computers of the evaluation as a description, and what its tools send.

The stream is a file in frames of 430 B (without FCS), 5000 a second, as the evaluation's own script paces it. The
background is iperf3's: at every tick of a millisecond it sends until its mean rate is reached again, so what
leaves at a tick is a burst. Once in a run the scheduler lets it wait for longer; then a longer burst catches up.
Of "raw Ethernet" stream and background share one FIFO; of AVB the stream has a class of its own, shaped by credit.
"""

from __future__ import annotations

import functools
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import tautwire
from numpy.typing import NDArray
from tautwire.claims import Study

Times = NDArray[np.float64]

LOADS = (0, 20, 40, 60, 80, 100)
SYSTEMS = ("AVB", "raw")
#: What 77.7 Mbit/s may be a rate of.
READINGS = ("payload", "wire")
#: Microseconds between frames of the stream, and between ticks of the background's sender.
PERIOD, TICK = 200, 1000
#: Octets of a datagram of the background: what iperf3 takes by default on such a link. With UDP and IP 28 more,
#: with header, FCS, preamble and gap 38 more.
DATAGRAM = 1448
DATA = DATAGRAM + 28
WIRE = DATA + 38
#: From which tick on the background's sender waits once.
STALL_AT = 10_000


@dataclass(frozen=True)
class Setup:
    """A run, and what of it a test may switch off.

    Parameters
    ----------
    system
        ``AVB`` or ``raw``.
    load
        Percent of the background's full rate.
    reading
        What the rate of the background is a rate of.
    stall
        For how long the background's sender waits once, in microseconds.
    bursts
        Whether it sends by ticks; without it its frames are evenly spaced.
    spread
        From least to greatest delay in the talker's host, microseconds, evenly spread.
    milliseconds
        How long the run is.
    frame
        Octets of the stream's frames without FCS.
    """

    system: str
    load: int
    reading: str = "payload"
    stall: int = 0
    bursts: bool = True
    spread: float = 0
    milliseconds: int = 55_501
    frame: int = 430


def frames_per_tick(setup: Setup) -> float:
    """Frames of the background that a tick brings on average.

    Examples
    --------
    >>> round(frames_per_tick(Setup("raw", 100)), 3), round(frames_per_tick(Setup("raw", 100, "wire")), 3)
    (6.708, 6.415)
    """
    octets = DATAGRAM if setup.reading == "payload" else WIRE
    return 77.7e6 * setup.load / 100 / 8 / octets * TICK / 1e6


def background(setup: Setup) -> Times:
    """When the frames of the background are sent, in microseconds."""
    per_tick = frames_per_tick(setup)
    ticks = np.arange(1, setup.milliseconds + 1)
    wanted = np.ceil(ticks * per_tick - 1e-9).astype(int)
    if not setup.bursts:
        return np.arange(int(wanted[-1])) * (TICK / per_tick) + TICK
    resumes = STALL_AT * TICK + setup.stall
    waits = (ticks >= STALL_AT) & (ticks * TICK < resumes)
    sent = np.maximum.accumulate(np.where(waits, 0, wanted))
    times = np.repeat(ticks * float(TICK), np.diff(sent, prepend=0))
    if not setup.stall:
        return times
    # What was due when it runs again, which need not be at a tick.
    due = int(np.ceil(resumes / TICK * per_tick - 1e-9))
    first = int(np.searchsorted(times, STALL_AT * TICK))
    times[first:due] = resumes
    return times


def describe(setup: Setup, trace: str | None, more: str = "") -> str:
    """The description; ``trace`` names the file of the background."""
    # A tag is four octets more.
    tagged, priority = ("true", 5) if setup.system == "AVB" else ("false", 0)
    octets = setup.frame + 4 + (4 if setup.system == "AVB" else 0)
    lines = [
        f"  - {{name: stream, talker: talker, listeners: listener, priority: {priority}, tagged: {tagged}, "
        f"frame: {octets} B, deadline: 2 ms, traffic: {{type: periodic, interval: {PERIOD} us}}}}\n"
    ]
    if trace:
        lines.append(
            f"  - {{name: background, talker: talker, listeners: listener, priority: 0, tagged: false, "
            f"traffic: {{type: replay, file: {trace}}}}}\n"
        )
    spread = f"{{min: 0 us, max: {setup.spread * 1000:.0f} ns}}"
    return f"""name: openavnu
network-control: none
allow: [port::overload, class::overload]
hosts:
  computer: {{transmit: {spread}}}
defaults:
  rate: 100 Mbit/s
  host: computer
  traffic-class-table: identity
  classes:
    5: {{transmission-selection: credit-based, idle-slope: 30 Mbit/s}}
    0: {{queue-limit: {{frames: 10000, octets: 20 MB}}}}
nodes: {{talker: {{type: end-station}}, listener: {{type: end-station}}}}
links: [{{between: [talker, listener]}}]
streams:
{"".join(lines)}{more}run: {{duration: {setup.milliseconds} ms}}
"""


def network(setup: Setup) -> tautwire.Network:
    """The description, read."""
    with tempfile.TemporaryDirectory() as folder:
        times = background(setup) if setup.load else np.empty(0)
        if len(times):
            # A trace begins with its first frame: one at the start, before the first tick.
            rows = "".join(f"{1000 * at:.0f} ns,{DATA} B\n" for at in times)
            Path(folder, "background.csv").write_text(f"time,payload\n0 ns,{DATA} B\n{rows}", encoding="utf-8")
        path = Path(folder, "openavnu.yaml")
        path.write_text(describe(setup, "background.csv" if len(times) else None), encoding="utf-8")
        return tautwire.load(path)


@functools.cache
def delays(setup: Setup) -> Times:
    """From application to the last bit at the listener of every frame of the stream, in microseconds."""
    run = tautwire.simulate(network(setup), frames=["stream"])
    assert run.frames is not None
    number = np.array(run.frames.column("number"), dtype=np.float64)
    received = np.array(run.frames.column("received_ps"), dtype=np.float64) / 1e6
    return received - number * PERIOD


def late(times: Times) -> float:
    """Percent of the frames that are later than 2 ms."""
    return float(100 * np.mean(times > 2000))


def variation(times: Times) -> tuple[float, float]:
    """Mean delay variation (RFC 3393, without its sign) and half its 95 % confidence interval, in ms."""
    steps = np.abs(np.diff(times)) / 1000
    return float(steps.mean()), float(1.96 * steps.std(ddof=1) / np.sqrt(len(steps)))


def printed(study: Study, system: str, metric: str) -> float:
    """A value of Figure 2."""
    row = next(row for row in study.table("figure2_jitter") if (row["system"], row["metric"]) == (system, metric))
    return float(row["value"])


def printed_late(study: Study, load: int) -> float:
    """A value of Figure 1; nothing is printed of 0 and 20 %: no frame is late."""
    rows = {int(row["load_pct"]): float(row["late_pct"]) for row in study.table("figure1_late")}
    return rows.get(load, 0.0)


NAMES = {"AVB": "AVB/TSN", "raw": "raw Ethernet"}


def spread(study: Study, system: str) -> float:
    """Of the host's delay: fitted on the delay variation at no load, which is a third of it."""
    return 3000 * printed(study, NAMES[system], "mean_jitter_range_low")


def stall(study: Study) -> int:
    """For how long the background's sender waits, in microseconds: fitted on the share at 40 %."""

    def make() -> int:
        wanted = printed_late(study, 40)
        base = Setup("raw", 40, spread=spread(study, "raw"), milliseconds=STALL_AT + 1000)
        whole = 55_501 / base.milliseconds

        def miss(ticks: int) -> float:
            return abs(late(delays(replace(base, stall=ticks))) / whole - wanted)

        coarse = min(range(8000, 16000, 1000), key=miss)
        return min(range(coarse - 900, coarse + 1000, 100), key=miss)

    return study.once("stall", make)


def setup(study: Study, system: str, load: int, reading: str = "payload") -> Setup:
    """A run as the evaluation may have been."""
    return Setup(system, load, reading, stall=stall(study), spread=spread(study, system))
