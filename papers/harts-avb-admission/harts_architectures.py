"""The three models of IEEE 802.1Qcc and HaRTES on the paper's own network, frame by frame, with the same fitted times.

The paper's conclusion asks for the comparison. Network, streams and broadcasts are its own (Fig. 7, Table 2). What
decides takes what Experiment III shows: a bridge [T] over an advertise and [L] over a ready, what tests alone (CNC,
ACMaster) the ACMaster's test, a bridge that is configured the difference of [L] and [T], which is what reserving takes
there. Timers of the end nodes are as in the other runs, or none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tautwire
from harts_runs import SEQUENCE, SIX
from harts_testbed import fit, stream, table5
from tautwire.claims import Study

#: Names of the models, and what is theirs in the description.
DISTRIBUTED = "fully distributed"
MIXED = "centralised network, distributed user"
CENTRAL = "fully centralised"
HARTES = "HaRTES"
MODELS = (DISTRIBUTED, MIXED, CENTRAL, HARTES)
#: When applications begin, how far those of a sequence are apart, and when the run ends behind the last, milliseconds:
#: MRP's timers and its limit take their time, who needs none of both has answered long before.
WITH_MRP, WITHOUT_MRP = (500, 500, 1_000), (50, 150, 150)
SEEDS = 3

NETWORK = """
network-control: none
vlans:
  1:
    tagged: all
defaults: {rate: 100 Mbit/s}
nodes:
  N1: {type: end-station}
  N3: {type: end-station}
  N4: {type: end-station}
  N2: {type: end-station}
  N5: {type: end-station}
  C: {type: end-station}
  Sw1: {type: bridge}
  Sw2: {type: bridge}
  Sw3: {type: bridge}
links:
  - {between: [N1, Sw1]}
  - {between: [N3, Sw1]}
  - {between: [Sw1, Sw2]}
  - {between: [N4, Sw2]}
  - {between: [C, Sw2]}
  - {between: [Sw2, Sw3]}
  - {between: [N2, Sw3]}
  - {between: [N5, Sw3]}
"""


def times(study: Study) -> dict[str, str]:
    """The fitted times, as the description has them."""
    fitted = fit(study)
    advertise, ready = fitted["T"]["mean_ns"], fitted["L"]["mean_ns"]
    tests = [row["mean"] for row in table5(study, "III", "HaRTES")]
    return {
        "advertise": f"{advertise} ns",
        "ready": f"{ready} ns",
        "configuration": f"{ready - advertise} ns",
        "test": f"{{min: {min(tests)} ms, max: {max(tests)} ms}}",
    }


def reservation(study: Study, model: str, timers: bool) -> str:
    """What the model adds to the network."""
    of = times(study)
    bridges = (
        f"    processing: 500 us\n    talker-processing: {of['advertise']}\n    listener-processing: {of['ready']}\n"
    )
    bridges += f"    configuration: {of['configuration']}\n"
    central = {
        DISTRIBUTED: "",
        MIXED: "  model: centralized-network-distributed-user\n",
        CENTRAL: "  model: fully-centralized\n  cuc: {node: C, processing: 50 us}\n",
    }[model]
    if model != DISTRIBUTED:
        central += f"  cnc: {{node: C, processing: 50 us, computation: {of['test']}}}\n  management: {{pace: 1 ms}}\n"
    else:
        bridges = bridges.replace(f"    configuration: {of['configuration']}\n", "")
    stations = "    processing: 1 ms\n" + ("    join-delay: 100 ms\n" if timers else "")
    return f"stream-reservation:\n{central}  bridges:\n{bridges}  end-stations:\n{stations}"


def harts(study: Study, names: tuple[str, ...], at_ms: dict[str, int]) -> str:
    """HaRTES with its ACMaster in Sw2."""
    reserve = "\n".join(f"    - {{stream: {name}}}" for name in names)
    asked = "\n".join(f"      - {{stream: {name}, at: {at_ms[name]} ms}}" for name in names)
    return f"""harts:
  elementary-cycle: 125 us
  trigger: 10 us
  turn-around: 10 us
  servers:
    - {{name: channel, capacity: 200 B, priority: 7}}
  reserve:
{reserve}
  admission:
    master: Sw2
    channel: channel
    patience: 400 ms
    alive: 100 ms
    node: 50 us
    relay: 100 us
    configure: 250 us
    handling: 50 us
    test: {times(study)["test"]}
    requests:
{asked}
"""


def description(study: Study, model: str, names: tuple[str, ...], in_turn: bool, timers: bool) -> str:
    """The network under a model; streams are asked for one after the other, or together."""
    start_ms, apart_ms, behind_ms = WITH_MRP if model in (DISTRIBUTED, MIXED) else WITHOUT_MRP
    at_ms = {name: start_ms + place * apart_ms * in_turn for place, name in enumerate(names)}
    head = NETWORK
    if model != HARTES:
        head = head.replace("rate: 100 Mbit/s}", "rate: 100 Mbit/s, traffic-class-table: stream-reservation}")
    own = harts(study, names, at_ms) if model == HARTES else reservation(study, model, timers)
    lines = []
    for name in names:
        one = stream(study, name)
        asked = "" if model == HARTES else f", reservation: {{advertise-at: {at_ms[name]} ms, ask: when-offered}}"
        lines.append(
            f"  - {{name: {name}, talker: {one['talker']}, listeners: {one['listener']}, priority: {one['priority']}, "
            f"payload: {max(one['payload'], 46)} B, deadline: {one['deadline_ns'] // 1_000_000} ms, "
            f"traffic: {{type: periodic, interval: {one['interval_ns']} ns}}{asked}}}"
        )
    for name, talker in (("F1", "N1"), ("F8", "N4")):
        lines.append(
            f"  - {{name: {name}, talker: {talker}, listeners: all, payload: 256 B, "
            "traffic: {type: periodic, interval: 250 us}}"
        )
    end_ms = max(at_ms.values()) + behind_ms
    return f"{head}{own}streams:\n" + "\n".join(lines) + f"\nrun: {{duration: {end_ms} ms}}\n"


def admissions(summary: dict[str, Any]) -> list[float]:
    """From a talker's request to its leave to send, milliseconds, of every stream that was granted."""
    if "harts" in summary:
        talkers = [one for one in summary["harts"]["requests"] if one["talker"] and one["granted"]]
        return [one["latency_ps"] / 1e9 for one in talkers]
    return [one["admission_ps"] / 1e9 for one in summary["reservations"] if one.get("admission_ps") is not None]


