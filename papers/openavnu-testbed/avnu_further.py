"""What the authors left for later: bridges on the way, and several streams of different priority.

A line of bridges; at each a computer sends bursts like the background's over the next link. Two streams of the
talker, of class A and class B, pass all of them; against AVB the same with one FIFO for all.
"""

from __future__ import annotations

import csv
import itertools

import tautwire
from avnu_testbed import DATA
from tautwire.claims import Study

BRIDGES = (0, 1, 3, 6)


def network(system: str, bridges: int, milliseconds: int = 2000) -> tautwire.Network:
    """The line; 5 frames of background a millisecond on each of its links."""
    shaped = (
        "  classes:\n    5: {transmission-selection: credit-based, idle-slope: 30 Mbit/s}\n"
        "    4: {transmission-selection: credit-based, idle-slope: 20 Mbit/s}\n"
    )
    way = ["talker", *(f"s{number}" for number in range(bridges)), "listener"]
    nodes = "".join(f"  {node}: {{type: bridge}}\n" for node in way[1:-1])
    nodes += "".join(
        f"  x{number}: {{type: end-station}}\n  y{number}: {{type: end-station}}\n" for number in range(bridges)
    )
    links = "".join(f"  - {{between: [{one}, {other}]}}\n" for one, other in itertools.pairwise(way))
    links += "".join(f"  - {{between: [x{number}, s{number}]}}\n" for number in range(bridges))
    links += "".join(f"  - {{between: [y{number}, s{number}]}}\n" for number in range(bridges))

    def burst(name: str, talker: str, listener: str) -> str:
        return (
            f"  - {{name: {name}, talker: {talker}, listeners: {listener}, priority: 0, payload: {DATA} B, "
            f"traffic: {{type: periodic, interval: 1003 us, burst: 5}}}}\n"
        )

    beside = [burst("background", "talker", "y0" if bridges else "listener")]
    beside += [
        burst(f"beside-{number}", f"x{number}", f"y{number + 1}" if number + 1 < bridges else "listener")
        for number in range(bridges)
    ]
    a, b = (5, 4) if system == "AVB" else (0, 0)
    return tautwire.load_text(f"""name: further
network-control: none
vlans:
  1:
    tagged: all
defaults:
  rate: 100 Mbit/s
  device: store-and-forward
  traffic-class-table: identity
{shaped}nodes:
  talker: {{type: end-station}}
  listener: {{type: end-station}}
{nodes}links:
{links}streams:
  - {{name: a, talker: talker, listeners: listener, priority: {a}, frame: 438 B, deadline: 2 ms,
     traffic: {{type: periodic, interval: 200 us}}}}
  - {{name: b, talker: talker, listeners: listener, priority: {b}, frame: 438 B, deadline: 50 ms,
     traffic: {{type: periodic, interval: 300 us}}}}
{"".join(beside)}run: {{duration: {milliseconds} ms}}
""")


def rows() -> list[dict[str, object]]:
    """Observed and proven, in microseconds, by system, bridges on the way and class."""
    found: list[dict[str, object]] = []
    for system in ("AVB", "raw"):
        for bridges in BRIDGES:
            run = tautwire.verify(network(system, bridges))
            for name in "ab":
                seen = run.stream(name)["listeners"][0]["observed"]
                bound = run.delay_max_ps(name)
                found.append(
                    {
                        "system": system,
                        "bridges": bridges,
                        "class": name.upper(),
                        "mean_us": round(seen["delay_mean_ps"] / 1e6, 1),
                        "max_us": round(seen["delay_max_ps"] / 1e6, 1),
                        "bound_us": None if bound is None else round(bound / 1e6, 1),
                    }
                )
    return found


def write(study: Study) -> None:
    """Writes ``further.csv``."""
    found = study.once("further", rows)
    with open(study.output("further.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
