"""Writes everything that follows from ``registers.toml``: RTL, documentation, constants for Rust and Python: run it without arguments."""

from __future__ import annotations

import dataclasses
import pathlib
import tomllib
from collections.abc import Callable
from typing import Any

HDL = pathlib.Path(__file__).resolve().parent
ROOT = HDL.parent
SOURCE = HDL / "registers.toml"
NOTE = "Written by hdl/registers.py; change registers.toml there."


@dataclasses.dataclass(frozen=True)
class Register:
    """A register of 32 bits, or an array of them."""

    name: str
    address: int
    access: str
    about: str
    block: str = ""
    width: int = 32
    reset: int = 0
    count: int = 1
    constant: int | None = None
    latches: str = ""
    # A command that the switch may refuse.
    refusable: bool = False

    @property
    def stored(self) -> bool:
        return self.access == "rw"


@dataclasses.dataclass(frozen=True)
class Map:
    registers: tuple[Register, ...]
    port_base: int
    port_stride: int

    def of(self, block: str, *access: str) -> list[Register]:
        return [one for one in self.registers if one.block == block and (not access or one.access in access)]

    def latched_by(self, name: str) -> str:
        """The register whose reading takes the register of this name; empty if there is none."""
        return next((one.name for one in self.registers if one.latches == name), "")


def read_map() -> Map:
    raw: dict[str, Any] = tomllib.loads(SOURCE.read_text())
    registers = tuple(Register(**row) for row in raw["register"])
    found = Map(registers, raw["port_base"], raw["port_stride"])
    taken: dict[tuple[str, int], str] = {}
    for one in registers:
        assert one.access in ("rw", "ro", "command") and one.address % 4 == 0 and 0 < one.width <= 32, one
        assert one.reset < 1 << one.width, one
        for place in range(one.address, one.address + 4 * one.count, 4):
            assert (one.block, place) not in taken, f"{one.name} and {taken[one.block, place]} share an address"
            assert place < (found.port_stride if one.block else found.port_base), one
            taken[one.block, place] = one.name
    assert len({one.name for one in registers}) == len(registers)
    return found


# --- RTL


def vector(one: Register) -> str:
    """The type of a register's signal."""
    ports = "[Ports-1:0]" if one.block else ""
    count = f"[{one.count - 1}:0]" if one.count > 1 else ""
    width = f"[{one.width - 1}:0]"
    return f"logic {ports}{count}{width}"


def rtl_ports(found: Map) -> list[str]:
    lines = []
    for one in found.registers:
        if one.stored:
            lines.append(f"output {vector(one)} {one.name}_o")
        elif one.access == "command":
            lines += [f"output logic {one.name}_valid_o", f"input  logic {one.name}_ready_i"]
            lines += [f"input  logic {one.name}_refused_i"] if one.refusable else []
            lines.append(f"output {vector(one)} {one.name}_o")
        elif one.constant is None:
            lines.append(f"input  {vector(one)} {one.name}_i")
    return lines


def rtl_read(one: Register, found: Map, port: str) -> list[tuple[str, str]]:
    """Places and values of a register that is read."""
    values = []
    for k in range(one.count):
        index = f"{port}[{k}]" if one.count > 1 else port
        if one.constant is not None:
            value = f"32'h{one.constant:08x}"
        elif found.latched_by(one.name):
            value = f"32'({one.name}_q{port})"
        else:
            value = f"32'({one.name}_{'o' if one.stored else 'i'}{index})"
        values.append((place_of(one, k), value))
    return values


# Registers among which one step of reading chooses.
PART = 8


def rtl_parts(values: list[tuple[str, str]], indent: str, hit: str, place: str) -> list[str]:
    """Lines that choose among registers in parts of ``PART``, by one bit for each; without one a part is zero."""
    out = []
    for part, first in enumerate(range(0, len(values), PART)):
        chosen = [f"({{32{{{hit}[{first + k}]}}}} & {value})" for k, (_, value) in enumerate(values[first : first + PART])]
        out += [f"{place}[{part}] <= {chosen[0]}", *(f"    | {one}" for one in chosen[1:])]
        out[-1] += ";"
    return [indent + line for line in out]


