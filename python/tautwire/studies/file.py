"""Study files in YAML, and the command ``tautwire study``."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tautwire import _core
from tautwire.errors import DescriptionError, Diagnostic, FileError, TautwireError
from tautwire.studies import Range, Study, StudyError, grid, sample, study

__all__ = ["StudyFile", "main", "read"]

# Keys of a study file, with what they say.
KEYS = {
    "network": "the description, relative to this file",
    "parameters": "values by the keys of the description that they change",
    "sample": "{method: random or latin-hypercube, count: 100, draw: 1}; without it all combinations",
    "seeds": "a list, or {from: 1, count: 10}",
    "run": "verify, bounds or simulate",
    "duration": "simulated time, instead of the description's",
    "rows": "network or listeners",
    "metrics": "a list of figures",
    "out": "the folder of the results, relative to this file",
}
AXIS = {"values", "from", "to", "steps", "log", "keys"}


@dataclass
class StudyFile:
    """A study file that was read.

    Attributes
    ----------
    network, out : Path
        The description, and the folder of the results.
    parameters : list of dict
        Sets of parameters.
    arguments : dict
        Further arguments of :func:`tautwire.study`.
    """

    network: Path
    out: Path
    parameters: list[dict[str, Any]]
    arguments: dict[str, Any] = field(default_factory=dict)


def read(path: str | os.PathLike[str]) -> StudyFile:
    """Reads a study file.

    Raises
    ------
    FileError
        It cannot be read.
    DescriptionError
        It has faults; the first one is in it, with its line.
    """
    name = os.fspath(path)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{name}: {error}", code="file::unreadable", path=name) from error
    return _Reader(name, text).read()


class _Reader:
    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    def fault(self, key: str, message: str, help: str) -> DescriptionError:
        """A fault at the line of a key."""
        found = re.search(rf"^[\s{{,-]*[\"']?{re.escape(key)}[\"']?\s*:", self.text, re.MULTILINE) if key else None
        at = 0 if found is None else self.text.index(key, found.start())
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        return DescriptionError([Diagnostic("study::key", "error", message, help, self.name, line, column)])

    def read(self) -> StudyFile:
        """The study, or its first fault."""
        plain = _core.plain_document(self.text)
        said = None if plain is None else json.loads(plain)
        if not isinstance(said, dict):
            # What is no YAML has a fault with its place as a description, too.
            faults = [Diagnostic(*one) for one in _core.load_text(self.name, self.text)[1]]
            syntax = [one for one in faults if one.code.startswith("text::")]
            if syntax:
                raise DescriptionError(syntax)
            raise self.fault("", "a study file is a mapping", f"its keys are {', '.join(KEYS)}")
        for key in said:
            if key not in KEYS:
                raise self.fault(key, f"no key `{key}`", f"the keys of a study are {', '.join(KEYS)}")
        for key in ("network", "parameters"):
            if key not in said:
                raise self.fault("", f"`{key}` is missing", f"`{key}:` {KEYS[key]}")
        folder = Path(self.name).parent
        axes, keys = self.axes(said["parameters"])
        arguments = {name: said[name] for name in ("run", "duration", "rows", "metrics") if name in said}
        if "seeds" in said:
            arguments["seeds"] = self.seeds(said["seeds"])
        out = said.get("out", f"{Path(self.name).stem}.results")
        return StudyFile(
            folder / str(said["network"]),
            folder / str(out),
            self.sets(said.get("sample"), axes),
            {**arguments, "keys": keys},
        )

    def axes(self, said: Any) -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
        """Values by parameter, and the keys that each changes."""
        help = "write `streams.video.payload: [400 B, 800 B]`, or `{from: 400 B, to: 800 B, steps: 5}`"
        if not isinstance(said, dict) or not said:
            raise self.fault("parameters", "parameters are a mapping of keys of the description", help)
        axes: dict[str, Any] = {}
        keys: dict[str, tuple[str, ...]] = {}
        for name, axis in said.items():
            if isinstance(axis, list) and axis:
                axes[name] = axis
                continue
            if not isinstance(axis, dict) or not axis.keys() <= AXIS or ("values" in axis) == ("from" in axis):
                raise self.fault(name, f"`{name}` needs a list of values or a range", help)
            if "keys" in axis:
                keys[name] = (axis["keys"],) if isinstance(axis["keys"], str) else tuple(axis["keys"])
            try:
                axes[name] = (
                    axis["values"]
                    if "values" in axis
                    else Range(axis["from"], axis.get("to"), axis.get("steps"), bool(axis.get("log", False)))
                )
            except (ValueError, TypeError) as error:
                raise self.fault(name, f"`{name}`: {error}", help) from error
        return axes, keys

    def sets(self, said: Any, axes: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The sets of parameters."""
        try:
            if said is None:
                return grid(axes)
            if not isinstance(said, dict) or not {"count"} <= said.keys() <= {"count", "method", "draw"}:
                raise ValueError(f"a sample is {KEYS['sample']}")
            return sample(said["count"], axes, method=said.get("method", "latin-hypercube"), draw=said.get("draw", 1))
        except (ValueError, TypeError) as error:
            key = "parameters" if said is None else "sample"
            raise self.fault(key, str(error), f"`{key}:` {KEYS[key]}") from error

    def seeds(self, said: Any) -> list[int]:
        """The seeds."""
        if isinstance(said, list) and all(isinstance(one, int) for one in said):
            return said
        if isinstance(said, dict) and said.keys() == {"from", "count"}:
            return list(range(said["from"], said["from"] + said["count"]))
        raise self.fault("seeds", "seeds are whole numbers", f"`seeds:` {KEYS['seeds']}")


