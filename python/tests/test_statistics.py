"""Statistics: against their definitions, against results, and against processes whose truth is known."""

import math
import random

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as some

import tautwire
from tautwire import statistics

# Two talkers that share a line: their frames wait for each other, more or less, as their phases move.
SHARED = """
name: shared
network-control: none
defaults: {rate: 100 Mbit/s}
nodes: {a: {type: end-station}, b: {type: end-station}, z: {type: end-station}, s: {type: bridge}}
links: [{between: [a, s]}, {between: [b, s]}, {between: [s, z]}]
streams:
  - {name: x, talker: a, listeners: z, frame: 500 B, deadline: 1 ms, traffic: {type: periodic, interval: 1 ms}}
  - {name: y, talker: b, listeners: [z, a], frame: 1500 B, traffic: {type: periodic, interval: 703 us}}
run: {duration: 300 ms, warm-up: 20 ms}
"""


@pytest.fixture(scope="module")
def shared() -> tautwire.Verification:
    return tautwire.verify(tautwire.load_text(SHARED))


@given(some.lists(some.integers(-50, 50), min_size=1), some.integers(0, 1000))
def test_a_quantile_is_the_least_value_that_the_share_does_not_exceed(values: list[int], mille: int) -> None:
    share = mille / 1000
    found = statistics.Distribution.of_values(values)
    at = found.quantile(share)
    assert at in values and found.quantile_between(share) == (at, at)
    assert 1000 * sum(one <= at for one in values) >= mille * len(values)
    assert at == min(values) or 1000 * sum(one < at for one in values) < mille * len(values)
    assert found.share_at_most(at)[0] == sum(one <= at for one in values) / len(values)