def rtl_hits(places: list[str], indent: str, hit: str, address: str, shape: str = "%s") -> list[str]:
    """Lines that compare an address with places, written as a shape says, into a bit for each."""
    return [f"{indent}{hit}[{k}] <= {address} == {shape % place};" for k, place in enumerate(places)]


def place_of(one: Register, index: int) -> str:
    address = one.address + 4 * index
    return f"8'h{address:02x}" if one.block else f"12'h{address:03x}"


def rtl_stored(found: Map, block: str, indent: str, hit: str, port: str) -> tuple[list[str], list[str], list[str]]:
    """Places of the registers of a block, lines that write them by a bit for each, and lines that reset them."""
    places: list[str] = []
    writes: list[str] = []
    resets: list[str] = []
    for one in found.of(block, "rw"):
        for k in range(one.count):
            target = f"{one.name}_o{port}" + (f"[{k}]" if one.count > 1 else "")
            chosen = hit.replace("INDEX", str(len(places)))
            writes.append(f"{indent}if ({chosen}) {target} <= {one.width}'(merged(32'({target}), wdata_q, wstrb_q));")
            resets.append(f"{indent}{target} <= {one.width}'h{one.reset:x};")
            places.append(place_of(one, k))
    return places, writes, resets


def rtl(found: Map) -> str:
    common, commands = found.of(""), found.of("", "command")
    halves = [one for one in found.registers if found.latched_by(one.name)]
    out = [f"// Registers of the switch on AXI4-Lite. {NOTE}", "//"]
    out += [
        "// One transfer of each direction at a time; a command is answered when the switch has taken it. A read or write",
        "// of an address that is none, a write of what cannot be written, and a command that the switch refuses are answered",
        "// by SLVERR and change nothing.",
        "// Octets without their write strobe keep what they had; a command takes the full word.",
        "",
        "module switch_registers #(",
        "  parameter int unsigned Ports = 4",
        ") (",
        "  input  logic clk_i,",
        "  input  logic rst_ni,",
    ]
    axi = [("input ", 12, "awaddr_i"), ("input ", 1, "awvalid_i"), ("output", 1, "awready_o")]
    axi += [("input ", 32, "wdata_i"), ("input ", 4, "wstrb_i"), ("input ", 1, "wvalid_i"), ("output", 1, "wready_o")]
    axi += [("output", 2, "bresp_o"), ("output", 1, "bvalid_o"), ("input ", 1, "bready_i")]
    axi += [("input ", 12, "araddr_i"), ("input ", 1, "arvalid_i"), ("output", 1, "arready_o")]
    axi += [("output", 32, "rdata_o"), ("output", 2, "rresp_o"), ("output", 1, "rvalid_o"), ("input ", 1, "rready_i")]
    for way, width, name in axi:
        size = f"[{width - 1}:0] " if width > 1 else ""
        out.append(f"  {way} logic {size}axil_{name},")
    out.append("  // The registers.")
    out += [f"  {line}," for line in rtl_ports(found)]
    out[-1] = out[-1][:-1]
    common_reads = [value for one in common if one.access != "command" for value in rtl_read(one, found, "")]
    port_reads = [value for one in found.of("port", "rw", "ro") for value in rtl_read(one, found, "[p]")]
    common_places, writes, resets = rtl_stored(found, "", "      ", "write_hit_q[INDEX]", "")
    port_places, port_writes, port_resets = rtl_stored(found, "port", "        ", "wport_q[p] && port_write_hit_q[INDEX]", "[p]")
    out += [");", "", "  localparam logic [1:0] Okay = 2'b00, SlaveError = 2'b10;"]
    out += [f"  localparam logic [11:0] PortBase = 12'h{found.port_base:03x};", ""]
    out += [
        "  function automatic logic [31:0] merged(",
        "      input logic [31:0] kept, input logic [31:0] written, input logic [3:0] strobe);",
        "    for (int k = 0; k < 4; k++) merged[8*k +: 8] = strobe[k] ? written[8*k +: 8] : kept[8*k +: 8];",
        "  endfunction",
        "",
        "  logic unused;",
        "  assign unused = ^{axil_awaddr_i[1:0], axil_araddr_i[1:0]};",
        "",
        "  // --- Writing: taken, its register found, done, answered.",
        "",
        "  typedef enum logic [1:0] {StIdle, StFind, StWork, StAnswer} state_e;",
        "",
        "  state_e      write_q;",
        "  logic [11:0] waddr_q;",
        "  logic [31:0] wdata_q;",
        "  logic [3:0]  wstrb_q;",
        "  logic        wready, refused;",
        "  // A bit for every register that can be written, and for every port.",
        f"  logic [{len(common_places) - 1}:0] write_hit_q;",
        f"  logic [{len(port_places) - 1}:0] port_write_hit_q;",
        f"  logic [{len(commands) - 1}:0] command_hit_q;",
        "  logic [Ports-1:0] wport_q;",
        "",
        "  assign axil_awready_o = write_q == StIdle && axil_awvalid_i && axil_wvalid_i;",
        "  assign axil_wready_o = axil_awready_o;",
        "  assign axil_bvalid_o = write_q == StAnswer;",
        "",
        "  always_ff @(posedge clk_i) begin",
        *rtl_hits(common_places, "    ", "write_hit_q", "waddr_q"),
        *rtl_hits([f"12'h{one.address:03x}" for one in commands], "    ", "command_hit_q", "waddr_q"),
        *rtl_hits(port_places, "    ", "port_write_hit_q", "waddr_q[7:0]"),
        "    for (int unsigned p = 0; p < Ports; p++) wport_q[p] <= waddr_q >= PortBase && 32'(waddr_q[10:8]) == p;",
        "  end",
        "",
    ]
    out += ["  // A command is valid until it is taken.", "  always_ff @(posedge clk_i) begin"]
    for one in commands:
        found_now = f"write_q == StFind && waddr_q == 12'h{one.address:03x}"
        out.append(f"    {one.name}_valid_o <= ({found_now}) || ({one.name}_valid_o && !{one.name}_ready_i);")
    out += ["    if (!rst_ni) begin", *[f"      {one.name}_valid_o <= 1'b0;" for one in commands], "    end", "  end", ""]
    out.append("  assign wready =")
    out += [f"      {'|| ' if k else ''}({one.name}_valid_o && {one.name}_ready_i)" for k, one in enumerate(commands)]
    out[-1] += ";"
    refusable = [(k, one.name) for k, one in enumerate(commands) if one.refusable]
    out.append("  assign refused = " + " || ".join(f"(command_hit_q[{k}] && {name}_refused_i)" for k, name in refusable) + ";")
    out += [f"  assign {one.name}_o = {one.width}'(wdata_q);" for one in commands]
    out += [
        "",
        "  always_ff @(posedge clk_i) begin",
        "    unique case (write_q)",
        "      StIdle: if (axil_awready_o) begin",
        "        write_q <= StFind;",
        "        waddr_q <= {axil_awaddr_i[11:2], 2'b00};",
        "        wdata_q <= axil_wdata_i;",
        "        wstrb_q <= axil_wstrb_i;",
        "      end",
        "      StFind: write_q <= StWork;",
        "      StWork: if (command_hit_q == '0 || wready) begin",
        "        write_q      <= StAnswer;",
        "        axil_bresp_o <= (|{write_hit_q, command_hit_q} || (wport_q != '0 && |port_write_hit_q)) && !refused ? Okay : SlaveError;",
        "      end",
        "      default: if (axil_bready_i) write_q <= StIdle;",
        "    endcase",
        "    if (!rst_ni) write_q <= StIdle;",
        "  end",
        "",
        "  always_ff @(posedge clk_i) begin",
        "    if (write_q == StWork) begin",
        *writes,
        "      for (int unsigned p = 0; p < Ports; p++) begin",
        *port_writes,
        "      end",
        "    end",
        "    if (!rst_ni) begin",
        *resets,
        "      for (int unsigned p = 0; p < Ports; p++) begin",
        *port_resets,
        "      end",
        "    end",
        "  end",
        "",
        "  // --- Reading: of each part of a port's and of the switch's registers, then of all parts, then one of them.",
        "",
        "  typedef enum logic [2:0] {RdIdle, RdFind, RdSelect, RdMerge, RdJoin, RdAnswer} read_e;",
        "",
        f"  localparam int unsigned CommonParts = {-(-len(common_reads) // PART)};",
        f"  localparam int unsigned PortParts = {-(-len(port_reads) // PART)};",
        "",
        "  read_e                   read_q;",
        "  logic [11:0]             raddr_q;",
        "  logic [31:0]             common_q;",
        "  logic [Ports-1:0][31:0]  port_q;",
        "  logic                    rfound_q;",
        "  // A bit for every register that can be read; those of a port of their own, so that its registers may lie together.",
        f"  logic [{len(common_reads) - 1}:0] read_hit_q;",
        f"  logic [Ports-1:0][{len(port_reads) - 1}:0] port_read_hit_q;",
        "  logic [31:0]             joined;",
        "  logic [CommonParts-1:0][31:0]          common_part_q;",
        "  logic [Ports-1:0][PortParts-1:0][31:0] port_part_q;",
    ]
    out += [f"  {vector(one)} {one.name}_q;" for one in halves]
    out += [
        "",
        "  assign axil_arready_o = read_q == RdIdle;",
        "  assign axil_rvalid_o = read_q == RdAnswer;",
        "  always_comb begin",
        "    joined = common_q;",
        "    for (int unsigned p = 0; p < Ports; p++) joined |= port_q[p];",
        "  end",
        "",
        "  always_ff @(posedge clk_i) begin",
        "    unique case (read_q)",
        "      RdIdle: if (axil_arvalid_i) begin",
        "        read_q  <= RdFind;",
        "        raddr_q <= {axil_araddr_i[11:2], 2'b00};",
        "      end",
        "      RdFind: read_q <= RdSelect;",
        "      RdSelect: begin",
        "        read_q   <= RdMerge;",
        "        rfound_q <= |read_hit_q || |port_read_hit_q;",
        "      end",
        "      RdMerge: begin",
        "        read_q   <= RdJoin;",
        "        common_q <= '0;",
        "        port_q   <= '0;",
        "        for (int unsigned k = 0; k < 32; k++) begin",
        "          for (int unsigned n = 0; n < CommonParts; n++) if (common_part_q[n][k]) common_q[k] <= 1'b1;",
        "          for (int unsigned p = 0; p < Ports; p++) begin",
        "            for (int unsigned n = 0; n < PortParts; n++) if (port_part_q[p][n][k]) port_q[p][k] <= 1'b1;",
        "          end",
        "        end",
        "      end",
        "      RdJoin: begin",
        "        read_q       <= RdAnswer;",
        "        axil_rdata_o <= joined;",
        "        axil_rresp_o <= rfound_q ? Okay : SlaveError;",
        "      end",
        "      default: if (axil_rready_i) read_q <= RdIdle;",
        "    endcase",
        "    if (!rst_ni) read_q <= RdIdle;",
        "  end",
        "",
        "  always_ff @(posedge clk_i) begin",
        *rtl_hits([place for place, _ in common_reads], "    ", "read_hit_q", "raddr_q"),
        "    for (int unsigned p = 0; p < Ports; p++) begin",
        *rtl_hits(
            [place for place, _ in port_reads], "      ", "port_read_hit_q[p]", "raddr_q >= PortBase && raddr_q[10:0]", "{3'(p), %s}"
        ),
        "    end",
        *rtl_parts(common_reads, "    ", "read_hit_q", "common_part_q"),
        "    for (int unsigned p = 0; p < Ports; p++) begin",
        *rtl_parts(port_reads, "      ", "port_read_hit_q[p]", "port_part_q[p]"),
        "    end",
        "    // Of a value of 64 bits the upper half, in the cycle in which the lower one is read.",
        "    if (read_q == RdSelect) begin",
    ]
    for one in halves:
        by = next(other for other in found.registers if other.latches == one.name)
        place = place_of(by, 0)
        index = [where for where, _ in (port_reads if one.block else common_reads)].index(place)
        if one.block:
            out.append("      for (int unsigned p = 0; p < Ports; p++)")
            out.append(f"        if (port_read_hit_q[p][{index}]) {one.name}_q[p] <= {one.name}_i[p];")
        else:
            out.append(f"      if (read_hit_q[{index}]) {one.name}_q <= {one.name}_i;")
    out += ["    end", "  end", "", "endmodule", ""]
    return "\n".join(out)


