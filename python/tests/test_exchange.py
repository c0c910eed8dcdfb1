"""Networks in the forms of other tools."""

import json
from pathlib import Path
from typing import get_args

import pytest

import tautwire
from tautwire.exchange import ExportForm

SCENARIO = Path(__file__).parents[2] / "scenarios" / "scheduled-traffic.yaml"


def test_every_form_has_what_the_command_writes(tmp_path: Path) -> None:
    for form in get_args(ExportForm):
        scenario = SCENARIO.with_name("precision-time.yaml") if form.startswith("gptp") else SCENARIO
        found = tautwire.export(scenario, form)
        to = tmp_path / form
        assert tautwire._core.run_command(["tautwire", "export", form, str(scenario), "--to", str(to), "-q"]) == 0
        of_command = {file.name: file.read_text() for file in to.iterdir()} if to.is_dir() else {form: to.read_text()}
        assert found.texts == of_command
        assert found.left_out and len(set(found.left_out)) == len(found.left_out)


def test_a_bridge_is_chosen_and_what_is_wrong_is_said() -> None:
    found = tautwire.export(tautwire.load(SCENARIO), "yang", node="s2")
    assert list(found.texts) == ["s2.json"]
    assert json.loads(found.text)["ieee802-dot1q-bridge:bridges"]["bridge"][0]["name"] == "s2"
    with pytest.raises(ValueError, match="there are 2 texts"):
        _ = tautwire.export(SCENARIO, "yang").text
    with pytest.raises(ValueError, match="no node `s9`"):
        tautwire.export(SCENARIO, "yang", node="s9")
    with pytest.raises(ValueError, match="`svg` is none of tc, yang"):
        tautwire.export(SCENARIO, "svg")  # type: ignore[arg-type]


def test_neighbours_become_a_network(tmp_path: Path) -> None:
    neighbour = {
        "chassis": {"bridge": {"capability": [{"type": "Bridge", "enabled": True}]}},
        "port": {"id": {"value": "p1"}},
    }
    file = tmp_path / "sensor.json"
    file.write_text(json.dumps({"lldp": {"interface": [{"eth0": neighbour}]}}))
    found = tautwire.import_network("lldp", [file])
    assert found.network().core().nodes == ["sensor", "bridge"]
    assert any("rate" in line for line in found.left_out), found.left_out
    file.write_text("none")
    with pytest.raises(ValueError, match="sensor: no JSON"):
        tautwire.import_network("lldp", [file])


def test_traces_of_formulas_are_files_beside_the_description(tmp_path: Path) -> None:
    (tmp_path / "pair.ned").write_text(
        "network Pair { submodules: a: TsnDevice; b: TsnDevice; connections: a.ethg++ <--> Eth100M <--> b.ethg++; }"
    )
    (tmp_path / "omnetpp.ini").write_text(
        """[General]
sim-time-limit = 10ms
*.*.numApps = 1
*.b.app[0].typename = "UdpSinkApp"
*.a.app[0].typename = "UdpSourceApp"
*.a.app[0].display-name = "wave"
*.a.app[0].io.destAddress = "b"
*.a.app[0].source.packetLength = 972B
*.a.app[0].source.productionInterval = replaceUnit(sin(dropUnit(simTime() * 100)) + 1, "ms")
"""
    )
    found = tautwire.import_network("inet", [tmp_path / "pair.ned", tmp_path / "omnetpp.ini"])
    assert list(found.files) == ["wave.csv"]
    with pytest.raises(ValueError, match=r"wave\.csv"):
        found.network()
    found.save(tmp_path / "pair.yaml")
    # One packet at once, the next a millisecond later, ...
    assert (tmp_path / "wave.csv").read_text().splitlines()[1:3] == ["0 ps,1000 B", "1000000000 ps,1000 B"]
    assert tautwire.load(tmp_path / "pair.yaml").core().streams == ["wave"]
    with pytest.raises(FileExistsError):
        found.save(tmp_path / "pair.yaml")
