"""The study's parts, and what its files say."""

import csv
import dataclasses
import statistics
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import rtnet_figures  # noqa: E402
import rtnet_instants  # noqa: E402
import rtnet_plan  # noqa: E402
import rtnet_sweep  # noqa: E402
import rtnet_tcp  # noqa: E402
import rtnet_trips as trips  # noqa: E402
import tautwire  # noqa: E402
from rtnet_segment import CYCLE, HAND_OVER, LAYOUTS, RECEIVE, SLAVES, network  # noqa: E402
from tautwire.claims import Check, Study, run, summary_line  # noqa: E402


def test_every_claim_ends_as_expected(study: Study) -> None:
    findings = run(study)
    assert [one.outcome for one in findings if not one.as_expected] == []
    assert summary_line("rtnet-tdma", findings) in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_what_was_expected_otherwise_before_the_first_run_is_explained(study: Study) -> None:
    first = {row["claim"]: row["verdict"] for row in study.table("first_verdicts")}
    now = {id: said.verdict.value for id, said in study.expected().items()}
    assert list(first) == list(now)
    # There was one word for both when the first ones were written.
    changed = {id for id in now if first[id] != now[id].replace("not reproduced", "refuted")}
    assert changed == {"RTN-02", "RTN-12", "RTN-19"}
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    behind = readme[readme.index("## Verdicts that changed") :]
    assert [id for id in (*sorted(changed), "RTN-04", "RTN-07", "RTN-09", "RTN-14", "RTN-21") if id not in behind] == []


def test_the_figures_of_the_prose_are_all_here(study: Study) -> None:
    assert [row["id"] for row in study.table("numbers")] == [f"N{number:03d}" for number in range(1, 28)]


@pytest.mark.parametrize("check", [rtnet_figures.less_jitter_than_tcp, rtnet_figures.greatest_over_mean])
def test_the_deviations_of_table_2_decide_no_prediction(study: Study, tmp_path: Path, check: Check) -> None:
    """They are fitted: whatever they are, RTN-04 and RTN-21 end as they did."""
    wide = {
        name: dataclasses.replace(trip, deviation=10 * trip.deviation, greatest=10 * trip.greatest)
        for name, trip in trips.fitted(study, "100").items()
    }
    held = check(study).holds
    for table in ({}, {"fitted 100": wide}):
        assert check(Study(FOLDER, tmp_path, memory=study.memory | table)).holds is held
    assert check(Study(FOLDER, tmp_path, memory=study.memory | {"fitted 200": wide})).holds is False


def test_the_readme_says_what_the_law_would_give_the_claims(study: Study) -> None:
    """RTN-06 and RTN-21 hang on the release of the application; the law would confirm both, and README says so."""
    law = rtnet_sweep.law(study)
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert f"{law.greatest('200'):.1f} us" in readme and f"{law.greatest_over_mean():.3f}" in readme


def test_impossible_rows_are_impossible(study: Study) -> None:
    """A mean above its maximum, and a deviation that 100 values cannot have."""
    for slots, number in trips.IMPOSSIBLE:
        rows = study.table(trips.TABLES[slots])
        of_run = [row for row in rows if (row["protocol_stack"], row["test_no"]) == ("RTnet", number)]
        cells = {row["metric"]: float(row["value_us"]) for row in of_run}
        above = cells["rtt_max"] - cells["rtt_mean"]
        assert above < 0 or cells["rtt_sd"] > above * 100**0.5
    assert len(trips.printed(study, "100", "RTnet", "rtt_mean")) == 4


@pytest.mark.parametrize("phase", [0, 333, 777])
def test_round_trips_are_the_same_if_all_slots_grew(phase: int) -> None:
    """Counted from the start of the master's slot."""
    one, other = "200", "200, all grown"
    moved = LAYOUTS[other].start("master") - LAYOUTS[one].start("master")
    later = trips.at_phase(other, "slave-a", (phase + moved) % CYCLE)
    assert later.mean == pytest.approx(trips.at_phase(one, "slave-a", phase).mean, abs=1e-6)


