"""How far many runs are: a bar on a terminal or in a notebook, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO

__all__ = ["Progress"]


class Progress:
    """A progress bar with rate and remaining time, on a terminal or in a notebook, nothing elsewhere.

    Parameters
    ----------
    total
        Steps in all.
    label
        What is being counted.
    stream
        Where to draw; standard error by default.
    shown
        Whether to draw at all.

    Examples
    --------
    >>> import io
    >>> with Progress(3, "runs", io.StringIO()) as progress:
    ...     progress.advance()
    >>> progress.done
    1
    """

    # Seconds between two drawings: many short steps do not wait for a terminal.
    INTERVAL = 0.1

    def __init__(self, total: int, label: str = "runs", stream: TextIO | None = None, shown: bool = True) -> None:
        self.total = total
        self.label = label
        self.stream = sys.stderr if stream is None else stream
        self.done = 0
        self.start = time.monotonic()
        self.drawn = self.start - self.INTERVAL
        self.notebook = _notebook() if shown and stream is None else None
        self.shown = shown and (self.stream.isatty() or self.notebook is not None)

    def __enter__(self) -> Progress:
        self._draw()
        return self

    def __exit__(self, *_: object) -> None:
        if self.notebook is not None:
            self._draw(last=True)
        elif self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()

    def advance(self, steps: int = 1) -> None:
        """Counts steps that are done."""
        self.done += steps
        self._draw()

    def _draw(self, last: bool = False) -> None:
        now = time.monotonic()
        if not self.shown or (now - self.drawn < self.INTERVAL and not last):
            return
        self.drawn = now
        line = self.line(now - self.start)
        if self.notebook is not None:
            self.notebook.update({"text/plain": line}, raw=True)
        else:
            self.stream.write("\r\x1b[K" + line)
            self.stream.flush()

    def line(self, elapsed: float) -> str:
        """The bar after ``elapsed`` seconds.

        Examples
        --------
        >>> progress = Progress(4)
        >>> progress.advance()
        >>> progress.line(2.0)
        '[#####...............] 1/4 runs, 2 s, 0.5/s, 6 s left'
        """
        filled = 20 * self.done // max(self.total, 1)
        bar = "#" * filled + "." * (20 - filled)
        text = f"[{bar}] {self.done}/{self.total} {self.label}, {elapsed:.0f} s"
        if self.done > 0 and elapsed > 0:
            text += f", {self.done / elapsed:.3g}/s"
        if 0 < self.done < self.total:
            text += f", {elapsed / self.done * (self.total - self.done):.0f} s left"
        return text


def _notebook() -> Any:
    """A display of a notebook that can be updated; none elsewhere."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    if running is None or not hasattr(running, "kernel"):
        return None
    from IPython.display import display

    return display({"text/plain": ""}, raw=True, display_id=True)
