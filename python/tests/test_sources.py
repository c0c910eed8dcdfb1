"""``tools/sources``: the times of files tell cargo what differs from what was built last, whichever clone built it."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "sources"
MODEL = "crates/model/src/lib.rs"
READER = "crates/report/src/reader.rs"
SCENARIO = "scenarios/one.yaml"
LONG_AGO = 1_600_000_000


class Clone:
    """A tree with a source, a source that contains a scenario, and that scenario; all of them old."""

    def __init__(self, folder: Path, builds: Path) -> None:
        self.folder, self.builds = folder, builds
        for name, text in {
            MODEL: "//! Model.",
            READER: 'const ONE: &str = include_str!("../../../scenarios/one.yaml");',
            SCENARIO: "name: one",
            "mechanisms/README": "",
        }.items():
            self.write(name, text, LONG_AGO)
        (folder / "tools").mkdir()
        shutil.copy(SCRIPT, folder / "tools")

    def write(self, name: str, text: str, at: float | None = None) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if at is not None:
            os.utime(path, (at, at))

    def set_up(self) -> float:
        """As ``make`` does before a build; gives a time before it."""
        before = time.time()
        subprocess.run([self.folder / "tools" / "sources", self.builds], check=True)
        return before - 0.01

    def time_of(self, name: str) -> float:
        return (self.folder / name).stat().st_mtime


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Clone, Clone]:
    return Clone(tmp_path / "first", tmp_path / "builds"), Clone(tmp_path / "second", tmp_path / "builds")


def test_what_is_alike_is_not_built_again(clones: tuple[Clone, Clone]) -> None:
    first, second = clones
    before = first.set_up()
    built = first.time_of(MODEL)
    assert built >= before, "nobody knows what was built before"
    second.write(MODEL, "//! Model.")
    second.set_up()
    assert second.time_of(MODEL) == built
    second.set_up()
    assert second.time_of(MODEL) == built


def test_an_older_clone_is_built_again_after_another_one(clones: tuple[Clone, Clone]) -> None:
    first, second = clones
    first.set_up()
    second.write(MODEL, "//! Another model.", LONG_AGO)
    before = second.set_up()
    assert second.time_of(MODEL) >= before
    assert second.time_of(READER) == first.time_of(READER)
    before = first.set_up()
    assert first.time_of(MODEL) >= before


def test_a_change_in_the_clone_of_the_last_build_keeps_its_time(clones: tuple[Clone, Clone]) -> None:
    first, _ = clones
    first.set_up()
    first.write(MODEL, "//! A change.", LONG_AGO + 7)
    first.set_up()
    assert first.time_of(MODEL) == LONG_AGO + 7


def test_what_contains_a_changed_file_is_built_again(clones: tuple[Clone, Clone]) -> None:
    first, second = clones
    first.set_up()
    second.write(SCENARIO, "name: two", LONG_AGO)
    before = second.set_up()
    assert second.time_of(READER) >= before
    assert second.time_of(MODEL) == first.time_of(MODEL)
