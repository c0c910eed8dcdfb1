"""The claims of the OpenAvnu evaluation, each as a function of one of the modules below.

What is predicted, what was calibrated and what holds by construction stands with every claim, and why
in README.md.
"""

from __future__ import annotations

import avnu_figures
import avnu_further
import avnu_hypotheses
import avnu_jitter
import avnu_latency
import avnu_processor
import avnu_topologies
import avnu_untold
from tautwire.claims import Study

#: Where the claims are tested.
MODULES = (avnu_latency, avnu_jitter, avnu_untold)


def finish(study: Study) -> None:
    """Draws the figures of what was run, and runs what the authors left for later and what may explain
    the rest."""
    avnu_figures.draw(study)
    avnu_further.write(study)
    avnu_topologies.write(study)
    avnu_processor.write(study)
    avnu_hypotheses.write(study)
