"""Online admission from Python."""

from pathlib import Path

import pytest

import tautwire

SCENARIO = Path(__file__).parents[2] / "scenarios" / "admission.yaml"


def stream(name: str, payload: str) -> dict[str, object]:
    traffic = {"type": "periodic", "interval": "1 ms"}
    return {
        "name": name,
        "talker": "right",
        "listeners": "recorder",
        "priority": 5,
        "payload": payload,
        "deadline": "2 ms",
        "traffic": traffic,
    }


def test_requests_are_decided_one_after_the_other() -> None:
    with tautwire.Admission(SCENARIO) as admission:
        assert admission.admitted == []
        assert admission.reserve("view-left", "view-right")["outcome"] == "granted"
        foreseen = admission.what_if("view-rear", suggest=True)
        assert foreseen["refused"][0]["fits"]["payload_bytes"] < 250
        partly = admission.reserve("view-rear", "view-left", best_effort=True)
        assert partly["outcome"] == "refused" and len(partly["refused"]) == 2
        replaced = admission.replace("view-rear-slow", instead_of=["view-right"])
        assert replaced["withdrawn"] == ["view-right"]
        assert admission.withdraw("view-right")["refused"][0]["reason"]["limit"] == "not-admitted"
        assert admission.admitted == ["view-left", "view-rear-slow"]


def test_new_streams_are_kept_and_changed(tmp_path: Path) -> None:
    with tautwire.Admission(SCENARIO, state=tmp_path) as admission:
        assert admission.reserve("view-left", new=[stream("extra", "100 B")], id="one")["outcome"] == "granted"
        assert admission.modify([stream("extra", "1400 B")])["outcome"] == "refused"
        assert admission.modify([stream("extra", "200 B")])["withdrawn"] == ["extra"]
        assert "boundless" in admission.reserve(new=[{**stream("x", "1 B"), "boundless": 1}])["error"]
    with tautwire.Admission(SCENARIO, state=tmp_path) as admission:
        assert admission.admitted == ["view-left", "extra"]
        assert admission.reserve("view-left", id="one")["repeated"]


def test_each_test_has_its_name(tmp_path: Path) -> None:
    with tautwire.Admission(SCENARIO, test="bandwidth") as admission:
        assert len(admission.reserve("view-left", "view-right", "view-rear")["admitted"]) == 3
    with pytest.raises(ValueError, match="bounds, bandwidth, response-time"):
        tautwire.Admission(SCENARIO, test="bound")
    with pytest.raises(ValueError, match="needs `harts`"):
        tautwire.Admission(SCENARIO, test="response-time")
    with tautwire.Admission(SCENARIO.with_name("harts.yaml"), test="response-time") as admission:
        assert admission.admitted == []


def test_a_folder_belongs_to_one(tmp_path: Path) -> None:
    first = tautwire.Admission(SCENARIO, state=tmp_path)
    with pytest.raises(OSError, match="another process uses it"):
        tautwire.Admission(SCENARIO, state=tmp_path)
    first.close()
    with pytest.raises(ValueError, match="closed"):
        first.reserve("view-left")
    tautwire.Admission(SCENARIO, state=tmp_path).close()
