"""The files of docs/guide/cluster: what a user copies to a cluster does the whole study, whatever is killed there."""

import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from networks import make_two_hosts

CLUSTER = Path(__file__).parents[2] / "docs/guide/cluster"

STUDY = """\
network: net.yaml
run: simulate
duration: 5 ms
seeds: {from: 1, count: 60}
parameters:
  streams.slow.frame: [100 B, 1522 B]
metrics: [delay_max_ps, delivered]
"""


def files_of(folder: Path) -> str:
    """A digest of all rows. What a process that was killed has not brought to its end is none of them."""
    found = hashlib.sha256()
    for path in sorted((folder / "pieces").glob("*.parquet")):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def program(folder: Path, name: str, text: str) -> None:
    """A program of a cluster's machines."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    (folder / name).chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """The environment of a job, in which `tautwire` is a command; the study is in the folder."""
    (tmp_path / "net.yaml").write_text(make_two_hosts().text(), encoding="utf-8")
    (tmp_path / "load.yaml").write_text(STUDY, encoding="utf-8")
    programs = tmp_path / "programs"
    program(programs, "tautwire", f'#!/bin/sh\nexec {sys.executable} -m tautwire "$@"\n')
    noted = '[ "$1" = worker ] && echo $$ >> workers'
    program(programs, "dask", f'#!/bin/sh\n{noted}\nexec {sys.executable} -m dask "$@"\n')
    paths = os.pathsep.join([str(Path(__file__).parent), *(one for one in sys.path if one)])
    return os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": paths}


@pytest.fixture
def undisturbed(tmp_path: Path, machine: dict[str, str]) -> str:
    call = ["tautwire", "study", "load.yaml", "--out", "whole", "--workers", "1", "--quiet"]
    subprocess.run(call, cwd=tmp_path, env=machine, check=True, stdout=subprocess.DEVNULL)
    return files_of(tmp_path / "whole")


def kill_at(process: subprocess.Popen[bytes], pieces: Path, count: int) -> None:
    """Kills a job with all its processes when some pieces are there."""
    while process.poll() is None and (not pieces.exists() or len(list(pieces.glob("*.parquet"))) < count):
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_an_array_of_slurm_does_the_study_though_a_job_is_killed(
    tmp_path: Path, machine: dict[str, str], undisturbed: str
) -> None:
    script = CLUSTER / "study.sbatch"
    text = script.read_text(encoding="utf-8")
    first, last = map(int, re.search(r"--array=(\d+)-(\d+)", text).groups())  # type: ignore[union-attr]
    assert (first, last) == (0, 19)

    def job(number: int, **further: str) -> subprocess.Popen[bytes]:
        slurm = {"SLURM_ARRAY_TASK_ID": str(number), "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_CPUS_PER_TASK": "1"}
        return subprocess.Popen(
            ["bash", str(script), "load.yaml"],
            cwd=tmp_path,
            env=machine | slurm | further,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
        )

    kill_at(job(1), tmp_path / "load.results/pieces", 1)
    assert [job(number).wait() for number in (0, 2)] == [0, 0]
    # Submitted again by itself.
    assert job(1, SLURM_ARRAY_TASK_COUNT="1", SHARES="3").wait() == 0
    assert files_of(tmp_path / "load.results") == undisturbed
    ended = subprocess.run(["bash", str(script)], env=machine, capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and "usage: sbatch study.sbatch STUDY.yaml" in ended.stderr


def test_dask_in_a_job_of_slurm_does_the_study_though_a_worker_is_killed(
    tmp_path: Path, machine: dict[str, str], undisturbed: str
) -> None:
    # As srun: the same on each task of the job.
    program(
        tmp_path / "programs",
        "srun",
        '#!/bin/sh\nfor task in $(seq "$SLURM_NTASKS"); do "$@" & done\ntrap \'kill $(jobs -p)\' TERM\nwait\n',
    )
    slurm = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "2"}
    with subprocess.Popen(
        ["bash", str(CLUSTER / "dask.sbatch"), "load.yaml"],
        cwd=tmp_path,
        env=machine | slurm,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as job:
        pieces = tmp_path / "load.results/pieces"
        while job.poll() is None and (not pieces.exists() or not list(pieces.glob("*.parquet"))):
            time.sleep(0.005)
        workers = (tmp_path / "workers").read_text(encoding="utf-8").split()
        assert len(workers) == 2
        # Its nanny with it: this machine is gone.
        os.kill(int(workers[0]), signal.SIGKILL)
        assert job.wait() == 0
    assert files_of(tmp_path / "load.results") == undisturbed
    assert not (tmp_path / "dask-7.json").exists()


def test_a_job_of_kubernetes_does_the_study_in_its_volume(
    tmp_path: Path, machine: dict[str, str], undisturbed: str
) -> None:
    claim, job = yaml.safe_load_all((CLUSTER / "kubernetes.yaml").read_text(encoding="utf-8"))
    assert (claim["apiVersion"], claim["kind"]) == ("v1", "PersistentVolumeClaim")
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    said: dict[str, Any] = job["spec"]
    pod = said["template"]["spec"]
    [container] = pod["containers"]
    assert said["completionMode"] == "Indexed" and pod["restartPolicy"] in ("OnFailure", "Never")
    values = {one["name"]: one["value"] for one in container["env"]}
    assert values == {"SHARES": str(said["completions"])} and said["parallelism"] <= said["completions"]
    [mount], [volume] = container["volumeMounts"], pod["volumes"]
    assert (mount["name"], mount["mountPath"]) == (volume["name"], "/studies")
    assert volume["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"], "all pods write to it"
    # The pods, with the folder in place of the volume; fewer of them, as each begins anew.
    shares = {"SHARES": "2"}
    call = [*container["command"], container["args"][0].replace(mount["mountPath"], str(tmp_path))]
    for index in range(2):
        environment = machine | values | shares | {"JOB_COMPLETION_INDEX": str(index)}
        ended = subprocess.run(call, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
    assert files_of(tmp_path / "load.results") == undisturbed
