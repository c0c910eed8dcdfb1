"""The results of a test bed as objects."""

from pathlib import Path

import pytest

import tautwire

SCENARIO = Path(__file__).parents[2] / "scenarios" / "test-bed.yaml"


@pytest.fixture(scope="module")
def run() -> tautwire.Observation:
    return tautwire.simulate(SCENARIO)


def test_messages_have_their_links(run: tautwire.Observation) -> None:
    asked = run.test_bed.of("ask-1")
    assert asked.sent == asked.complete + sum(asked.lost.values()) + asked.open
    there, back = asked.links
    assert (there.sender, there.receiver, back.receiver) == ("controller", "sensor-1", "controller")
    assert asked.round_trip is not None and there.one_way is not None and there.receive_period is not None
    assert asked.round_trip.mean_ps > there.one_way.mean_ps
    assert there.round_trip is None and back.round_trip == asked.round_trip
    assert there.receive_period.variance_ps2 == (there.receive_period.sd_ps or 0) ** 2


def test_a_corrupted_message_is_found_by_its_crc(run: tautwire.Observation) -> None:
    commands = run.test_bed.of("command")
    assert commands.corrupted >= commands.lost["corrupted"] > 0
    assert commands.complete == commands.sent - commands.lost["corrupted"] - commands.open


def test_clocks_and_taps(run: tautwire.Observation) -> None:
    assert {one.station for one in run.test_bed.clocks} >= {"controller", "sensor-1"}
    assert all(one.frames > 100 for one in run.test_bed.captures if one.stream == "ask-1")


def test_what_is_not_there_is_told(run: tautwire.Observation) -> None:
    with pytest.raises(tautwire.UnknownNameError):
        run.test_bed.of("nothing")
    network = tautwire.Network("two-hosts")
    network.end_station("a")
    network.end_station("b")
    network.link("a", "b", rate="1 Gbit/s")
    network.stream("s", "a", "b", frame="1522 B", traffic=tautwire.Periodic("1 ms"))
    with pytest.raises(ValueError, match="no test"):
        _ = tautwire.simulate(network, duration="2 ms").test_bed