def main(arguments: Sequence[str]) -> int:
    """The command ``tautwire study``: 0 all tasks are done, 1 some failed, 2 wrong input, 3 failure."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except StudyError as error:
        _say(f"tautwire: {error}" + (f" ({error.help})" if error.help else ""))
        return 2
    except (TautwireError, ValueError) as error:
        _say(str(error))
        return 2
    except KeyboardInterrupt:
        _say("tautwire: stopped; the same command goes on from here")
        return 3


def _run(options: argparse.Namespace) -> int:
    if os.path.isdir(options.study):
        found = Study(options.study)
        if options.repeat is not None:
            return _repeat(found, options.repeat)
    else:
        if options.repeat is not None:
            raise ValueError("tautwire: --repeat needs the folder of a study")
        said = read(options.study)
        number, _, of = options.share.partition("/")
        found = study(
            said.network,
            said.parameters,
            to=options.out or said.out,
            executor=options.executor,
            workers=options.workers,
            cluster=options.cluster,
            share=(int(number), int(of or 1)),
            anew=options.anew,
            progress=not options.quiet,
            **said.arguments,
        )
    failures = found.failures
    done = found.done
    if options.json:
        failed = [vars(one) for one in failures]
        document = {
            "folder": str(found.folder),
            "files": found.files,
            "tasks": found.tasks,
            "done": done,
            "failures": failed,
        }
        print(json.dumps(document, indent=2))
        return 1 if failures else 0
    for one in failures[:10]:
        print(f"task {one.task}: {one.error}\n  {one.command}")
    if len(failures) > 10:
        print(f"… and {len(failures) - 10} more failed")
    print(f"{found.tasks} tasks: {done} done, {len(failures)} of them failed; rows in {found.files}")
    return 1 if failures else 0


def _repeat(found: Study, task: int) -> int:
    try:
        figures = found.repeat(task)
    except TautwireError as error:
        _say(str(error))
        return 1
    except Exception:
        traceback.print_exc()
        return 1
    print(json.dumps(figures, indent=2, default=str))
    return 0


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tautwire study",
        description="Runs a study file: many runs over parameters and seeds. What is done is not done again.",
        epilog="Exit codes: 0 all tasks are done, 1 some failed, 2 wrong input, 3 stopped.",
    )
    parser.add_argument("study", help="a study file (YAML), or the folder of a study, which is shown")
    parser.add_argument("--out", help="folder of the results [default: that of the file, or FILE.results next to it]")
    parser.add_argument("--executor", choices=["serial", "processes", "dask", "ray"], default="processes")
    parser.add_argument("--workers", type=int, help="processes of this machine [default: one for each processor]")
    parser.add_argument("--cluster", help="address of a cluster of Dask or Ray")
    parser.add_argument("--share", default="0/1", metavar="I/N", help="of every N pieces the one with number I, from 0")
    parser.add_argument("--anew", action="store_true", help="remove another study that is in the folder")
    parser.add_argument("--repeat", type=int, metavar="TASK", help="do a task of a folder again, in this process")
    parser.add_argument("--quiet", action="store_true", help="draw no progress bar")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    return parser
