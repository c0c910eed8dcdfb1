"""Changes of a description in its text: what did not change stays as it is, with its comments, order and layout."""

from __future__ import annotations

import functools
import json
import re
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import yaml

__all__ = ["Edited", "edited", "keys_at"]

# Texts that YAML takes for texts without quotes, in brackets too; words that it may take for something else are not.
_PLAIN = re.compile(r"(?![-+.0-9]+(?:[eE][-+0-9]+)?$)[A-Za-z0-9][A-Za-z0-9 ._/+-]*[A-Za-z0-9%]|[A-Za-z]")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
#: The mark of the order of octets, with which some editors begin a file.
_MARK = "\ufeff"
# What may follow an element in its last line: a comma and a comment.
_REST = re.compile(r"[ \t]*,?[ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)")
#: The greatest length of a line that has a mapping or list.
WIDTH = 120


@dataclass(frozen=True)
class Edited:
    """A text after changes.

    Parameters
    ----------
    before, text
        What it was and is.
    edits
        Start and end of each change in what it was, and what is there now; in order.
    """

    before: str
    text: str
    edits: tuple[tuple[int, int, str], ...]

    def place_before(self, line: int, column: int) -> tuple[int, int] | None:
        """Where a place of the text was before; none if a change made it."""
        at = _offset(self.text, line, column)
        moved = 0
        for start, end, new in self.edits:
            if at < start + moved:
                break
            if at < start + moved + len(new):
                return None
            moved += len(new) - (end - start)
        at -= moved
        begin = self.before.rfind("\n", 0, at) + 1
        return self.before.count("\n", 0, at) + 1, at - begin + 1


class _CannotEditError(Exception):
    """A change that no edit of the text makes."""


