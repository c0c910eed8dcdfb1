"""Workbench for deterministic Ethernet.

One description of a network; bounds that are proven, a simulation that is frame-exact, and each held
against the other.

Examples
--------
>>> import tautwire
>>> network = tautwire.Network("two-hosts", run={"duration": "10 ms"})
>>> network.end_station("a")
>>> network.end_station("b")
>>> network.link("a", "b", rate="1 Gbit/s")
>>> network.stream("s", "a", "b", frame="1522 B", traffic=tautwire.Periodic("1 ms"), deadline="50 us")
>>> result = tautwire.verify(network)
>>> result.verdict
'proven'
>>> observed = result.stream("s")["listeners"][0]["observed"]
>>> observed["delay_max_ps"] <= result.delay_max_ps("s")
True
"""

from tautwire import _core, statistics
from tautwire.admission import Admission
from tautwire.bed import BedCapture, BedClock, BedLink, BedMessages, BedResults, Span
from tautwire.checks import ProfileRule, check, profile_rules
from tautwire.computing import bounds, explain, report, simulate, verify
from tautwire.describe import (
    ArrivalCurve,
    Clock,
    ConstantRate,
    File,
    Greedy,
    OnOff,
    Periodic,
    Poisson,
    Replay,
    Shaper,
    Traffic,
    Udp,
)
from tautwire.difference import Difference, diff
from tautwire.errors import DescriptionError, Diagnostic, FileError, TautwireError, UnknownNameError
from tautwire.exchange import Exported, Imported, export, import_network
from tautwire.machines import AtsSchedulers, ClockServo, CreditBasedShaper
from tautwire.network import Network, load, load_text
from tautwire.parts import Link, Node, Stream
from tautwire.results import (
    BoundExplanation,
    Bounds,
    Observation,
    Table,
    Verification,
)
from tautwire.schedules import SolverError
from tautwire.slots import PlannedSlot, SlotPlan, plan_slots
from tautwire.spreadsheets import stream_table
from tautwire.studies import Range, Study, StudyError, grid, sample, study
from tautwire.sweeps import sweep
from tautwire.tuning import Tuned, TunedValue, tune

__version__ = _core.version()

__all__ = [
    "Admission",
    "ArrivalCurve",
    "AtsSchedulers",
    "BedCapture",
    "BedClock",
    "BedLink",
    "BedMessages",
    "BedResults",
    "BoundExplanation",
    "Bounds",
    "Clock",
    "ClockServo",
    "ConstantRate",
    "CreditBasedShaper",
    "DescriptionError",
    "Diagnostic",
    "Difference",
    "Exported",
    "File",
    "FileError",
    "Greedy",
    "Imported",
    "Link",
    "Network",
    "Node",
    "Observation",
    "OnOff",
    "Periodic",
    "PlannedSlot",
    "Poisson",
    "ProfileRule",
    "Range",
    "Replay",
    "Shaper",
    "SlotPlan",
    "SolverError",
    "Span",
    "Stream",
    "Study",
    "StudyError",
    "Table",
    "TautwireError",
    "Traffic",
    "Tuned",
    "TunedValue",
    "Udp",
    "UnknownNameError",
    "Verification",
    "bounds",
    "check",
    "diff",
    "explain",
    "export",
    "grid",
    "import_network",
    "load",
    "load_text",
    "plan_slots",
    "profile_rules",
    "report",
    "sample",
    "simulate",
    "statistics",
    "stream_table",
    "study",
    "sweep",
    "tune",
    "verify",
]
