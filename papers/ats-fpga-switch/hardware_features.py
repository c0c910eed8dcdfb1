"""How far each feature has come: on a board by bitstream, which was not run; in the RTL of the switch; in simulation.

What is in a bitstream or in the switch is read from the lists of files that they are made of, so a module by itself is
in neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RTL, BOARD, MECHANISMS = ROOT / "hdl" / "rtl", ROOT / "hdl" / "ecp5", ROOT / "docs" / "mechanisms"
HEADING = ["feature", "published switch", "by bitstream (not run)", "in RTL", "in simulation"]
ON_A_BOARD = "on a board"
YES = {True: "yes", False: ""}


@dataclass(frozen=True)
class Feature:
    """A feature, whether the published switch has it, the module that has it here, its page among the mechanisms."""

    name: str
    published: bool
    module: str = ""
    page: str = ""


FEATURES = (
    Feature("asynchronous traffic shaping", True, "ats_engine", "ats"),
    Feature("stream identification", True, "stream_filter", "ats"),
    Feature("strict priority", True, "egress_port", "strict-priority"),
    Feature("forwarding by learned addresses", True, "exact_table", "strict-priority"),
    Feature("RGMII at 1 Gbit/s", True, "rgmii_port"),
    Feature("credit-based shaping", False, "egress_port", "credit-based-shaper"),
    Feature("cut-through", False, "cut_through", "strict-priority"),
    Feature("VLANs", False, "vlan_table", "strict-priority"),
    Feature("gate control lists", False, "gate_control", "scheduled-traffic"),
    Feature("a clock that software sets, and stamps by it", False, "adjustable_clock", "gptp"),
    Feature("stream gates and meters", False, "", "filtering-and-policing"),
    Feature("elimination of duplicates", False, "", "frame-replication"),
    Feature("preemption", False, "", "frame-preemption"),
)


def files_of(name: str, folder: Path = RTL) -> set[str]:
    """The modules that a list of files names, those of the lists in it included."""
    found: set[str] = set()
    for one in (folder / f"{name}.f").read_text(encoding="utf-8").split():
        found |= files_of(one.removesuffix(".f")) if one.endswith(".f") else {one.removesuffix(".sv")}
    return found


def how_far(feature: Feature) -> tuple[bool, str]:
    """Whether a feature is in the bitstream of the board, and where it is in the RTL."""
    board = files_of("board_switch") | files_of("versa", BOARD)
    if not feature.module:
        return False, ""
    if feature.module in board:
        return True, "in the switch"
    return False, "a module by itself" if (RTL / f"{feature.module}.sv").exists() else ""


def rows() -> list[list[str]]:
    """A line for each feature."""
    found = [HEADING]
    for feature in FEATURES:
        in_bitstream, in_rtl = how_far(feature)
        simulated = bool(feature.page) and (MECHANISMS / f"{feature.page}.md").exists()
        published = ON_A_BOARD if feature.published else ""
        found.append([feature.name, published, YES[in_bitstream], in_rtl, YES[simulated]])
    return found
