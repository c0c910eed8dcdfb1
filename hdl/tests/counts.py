"""How many cases a bench tries: ``TAUTWIRE_TIMES`` multiplies it, as it does for the searches of the Rust tests."""

from __future__ import annotations

import os


def times(cases: int) -> int:
    return cases * int(os.environ.get("TAUTWIRE_TIMES", "1"))
