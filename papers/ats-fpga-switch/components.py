"""Claims about the latency of the components (V-B-2): Tables 2 to 4 and Figure 10."""

from __future__ import annotations

from typing import Any

import tautwire
from experiments import single_latency_ns
from measure import us
from tautwire.claims import Basis, Outcome, Study, claim
from testbed import one_frame

COMPONENTS = ("eth_ctrl", "pre_sw_fifo", "set_at", "calc_et", "fdb", "queue", "fifo")
#: Of which component a stage of the device file is a part.
COMPONENT_OF_STAGE = {
    "eth-ctrl-in": "eth_ctrl",
    "pre-switch-fifo": "pre_sw_fifo",
    "arrival-time": "set_at+calc_et",
    "eligibility-time": "set_at+calc_et",
    "bypass": "set_at+calc_et",
    "bypass-credit-based": "set_at+calc_et",
    "forwarding-database": "fdb",
    "ats-queue": "queue",
    "fifo-queue": "queue",
    "fifo-queue-credit-based": "queue",
    "output-fifo": "fifo",
    "eth-ctrl-out": "eth_ctrl",
    "unnamed": None,
}
TABLES = {"table2_ats_pmd0": (7, 0), "table3_strict_priority": (5, 0), "table4_ats_pmd50": (7, 50_000)}


def cycles(study: Study, table: str) -> dict[int, dict[str, int]]:
    """Cycles of the components and the total of a table, by payload."""
    rows = {}
    for row in study.table(table):
        values = list(row.values())
        names = ("payload", *COMPONENTS, "total_ns")
        rows[int(row["payload_bytes"])] = dict(zip(names, map(int, values), strict=True))
    return rows


def line(rows: dict[int, dict[str, int]], name: str) -> tuple[float, float]:
    """Slope and constant through the rows of 64 and 1500 B: what the device model was fitted on."""
    low, high = rows[64][name], rows[1500][name]
    slope = (high - low) / (1500 - 64)
    return slope, low - 64 * slope


def missed_rows(rows: dict[int, dict[str, int]]) -> list[str]:
    """Cells of the seven rows between that their line misses."""
    missed = []
    for name in COMPONENTS:
        slope, constant = line(rows, name)
        missed += [f"{name} at {p} B" for p, row in rows.items() if row[name] != slope * p + constant]
    return missed


def totals(study: Study) -> list[dict[str, Any]]:
    """Printed and simulated totals of the three tables, in ns."""

    def make() -> list[dict[str, Any]]:
        found = []
        for table, (traffic_class, pmd_ns) in TABLES.items():
            for payload, row in cycles(study, table).items():
                ours = single_latency_ns(traffic_class, payload, pmd_ns)
                found.append(
                    {
                        "table": table,
                        "payload": payload,
                        "paper_ns": row["total_ns"],
                        "ours_ns": ours,
                    }
                )
        return found

    return study.once("totals", make)


def total_errors(study: Study, table: str) -> list[str]:
    """Rows of a table whose simulated total is not the printed one."""
    rows = [row for row in totals(study) if row["table"] == table]
    assert len(rows) == 9, rows
    return [f"{row['payload']} B: {row['ours_ns']:.0f}" for row in rows if row["ours_ns"] != row["paper_ns"]]


@claim("ATS-01", Basis.PREDICTED)
def constant_cycles(study: Study) -> Outcome:
    """The same latency in every repetition, whatever the seed."""
    payloads = [64, 700, 1500]
    seen = {p: {single_latency_ns(7, p, 0, seed=seed) for seed in range(1, 6)} for p in payloads}
    ours = ", ".join(f"{p} B: {sorted(one)} ns" for p, one in seen.items())
    apart = len({latency for one in seen.values() for latency in one})
    holds = all(len(one) == 1 for one in seen.values()) and apart == len(payloads)
    return Outcome(
        "no deviation over repetitions; cycles depend on the size of the frame",
        f"5 seeds: {ours}",
        holds,
    )


