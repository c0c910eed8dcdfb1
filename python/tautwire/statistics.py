"""Statistics of delays: distributions, delay variation, confidence intervals for correlated values, tightness.

Values have the unit that they come with; results give picoseconds. Nothing here runs a network. Quantiles of results
are those of ``listeners.parquet``, by the same definition.

Examples
--------
>>> seen = Distribution.of_values([30, 10, 20, 20])
>>> seen.quantile(0.5), seen.quantile(0.99), seen.share_at_most(20)
(20, 30, (0.75, 0.75))
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Delays",
    "Distribution",
    "Interval",
    "confidence",
    "delay_variation",
    "independent",
    "student",
    "summarise",
    "tightness",
]

Numbers = NDArray[Any]
Row = dict[str, Any]

#: Batches of a confidence interval: between 10 and 30 serve, however many values there are (Schmeiser 1982).
BATCHES = 20


@dataclass(frozen=True)
class Distribution:
    """Values, or the filled steps of a histogram, in order of size.

    A step is from ``least`` to ``greatest``, both included, and has ``counts`` values. A value by itself is a step
    whose ends are equal. What is read off a histogram is exact within the width of a step: methods that name two ends
    give both, and the others the greater.

    Parameters
    ----------
    least, greatest
        Ends of the steps.
    counts
        How many values each has.
    """

    least: Numbers
    greatest: Numbers
    counts: NDArray[np.int64]

    @classmethod
    def of_values(cls, values: ArrayLike) -> Distribution:
        """The distribution of values that are known one by one.

        Raises
        ------
        ValueError
            A value is not a number.
        """
        found = np.asarray(values).ravel()
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise ValueError("a value is not a number: leave lost frames out")
        steps, counts = np.unique(found, return_counts=True)
        return cls(steps, steps, counts)

    @classmethod
    def of_steps(
        cls,
        least: ArrayLike,
        greatest: ArrayLike,
        counts: ArrayLike,
        *,
        minimum: int | None = None,
        maximum: int | None = None,
    ) -> Distribution:
        """The distribution of a histogram.

        Parameters
        ----------
        least, greatest, counts
            Its steps, in order.
        minimum, maximum
            The least and the greatest value, if they are known: they cut the first and the last step.
        """
        low, high, count = np.array(least), np.array(greatest), np.asarray(counts, dtype=np.int64)
        if not low.shape == high.shape == count.shape:
            raise ValueError("a step has two ends and a count")
        if (low > high).any() or (low[1:] <= high[:-1]).any():
            raise ValueError("steps are in order of size and do not overlap")
        if minimum is not None:
            low = np.maximum(low, minimum)
        if maximum is not None:
            high = np.minimum(high, maximum)
        filled = count > 0
        return cls(low[filled], high[filled], count[filled])

    def __repr__(self) -> str:
        ends = f", {self.least[0]} to {self.greatest[-1]}" if len(self.counts) else ""
        return f"Distribution({self.count} values{ends}{'' if self.is_exact else f', in {len(self.counts)} steps'})"

    @property
    def count(self) -> int:
        """How many values there are."""
        return int(self.counts.sum())

    @property
    def is_exact(self) -> bool:
        """Whether every value is known, not only its step."""
        return bool((self.least == self.greatest).all())

    def quantile(self, share: float) -> Any:
        """The least value that at least this share of all values do not exceed: the inverse of the ECDF.

        It is definition 1 of Hyndman and Fan (1996), which takes no mean of neighbours; of a histogram the greater end
        of the step.

        Parameters
        ----------
        share
            From 0 to 1. It counts as the decimal that it is written as, so 0.7 of ten values are seven.

        Raises
        ------
        ValueError
            There are no values, or it is no share.
        """
        return self.quantile_between(share)[1]

    def quantile_between(self, share: float) -> tuple[Any, Any]:
        """The ends between which :meth:`quantile` lies; equal if every value is known."""
        exact = Fraction(str(share))
        if not 0 <= exact <= 1:
            raise ValueError(f"a share is from 0 to 1, not {share!r}")
        if not len(self.counts):
            raise ValueError("there are no values")
        rank = max(math.ceil(exact * self.count), 1)
        step = int(np.searchsorted(self.counts.cumsum(), rank))
        return self.least[step].item(), self.greatest[step].item()

    def share_at_most(self, value: float) -> tuple[float, float]:
        """The share of values that do not exceed a value: at least, and at most."""
        if not len(self.counts):
            raise ValueError("there are no values")
        sure, possible = self.counts[self.greatest <= value].sum(), self.counts[self.least <= value].sum()
        return float(sure / self.count), float(possible / self.count)

    def ecdf(self) -> tuple[Numbers, NDArray[np.float64]]:
        """Values, and the share that does not exceed each; of a histogram at the greater ends of steps.

        Examples
        --------
        >>> values, shares = Distribution.of_values([1, 1, 3, 4]).ecdf()
        >>> values.tolist(), shares.tolist()
        ([1, 3, 4], [0.5, 0.75, 1.0])
        """
        return self.greatest, self.counts.cumsum() / max(self.count, 1)

    def tail(self) -> tuple[Numbers, NDArray[np.float64]]:
        """Values, and the share that exceeds each; that of the greatest is zero."""
        seen = self.counts.cumsum()
        return self.greatest, (self.count - seen) / max(self.count, 1)


@dataclass(frozen=True)
class Delays:
    """Delays of single frames in the order of their numbers, in picoseconds.

    :meth:`tautwire.Observation.delays` makes them; a frame that is missing here was lost, or not yet there.

    Parameters
    ----------
    numbers
        Numbers of the frames in their stream, from 0.
    created_ps
        When each was created.
    delay_ps
        Its delay.
    """

    numbers: NDArray[np.int64]
    created_ps: NDArray[np.int64]
    delay_ps: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.delay_ps)

    def __repr__(self) -> str:
        return f"Delays({len(self)} frames)"

    @property
    def distribution(self) -> Distribution:
        """Their distribution, which is exact."""
        return Distribution.of_values(self.delay_ps)

    @property
    def variation_ps(self) -> NDArray[np.int64]:
        """Differences of neighbours: :func:`delay_variation`."""
        return delay_variation(self.delay_ps, self.numbers)

    def confidence(self, of: float | None = None, *, level: float = 0.95, batches: int = BATCHES) -> Interval:
        """The interval of their mean or a quantile: :func:`confidence`."""
        return confidence(self.delay_ps, of, level=level, batches=batches)


def delay_variation(delays: ArrayLike, numbers: ArrayLike | None = None) -> Numbers:
    """The IP packet delay variation of RFC 3393: the delay of a frame less that of the frame sent before it.

    Parameters
    ----------
    delays
        In the order in which the frames were sent.
    numbers
        Numbers of the frames. Where one is missing it was lost, and the difference is undefined (RFC 3393, 2.6): it is
        left out. Without them no frame is missing.

    Returns
    -------
    array
        Differences with their signs, which sum up to the last delay less the first if nothing is missing. Their
        magnitudes are what the RFC calls jitter (4.6).

    Examples
    --------
    >>> delay_variation([10, 12, 11, 15], numbers=[0, 1, 3, 4]).tolist()
    [2, 4]
    """
    values = np.asarray(delays)
    if values.dtype.kind == "u":
        values = values.astype(np.int64)
    found: Numbers = np.diff(values)
    if numbers is None:
        return found
    steps = np.diff(np.asarray(numbers, dtype=np.int64))
    if (steps <= 0).any():
        raise ValueError("frames are in the order in which they were sent")
    kept: Numbers = found[steps == 1]
    return kept


@dataclass(frozen=True)
class Interval:
    """An estimate, and half the width of its confidence interval.

    Parameters
    ----------
    estimate, half
        In the unit of the values.
    level
        How probable it is that the interval holds the true value.
    batches, size
        How many batches there are, and how many values each has.
    correlation
        Correlation of neighbouring batches; none if it is not defined, as for equal batches.
    """

    estimate: float
    half: float
    level: float
    batches: int
    size: int
    correlation: float | None

    @property
    def low(self) -> float:
        """The lower end."""
        return self.estimate - self.half

    @property
    def high(self) -> float:
        """The upper end."""
        return self.estimate + self.half

    @property
    def is_doubtful(self) -> bool:
        """Whether neighbouring batches are correlated so much that the interval is too narrow: run for longer.

        The bound is the 95 % quantile of the correlation of as many independent batches, 1.645 over the root of their
        number.
        """
        return self.correlation is not None and self.correlation > 1.645 / math.sqrt(self.batches)

    def __str__(self) -> str:
        return f"{self.estimate:g} ± {self.half:g}"


def confidence(values: ArrayLike, of: float | None = None, *, level: float = 0.95, batches: int = BATCHES) -> Interval:
    """The confidence interval of the mean, or of a quantile, of values that follow each other and are correlated.

    The method is that of non-overlapping batch means (Law, *Simulation Modeling and Analysis*, 9.5.3): the values are
    divided into batches in their order; the estimates of long batches are nearly independent, and Student's t gives
    the interval. Frames of one run are correlated, so that an interval that takes them for independent is too narrow
    (``delay_mean_ci95_ps`` of results does).

    Parameters
    ----------
    values
        In the order of time, without those of the warm-up.
    of
        The share of a quantile; the mean without it.
    level
        Probability that the interval holds the true value.
    batches
        How many batches; the first values that fill no batch are left out.

    Raises
    ------
    ValueError
        There are too few values: two in a batch at least, and for a quantile so many that one of a batch is beyond it;
        or one is not a number.

    Examples
    --------
    >>> found = confidence(list(range(100)) * 20)
    >>> found.estimate, found.half
    (49.5, 0.0)
    """
    found = _finite(values)
    if batches < 2:
        raise ValueError("an interval needs two batches or more")
    size = len(found) // batches
    least = 2
    estimate: Callable[[Numbers], float] = lambda part: float(np.mean(part))  # noqa: E731
    if of is not None:
        share = Fraction(str(of))
        if not 0 < share < 1:
            raise ValueError(f"a quantile is between 0 and 1, not {of!r}")
        least = max(least, math.ceil(1 / min(share, 1 - share)))
        estimate = lambda part: float(Distribution.of_values(part).quantile(of))  # noqa: E731
    if size < least:
        raise ValueError(f"{batches} batches need {batches * least} values, there are {len(found)}")
    used = found[len(found) - batches * size :]
    parts = np.array([estimate(part) for part in used.reshape(batches, size)])
    return _interval(estimate(used), parts, level, size)


def independent(values: ArrayLike, *, level: float = 0.95) -> Interval:
    """The confidence interval of the mean of independent values: figures of runs with several seeds, one of each run.

    Raises
    ------
    ValueError
        There is but one value, or one is not a number.

    Examples
    --------
    >>> print(independent([9.0, 10.0, 11.0]))
    10 ± 2.48414
    """
    found = _finite(values)
    if len(found) < 2:
        raise ValueError("an interval needs two values or more")
    return _interval(float(found.mean()), found, level, 1)


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    found = np.asarray(values, dtype=np.float64).ravel()
    if not np.isfinite(found).all():
        raise ValueError("a value is not a number: leave lost frames out")
    return found


def _interval(estimate: float, parts: Numbers, level: float, size: int) -> Interval:
    count = len(parts)
    centred = parts - parts.mean()
    spread = float(centred @ centred)
    half = student(level, count - 1) * math.sqrt(spread / (count - 1) / count)
    correlation = float(centred[1:] @ centred[:-1]) / spread if spread > 0 else None
    return Interval(estimate, half, level, count, size, correlation)


@functools.lru_cache(maxsize=256)
def student(level: float, freedom: int) -> float:
    """The value that the magnitude of Student's t stays below with a probability.

    The probability of an integer number of degrees of freedom is a finite sum (Abramowitz and Stegun, 26.7.3 and
    26.7.4), whose inverse is found by bisection.

    Examples
    --------
    >>> [round(student(0.95, freedom), 3) for freedom in (1, 2, 9, 19, 100)]
    [12.706, 4.303, 2.262, 2.093, 1.984]
    """
    if not 0 < level < 1 or freedom < 1:
        raise ValueError("a level is between 0 and 1, and there is a degree of freedom or more")

    def below(angle: float) -> float:
        sine, square = math.sin(angle), math.cos(angle) ** 2
        is_odd = freedom % 2
        total, term = 0.0, math.cos(angle) if is_odd else 1.0
        for at in range(2 if is_odd else 1, freedom, 2):
            total += term
            term *= square * at / (at + 1)
        return 2 / math.pi * (angle + sine * total) if is_odd else sine * total

    low, high = 0.0, math.pi / 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < level else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


class HasRows(Protocol):
    """What has rows: a study."""

    def rows(self) -> Iterator[Row]:
        """Its rows."""


class HasColumns(Protocol):
    """What has columns: a table of results."""

    @property
    def column_names(self) -> list[str]:
        """Their names."""

    def column(self, name: str) -> list[Any]:
        """The values of one."""


class HasListeners(Protocol):
    """What has a table of listeners: results."""

    @property
    def listeners(self) -> HasColumns:
        """A row for each listener of each stream."""


#: Results, a study, a table, a data frame of polars, or rows.
Rows = HasListeners | HasRows | HasColumns | Iterable[Mapping[str, Any]]


def rows_of(source: Any) -> Iterator[Row]:
    """Rows as mappings, whatever has them; of results those of listeners."""
    source = getattr(source, "listeners", source)
    if hasattr(source, "column_names"):
        lists = [source.column(name) for name in source.column_names]
        return (dict(zip(source.column_names, values, strict=True)) for values in zip(*lists, strict=True))
    if hasattr(source, "iter_rows"):
        return (dict(row) for row in source.iter_rows(named=True))
    rows = source.rows() if callable(getattr(source, "rows", None)) else source
    return (dict(row) for row in rows)


#: What a row of :func:`tightness` compares with a bound.
_OBSERVED = (("bound_to_observed", "observed_max_ps"), ("bound_to_adversary", "adversary_max_ps"))


def tightness(source: Rows, by: Sequence[str] = ("stream", "listener")) -> list[Row]:
    """Bounds over what was observed, a row for each listener of each stream that has both, the loosest first.

    Parameters
    ----------
    source
        A verification; a study whose rows are listeners, or anything with the columns of ``listeners.parquet``.
    by
        The columns that tell rows apart; of a study its parameters and ``"seed"``, too.

    Returns
    -------
    list of dict
        The columns of ``by`` and ``bound_delay_max_ps``, ``observed_max_ps``, ``bound_to_observed``; after a search of
        the adversary ``adversary_max_ps`` and ``bound_to_adversary``; with a deadline ``deadline_ps`` and
        ``bound_to_deadline``.

    Raises
    ------
    ValueError
        The source has no such columns, no bounds, or no observations.
    """
    rows = list(rows_of(source))
    _has(rows, ("bound_delay_max_ps", "observed_max_ps", *by))
    found: list[Row] = []
    for row in rows:
        bound = row["bound_delay_max_ps"]
        if bound is None or not any(row.get(name) for _, name in _OBSERVED):
            continue
        kept = {name: row[name] for name in by} | {"bound_delay_max_ps": bound}
        for ratio, name in _OBSERVED:
            if row.get(name):
                kept |= {name: row[name], ratio: bound / row[name]}
        if row.get("deadline_ps"):
            kept |= {"deadline_ps": row["deadline_ps"], "bound_to_deadline": bound / row["deadline_ps"]}
        found.append(kept)
    return sorted(found, key=lambda row: -max(row.get(ratio, 0.0) for ratio, _ in _OBSERVED))


def _has(rows: Sequence[Row], names: Sequence[str]) -> None:
    """That there are columns of these names, if there are rows."""
    known = dict.fromkeys(name for row in rows for name in row)
    for name in names if rows else ():
        if name not in known:
            raise ValueError(f"no column `{name}`; there are: {', '.join(known)}")


def summarise(source: Rows, value: str, by: str | Sequence[str], *, level: float = 0.95) -> list[Row]:
    """A figure of a study over its seeds, or over whatever else differs: a row for each value of some columns.

    Rows without the figure (a task that failed, a stream without a bound) are left out.

    Parameters
    ----------
    source
        A study, a table, a data frame of polars, or rows.
    value
        The figure.
    by
        The column, or columns, whose values tell rows apart.
    level
        Of the confidence interval, which takes rows for independent, as runs with several seeds are.

    Returns
    -------
    list of dict
        In the order of the first row of each: the columns of ``by``; ``rows``, ``least``, ``mean``, ``median`` and
        ``greatest``; and ``low`` and ``high`` of the interval of the mean, None if there is one row.

    Raises
    ------
    ValueError
        There is no such column.

    Examples
    --------
    >>> rows = [{"load": load, "seed": seed, "delay": load + seed} for load in (10, 90) for seed in (1, 2, 3)]
    >>> [(row["load"], row["mean"], round(row["high"], 2)) for row in summarise(rows, "delay", "load")]
    [(10, 12.0, 14.48), (90, 92.0, 94.48)]
    """
    names = (by,) if isinstance(by, str) else tuple(by)
    groups: dict[tuple[Any, ...], list[float]] = {}
    rows = list(rows_of(source))
    _has(rows, (value, *names))
    for row in rows:
        if row.get(value) is not None:
            groups.setdefault(tuple(row.get(name) for name in names), []).append(row[value])
    found = []
    for key, values in groups.items():
        seen = Distribution.of_values(values)
        spread = independent(values, level=level) if len(values) > 1 else None
        figures: Row = {"rows": len(values), "least": seen.quantile(0), "mean": math.fsum(values) / len(values)}
        figures |= {"median": seen.quantile(0.5), "greatest": seen.quantile(1)}
        figures |= {"low": spread.low if spread else None, "high": spread.high if spread else None}
        found.append(dict(zip(names, key, strict=True)) | figures)
    return found
