"""Claims about what is not run here."""

from __future__ import annotations

from tautwire.claims import Basis, Outcome, Study, claim


@claim("AVN-14", Basis.NONE)
def offset_of_the_clocks(study: Study) -> Outcome:
    """A property of two particular clocks."""
    return Outcome("-13.4 ns on average", "two particular clocks, over a time that is not told", None)


@claim("AVN-16", Basis.NONE)
def built_of_general_hardware(study: Study) -> Outcome:
    """Not a statement about behaviour."""
    return Outcome("it was built", "nothing is built of such computers here", None)