def component_claim(study: Study, table: str) -> Outcome:
    """The lines of a table and the device model that is made of them."""
    rows = cycles(study, table)
    missed, wrong = missed_rows(rows), total_errors(study, table)
    fit = {name: line(rows, name) for name in COMPONENTS}
    model = components(study, table)
    apart = [name for name, said in model.items() if said != fitted(fit, name)]
    text = ", ".join(f"{name} {slope:g}p{constant:+g}" for name, (slope, constant) in fit.items())
    ours = (
        f"lines through the rows of 64 and 1500 B: {text}; they miss {len(missed)} of 49 other cells; "
        f"the device file differs in {len(apart)} components; {9 - len(wrong)} of 9 totals simulated exactly"
    )
    return Outcome("cycles as printed, nine rows", ours, not (missed or wrong or apart))


@claim("ATS-02", Basis.PREDICTED)
def ats_components(study: Study) -> Outcome:
    """Table 2."""
    return component_claim(study, "table2_ats_pmd0")


@claim("ATS-03", Basis.PREDICTED)
def strict_priority_components(study: Study) -> Outcome:
    """Table 3."""
    return component_claim(study, "table3_strict_priority")


def fitted(fit: dict[str, tuple[float, float]], name: str) -> tuple[float, float]:
    """The line of a component, or of those joined by ``+``."""
    lines = [fit[one] for one in name.split("+")]
    return sum(one[0] for one in lines), sum(one[1] for one in lines)


def components(study: Study, table: str) -> dict[str, tuple[float, float]]:
    """Slope and constant, in cycles of payload, of what the device file says of each component.

    Set A.T. and Calc. E.T. are one here: the arrival time is read between them, while the frame
    passes. The controller's part of the wire's time is that of frame and preamble.
    """
    device = one_frame(7, 1500, 0).network().device("switch")
    mechanism = "strict-priority" if "strict" in table else "ats"
    lines: dict[str, list[float]] = {"eth_ctrl": [1, 12]}
    for stage in device["stages"]:
        name = COMPONENT_OF_STAGE[stage["name"]]
        if stage["only_for"] not in (None, mechanism) or name is None:
            continue
        slope = stage["latency"]["per_octet_ps"] / 8000
        # Octets of the frame are those of the payload and the FCS.
        constant = (stage["latency"]["constant_ps"] - stage["latency"]["less_ps"]) / 8000 + 4 * slope
        sums = lines.setdefault(name, [0.0, 0.0])
        sums[0] += slope
        sums[1] += constant
    return {name: (slope, constant) for name, (slope, constant) in lines.items()}


@claim("ATS-04", Basis.PREDICTED)
def total_is_cycles_and_constant(study: Study) -> Outcome:
    """All 27 totals."""
    wrong = [f"{table} {one}" for table in TABLES for one in total_errors(study, table)]
    tables = {name: cycles(study, name) for name in TABLES}
    constants = {
        row["total_ns"] - 8 * sum(row[name] for name in COMPONENTS) for rows in tables.values() for row in rows.values()
    }
    ours = (
        f"{27 - len(wrong)} of 27 simulated totals are the printed ones; the tables' constant is {sorted(constants)} ns"
    )
    return Outcome(
        "64p + 1810, 32p + 1210, 32p + 50 938 ns",
        ours,
        not wrong and constants == {562},
    )


@claim("ATS-05", Basis.CALIBRATED)
def largest_frame(study: Study) -> Outcome:
    """1500 B by both classes."""
    ats, sp = single_latency_ns(7, 1500, 0), single_latency_ns(5, 1500, 0)
    holds = round(ats / 1000, 1) == study.number("N027") and round(sp / 1000, 1) == study.number("N028")
    return Outcome(
        "97.8 us by an ATS class, 49.2 us by strict priority",
        f"{us(ats)} and {us(sp)}",
        holds,
    )


