"""What the evaluation's two unexplained variations may come from: calls of iperf3 that take the processor's time.

In the study's own model a tick's datagrams stand in the queue at once, and the stream's sender is never kept waiting.
Two mechanisms are tried here, each of them one number, neither of them part of any claim:

* **calls that take time** space the datagrams of a tick, so that the FIFO of raw Ethernet drains while it fills;
* **one processor for both senders**, taken in turn: a frame of the stream waits until the calls before it are done. It
  is a protocol stack of the host model with one servicing thread.
"""

from __future__ import annotations

import csv
import functools
import tempfile
from pathlib import Path

import avnu_testbed as bed
import numpy as np
import tautwire
from tautwire.claims import Study

#: Microseconds of a call that sends a datagram.
CALLS = (0, 40, 60, 70, 80)
#: Where the greatest means lie.
LOADS = (80, 100)
MILLISECONDS = 3000
STACK = """hosts:
  computer:
    threads: {{processor: {{service: {{per-octet: {per_octet} ps}}}}}}
    interfaces: {{card: {{}}}}
    stacks: {{all: {{interface: card, thread: processor}}}}
  receiver: {{}}
"""


def spaced(load: int, call: float) -> bed.Times:
    """The background's datagrams, each a call's time behind the one before it at least."""
    times = bed.background(bed.Setup("raw", load, milliseconds=MILLISECONDS))
    found = np.empty_like(times)
    last = -call
    for place, at in enumerate(times):
        last = max(float(at), last + call)
        found[place] = last
    return found


def describe(system: str, load: int, trace: str, per_octet: int | None) -> str:
    """The study's description without spread in the host; with ``per_octet`` picoseconds of a processor for both."""
    text = bed.describe(bed.Setup(system, load, milliseconds=MILLISECONDS), trace)
    if per_octet is None:
        return text
    first, last = text.index("hosts:"), text.index("defaults:")
    text = text[:first] + STACK.format(per_octet=per_octet) + text[last:]
    return text.replace("listener: {type: end-station}", "listener: {type: end-station, host: receiver}")


@functools.cache
def variation(system: str, load: int, call: float, *, shared: bool) -> float:
    """Mean delay variation in ms: calls of so many microseconds, on a processor of their own or a shared one."""
    with tempfile.TemporaryDirectory() as folder:
        # A shared processor spaces the calls itself.
        times = spaced(load, 0 if shared else call)
        rows = "".join(f"{1000 * at:.0f} ns,{bed.DATA} B\n" for at in times)
        Path(folder, "background.csv").write_text(f"time,payload\n0 ns,{bed.DATA} B\n{rows}", encoding="utf-8")
        per_octet = round(1e6 * call / (bed.DATA + 18)) if shared else None
        path = Path(folder, "openavnu.yaml")
        path.write_text(describe(system, load, "background.csv", per_octet), encoding="utf-8")
        run = tautwire.simulate(tautwire.load(path), frames=["stream"])
    assert run.frames is not None
    number = np.array(run.frames.column("number"), dtype=np.float64)
    received = np.array(run.frames.column("received_ps"), dtype=np.float64) / 1e6
    return bed.variation(received - number * bed.PERIOD)[0]


def rows() -> list[dict[str, object]]:
    """Greatest mean variation over the loads, by system, mechanism and time of a call."""
    found: list[dict[str, object]] = []
    for system in ("AVB", "raw"):
        for shared in (False, True):
            for call in CALLS:
                means = [variation(system, load, call, shared=shared) for load in LOADS]
                mechanism = "one processor for both" if shared else "calls take time"
                found.append(
                    {
                        "system": system,
                        "mechanism": mechanism,
                        "call_us": call,
                        "variation_max_ms": round(max(means), 3),
                    }
                )
    return found


def write(study: Study) -> None:
    """Writes ``processor.csv``."""
    found = study.once("processor", rows)
    with open(study.output("processor.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
