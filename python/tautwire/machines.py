"""Data-plane machines in bulk: arrays of arrivals in, arrays of decisions out.

They are the very machines that the simulator and a live bridge drive, for use as a golden model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tautwire import _core

__all__ = ["AtsSchedulers", "ClockServo", "CreditBasedShaper", "Gates"]


class AtsSchedulers:
    """The ATS schedulers of a bridge (IEEE Std 802.1Q-2022, 8.6.5.6 and 8.6.11).

    Parameters
    ----------
    quantum_ps
        Step of the scheduler's clock.
    charged_overhead_octets
        Octets that are charged in addition to a frame's own.
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


class CreditBasedShaper:
    """A credit-based shaper (IEEE Std 802.1Q-2022, 8.6.8.2).

    Parameters
    ----------
    idle_slope_bps, rate_bps
        idleSlope and portTransmitRate.

    Examples
    --------
    >>> shaper = CreditBasedShaper(idle_slope_bps=75_000_000, rate_bps=100_000_000)
    >>> shaper.replay([10_000_000, 50_000_000, 150_000_000], [False, True, True], [0, 150_000_000, 0])
    [0, 3000000000000000, 500000000000000]

    A time after the other, where the next one depends on what was found:

    >>> shaper = CreditBasedShaper(idle_slope_bps=75_000_000, rate_bps=100_000_000)
    >>> shaper.settle(0, False)
    0
    >>> shaper.transmit(0, 100_000_000)
    >>> shaper.settle(100_000_000, True), shaper.eligible_at()
    (-2500000000000000, 133333334)
    """

    def __init__(self, *, idle_slope_bps: int, rate_bps: int) -> None:
        self._shaper = _core.CreditShaper(idle_slope_bps=idle_slope_bps, rate_bps=rate_bps)

    def replay(self, times_ps: Sequence[int], waiting: Sequence[bool], transmit_until_ps: Sequence[int]) -> list[int]:
        """Credit at each time, exactly.

        Parameters
        ----------
        times_ps
            Times that do not go back.
        waiting
            Of the span that ends at each time: whether frames waited in it.
        transmit_until_ps
            Until when a transmission that starts at this time is charged; 0 where none starts.

        Returns
        -------
        list of int
            Credit in 1e-12 bit, before a transmission that starts.
        """
        return self._shaper.replay(list(times_ps), list(waiting), list(transmit_until_ps))

    def settle(self, time_ps: int, waiting: bool) -> int:
        """Credit at a time in 1e-12 bit, exactly; ``waiting`` is true if frames waited during the span before it."""
        return self._shaper.settle(time_ps, waiting)

    def transmit(self, time_ps: int, until_ps: int) -> None:
        """A frame starts at the time that was settled last, and is charged until ``until_ps``."""
        self._shaper.transmit(time_ps, until_ps)

    def set_idle_slope(self, time_ps: int, waiting: bool, idle_slope_bps: int) -> None:
        """Changes idleSlope at a time; ``waiting`` as for `settle`."""
        self._shaper.set_idle_slope(time_ps, waiting, idle_slope_bps)

    def eligible_at(self) -> int:
        """When a frame that goes on waiting from the time settled last may start, in ps."""
        return self._shaper.eligible_at()


class Gates:
    """The gates of a port and its lists (IEEE Std 802.1Q-2022, 8.6.8.4 and 8.6.9).

    Parameters
    ----------
    admin_gate_states
        States before the first list begins: bit *n* is the gate of class *n*.
    tick_ps
        A gate changes at the first tick at or after its time.

    Examples
    --------
    >>> gates = Gates()
    >>> gates.change(0, [(0, 0x80, 300_000), (0, 0x01, 700_000)], base_time_ps=0, cycle_time_ps=1_000_000)
    >>> gates.edges(1_000_000)
    [(0, 128, False), (300000, 1, False), (1000000, 128, False)]
    >>> gates.fits([7, 7, 0], [1_200_000, 1_200_000, 1_300_000], [100_000, 100_001, 700_000])
    [True, False, True]
    """

    def __init__(self, *, admin_gate_states: int = 0xFF, tick_ps: int = 1) -> None:
        self._gates = _core.PortGates(admin_gate_states=admin_gate_states, tick_ps=tick_ps)

    def change(
        self,
        time_ps: int,
        entries: Sequence[tuple[int, int, int]],
        *,
        base_time_ps: int,
        cycle_time_ps: int,
        cycle_time_extension_ps: int = 0,
    ) -> None:
        """Sets a list, which begins at its base time, or a whole number of cycles later if that is past.

        Parameters
        ----------
        time_ps
            When it is set; times do not go back.
        entries
            Of each its operation (0 SetGateStates, 1 Set-And-Hold-MAC, 2 Set-And-Release-MAC), states, interval in ps.
        base_time_ps, cycle_time_ps, cycle_time_extension_ps
            AdminBaseTime, AdminCycleTime and AdminCycleTimeExtension.
        """
        self._gates.change(
            time_ps,
            list(entries),
            base_time_ps=base_time_ps,
            cycle_time_ps=cycle_time_ps,
            cycle_time_extension_ps=cycle_time_extension_ps,
        )

    def edges(self, until_ps: int) -> list[tuple[int, int, bool]]:
        """Of each edge up to a time, that included: when, the states behind it, whether preemptable frames are held."""
        return self._gates.edges(until_ps)

    def fits(self, classes: Sequence[int], times_ps: Sequence[int], needs_ps: Sequence[int]) -> list[bool]:
        """Of each frame, whether it may start: its gate is open from its time on for as long as it needs.

        Parameters
        ----------
        classes, times_ps, needs_ps
            Of each frame its class, when it would start, in order, and how long its gate must be open.

        Returns
        -------
        list of bool
            False, too, where the gate shuts before the frame is out.
        """
        return self._gates.fits(list(classes), list(times_ps), list(needs_ps))

    @property
    def change_errors(self) -> int:
        """How many lists were set with a base time in the past while another one ran (ConfigChangeError)."""
        return self._gates.changes()[0]

    @property
    def change_time_ps(self) -> int | None:
        """When the list that runs began; None before the first one."""
        return self._gates.changes()[1]


class ClockServo:
    """A servo that follows another clock with one whose rate can be set: proportional and integral, in integers.

    Parameters
    ----------
    proportional_per_mille, integral_per_mille
        Share of an offset per interval that changes the rate at once, and for good.
    step_min_ps
        From here on an offset is stepped.
    rate_max_ppb
        The fastest and slowest that the clock is run.

    Examples
    --------
    >>> servo = ClockServo(proportional_per_mille=350, integral_per_mille=150)
    >>> servo.sample(1_000, interval_ps=10**12)
    (0, 500)
    """

    def __init__(
        self,
        *,
        proportional_per_mille: int = 700,
        integral_per_mille: int = 300,
        step_min_ps: int = 10**12,
        rate_max_ppb: int = 500_000,
    ) -> None:
        self._servo = _core.ClockServo(
            step_min_ps=step_min_ps,
            rate_max_ppb=rate_max_ppb,
            proportional_per_mille=proportional_per_mille,
            integral_per_mille=integral_per_mille,
        )

    def sample(self, offset_ps: int, *, interval_ps: int) -> tuple[int, int | None]:
        """What to do to a clock that is behind by an offset.

        Parameters
        ----------
        offset_ps
            By how much it is behind the other one.
        interval_ps
            Since the last sample.

        Returns
        -------
        tuple of int and int or None
            By how much to step it, and the rate to run it at in parts in 1e12; None: as before.
        """
        return self._servo.sample(offset_ps, interval_ps)
