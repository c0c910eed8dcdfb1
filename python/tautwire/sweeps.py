"""Many calls of a function on local processes, with all rows in memory; :func:`tautwire.study` keeps them in files."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from typing import Any

from tautwire.progress import Progress

__all__ = ["sweep"]

Row = dict[str, Any]


def sweep(
    function: Callable[..., Any],
    parameters: Sequence[Mapping[str, Any]],
    *,
    seeds: Iterable[int] | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> list[Row]:
    """Calls a function with every set of parameters and every seed, on local processes.

    Parameters
    ----------
    function
        What to do, defined at the top of a module so that other processes can import it. It is
        called with each set of parameters as keywords, and ``seed`` if seeds are given. It returns
        a mapping of figures, or one figure.
    parameters
        Sets of parameters; see :func:`tautwire.grid`.
    seeds
        Seeds; each set of parameters is run with each. ``None``: no seed is handed over.
    workers
        Processes; as many as there are processors by default. With 1 all is done in this process.
    progress
        Whether a bar is drawn, if standard error is a terminal.

    Returns
    -------
    list of dict
        A row for each call, in the order of parameters, then seeds: the parameters, the seed, and
        what the function returned (under ``"value"`` if it was no mapping). polars takes it as it is.

    Raises
    ------
    Exception
        The first exception of a call; calls not yet begun are given up.

    Examples
    --------
    >>> sweep(pow, [], workers=1)
    []
    >>> from tautwire import grid
    >>> def square(side, seed): return side * side + seed
    >>> sweep(square, grid(side=[2, 3]), seeds=[1], workers=1)
    [{'side': 2, 'seed': 1, 'value': 5}, {'side': 3, 'seed': 1, 'value': 10}]
    """
    calls = [dict(one) for one in parameters]
    if seeds is not None:
        chosen = list(seeds)
        calls = [{**one, "seed": seed} for one in calls for seed in chosen]
    workers = min(workers or os.cpu_count() or 1, max(len(calls), 1))
    with Progress(len(calls), shown=progress) as bar:
        values = _one_by_one(function, calls, bar) if workers == 1 else _spread(function, calls, workers, bar)
    return [{**call, **_as_mapping(value)} for call, value in zip(calls, values, strict=True)]


def _one_by_one(function: Callable[..., Any], calls: Sequence[Row], bar: Progress) -> list[Any]:
    values = []
    for call in calls:
        values.append(function(**call))
        bar.advance()
    return values


def _spread(function: Callable[..., Any], calls: Sequence[Row], workers: int, bar: Progress) -> list[Any]:
    # Fresh processes: a fork would inherit the locks of whatever threads this process has.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        futures = [pool.submit(function, **call) for call in calls]
        pending = set(futures)
        try:
            while pending:
                finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                for one in finished:
                    one.result()
                    bar.advance()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
        return [one.result() for one in futures]


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {"value": value}
