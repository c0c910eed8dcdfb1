"""The study's parts that need no long run, what its files say, and the mechanisms taken out."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import maps_cells as cells  # noqa: E402
import maps_latency  # noqa: E402
import maps_sensitivity  # noqa: E402
from maps_testbed import FITTED, PAYLOADS, Cell, Knobs  # noqa: E402
from tautwire.claims import Basis, Study, checks, load_module, run, summary_line  # noqa: E402


def test_the_fit_is_that_of_its_rows(study: Study) -> None:
    for protocol in ("RC", "BE", "UDP"):
        for payload in FITTED:
            ours = cells.run(cells.fit(study), Cell(protocol, payload, 0))
            assert ours.mean_us == pytest.approx(cells.printed(study)[protocol, payload, 0].mean_us, abs=0.5)


def rc(study: Study, saturation: int, knobs: Knobs | None = None) -> cells.Seen:
    return cells.run(cells.fit(study), Cell("RC", 256, saturation, messages=300, knobs=knobs or Knobs()))


def test_the_slow_card_makes_the_increase_of_rc(study: Study) -> None:
    """With it the printed increase and deviation; without it, or without classes, neither."""
    calm, flooded = rc(study, 0), rc(study, 50)
    assert flooded.mean_us - calm.mean_us == pytest.approx(201, rel=0.1)
    assert flooded.sd_us == pytest.approx(116, rel=0.1)
    fast = Knobs(slow_interface=False)
    assert rc(study, 50, fast).mean_us - rc(study, 0, fast).mean_us < 20
    assert rc(study, 50, Knobs(classes=False)).mean_us > 10_000


def test_the_ring_makes_the_milliseconds_of_be(study: Study) -> None:
    """They go with the descriptors, and with the time that a frame takes to be read."""

    def be(knobs: Knobs) -> cells.Seen:
        return cells.run(cells.fit(study), Cell("BE", 64, 50, messages=200, knobs=knobs))

    assert be(Knobs()).mean_us == pytest.approx(21_205, rel=0.05)
    assert be(Knobs(ring=30)).mean_us < 12_000
    assert be(Knobs(slow_interface=False)).mean_us < 200


@pytest.mark.parametrize(
    ("protocol", "payload", "saturation"),
    [("TTE", 64, 50), ("TTE", 1472, 100), ("RC", 64, 50), ("RC", 1472, 100), ("UDP", 64, 50), ("UDP", 1472, 100)],
)
def test_predicted_rows_do_not_hang_on_ring_and_fifo(
    study: Study, protocol: str, payload: int, saturation: int
) -> None:
    """Both are chosen on saturated rows of BE; predicted rows are the same with less and more of each."""

    def row(**knobs: int) -> tuple[float, float, float, int]:
        cell = Cell(protocol, payload, saturation, messages=300, knobs=Knobs(**knobs))
        seen = cells.run(cells.fit(study), cell)
        return seen.mean_us, seen.sd_us, seen.max_us, seen.lost

    chosen = row()
    assert chosen[3] == 0, "nothing is lost"
    for knobs in ({"ring": 15}, {"ring": 244}, {"fifo": 1600}, {"fifo": 9216}, {"ring": 15, "fifo": 1600}):
        assert row(**knobs) == chosen, f"{protocol}, {payload} B, {saturation} %: {knobs}"


def test_two_paces_of_interrupts(study: Study) -> None:
    """Beside a flood UDP is quicker than on an idle network at the first pace, and slower at the second; which of them
    it is hangs on the processor that works on the flood."""

    def udp(saturation: int, **knobs: bool) -> float:
        return cells.run(cells.fit(study), Cell("UDP", 64, saturation, messages=300, knobs=Knobs(**knobs))).mean_us

    calm, first, second = udp(0), udp(100, bulk=False), udp(100)
    assert first < 0.9 * calm < 1.8 * calm < second
    assert udp(100, one_processor=False) < first
    assert udp(100, moderation=False) < first


def test_time_triggered_messages_wait_for_their_slot(study: Study) -> None:
    """Up to a period; with the application locked to the network's time, not."""
    free, locked = (
        cells.run(cells.fit(study), Cell("TTE", 64, 100, messages=200, knobs=Knobs(locked=one)))
        for one in (False, True)
    )
    assert free.max_us - free.min_us > 900
    assert locked.max_us - locked.min_us < 450, "the flood's frame that is being read is left"
    assert (free.lost, locked.lost) == (0, 0)


def test_what_is_logged_has_the_clocks_in_it(study: Study) -> None:
    """A round trip is of one clock; one way two clocks differ by what servos leave: less than half a reading, 3 us."""
    for round_trip in (False, True):
        ours = cells.run(cells.fit(study), Cell("UDP", 256, 0, messages=600, round_trip=round_trip))
        off = abs(ours.logged_mean_us - ours.mean_us)
        assert off < 3.0 and ours.offset_us < 3.0
        assert ours.logged_mean_us != ours.mean_us
        assert not round_trip or off < 0.05, "the rate of a clock alone is in it"


def test_every_claim_ends_as_expected(study: Study) -> None:
    """All claims on messages of 2 ms, whole; what the command runs beside them (510 ms, sensitivities) decides none."""
    findings = run(study, only=[one.id for one in study.claims()])
    assert [(one.claim.id, one.outcome) for one in findings if not one.as_expected] == []
    assert summary_line("maps-ethernet", findings) in (FOLDER / "README.md").read_text(encoding="utf-8")
    unexplained = [key for key, _, _, stands in maps_latency.rows(study) if stands == "unexplained"]
    assert unexplained == [("UDP", 128, 100)]


