"""Tables of streams as spreadsheets (xlsx): a stream in each row, as in the CSV files of ``stream-tables``.

A heading names a key of a stream, with a dot before a key within a key, and the unit of its column if the cells are
numbers: ``traffic.interval [us]``. Other headings are given a key by whoever reads them. Rows keep their numbers, so
that a fault in row 7 has line 7.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tautwire.errors import DescriptionError, Diagnostic, FileError, TautwireError
from tautwire.keys import StreamAttributes
from tautwire.parts import Stream

__all__ = ["main", "stream_table", "streams_of"]

KEYS = frozenset(name.replace("_", "-") for name in StreamAttributes.__annotations__)
# A key, and its unit in brackets.
HEADING = re.compile(r"\s*(?P<key>[^\[\](\s]+)\s*(?:\[(?P<square>[^\]]*)\]|\((?P<round>[^)]*)\))?\s*")
LISTS = ("listeners", "route")
CODE = "stream-table::cell"


@dataclass(frozen=True)
class Column:
    """What a column holds: its number in the sheet, the key of a stream, and the unit of its numbers."""

    number: int
    key: str
    unit: str | None


class Sheet:
    """A sheet of streams, with all its faults found in one reading.

    Parameters
    ----------
    path
        An xlsx file.
    sheet
        Which sheet; the first by default.
    columns
        Keys for headings that are none: ``{"Period": "traffic.interval us"}``, with the unit of numbers. None leaves
        the column out.
    """

    def __init__(
        self, path: str | os.PathLike[str], sheet: str | None, columns: Mapping[str, str | None] | None
    ) -> None:
        self.path = os.fspath(path)
        self.faults: list[Diagnostic] = []
        values, formulas = (self._opened(sheet, data_only=data_only) for data_only in (True, False))
        self.values = [list(row) for row in values.iter_rows()]
        self.formulas = [list(row) for row in formulas.iter_rows()]
        self.first = next((at for at, row in enumerate(self.values) if any(_is_said(cell.value) for cell in row)), None)
        if self.first is None:
            self._fault(1, 1, "the sheet is empty", "the first row names keys of a stream")
        self.columns = [] if self.first is None else self._columns(dict(columns or {}))

    def _opened(self, sheet: str | None, *, data_only: bool) -> Any:
        try:
            import openpyxl
        except ImportError as error:
            help = "pip install 'tautwire[sheets]'"
            raise FileError("openpyxl is not installed", code="file::xlsx", path=self.path, help=help) from error
        from zipfile import BadZipFile

        from openpyxl.utils.exceptions import InvalidFileException

        try:
            book = openpyxl.load_workbook(self.path, data_only=data_only)
        except OSError as error:
            why = f"{self.path}: {error.strerror or error}"
            raise FileError(why, code="file::unreadable", path=self.path) from error
        except (BadZipFile, InvalidFileException, KeyError, ValueError) as error:
            help = "save it as an Excel workbook (.xlsx)"
            raise FileError(f"{self.path} is no xlsx file", code="file::xlsx", path=self.path, help=help) from error
        if sheet is None:
            return book.worksheets[0]
        if sheet not in book.sheetnames:
            there = ", ".join(book.sheetnames)
            message = f"{self.path} has no sheet `{sheet}`"
            raise FileError(message, code="file::sheet", path=self.path, help=f"there are: {there}")
        return book[sheet]

    def _fault(self, row: int, column: int, message: str, help: str) -> None:
        self.faults.append(Diagnostic(CODE, "error", message, help, self.path, row, column))

    def _columns(self, given: dict[str, str | None]) -> list[Column]:
        assert self.first is not None
        found: list[Column] = []
        names = {str(cell.value).strip(): cell for cell in self.values[self.first] if _is_said(cell.value)}
        for name, cell in names.items():
            key, unit = self._key(name, given)
            if key is None:
                continue
            if key.split(".")[0] not in KEYS:
                help = f"give it a key by `columns` (at the command by `--column '{name}=KEY UNIT'`), or none"
                self._fault(cell.row, cell.column, f"a stream has no key `{name}`", help)
            elif key in (one.key for one in found):
                self._fault(cell.row, cell.column, f"two columns are `{key}`", "leave one of them out")
            else:
                found.append(Column(cell.column - 1, key, unit))
        for name in given.keys() - names.keys():
            self._fault(self.first + 1, 1, f"no column has the heading `{name}`", f"there are: {', '.join(names)}")
        return found

    @staticmethod
    def _key(name: str, given: dict[str, str | None]) -> tuple[str | None, str | None]:
        if name in given:
            words = (given[name] or "").split(maxsplit=1)
            return (words[0] if words else None), (words[1] if len(words) == 2 else None)
        parts = HEADING.fullmatch(name)
        if parts is None:
            return name, None
        return parts["key"], parts["square"] or parts["round"] or None

    def rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        """The number of each row, and its cells by their keys; none of a row that is empty or a remark."""
        for at in range((self.first or 0) + 1, len(self.values)):
            cells = {}
            if str(self.values[at][0].value or "").lstrip().startswith("#"):
                continue
            for column in self.columns:
                text = self._text(at, column)
                if text:
                    cells[column.key] = text
            if cells:
                yield at + 1, cells

    def _text(self, at: int, column: Column) -> str:
        cell, formula = self.values[at][column.number], self.formulas[at][column.number]
        value = cell.value
        fault = None
        if formula.data_type == "f" and value is None:
            fault = ("the result of this formula is not in the file", "save it in a program for spreadsheets")
        elif cell.data_type == "e":
            fault = (f"the formula of this cell failed: {value}", "mend the formula")
        elif isinstance(value, datetime.date | datetime.time | datetime.timedelta):
            fault = (f"this cell is a date or a time of day: {value}", "format the cell as text: `1 ms`")
        elif isinstance(value, str) and "\n" in value.strip():
            fault = ("this cell has several lines", "several listeners are separated by blanks")
        if fault is not None:
            self._fault(at + 1, column.number + 1, *fault)
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            return f"{_decimal(value)} {column.unit}" if column.unit else _decimal(value)
        return "" if value is None else str(value).strip()

    def held(self) -> list[tuple[int, dict[str, str]]]:
        """All rows; ``DescriptionError`` with all faults if there are some."""
        rows = list(self.rows())
        if self.faults:
            raise DescriptionError(self.faults)
        return rows


def _is_said(value: Any) -> bool:
    return value is not None and str(value).strip() != ""


def _decimal(number: float) -> str:
    """A number as descriptions write them: without an exponent, and without what binary fractions leave behind."""
    text = f"{number:.15g}"
    if "e" in text:
        text = f"{number:.18f}".rstrip("0").rstrip(".")
    return text


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",;\t#]|^\s|\s$', text) else text


def stream_table(
    path: str | os.PathLike[str], *, sheet: str | None = None, columns: Mapping[str, str | None] | None = None
) -> str:
    """A spreadsheet of streams as a CSV table, which ``stream-tables`` of a description names.

    Line *n* of the table is row *n* of the sheet, so a diagnostic of the table leads to the sheet.

    Parameters
    ----------
    path
        An xlsx file. Its first row that is not empty names keys of a stream, with the unit of numbers in brackets.
    sheet
        Which sheet; the first by default.
    columns
        Keys for headings that are none, with the unit of numbers: ``{"Period": "traffic.interval us"}``; None leaves
        a column out.

    Raises
    ------
    DescriptionError
        Cells are none of a table; all faults, each with row and column.
    FileError
        The file cannot be read, or openpyxl is not installed.

    Examples
    --------
    >>> import openpyxl, tempfile
    >>> book = openpyxl.Workbook()
    >>> for row in (["name", "talker", "listeners", "payload [B]", "Cycle"], ["s", "a", "b", 100, 0.5]):
    ...     book.active.append(row)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     book.save(f"{folder}/streams.xlsx")
    ...     print(stream_table(f"{folder}/streams.xlsx", columns={"Cycle": "traffic.interval ms"}))
    name,talker,listeners,payload,traffic.interval
    s,a,b,100 B,0.5 ms
    <BLANKLINE>
    """
    read = Sheet(path, sheet, columns)
    rows = dict(read.held())
    assert read.first is not None
    lines = [""] * read.first + [",".join(_quoted(column.key) for column in read.columns)]
    for number in range(read.first + 2, max(rows, default=0) + 1):
        cells = rows.get(number, {})
        lines.append(",".join(_quoted(cells.get(column.key, "")) for column in read.columns) if cells else "")
    return "\n".join(lines) + "\n"


def streams_of(
    path: str | os.PathLike[str], *, sheet: str | None = None, columns: Mapping[str, str | None] | None = None
) -> list[Stream]:
    """The streams of a spreadsheet, which know their rows, as :meth:`tautwire.Network.streams_from` adds them."""
    read = Sheet(path, sheet, columns)
    found = []
    for number, cells in read.held():
        keys: dict[str, Any] = {}
        for key, text in cells.items():
            *above, last = key.split(".")
            at = keys
            for one in above:
                at = at.setdefault(one, {})
            words = text.replace(",", " ").split()
            at[last] = words if key in LISTS and len(words) > 1 else _value(text)
        found.append(Stream(keys, (read.path, number)))
    return found


def _value(text: str) -> Any:
    """Numbers and words of YAML as such; all other cells are texts."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def main(arguments: Sequence[str]) -> int:
    """``tautwire import xlsx``: a table for ``stream-tables``, or with ``--base`` the description with the streams."""
    parser = argparse.ArgumentParser(prog="tautwire import xlsx")
    parser.add_argument("path", metavar="FILE", help="spreadsheet with a stream in each row")
    parser.add_argument("--sheet", metavar="NAME", help="which sheet; the first by default")
    parser.add_argument(
        "--column", metavar="HEADING=KEY", action="append", default=[], help="key of a heading, and its unit"
    )
    parser.add_argument("--base", metavar="FILE", help="description to which the streams are added")
    parser.add_argument("--to", metavar="FILE", help="file to write")
    given = parser.parse_args(arguments)
    columns = dict(one.split("=", 1) if "=" in one else (one, "") for one in given.column)
    try:
        if given.base is None:
            text = stream_table(given.path, sheet=given.sheet, columns=columns)
        else:
            from tautwire.network import load

            network = load(given.base)
            network.streams_from(given.path, sheet=given.sheet, columns=columns)
            network.core()
            text = network.own_text()
    except TautwireError as error:
        faults = error.diagnostics if isinstance(error, DescriptionError) else [error]
        for fault in faults:
            print(f"tautwire: {fault}" + (f" ({error.help})" if fault is error and error.help else ""), file=sys.stderr)
        return 2
    if given.to is None:
        sys.stdout.write(text)
        return 0
    try:
        with Path(given.to).open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        print(f"tautwire: cannot write {given.to}: {error.strerror}", file=sys.stderr)
        return 2 if isinstance(error, FileExistsError) else 3
    return 0
