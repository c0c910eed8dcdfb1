"""The wheel's command is the command."""

import subprocess
import sys
from pathlib import Path

import tautwire


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "tautwire", *arguments], capture_output=True, text=True, check=False)


def test_it_runs_and_tells_its_exit_code(two_hosts: tautwire.Network, tmp_path: Path) -> None:
    path = tmp_path / "two-hosts.yaml"
    path.write_text(two_hosts.text())
    out = str(tmp_path / "run")
    good = run("verify", str(path), "--out", out)
    assert good.returncode == 0, good.stderr
    assert "proven" in good.stdout
    page = tautwire.report(out)
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    path.write_text("nodes: 3")
    assert run("check", str(path)).returncode == 2