@given(some.lists(some.integers(0, 10_000), min_size=1), some.integers(1, 700), some.integers(0, 1000))
def test_a_histogram_is_exact_within_a_step(values: list[int], width: int, mille: int) -> None:
    exact = statistics.Distribution.of_values(values)
    steps = sorted({value // width for value in values})
    counts = [sum(value // width == step for value in values) for step in steps]
    low, high = np.array(steps) * width, np.array(steps) * width + width - 1
    seen = statistics.Distribution.of_steps(low, high, counts, minimum=min(values), maximum=max(values))
    assert (seen.count, seen.quantile(0) >= min(values), seen.quantile(1)) == (len(values), True, max(values))
    least, greatest = seen.quantile_between(mille / 1000)
    assert least <= exact.quantile(mille / 1000) <= greatest < least + width
    for value in values[:5]:
        assert seen.share_at_most(value)[0] <= exact.share_at_most(value)[0] <= seen.share_at_most(value)[1]
    ends, shares = seen.ecdf()
    assert [exact.share_at_most(end)[0] for end in ends] == shares.tolist()
    assert (shares + seen.tail()[1] == pytest.approx(1.0)) and seen.tail()[1][-1] == 0


def test_steps_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="do not overlap"):
        statistics.Distribution.of_steps([0, 5], [5, 9], [1, 1])
    with pytest.raises(ValueError, match="lost frames"):
        statistics.Distribution.of_values([1.0, math.nan])
    with pytest.raises(ValueError, match="no values"):
        statistics.Distribution.of_values([]).quantile(0.5)


def test_quantiles_of_results_are_those_of_their_tables(shared: tautwire.Verification) -> None:
    rows = polars.DataFrame(shared.listeners)
    for row in rows.iter_rows(named=True):
        seen = shared.distribution(row["stream"], row["listener"])
        assert seen.count == row["count"]
        for share, name in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99_9"), (0.9999, "p99_99")):
            assert seen.quantile(share) == row[f"delay_{name}_ps"]
        assert (seen.quantile_between(0)[0], seen.quantile(1)) == (row["delay_min_ps"], row["delay_max_ps"])


def test_frames_give_the_delays_that_the_histogram_has(shared: tautwire.Verification) -> None:
    run = tautwire.simulate(tautwire.load_text(SHARED), frames=True)
    for stream, listener in (("x", "z"), ("y", "z"), ("y", "a")):
        seen, coarse = run.delays(stream, listener), run.distribution(stream, listener)
        assert seen.created_ps.min() >= 20_000_000_000, "the warm-up is left out"
        assert seen.distribution.count == coarse.count and seen.distribution.is_exact
        for share in (0, 0.01, 0.5, 0.9, 0.999, 1):
            least, greatest = coarse.quantile_between(share)
            exact = seen.distribution.quantile(share)
            assert least <= exact <= greatest <= least * (1 + 1 / 128)
        mean = run.stream(stream)["listeners"][("z", "a").index(listener)]["observed"]["delay_mean_ps"]
        assert abs(seen.delay_ps.mean() - mean) <= 1
    with pytest.raises(tautwire.UnknownNameError, match="several"):
        run.delays("y")
    with pytest.raises(ValueError, match="no frames were kept"):
        shared.delays("x")


def test_delays_that_transmissions_do_not_give_are_refused() -> None:
    text = SHARED.replace("a: {type: end-station}", "a: {type: end-station, host: slow}")
    text += "hosts: {slow: {transmit: 3 us, receive: 5 us}}\n"
    run = tautwire.simulate(tautwire.load_text(text), frames=True)
    with pytest.raises(ValueError, match="do not give its delays"):
        run.delays("x")
    late = run.delays("y", "a", at="application").delay_ps - run.delays("y", "a").delay_ps
    assert set(late.tolist()) == {5_000_000}
    assert run.distribution("x").count > 100


@given(some.lists(some.integers(0, 1000), min_size=2), some.data())
def test_delay_variation_is_of_neighbours_that_both_arrived(delays: list[int], data: some.DataObject) -> None:
    whole = statistics.delay_variation(delays)
    assert whole.sum() == delays[-1] - delays[0]
    kept = data.draw(some.lists(some.sampled_from(range(len(delays))), unique=True).map(sorted))
    found = statistics.delay_variation([delays[at] for at in kept], kept)
    assert found.tolist() == [whole[at] for at in range(len(delays) - 1) if {at, at + 1} <= set(kept)]


def test_frames_that_are_out_of_order_have_no_variation() -> None:
    with pytest.raises(ValueError, match="order"):
        statistics.delay_variation([1, 2], [5, 4])


def test_variation_of_a_run_leaves_lost_frames_out() -> None:
    lossy = SHARED.replace("{between: [a, s]}", "{between: [a, s], bit-error-rate: 5e-5}")
    seen = tautwire.simulate(tautwire.load_text(lossy), frames=["x"]).delays("x", "z")
    gaps = np.diff(seen.numbers)
    assert gaps.max() > 1
    assert len(seen.variation_ps) == (gaps == 1).sum() < len(seen) - 1


def test_student_has_the_printed_values() -> None:
    printed = {1: 63.657, 2: 9.925, 3: 5.841, 4: 4.604, 5: 4.032, 10: 3.169, 29: 2.756, 30: 2.750, 120: 2.617}
    assert {one: round(statistics.student(0.99, one), 3) for one in printed} == printed
    assert statistics.student(0.95, 4001) == pytest.approx(1.9605, abs=1e-3)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Of a process whose neighbours correlate by 0.8, whose mean is 0 and median too."""
    numbers = np.random.default_rng(5)
    repeats, length, memory = 250, 2000, 0.8
    value = numbers.standard_normal(repeats) / math.sqrt(1 - memory**2)
    series = np.empty((length, repeats))
    for at in range(length):
        value = memory * value + numbers.standard_normal(repeats)
        series[at] = value
    held, narrow, doubtful, medians = 0, 0, 0, 0
    for values in series.T:
        found = statistics.confidence(values)
        held += found.low <= 0 <= found.high
        doubtful += found.is_doubtful
        independent = statistics.independent(values)
        narrow += independent.low <= 0 <= independent.high
        assert independent.is_doubtful, "neighbours are correlated"
    for values in series.T[:100]:
        found = statistics.confidence(values, 0.5)
        medians += found.low <= 0 <= found.high
    assert 0.92 < held / repeats < 0.98, "as stated"
    assert narrow / repeats < 0.65, "as if frames were independent: too narrow"
    assert doubtful / repeats < 0.1
    assert 0.88 < medians / 100 <= 1


def test_too_few_values_have_no_interval() -> None:
    for interval in (statistics.confidence, statistics.independent):
        with pytest.raises(ValueError, match="lost frames"):
            interval([1.0] * 60 + [float("nan")])
    with pytest.raises(ValueError, match="20 batches need 40 values, there are 39"):
        statistics.confidence(range(39))
    with pytest.raises(ValueError, match="20 batches need 2000 values"):
        statistics.confidence(range(1999), 0.99)
    with pytest.raises(ValueError, match="two values"):
        statistics.independent([1.0])


def test_tightness_is_of_every_listener_with_a_bound(shared: tautwire.Verification) -> None:
    rows = statistics.tightness(shared)
    assert sorted((row["stream"], row["listener"]) for row in rows) == [("x", "z"), ("y", "a"), ("y", "z")]
    ratios = [row["bound_to_observed"] for row in rows]
    assert ratios == sorted(ratios, reverse=True) and min(ratios) >= 1
    for row in rows:
        end = next(e for e in shared.stream(row["stream"])["listeners"] if e["listener"] == row["listener"])
        assert row["bound_delay_max_ps"] == end["bound"]["delay_max_ps"]
        assert row["bound_to_observed"] == end["bound"]["delay_max_ps"] / end["observed"]["observed_max_ps"]
        assert ("bound_to_deadline" in row) == (row["stream"] == "x")
    assert statistics.tightness(polars.DataFrame(shared.listeners)) == rows
    searched = tautwire.verify(tautwire.load_text(SHARED), adversary=8)
    for row in statistics.tightness(searched):
        assert row["bound_to_adversary"] == pytest.approx(
            searched.bound_to_adversary(row["stream"], row["listener"]), abs=1e-3
        )
    for half in (tautwire.bounds(tautwire.load_text(SHARED)), tautwire.simulate(tautwire.load_text(SHARED))):
        assert statistics.tightness(half) == []
    with pytest.raises(ValueError, match="no column `bound_delay_max_ps`"):
        statistics.tightness(shared.streams)


def test_a_study_is_summarised_over_its_seeds(tmp_path_factory: pytest.TempPathFactory) -> None:
    network = tautwire.load_text(SHARED.replace("interval: 703 us", "interval: 703 us, phase: random"))
    found = tautwire.study(
        network,
        tautwire.grid({"streams.y.frame": ["300 B", "1500 B"]}),
        seeds=[1, 2, 3, 4],
        rows="listeners",
        to=tmp_path_factory.mktemp("study"),
        executor="serial",
        progress=False,
    )
    rows = statistics.summarise(found, "observed_max_ps", ("streams.y.frame", "stream", "listener"))
    assert len(rows) == 2 * 3 and {row["rows"] for row in rows} == {4}
    for row in rows:
        values = [
            one["observed_max_ps"]
            for one in found.rows()
            if all(one[name] == row[name] for name in ("streams.y.frame", "stream", "listener"))
        ]
        assert row["mean"] == pytest.approx(np.mean(values)) and row["greatest"] == max(values)
        half = statistics.student(0.95, 3) * np.std(values, ddof=1) / 2
        assert (row["low"], row["high"]) == pytest.approx((row["mean"] - half, row["mean"] + half))
    tight = statistics.tightness(found, by=("streams.y.frame", "seed", "stream", "listener"))
    assert len(tight) == 2 * 4 * 3 and tight[0].keys() >= {"streams.y.frame", "seed", "stream", "listener"}
    with pytest.raises(ValueError, match="no column `nothing`"):
        statistics.summarise(found, "nothing", "stream")


def test_what_failed_is_no_row_of_a_summary() -> None:
    rows = [{"load": 1, "delay": 5}, {"load": 1, "delay": None}, {"load": 2, "delay": None}]
    random.Random(1).shuffle(rows)
    assert statistics.summarise(rows, "delay", "load") == [
        {"load": 1, "rows": 1, "least": 5, "mean": 5.0, "median": 5, "greatest": 5, "low": None, "high": None}
    ]
