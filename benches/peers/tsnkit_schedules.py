"""Makes instances by tsnkit's generator and schedules them by its algorithms.

``tsnkit_schedules.py FOLDER SECONDS ALGORITHM...`` writes each instance to a folder in FOLDER. A line of JSON for each instance and
algorithm: whether a schedule was found, and the CPU seconds from the tables to the schedule. An algorithm is ended after SECONDS.
"""

import contextlib
import importlib
import io
import itertools
import json
import multiprocessing
import sys
import time
import warnings
from pathlib import Path

import numpy
from tsnkit.data.generator import DatasetGenerator

TOPOLOGIES = {0: "line", 1: "ring", 2: "tree", 3: "mesh"}
PERIODS = 3  # 0.5, 1, 2 or 4 ms
SIZES = 2  # 100 to 500 octets
DEADLINES = 2  # 0.1 to 1.6 ms


def solve(algorithm: str, folder: Path, answer: "multiprocessing.Queue[float]") -> None:
    warnings.simplefilter("ignore")
    module = importlib.import_module(f"tsnkit.algorithms.{algorithm}")
    begun = time.process_time()
    tables = (str(folder / "1_task.csv"), str(folder / "1_topo.csv"), f"{folder}/")
    with contextlib.redirect_stdout(io.StringIO()):
        found = module.benchmark(algorithm, *tables, 1)
    seconds = time.process_time() - begun
    answer.put((found.result.name == "schedulable", seconds))


def main() -> None:
    into, limit, algorithms = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    for (number, topology), streams, seed in itertools.product(TOPOLOGIES.items(), (10, 20, 50, 100), (1, 2)):
        folder = into / f"{topology}-{streams}-{seed}"
        folder.mkdir(parents=True)
        numpy.random.seed(1_000 * number + 10 * streams + seed)
        with contextlib.redirect_stdout(io.StringIO()):
            DatasetGenerator(1, streams, 8, PERIODS, SIZES, DEADLINES, number).run(f"{folder}/")
        for algorithm in algorithms:
            answer: multiprocessing.Queue[float] = multiprocessing.Queue()
            process = multiprocessing.Process(target=solve, args=(algorithm, folder, answer))
            process.start()
            process.join(limit)
            ended = process.is_alive()
            process.kill()
            found, seconds = (False, limit) if ended or answer.empty() else answer.get()
            row = {"instance": folder.name, "algorithm": algorithm, "found": found, "cpu_s": seconds}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
