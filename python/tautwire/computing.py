"""Bounds, runs, verdicts and reports of networks. What they give is in :mod:`tautwire.results`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from tautwire import _core
from tautwire.errors import FileError, UnknownNameError
from tautwire.network import Source, network_of
from tautwire.results import BoundExplanation, Bounds, Observation, Results, Verification

__all__ = ["bounds", "explain", "report", "simulate", "verify"]

Method = Literal["fast", "tight"]


def bounds(source: Source, *, method: Method = "fast") -> Bounds:
    """Worst-case delays, jitter and backlog of a network.

    Parameters
    ----------
    source
        A network, or the path of a description.
    method
        ``"fast"``: port by port. ``"tight"``: in addition by linear programs of paths, in which a burst counts once.

    Raises
    ------
    DescriptionError, FileError
        The description has faults, or cannot be read.
    """
    return Bounds(_core.bounds(network_of(source).core(), method=method))


def simulate(
    source: Source,
    *,
    seed: int | None = None,
    duration: str | None = None,
    frames: bool | Iterable[str] = False,
    processors: int = 1,
) -> Observation:
    """A frame-exact run. Other Python threads go on meanwhile.

    Parameters
    ----------
    source
        A network, or the path of a description.
    seed, duration
        Instead of the description's; a duration has a unit, as ``"10 ms"``.
    frames
        Whether to keep every transmission, or of which streams.
    processors
        Processors that the run may use, where the network allows it. The result is the same.

    Raises
    ------
    DescriptionError, FileError
        The description has faults, or cannot be read.
    UnknownNameError
        A stream of ``frames`` does not exist.

    Examples
    --------
    >>> import tautwire
    >>> network = tautwire.Network("two-hosts")
    >>> network.end_station("a")
    >>> network.end_station("b")
    >>> network.link("a", "b", rate="1 Gbit/s")
    >>> network.stream("s", "a", "b", frame="1522 B", traffic=tautwire.Periodic("1 ms"))
    >>> run = tautwire.simulate(network, duration="1500 us", frames=True)
    >>> run.stream("s")["frames"]["delivered"]
    2
    >>> run.frames.column("start_ps")
    [0, 1000000000]
    """
    network = network_of(source)
    return Observation(_run(network.core(), seed, duration, frames, processors=processors))


def verify(
    source: Source,
    *,
    seed: int | None = None,
    duration: str | None = None,
    adversary: bool | int = False,
    method: Method = "fast",
    processors: int = 1,
) -> Verification:
    """Bounds and a run, and every observation held against its bound and deadline.

    Parameters
    ----------
    source
        A network, or the path of a description.
    seed, duration
        Instead of the description's.
    adversary
        Whether to search for the worst run of each stream among those that the description allows, or how many runs
        to make for each listener at most.
    method
        How bounds are found, as for :func:`bounds`.
    processors
        Processors that the run may use, as for :func:`simulate`.

    Raises
    ------
    DescriptionError, FileError
        The description has faults, or cannot be read.

    Examples
    --------
    >>> import tautwire
    >>> network = tautwire.Network("two-talkers", network_control="none")
    >>> for name in "abz":
    ...     network.end_station(name)
    >>> network.bridge("s")
    >>> for name in "abz":
    ...     network.link(name, "s", rate="100 Mbit/s")
    >>> network.stream("x", "a", "z", frame="500 B", traffic=tautwire.Periodic("1 ms"))
    >>> network.stream("y", "b", "z", frame="1500 B", traffic=tautwire.Periodic("7 ms"))
    >>> tautwire.verify(network, adversary=True).bound_to_adversary("x") < 1.01
    True
    """
    runs = None if adversary is False else 0 if adversary is True else adversary
    found = _run(network_of(source).core(), seed, duration, False, bounds=method, adversary=runs, processors=processors)
    return Verification(found)


def explain(source: Source, stream: str) -> BoundExplanation:
    """What the bound of a stream is made of, hop by hop.

    Parameters
    ----------
    source
        A network, or the path of a description.
    stream
        The stream's name.

    Raises
    ------
    DescriptionError, FileError
        The description has faults, or cannot be read.
    UnknownNameError
        There is no such stream.

    Examples
    --------
    >>> import tautwire
    >>> network = tautwire.Network("two-hosts")
    >>> network.end_station("a")
    >>> network.end_station("b")
    >>> network.link("a", "b", rate="1 Gbit/s")
    >>> network.stream("s", "a", "b", frame="1522 B", traffic=tautwire.Periodic("1 ms"))
    >>> [hop] = explain(network, "s").hops
    >>> hop["delay_max_ps"] == sum(time for _, time in hop["times_ps"])
    True
    """
    return bounds(source).explain(stream)


def report(what: Results | str | os.PathLike[str], to: str | os.PathLike[str] | None = None) -> Path:
    """Writes a report: one HTML file that needs nothing else.

    Parameters
    ----------
    what
        Results, or a run folder.
    to
        The file. For a run folder ``report.html`` in it by default, for results ``report.html`` here.

    Returns
    -------
    Path
        Its place.

    Raises
    ------
    FileError
        The folder cannot be read or the file not written.
    """
    target = Path("report.html") if isinstance(what, Results) else Path(what) / "report.html"
    target = target if to is None else Path(to)
    try:
        page = what._core.html() if isinstance(what, Results) else _core.report_html(os.fspath(what))
        target.write_text(page, encoding="utf-8")
    except OSError as error:
        raise FileError(str(error), code="file::unreadable", path=os.fspath(target)) from error
    return target


def _run(
    core: _core.CoreNetwork,
    seed: int | None,
    duration: str | None,
    frames: bool | Iterable[str],
    *,
    bounds: Method | None = None,
    adversary: int | None = None,
    processors: int = 1,
) -> _core.Results:
    names = _streams(core, frames)
    return _core.simulate(
        core,
        seed=seed,
        duration=duration,
        frames=names,
        bounds=bounds,
        adversary=adversary,
        processors=processors,
    )


def _streams(core: _core.CoreNetwork, frames: bool | Iterable[str]) -> list[str] | None:
    if isinstance(frames, bool):
        return core.streams if frames else None
    names = [frames] if isinstance(frames, str) else list(frames)
    for name in names:
        if name not in core.streams:
            there = ", ".join(core.streams)
            raise UnknownNameError(f"no stream `{name}`", code="stream::unknown", help=f"there are: {there}")
    return names