@pytest.mark.parametrize("layout", ["100", "200", "load"])
@pytest.mark.parametrize("slave", SLAVES)
def test_observations_keep_within_bounds(layout: str, slave: str) -> None:
    """One pair at a time: requests to all three in turn need every slot of the master and have no bound."""
    if slave not in [owner for owner, _, _ in LAYOUTS[layout].slots]:
        slave = "slave-a"
    result = tautwire.verify(network(LAYOUTS[layout], [trips.request(layout, slave, 400)], jitter=174))
    assert result.contradictions == []
    bound = result.stream(f"response-{slave}")["listeners"][0]["application"]["bound"]["delay_max_ps"]
    assert trips.observed(result, slave).greatest < bound / 1e6


@pytest.mark.parametrize("phase", [0, 444])
def test_round_trips_have_the_parts_of_equations_1_and_2(phase: int) -> None:
    """Part by part, and their sum between the applications; the switch adds a VLAN tag."""
    run = tautwire.simulate(network(LAYOUTS["200"], [trips.request("200", "slave-a", phase)]))
    slot, wire = LAYOUTS["200"].start("master"), 0.08 * (512 + 8)
    wait = (slot - HAND_OVER - phase) % CYCLE
    request = run.stream("request-slave-a")
    source, switch = (hop["observed"]["mean"] for hop in request["hops"])
    application = request["listeners"][0]["application"]["observed"]
    told = [HAND_OVER, wait, wire, 0, wire + 0.32, RECEIVE]
    seen = [
        source["processing_ps"],
        source["shaping_ps"],
        source["transmission_ps"],
        switch["processing_ps"] + switch["queueing_ps"],
        switch["transmission_ps"],
        application["processing"]["mean_ps"],
    ]
    assert seen == pytest.approx([1e6 * part for part in told], abs=1e3)
    for name in ("request-slave-a", "response-slave-a"):
        one = run.stream(name)
        seen = one["listeners"][0]["application"]["observed"]
        parts = sum(part for hop in one["hops"] for part in hop["observed"]["sum"].values())
        assert parts + seen["processing"]["sum_ps"] == pytest.approx(seen["count"] * seen["delay_mean_ps"], rel=1e-9)


def test_a_master_without_a_slot_to_spare_has_no_bound() -> None:
    asked = [trips.request("load", slave, 400) for slave in SLAVES]
    assert tautwire.bounds(network(LAYOUTS["load"], asked, jitter=174)).delay_max_ps("response-slave-a") is None


def test_planned_slots_beat_the_published_ones(study: Study) -> None:
    """By proof, which holds for any instant, and by runs at all phases, which stay below it."""
    published, *others = rtnet_plan.compare(study).values()
    for one in others:
        assert one.proven <= 0.8 * published.proven
        assert one.seen <= 0.8 * published.seen
    for one in (published, *others):
        assert 0.9 * one.proven < one.seen < one.proven


@pytest.mark.parametrize("at", rtnet_instants.AT_ONCE)
def test_without_slots_the_switch_queues(at: int) -> None:
    """The knock-out of RTN-09: answers of all slaves meet at the master's port, the third behind most of two others."""
    waited, passed = rtnet_instants.in_the_switch(rtnet_instants.asked_at_once(at, slotted=False))
    assert passed == 2 * 3 * 20
    assert waited > 100e6 * 20
    assert rtnet_instants.in_the_switch(rtnet_instants.asked_at_once(at))[0] == 0


def test_what_was_tried_is_what_is_committed(study: Study) -> None:
    rtnet_sweep.tell(study)
    for name in ("deviations.csv", "excluded.csv", "tcp_under_load.csv", "step.csv"):
        assert study.output(name).read_text(encoding="utf-8") == (FOLDER / "data" / name).read_text(encoding="utf-8")


def test_the_readme_has_every_source_that_was_tried_and_what_the_law_gives(study: Study) -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8").replace("**", "")
    for line in study.table("deviations"):
        ratios = " | ".join(line[f"ratio_{table}"] for table in ("II", "III", "IV", "III_and_IV"))
        assert f"| {ratios} |" in readme, line
    law, given = rtnet_sweep.law(study), []
    for table, name in (("200", "Table 3"), ("load", "Table 4")):
        of = [law.given[one.table, one.name] for one in law.rows if one.table == table]
        given.append(f"| deviation, mean of {name}, by the law | {statistics.fmean(of):.1f} us |")
    assert [one for one in given if one not in readme] == []
    assert f"{100 * law.share:.2f} %" in readme