#: What is asked for: which streams, and whether one after the other.
ASKED = {"F7 alone": (("F7",), False), "six, one after the other": (SEQUENCE, True), "six at once": (SIX, False)}


def measured(study: Study, model: str, asked: str, timers: bool) -> np.ndarray:
    """All admissions of some runs."""

    def make() -> np.ndarray:
        names, in_turn = ASKED[asked]
        network = tautwire.load_text(description(study, model, names, in_turn, timers))
        found = [admissions(tautwire.simulate(network, seed=1 + seed).summary) for seed in range(SEEDS)]
        assert all(len(one) == len(names) for one in found), f"{model}: {asked}: all are granted"
        return np.array([value for one in found for value in one])

    return study.once(f"architectures-{model}-{asked}-{timers}", make)


def drawn(study: Study, seeds: int) -> np.ndarray:
    """Fully distributed, six at once: means of runs with bridges' times drawn between Experiment III's extremes."""
    fixed = times(study)
    text = description(study, DISTRIBUTED, SIX, False, True)
    for key, of, part in (("talker", "advertise", "T"), ("listener", "ready", "L")):
        least, most = fit(study)[part]["min_ns"], fit(study)[part]["max_ns"]
        before = f"{key}-processing: {fixed[of]}\n"
        assert before in text
        text = text.replace(before, f"{key}-processing: {{min: {least} ns, max: {most} ns}}\n")
    network = tautwire.load_text(text)
    runs = [admissions(tautwire.simulate(network, seed=1 + seed).summary) for seed in range(seeds)]
    return np.array([np.mean(one) for one in runs])


def table(study: Study) -> list[dict[str, str]]:
    """Means of each model, and the greatest in brackets, milliseconds; only users that speak MRP have timers."""
    rows = []
    for model in MODELS:
        for timers in (True, False) if model in (DISTRIBUTED, MIXED) else (False,):
            waits = "-" if model in (CENTRAL, HARTES) else "100 ms" if timers else "at once"
            row = {"model": model, "end nodes declare after": waits}
            for asked in ASKED:
                values = measured(study, model, asked, timers)
                row[asked] = f"{values.mean():.1f} ({values.max():.1f})"
            rows.append(row)
    return study.once("architectures", lambda: rows)


def markdown(study: Study) -> list[str]:
    """The table as README and the page have it."""
    rows = table(study)
    lines = [" | ".join(rows[0]), "|".join("---" for _ in rows[0]), *(" | ".join(row.values()) for row in rows)]
    return [f"| {line} |" if "---" not in line else f"|{line}|" for line in lines]
