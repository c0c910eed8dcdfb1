"""What is published: the source distribution, what it says of itself, and the container's file.

`make wheel` builds the wheel and tries it in an environment of its own, which takes minutes.
"""

import email.parser
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

import tautwire

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "python"


@pytest.mark.skipif(shutil.which("cargo") is None, reason="maturin asks cargo which crates there are")
def test_the_source_distribution_has_all_that_a_build_reads(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "maturin", "sdist", "--out", str(tmp_path)]
    subprocess.run(command, cwd=PYTHON, capture_output=True, check=True)
    (path,) = tmp_path.glob("tautwire-*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path, filter="data")
    source = tmp_path / path.name.removesuffix(".tar.gz")
    said = email.parser.Parser().parsestr((source / "PKG-INFO").read_text(encoding="utf-8"))
    assert (said["Name"], said["Version"]) == ("tautwire", tautwire.__version__)
    assert sorted(said.get_all("License-File") or []) == ["LICENSE-APACHE", "LICENSE-MIT"]
    assert "tautwire.verify(network)" in str(said.get_payload())
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert (source / licence).read_bytes() == (ROOT / licence).read_bytes()
    assert {one.name for one in (source / "tautwire").iterdir()} >= {"py.typed", "_core.pyi", "studies", "plots.py"}
    assert (source / "Cargo.lock").read_bytes() == (ROOT / "Cargo.lock").read_bytes()
    assert not list(source.rglob("_core*.so"))
    # What sources contain at build time is there, too; their tests come behind.
    missing = []
    for file in source.rglob("src/**/*.rs"):
        code = file.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
        missing += [
            f"{file.relative_to(source)}: {name}"
            for name in re.findall(r'include_(?:str|bytes)!\("([^"]+)"\)', code)
            if not (file.parent / name).exists()
        ]
    assert missing == []


def test_the_package_has_the_command_and_its_extras() -> None:
    said = tomllib.loads((PYTHON / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, function = said["scripts"]["tautwire"].partition(":")
    assert callable(getattr(__import__(module, fromlist=[function]), function))
    assert {"data", "plot", "arrow", "dask", "ray"} <= set(said["optional-dependencies"])
    pinned = dict(re.findall(r"(?m)^([\w.-]+)==(\S+)$", (ROOT / "tools" / "requirements.txt").read_text()))
    names = {re.match(r"[\w-]+", one)[0] for one in said["dependencies"]}  # type: ignore[index]
    assert names <= set(pinned), "the tests' environment has what the package needs"


def test_the_container_builds_with_the_versions_of_the_tree() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    toolchain = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
    assert f"FROM rust:{toolchain.rsplit('.', 1)[0]}-" in text
    pinned = re.search(r"(?m)^maturin==(\S+)$", (ROOT / "tools" / "requirements.txt").read_text())
    assert pinned is not None and f"maturin=={pinned[1]}" in text
    assert "python/Cargo.toml" in text and (PYTHON / "Cargo.toml").exists()
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {"target", ".git", "**/*.so"} <= set(ignored) and "python" not in ignored


def test_the_wheel_is_tried_by_a_script_that_runs() -> None:
    script = ROOT / "tools" / "wheel"
    assert os.access(script, os.X_OK)
    assert subprocess.run(["sh", "-n", str(script)], check=False).returncode == 0
    assert "tools/wheel" in (ROOT / "Makefile").read_text(encoding="utf-8")
