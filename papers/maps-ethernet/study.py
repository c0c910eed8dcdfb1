"""The claims of the MAPS evaluation of deterministic Ethernet, each as a function of one of the modules below.

What is predicted, what was calibrated and what holds by construction stands with every claim, and why in README.md.
"""

from __future__ import annotations

import maps_clocks_and_packets as packets
import maps_figures as figures
import maps_latency as latency
import maps_mechanism as mechanism
import maps_sensitivity as sensitivity
import maps_tables as tables
from tautwire.claims import Study

#: Where the claims are tested.
MODULES = (latency, mechanism, packets)


def finish(study: Study) -> None:
    """Runs the rest of the matrix, writes the tables and what they hang on, draws the figures."""
    tables.write(study)
    sensitivity.tell(study)
    figures.draw(study)
