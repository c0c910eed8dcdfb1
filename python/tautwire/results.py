"""What was proven or observed: bounds, runs and verdicts. :mod:`tautwire.computing` makes them."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tautwire import _core
from tautwire.bed import BedResults, bed_results
from tautwire.errors import FileError, UnknownNameError
from tautwire.shown import preformatted, results_html
from tautwire.statistics import Delays, Distribution

__all__ = [
    "BoundExplanation",
    "Bounds",
    "Observation",
    "Results",
    "Table",
    "Verification",
]

Table = _core.Table


class Results:
    """What was proven or observed.

    Every table is a :class:`Table`: polars, DuckDB, pyarrow and pandas take its columns over as they
    lie in memory (``polars.DataFrame(table)``), and ``table.column(name)`` gives a list without them.
    """

    def __init__(self, core: _core.Results) -> None:
        self._core = core

    def _repr_html_(self) -> str:
        """The table of verdicts, as a notebook shows it; the worst rows if there are many."""
        return results_html(repr(self), self.summary)

    def __repr__(self) -> str:
        """The network, what was computed of it, and the verdict, in a line."""
        summary = self.summary
        said = [repr(summary["network"]), f"{len(summary['streams'])} streams"]
        if (run := summary.get("run")) is not None:
            said.append(f"seed {run['seed']}")
        if (found := summary.get("verification")) is not None:
            said.append(found["verdict"])
        return f"{type(self).__name__}({', '.join(said)})"

    @cached_property
    def summary(self) -> dict[str, Any]:
        """All figures as ``summary.json`` has them: picoseconds, bits, octets."""
        found: dict[str, Any] = json.loads(self._core.summary_json())
        return found

    @property
    def streams(self) -> Table:
        """A row for each stream."""
        return self._core.table("streams")

    @property
    def listeners(self) -> Table:
        """A row for each listener of each stream."""
        return self._core.table("listeners")

    @property
    def hops(self) -> Table:
        """A row for each hop of each stream."""
        return self._core.table("hops")

    @property
    def ports(self) -> Table:
        """A row for each egress port."""
        return self._core.table("ports")

    @property
    def classes(self) -> Table:
        """A row for each used class of each egress port."""
        return self._core.table("classes")

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Writes a run folder: manifest, ``summary.json``, Parquet.

        Parameters
        ----------
        folder
            Path of the folder; a run folder that is there is replaced, anything else is left unchanged.

        Raises
        ------
        FileError
            It cannot be written, or something else is there.
        """
        path = Path(folder)
        try:
            self._core.save(os.fspath(path))
        except OSError as error:
            raise FileError(str(error), code="file::unwritable", path=os.fspath(path)) from error
        return path

    def stream(self, name: str) -> dict[str, Any]:
        """The part of the summary that is about one stream.

        Raises
        ------
        UnknownNameError
            There is no such stream.
        """
        for one in self.summary["streams"]:
            if one["name"] == name:
                found: dict[str, Any] = one
                return found
        names = ", ".join(one["name"] for one in self.summary["streams"])
        raise UnknownNameError(f"no stream `{name}`", code="stream::unknown", help=f"there are: {names}")


