"""What the saturated rows of UDP hang on: the softirq's share of a message's time, and which processor has the flood.

Neither is printed. Nothing here is fitted; it says how far the count of missed rows would move with another choice.
"""

from __future__ import annotations

import csv
import statistics
from dataclasses import replace

from maps_cells import one_way, printed, run_all
from maps_testbed import FITTED, Cell, Knobs
from tautwire.claims import Study

#: How near a predicted mean should be.
NEAR = 0.2
#: Shares that are tried; the study's is a quarter.
SHARES = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.5)
NAME = "sensitivity.csv"


def variants() -> dict[str, Knobs]:
    """What is changed, by name."""
    found = {f"softirq share {share:g}": Knobs(softirq=share) for share in SHARES}
    return found | {"the flood on another processor in every row": Knobs(one_processor=False)}


def missed(study: Study, knobs: Knobs) -> list[str]:
    """Of the twelve saturated rows of UDP those whose mean is beyond 20 % of the printed one."""
    table = printed(study)
    cells = {key: replace(Cell(*key), knobs=knobs) for key in table if key[0] == "UDP" and key[2]}
    found = run_all(study, list(cells.values()))
    return [
        f"{payload} B at {saturation} %"
        for (protocol, payload, saturation), cell in cells.items()
        if abs(found[cell].mean_us / table[protocol, payload, saturation].mean_us - 1) > NEAR
    ]


def deviations_off(study: Study, protocol: str) -> float:
    """By how much the deviations of a protocol's predicted rows are off the printed ones on average."""
    found, table = one_way(study), printed(study)
    keys = [key for key in table if key[0] == protocol and not (key[2] == 0 and key[1] in FITTED)]
    return statistics.fmean(abs(found[key].sd_us / table[key].sd_us - 1) for key in keys)


def tell(study: Study) -> None:
    """Writes both, and holds them against what is committed."""
    lines = [("what", "missed", "rows")]
    for name, knobs in variants().items():
        rows = missed(study, knobs)
        lines.append((name, f"{len(rows)} of 12", "; ".join(rows)))
    for protocol in ("TTE", "RC", "UDP"):
        off = deviations_off(study, protocol)
        lines.append((f"deviations of {protocol}", f"{100 * off:.0f} % off on average", ""))
    with open(study.output(NAME), "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    committed = (study.folder / "data" / NAME).read_text(encoding="utf-8")
    assert study.output(NAME).read_text(encoding="utf-8") == committed, f"{NAME} is not that of data"
