"""Texts of descriptions: their values replaced by keys, and what they say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tautwire import _core
from tautwire.describe import plain, verbatim
from tautwire.errors import UnknownNameError

# A text that needs no quotes in YAML, in brackets too.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._/+-]*[A-Za-z0-9%]|[A-Za-z0-9]")

#: Parts of a description that an empty one has not.
PARTS = ("nodes", "links", "streams")


def changed_text(text: str, values: Mapping[str, Any]) -> str:
    """The text of a description with other values, by the keys that lead to them; comments and order stay.

    Raises
    ------
    UnknownNameError
        Nothing in the description is named so.

    Examples
    --------
    >>> print(changed_text("name: n   # a comment\\nrun: {seed: 1}", {"run.seed": 7, "run.duration": "10 ms"}))
    name: n   # a comment
    run: {seed: 7, duration: 10 ms}
    """
    try:
        return _core.with_values(text, [(key, _written(value)) for key, value in values.items()])
    except ValueError as error:
        raise UnknownNameError(str(error), code="key::unknown") from error


def _written(value: Any) -> str:
    value = plain(verbatim(value))
    is_plain = isinstance(value, str) and value != "null" and _PLAIN.fullmatch(value)
    return value if is_plain else json.dumps(value)


def said(text: str) -> dict[str, Any] | None:
    """What a text says, however it says it."""
    found = _core.plain_document(text)
    document = None if found is None else json.loads(found)
    if not isinstance(document, dict):
        return None
    return {key: value for key, value in document.items() if value or key not in PARTS}


def numbered(value: Any) -> Any:
    """Keys that are whole numbers as such: classes and VLANs."""
    if isinstance(value, dict):
        whole = {key: int(key) if key.isdecimal() and str(int(key)) == key else key for key in value}
        return {whole[key]: numbered(one) for key, one in value.items()}
    return [numbered(one) for one in value] if isinstance(value, list) else value