class Bounds(Results):
    """Proven bounds of all streams.

    Examples
    --------
    >>> import tautwire
    >>> network = tautwire.Network("two-hosts")
    >>> network.end_station("a")
    >>> network.end_station("b")
    >>> network.link("a", "b", rate="1 Gbit/s")
    >>> network.stream("s", "a", "b", frame="1522 B", traffic=tautwire.Periodic("1 ms"))
    >>> tautwire.bounds(network).delay_max_ps("s") >= 12_240_000
    True
    """

    def delay_max_ps(self, stream: str, listener: str | None = None) -> int | None:
        """The greatest delay of a stream, ``None`` if there is no bound.

        Parameters
        ----------
        stream
            Its name.
        listener
            Which listener; the worst of all by default.

        Raises
        ------
        UnknownNameError
            There is no such stream or listener.
        """
        ends = self.stream(stream)["listeners"]
        found = [one["bound"].get("delay_max_ps") for one in ends if listener in (None, one["listener"])]
        if not found:
            names = ", ".join(one["listener"] for one in ends)
            raise UnknownNameError(f"no listener `{listener}`", code="listener::unknown", help=f"there are: {names}")
        return None if None in found else max(found)

    def provisos(self) -> list[tuple[str, str, str]]:
        """Stream, listener and what is proven but for, of what is proven with a proviso.

        ``but-for-losses``: a failure that the description states may take frames. ``for-the-newest``: a virtual link
        may replace older messages. ``once-synchronised``: frames may be sent before all nodes have network time.
        """
        rows = ((one["name"], end) for one in self.summary["streams"] for end in one["listeners"])
        return [(name, end["listener"], end["proviso"]) for name, end in rows if "proviso" in end]

    def may_be_lost(self, stream: str, listener: str | None = None) -> list[dict[str, Any]]:
        """Limits on the way of a stream that are not proven to be enough: frames may be lost though nothing fails.

        Each has ``kind``, ``place``, ``traffic_class`` (of a port's), ``limit``, ``needed`` (a limit that would do;
        missing if none is known), ``unit`` and ``text``. Where older messages are meant to be lost, ``meant`` is true.

        Parameters
        ----------
        stream
            Its name.
        listener
            Which listener; all of them by default.

        Raises
        ------
        UnknownNameError
            There is no such stream or listener.
        """
        ends = self.stream(stream)["listeners"]
        if listener is not None and all(one["listener"] != listener for one in ends):
            names = ", ".join(one["listener"] for one in ends)
            raise UnknownNameError(f"no listener `{listener}`", code="listener::unknown", help=f"there are: {names}")
        found: list[dict[str, Any]] = []
        for one in ends:
            if listener in (None, one["listener"]):
                found.extend(limit for limit in one.get("may_be_lost", []) if limit not in found)
        return found

    def explain(self, stream: str) -> BoundExplanation:
        """What the bound of a stream is made of, hop by hop.

        Parameters
        ----------
        stream
            Its name.

        Raises
        ------
        UnknownNameError
            There is no such stream.
        """
        self.stream(stream)
        return BoundExplanation(self._core, stream)


class BoundExplanation:
    """The terms of a stream's bound; ``str()`` prints them.

    Attributes
    ----------
    hops : list of dict
        Per hop: ``port``, ``traffic_class``, ``delay_max_ps``, ``formula`` and its ``source``, the
        ``blocking`` frame, the streams of ``higher`` classes and of the ``same`` class with their bits
        on the wire and rates, ``rate_left_bps`` after the higher ones, and ``times_ps``, which add up
        to the bound.
    notes : list of str
        When frames of a scheduled stream are released and in which windows they start, or why that is not
        known; empty without gates.
    """

    def __init__(self, core: _core.Results, stream: str) -> None:
        found = core.explain_bound(stream)
        text = core.explain_bound_text(stream)
        assert found is not None and text is not None, "bounds were computed"
        self.hops: list[dict[str, Any]] = found["hops"]
        self.notes: list[str] = found["notes"]
        self._stream = stream
        self._text = text

    def __repr__(self) -> str:
        return f"BoundExplanation({self._stream!r}, {len(self.hops)} hops)"

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        """The same text, as a notebook shows it."""
        return preformatted(self._text)


