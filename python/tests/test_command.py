"""The wheel's command is the command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tautwire


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "tautwire", *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("of", ["description", "summary"])
def test_its_schemas_are_schemas(of: str) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="it is no part of the tests' environment")
    schema = json.loads(run("schema", of).stdout)
    assert schema["$id"] == f"urn:tautwire:schema:{of}"
    jsonschema.validators.validator_for(schema).check_schema(schema)


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
