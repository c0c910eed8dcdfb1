"""Finds every signal of the switch on a board that goes from one clock to another, and what is wrong with its way.

    python hdl/crossings.py    what crosses, what is wrong with it, and that faults planted in the text are found

A crossing is right if it is one of three:

- ``synchroniser``: a register goes straight into a register with the attribute ``async_reg``, which feeds nothing but one
  more register with that attribute in the same clock;
- ``reset``: it acts at once and ends by the clock, by two registers with that attribute, of which the first takes a constant and
  feeds nothing but the second;
- ``words``: the memory of an ``async_fifo``, whose reader knows by a synchroniser what it may read; that it reads nothing else
  is proved (``formal/async_fifo_proof.sv``).

The constraints of ``constraints/board_switch.tcl`` must name every one of them, and no cells that are none.

The netlist is that of Yosys before any optimisation that could hide a path. The switch itself (``tsn_switch``) is left out of it: its
registers all have the clock of the switch, which its text shows.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import synth

RTL = synth.RTL
CONSTRAINTS = synth.HDL / "constraints" / "board_switch.tcl"
SWITCH = "tsn_switch"
# The clock of an input of the board; what is not here is in the clock of the switch.
SWITCH_CLOCK = "clk_i"
CLOCK_OF_PIN = {"rgmii_rxd_i": "rgmii_rxc_i", "rgmii_rx_ctl_i": "rgmii_rxc_i"}
CLOCKS = {SWITCH_CLOCK, *CLOCK_OF_PIN.values()}
REGISTERS = {"$dff", "$dffe", "$adff", "$adffe", "$sdff", "$sdffe", "$sdffce"}
# (module, its text, what a fault makes of it)
FAULTS = (
    ("async_fifo", "write_seen_q <= write_meta_q;", "write_seen_q <= write_gray_q;"),
    ("async_fifo", "write_meta_q <= write_gray_q;", "write_meta_q <= gray(write_q);"),
    ("async_fifo", "assign level_o = binary(write_seen_q)", "assign level_o = binary(write_meta_q)"),
    ("async_fifo", "assign level_o = binary(write_seen_q) - read_q;", "assign level_o = write_q - read_q;"),
    ("async_fifo", '(* async_reg = "true" *) ', ""),
    ("board_switch", '(* async_reg = "true" *) ', ""),
    ("board_switch", "{released_q, first_q} <= {first_q, 1'b1};", "{released_q, first_q} <= 2'b11;"),
    ("board_switch", ".rxc_rst_ni(released_q)", ".rxc_rst_ni(reset_nq)"),
    ("board_switch", "or negedge reset_nq) begin\n        if (!reset_nq)", "or negedge rst_ni) begin\n        if (!rst_ni)"),
    ("rgmii_port", "level == '0 || pop ?", "level == '0 || pop || valid_q ?"),
    ("adjustable_clock", "always_ff @(posedge clk_i)", "always_ff @(negedge clk_i)"),
    ("async_fifo", "write_meta_q", "write_first_q"),
)
# What a fault makes of the constraints.
CONSTRAINT_FAULTS = (
    ("set_max_delay -datapath_only 8.000 -from [get_cells -hierarchical -filter {NAME =~ *u_crossing/write_gray_q_reg*}]", "# "),
    ("*u_crossing/mem_reg*", "*u_crossing/memory_reg*"),
    ("*g_rgmii.released_q_reg*", "*g_rgmii.released_reg*"),
    ("foreach port [get_ports {rgmii_rxc_i[*]}]", "# "),
)

Bit = int | str


@dataclasses.dataclass(frozen=True)
class Register:
    """One bit of a register, or one that a memory or the switch takes."""

    name: str
    clock: str
    d: Bit
    # What else its next value depends on, and what resets it at once.
    beside: tuple[Bit, ...] = ()
    reset: Bit | None = None
    marked: bool = False


def netlist(rtl: pathlib.Path) -> dict[str, Any]:
    """The board's module over the RTL in a folder, flat."""
    files = " ".join(str(rtl / name) for name in synth.files_of("board_switch"))
    with tempfile.TemporaryDirectory() as name:
        out = pathlib.Path(name) / "netlist.json"
        passes = [
            f"read_slang -D SYNTHESIS -I {rtl} --blackboxed-module {SWITCH} --top board_switch {files}",
            "hierarchy -top board_switch",
            "proc",
            "flatten",
            # Resets of registers become inputs of their own.
            "opt_expr",
            "clean",
            "opt_dff -nodffe",
            "clean",
            f"write_json {out}",
        ]
        done = subprocess.run([sys.executable, "-c", synth.DRIVER, *passes], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr)[-2000:])
        module: dict[str, Any] = json.loads(out.read_text())["modules"]["board_switch"]
        return module


