"""Every example of every docstring runs, the stub says what the native module has, types hold."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import tautwire

PYTHON = Path(__file__).parent.parent
MODULES = ["tautwire"] + [one.name for one in pkgutil.walk_packages(tautwire.__path__, "tautwire.")]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("_core")])
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert result.failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    modules = (importlib.import_module(name) for name in MODULES if not name.endswith("_core"))
    examples = sum(len(test.examples) for module in modules for test in finder.find(module))
    assert examples > 60


def test_public_names_have_docstrings() -> None:
    bare = [name for name in tautwire.__all__ if not getattr(tautwire, name).__doc__]
    assert bare == []


@pytest.mark.parametrize("tool", [["mypy"], ["mypy.stubtest", "tautwire._core"]])
def test_types(tool: list[str]) -> None:
    run = subprocess.run([sys.executable, "-m", *tool], cwd=PYTHON, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


# After the types, whose cache it uses.
def test_a_misspelt_key_is_found_by_the_types(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import tautwire\n"
        "network = tautwire.Network('n', network_control='none')\n"
        "network.stream('s', 'a', 'b', payload='1 B', deadline='1 ms', traffic=tautwire.Periodic('1 ms'))\n"
        "network.stream('s', 'a', 'b', dead_line='1 ms')\n"
        "network.streams['s'].priority = 'high'\n"
        "reveal_type(network.streams['s'].payload)\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(script)],
        cwd=PYTHON,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line.split("script.py:")[1] for line in run.stdout.splitlines() if "script.py:" in line]
    assert [line.split(":")[0] for line in lines if "error" in line] == ["4", "5"]
    assert "dead_line" in lines[0] and "priority" not in lines[0]


@pytest.mark.parametrize(("page", "least"), [("python.md", 15), ("studies.md", 8)])
def test_examples_of_the_guide(page: str, least: int) -> None:
    result = doctest.testfile(str(PYTHON.parent / "docs" / "guide" / page), module_relative=False)
    assert result.attempted > least
    assert result.failed == 0


def test_examples_of_the_package_page() -> None:
    result = doctest.testfile(str(PYTHON / "README.md"), module_relative=False)
    assert result.attempted > 5
    assert result.failed == 0
