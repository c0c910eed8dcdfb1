"""Online admission: which streams may run together, request by request."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from tautwire import _core
from tautwire.network import Source, network_of

__all__ = ["Admission"]


class Admission:
    """Decides which streams of a network may run together.

    Nothing is admitted at first, or what the log in ``state`` contains. A decision is a dictionary with
    ``outcome`` (``"granted"``, ``"partly"``, ``"refused"``, ``"wrong"``), ``admitted`` and, where there are such,
    ``withdrawn``, ``refused`` (a list of ``stream``, ``reason`` and, with ``suggest``, ``fits``) and ``error``.

    Parameters
    ----------
    source
        A network, or the path of a description.
    test
        ``"bounds"``: every deadline is proven; ``"bandwidth"``: rates per port and class as stream reservation
        adds them up; ``"response-time"``: equation 3 of HaRTES, for a description with ``harts``.
    state
        Folder in which every change is on disk before its decision is given. One process at a time may have it.

    Raises
    ------
    DescriptionError, FileError
        The description has faults, or cannot be read.
    ValueError
        There is no such test.
    OSError
        The log cannot be used.

    Examples
    --------
    >>> import tautwire
    >>> network = tautwire.Network("two-hosts", run={"duration": "10 ms"})
    >>> network.end_station("a")
    >>> network.end_station("b")
    >>> network.link("a", "b", rate="100 Mbit/s")
    >>> for name in ("s", "t"):
    ...     network.stream(name, "a", "b", frame="1522 B", traffic=tautwire.Periodic("1 ms"), deadline="200 us")
    >>> with tautwire.Admission(network) as admission:
    ...     first, second = admission.reserve("s"), admission.reserve("t")
    ...     first["outcome"], second["outcome"], admission.admitted
    ('granted', 'refused', ['s'])
    >>> second["refused"][0]["reason"]["limit"], second["refused"][0]["reason"]["stream"]
    ('deadline', 's')
    """

    def __init__(self, source: Source, *, test: str = "bounds", state: str | os.PathLike[str] | None = None) -> None:
        folder = None if state is None else os.fspath(state)
        self._core = _core.CoreAdmission(network_of(source).core(), test=test, state=folder)

    def __enter__(self) -> Admission:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends it, and gives its folder free; what is kept there stays."""
        self._core.close()

    @property
    def admitted(self) -> list[str]:
        """Names of the admitted streams, in the order in which they were admitted."""
        names: list[str] = self._ask("list")["admitted"]
        return names

    def reserve(
        self,
        *streams: str,
        new: Iterable[Mapping[str, Any]] = (),
        best_effort: bool = False,
        suggest: bool = False,
        id: str | None = None,
    ) -> dict[str, Any]:
        """Admits streams: all or none of them, or each that can be.

        Parameters
        ----------
        *streams
            Names of known streams.
        new
            Streams that the description has not: mappings with the keys of its ``streams``.
        best_effort
            In their order, each that can be admitted is.
        suggest
            Whether a refusal gives in ``fits`` the payload, interval, rate or deadline that would have fitted.
        id
            Name of the request: asked again, it is answered as the first time and not done again.
        """
        return self._ask("reserve", streams, new=new, best_effort=best_effort, suggest=suggest, id=id)

    def what_if(
        self,
        *streams: str,
        new: Iterable[Mapping[str, Any]] = (),
        best_effort: bool = False,
        suggest: bool = False,
    ) -> dict[str, Any]:
        """What :meth:`reserve` (or, with ``new`` of admitted streams, :meth:`modify`) would; nothing changes."""
        return self._ask("what-if", streams, new=new, best_effort=best_effort, suggest=suggest)

    def withdraw(self, *streams: str, id: str | None = None) -> dict[str, Any]:
        """Takes admitted streams back, all or none."""
        return self._ask("withdraw", streams, id=id)

    def replace(
        self,
        *streams: str,
        instead_of: Iterable[str],
        new: Iterable[Mapping[str, Any]] = (),
        suggest: bool = False,
        id: str | None = None,
    ) -> dict[str, Any]:
        """Admits streams in the place of others, or leaves all as it is."""
        return self._ask("replace", streams, new=new, instead_of=list(instead_of), suggest=suggest, id=id)

    def modify(
        self, new: Iterable[Mapping[str, Any]], *, suggest: bool = False, id: str | None = None
    ) -> dict[str, Any]:
        """Lets admitted streams be as ``new`` describes them, or leaves all of them as they are."""
        return self._ask("modify", new=new, suggest=suggest, id=id)

    def _ask(
        self,
        op: str,
        streams: Iterable[str] = (),
        *,
        new: Iterable[Mapping[str, Any]] = (),
        instead_of: Iterable[str] = (),
        best_effort: bool = False,
        suggest: bool = False,
        id: str | None = None,
    ) -> dict[str, Any]:
        request: dict[str, Any] = {"op": op}
        parts = {"streams": list(streams), "new": [dict(one) for one in new], "instead_of": list(instead_of)}
        request.update({key: value for key, value in parts.items() if value})
        if best_effort:
            request["mode"] = "best-effort"
        if suggest:
            request["suggest"] = True
        if id is not None:
            request["id"] = id
        decision: dict[str, Any] = json.loads(self._core.ask(json.dumps(request)))
        return decision