def test_no_source_that_grows_with_the_time_waited_is_near_every_row(study: Study) -> None:
    found = rtnet_sweep.rows(study)
    # Of the predicted tables alone: what is fitted on Table 2 owes its rows nothing.
    predicted = [one for one in found if one.table != "100"]
    pairs = {(one.table, one.name, other.table, other.name) for one, other in rtnet_sweep.contradicting(predicted)}
    assert pairs == {("200", "1", "load", "B"), ("load", "A", "load", "C")}
    # Nor one that is the same for all slaves, nor a share: C's is over twice that of B, which waits almost as long.
    load = {one.name: one for one in found if one.table == "load"}
    for near, other in (("B", "A"), ("B", "C")):
        assert load[near].deviation * (1 + rtnet_sweep.NEAR) < load[other].deviation * (1 - rtnet_sweep.NEAR)
    apart = load["C"].deviation * (1 - rtnet_sweep.NEAR) / (load["B"].deviation * (1 + rtnet_sweep.NEAR))
    for share in ("mean", "waited", "off_wire", "behind"):
        assert apart > 1.5 > getattr(load["C"], share) / getattr(load["B"], share), share


def test_one_law_of_table_2_gives_the_mean_deviations_of_tables_3_and_4_and_not_their_rows(study: Study) -> None:
    """A share of the time in which neither frame is on a line, as the simulator tells it."""
    law = rtnet_sweep.law(study)
    assert law.ratio("100") == pytest.approx(1)
    for tables in (["200"], ["load"], ["200", "load"]):
        assert abs(law.ratio(*tables) - 1) <= rtnet_sweep.NEAR, tables
    assert set(law.far("200", "load")) == {("200", "1"), ("200", "3"), ("200", "4"), ("load", "A"), ("load", "B")}
    # Which time is counted is what decides: with the whole trip, or with the hosts' 50 us off, a table is out.
    for shape in (lambda one: one.mean, lambda one: one.waited, lambda one: one.off_wire - 2 * (HAND_OVER + RECEIVE)):
        source = rtnet_sweep.scaled(law.rows, shape)
        ratios = [rtnet_sweep.ratio(law.rows, source, table) for table in ("200", "load")]
        assert max(abs(one - 1) for one in ratios) > rtnet_sweep.NEAR
    # What the claims would be by it.
    assert law.greatest("200") < 15 and law.greatest_over_mean() < 1.064


def test_the_time_on_the_wire_is_that_of_two_flights_at_any_phase() -> None:
    for layout, octets in (("100", 512), ("200", 512), ("load", 1518)):
        flight = 2 * 0.08 * (octets + 8) + 0.32
        assert [trips.at_phase(layout, "slave-a", phase).wire for phase in (0, 444)] == pytest.approx([2 * flight] * 2)


def test_the_step_between_the_least_rows_is_that_of_equal_phases(study: Study) -> None:
    step = rtnet_sweep.step(study)
    assert abs(step["equal_phases"] / step["printed_least"] - 1) <= rtnet_sweep.NEAR
    assert step["equal_phases"] < (1 - rtnet_sweep.NEAR) * step["printed_means"]
    # The least usable row of each table is within a fifth of a cycle of the least that can be.
    for table in ("100", "200"):
        least = min(trips.printed(study, table, "RTnet", "rtt_mean").values())
        assert 0 < least - trips.attainable(table)[0] < CYCLE / 5


def test_rows_that_differ_do_not_differ_by_chance(study: Study) -> None:
    """Runs of one table differ in phase alone, and slaves B and C are PCs of one model."""
    narrow = trips.printed(study, "100", "RTnet", "rtt_sd")
    assert rtnet_sweep.chance_of(narrow["1"] / narrow["2"]) < 0.001
    load = trips.printed(study, "load", "RTnet", "rtt_sd")
    assert rtnet_sweep.chance_of(load["C"] / load["B"]) < 0.001
    pcs = {row["pc"]: row["value"] for row in study.table("table1_environment") if row["metric"] == "cpu_model"}
    assert pcs["PC3"] == pcs["PC4"]
    # A ratio within 15 % either way is common.
    assert rtnet_sweep.chance_of(1.05) > 0.2