def test_what_was_expected_otherwise_before_the_first_run_is_explained(study: Study) -> None:
    first = {row["claim"]: row["verdict"] for row in study.table("first_verdicts")}
    now = {id: said.verdict.value for id, said in study.expected().items()}
    assert list(first) == list(now)
    # There was one word for both when the first ones were written.
    changed = {id for id in now if first[id] != now[id].replace("not reproduced", "refuted")}
    assert changed == {"MAPS-16", "MAPS-26"}
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    behind = readme[readme.index("## Verdicts and labels that changed") :]
    relabelled = ("MAPS-01", "MAPS-02", "MAPS-03", "MAPS-04", "MAPS-07", "MAPS-08", "MAPS-35")
    assert [id for id in (*changed, *relabelled) if f"**{id}**" not in behind] == []


@pytest.mark.parametrize("id", ["MAPS-07", "MAPS-08", "MAPS-26", "MAPS-35"])
@pytest.mark.parametrize("times", [0.1, 10])
def test_rows_that_are_fitted_decide_no_prediction(study: Study, tmp_path: Path, id: str, times: float) -> None:
    """Whatever they give, a claim that says to be predicted ends as it did."""
    assert study.expected()[id].basis is Basis.PREDICTED
    check = checks(load_module(FOLDER))[id]
    cells.one_way(study)
    held = check(study).holds
    other = Study(FOLDER, tmp_path, memory=dict(study.memory))
    other.memory["seen"] = {
        cell: replace(seen, mean_us=times * seen.mean_us) if cell.payload in FITTED and not cell.saturation else seen
        for cell, seen in study.memory["seen"].items()
    }
    assert cells.at_level(other, "RC", 0)[64].mean_us == times * cells.at_level(study, "RC", 0)[64].mean_us
    assert check(other).holds is held


def test_the_spread_of_time_triggered_messages_is_that_of_the_slide(study: Study) -> None:
    """Which is chosen: a period that does not slide gives no spread, whatever is printed."""
    assert maps_latency.standing(study).sd_us < 5
    assert {study.expected()[id].basis for id in ("MAPS-02", "MAPS-03")} == {Basis.BY_CONSTRUCTION}


def test_levels_are_told_apart(study: Study) -> None:
    """What refutes MAPS-16: the printed rows of UDP, which no other protocol has the like of."""
    table = cells.printed(study)

    def apart(protocol: str) -> float:
        half, full = ({p: table[protocol, p, s].mean_us for p in PAYLOADS} for s in (50, 100))
        return maps_latency.levels_apart(half, full)

    assert apart("UDP") > 0.7
    assert all(apart(one) < 0.15 for one in ("TTE", "RC", "BE"))


def test_the_readme_says_what_the_saturated_rows_of_udp_hang_on(study: Study) -> None:
    """The command holds `sensitivity.csv` against what it runs; here one line of it is run in short."""
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    lines = {line["what"]: line["missed"] for line in study.table("sensitivity")}
    shares = [lines[f"softirq share {share:g}"].removesuffix(" of 12") for share in maps_sensitivity.SHARES]
    assert "| rows missed | " + " | ".join(shares) + " |" in readme
    assert lines["the flood on another processor in every row"] == "9 of 12"
    assert "misses 9 of the 12" in readme
    assert lines["deviations of UDP"].removesuffix(" off on average") in readme
    assert lines["softirq share 0.25"] == lines["softirq share 0.2"] == "4 of 12"
    ours = cells.run(cells.fit(study), Cell("UDP", 1472, 50, messages=300, knobs=Knobs(softirq=0.5)))
    assert abs(ours.mean_us / cells.printed(study)["UDP", 1472, 50].mean_us - 1) > maps_sensitivity.NEAR


def test_a_hundred_messages_meet_the_cycle_as_a_thousand_do(study: Study) -> None:
    """Those of 510 ms, which slide against the cycle of the time-triggered network, as slowly as there are many."""
    few, many = (cells.run(cells.fit(study), Cell("TTE", 64, 0, 510, messages)) for messages in (100, 1000))
    assert few.mean_us == pytest.approx(many.mean_us, rel=0.01)
    assert few.sd_us == pytest.approx(many.sd_us, rel=0.01)


@pytest.mark.parametrize("id", ["MAPS-17", "MAPS-18", "MAPS-20", "MAPS-33", "MAPS-36"])
def test_claims_that_rest_on_a_choice_say_which_value_turns_them(study: Study, id: str) -> None:
    """The flood on another processor, a tenth for the softirq; longer sleeps, one thread; a synchronised part."""
    (found,) = run(study, only=[id])
    assert found.as_expected and found.outcome.holds and found.outcome.rests_on
    turned = {flip.value for flip in found.outcome.flips if not flip.holds}
    if id in ("MAPS-17", "MAPS-18", "MAPS-20"):
        assert found.basis is Basis.CALIBRATED
        assert {"the flood on another processor", "one pace of interrupts", "a softirq share of 0.1"} <= turned
        assert ("a softirq share of 0.5" in turned) is (id != "MAPS-17")
    else:
        assert turned == {flip.value for flip in found.outcome.flips}