def edited(text: str, before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Edited | None:
    """The text with another document in place of the one that it has; none if only a new text can say it.

    Parameters
    ----------
    text
        A description in YAML.
    before, after
        What it says, and what it is to say.

    Examples
    --------
    >>> found = edited("a: {b: 1}   # mine\\nc: 2\\n", {"a": {"b": 1}, "c": 2}, {"a": {"b": 3, "d": "x y"}})
    >>> print(found.text, end="")
    a: {b: 3, d: x y}   # mine
    """
    if text.startswith(_MARK):
        # Places that YAML gives do not count the mark.
        found = edited(text[1:], before, after)
        if found is None:
            return None
        shifted = tuple((start + 1, end + 1, new) for start, end, new in found.edits)
        return Edited(text, _MARK + found.text, shifted)
    root = _composed(text)
    if root is None:
        return None
    editor = _Editor(text, root)
    try:
        editor.change(root, before, after, 0, False)
    except _CannotEditError:
        return None
    edits = tuple(sorted(editor.edits))
    if any(one[1] > other[0] for one, other in pairwise(edits)):
        return None
    at, parts = 0, []
    for start, end, value in edits:
        parts += [text[at:start], value]
        at = end
    return Edited(text, "".join([*parts, text[at:]]), edits)


def keys_at(text: str, line: int, column: int) -> list[Any]:
    """The keys, names and numbers of elements that lead to a place of a text.

    Examples
    --------
    >>> keys_at("a: 1\\nb:\\n  - {c: 2, d: 3}\\n", 3, 12)
    ['b', 0, 'd']
    """
    node, at = _composed(text), _offset(text, line, column)
    found: list[Any] = []
    while node is not None:
        if isinstance(node, yaml.MappingNode):
            starts = [key.start_mark.index for key, _ in node.value]
        elif isinstance(node, yaml.SequenceNode):
            # The dash of an element is before it.
            starts = [one.start_mark.index - (0 if node.flow_style else 2) for one in node.value]
        else:
            break
        number = bisect_right(starts, at) - 1
        if number < 0:
            break
        if isinstance(node, yaml.MappingNode):
            key, node = node.value[number]
            found.append(key.value)
        else:
            node = node.value[number]
            found.append(number)
    return found


@functools.lru_cache(maxsize=2)
def _composed(text: str) -> yaml.Node | None:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        found: yaml.Node | None = yaml.compose(text, Loader=loader)
    except yaml.YAMLError:
        return None
    return found


def _offset(text: str, line: int, column: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
    return at + column - 1


class _Editor:
    """Collects the edits of a text."""

    def __init__(self, text: str, root: yaml.Node) -> None:
        self.text = text
        self.edits: list[tuple[int, int, str]] = []
        self.shared: set[int] = set()
        seen: set[int] = set()
        waiting = [root]
        while waiting:
            node = waiting.pop()
            # An alias is its anchor: a change would be one of both.
            (self.shared if id(node) in seen else seen).add(id(node))
            if isinstance(node, yaml.MappingNode):
                waiting += [part for pair in node.value for part in pair]
            elif isinstance(node, yaml.SequenceNode):
                waiting += node.value

    def change(self, node: yaml.Node, before: Any, after: Any, indent: int, in_flow: bool) -> None:
        """Changes what a node says; ``indent`` is that of what may be below it."""
        if before == after and type(before) is type(after):
            return
        if id(node) in self.shared:
            raise _CannotEditError
        if isinstance(node, yaml.MappingNode) and isinstance(before, Mapping) and isinstance(after, Mapping):
            done = self._mapping(node, before, after, in_flow)
        elif isinstance(node, yaml.SequenceNode) and isinstance(before, list) and isinstance(after, list):
            done = self._sequence(node, before, after, in_flow)
        else:
            done = False
        if not done:
            self._replace(node, after, indent, in_flow)

    def _replace(self, node: yaml.Node, after: Any, indent: int, in_flow: bool) -> None:
        start, end = node.start_mark.index, self._end(node)
        value = _flow(after)
        begin = self.text.rfind("\n", 0, start) + 1
        if not in_flow and len(value) + start - begin > WIDTH and isinstance(after, Mapping | list):
            start = len(self.text[:start].rstrip(" "))
            value = "\n" + _block(after, indent)
        elif start == end:
            value = " " + value
        self.edits.append((start, end, value))

    def _mapping(
        self, node: yaml.MappingNode, before: Mapping[Any, Any], after: Mapping[Any, Any], in_flow: bool
    ) -> bool:
        was = {str(key): value for key, value in before.items()}
        wanted = {str(key): value for key, value in after.items()}
        pairs = {key.value: (key, value) for key, value in node.value}
        kept = [name for name in pairs if name in wanted]
        if not kept or "<<" in pairs or set(pairs) != set(was):
            return False
        flow = in_flow or bool(node.flow_style)
        column = node.value[0][0].start_mark.column
        for name in kept:
            self.change(pairs[name][1], was[name], wanted[name], column + 2, flow)
        parts = [(key, value, key.value in wanted) for key, value in node.value]
        self._remove(parts, flow)
        new = [(key, value) for key, value in after.items() if str(key) not in pairs]
        end = self._end(pairs[kept[-1]][1])
        if flow:
            self._add(end, "".join(f", {_flow(key)}: {_flow(value)}" for key, value in new))
        else:
            lines = "".join("\n" + _entry(key, value, column) for key, value in new)
            self._add(self._line_end(end), lines)
        return True

    def _sequence(self, node: yaml.SequenceNode, before: list[Any], after: list[Any], in_flow: bool) -> bool:
        if len(node.value) != len(before):
            return False
        flow = in_flow or bool(node.flow_style)
        if len(before) == len(after) and not _are_moved(before, after):
            pairs = list(zip(range(len(before)), range(len(after)), strict=True))
        else:
            places = {_identity(one): number for number, one in enumerate(before)}
            names = [_identity(one) for one in after]
            if None in places or None in names or len(places) < len(before) or len(set(names)) < len(names):
                return False
            pairs = [(places[name], number) for number, name in enumerate(names) if name in places]
            if [old for old, _ in pairs] != sorted(old for old, _ in pairs):
                return False
        if not pairs:
            return False
        column = node.start_mark.column
        if not flow:
            dash = _dash(self.text, node.value[0])
            column = dash - (self.text.rfind("\n", 0, dash) + 1)
        for old, new in pairs:
            one = node.value[old]
            self.change(one, before[old], after[new], one.start_mark.column + 2, flow)
        stay = {old for old, _ in pairs}
        self._remove([(one, one, number in stay) for number, one in enumerate(node.value)], flow)
        known = {new: old for old, new in pairs}
        run: list[Any] = []
        last: int | None = None
        for number, value in enumerate(after):
            if number not in known:
                run.append(value)
                continue
            if run and last is None:
                self._begin(node.value[known[number]], run, column, flow)
            elif run:
                self._follow(node.value[known[last or 0]], run, column, flow)
            run, last = [], number
        if run and last is not None:
            self._follow(node.value[known[last]], run, column, flow)
        return True

    def _follow(self, node: yaml.Node, new: Sequence[Any], column: int, flow: bool) -> None:
        """Adds elements behind one that is there."""
        end = self._end(node)
        if flow:
            self._add(end, "".join(f", {_flow(value)}" for value in new))
        else:
            in_line = bool(getattr(node, "flow_style", True))
            lines = "".join("\n" + _item(value, column, in_line) for value in new)
            self._add(self._line_end(end), lines)

    def _begin(self, node: yaml.Node, new: Sequence[Any], column: int, flow: bool) -> None:
        """Adds elements before one that is there."""
        if flow:
            self._add(node.start_mark.index, "".join(f"{_flow(value)}, " for value in new))
        else:
            in_line = bool(getattr(node, "flow_style", True))
            at = self.text.rfind("\n", 0, _dash(self.text, node)) + 1
            self._add(at, "".join(_item(value, column, in_line) + "\n" for value in new))

    def _remove(self, parts: Sequence[tuple[yaml.Node, yaml.Node, bool]], flow: bool) -> None:
        """Removes entries: where each begins and ends, and whether it stays."""
        for number, (first, last, stays) in enumerate(parts):
            if stays:
                continue
            start, end = first.start_mark.index, self._end(last)
            if not flow:
                if first is last:
                    start = _dash(self.text, first)
                begin = self.text.rfind("\n", 0, start) + 1
                if not self.text[begin:start].strip():
                    self.edits.append((begin, min(self._line_end(end) + 1, len(self.text)), ""))
                    continue
            begin = self.text.rfind("\n", 0, start) + 1
            if flow and not self.text[begin:start].strip():
                # It has lines of its own, with its comment: what is before it keeps its comma and its comment.
                rest = _REST.match(self.text, end)
                if rest is not None or number + 1 == len(parts):
                    self.edits.append((begin, rest.end(), "") if rest is not None else (start, end, ""))
                    continue
            after = next((part for part in parts[number + 1 :] if part[2]), None)
            if any(part[2] for part in parts[:number]):
                # From the end of what is before it: the comma goes with it.
                start = self._end(parts[number - 1][1])
            elif after is not None:
                end = parts[number + 1][0].start_mark.index
            else:
                raise _CannotEditError
            self.edits.append((start, end, ""))

    def _add(self, at: int, value: str) -> None:
        if value:
            self.edits.append((at, at, value))

    def _end(self, node: yaml.Node) -> int:
        """The end of what a node has, without comments and blanks that follow."""
        if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            return self._end(last[1] if isinstance(last, tuple) else last)
        start, end = node.start_mark.index, node.end_mark.index
        found: int = max(start, len(self.text[:end].rstrip()) if end > start else end)
        return found

    def _line_end(self, at: int) -> int:
        found: int = self.text.find("\n", at)
        return len(self.text) if found < 0 else found


def _dash(text: str, node: yaml.Node) -> int:
    """Where the dash of an element is."""
    before: str = text[: node.start_mark.index].rstrip(" ")
    if not before.endswith("-"):
        raise _CannotEditError
    return len(before) - 1


def _are_moved(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Whether an element of the one has another place in the other."""
    places = {_identity(one): number for number, one in enumerate(before)}
    return any(places.get(_identity(one), number) != number for number, one in enumerate(after) if _identity(one))


def _identity(value: Any) -> Hashable:
    """What tells an element from others: its name, or the ends of a cable."""
    if isinstance(value, Mapping):
        if value.get("name") is not None:
            return ("name", str(value["name"]))
        if isinstance(value.get("between"), list):
            return ("between", *map(str, value["between"]))
    return None


def _flow(value: Any) -> str:
    """A value in a line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_flow(key)}: {_flow(one)}' for key, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, str):
        is_plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
        return str(value) if is_plain else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)


def _entry(key: Any, value: Any, column: int) -> str:
    """A key and its value in lines of their own."""
    line = f"{' ' * column}{_flow(key)}: {_flow(value)}"
    if len(line) <= WIDTH or not isinstance(value, Mapping | list):
        return line
    return f"{' ' * column}{_flow(key)}:\n{_block(value, column + 2)}"


def _block(value: Any, column: int) -> str:
    if isinstance(value, Mapping):
        return "\n".join(_entry(key, one, column) for key, one in value.items())
    return "\n".join(_item(one, column, True) for one in value)


def _item(value: Any, column: int, in_line: bool) -> str:
    """An element with its dash, in a line if it fits and the others are."""
    line = f"{' ' * column}- {_flow(value)}"
    if (in_line and len(line) <= WIDTH) or not (isinstance(value, Mapping) and value):
        return line
    lines = _block(value, column + 2)
    return f"{' ' * column}- {lines[column + 2 :]}"
