"""Who runs the pieces of a study: this process, local processes, a Dask cluster, a Ray cluster.

An executor takes pieces and gives, in any order, how many tasks of each failed. Rows are written by the workers, so the
death of a worker costs the pieces under way, which are run again. A task that ends its process each time gets a row
with an error.
"""

from __future__ import annotations

import os
import pickle
import selectors
import struct
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tautwire.studies.pieces import Job, Piece, Row, StudyError, run_piece

__all__ = ["EXECUTORS", "Done", "on_dask", "on_processes", "on_ray", "serially"]

# A piece, how many of its tasks failed, and its rows if they are not written.
Done = tuple[Piece, int, "list[Row] | None"]
Begin = Callable[[int], None]
# How often a task may end its process.
STRIKES = 3


def serially(job: Job, pieces: Iterable[Piece], workers: int, begin: Begin) -> Iterator[Done]:
    """One task after the other, in this process."""
    for piece in pieces:
        failed, rows = run_piece(job, piece, (), begin)
        yield piece, failed, rows


class Worker:
    """A process of this machine that runs pieces; it ends when this one does."""

    def __init__(self, job: Job) -> None:
        # What this process imports, the worker can import; it does not run the script of this process again.
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tautwire.studies.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths},
            bufsize=0,
        )
        self.octets = bytearray()
        self.piece: Piece | None = None
        self.at: int | None = None
        self.send(job)

    def send(self, value: Any) -> None:
        """Sends a value; if the process is dead, its end is seen when it is read from."""
        octets = pickle.dumps(value)
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(struct.pack("<Q", len(octets)) + octets)

    def fileno(self) -> int:
        """Where it answers."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def answers(self) -> list[tuple[str, Any]] | None:
        """What came since the last call; none if the process has ended."""
        octets = os.read(self.fileno(), 1 << 16)
        if not octets:
            return None
        self.octets += octets
        found = []
        while len(self.octets) >= 8:
            length = 8 + struct.unpack("<Q", self.octets[:8])[0]
            if len(self.octets) < length:
                break
            found.append(pickle.loads(bytes(self.octets[8:length])))
            del self.octets[:length]
        return found

    def end(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def on_processes(job: Job, pieces: Iterable[Piece], workers: int, begin: Begin) -> Iterator[Done]:
    """On processes of this machine, which no main guard is needed for."""
    waiting = deque(pieces)
    strikes: Counter[int | None] = Counter()
    dead: set[int] = set()
    selector = selectors.DefaultSelector()
    running: set[Worker] = set()
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                worker = Worker(job)
                running.add(worker)
                selector.register(worker, selectors.EVENT_READ)
                _give(worker, waiting, dead)
            for key, _ in selector.select():
                worker = key.fileobj  # type: ignore[assignment]
                answers = worker.answers()
                for kind, value in answers or ():
                    if kind == "at":
                        worker.at = value
                        begin(value)
                    elif kind == "error":
                        raise value
                    else:
                        assert worker.piece is not None
                        done, worker.piece, worker.at = worker.piece, None, None
                        yield done, *value
                        if waiting:
                            _give(worker, waiting, dead)
                if answers is not None and (worker.piece is not None or waiting):
                    continue
                selector.unregister(worker)
                running.remove(worker)
                worker.end()
                if worker.piece is not None:
                    strikes[worker.at] += 1
                    waiting.appendleft(worker.piece)
                    if strikes[worker.at] >= STRIKES:
                        if worker.at is None:
                            text = "workers end before their first task"
                            raise StudyError(text, code="study::worker", help="their reason is on stderr, above")
                        dead.add(worker.at)
    finally:
        for worker in running:
            worker.end()
        selector.close()


def _give(worker: Worker, waiting: deque[Piece], dead: set[int]) -> None:
    worker.piece, worker.at = waiting.popleft(), None
    worker.send((worker.piece, {task.number for task in worker.piece.tasks} & dead))


@contextmanager
def without_main() -> Iterator[None]:
    """While ``multiprocessing`` starts processes: they do not run the script again, which may have no main guard."""
    main = sys.modules["__main__"]
    names = ("__file__", "__spec__")
    kept: dict[str, Any] = {name: main.__dict__[name] for name in names if name in main.__dict__}
    main.__dict__.pop("__file__", None)
    main.__dict__["__spec__"] = None
    try:
        yield
    finally:
        main.__dict__.update(kept)


def on_dask(job: Job, pieces: Iterable[Piece], workers: int, begin: Begin, cluster: Any = None) -> Iterator[Done]:
    """On a Dask cluster: a client, the address of a scheduler, or local workers."""
    try:
        import dask
        import distributed
        from distributed.scheduler import KilledWorker
    except ImportError as error:
        raise StudyError("Dask is not installed", code="study::dask", help="pip install 'tautwire[dask]'") from error
    settings = {
        "distributed.worker.profile.enabled": False,
        # What is suspected of ending its process is tried again by itself.
        "distributed.scheduler.allowed-failures": 1,
        # A cluster of this machine gives up a worker that is not back after 15 s, as on a loaded machine, and nothing
        # starts another one: tasks would wait for ever.
        "distributed.deploy.lost-worker-timeout": "365 days",
    }
    # It has types in parts.
    library: Any = distributed
    with dask.config.set(settings), without_main():
        local: Any = None
        if cluster is None:
            local = library.LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
            )
        client = cluster if isinstance(cluster, library.Client) else library.Client(local or cluster)
        try:

            def submit(piece: Piece, dead: frozenset[int], one: Job = job) -> Any:
                return client.submit(run_piece, one, piece, dead, pure=False)

            yield from _on_futures(job, pieces, 4 * workers, begin, submit, library.as_completed, KilledWorker)
        finally:
            if client is not cluster:
                client.close()
            if local is not None:
                local.close()


def _on_futures(
    job: Job,
    pieces: Iterable[Piece],
    most: int,
    begin: Begin,
    submit: Callable[..., Any],
    as_completed: Callable[..., Any],
    death: type[BaseException],
) -> Iterator[Done]:
    waiting = iter(pieces)
    of: dict[Any, Piece] = {}
    suspects: list[Piece] = []
    running = as_completed()

    def add(piece: Piece, dead: frozenset[int] = frozenset()) -> None:
        future = submit(piece, dead)
        of[future] = piece
        running.add(future)

    for piece in waiting:
        add(piece)
        if len(of) >= most:
            break
    while of:
        future = next(running)
        piece = of.pop(future)
        error = future.exception()
        if isinstance(error, death):
            suspects.append(piece)
        elif error is not None:
            raise error
        else:
            yield _done(piece, future.result(), begin)
        for following in waiting:
            add(following)
            break
    # With nothing else on the cluster: which tasks end their process, each by itself, without a file.
    alone = Job(job.version, job.function, None)
    for piece in suspects:
        dead = set()
        for task in piece.tasks:
            error = submit(Piece((task,)), frozenset(), alone).exception()
            if isinstance(error, death):
                dead.add(task.number)
            elif error is not None:
                raise error
        yield _done(piece, submit(piece, frozenset(dead)).result(), begin)


def _done(piece: Piece, found: tuple[int, list[Row] | None], begin: Begin) -> Done:
    for task in piece.tasks:
        begin(task.number)
    return piece, *found


def on_ray(job: Job, pieces: Iterable[Piece], workers: int, begin: Begin, cluster: Any = None) -> Iterator[Done]:
    """On a Ray cluster: its address, or local workers."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray as library
    except ImportError as error:
        raise StudyError("Ray is not installed", code="study::ray", help="pip install 'tautwire[ray]'") from error
    # It has types in parts.
    ray: Any = library
    is_own = not ray.is_initialized()
    if is_own and cluster is None:
        # What this process imports, the workers can import.
        paths = {"env_vars": {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}}
        own = {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        ray.init(num_cpus=workers, log_to_driver=False, runtime_env=paths, **own)
    elif is_own:
        ray.init(address=cluster, log_to_driver=False)
    remote = ray.remote(max_retries=STRIKES - 1)(run_piece)
    crashed = ray.exceptions.WorkerCrashedError
    try:
        waiting = iter(pieces)
        of: dict[Any, Piece] = {}
        for piece in waiting:
            of[remote.remote(job, piece)] = piece
            if len(of) >= 4 * workers:
                break
        while of:
            [ready], _ = ray.wait(list(of), num_returns=1)
            piece = of.pop(ready)
            try:
                failed, rows = ray.get(ready)
            except crashed:
                alone = Job(job.version, job.function, None)
                dead = set()
                for task in piece.tasks:
                    try:
                        ray.get(remote.remote(alone, Piece((task,))))
                    except crashed:
                        dead.add(task.number)
                of[remote.remote(job, piece, dead)] = piece
                continue
            except ray.exceptions.RayTaskError as error:
                raise error.cause from error
            for task in piece.tasks:
                begin(task.number)
            yield piece, failed, rows
            for following in waiting:
                of[remote.remote(job, following)] = following
                break
    finally:
        if is_own:
            ray.shutdown()


EXECUTORS = {"serial": serially, "processes": on_processes, "dask": on_dask, "ray": on_ray}
