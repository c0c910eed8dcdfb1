"""Which shaper for which traffic: every combination of mechanisms on every network, bounds and runs, loss and cost.

``make study STUDY=shapers`` runs all of it on the release build: it writes ``results/`` and the tables of
``docs/guide/which-shaper.md``, and draws the figures into ``results/``. Drawn like the comparison of Zhao, Pop and
Steinhorst (2021): the bound of each class of traffic under each mechanism, and what was observed.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any

import shapers_mechanisms as mechanisms
import tautwire
from shapers_fields import FIELDS, Field

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"
PAGE = FOLDER.parent.parent / "docs" / "guide" / "which-shaper.md"

#: Simulated time of a run, and the seeds of the phases.
DURATION = "400 ms"
SEEDS = (1, 2, 3, 4, 5)

#: Classes of traffic with deadlines.
ROLES = ("control", "sensor", "service")

#: Octets of an additional fragment on the wire: preamble, check and gap.
FRAGMENT = 24


@dataclass(frozen=True)
class Row:
    """A class of traffic of a network under a combination. Times in microseconds."""

    network: str
    combination: str
    role: str
    streams: int
    #: Of all that are proven: every bound is within its deadline, and no frame may be lost.
    proven: int
    bound_us: float | None
    jitter_bound_us: float | None
    observed_us: float
    mean_us: float
    #: Greatest share of its deadline that a bound takes, in percent.
    of_deadline: float | None
    lost: int


@dataclass(frozen=True)
class Cost:
    """What a combination costs a network."""

    network: str
    combination: str
    #: Share of the line kept at the port where that is most, in percent.
    reserved: float
    #: Octets a second that fragments add, at all ports.
    overhead_octets: int
    #: What files get through: to each of their listeners, in Mbit/s of payload.
    bulk_mbps: float


Listener = dict[str, Any]
_COLUMNS = (
    "stream",
    "deadline_ps",
    "bound_delay_max_ps",
    "bound_jitter_ps",
    "verdict",
    "observed_max_ps",
    "delay_mean_ps",
    "delivered",
    "dropped",
)


def run(name: str, combination: str, seeds: Sequence[int] = SEEDS, duration: str = DURATION) -> tuple[list[Row], Cost]:
    """One combination on one network.

    Raises
    ------
    NotOffered
        The workbench refuses the combination.
    """
    field = FIELDS[name]
    try:
        network = mechanisms.build(field, combination)
        network.core()
    except tautwire.DescriptionError as error:
        raise mechanisms.NotOffered(str(error.diagnostics[0])) from error
    results = [tautwire.verify(network, seed=seed, duration=duration) for seed in seeds]
    runs = [_listeners(result) for result in results]
    rows = [_row(field, combination, role, runs) for role in ROLES]
    seconds = sum(result.summary["run"]["duration_ps"] for result in results) / 1e12
    cost = Cost(
        name,
        combination,
        round(mechanisms.reserved_share(field, combination, network.document()), 1),
        round(FRAGMENT * sum(_fragments(result.summary) for result in results) / seconds),
        round(sum(_bulk_octets(field, one) for one in runs) * 8 / seconds / 1e6, 1),
    )
    return rows, cost


def _listeners(result: tautwire.Verification) -> list[Listener]:
    columns = [result.listeners.column(name) for name in _COLUMNS]
    return [dict(zip(_COLUMNS, values, strict=True)) for values in zip(*columns, strict=True)]


def _row(field: Field, combination: str, role: str, runs: Sequence[Sequence[Listener]]) -> Row:
    names = {flow.name for flow in field.flows if flow.role == role}
    found = [one for listeners in runs for one in listeners if one["stream"] in names]
    first = [one for one in runs[0] if one["stream"] in names]
    is_bounded = all(one["bound_delay_max_ps"] is not None for one in first)
    return Row(
        field.name,
        combination,
        role,
        len(first),
        sum(one["verdict"] == "proven" for one in first),
        _us(max(one["bound_delay_max_ps"] for one in first)) if is_bounded else None,
        _us(max(one["bound_jitter_ps"] for one in first)) if is_bounded else None,
        _us(max(one["observed_max_ps"] for one in found)),
        _us(sum(one["delay_mean_ps"] for one in found) / len(found)),
        round(100 * max(one["bound_delay_max_ps"] / one["deadline_ps"] for one in first), 1) if is_bounded else None,
        sum(one["dropped"] for one in found),
    )


def _fragments(summary: dict[str, Any]) -> int:
    """mPackets beyond one for each frame, of all ports."""
    counters = [one for one in summary.get("mechanisms", []) if one["name"] == "preemption"]
    return sum(
        dict(zip((column["name"] for column in table["columns"]), row, strict=True))["frag_count_tx"]
        for table in counters
        for row in table["rows"]
    )


def _bulk_octets(field: Field, listeners: Sequence[Listener]) -> int:
    payloads = {flow.name: flow.payload for flow in field.flows if flow.role == "bulk"}
    return sum(one["delivered"] * payloads[one["stream"]] for one in listeners if one["stream"] in payloads)


def _us(picoseconds: float) -> float:
    return round(picoseconds / 1e6, 1)


def write(rows: Sequence[Row | Cost], path: Path) -> None:
    """Rows as a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields_of(rows[0])], lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: "" if value is None else value for key, value in asdict(row).items()} for row in rows)


