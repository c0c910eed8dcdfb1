"""The keys of networks, nodes, cables and streams as types for Python: `keys.py tautwire.schema.json`, to stdout.

`python/tautwire/keys.py` is what this writes; a test compares them. Quantities are text, and what is a mapping in the
description may be a part such as `tautwire.Periodic`.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

HEAD = '''"""Keys of descriptions, with their types. Made from the schema by ``tools/keys.py``; do not edit.

The classes ``...Keys`` are of keyword arguments, the classes ``...Attributes`` of attributes, where a key that is not
stated is None. What each key means: ``docs/guide/description.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from tautwire.describe import Part

__all__ = [
{names}]

# A mapping of the description, or a part that makes one.
Described = Mapping[Any, Any] | Part
'''

#: Each kind, with the keys that arguments of their own have.
KINDS = {
    "Network": ((), ("name",)),
    "Node": (("node",), ("type",)),
    "Link": (("link",), ("between",)),
    "Stream": (("stream",), ("name", "talker", "listeners")),
}


def type_of(said: Mapping[str, Any]) -> str:
    """The type of a value, as Python writes it."""
    for choice in ("anyOf", "oneOf"):
        if choice in said:
            return union(type_of(one) for one in said[choice])
    if "enum" in said:
        values = said["enum"]
        return "bool" if True in values else f"Literal[{', '.join(json.dumps(one) for one in values)}]"
    kinds = said.get("type", "object")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    names = {"integer": "int", "boolean": "bool", "object": "Described"}
    found = []
    for kind in kinds:
        if kind == "array":
            found.append(f"Sequence[{type_of(said['items'])}]" if "items" in said else "Sequence[Any]")
        elif kind == "number":
            # A description takes a fraction as text.
            found.append("str")
        elif kind != "null":
            found.append(names.get(kind, "str"))
    return union(found)


def union(types: Iterable[str]) -> str:
    """The types, each once; names may be numbers and truths in YAML, and are text in Python."""
    parts = dict.fromkeys(part for one in types for part in one.split(" | "))
    if "str" in parts:
        parts = {part: None for part in parts if part not in ("int", "bool")} if len(parts) < 4 else parts
    return " | ".join(parts)


def entries(properties: Mapping[str, Any], optional: bool) -> str:
    """A line for each key, and what it means."""
    lines = []
    for key, said in properties.items():
        kind = type_of(said)
        if len(kind) > 80:
            kind = "Sequence[str]"
        if optional:
            # What is read has keys of its own as attributes.
            kind = "Any" if "Described" in kind else f"{kind} | None"
        lines.append(f"    {key.replace('-', '_')}: {kind}")
        meaning = f'"""{said["description"].replace(chr(34), chr(39))}"""'
        lines += textwrap.wrap(meaning, 116, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def module(schema: Mapping[str, Any]) -> str:
    """The text of the module."""
    names = sorted([f"{kind}Keys" for kind in KINDS] + [f"{kind}Attributes" for kind in KINDS if kind != "Network"])
    parts = [HEAD.replace("{names}", "".join(f'    "{name}",\n' for name in names))]
    for kind, (place, own) in KINDS.items():
        properties = schema["$defs"][place[0]]["properties"] if place else schema["properties"]
        rest = {key: said for key, said in properties.items() if key not in own}
        what = {"Network": "a network", "Node": "a node", "Link": "a cable", "Stream": "a stream"}[kind]
        head = f'\nclass {kind}Keys(TypedDict, total=False):\n    """Keys of {what}."""\n'
        parts.append(f"{head}\n{entries(rest, False)}\n")
        if kind != "Network":
            head = f'\nclass {kind}Attributes:\n    """Keys of {what} as attributes."""\n'
            parts.append(f"{head}\n{entries(properties, True)}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(module(json.load(file)), end="")
