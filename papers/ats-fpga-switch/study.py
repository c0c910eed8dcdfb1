"""The claims of the FPGA switch, each as a function of one of the modules below.

What is predicted, what was calibrated and what holds by construction stands with every claim, and
why in README.md. Tolerances are those of the measurement: exact for the logic analyser's figures,
1 us for latencies between cards, 10 % for standard deviations, for their sampling is unpublished.
"""

from __future__ import annotations

import cards
import components
import hardware
import latency
import mechanism
import shaping
from figures import draw, tell

#: Where the claims are tested.
MODULES = (components, cards, shaping, latency, mechanism)


#: Behind the claims: figures of what was run, those of the contention experiments, and the hardware's columns. The last
#: needs Verilator, and is left out without it.
FINISH = (draw, tell, hardware.tell, hardware.tell_experiments)
