"""What the test of a test bed observed: messages with their links, taps, clocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tautwire.errors import UnknownNameError

__all__ = ["BedCapture", "BedClock", "BedLink", "BedMessages", "BedResults", "Span"]


@dataclass(frozen=True)
class Span:
    """Spans of time: how many, least, mean, greatest and sample standard deviation, in picoseconds.

    One-way latencies by two clocks are below zero where these differ by more than a message takes.
    """

    count: int
    min_ps: int
    mean_ps: int
    max_ps: int
    sd_ps: int | None = None

    @property
    def variance_ps2(self) -> int | None:
        """Square of the deviation: of periods, the jitter as total variance."""
        return None if self.sd_ps is None else self.sd_ps**2


@dataclass(frozen=True)
class BedLink:
    """One link of messages' way: the route, its ends, and what was observed on it.

    Attributes
    ----------
    one_way, transmit_period, receive_period
        From sender to receiver, and distances of what was sent and received; ``None`` without any.
    throughput_bps
        Octets of the messages over the sum of their latencies.
    round_trip
        From the messages' first sender to this receiver, where they are one.
    """

    route: str
    sender: str
    receiver: str
    received: int
    one_way: Span | None
    throughput_bps: int | None
    transmit_period: Span | None
    receive_period: Span | None
    round_trip: Span | None = None


@dataclass(frozen=True)
class BedMessages:
    """What became of the messages of a transmit task: ``sent == complete + sum(lost.values()) + open``.

    Attributes
    ----------
    lost
        Messages lost, by reason; ``corrupted`` failed their CRC, ``not-relayed`` met a relay that was stopped.
    open
        Messages that did not come and of which nothing is known.
    misdirected, corrupted, repeated
        Receptions where nobody was to receive, that failed the CRC, and of what had come before.
    outliers
        Messages with a latency above ``outliers-above`` on any link, in no statistics.
    round_trip
        From the sender to the sender, by all ways back.
    links
        The path, link by link; the links of a relay come after those of what it relays.
    """

    id: int
    route: str
    sent: int
    complete: int
    lost: dict[str, int]
    open: int
    misdirected: int
    corrupted: int
    repeated: int
    outliers: int
    round_trip: Span | None
    links: tuple[BedLink, ...]


@dataclass(frozen=True)
class BedCapture:
    """What a tap saw of a stream; the deviation of ``period`` is the hardware jitter."""

    task: int
    stream: str
    frames: int
    period: Span | None


@dataclass(frozen=True)
class BedClock:
    """How far a station's system clock was off at the corrections of the run, without sign."""

    station: str
    offset: Span | None


@dataclass(frozen=True)
class BedResults:
    """What a test observed: :attr:`Observation.test_bed`."""

    messages: tuple[BedMessages, ...]
    captures: tuple[BedCapture, ...]
    clocks: tuple[BedClock, ...]

    def of(self, route: str) -> BedMessages:
        """The messages that are sent by a route.

        Raises
        ------
        UnknownNameError
            No task transmits it.
        """
        for one in self.messages:
            if one.route == route:
                return one
        names = ", ".join(one.route for one in self.messages)
        raise UnknownNameError(f"no messages by `{route}`", code="stream::unknown", help=f"there are: {names}")


def _span(said: dict[str, Any] | None) -> Span | None:
    return None if said is None else Span(**said)


def _link(said: dict[str, Any]) -> BedLink:
    spans = {key: _span(said.get(key)) for key in ("one_way", "transmit_period", "receive_period", "round_trip")}
    return BedLink(
        route=said["route"],
        sender=said["from"],
        receiver=said["to"],
        received=said["received"],
        throughput_bps=said.get("throughput_bps"),
        **spans,
    )


def bed_results(said: dict[str, Any]) -> BedResults:
    """From the ``test`` of a summary."""

    def messages(one: dict[str, Any]) -> BedMessages:
        links = tuple(_link(link) for link in one["links"])
        return BedMessages(**one | {"links": links, "round_trip": _span(one.get("round_trip"))})

    def capture(one: dict[str, Any]) -> BedCapture:
        return BedCapture(**one | {"period": _span(one.get("period"))})

    return BedResults(
        messages=tuple(messages(one) for one in said["messages"]),
        captures=tuple(capture(one) for one in said["captures"]),
        clocks=tuple(BedClock(one["station"], _span(one.get("offset"))) for one in said.get("clocks", [])),
    )
