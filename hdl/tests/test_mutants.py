"""Every fault of ``hdl/mutants.toml`` is found by its bench."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import tomllib
from unittest import mock

import identification_bench
import ingress_port_bench
import pytest
from verilated import HDL, RTL, bench, faulty, sources

import bitstream


@dataclasses.dataclass(frozen=True)
class Mutant:
    module: str
    bench: str
    before: str
    after: str
    #: Why nothing differs, if nothing does.
    equivalent: str = ""


MUTANTS = [Mutant(**one) for one in tomllib.loads((HDL / "mutants.toml").read_text())["mutant"]]
IDENTIFICATION = {
    "Ports": identification_bench.PORTS,
    "Rules": identification_bench.RULES,
    "ValueWidth": identification_bench.VALUE_WIDTH,
}
# By name: the top, its files, sizes.
BENCHES: dict[str, tuple[str, list[pathlib.Path], dict[str, int]]] = {
    "ingress_port": ("ingress_port", sources("ingress_port"), {"Port": ingress_port_bench.PORT}),
    "identification": (
        "identification_bench",
        [*(RTL / f"{name}.sv" for name in ("vlan_table", "stream_filter", "adjustable_clock")), HDL / "tests" / "identification_bench.sv"],
        IDENTIFICATION,
    ),
    "rgmii": ("rgmii_port", sources("rgmii_port"), {}),
    "registers": ("registers_bench", [RTL / "switch_registers.sv", HDL / "tests" / "registers_bench.sv"], {}),
    "exact_table_load": ("exact_table", sources("exact_table"), {"Places": 512, "KeyWidth": 60}),
    "versa": ("versa_bench", [*bitstream.board_files(), HDL / "tests" / "versa_bench.sv"], {}),
}


def test_every_mutant_is_a_change_of_a_module_that_its_bench_has() -> None:
    assert len(MUTANTS) >= 24
    for one in MUTANTS:
        assert (RTL / f"{one.module}.sv").read_text().count(one.before) == 1, one
        assert one.before != one.after
        assert f"{one.module}.sv" in {path.name for path in BENCHES[one.bench][1]}


@pytest.mark.slow
@pytest.mark.parametrize("one", [one for one in MUTANTS if not one.equivalent], ids=lambda one: f"{one.module}: {one.before}")
def test_a_mutant_is_found(tmp_path: pathlib.Path, one: Mutant) -> None:
    top, files, sizes = BENCHES[one.bench]
    files = [faulty(path, one.before, one.after) if path.stem == one.module else path for path in files]
    # An assertion of the module ends the simulator before the bench can say what failed.
    with pytest.raises((AssertionError, RuntimeError, SystemExit)), mock.patch.dict(os.environ, {"TABLE_SEED": "1"}):
        bench(top, files, f"{one.bench}_bench", tmp_path, sizes)
    assert (tmp_path / "test.log").exists(), "the mutant is built and simulated"