class Board:
    """Registers of a netlist, what they are made of, and what reads each bit."""

    def __init__(self, module: dict[str, Any]) -> None:
        self.names: dict[Bit, str] = {}
        self.marked: set[Bit] = set()
        for name, net in sorted(module["netnames"].items(), key=lambda item: (item[0].startswith("$") or "$" in item[0], len(item[0]))):
            for place, bit in enumerate(net["bits"]):
                self.names.setdefault(bit, name if len(net["bits"]) == 1 else f"{name}[{place}]")
                if "async_reg" in net["attributes"]:
                    self.marked.add(bit)
        # The clocks, and those of what comes from outside.
        self.clocks: dict[Bit, str] = {}
        self.outside: dict[Bit, str] = {}
        ports = module["ports"]
        for name in CLOCKS:
            for place, bit in enumerate(ports[name]["bits"]):
                self.clocks[bit] = name if name == SWITCH_CLOCK else f"{name}[{place}]"
        for name, port in ports.items():
            if port["direction"] == "input" and name not in CLOCKS:
                clock = CLOCK_OF_PIN.get(name)
                for place, bit in enumerate(port["bits"]):
                    number = place * len(ports[clock]["bits"]) // len(port["bits"]) if clock else 0
                    self.outside[bit] = f"{clock}[{number}]" if clock else SWITCH_CLOCK
        self.registers: dict[Bit, Register] = {}
        self.takers: list[Register] = []
        self.made_of: dict[Bit, tuple[Bit, ...]] = {}
        self.memories: dict[Bit, str] = {}
        self.clock_of_memory: dict[str, str] = {}
        self.readers: dict[Bit, list[Bit]] = defaultdict(list)
        for name, cell in module["cells"].items():
            self.take(name, cell["type"], cell["connections"], cell["port_directions"], cell["parameters"])

    def clock(self, pins: dict[str, list[Bit]]) -> str:
        (bit,) = pins["CLK"]
        return self.clocks.get(bit, f"no input ({self.names.get(bit, bit)})")

    def take(self, name: str, kind: str, pins: dict[str, list[Bit]], ways: dict[str, str], parameters: dict[str, Any]) -> None:
        if kind in REGISTERS:
            beside = tuple(bit for pin in ("EN", "SRST") for bit in pins.get(pin, ()))
            for q, d in zip(pins["Q"], pins["D"], strict=True):
                self.registers[q] = Register(self.names[q], self.clock(pins), d, beside, pins.get("ARST", [None])[0], q in self.marked)
                self.readers[d].append(q)
        elif kind == "$memwr_v2":
            memory = parameters["MEMID"].lstrip("\\")
            self.clock_of_memory[memory] = self.clock(pins)
            self.takers += [Register(memory, self.clock(pins), bit) for pin in ("ADDR", "DATA", "EN") for bit in pins[pin]]
        elif kind == "$memrd_v2" and not int(parameters["CLK_ENABLE"], 2):
            for bit in pins["DATA"]:
                self.memories[bit] = parameters["MEMID"].lstrip("\\")
                self.made_of[bit] = tuple(pins["ADDR"])
        elif kind == SWITCH:
            for pin, bits in pins.items():
                if ways[pin] == "output":
                    self.outside.update(dict.fromkeys(bits, SWITCH_CLOCK))
                elif pin != SWITCH_CLOCK:
                    self.takers += [Register(f"{name}.{pin}", SWITCH_CLOCK, bit) for bit in bits]
        elif kind.startswith("$") and not kind.startswith(("$mem", "$dff", "$dlatch", "$sr", "$ald")):
            inputs = tuple(bit for pin, bits in pins.items() if ways[pin] == "input" for bit in bits)
            self.made_of.update({bit: inputs for pin, bits in pins.items() if ways[pin] == "output" for bit in bits})
        else:
            raise ValueError(f"{name}: a cell {kind}, which is not known here")
        # Whoever reads a bit; of registers the data stand above.
        data = {"D"} if kind in REGISTERS else set()
        for pin, bits in pins.items():
            if ways[pin] == "input" and pin not in data:
                for bit in bits:
                    self.readers[bit].append(name)

    def sources(self, bits: Iterable[Bit]) -> set[Bit]:
        """Registers, words of memories and what comes from outside, of which bits are made. Constants are none."""
        found: set[Bit] = set()
        seen: set[Bit] = set()
        left = list(bits)
        while left:
            bit = left.pop()
            if bit in seen or isinstance(bit, str):
                continue
            seen.add(bit)
            if bit in self.memories or bit not in self.made_of:
                found.add(bit)
            left.extend(self.made_of.get(bit, ()))
        return found

    def clock_of(self, bit: Bit) -> str:
        if bit in self.registers:
            return self.registers[bit].clock
        if bit in self.memories:
            return self.clock_of_memory[self.memories[bit]]
        return self.outside.get(bit) or self.clocks.get(bit) or "nowhere"

    def next_stage(self, bit: Bit) -> bool:
        """Whether a marked register feeds another one of its clock and nothing else."""
        readers = self.readers[bit]
        if len(readers) != 1 or readers[0] not in self.registers:
            return False
        after = self.registers[readers[0]]
        return after.marked and after.d == bit and after.clock == self.registers[bit].clock

    def crossings(self) -> tuple[dict[str, str], list[str]]:
        """What crosses with its kind, and what is wrong."""
        right: dict[str, str] = {}
        wrong: list[str] = []
        for q, one in [*self.registers.items(), *((None, taker) for taker in self.takers)]:
            if one.clock.startswith("no input"):
                wrong.append(f"{one.name}: its clock is {one.clock}")
            for source in self.sources([one.d, *one.beside]):
                if self.clock_of(source) == one.clock:
                    continue
                way = f"{self.clock_of(source)} -> {one.clock}: {self.memories.get(source) or self.names[source]} -> {one.name}"
                if self.memories.get(source, "").endswith(".u_crossing.mem"):
                    right[self.memories[source]] = "words"
                elif q is not None and one.marked and source == one.d and source in self.registers and self.next_stage(q):
                    right[one.name] = "synchroniser"
                else:
                    wrong.append(way)
            for source in self.sources([one.reset] if one.reset is not None else []):
                if self.clock_of(source) == one.clock:
                    continue
                before = self.registers.get(one.d)
                first = q is not None and isinstance(one.d, str) and self.next_stage(q)
                second = before is not None and isinstance(before.d, str) and before.reset == one.reset and before.marked
                if one.marked and source == one.reset and source in self.registers and (first or second):
                    right[one.name] = "reset"
                else:
                    wrong.append(f"{self.clock_of(source)} -> {one.clock}: {self.names[source]} resets {one.name}")
        return right, sorted(wrong)


