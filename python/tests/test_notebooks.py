"""The notebooks run cell by cell, without a kernel, and find what they say.

A kernel would take seconds for each. What it does is done here: the statements of a cell run in one module, and the
value of its last expression is shown.
"""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")

import pytest
from matplotlib import pyplot

import tautwire

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
GUIDE = FOLDER.parent / "guide" / "python.md"


def cells(text: str) -> Iterator[tuple[bool, str]]:
    """Whether each cell is text, and what is in it; line numbers stay as they are in the file."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("# %%")]
    for begin, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        is_text = lines[begin].startswith("# %% [markdown]")
        yield is_text, "\n" * (begin + 1) + "\n".join(lines[begin + 1 : end])


def run(path: Path) -> tuple[dict[str, Any], list[Any]]:
    """The names that a notebook defines, and the values that its cells show."""
    space: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for is_text, code in cells(path.read_text(encoding="utf-8")):
        tree = ast.parse(code)
        if is_text:
            assert tree.body == [], f"{path.name}: text without `# `"
            continue
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, path, "exec"), space)
        if last is not None:
            shown.append(eval(compile(ast.Expression(last.value), path, "eval"), space))
            for form in ("_repr_html_", "__repr__"):
                if hasattr(shown[-1], form):
                    assert isinstance(getattr(shown[-1], form)(), str)
    return space, shown


def first_network(space: dict[str, Any], shown: list[Any]) -> None:
    (fault,) = space["faults"]
    assert fault.code == "value::unit-missing" and "write a size" in fault.help
    line = (FOLDER / "first_network.py").read_text(encoding="utf-8").splitlines()[fault.source[1] - 1]
    assert line == 'broken.streams["samples"].payload = "100"'
    assert (space["result"].verdict, space["proven"].verdict) == ("not-proven", "proven")
    assert space["result"].stream("samples")["listeners"][0]["verdict"] == "not-proven"
    assert isinstance(shown[-1], tautwire.Difference) and shown[-1]


def which_shaper(space: dict[str, Any], shown: list[Any]) -> None:
    assert space["fits"] == ["credit"]
    found = space["bounds_us"]
    assert found["credit"]["report"] < found["strict"]["report"] / 3
    assert found["credit"]["picture"] > found["strict"]["picture"]
    assert found["ats"]["report"] >= found["strict"]["report"]
    assert space["mean"].low < space["mean"].high


def how_many_streams(space: dict[str, Any], shown: list[Any]) -> None:
    assert space["most_proven"] == 4
    bounds = {line[0]: line[1] for line in space["axes"].get_lines()[0].get_xydata()}
    assert all(row["greatest"] / 1e6 <= bounds[row["count"]] for row in space["rows"])
    assert [row["rows"] for row in space["rows"]] == [6] * 8
    assert space["breaks"] and space["worst"].verdict in ("not-proven", "missed")


def published_figure(space: dict[str, Any], shown: list[Any]) -> None:
    found = space["found"]
    assert (found[:16] == 12_336).all() and (found[17:] == 121_760).all() and len(found) == 99
    assert shown[-1] is True and space["counts"][16] == 16


def capture_to_verdict(space: dict[str, Any], shown: list[Any]) -> None:
    assert (space["analysed"].returncode, space["found"].returncode, space["held"].returncode) == (0, 1, 0)
    assert space["above"] == ["pressure", "scan"] and space["verdict"] == "proven"


def schedule_to_yang(space: dict[str, Any], shown: list[Any]) -> None:
    assert (space["before"].verdict, space["after"].verdict) == ("missed", "proven")
    assert set(space["jitter"].values()) == {0}
    assert list(space["gated"]) == ["p1", "p2", "p3"]
    lists = {port["port"]: port["control_list"] for port in space["schedule"]["ports"]}
    for port, entries in space["gated"].items():
        states = [entry["gate-states-value"] for entry in entries]
        assert states == [one["gate_states"] for one in lists[f"right:{port}"]]


CHECKS = [first_network, which_shaper, how_many_streams, published_figure, capture_to_verdict, schedule_to_yang]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_notebook_runs_and_finds_what_it_says(check: Callable[[dict[str, Any], list[Any]], None]) -> None:
    check(*run(FOLDER / f"{check.__name__}.py"))
    pyplot.close("all")


def test_every_notebook_is_tested_and_linked_from_the_guide() -> None:
    names = sorted(path.stem for path in FOLDER.glob("*.py"))
    assert names == sorted(check.__name__ for check in CHECKS)
    guide = GUIDE.read_text(encoding="utf-8")
    assert [name for name in names if f"../notebooks/{name}.py" not in guide] == []


def test_a_cell_that_fails_fails(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("# %% [markdown]\n# Text.\n\n# %%\nfirst = 1\n\n# %%\nfirst\n1 / 0\n")
    with pytest.raises(ZeroDivisionError) as caught:
        run(broken)
    assert caught.traceback[-1].lineno + 1 == 9, "with the line of the file"
