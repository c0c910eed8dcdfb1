"""The study's parts, and what its files say."""

import csv
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import avnu_figures as figures  # noqa: E402
import avnu_further as further  # noqa: E402
import avnu_hypotheses as hypotheses  # noqa: E402
import avnu_jitter  # noqa: E402
import avnu_latency  # noqa: E402
import avnu_processor as processor  # noqa: E402
import avnu_testbed as bed  # noqa: E402
import avnu_topologies as topologies  # noqa: E402
import tautwire  # noqa: E402
from tautwire.claims import Study, run, summary_line  # noqa: E402


def test_every_claim_ends_as_expected(study: Study) -> None:
    findings = run(study)
    assert [one.outcome for one in findings if not one.as_expected] == []
    assert summary_line("openavnu-testbed", findings) in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_both_readings_of_the_rate_are_as_told(study: Study) -> None:
    """The table of README; by the wire's rate AVN-06 would be confirmed, AVN-04 and AVN-07 refuted."""
    lines = "\n".join(figures.markdown(study))
    assert lines in (FOLDER / "README.md").read_text(encoding="utf-8"), f"README does not show:\n{lines}"
    rows = [row for row in figures.loads(study) if (row["Mbit/s of"], row["system"]) == ("wire", "raw Ethernet")]
    late = [float(row["late_pct"]) for row in rows]
    steps = np.diff(late)
    assert late[:2] == [0, 0] and late[4] < 0.8 * bed.printed_late(study, 80) and steps[-1] < 10 * steps[:-1].max()


def test_what_was_expected_before_the_first_run_is_kept(study: Study) -> None:
    first = {row["claim"]: row["verdict"] for row in study.table("first_verdicts")}
    now = {id: said.verdict.value for id, said in study.expected().items()}
    assert list(first) == list(now)
    # There was one word for both when the first ones were written.
    assert {id for id in now if first[id] != now[id].replace("not reproduced", "refuted")} == {"AVN-06"}
    confirmed = sum(verdict == "confirmed" for verdict in first.values())
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert f"Before the first run {confirmed} claims were expected to be confirmed" in readme


def test_the_sender_keeps_its_mean_rate() -> None:
    """With a wait and without, but for the wait's end."""
    calm = bed.Setup("raw", 60, milliseconds=20_000)
    times, waited = bed.background(calm), bed.background(replace(calm, stall=11_300))
    assert len(times) == len(waited) == round(20_000 * bed.frames_per_tick(calm) + 0.5)
    # What is due when it runs again is sent then, and not at the next tick.
    assert (np.diff(waited) >= 0).all() and (waited > times - bed.TICK).all()
    assert (waited - times).max() == 11_300
    assert (waited[times < 10e6] == times[times < 10e6]).all()


def late_frames(**changes: object) -> int:
    base = bed.Setup("raw", 80, stall=11_300, spread=24, milliseconds=10_500)
    return int((bed.delays(replace(base, **changes)) > 2000).sum())  # type: ignore[arg-type]


def test_late_frames_hang_on_the_wait_and_on_the_shared_queue() -> None:
    """Each knocked out alone."""
    assert late_frames() > 100
    assert late_frames(stall=0) == 0
    assert late_frames(system="AVB") == 0


def test_the_share_at_full_load_is_what_the_line_has_left() -> None:
    """The more octets in every frame of the stream, the less is left, and the more frames are late."""
    times = [late_frames(load=100, frame=frame, milliseconds=25_000) for frame in (430, 435, 440)]
    assert times[0] < times[1] < times[2]


def test_the_bursts_make_the_variation() -> None:
    calm = bed.Setup("raw", 100, spread=24, milliseconds=3000)
    bursts, even = (bed.variation(bed.delays(replace(calm, bursts=bursts)))[0] for bursts in (True, False))
    assert bursts > 3 * even


def test_calls_of_70_us_explain_both_variations() -> None:
    """AVN-09 and AVN-10 within a fifth; each mechanism switched off alone leaves its figure as far off as it was."""
    printed = {"AVB": 0.13, "raw": 0.18}
    avb, raw = processor.variation("AVB", 100, 70, shared=True), processor.variation("raw", 100, 70, shared=False)
    assert abs(avb / printed["AVB"] - 1) < 0.2 and abs(raw / printed["raw"] - 1) < 0.2
    assert processor.variation("AVB", 100, 70, shared=False) < 0.6 * printed["AVB"]
    assert processor.variation("raw", 100, 70, shared=True) > 1.3 * printed["raw"]
    assert processor.variation("raw", 100, 0, shared=False) > 1.3 * printed["raw"]


