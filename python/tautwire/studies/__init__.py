"""Studies: many runs over parameters and seeds, on this machine or a cluster, that go on where they were stopped.

Examples
--------
>>> import tautwire, tempfile
>>> network = tautwire.Network("pair", run={"duration": "10 ms"})
>>> network.end_station("a")
>>> network.end_station("b")
>>> network.link("a", "b", rate="1 Gbit/s")
>>> network.stream("s", "a", "b", frame="100 B", traffic=tautwire.Periodic("1 ms"), deadline="10 us")
>>> folder = tempfile.TemporaryDirectory()
>>> found = tautwire.study(network, tautwire.grid({"streams.s.frame": ["100 B", "1000 B"]}),
...                        to=folder.name, executor="serial")
>>> [(row["streams.s.frame"], row["verdict"]) for row in found.rows()]
[('100 B', 'proven'), ('1000 B', 'proven')]
>>> folder.cleanup()
"""

from __future__ import annotations

import fcntl
import functools
import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tautwire import _core
from tautwire.network import Network, load
from tautwire.progress import Progress
from tautwire.studies.calls import Measure, OfFunction, OfNetwork, digest
from tautwire.studies.executors import EXECUTORS
from tautwire.studies.pieces import Job, Piece, Row, StudyError, Task, packed
from tautwire.studies.space import Range, grid, sample

__all__ = ["Failure", "Range", "Study", "StudyError", "grid", "sample", "study"]

FORMAT = 1
# Most tasks of a piece, and pieces that a study is divided into at least, if it has so many tasks.
PIECE_MOST, PIECES = 100, 64
# What a study writes before its plan.
OWN = ("lock", "pieces", "call.pickle", "tasks.json")


@dataclass(frozen=True)
class Failure:
    """A task that failed, and the command that repeats it in a process of its own, with all that it prints."""

    task: int
    values: Mapping[str, Any]
    error: str
    command: str