# --- Documentation and constants


def doc(found: Map) -> str:
    out = ["# Registers", "", f"<!-- {NOTE} -->", ""]
    out += [
        "`hdl/rtl/switch_registers.sv`: all settings and counters on AXI4-Lite, 32 bits wide, 4 KiB of addresses. A command is",
        "answered when the switch has taken it, also under load. Addresses that are none, writes of what cannot be written and",
        "entries that find no place in their table are answered by SLVERR. Counters wrap. `rw` registers keep what is written",
        "and can be read back.",
        "",
        "The map is `hdl/registers.toml`; `python hdl/registers.py` writes this page, the RTL, `tautwire_wire::switch_registers`",
        "for Rust and `tautwire.switch_registers` for Python from it, and a test holds them against it.",
        "",
        "```",
        "write: address, data --> found --> kept, or handed on --> bvalid      rw: a bit for each register, those of a port beside it",
        "                                \\--> command: valid until the switch is ready",
        "read:  address --> found --> chosen: of the switch, of every port --> joined --> rvalid",
        "                             \\--> latches: its other half is kept at the same instant",
        "```",
        "",
        "| from what the switch takes to its answer | cycles |",
        "|---|---|",
        "| a read: its register found, chosen among those of the switch and of every port, both joined | 5 |",
        "| a write: its register found, written | 3 |",
        "| a command | 3, and until the switch has taken it; [a table](exact-table.md): when it has found a place, or none |",
        "| a setting to what it sets | 1 more where it goes to all ports |",
    ]
    for block, title in (("", "The switch"), ("port", "Each port")):
        base = f", from {found.port_base:#x} + {found.port_stride:#x} times the port" if block else ""
        out += ["", f"## {title}{base}", "", "| address | name | access | bits | after reset | meaning |"]
        out.append("|---|---|---|---|---|---|")
        for one in found.of(block):
            last = f" to {one.address + 4 * (one.count - 1):#05x}" if one.count > 1 else ""
            reset = f"{one.reset:#x}" if one.stored else f"{one.constant:#x}" if one.constant is not None else ""
            out.append(f"| {one.address:#05x}{last} | `{one.name}` | {one.access} | {one.width} | {reset} | {one.about} |")
    return "\n".join(out) + "\n"


