"""Spreadsheets of streams: as a table, in a network, at the command; and what is wrong with cells."""

import datetime
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openpyxl")

import openpyxl

import tautwire

BASE = """\
name: cell   # mine
nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge}}
links:
  - {between: [a, s], rate: 100 Mbit/s}
  - {between: [b, s], rate: 100 Mbit/s}
"""
ROWS: list[list[Any]] = [
    ["Streams of the cell"],
    [],
    ["name", "talker", "listeners", "payload [B]", "traffic.type", "Cycle", "deadline (us)", "priority", "Owner"],
    ["order", "a", "b", 100, "periodic", 0.5, 200, 5, "Ada"],
    ["# not yet", None, None, None, None, None, None, None, None],
    [],
    ["state", "b", "a", 46.0, "periodic", 1, None, None, "Bo"],
]
COLUMNS = {"Cycle": "traffic.interval ms", "Owner": None}


def book(place: Path, rows: list[list[Any]], title: str = "Streams") -> Path:
    made = openpyxl.Workbook()
    made.active.title = "Notes" if title != "Streams" else title
    sheet = made.active if title == "Streams" else made.create_sheet(title)
    for row in rows:
        sheet.append(row)
    made.save(place)
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    book(tmp_path / "streams.xlsx", ROWS[2:])
    (tmp_path / "net.yaml").write_text(BASE, encoding="utf-8")
    return tmp_path


def test_a_sheet_is_a_table_of_streams(folder: Path) -> None:
    text = tautwire.stream_table(folder / "streams.xlsx", columns=COLUMNS)
    assert text.splitlines() == [
        "name,talker,listeners,payload,traffic.type,traffic.interval,deadline,priority",
        "order,a,b,100 B,periodic,0.5 ms,200 us,5",
        "",
        "",
        "state,b,a,46 B,periodic,1 ms,,",
    ]
    (folder / "streams.csv").write_text(text, encoding="utf-8")
    (folder / "net.yaml").write_text(BASE + "stream-tables: [streams.csv]\n", encoding="utf-8")
    by_table = tautwire.verify(folder / "net.yaml")
    assert by_table.verdict == "proven" and len(by_table.summary["streams"]) == 2
    # The same streams in the network itself.
    network = tautwire.load_text(BASE)
    network.streams_from(folder / "streams.xlsx", columns=COLUMNS)
    assert network.text().startswith("name: cell   # mine\n") and network.streams["order"].traffic.interval == "0.5 ms"
    assert [tautwire.bounds(network).delay_max_ps(name) for name in ("order", "state")] == [
        by_table.delay_max_ps(name) for name in ("order", "state")
    ]


def test_lines_of_the_table_are_rows_of_the_sheet(tmp_path: Path) -> None:
    rows = [["name", "talker", "listeners", "payload [B]"], [], ["x", "a", "nobody", 100], ["y", "a", "b, c", 7]]
    text = tautwire.stream_table(book(tmp_path / "s.xlsx", rows))
    assert text.splitlines() == ["name,talker,listeners,payload", "", "x,a,nobody,100 B", 'y,a,"b, c",7 B']
    network = tautwire.load_text(BASE)
    network.streams_from(tmp_path / "s.xlsx")
    assert network.streams["y"].listeners == ["b", "c"]
    with pytest.raises(tautwire.DescriptionError) as caught:
        network.core()
    sources = {one.source for one in caught.value.diagnostics if "nobody" in one.message}
    assert sources == {(str(tmp_path / "s.xlsx"), 3)}


def test_all_faults_have_their_cells(tmp_path: Path) -> None:
    rows = [
        ["name", "talker", "speed", "payload [B]", "name [B]", "deadline [us]"],
        ["s", "a", "1", datetime.time(0, 1), None, "=1+1"],
        ["t", "a\nb", "1", 0.1 + 0.2, None, 1e-7],
    ]
    with pytest.raises(tautwire.DescriptionError) as caught:
        tautwire.stream_table(book(tmp_path / "s.xlsx", rows), columns={"Cycle": "traffic.interval ms"})
    found = [(one.line, one.column, one.message) for one in caught.value.diagnostics]
    assert [(row, column) for row, column, _ in found] == [(1, 3), (1, 5), (1, 1), (2, 4), (2, 6), (3, 2)]
    words = (
        "no key `speed`",
        "two columns are `name`",
        "no column has the heading `Cycle`",
        "a time of day",
        "formula",
    )
    assert all(word in message for word, (*_, message) in zip(words, found, strict=False))
    assert {one.path for one in caught.value.diagnostics} == {str(tmp_path / "s.xlsx")}
    rows[1:] = [["s", "a", None, 0.1 + 0.2, None, 1e-7]]
    rows[0][2] = rows[0][4] = None
    assert tautwire.stream_table(book(tmp_path / "t.xlsx", rows)).splitlines()[1] == "s,a,0.3 B,0.0000001 us"


def test_what_is_no_sheet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tautwire.FileError, match="No such file"):
        tautwire.stream_table(tmp_path / "none.xlsx")
    (tmp_path / "no.xlsx").write_text("name,talker\n", encoding="utf-8")
    with pytest.raises(tautwire.FileError, match="is no xlsx file"):
        tautwire.stream_table(tmp_path / "no.xlsx")
    book(tmp_path / "two.xlsx", ROWS[2:], title="Line 2")
    with pytest.raises(tautwire.DescriptionError, match="the sheet is empty"):
        tautwire.stream_table(tmp_path / "two.xlsx")
    with pytest.raises(tautwire.FileError, match="has no sheet `Line 3`"):
        tautwire.stream_table(tmp_path / "two.xlsx", sheet="Line 3")
    assert tautwire.stream_table(tmp_path / "two.xlsx", sheet="Line 2", columns=COLUMNS).count("\n") == 5


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(one for one in sys.path if one)}
    call = [sys.executable, "-m", "tautwire", "import", "xlsx", *arguments]
    return subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False, env=environment)


def test_the_command_writes_a_table_or_a_description(folder: Path) -> None:
    own = ["streams.xlsx", "--column", "Cycle=traffic.interval ms", "--column", "Owner="]
    ended = command(folder, *own)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == tautwire.stream_table(folder / "streams.xlsx", columns=COLUMNS)
    assert command(folder, *own, "--base", "net.yaml", "--to", "with.yaml").returncode == 0
    assert tautwire.verify(folder / "with.yaml").verdict == "proven"
    again = command(folder, *own, "--to", "with.yaml")
    assert again.returncode == 2 and "cannot write with.yaml" in again.stderr
    wrong = command(folder, "streams.xlsx")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "streams.xlsx:1:6: error" in wrong.stderr and "streams.xlsx:1:9: error" in wrong.stderr
