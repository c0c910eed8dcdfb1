"""Networks and results as notebooks show them: plain HTML tables, every text of a description escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

__all__ = ["counted", "microseconds", "network_html", "preformatted", "results_html"]

# Rows of a table in a notebook; the tables of results have all.
ROWS = 100

# From the best to the worst; the first two are as they should be.
VERDICTS = ("no-requirement", "proven", "not-proven", "may-be-lost", "missed", "refused", "contradiction")


def microseconds(ps: int | None) -> str:
    """Picoseconds as microseconds, to the nearest nanosecond, as the tables of the command have them.

    Examples
    --------
    >>> microseconds(148_194_500), microseconds(-499), microseconds(None)
    ('148.195', '0.000', '-')
    """
    if ps is None:
        return "-"
    ns = (abs(ps) + 500) // 1000
    sign = "-" if ps < 0 and ns else ""
    return f"{sign}{ns // 1000}.{ns % 1000:03}"


def counted(count: int, name: str) -> str:
    """How many there are of something.

    Examples
    --------
    >>> counted(1, "bridge"), counted(3, "link")
    ('1 bridge', '3 links')
    """
    return f"{count} {name}{'' if count == 1 else 's'}"


def preformatted(text: str) -> str:
    """A text whose columns stay below each other.

    Examples
    --------
    >>> preformatted("a < b")
    '<pre>a &lt; b</pre>'
    """
    return f"<pre>{escape(text)}</pre>"


def results_html(title: str, summary: Mapping[str, Any]) -> str:
    """A row for each stream at each listener: deadline, bound, what a run observed, margin and verdict."""
    has_bounds, has_run = "verification" in summary, "run" in summary
    heading = ["stream", "listener", "deadline us"]
    heading += ["bound us"] * has_bounds + ["observed max us", "loss ppm"] * has_run
    heading += ["margin us", "verdict"] * has_bounds
    ends = [(one, end) for one in summary["streams"] for end in one["listeners"] if _is_described(one)]
    if len(ends) > ROWS:
        ends.sort(key=lambda pair: (-VERDICTS.index(pair[1].get("verdict", "proven")), pair[1].get("margin_ps", 0)))
    rows = []
    for one, end in ends[:ROWS]:
        row = [one["name"], end["listener"], microseconds(one.get("deadline_ps"))]
        if has_bounds:
            bound = end.get("bound", {})
            row.append(microseconds(bound["delay_max_ps"]) if "delay_max_ps" in bound else "unbounded")
        if has_run:
            row.append(microseconds(end.get("observed", {}).get("observed_max_ps")))
            row.append(str(end.get("frames", {}).get("loss_ppm", "-")))
        if has_bounds:
            row.append(microseconds(end.get("margin_ps")))
            row.append(" ".join(end[key] for key in ("verdict", "proviso") if key in end).replace("-", " "))
        rows.append(row)
    return _table(title, heading, rows, len(ends))


def network_html(title: str, document: Mapping[str, Any]) -> str:
    """A row for each stream that the description itself has."""
    streams = document.get("streams") or []
    heading = ["stream", "talker", "listeners", "priority", "size", "traffic", "deadline"]
    rows = []
    for one in streams[:ROWS]:
        size = next((one[key] for key in ("payload", "frame", "datagram") if key in one), "-")
        cells = [one.get("name", "-"), one.get("talker", "-"), one.get("listeners", "-"), one.get("priority", 0), size]
        rows.append([_words(cell) for cell in [*cells, one.get("traffic", "-"), one.get("deadline", "-")]])
    return _table(title, heading, rows, len(streams))


def _is_described(stream: Mapping[str, Any]) -> bool:
    """Only streams of protocols have a colon in their names; those are shown if something is wrong with them."""
    return ":" not in stream["name"] or stream.get("verdict", "proven") not in VERDICTS[:2]


def _words(value: Any) -> str:
    """A value of a description in a cell."""
    if isinstance(value, Mapping):
        rest = ", ".join(f"{key} {_words(part)}" for key, part in value.items() if key != "type")
        return f"{value['type']} {rest}".strip() if "type" in value else rest
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_words(part) for part in value)
    return str(value)


def _table(caption: str, heading: Sequence[str], rows: Sequence[Sequence[str]], count: int) -> str:
    """A table; ``count`` is how many rows there are in all."""
    if count > len(rows):
        caption += f"; {len(rows)} of {count} rows"
    head = "".join(f"<th>{escape(name)}</th>" for name in heading)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