def test_no_value_of_a_run_is_a_cycle_off_the_others_and_no_beat_is_printed(study: Study) -> None:
    lines = rtnet_sweep.excluded(study)
    assert len(lines) == len(rtnet_sweep.rows(study))
    for line in lines:
        assert float(line["deviation_us"]) < float(line["least_deviation_if_one_is_a_cycle_off_us"]), line
    narrow = [float(line["beat_at_most_us_a_request"]) for line in lines if line["table"] == "II"]
    assert min(narrow) < rtnet_sweep.least_beat()


def test_moderated_interrupts_are_late_and_at_the_slaves_miss_slots(study: Study) -> None:
    """Late ones put the greatest far above the mean; slots that are missed make deviations that no row has room for."""
    rows = [one for one in rtnet_sweep.rows(study) if one.table != "load"]
    master = rtnet_sweep.with_interrupts(study, everywhere=False)
    for one in rows:
        trip = master[one.table, one.name]
        above = (trip.greatest - trip.mean) / trip.deviation
        assert above > 1.4 > (one.greatest - one.mean) / one.deviation, (one, above)
    everywhere = rtnet_sweep.with_interrupts(study, everywhere=True)
    least = float(rtnet_sweep.excluded(study)[0]["least_deviation_if_one_is_a_cycle_off_us"])
    assert all(everywhere[one.table, one.name].deviation > least for one in rows if one.table == "200")


def test_one_share_of_the_time_waited_gives_the_mean_deviation_of_table_3(study: Study) -> None:
    lines = {line["source"]: line for line in rtnet_sweep.deviations(study)}
    assert abs(float(lines["share of the time waited"]["ratio_III"]) - 1) < 0.05
    assert float(lines["release of the application"]["ratio_III"]) > 3


def test_phases_drawn_evenly_explain_how_far_the_runs_of_table_2_are_apart_and_those_of_table_3_are_near(
    study: Study,
) -> None:
    """Nothing else makes runs differ: without phases the means of a table's runs would be a release apart."""
    said, less, more = rtnet_figures.spread_between_runs(study, "100")
    assert said > 200 and min(less, more) > 0.05
    said, less, _ = rtnet_figures.spread_between_runs(study, "200")
    assert said < 100 and less < 0.05
    # A hundred values that deviate by what is printed within a run have means some microseconds apart.
    assert trips.jitter(study) / 12**0.5 / 100**0.5 < 10


def moderated(host: rtnet_tcp.Host, moderation: str, seed: int) -> list[float]:
    """Round trips without waits for the processor, in microseconds, whose interrupts the interface moderates."""
    text = rtnet_tcp.text(host, "frame: 512 B", 10_000, 1, held=False)
    assert text.count("type: drawn") == 1
    text = text.replace("type: drawn", f"type: {moderation}")
    text = text.replace("defaults: {", "defaults: {clock: {tolerance: 50 ppm}, ")
    run = tautwire.simulate(tautwire.load_text(text), seed=seed, frames=["response-slave-a"])
    return [delay / 1e6 for delay in run.messages.column("delay_ps")][:100]


def test_of_the_moderations_only_one_with_another_phase_at_every_interrupt_is_what_table_2_shows(study: Study) -> None:
    """Printed: means of runs near each other, values of a run far apart."""
    host = rtnet_tcp.fit(study)
    means = trips.printed(study, "100", "TCP/IP", "rtt_mean").values()
    apart, within = statistics.stdev(means), trips.mean(trips.printed(study, "100", "TCP/IP", "rtt_sd"))
    for one in ("throttled", "delayed"):
        assert statistics.stdev(moderated(host, one, 1)) < 1, one
    polled = [moderated(host, "polled", seed) for seed in range(1, 9)]
    assert statistics.stdev(statistics.fmean(run) for run in polled) > 2 * apart
    assert all(statistics.stdev(run) < 0.8 * within for run in polled)
    drawn = [calm for calm, _ in rtnet_tcp.run_of(study, "100").values()]
    assert all(abs(float(run.std(ddof=1)) / within - 1) < 0.05 for run in drawn)


def test_data_holds_no_empty_value() -> None:
    for path in (FOLDER / "data").glob("*.csv"):
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                unknown = ("note", "n_samples")
                assert all(value for key, value in row.items() if key not in unknown), (path.name, row)