class Observation(Results):
    """A run."""

    def story(self, stream: str) -> str | None:
        """The story of the stream's worst frame: what it waited for at each hop, and how long.

        Parameters
        ----------
        stream
            Its name.

        Returns
        -------
        str or None
            ``None`` if no frame was delivered.

        Raises
        ------
        UnknownNameError
            There is no such stream.
        """
        self.stream(stream)
        return self._core.explain_run_text(stream)

    @property
    def test_bed(self) -> BedResults:
        """What the test of a test bed observed.

        Raises
        ------
        ValueError
            The network has no test.
        """
        said = self.summary.get("test")
        if said is None:
            raise ValueError("the network has no test: add `test:` to its description")
        return bed_results(said)

    @property
    def histograms(self) -> Table:
        """A row for each filled step of each listener's histogram."""
        return self._core.table("histograms")

    def distribution(self, stream: str, listener: str | None = None) -> Distribution:
        """The distribution of a stream's delays at a listener, by its histogram: exact within 1/128 of each value.

        Frames of the warm-up are left out, as in all statistics of results.

        Parameters
        ----------
        stream
            Its name.
        listener
            Which listener; the only one by default.

        Raises
        ------
        UnknownNameError
            There is no such stream or listener, or several.
        ValueError
            No delays were observed.

        Examples
        --------
        >>> import tautwire
        >>> network = tautwire.Network("two-hosts", run={"duration": "10 ms"})
        >>> network.end_station("a")
        >>> network.end_station("b")
        >>> network.link("a", "b", rate="1 Gbit/s")
        >>> network.stream("s", "a", "b", frame="1522 B", traffic=tautwire.Periodic("1 ms"))
        >>> tautwire.simulate(network).distribution("s").quantile(0.99)
        12240000
        """
        place, end = self._listener(stream, listener)
        index = next(at for at, one in enumerate(self.summary["streams"]) if one["name"] == stream)
        table = self.histograms
        columns = [np.array(table.column(name)) for name in ("stream_index", "listener_index")]
        chosen = (columns[0] == index) & (columns[1] == place)
        if not chosen.any():
            raise ValueError(f"no delays of `{stream}` at `{end['listener']}` were observed after the warm-up")
        names = ("delay_least_ps", "delay_greatest_ps", "count")
        least, greatest, counts = (np.array(table.column(name), dtype=np.int64)[chosen] for name in names)
        seen = end["observed"]
        return Distribution.of_steps(
            least, greatest, counts, minimum=seen["delay_min_ps"], maximum=seen["delay_max_ps"]
        )

    def delays(
        self, stream: str, listener: str | None = None, *, at: Literal["port", "application"] = "port"
    ) -> Delays:
        """The delays of single frames at a listener, of the streams that ``simulate(..., frames=...)`` names.

        Frames of the warm-up are left out, as in all statistics of results. The delays are held against these: their
        number and their ends, at a port their sum, too.

        Parameters
        ----------
        stream
            Its name.
        listener
            Which listener; the only one by default.
        at
            At the listener's port, or in its application behind the stacks of its host.

        Raises
        ------
        UnknownNameError
            There is no such stream or listener, or several.
        ValueError
            No frames were kept; or the transmissions do not give the delays, where the host of the talker takes time
            before its port, or the last cable loses frames: :meth:`distribution` has them.

        Examples
        --------
        >>> import tautwire
        >>> network = tautwire.Network("two-hosts", run={"duration": "10 ms"})
        >>> network.end_station("a")
        >>> network.end_station("b")
        >>> network.link("a", "b", rate="1 Gbit/s")
        >>> network.stream("s", "a", "b", frame="1522 B", traffic=tautwire.Periodic("1 ms"))
        >>> seen = tautwire.simulate(network, frames=True).delays("s")
        >>> seen.delay_ps.max(), len(seen), set(seen.variation_ps.tolist())
        (np.int64(12240000), 10, {0})
        """
        _, end = self._listener(stream, listener)
        found = self._received(stream, end) if at == "port" else self._handed(stream, end)
        kept = found.created_ps >= self.summary["run"]["warm_up_ps"]
        found = Delays(found.numbers[kept], found.created_ps[kept], found.delay_ps[kept])
        seen = (end if at == "port" else end.get("application", {})).get("observed", {})
        own: dict[str, Any] = {"count": len(found)}
        if len(found):
            own |= {"delay_min_ps": int(found.delay_ps.min()), "delay_max_ps": int(found.delay_ps.max())}
            own["delay_sum_ps"] = str(found.delay_ps.sum())
        # The sum is of ports alone.
        if seen.get("count", 0) != len(found) or any(seen.get(name, value) != value for name, value in own.items()):
            raise ValueError(
                f"the frames of `{stream}` that were kept do not give its delays at `{end['listener']}`: "
                "see `distribution`, or ask at the application"
            )
        return found

    def _listener(self, stream: str, listener: str | None) -> tuple[int, dict[str, Any]]:
        """The place and the summary of a listener of a stream."""
        ends = self.stream(stream)["listeners"]
        found = [(place, one) for place, one in enumerate(ends) if listener in (None, one["listener"])]
        if len(found) != 1:
            names = ", ".join(one["listener"] for one in ends)
            text = f"no listener `{listener}`" if listener is not None else f"`{stream}` has several listeners"
            raise UnknownNameError(text, code="listener::unknown", help=f"there are: {names}")
        return found[0]

    def _received(self, stream: str, end: dict[str, Any]) -> Delays:
        """From the queue of the talker's port to the last bit at the listener's; of several copies the first one."""
        hops = self.stream(stream)["hops"]
        first = [place for place, hop in enumerate(hops) if "previous" not in hop]
        last = [place for place, hop in enumerate(hops) if hop["to"] == end["listener"]]
        table = self.frames
        own = np.array(table.column("stream")) == stream
        names = ("number", "hop", "queued_ps", "received_ps")
        number, hop, queued, received = (np.array(table.column(name), dtype=np.int64)[own] for name in names)
        there = np.isin(hop, last) & (received <= self.summary["run"]["duration_ps"])
        arrived = _least(number[there], received[there])
        begun = _least(number[np.isin(hop, first)], queued[np.isin(hop, first)])
        numbers = np.array(sorted(arrived), dtype=np.int64)
        created = np.array([begun[one] for one in numbers.tolist()], dtype=np.int64)
        return Delays(numbers, created, np.array([arrived[one] for one in numbers.tolist()], dtype=np.int64) - created)

    def _handed(self, stream: str, end: dict[str, Any]) -> Delays:
        """From the application of the talker to that of the listener."""
        table = self.messages
        names = ("stream", "listener", "number", "time_ps", "delay_ps")
        rows = [
            (number, time - delay, delay)
            for one, at, number, time, delay in zip(*(table.column(name) for name in names), strict=True)
            if one == stream and at == end["listener"] and delay is not None
        ]
        numbers, created, delays = np.array(sorted(rows), dtype=np.int64).reshape(-1, 3).T
        return Delays(numbers, created, delays)

    @property
    def drops(self) -> Table:
        """A row for each reason for which frames were lost on their way to a listener of a stream."""
        return self._core.table("drops")

    @property
    def messages(self) -> Table:
        """A row for each frame that an application behind its port received, or its host lost.

        There are none for a host without stacks whose ``receive`` is zero: that receives as its port does.

        Columns: ``stream``, ``listener``, ``number``, ``time_ps``, ``delay_ps`` from application to
        application, and ``lost``, the reason. Of the streams that ``simulate(..., frames=...)`` names.

        Raises
        ------
        ValueError
            No frames were kept.
        """
        table = self._core.messages()
        if table is None:
            raise ValueError("no frames were kept: call simulate(..., frames=True)")
        return table

    @property
    def frames(self) -> Table:
        """Every transmission of the streams that were asked for, a row for each frame and hop.

        Raises
        ------
        ValueError
            None were asked for.
        """
        table = self._core.frames()
        if table is None:
            raise ValueError("no frames were kept: call simulate(..., frames=True)")
        return table


