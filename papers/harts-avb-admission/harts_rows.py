"""Every printed mean beside ours: the ratio, and what explains it where it is beyond 20 %.

A mechanism explains a row if our mean is within 20 % of the printed one when it is switched off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from harts_experiments import bridge_times, test_times
from harts_runs import GROUPS, LOADS, PATHS, f7, f7_values, load, loaded, requests, table3_run
from harts_testbed import REPEAT_NS, latencies, on_the_wire, table3, table5
from tautwire.claims import Study

#: How far a mean may be off, as a share of the printed one.
NEAR = 0.2
#: What can be switched off for a protocol, and how.
OFF: dict[str, dict[str, dict[str, Any]]] = {
    "HaRTES": {},
    "AVB": {
        "repetitions at once": {"avb": {"bridge_repeat_ns": REPEAT_NS}},
        "limit of three MRPDUs in 300 ms": {"avb": {"limited": False}},
        "time of a bridge's processor for a packet": {"avb": {"packet_ns": 0}},
    },
}


class Row(NamedTuple):
    """A printed mean."""

    experiment: str
    condition: str
    protocol: str
    of: str
    printed: float
    ours: float
    #: Our mean with something switched off.
    off: Callable[[dict[str, Any]], float]
    #: AVB: our mean from the producer's Talker Advertise to the Listener Ready that it receives.
    wire: float | None = None

    def ratio(self) -> float:
        """Ours over the printed one."""
        return self.ours / self.printed

    def near(self) -> bool:
        """Whether that is within 20 %."""
        return abs(self.ratio() - 1) <= NEAR

    def explained(self) -> tuple[str, float] | None:
        """What explains a row that is not near, and our mean without it."""
        for name, off in OFF[self.protocol].items():
            other = self.off(off)
            if abs(other / self.printed - 1) <= NEAR:
                return name, other
        return None


def scenarios(study: Study) -> list[Row]:
    """Table 3: every stream of every scenario; the group is named in Scenario III."""
    rows = []
    for (name, protocol), streams in table3(study).items():

        def mean(stream: str, off: dict[str, Any], name: str = name, protocol: str = protocol) -> float:
            return float(latencies(table3_run(study, name, protocol, **off))[stream].mean())

        for stream, printed in sorted(streams.items()):
            group = next((f", G{place}" for place, group in enumerate(GROUPS, 1) if stream in group), "")
            condition = f"Scenario {name}" + (group if name == "III" else "")
            off = lambda changed, stream=stream, mean=mean: mean(stream, changed)  # noqa: E731
            wire = None
            if protocol == "AVB":
                asked = {one["name"]: one["talker"] for one in requests(study, name)}
                wire = float(on_the_wire(table3_run(study, name, protocol), asked)[stream].mean())
            rows.append(Row("Table 3", condition, protocol, stream, printed["mean"], mean(stream, {}), off, wire))
    return rows


def wire_of_f7(study: Study, protocol: str, path: tuple[str, str], **other: Any) -> float | None:
    """F7 over a path, from Talker Advertise to Listener Ready; none for HaRTES."""
    if protocol != "AVB":
        return None
    return float(on_the_wire(f7(study, protocol, path, **other), {"F7": path[0]})["F7"].mean())


def experiments(study: Study) -> list[Row]:
    """Table 5: every row."""
    rows = []
    for protocol in ("HaRTES", "AVB"):
        printed = {int(row["hops"]): row["mean"] for row in table5(study, "I", protocol)}
        for hops, path in PATHS.items():
            off = lambda changed, path=path, protocol=protocol: float(  # noqa: E731
                f7_values(study, protocol, path, **changed).mean()
            )
            wire = wire_of_f7(study, protocol, path)
            rows.append(Row("Experiment I", f"{hops} hops", protocol, "F7", printed[hops], off({}), off, wire))
    for protocol in ("HaRTES", "AVB"):
        told = {
            (int(row["interference_payload_bytes"] or 0), int(row["network_load_pct"])): row["mean"]
            for row in table5(study, "II", protocol)
        }
        for payload, percent in ((0, 0), *LOADS):

            def mean(
                off: dict[str, Any], payload: int = payload, percent: int = percent, protocol: str = protocol
            ) -> float:
                if not off:
                    return float(loaded(study, protocol, payload, percent).mean())
                beside = {"load": load(payload, percent)} if percent else {}
                return float(f7_values(study, protocol, ("N1", "N2"), **beside, **off).mean())

            condition = f"{payload} B, {percent} %" if percent else "no load"
            beside = {"load": load(payload, percent)} if percent else {}
            wire = wire_of_f7(study, protocol, ("N1", "N2"), **beside)
            rows.append(Row("Experiment II", condition, protocol, "F7", told[payload, percent], mean({}), mean, wire))
    for count in (1, 3, 5, 7):
        for row in table5(study, "III", "HaRTES") + table5(study, "III", "AVB"):
            if int(row["installed_streams"]) != count:
                continue
            if row["protocol"] == "HaRTES":
                times = test_times(study, count)
            else:
                times = bridge_times(study, count, row["component"])
            of = "test" if row["protocol"] == "HaRTES" else f"[{row['component']}]"
            ours = float(times.mean())
            nothing = lambda changed, ours=ours: ours  # noqa: E731
            condition = f"{count} stream{'s' if count > 1 else ''}"
            rows.append(Row("Experiment III", condition, row["protocol"], of, row["mean"], ours, nothing))
    return rows


def every_row(study: Study) -> list[Row]:
    """All printed means."""
    return study.once("every-row", lambda: scenarios(study) + experiments(study))


def told(study: Study) -> list[dict[str, str]]:
    """As a table."""

    def line(row: Row) -> dict[str, str]:
        explained = None if row.near() else row.explained()
        return {
            "experiment": row.experiment,
            "condition": row.condition,
            "protocol": row.protocol,
            "of": row.of,
            "printed": f"{row.printed:.2f}",
            "ours": f"{row.ours:.2f}",
            "ratio": f"{row.ratio():.2f}",
            "advertise to ready": "" if row.wire is None else f"{row.wire:.2f}",
            "within 20 %": "yes" if row.near() else "no",
            "mechanism": "" if explained is None else explained[0],
            "without it": "" if explained is None else f"{explained[1]:.2f}",
        }

    return study.once("every-row-told", lambda: [line(row) for row in every_row(study)])


def markdown(study: Study) -> list[str]:
    """The table as README has it."""
    rows = told(study)
    head = [" | ".join(rows[0]), "|".join("---" for _ in rows[0])]
    return [f"| {line} |" for line in (head[0], *(" | ".join(row.values()) for row in rows))]
