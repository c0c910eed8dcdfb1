"""What differs between two results or two descriptions."""

from __future__ import annotations

import json
import os
from typing import Any

from tautwire import _core
from tautwire.errors import FileError
from tautwire.network import Network, load
from tautwire.results import Results
from tautwire.shown import preformatted

__all__ = ["Difference", "diff"]


class Difference:
    """What differs; false if nothing does. ``str()`` prints the tables of the command.

    Attributes
    ----------
    document : dict
        What ``tautwire diff --json`` prints: ``before``, ``after``, ``compared``, and where something differs
        ``description``, ``listeners`` and ``elsewhere``.
    """

    def __init__(self, document: dict[str, Any], text: str, differs: bool) -> None:
        self.document = document
        self._text = text
        self._differs = differs

    def __bool__(self) -> bool:
        return self._differs

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        """The tables of the command, as a notebook shows them."""
        return preformatted(self._text)

    def __repr__(self) -> str:
        return f"Difference({self._text.splitlines()[-1]!r})"

    @property
    def description(self) -> list[dict[str, Any]]:
        """Values of the descriptions that differ: ``key``, ``before`` and ``after``, if they are there."""
        found: list[dict[str, Any]] = self.document.get("description", [])
        return found

    @property
    def listeners(self) -> list[dict[str, Any]]:
        """Streams at listeners that differ, the most important first: ``stream``, ``listener``, ``change`` and more."""
        found: list[dict[str, Any]] = self.document.get("listeners", [])
        return found


Side = Results | Network | str | os.PathLike[str]


def diff(before: Side, after: Side) -> Difference:
    """What differs in descriptions, verdicts, bounds, delays and losses, as ``tautwire diff`` shows it.

    Parameters
    ----------
    before, after
        Results, the folder of a run, a network, or the path of a description. Two descriptions are verified. One next
        to results is computed with the same parts, seed and simulated time.

    Raises
    ------
    DescriptionError, FileError
        A description has faults, or a folder or file cannot be read.

    Examples
    --------
    >>> import tautwire
    >>> def pair(frame):
    ...     network = tautwire.Network("pair", run={"duration": "10 ms"})
    ...     network.end_station("a")
    ...     network.end_station("b")
    ...     network.link("a", "b", rate="1 Gbit/s")
    ...     network.stream("s", "a", "b", frame=frame, traffic=tautwire.Periodic("1 ms"), deadline="20 us")
    ...     return network
    >>> found = tautwire.diff(pair("1000 B"), pair("1522 B"))
    >>> [one["key"] for one in found.description], found.listeners[0]["change"]
    (['streams.s.frame'], 'bound-greater')
    >>> bool(tautwire.diff(pair("64 B"), tautwire.verify(pair("64 B"))))
    False
    """
    try:
        document, text, differs = _core.diff(_side(before), _side(after))
    except OSError as error:
        raise FileError(str(error), code="file::unreadable") from error
    return Difference(json.loads(document), text, differs)


def _side(source: Side) -> _core.Results | _core.CoreNetwork | str:
    if isinstance(source, Results):
        return source._core
    if isinstance(source, Network):
        return source.core()
    return os.fspath(source) if os.path.isdir(source) else load(source).core()