def python(found: Map) -> str:
    out = [f'"""Addresses of the switch\'s registers. {NOTE}"""', "", "from __future__ import annotations", ""]
    out += ['__all__ = ["ADDRESSES", "PORT_ADDRESSES", "port_address"]', ""]
    out += [f"PORT_BASE = 0x{found.port_base:03X}", f"PORT_STRIDE = 0x{found.port_stride:03X}", ""]
    for block, name, about in (
        ("", "ADDRESSES", "Of the switch, by name."),
        ("port", "PORT_ADDRESSES", "Of a port, relative to its block, by name; the first of an array."),
    ):
        out += [f"#: {about}", f"{name}: dict[str, int] = {{"]
        out += [f'    "{one.name}": 0x{one.address:03X},' for one in found.of(block)]
        out += ["}", ""]
    out += [
        "",
        "def port_address(port: int, name: str, index: int = 0) -> int:",
        '    """Address of a register of a port; of an array, the one of this index."""',
        "    return PORT_BASE + PORT_STRIDE * port + PORT_ADDRESSES[name] + 4 * index",
    ]
    return "\n".join(out) + "\n"


def rust(found: Map) -> str:
    out = [f"//! Addresses of the registers of the switch in `hdl/`. {NOTE}", ""]
    out += ["/// Where the registers of port 0 begin.", f"pub const PORT_BASE: u16 = {found.port_base:#05x};", ""]
    out += ["/// From one port to the next.", f"pub const PORT_STRIDE: u16 = {found.port_stride:#05x};", ""]
    for one in found.registers:
        where = " Relative to the port's block." if one.block else ""
        many = f" The first of {one.count}, four octets apart." if one.count > 1 else ""
        out += [f"/// {one.about}{many}{where}", f"pub const {one.name.upper()}: u16 = {one.address:#05x};", ""]
    return "\n".join(out[:-1]) + "\n"


FILES: dict[pathlib.Path, Callable[[Map], str]] = {
    HDL / "rtl" / "switch_registers.sv": rtl,
    ROOT / "docs" / "hardware" / "registers.md": doc,
    ROOT / "python" / "tautwire" / "switch_registers.py": python,
    ROOT / "crates" / "wire" / "src" / "switch_registers.rs": rust,
}


if __name__ == "__main__":
    for path, write in FILES.items():
        path.write_text(write(read_map()))