class Study:
    """The results of a study: a folder whose ``pieces`` are Parquet files with the same columns.

    Any reader takes them together: ``duckdb.sql(f"select * from read_parquet('{study.files}', union_by_name=true)")``,
    ``polars.scan_parquet(study.files)``.

    Parameters
    ----------
    folder
        A folder that :func:`study` wrote.

    Raises
    ------
    StudyError
        It is no such folder.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        try:
            self.plan: dict[str, Any] = json.loads((self.folder / "study.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise StudyError(f"{self.folder} is no study: {error}", code="study::folder", path=str(folder)) from error

    def __repr__(self) -> str:
        return f"Study({str(self.folder)!r}, {self.done} of {self.tasks} tasks, {len(self.failures)} failed)"

    @property
    def files(self) -> str:
        """The files with its rows, as a pattern."""
        return str(self.folder / "pieces" / "*.parquet")

    @property
    def tasks(self) -> int:
        """How many tasks it has."""
        found: int = self.plan["tasks"]
        return found

    @property
    def done(self) -> int:
        """How many tasks are done, those that failed too."""
        return len({row["task"] for row in self.rows(("task",))})

    @property
    def failures(self) -> list[Failure]:
        """Tasks that failed, and the commands that repeat them."""
        known = {"task", "key", "error"}
        found = []
        for row in self.rows():
            if row["error"] is not None:
                values = {name: value for name, value in row.items() if name not in known and value is not None}
                command = shlex.join([os.path.basename(sys.executable), "-m", "tautwire", "study"])
                command += f" {shlex.quote(str(self.folder))} --repeat {row['task']}"
                found.append(Failure(row["task"], values, row["error"], command))
        return found

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[Row]:
        """Its rows in the order of the tasks, piece by piece.

        Parameters
        ----------
        columns
            Which ones; all by default. A column that a piece does not have is ``None`` there.
        """
        for path in sorted((self.folder / "pieces").glob("*.parquet")):
            for table in _core.read_rows(os.fspath(path)):
                there = table.column_names
                chosen = there if columns is None else columns
                lists = [table.column(name) if name in there else [None] * len(table) for name in chosen]
                for values in zip(*lists, strict=True):
                    yield dict(zip(chosen, values, strict=True))

    def repeat(self, task: int) -> Any:
        """Does a task again in this process, and gives its figures; what it raises is raised.

        Parameters
        ----------
        task
            Its number.

        Raises
        ------
        StudyError
            There is no such task.
        """
        import pickle

        call = pickle.loads((self.folder / "call.pickle").read_bytes())
        for one in _tasks(json.loads((self.folder / "tasks.json").read_text(encoding="utf-8"))):
            if one.number == task:
                return call(one.values, one.seed)
        raise StudyError(f"no task {task}: there are {self.tasks}", code="study::task")


def study(
    what: Network | str | os.PathLike[str] | Callable[..., Any],
    parameters: Iterable[Mapping[str, Any]],
    *,
    to: str | os.PathLike[str],
    seeds: Iterable[int] | None = None,
    keys: Mapping[str, str | Sequence[str]] | None = None,
    run: Literal["verify", "bounds", "simulate"] = "verify",
    duration: str | None = None,
    rows: Literal["network", "listeners"] = "network",
    metrics: Sequence[str] | Mapping[str, Callable[[Any], Any]] | None = None,
    executor: Literal["serial", "processes", "dask", "ray"] = "processes",
    workers: int | None = None,
    cluster: Any = None,
    piece: int | None = None,
    share: tuple[int, int] = (0, 1),
    anew: bool = False,
    progress: bool = True,
) -> Study:
    """Runs a task for each set of parameters and each seed, and writes the rows to a folder.

    A study that was stopped goes on when it is called again: what is in its folder is not done again, and every task
    counts once. Whoever runs the tasks, the files are the same.

    Parameters
    ----------
    what
        A network or the path of a description, whose values are varied; or a function that gives a network, a mapping
        of figures or a list of such, called with each set of parameters as keywords (and ``seed``, if it takes one).
    parameters
        Sets of parameters: :func:`grid`, :func:`sample`, or a list of mappings. Equal sets count once.
    to
        The folder.
    seeds
        Seeds of runs; each set of parameters is run with each.
    keys
        Which values of a description a parameter changes: one key, or several. By default the parameter is the key, as
        ``"streams.video.payload"`` or ``"nodes.bridge.classes.5.idle-slope"``.
    run, duration
        What is computed of a network, and the simulated time instead of the description's.
    rows
        A row for each ``"network"``, or for each of its ``"listeners"``.
    metrics
        Which figures of a network; or functions of a result by their names. All that there are by default.
    executor
        ``"serial"``: this process; ``"processes"``: processes of this machine; ``"dask"``, ``"ray"``: a cluster.
    workers
        Processes of this machine; as many as there are processors by default.
    cluster
        A cluster of Dask or Ray: its address, or a client of Dask. By default one of this machine is started.
    piece
        Tasks that one worker does in a row and writes as one file.
    share
        ``(number, of)``: of every ``of`` pieces only that with this number, from 0; for several calls at once.
    anew
        Whether a study of this folder that is another one is removed.
    progress
        Whether a bar is drawn, on a terminal or in a notebook.

    Returns
    -------
    Study
        Its rows, and the tasks that failed. A task that failed is done; remove its file to do it again.

    Raises
    ------
    StudyError
        The folder has another study, or another process works on it.
    DescriptionError, FileError, UnknownNameError
        The description has faults, cannot be read, or has no value of such a key.
    """
    if executor not in EXECUTORS:
        raise ValueError(f"an executor is one of {', '.join(EXECUTORS)}, not {executor!r}")
    if cluster is not None and executor not in ("dask", "ray"):
        raise ValueError("a cluster is of the executor `dask` or `ray`")
    measure = Measure(
        run, duration, rows, metrics if metrics is None or isinstance(metrics, Mapping) else tuple(metrics)
    )
    call = _call(what, keys or {}, measure)
    listed = _listed(parameters, seeds, digest(call.identity()))
    if isinstance(call, OfNetwork) and listed:
        # Keys that are wrong are known before anything runs.
        call.text_with(listed[0][1])
    plan = {
        "format": FORMAT,
        "version": _core.version(),
        "call": digest(call.identity()),
        "tasks": len(listed),
        "digest": digest([key for key, _, _ in listed]),
        "piece": piece or max(1, min(PIECE_MOST, len(listed) // PIECES)),
    }
    folder = Path(to)
    with _held(folder, shared=share != (0, 1)):
        _begin(folder, plan, packed(call), listed, anew)
        _run(folder, call, plan, listed, executor, workers or os.cpu_count() or 1, cluster, share, progress)
    return Study(folder)


# Key, values and seed of a task.
Listed = list[tuple[str, Mapping[str, Any], int | None]]


def _call(what: Any, keys: Mapping[str, str | Sequence[str]], measure: Measure) -> OfNetwork | OfFunction:
    if callable(what):
        return OfFunction(what, measure)
    network = what if isinstance(what, Network) else load(what)
    named = {name: (one,) if isinstance(one, str) else tuple(one) for name, one in keys.items()}
    return OfNetwork(network.own_text(), network._path or network.name, named, measure)


def _listed(parameters: Iterable[Mapping[str, Any]], seeds: Iterable[int] | None, call: str) -> Listed:
    """The tasks, each with its key: a digest of what is done with which values."""
    chosen: list[int | None] = [None] if seeds is None else list(seeds)
    found: dict[str, tuple[str, Mapping[str, Any], int | None]] = {}
    for values in parameters:
        for seed in chosen:
            key = digest(json.dumps([call, values, seed], sort_keys=True, default=repr))
            found.setdefault(key, (key, dict(values), seed))
    return list(found.values())


def _tasks(listed: Iterable[Any]) -> list[Task]:
    return [Task(number, key, values, seed) for number, (key, values, seed) in enumerate(listed)]


@contextmanager
def _held(folder: Path, shared: bool) -> Iterator[None]:
    """While the folder is worked on: by one process, or by several that share its pieces."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError as error:
            text = f"another process works on {folder}"
            raise StudyError(
                text, code="study::locked", path=str(folder), help="wait for it, or share the pieces"
            ) from error
        yield


