"""The claims of the comparison of HaRTES's and AVB's admission control.

What is fitted, what is a hypothesis and what is predicted stands with every claim, and why in README.md.
"""

from __future__ import annotations

import csv

import harts_centralised
import harts_experiments
import harts_mechanisms
from harts_figures import draw
from harts_runs import PATHS, scenario_statistics
from harts_sensitivity import table as sensitivity
from harts_table1 import checklist
from harts_testbed import statistics, table3, table5
from tautwire.claims import Study

#: Where the claims are tested.
MODULES = (harts_centralised, harts_experiments, harts_mechanisms)


def finish(study: Study) -> None:
    """Draws the figures, and writes Table 1, what was switched off, and both tables beside the published ones."""
    draw(study)
    for name, rows in (("table1", checklist(study)), ("sensitivity", sensitivity(study))):
        with open(study.output(f"{name}.csv"), "w", newline="", encoding="utf-8") as file:
            told = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            told.writeheader()
            told.writerows(rows)
    columns = ("min", "mean", "max", "std_dev")
    with open(study.output("tables.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["table", "condition", "protocol", "stream", *columns, *(f"published {one}" for one in columns)]
        )
        for (name, protocol), streams in table3(study).items():
            ours = scenario_statistics(study, name, protocol)
            for stream, row in sorted(streams.items()):
                mine = [f"{ours[stream][one]:.2f}" for one in columns]
                writer.writerow(["3", name, protocol, stream, *mine, *(row[one] for one in columns)])
        for protocol in ("HaRTES", "AVB"):
            rows = {int(row["hops"]): row for row in table5(study, "I", protocol)}
            for hops, values in harts_experiments.by_hops(study, protocol).items():
                mine = statistics(values)
                told = [f"{mine[one]:.2f}" for one in columns]
                writer.writerow(["5", f"I, {hops} hops", protocol, "F7", *told, *(rows[hops][one] for one in columns)])
    assert set(PATHS) == {2, 3, 4}
