"""What is varied: sets of parameters as a grid, drawn at random or as a Latin hypercube."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

__all__ = ["Range", "grid", "quantity", "sample"]

Row = dict[str, Any]
_QUANTITY = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*(.*?)\s*")


@dataclass(frozen=True)
class Range:
    """Values from one end to the other: numbers, or quantities as text with the same unit.

    Values have as many decimals as the ends state: between ``"1 ms"`` and ``"4 ms"`` there are four values, between
    ``"1.0 ms"`` and ``"4.0 ms"`` thirty-one.

    Parameters
    ----------
    start, end
        The ends, both included.
    steps
        How many values a grid takes, evenly spaced; a sample needs none.
    log
        Whether values are even in their logarithm.

    Examples
    --------
    >>> Range("100 B", "1500 B", steps=3).values()
    ['100 B', '800 B', '1500 B']
    >>> Range(1, 1000, steps=4, log=True).values()
    [1, 10, 100, 1000]
    """

    start: Any
    end: Any
    steps: int | None = None
    log: bool = False

    def __post_init__(self) -> None:
        (low, unit, _), (high, other, _) = quantity(self.start), quantity(self.end)
        if unit != other:
            raise ValueError(f"a range has one unit: {self.start!r} to {self.end!r}")
        if low > high or (self.log and low <= 0):
            raise ValueError(
                f"a range goes upwards{', from above zero' if self.log else ''}: {self.start!r}, {self.end!r}"
            )
        if self.steps is not None and self.steps < 2:
            raise ValueError("a range has 2 steps or more")

    def at(self, share: float) -> Any:
        """The value at a share of the way, from 0 to 1."""
        (low, unit, exponent), (high, _, other) = quantity(self.start), quantity(self.end)
        if self.log:
            between = low * Decimal(repr(math.pow(float(high / low), share)))
        else:
            between = low + (high - low) * Decimal(repr(share))
        value = between.quantize(Decimal(1).scaleb(-max(exponent, other)), ROUND_HALF_EVEN)
        if unit or isinstance(self.start, str):
            return f"{value} {unit}".rstrip()
        return int(value) if isinstance(self.start, int) and isinstance(self.end, int) else float(between)

    def values(self) -> list[Any]:
        """The values of a grid.

        Raises
        ------
        ValueError
            The range has no ``steps``.
        """
        if self.steps is None:
            raise ValueError(f"a grid needs the steps of a range: Range({self.start!r}, {self.end!r}, steps=5)")
        return [self.at(number / (self.steps - 1)) for number in range(self.steps)]


Axis = Range | Iterable[Any]


def grid(axes: Mapping[str, Axis] | None = None, /, **more: Axis) -> list[Row]:
    """All combinations of the values of several parameters; the last varies fastest.

    Parameters
    ----------
    axes
        Values by parameter, for names that are no words of Python, as ``"streams.video.payload"``.
    **more
        Values by parameter.

    Examples
    --------
    >>> grid(rate=["10 Mbit/s", "100 Mbit/s"], frames=[1, 2])[1]
    {'rate': '10 Mbit/s', 'frames': 2}
    >>> len(grid({"streams.video.payload": Range("100 B", "1500 B", steps=5)}, load=[1, 2]))
    10
    """
    found = {name: axis.values() if isinstance(axis, Range) else list(axis) for name, axis in _axes(axes, more).items()}
    return [dict(zip(found, values, strict=True)) for values in itertools.product(*found.values())]


def sample(
    count: int,
    axes: Mapping[str, Axis] | None = None,
    /,
    *,
    method: str = "latin-hypercube",
    draw: int = 1,
    **more: Axis,
) -> list[Row]:
    """Sets of parameters that are drawn; equal arguments give equal sets.

    Parameters
    ----------
    count
        How many sets.
    axes, **more
        Ranges or lists of values by parameter.
    method
        ``"random"`` draws each value by itself. ``"latin-hypercube"`` divides each range into as many parts as there
        are sets, and takes one value of each part, so that few sets cover every range.
    draw
        Seed of the drawing; that of runs is another one.

    Examples
    --------
    >>> [one["load"] for one in sample(4, load=Range(0, 99), draw=1)] != sorted(range(4))
    True
    >>> sorted(int(one["load"]) // 25 for one in sample(4, load=Range(0.0, 99.9)))
    [0, 1, 2, 3]
    """
    if method not in ("random", "latin-hypercube"):
        raise ValueError(f"a method is `random` or `latin-hypercube`, not {method!r}")
    numbers = random.Random(draw)
    columns: dict[str, list[Any]] = {}
    for name, axis in _axes(axes, more).items():
        shares = [numbers.random() for _ in range(count)]
        if method == "latin-hypercube":
            order = [numbers.random() for _ in range(count)]
            places = sorted(range(count), key=order.__getitem__)
            shares = [(place + share) / count for place, share in zip(places, shares, strict=True)]
        values = None if isinstance(axis, Range) else list(axis)
        columns[name] = [axis.at(share) if isinstance(axis, Range) else _pick(values or [], share) for share in shares]
    return [{name: values[number] for name, values in columns.items()} for number in range(count)]


def _pick(values: list[Any], share: float) -> Any:
    return values[min(int(share * len(values)), len(values) - 1)]


def _axes(axes: Mapping[str, Axis] | None, more: Mapping[str, Axis]) -> dict[str, Axis]:
    found = {**(axes or {}), **more}
    for name, axis in found.items():
        if isinstance(axis, str) or (isinstance(axis, list | tuple) and not axis):
            raise ValueError(f"`{name}` needs a list of values or a Range, not {axis!r}")
    return found


def quantity(value: Any) -> tuple[Decimal, str, int]:
    """Number, unit and decimals of a quantity.

    Examples
    --------
    >>> quantity("1.50 ms")
    (Decimal('1.50'), 'ms', 2)
    """
    found = _QUANTITY.fullmatch(repr(value) if isinstance(value, float) else str(value))
    if found is None:
        raise ValueError(f"{value!r} is no number and no quantity as '100 B'")
    number = Decimal(found[1])
    return number, found[2], len(found[1].partition(".")[2])