def other_clocks(rtl: pathlib.Path) -> list[str]:
    """Lines in the text of the switch with an edge of anything but its clock."""
    found = []
    for name in synth.files_of(SWITCH):
        for line in (rtl / name).read_text().splitlines():
            edges = re.findall(r"\b(?:pos|neg)edge \w+", line.split("//")[0])
            found += [f"{name}: {edge}" for edge in edges if edge != f"posedge {SWITCH_CLOCK}"]
    return found


def check(fault: tuple[str, str, str] | None = None) -> tuple[dict[str, str], list[str], list[str]]:
    """What crosses, what is wrong, and the names of all registers and memories, in the RTL or in it with a fault."""
    with tempfile.TemporaryDirectory() as name:
        rtl = pathlib.Path(name) / "rtl"
        shutil.copytree(RTL, rtl)
        if fault:
            module, before, after = fault
            text = (rtl / f"{module}.sv").read_text()
            if before not in text:
                raise ValueError(f"{module}: not in its text: {before}")
            (rtl / f"{module}.sv").write_text(text.replace(before, after))
        board = Board(netlist(rtl))
        right, wrong = board.crossings()
        names = [*(one.name for one in board.registers.values()), *board.clock_of_memory]
        return right, wrong + other_clocks(rtl) + unconstrained(names, right, CONSTRAINTS.read_text()), names


