"""Pieces of a study: tasks in order, run by one worker and written as one Parquet file, completely or not at all."""

from __future__ import annotations

import functools
import json
import os
import pickle
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tautwire import _core
from tautwire.errors import TautwireError
from tautwire.studies.calls import digest

__all__ = ["DIED", "Job", "Piece", "StudyError", "Task", "run_piece"]

Row = dict[str, Any]
# The error of a task whose process ended each time.
DIED = "the process died"


class StudyError(TautwireError):
    """A study that cannot be run, or go on."""


@dataclass(frozen=True)
class Task:
    """One call: its number, its key, its parameters, its seed."""

    number: int
    key: str
    values: Mapping[str, Any]
    seed: int | None


@dataclass(frozen=True)
class Piece:
    """Tasks in order, and the name of the file with their rows."""

    tasks: tuple[Task, ...]

    @property
    def name(self) -> str:
        """Its first task, and a digest of all."""
        return f"{self.tasks[0].number:09}-{digest([task.key for task in self.tasks])}.parquet"


@dataclass(frozen=True)
class Job:
    """What a worker needs of a study beside its pieces."""

    version: str
    function: bytes
    folder: str | None

    @classmethod
    def of(cls, call: Any, folder: Path | None) -> Job:
        """Of a call; its functions travel by value, so that a script or a notebook may define them.

        Raises
        ------
        StudyError
            It cannot be pickled.
        """
        return cls(_core.version(), packed(call), None if folder is None else os.path.abspath(folder))


def packed(call: Any) -> bytes:
    """A call as octets."""
    import cloudpickle

    try:
        octets: bytes = cloudpickle.dumps(call)
    except Exception as error:
        help = "define what the function uses at the top of a module, or make it in the function"
        raise StudyError(
            f"the function cannot be sent to other processes: {error}", code="study::pickle", help=help
        ) from error
    return octets


@functools.lru_cache(maxsize=4)
def _unpacked(function: bytes) -> Any:
    return pickle.loads(function)


def run_piece(
    job: Job,
    piece: Piece,
    dead: Collection[int] = (),
    begin: Callable[[int], None] | None = None,
) -> tuple[int, list[Row] | None]:
    """Runs the tasks of a piece in order, and writes their rows.

    Parameters
    ----------
    job, piece
        What to do.
    dead
        Numbers of tasks that end their process: they get a row with an error and are not run.
    begin
        Called with the number of each task before it is run.

    Returns
    -------
    tuple
        How many tasks failed; and the rows, if the job has no folder to write them to.

    Raises
    ------
    StudyError
        This process has another version of Tautwire, or the file cannot be written.
    """
    if job.version != _core.version():
        text = f"a worker has version {_core.version()} of Tautwire, the study {job.version}"
        raise StudyError(text, code="study::version", help="install the same version on all machines")
    call = _unpacked(job.function)
    rows: list[Row] = []
    failed = 0
    for task in piece.tasks:
        if begin is not None:
            begin(task.number)
        head: Row = {"task": task.number, "key": task.key, **{name: _cell(one) for name, one in task.values.items()}}
        if task.seed is not None:
            head["seed"] = task.seed
        figures: Sequence[Mapping[str, Any]]
        try:
            if task.number in dead:
                raise ChildProcessError(DIED)
            found = call(task.values, task.seed)
            figures = [found] if isinstance(found, Mapping) else found
            clash = [name for one in figures for name in one if name in head or name == "error"]
            if clash:
                raise ValueError(f"the figure `{clash[0]}` has the name of a parameter or column")
            rows.extend({**head, **{name: _cell(one) for name, one in one.items()}, "error": None} for one in figures)
        except Exception as error:
            failed += 1
            rows.append({**head, "error": error_of(error)})
    if job.folder is None:
        return failed, rows
    place = Path(job.folder) / "pieces" / piece.name
    try:
        _core.write_rows(os.fspath(place), columns_of(rows, getattr(call, "kinds", {})))
    except OSError as error:
        raise StudyError(f"{place}: {error}", code="file::unwritable", path=os.fspath(place)) from error
    return failed, None


def error_of(error: BaseException) -> str:
    """An exception in a line: equal ones give equal texts, whoever ran the task."""
    if isinstance(error, ChildProcessError):
        return str(error)
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}".rstrip(": ")


def _cell(value: Any) -> Any:
    """A value that a column can have: numbers of other libraries as Python's, everything else as JSON."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return value.item()
    return json.dumps(value, default=str)


def columns_of(rows: Sequence[Row], kinds: Mapping[str, str]) -> list[tuple[str, str, list[Any]]]:
    """Columns with kinds: those that are known, and those of the values. A column without values is left out.

    Examples
    --------
    >>> columns_of([{"a": 1, "b": None, "error": None}, {"a": 2.5, "error": "x"}], {"c": "int"})
    [('a', 'float', [1, 2.5]), ('c', 'int', [None, None]), ('error', 'text', [None, 'x'])]
    """
    names = dict.fromkeys(name for row in rows for name in row if name != "error")
    found = []
    for name in [*dict.fromkeys([*names, *kinds]), "error"]:
        values = [row.get(name) for row in rows]
        kind = "text" if name == "error" else kinds.get(name) or _kind(values)
        if kind is not None:
            if kind == "text":
                values = [one if one is None or isinstance(one, str) else json.dumps(one) for one in values]
            found.append((name, kind, values))
    return found


def _kind(values: Sequence[Any]) -> str | None:
    kinds = {type(one) for one in values if one is not None}
    if not kinds:
        return None
    if kinds == {bool}:
        return "bool"
    if kinds == {int} and all(-(2**63) <= one < 2**63 for one in values if one is not None):
        return "int"
    return "float" if kinds <= {int, float} else "text"
