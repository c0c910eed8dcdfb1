"""The tables that are written: Table 3 beside ours, how its rows stand, the whole matrix."""

from __future__ import annotations

import csv

from maps_cells import fit, matrix, one_way, printed, run_all
from maps_latency import rows
from tautwire.claims import Study

#: Most predicted rows of TTE, RC and UDP that may stay unexplained.
UNEXPLAINED_MAX = 8


def write(study: Study) -> None:
    """Writes all tables."""
    _fits(study)
    _table3(study)
    _matrix(study)
    found = list(one_way(study).values())
    apart = max(abs(one.logged_mean_us - one.mean_us) for one in found)
    offset = max(one.offset_us for one in found)
    print(f"clocks as by phc2sys: logged means off by {apart:.2f} us at most, mean offsets {offset:.2f} us at most")
    unexplained = sum(stands == "unexplained" for *_, stands in rows(study))
    print(f"rows of TTE, RC and UDP beyond 20 % that no mechanism explains: {unexplained} of {len(rows(study))}")
    assert unexplained <= UNEXPLAINED_MAX, "too many rows of Table 3 are unexplained"


def _fits(study: Study) -> None:
    with open(study.output("fits.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["part", "constant_ns", "per_octet_ns"])
        writer.writerow(["card", 0, f"{fit(study).interface_ns:.2f}"])
        for name, one in fit(study).stacks:
            writer.writerow([name, f"{one.constant_ns:.0f}", f"{one.per_octet_ns:.2f}"])


def _table3(study: Study) -> None:
    stands = {key: said for key, _, _, said in rows(study)}
    with open(study.output("table3.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        heads = ["mean", "deviation", "lost"]
        writer.writerow(
            [
                "protocol",
                "payload",
                "saturation",
                *(f"{h} printed" for h in heads),
                *(f"{h} here" for h in heads),
                "mean logged",
                "deviation logged",
                "row",
            ]
        )
        for key, said in printed(study).items():
            ours = one_way(study)[key]
            row = stands.get(key, "fitted" if key[1] in (64, 1472) and key[2] == 0 else "not counted")
            figures = [said.mean_us, said.sd_us, said.lost, round(ours.mean_us, 2), round(ours.sd_us, 2), ours.lost]
            logged = [round(ours.logged_mean_us, 2), round(ours.logged_sd_us, 2)]
            writer.writerow([*key, *figures, *logged, row])


def _matrix(study: Study) -> None:
    found = run_all(study, matrix(study))
    with open(study.output("matrix.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        head = ["period_ms", "way", "protocol", "payload", "saturation", "sent", "lost", "mean_us", "deviation_us"]
        more = ["least_us", "greatest_us", "throughput_mbit_s", "logged_mean_us", "logged_deviation_us", "drops"]
        writer.writerow([*head, *more])
        for cell, seen in found.items():
            way = "round trip" if cell.round_trip else "one way"
            figures = [round(one, 2) for one in (seen.mean_us, seen.sd_us, seen.min_us, seen.max_us)]
            throughput = round(8 * cell.payload / seen.mean_us, 2) if seen.mean_us else ""
            drops = " ".join(f"{reason}={count}" for reason, count in seen.drops)
            key = [cell.period_ms, way, cell.protocol, cell.payload, cell.saturation, seen.sent, seen.lost]
            logged = [round(one, 2) for one in (seen.logged_mean_us, seen.logged_sd_us)]
            writer.writerow([*key, *figures, throughput, *logged, drops])