def read(name: str) -> list[dict[str, str]]:
    """A file of results, as texts."""
    with (RESULTS / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


#: Columns of the page's tables: bounds with the greatest observation behind them.
HEAD = (
    "mechanisms",
    "control us",
    "its jitter us",
    "sensors us",
    "service us",
    "proven",
    "lost",
    "kept %",
    "files Mbit/s",
    "fragments octets/s",
)


def tables() -> str:
    """The tables of the page, from the results."""
    costs = {(row["network"], row["combination"]): row for row in read("costs.csv")}
    refused = read("refused.csv")
    parts = []
    for name in FIELDS:
        rows = {(row["combination"], row["role"]): row for row in read("rows.csv") if row["network"] == name}
        lines = [f"### {name.capitalize()}", "", f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
        for combination in mechanisms.COMBINATIONS:
            if (combination, "control") not in rows:
                continue
            own = [rows[combination, role] for role in ROLES]
            cost = costs[name, combination]
            delays = [f"{row['bound_us'] or 'none'} ({row['observed_us']})" for row in own]
            cells = [
                combination,
                delays[0],
                own[0]["jitter_bound_us"] or "none",
                *delays[1:],
                f"{sum(int(row['proven']) for row in own)} of {sum(int(row['streams']) for row in own)}",
                str(sum(int(row["lost"]) for row in own)),
                cost["reserved"],
                cost["bulk_mbps"],
                cost["overhead_octets"],
            ]
            lines.append("| " + " | ".join(cells) + " |")
        parts.append("\n".join(lines))
    if refused:
        reasons = [f"- {row['network']}, {row['combination']}: {row['reason']}" for row in refused]
        parts.append("### Refused\n\n" + "\n".join(reasons))
    return "\n\n".join(parts) + "\n"


#: What surrounds the tables in the page.
MARKS = ("<!-- results -->\n\n", "<!-- end of results -->")


def page(text: str) -> str:
    """The page with the tables of the results."""
    before, _, rest = text.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    return f"{before}{MARKS[0]}{tables()}\n{MARKS[1]}{after}"


def main(arguments: Sequence[str]) -> int:
    """Runs the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-figures", action="store_true", help="write results and page alone")
    asked = parser.parse_args(arguments)
    rows: list[Row] = []
    costs: list[Cost] = []
    refused: list[dict[str, str]] = []
    calls = [(name, combination) for name in FIELDS for combination in mechanisms.COMBINATIONS]
    with tautwire.progress.Progress(len(calls), "combinations") as progress:
        for name, combination in calls:
            try:
                found, cost = run(name, combination)
                rows += found
                costs.append(cost)
            except mechanisms.NotOffered as error:
                refused.append({"network": name, "combination": combination, "reason": str(error)})
            progress.advance()
    RESULTS.mkdir(exist_ok=True)
    write(rows, RESULTS / "rows.csv")
    write(costs, RESULTS / "costs.csv")
    with (RESULTS / "refused.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["network", "combination", "reason"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(refused)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    if not asked.no_figures:
        import shapers_figures as figures

        figures.draw(RESULTS)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(FOLDER))
    sys.exit(main(sys.argv[1:]))