@claim("ATS-06", Basis.CALIBRATED)
def shaper_cycles(study: Study) -> Outcome:
    """What ATS costs: Calc. E.T. and ATS Queue."""
    model = components(study, "table2_ats_pmd0")
    ours = sum(
        slope * 1500 + constant for name, (slope, constant) in model.items() if name in ("set_at+calc_et", "queue")
    )
    # One cycle of it is Set A.T.
    ours -= 1
    holds = ours == study.number("N029")
    return Outcome("6080 cycles (49 us)", f"{ours:.0f} cycles ({us(8 * ours)})", holds)


@claim("ATS-07", Basis.PREDICTED)
def pmd_moves_the_queue_alone(study: Study) -> Outcome:
    """Where a frame waits under PMD 50 us and under none."""
    waits = {}
    for pmd_ns in (0, 50_000):
        observation = tautwire.simulate(one_frame(7, 700, pmd_ns).network())
        waits[pmd_ns] = observation.summary["streams"][0]["hops"][1]["observed"]["sum"]
    changed = [part for part in waits[0] if waits[0][part] != waits[50_000][part]]
    grown = waits[50_000]["shaping_ps"] - waits[0]["shaping_ps"]
    rows = {name: cycles(study, name)[700]["queue"] for name in ("table2_ats_pmd0", "table4_ats_pmd50")}
    paper = 8 * (rows["table4_ats_pmd50"] - rows["table2_ats_pmd0"])
    ours = (
        f"700 B: of the parts of the delay {changed} change, by {grown / 1000:.0f} ns; the tables' queue by {paper} ns"
    )
    return Outcome(
        "only the ATS Queue's cycles change",
        ours,
        changed == ["shaping_ps"] and grown == 1000 * paper,
    )


def knee_ns(payload: int) -> int:
    """The greatest PMD that does not delay a frame."""
    free = single_latency_ns(7, payload, 0)
    low, high = 0, 100_000
    while high - low > 1:
        middle = (low + high) // 2
        if single_latency_ns(7, payload, middle) == free:
            low = middle
        else:
            high = middle
    return low


@claim("ATS-08", Basis.PREDICTED)
def smallest_pmd(study: Study) -> Outcome:
    """The knee of latency over PMD, at the largest frame."""
    knees = {payload: knee_ns(payload) for payload in (64, 500, 1500)}
    worst = max(knees.values())
    ours = f"{us(worst)} (at 64, 500, 1500 B: {list(knees.values())} ns), as by the paper's own tables"
    return Outcome("48.972 us", ours, round(worst / 1000, 3) == study.number("N034"))


@claim("ATS-09", Basis.PREDICTED)
def pmd_of_20_us(study: Study) -> Outcome:
    """Which payloads wait under a PMD of 20 us."""
    waits = {
        p: single_latency_ns(7, p, 20_000) - single_latency_ns(7, p, 0) for p in (64, 300, 500, 597, 598, 700, 1500)
    }
    ours = ", ".join(f"{payload} B waits {wait:.0f} ns" for payload, wait in waits.items())
    holds = waits[64] > 0 and all(wait == 0 for payload, wait in waits.items() if payload >= 500)
    return Outcome("64 B waits, 500 B and more does not", ours, holds)


@claim("ATS-10", Basis.PREDICTED)
def pmd_of_50_us(study: Study) -> Outcome:
    """Every frame waits for its eligibility time."""
    rows = {row["payload"]: row for row in totals(study) if row["table"] == "table4_ats_pmd50"}
    free = {row["payload"]: row["ours_ns"] for row in totals(study) if row["table"] == "table2_ats_pmd0"}
    waiting = all(row["ours_ns"] > free[payload] for payload, row in rows.items())
    holds = waiting and not total_errors(study, "table4_ats_pmd50")
    return Outcome(
        "52.986 to 98.938 us",
        f"{us(rows[64]['ours_ns'])} to {us(rows[1500]['ours_ns'])}, all wait: {waiting}",
        holds,
    )
