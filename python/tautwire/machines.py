"""Data-plane machines in bulk: arrays of arrivals in, arrays of decisions out.

They are the very machines that the simulator and a live bridge drive, for use as a golden model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tautwire import _core

__all__ = ["AtsSchedulers"]


class AtsSchedulers:
    """The ATS schedulers of a bridge (IEEE Std 802.1Q-2022, 8.6.5.6 and 8.6.11).

    Parameters
    ----------
    quantum_ps
        Step of the scheduler's clock.
    charged_overhead_octets
        Octets that are charged beside a frame's own.
    processing_delay_max_ps
        Added to every eligibility time.

    Examples
    --------
    >>> bank = AtsSchedulers(charged_overhead_octets=0)
    >>> group = bank.add_group(max_residence_time_ps=134_000_000)
    >>> one = bank.add_scheduler(group, rate_bps=100_000_000, burst_octets=1522)
    >>> bank.process([one] * 3, [0, 12_336_000, 24_672_000], [1522] * 3)
    array([        0, 121760000,        -1])
    """

    def __init__(
        self, *, quantum_ps: int = 1, charged_overhead_octets: int = 20, processing_delay_max_ps: int = 0
    ) -> None:
        self._bank = _core.AtsBank(
            quantum_ps=quantum_ps,
            charged_overhead_octets=charged_overhead_octets,
            processing_delay_max_ps=processing_delay_max_ps,
        )

    def add_group(self, *, max_residence_time_ps: int | None = None) -> int:
        """Adds a scheduler group and gives its number."""
        return self._bank.add_group(max_residence_time_ps=max_residence_time_ps)

    def add_scheduler(self, group: int, *, rate_bps: int, burst_octets: int) -> int:
        """Adds a scheduler, its bucket full, and gives its number."""
        return self._bank.add_scheduler(group, rate_bps=rate_bps, burst_bits=8 * burst_octets)

    def process(
        self, schedulers: Sequence[int], arrivals_ps: Sequence[int], octets: Sequence[int]
    ) -> NDArray[np.int64]:
        """Assigned eligibility times of frames, in the order of their arrival.

        Parameters
        ----------
        schedulers, arrivals_ps, octets
            Of each frame: its scheduler, when it arrived, its length from destination to FCS.

        Returns
        -------
        array of int64
            Picoseconds; -1 for a frame that is discarded.
        """
        times = self._bank.process(list(schedulers), list(arrivals_ps), list(octets))
        return np.array([-1 if time is None else time for time in times], dtype=np.int64)
