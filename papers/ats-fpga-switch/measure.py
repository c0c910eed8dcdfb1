"""How the hosts measured: time stamps of the cards, and figures made from them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from tautwire import Observation

Times = NDArray[np.float64]


@dataclass(frozen=True)
class Cards:
    """The hosts' cards.

    Parameters
    ----------
    quantum_ns
        Step of their time stamps; printed (i210).
    sync_jitter_ns
        Standard deviation of the difference of two cards' clocks. Calibrated: it is the one unknown
        of the largest standard deviation that is printed for a frame that meets no other.
    drift_ppm
        How much faster the capturing card's clock runs than the switch's. Unpublished; below zero,
        for 121.760 us were told as 121.752 or 121.760 us.
    """

    quantum_ns: float = 8
    sync_jitter_ns: float = 216
    drift_ppm: float = -40

    def latencies(self, sent_ns: Times, received_ns: Times, seed: int) -> Times:
        """Latencies as the cards of one host tell them: both ends stamped, their clocks nearly equal."""
        random = np.random.default_rng(seed)
        error = random.normal(0, self.sync_jitter_ns, len(sent_ns)) if self.sync_jitter_ns else 0
        return self._stamp(received_ns + error) - self._stamp(sent_ns)

    def intervals(self, received_ns: Times) -> Times:
        """Distances of arrivals at one card."""
        return np.diff(self._stamp(received_ns * (1 + self.drift_ppm * 1e-6)))

    def _stamp(self, times_ns: Times) -> Times:
        return np.floor(times_ns / self.quantum_ns) * self.quantum_ns if self.quantum_ns else times_ns


#: Cards without any error: what the logic analyser would see.
EXACT = Cards(quantum_ns=0, sync_jitter_ns=0, drift_ppm=0)


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
