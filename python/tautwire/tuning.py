"""Parameters that prove all deadlines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tautwire import _core
from tautwire.network import Source, network_of

__all__ = ["Tuned", "TunedValue", "tune"]


@dataclass(frozen=True)
class TunedValue:
    """A value that has changed.

    Attributes
    ----------
    kind
        ``queue-limit``, ``idle-slope``, ``ats`` or ``priority``.
    path
        The keys that lead to it, such as ``nodes.bridge.classes.5.idle-slope``.
    line
        Its line in the description as it was.
    at
        The ports and class, or the streams, that it holds for.
    old
        The value as it was written; ``None`` if it was a default.
    was
        The value that counted before, in the words of the new one.
    new
        The new value.
    """

    kind: str
    path: str
    line: int
    at: str
    old: str | None
    was: str
    new: str


@dataclass(frozen=True)
class Tuned:
    """What a search found.

    Attributes
    ----------
    text
        The description with the values found, in which all deadlines are proven; ``None`` if there are none.
    changes
        What has changed; without ``text`` what comes nearest.
    rows
        Per stream with a deadline and listener: ``stream``, ``listener``, ``deadline_ps``, ``bound_before_ps``,
        ``verdict_before``, ``bound_ps``, ``verdict``.
    conflict
        Without ``text``: the rows of a smallest set of streams that the search cannot prove together, each with
        ``bound_ps`` and with what was ``tried``.
    is_smallest
        Whether the budget was enough to try each stream of ``conflict``.
    runs
        Runs of bounds that were made.
    cut_short
        Whether the budget ended the search.
    """

    text: str | None
    changes: list[TunedValue]
    rows: list[dict[str, Any]]
    conflict: list[dict[str, Any]]
    is_smallest: bool
    runs: int
    cut_short: bool

    @property
    def proven(self) -> bool:
        """Whether all deadlines are proven with the values found."""
        return self.text is not None


def tune(
    source: Source,
    *,
    only: Iterable[str] | None = None,
    least: bool = False,
    budget: int | None = None,
) -> Tuned:
    """Find values of parameters that prove all deadlines, with as few and as small changes as it can.

    Parameters
    ----------
    source
        A network, or the path of a description.
    only
        Kinds of values that may change: ``queue-limit``, ``idle-slope``, ``ats``, ``priority``; all by default.
    least
        Also lower every stated rate, burst and limit to the least that proves all deadlines.
    budget
        Most runs of bounds; 5000 by default.

    Raises
    ------
    DescriptionError, FileError
        The description has faults, or cannot be read.
    ValueError
        No stream has a deadline, or a kind is not known.

    Examples
    --------
    >>> import tautwire
    >>> network = tautwire.Network("line")
    >>> network.end_station("a")
    >>> network.end_station("b")
    >>> network.bridge("sw", queue_limit={"frames": 1}, device="store-and-forward")
    >>> network.link("a", "sw", rate="1 Gbit/s")
    >>> network.link("sw", "b", rate="100 Mbit/s")
    >>> network.stream("s", "a", "b", frame="1000 B", traffic=tautwire.Periodic("1 ms", burst=3), deadline="1 ms")
    >>> tuned = tautwire.tune(network, only=["queue-limit"])
    >>> [(change.path, change.old) for change in tuned.changes]
    [('nodes.sw.queue-limit.frames', '1')]
    >>> tautwire.verify(tautwire.load_text(tuned.text)).verdict
    'proven'
    """
    kinds = None if only is None else list(only)
    found = json.loads(_core.tune(network_of(source).core(), only=kinds, least=least, runs=budget))
    conflict = found["conflict"] or {"rows": [], "is_smallest": False}
    return Tuned(
        text=found["text"],
        changes=[TunedValue(**change) for change in found["changes"]],
        rows=found["rows"],
        conflict=conflict["rows"],
        is_smallest=conflict["is_smallest"],
        runs=found["runs"],
        cut_short=found["cut_short"],
    )
