"""The device models of ``crates/model/devices/tautwire-switch.yaml``, measured on the RTL.

    python hdl/device_model.py          writes the file anew
    python hdl/device_model.py --json   prints what was measured, and the latencies of other sizes

Frames alone, at every phase of the switch's slots, give what a stage takes; what it takes at most under load is what
the test benches hold every frame to (``way.py``; ``full_mesh.py`` with a million frames at line rate).
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import sys
import tempfile

HDL = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HDL / "tests"))

import latency
import numpy as np
import switch_run
import way

FILE = HDL.parent / "crates" / "model" / "devices" / "tautwire-switch.yaml"
CYCLE_NS = 8
#: Payloads of the published comparisons, and with the last word filled in every way.
SIZES = (64, 1500)
TAILS = (*range(64, 72), 1500)
#: Octets up to the end of a tag.
HEADER = 18
#: Payloads of the published tables.
PUBLISHED = (64, 100, 300, 500, 700, 900, 1100, 1300, 1500)
#: How the switch knows frames of a stream.
IDENTIFICATIONS = (
    "null-stream-identification",
    "smac-vlan-stream-identification",
    "ip-stream-identification",
    "mask-and-match-stream-identification",
)
STRICT, CREDIT, UNDELAYED, DELAYED, CUT = "strict priority", "credit-based", "ATS, no delay", "ATS", "cut-through"


def wire_ns(payload: int) -> int:
    """Preamble and frame with its tag on the line."""
    return 8 * (8 + payload + HEADER + 4)


def settings() -> dict[str, tuple[list[latency.Setting], int]]:
    """Of every kind of frame the switch's settings and the priority."""
    strict, undelayed, delayed = latency.CASES
    known = latency.address_setting(latency.stream(0), 5, 0b0010)
    credit = [known, *(switch_run.credit_setting(port, strict.pcp, 750_000_000) for port in range(switch_run.PORTS))]
    return {
        STRICT: (latency.shaped_settings(0), strict.pcp),
        CREDIT: (credit, strict.pcp),
        UNDELAYED: (latency.shaped_settings(undelayed.delay_max_ticks), undelayed.pcp),
        DELAYED: (latency.shaped_settings(delayed.delay_max_ticks), delayed.pcp),
        CUT: ([known, latency.cut_through_setting(0xFF)], strict.pcp),
    }


def measured(folder: pathlib.Path) -> dict[tuple[str, int], list[int]]:
    """Latencies in ns of 16 frames alone, from start delimiter to start delimiter, by kind and payload."""
    return {
        (kind, payload): latency.latencies_ns(setting, folder, payload, pcp)
        for kind, (setting, pcp) in settings().items()
        for payload in (TAILS if kind in (STRICT, UNDELAYED) else SIZES)
    }


def totals(folder: pathlib.Path) -> dict[str, dict[int, float]]:
    """Mean latency in ns of frames alone, of the kinds and payloads of the published tables."""
    kinds = {kind: setting for kind, setting in settings().items() if kind in (STRICT, UNDELAYED, DELAYED)}
    return {
        kind: {size: float(np.mean(latency.latencies_ns(setting, folder, size, pcp))) for size in PUBLISHED}
        for kind, (setting, pcp) in kinds.items()
    }


@dataclasses.dataclass(frozen=True)
class Stages:
    """What the stages of the model take, in ns."""

    #: From the last bit to the arrival time.
    arrival: int
    #: From there to a queue of the port: least and mean alone, without ATS and with it; at most under load.
    queue: tuple[int, int]
    queue_ats: tuple[int, int]
    queue_max: int
    #: From a head of a queue, or its eligibility, to the first octet of the preamble.
    scan_min: int
    scan_max: int
    delay_max: int
    #: Octets after which a frame is cut through, less what the model's stages take more than the RTL's path for it.
    header: int


def stages(found: dict[tuple[str, int], list[int]]) -> Stages:
    """What makes the latencies that were measured."""
    beside: dict[str, list[int]] = {kind: [] for kind in (STRICT, UNDELAYED, DELAYED, CUT)}
    for (kind, payload), values in found.items():
        if kind != CREDIT:
            beside[kind] += [value - wire_ns(payload) for value in values]
        elif sorted(values) != sorted(found[STRICT, payload]):
            raise ValueError(f"credit-based and strict priority differ: {values}")
    arrival = CYCLE_NS * (switch_run.ARRIVAL_AFTER - 1)
    delay_max = latency.CASES[-1].delay_max_ticks * switch_run.QUANTUM_PS // 1000
    # An eligibility time is a fact of the machine; what comes after it is the scan.
    scan_min, scan_max = (pick(beside[DELAYED]) - arrival - delay_max for pick in (min, max))
    # At most: chosen `way.lag` cycles after the frame, less the scan of which that is the end.
    scan_only = scan_max - CYCLE_NS * (switch_run.START_BEFORE - 7)
    queue_max = CYCLE_NS * (way.lag(switch_run.PORTS) - switch_run.ARRIVAL_AFTER) - scan_only

    def queue(kind: str) -> tuple[int, int]:
        mean = round(sum(beside[kind]) / len(beside[kind]) - (scan_min + scan_max) / 2)
        return min(beside[kind]) - arrival - scan_min, mean - arrival

    cuts = [value for payload in SIZES for value in found[CUT, payload]]
    cut = sum(cuts) / len(cuts)
    model_cut = 8 * 8 + arrival + queue(STRICT)[1] + (scan_min + scan_max) / 2
    return Stages(
        arrival=arrival,
        queue=queue(STRICT),
        queue_ats=queue(UNDELAYED),
        queue_max=queue_max,
        scan_min=scan_min,
        scan_max=scan_max,
        delay_max=delay_max,
        header=round((cut - model_cut) / 8),
    )


