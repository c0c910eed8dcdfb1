"""The claims of the RTnet evaluation, each as a function of one of the modules below.

What is predicted, what was calibrated and what holds by construction stands with every claim, and why
in README.md.
"""

from __future__ import annotations

import rtnet_figures
import rtnet_instants
import rtnet_plan
import rtnet_sweep
import rtnet_tcp
from tautwire.claims import Study

#: Where the claims are tested.
MODULES = (rtnet_figures, rtnet_instants, rtnet_tcp)


def finish(study: Study) -> None:
    """Writes what planned slots would give, and what was tried for figures that are not met."""
    rtnet_plan.tell(study)
    rtnet_sweep.tell(study)
