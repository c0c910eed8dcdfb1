"""The command ``tautwire``, as ``python -m tautwire`` or the wheel's console script."""

from __future__ import annotations

import sys

from tautwire import _core


def main() -> int:
    """Runs the command with this process's arguments and returns its exit code."""
    if sys.argv[1:2] == ["study"] and sys.argv[2:3] not in (["--help"], ["-h"]):
        # A part of this package: its executors and functions are Python's.
        from tautwire.studies.file import main as study

        return study(sys.argv[2:])
    if sys.argv[1:3] == ["import", "xlsx"] and not {"--help", "-h"} & set(sys.argv[3:]):
        # openpyxl is a package of Python.
        from tautwire.spreadsheets import main as spreadsheet

        return spreadsheet(sys.argv[3:])
    return _core.run_command(["tautwire", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
