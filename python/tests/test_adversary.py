"""The adversary from Python."""

import json
from pathlib import Path

import pytest

import tautwire


def test_the_worst_run_is_between_what_was_observed_and_the_bound(two_hosts: tautwire.Network, tmp_path: Path) -> None:
    found = tautwire.verify(two_hosts, adversary=20)
    assert (found.verdict, found.contradictions) == ("proven", [])
    for name in ("fast", "slow"):
        [end] = found.stream(name)["listeners"]
        worst = end["adversary"]["delay_max_ps"]
        assert end["observed"]["observed_max_ps"] <= worst <= end["bound"]["delay_max_ps"]
        assert found.bound_to_adversary(name) == end["adversary"]["bound_to_worst_mille"] / 1000 >= 1
    assert found.listeners.column("adversary_max_ps") == [
        one["listeners"][0]["adversary"]["delay_max_ps"] for one in found.summary["streams"]
    ]
    assert tautwire.verify(two_hosts, adversary=20).summary == found.summary
    kept = json.loads((found.save(tmp_path / "run") / "adversary.json").read_text(encoding="utf-8"))
    assert [row["stream"] for row in kept["rows"]] == ["fast", "slow"]


def test_without_a_search_nothing_is_said(two_hosts: tautwire.Network) -> None:
    found = tautwire.verify(two_hosts)
    assert "adversary" not in found.summary
    assert found.bound_to_adversary("fast") is None
    with pytest.raises(tautwire.UnknownNameError):
        found.bound_to_adversary("fast", "nowhere")
