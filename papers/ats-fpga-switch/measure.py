"""Figures of what was seen: of the switch itself, and as the cards' time stamps tell it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from tautwire import Observation

Times = NDArray[np.float64]


@dataclass(frozen=True)
class Passage:
    """Every frame of a stream that went through the switch, in order, in nanoseconds.

    ``sent`` is the first bit on the wire from the talker, ``left`` the first bit out of the switch;
    their difference is the published latency (start delimiter in to start delimiter out).
    """

    number: NDArray[np.int64]
    sent: Times
    left: Times
    received: Times

    @property
    def latency(self) -> Times:
        """Latency of the switch."""
        return self.left - self.sent


def passage(observation: Observation, stream: str) -> Passage:
    """The passage of a stream's frames."""
    rows = pl.DataFrame(observation.frames).filter(pl.col("stream") == stream)
    first = rows.filter(pl.col("hop") == 0).select("number", sent="start_ps")
    second = rows.filter(pl.col("hop") == 1).select("number", left="start_ps", received="received_ps")
    both = first.join(second, on="number").sort("number")

    def ns(name: str) -> Times:
        return both[name].to_numpy().astype(np.float64) / 1000

    return Passage(
        both["number"].to_numpy().astype(np.int64),
        ns("sent"),
        ns("left"),
        ns("received"),
    )


@dataclass(frozen=True)
class Figures:
    """Count, least, mean, greatest, standard deviation and half the 95 % confidence interval."""

    count: int
    least: float
    mean: float
    greatest: float
    deviation: float

    @property
    def confidence(self) -> float:
        """Half the width of the confidence interval of the mean, as the paper computes it."""
        return 1.96 * self.deviation / np.sqrt(self.count)

    @property
    def increase(self) -> float:
        """Greatest less least."""
        return self.greatest - self.least


def told(observation: Observation, stream: str, what: str = "latency") -> Figures:
    """The figures of a stream's latencies or intervals as the cards stamped them."""
    stamped = observation.stream(stream)["listeners"][0]["stamped"]
    count = stamped["count" if what == "latency" else "interval_count"]
    least, mean, greatest, deviation = (stamped[f"{what}_{name}_ps"] / 1000 for name in ("min", "mean", "max", "sd"))
    return Figures(count, least, mean, greatest, deviation)


def figures(values: Times) -> Figures:
    """The figures of a series."""
    return Figures(
        len(values),
        float(values.min()),
        float(values.mean()),
        float(values.max()),
        float(values.std(ddof=1)),
    )


def runs_of(flags: NDArray[np.bool_], gap: int) -> list[tuple[bool, int]]:
    """Lengths of the stretches of a series of flags; holes of up to ``gap`` are closed.

    Examples
    --------
    >>> runs_of(np.array([1, 1, 0, 1, 0, 0, 0, 1], dtype=bool), gap=1)
    [(True, 4), (False, 3), (True, 1)]
    """
    closed = flags.copy()
    set_at = np.flatnonzero(flags)
    for one, other in itertools.pairwise(set_at):
        if other - one <= gap + 1:
            closed[one:other] = True
    edges = np.flatnonzero(np.diff(closed.astype(np.int8))) + 1
    parts = np.split(closed, edges)
    return [(bool(part[0]), len(part)) for part in parts]


def us(ns: float) -> str:
    """Nanoseconds as microseconds."""
    return f"{ns / 1000:.3f} us"
