"""What can go wrong, as exceptions with one base class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["DescriptionError", "Diagnostic", "FileError", "TautwireError", "UnknownNameError"]


@dataclass(frozen=True)
class Diagnostic:
    """A fault of a description, and its place.

    Parameters
    ----------
    code
        Stable name, as ``stream::unknown-node``.
    severity
        ``"error"`` or ``"warning"``.
    message
        What is wrong.
    help
        The remedy, if one is known.
    path
        The file or the name of the text.
    line, column
        Place in it, from 1.
    source
        The file and the line of Python that stated what is wrong, if it was stated in Python.
    """

    code: str
    severity: str
    message: str
    help: str | None
    path: str
    line: int
    column: int
    source: tuple[str, int] | None = None

    def __str__(self) -> str:
        """The fault in one line, with the place of Python if it has one.

        Examples
        --------
        >>> print(Diagnostic("unit::missing", "error", "`100` has no unit", "write `100 us`", "net.yaml", 7, 12))
        net.yaml:7:12: error[unit::missing]: `100` has no unit (write `100 us`)
        """
        place = f"{self.path}:{self.line}:{self.column}" if self.source is None else ":".join(map(str, self.source))
        text = f"{place}: {self.severity}[{self.code}]: {self.message}"
        return f"{text} ({self.help})" if self.help else text


class TautwireError(Exception):
    """Base of all exceptions of Tautwire.

    Attributes
    ----------
    code : str
        Stable name of the fault.
    path : str or None
        The file or text it is about.
    help : str or None
        What would be right.

    Examples
    --------
    >>> error = TautwireError("no such thing", code="test::missing", help="look elsewhere")
    >>> error.code, error.path, error.help
    ('test::missing', None, 'look elsewhere')
    """

    def __init__(self, message: str, *, code: str, path: str | None = None, help: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.path = path
        self.help = help

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles with its attributes, so that it crosses processes."""
        return (_again, (type(self), str(self), self.code, self.path, self.help))


def _again(kind: type[TautwireError], message: str, code: str, path: str | None, help: str | None) -> TautwireError:
    return kind(message, code=code, path=path, help=help)


class DescriptionError(TautwireError):
    """A description with faults; all of them are in ``diagnostics``.

    ``code``, ``path`` and ``help`` are those of the first error.

    Examples
    --------
    >>> import tautwire
    >>> try:
    ...     tautwire.load_text("nodes: 3")
    ... except DescriptionError as error:
    ...     len(error.diagnostics) > 0
    True
    """

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        first = next(one for one in diagnostics if one.severity == "error")
        message = "\n".join(str(one) for one in diagnostics)
        super().__init__(message, code=first.code, path=first.path, help=first.help)
        self.diagnostics = tuple(diagnostics)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles with its diagnostics, so that it crosses processes."""
        return (type(self), (self.diagnostics,))


class FileError(TautwireError):
    """A file that cannot be read or written.

    Examples
    --------
    >>> import tautwire
    >>> try:
    ...     tautwire.load("does-not-exist.yaml")
    ... except FileError as error:
    ...     error.path
    'does-not-exist.yaml'
    """


class UnknownNameError(TautwireError):
    """A stream, node or listener that the network does not have.

    Examples
    --------
    >>> raise UnknownNameError("no stream `x`", code="stream::unknown", help="there are: a, b")
    Traceback (most recent call last):
    tautwire.errors.UnknownNameError: no stream `x`
    """