def unconstrained(names: Iterable[str], right: dict[str, str], text: str) -> list[str]:
    """What crosses and is in no constraint; clocks without one; cells in constraints that are none of these registers and memories."""
    text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    # As Vivado writes a name in the hierarchy: a register has a suffix, an instance ends with a slash.
    written = {name: re.sub(r"\.(?=u_)|(?<=u_crossing)\.", "/", re.sub(r"((?:\[\d+\])?)$", r"_reg\1", name, count=1)) for name in names}
    lines = [re.findall(r"NAME =~ ([^}]+)\}", line) for line in text.splitlines() if line.startswith(("set_max_delay", "set_false_path"))]

    def named(pattern: str, name: str) -> bool:
        return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), written[name]) is not None

    wrong = [f"no cell: {pattern}" for line in lines for pattern in line if not any(named(pattern, name) for name in written)]
    # The words are named where they come from, all others where they go to.
    ends = [line[0] if len(line) == 1 else line[-1] for line in lines]
    wrong += [f"in no constraint: {name}" for name in right if not any(named(end, name) for end in ends)]
    clocks = [line for line in text.splitlines() if "create_clock" in line]
    wrong += [f"clock without a constraint: {clock}" for clock in sorted(CLOCKS) if not any(clock in line for line in clocks)]
    return wrong


def checked_hash() -> str:
    """Of what the netlist is made of, of the constraints, and of this program."""
    digest = hashlib.sha256(pathlib.Path(__file__).read_bytes() + CONSTRAINTS.read_bytes())
    for name in ("async_fifo.sv", "rgmii_port.sv", "board_switch.sv"):
        digest.update(name.encode() + b"\0" + (RTL / name).read_bytes())
    return digest.hexdigest()


def main() -> bool:
    """Prints what crosses and what is wrong; whether all is right and every fault is found."""
    right, wrong, names = check()
    for name, kind in sorted(right.items()):
        print(f"{kind:12} {name}")
    for line in wrong:
        print(f"WRONG: {line}")
    missed = 0
    for fault in FAULTS:
        found = check(fault)[1]
        missed += not found
        print(f"  {found[0] if found else 'NOT FOUND'}: {fault[1]!r} -> {fault[2]!r}", flush=True)
    for before, after in CONSTRAINT_FAULTS:
        text = CONSTRAINTS.read_text()
        if before not in text:
            raise ValueError(f"not in the constraints: {before}")
        faulty = unconstrained(names, right, text.replace(before, after))
        missed += not faulty
        print(f"  {faulty[0] if faulty else 'NOT FOUND'}: {before!r} -> {after!r}", flush=True)
    return not wrong and not missed


if __name__ == "__main__":
    sys.exit(not main())
