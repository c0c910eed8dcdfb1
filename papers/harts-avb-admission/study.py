"""The claims of the comparison of HaRTES's and AVB's admission control.

What is fitted, what is a hypothesis and what is predicted stands with every claim, and why in README.md.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

import harts_centralised
import harts_experiments
import harts_mechanisms
import harts_timers as timers
import numpy as np
from harts_architectures import table as architectures
from harts_figures import draw
from harts_rows import told as means
from harts_runs import LOADS, loaded, scenario_statistics
from harts_sensitivity import table as sensitivity
from harts_table1 import checklist
from harts_testbed import statistics, table3, table5
from tautwire.claims import Study

#: Where the claims are tested.
MODULES = (harts_centralised, harts_experiments, harts_mechanisms)


def finish(study: Study) -> None:
    """Draws the figures; writes Table 1, every mean, what was switched off or varied, and both printed tables."""
    draw(study)
    written = {
        "table1": checklist(study),
        "means": means(study),
        "sensitivity": sensitivity(study),
        "architectures": architectures(study),
        "timers_means": timers.means(study),
        "timers_spreads": timers.spreads(study),
        "timers_claims": timers.claims(study),
    }
    for name, rows in written.items():
        with open(study.output(f"{name}.csv"), "w", newline="", encoding="utf-8") as file:
            writer_of = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer_of.writeheader()
            writer_of.writerows(rows)
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
        for condition, protocol, what, values, published in table5_conditions(study):
            mine = statistics(values)
            mine_told = [f"{mine[one]:.2f}" for one in columns]
            writer.writerow(["5", condition, protocol, what, *mine_told, *(published[one] for one in columns)])


def table5_conditions(study: Study) -> Iterator[tuple[str, str, str, np.ndarray, dict[str, Any]]]:
    """Every condition of Table 5: its name, protocol, what was measured, our values and the published row."""
    for protocol in ("HaRTES", "AVB"):
        rows = {int(row["hops"]): row for row in table5(study, "I", protocol)}
        for hops, values in harts_experiments.by_hops(study, protocol).items():
            yield f"I, {hops} hops", protocol, "F7", values, rows[hops]
    for protocol in ("HaRTES", "AVB"):
        rows_of_load = {
            (int(row["interference_payload_bytes"] or 0), int(row["network_load_pct"])): row
            for row in table5(study, "II", protocol)
        }
        for payload, percent in ((0, 0), *LOADS):
            condition = f"II, {payload} B and {percent} %" if percent else "II, no load"
            yield condition, protocol, "F7", loaded(study, protocol, payload, percent), rows_of_load[payload, percent]
    for row in table5(study, "III", "HaRTES"):
        count = int(row["installed_streams"])
        yield f"III, streams: {count}", "HaRTES", "test", harts_experiments.test_times(study, count), row
    for row in table5(study, "III", "AVB"):
        count, component = int(row["installed_streams"]), row["component"]
        values = harts_experiments.bridge_times(study, count, component)
        yield f"III, streams: {count}", "AVB", f"[{component}]", values, row