def _begin(folder: Path, plan: Mapping[str, Any], call: bytes, listed: Listed, anew: bool) -> None:
    """The folder, with the plan of this study."""
    place = folder / "study.json"
    if anew:
        shutil.rmtree(folder / "pieces", ignore_errors=True)
        place.unlink(missing_ok=True)
    if place.exists():
        known = Study(folder).plan
        names = {"call": "what is computed", "tasks": "how many tasks there are", "digest": "parameters or seeds"}
        other = [names.get(name, name) for name in plan if known.get(name) != plan[name]]
        if other:
            text = f"{folder} has another study: {', '.join(other)} differ"
            raise StudyError(text, code="study::other", path=str(folder), help="choose another folder, or `anew`")
    elif any(one.name not in OWN and one.suffix != ".part" for one in folder.iterdir()):
        text = f"{folder} has other files"
        raise StudyError(text, code="study::folder", path=str(folder), help="choose an empty folder")
    (folder / "pieces").mkdir(exist_ok=True)
    _write(folder / "call.pickle", call)
    _write(folder / "tasks.json", json.dumps(listed, default=repr).encode())
    # Last: without it there is no study.
    _write(place, (json.dumps(plan, indent=2) + "\n").encode())


def _write(place: Path, octets: bytes) -> None:
    temporary = place.with_name(f".{place.name}.{os.getpid()}.part")
    temporary.write_bytes(octets)
    temporary.replace(place)


def _run(
    folder: Path,
    call: OfNetwork | OfFunction,
    plan: Mapping[str, Any],
    listed: Listed,
    executor: str,
    workers: int,
    cluster: Any,
    share: tuple[int, int],
    progress: bool,
) -> None:
    tasks = _tasks(listed)
    size: int = plan["piece"]
    pieces = [Piece(tuple(tasks[at : at + size])) for at in range(0, len(tasks), size)]
    number, of = share
    there = set(os.listdir(folder / "pieces"))
    missing = [one for at, one in enumerate(pieces) if at % of == number and one.name not in there]
    if not missing:
        return
    job = Job.of(call, folder)
    run: Callable[..., Iterator[Any]] = EXECUTORS[executor]
    if executor in ("dask", "ray"):
        run = functools.partial(run, cluster=cluster)
    total = sum(len(one.tasks) for one in missing)
    with Progress(total, "tasks", shown=progress) as bar:
        begun: set[int] = set()

        def begin(task: int) -> None:
            if task not in begun:
                begun.add(task)
                bar.advance()

        for _ in run(job, missing, min(workers, len(missing)), begin):
            pass


def command(arguments: Sequence[str]) -> int:
    """``tautwire study``: runs a study file, shows a study, or repeats a task of it; gives the exit code."""
    from tautwire.studies.file import main

    return main(arguments)