def test_medians_that_rise_by_much_or_not_at_all_are_told(study: Study) -> None:
    """AVN-08 can fail: by no background at all, and by one that is more than the line takes."""
    raw = [float(np.median(bed.delays(bed.setup(study, "raw", load)))) for load in bed.LOADS]
    assert avnu_latency.small_and_slightly_more(raw)
    assert not avnu_latency.small_and_slightly_more(raw[:1] * 6)
    too_much = bed.Setup("raw", 120, spread=24, milliseconds=3000)
    assert not avnu_latency.small_and_slightly_more([*raw[:-1], float(np.median(bed.delays(too_much)))])


def test_the_bursts_decide_what_depends_less_on_the_load(study: Study) -> None:
    """AVN-13 can fail: a background that is spaced evenly makes both systems alike."""
    found = avnu_jitter.avb_depends_less_on_load(study)
    assert found.holds and found.printed and found.rests_on
    assert [flip.holds for flip in found.flips] == [False]


def test_no_frame_of_avb_exceeds_its_bound() -> None:
    for load in (20, 100):
        setup = bed.Setup("AVB", load, stall=11_300, spread=30, milliseconds=10_500)
        bound = tautwire.bounds(bed.network(setup)).delay_max_ps("stream")
        assert bound is not None and bed.delays(setup).max() <= bound / 1e6


def test_bridges_on_the_way() -> None:
    """Over seven links class A is proven to keep 2 ms by AVB, and is not by one FIFO."""
    rows = {(row["system"], row["bridges"], row["class"]): row for row in further.rows()}
    assert rows["AVB", 6, "A"]["bound_us"] < 2000 < rows["raw", 6, "A"]["bound_us"]  # type: ignore[operator]
    for row in rows.values():
        assert row["max_us"] <= row["bound_us"]  # type: ignore[operator]


def test_a_frame_that_no_queue_overtakes_doubles_the_variation() -> None:
    """AVN-09: with one frame under way the card is the simulator's port; with two the variation is the printed one."""
    one, two = hypotheses.card(100, 1), hypotheses.card(100, 2)
    assert abs(one - hypotheses.variation(hypotheses.Sender(), 100)) < 0.001
    assert two > 1.8 * one and abs(two / 0.13 - 1) < 0.1
    assert hypotheses.card(0, 2) < 0.001


def test_more_waits_at_full_load_make_its_share() -> None:
    """AVN-05: three waits that lie apart; as many that do not are no more than the first prolonged."""
    share = [hypotheses.late(cause, 100) for cause in (hypotheses.Cause(), *map(of_three, (10_000, 500)))]
    assert share[0] < 0.4 * 8.1 and abs(share[1] / 8.1 - 1) < 0.2
    assert share[2] < 0.6 * 8.1


def of_three(apart: int) -> hypotheses.Cause:
    return hypotheses.Cause(waits=(hypotheses.WAIT,) * 3, apart=apart)


def test_stars_trees_and_rings_keep_their_bounds_and_classes() -> None:
    """No frame above its bound, class A within 2 ms, class B within 50 ms; every frame sent is received."""
    rows = topologies.rows()
    assert {row["topology"] for row in rows} == set(topologies.TOPOLOGIES)
    for row in rows:
        assert 0 < row["min_us"] <= row["median_us"] <= row["max_us"] <= row["bound_us"], row
        if row["system"] == "AVB":
            assert row["bound_us"] < 1000 * topologies.LIMITS_MS[row["class"]], row
    bound = {(row["topology"], row["system"], row["load_pct"], row["class"]): row["bound_us"] for row in rows}
    for name in topologies.TOPOLOGIES:
        # Beside background class A gains and class B loses; without it one FIFO is the better one.
        assert bound[name, "AVB", 100, "A"] < bound[name, "raw", 100, "A"]
        assert bound[name, "AVB", 100, "B"] > bound[name, "raw", 100, "B"]
        assert bound[name, "AVB", 0, "A"] > bound[name, "raw", 0, "A"]
    # A cut that makes a line of the ring is a line of as many bridges.
    line, ring = (bound[name, "AVB", 100, "A"] for name in ("line of five", "ring, cut beside the listener"))
    assert abs(line / ring - 1) < 0.01 and bound["ring, cut far from the listener", "AVB", 100, "A"] < 0.7 * ring


def test_more_streams_of_the_same_traffic_wait_longer() -> None:
    rows = topologies.rows_by_number()
    for system in topologies.SYSTEMS:
        for name in topologies.CLASSES:
            bounds = [row["bound_us"] for row in rows if (row["system"], row["class"]) == (system, name)]
            # Of one stream, which comes as often as two together, a second frame may fall into the busy period.
            assert bounds[1:] == sorted(bounds[1:]) and bounds[-1] == max(bounds)
            assert bounds[0] < bounds[2] and len(bounds) == len(topologies.TALKERS)
    assert all(row["max_us"] <= row["bound_us"] for row in rows)


def test_data_holds_no_empty_value() -> None:
    for path in (FOLDER / "data").glob("*.csv"):
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                assert all(value for key, value in row.items() if key != "note"), (path.name, row)