def text(one: Stages) -> str:
    """The file."""
    half = latency.PHYS_NS // 2
    return f"""\
# The switch of this project, `hdl/`, in SystemVerilog: four ports of 1 Gbit/s, 125 MHz (8 ns a cycle), one buffer. Written by
# `python hdl/device_model.py` from measurements of its RTL in simulation; hdl/tests/test_device_model.py holds it against the RTL.
#
#   arrival-time  from the last bit to the arrival time, exact to the tick in every comparison with the ATS machine
#   queue         from the arrival time into a queue of the port: least and mean are those of a frame alone, where only its
#                 last word decides; the most is what a million frames at line rate on all ports kept (hdl/tests/way.py,
#                 full_mesh.py). With ATS through its engine, too; ProcessingDelayMax covers the most
#   scan          from the head of a queue, or its eligibility time, to the first octet of the preamble: a class is looked at
#                 every eighth cycle. What waits for the line has been looked at when it is free
#   PHYs          {half} ns each: {2 * half / 1000:g} us for two is what published hardware lets be added, not a measurement of ours
#
# Cut-through is a setting of a class and port, off after a reset: `tautwire-switch-cut-through` has it for all classes of strict
# priority. The RTL cuts a frame through when its tag is in, past queue and scan, in a time that varies by the few cycles of
# the turn of the address table; the model has no stages for that alone, so the header is shorter by what its stages take more.
#
# The RTL has one buffer for all ports, 4096 cells of 64 octets, in which a frame for several ports stands once; the
# model gives every port a quarter, so that a port alone loses frames in the model sooner than in the RTL, and never later.
# Of the RTL's limits the 32 rules of IP and mask-and-match identification of a port are not in the model.
devices:
  tautwire-switch:
    about: The switch of hdl/ in SystemVerilog, 4 ports of 1 Gbit/s, store-and-forward; delays from its RTL, two PHYs added.
    switching: store-and-forward
    stages:
      - {{name: phy-in, position: reception, latency: {half} ns}}
      - {{name: arrival-time, position: reception, latency: {one.arrival} ns}}
      - {{name: queue, position: processing, only-for: strict-priority, latency: {spread(one.queue, one.queue_max)}}}
      - {{name: queue-credit-based, position: processing, only-for: credit-based, latency: {spread(one.queue, one.queue_max)}}}
      - {{name: queue-ats, position: processing, only-for: ats, latency: {spread(one.queue_ats, one.queue_max)}}}
      - {{name: scan, position: transmission, latency: {{min: {one.scan_min} ns, max: {one.scan_max} ns}}}}
      - {{name: phy-out, position: transmission, latency: {half} ns}}
    tie-rule: arrival-order                # of a class without ATS; ATS goes by eligibility
    ats:
      organisation: eligibility-ordered
      grouping: own-class                  # a lane per reception port and class
      charged-overhead: 20 B               # register charged_overhead after a reset
      time-quantum: {switch_run.QUANTUM_PS} ps                 # a tick
      processing-delay-max: {one.delay_max} ns         # above the most of the queue, {one.queue_max} ns
      schedulers-per-group: 1024           # 1024 a port in the full build
      stream-identification: [{", ".join(IDENTIFICATIONS)}]
    traffic-class-table: identity          # register class_of_pcp after a reset
    queue-limit: {{frames: 32}}              # Depth
    shared-buffer: {{cell: 64 B, cells: 1024}}  # a quarter of Cells
  tautwire-switch-cut-through:
    about: The switch of hdl/ with cut-through for every class of strict priority; delays from its RTL, two PHYs added.
    based-on: tautwire-switch
    switching: cut-through
    cut-through-header: {one.header} B
    cut-through-frames: strict-priority-to-one-port
"""


def spread(alone: tuple[int, int], most: int) -> str:
    """A delay that is about what a frame alone takes, and at most what load makes of it."""
    return f"{{mean: {alone[1]} ns, deviation: {CYCLE_NS} ns, min: {alone[0]} ns, max: {most} ns}}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        result = stages(measured(pathlib.Path(place)))
        beside = totals(pathlib.Path(place)) if sys.argv[1:] == ["--json"] else {}
    if beside:
        print(json.dumps(dataclasses.asdict(result) | {"totals": beside}))
    else:
        FILE.write_text(text(result))