class Verification(Bounds, Observation):
    """Bounds, a run, and the observation held against bound and deadline."""

    @property
    def verdict(self) -> str:
        """The worst verdict: no-requirement, proven, not-proven, may-be-lost, missed, refused or contradiction.

        What is proven may have a proviso: :meth:`provisos`.
        """
        found: str = self.summary["verification"]["verdict"]
        return found

    @property
    def contradictions(self) -> list[str]:
        """Observations above their bounds: faults of Tautwire, never of the network."""
        found: list[str] = self.summary["verification"]["contradictions"]
        return found

    def bound_to_adversary(self, stream: str, listener: str | None = None) -> float | None:
        """The bound of a stream over the worst delay that the adversary found, to thousandths; ``None`` without either.

        Parameters
        ----------
        stream
            Its name.
        listener
            Which listener; the loosest of all by default.

        Raises
        ------
        UnknownNameError
            There is no such stream or listener.
        """
        ends = [one for one in self.stream(stream)["listeners"] if listener in (None, one["listener"])]
        if not ends:
            raise UnknownNameError(f"no listener `{listener}`", code="listener::unknown")
        found = [one.get("adversary", {}).get("bound_to_worst_mille") for one in ends]
        return None if None in found else max(found) / 1000

    def not_served(self) -> list[tuple[str, str, str]]:
        """Stream, listener and why, of listeners that the network refused, or to which nothing came."""
        rows = ((one["name"], end) for one in self.summary["streams"] for end in one["listeners"])
        return [(name, end["listener"], end["not_served"]["text"]) for name, end in rows if "not_served" in end]

    @property
    def holds(self) -> bool:
        """Whether every deadline is proven."""
        return self.verdict in ("proven", "no-requirement")


def _least(numbers: NDArray[np.int64], times: NDArray[np.int64]) -> dict[int, int]:
    """The least time of each number."""
    order = np.lexsort((times, numbers))
    found, first = np.unique(numbers[order], return_index=True)
    return dict(zip(found.tolist(), times[order][first].tolist(), strict=True))
