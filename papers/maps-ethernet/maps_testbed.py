"""The MAPS test bed: end systems, switch, messages, flood, and the host models with their fitted figures.

End systems 1 and 2 exchange messages; 3 and 4 flood 1 and 2. TTE, RC and BE run over the TTE network, UDP over a
COTS network of its own. Delays are from application to application, as the paper measures them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tautwire import Network

#: IPv4 and UDP headers, which are MAC client data.
HEADERS = 28
#: Header and FCS of an untagged frame.
FRAME = 18
PAYLOADS = (64, 128, 256, 512, 1024, 1472)
SATURATIONS = (0, 50, 100)
PROTOCOLS = ("TTE", "RC", "BE", "UDP")
#: Rows on which the host models are fitted, of every protocol, without saturation.
FITTED = (64, 1472)
#: Those that nothing is fitted on.
UNFITTED = tuple(payload for payload in PAYLOADS if payload not in FITTED)
#: Largest frame, which is that of the flood.
FLOOD_PAYLOAD = 1472
#: The application's period is told as 2 ms; that it slides against the network's cycle is D1 of the record. How fast
#: is unpublished: with 3 us a message a cell of 1000 messages of 2 ms passes three cycles.
PERIOD_NS = {2: 2_003_000, 510: 510_000_000}
#: By how much the messages of a cell of 510 ms slide against the cycle of 1 ms in all: three cycles, too.
SLIDE_NS = 3_000_000
#: When the first message is sent.
OFFSET_MS = 50
#: Per octet of the wire, two lines with a store-and-forward switch between, one through a cut-through switch.
WIRE_NS = {"TTE": 16, "RC": 16, "BE": 16, "UDP": 8}


@dataclass(frozen=True)
class Fit:
    """A protocol's stack: a constant, and what a frame's octet costs beside interface and wire."""

    constant_ns: float
    per_octet_ns: float


@dataclass(frozen=True)
class Knobs:
    """What a test may switch off or change.

    Parameters
    ----------
    classes
        Whether the TTE card's receiving side has a queue per class.
    slow_interface
        Whether reading a frame from the TTE card takes time per octet.
    moderation, bulk
        Whether the COTS card delays its interrupts, and has a slower pace for bulk traffic.
    fair
        Whether the COTS switch has a queue for each reception port.
    ring, fifo
        Descriptors of the TTE card's receiving side, and octets before them.
    one_processor
        Whether the frames of a flood and the messages beside it are taken by one processor of the COTS host.
    softirq
        Share of a COTS message's fitted time that the softirq takes for a received frame. Unpublished: the way has
        four parts (system call and driver of the sender, softirq, reading by the receiver), and each gets a quarter.
    locked
        Whether the application's period is locked to the network's cycle.
    empty_slot
        What becomes of a slot without a message: ``kept`` or ``released``.
    raster_us
        Length of the raster's cycle, of which half is for time-triggered traffic; 0 for none.
    bag_ms
        Bandwidth allocation gap of RC.
    sleeps_too_long
        Whether the injectors' sleeps are 60 us too long.
    period_ns
        The application's period, in place of the cell's.
    answer
        The protocol of the way back, if it is another than that of the message.
    """

    classes: bool = True
    slow_interface: bool = True
    moderation: bool = True
    bulk: bool = True
    fair: bool = True
    ring: int = 61
    fifo: int = 2304
    one_processor: bool = True
    softirq: float = 0.25
    locked: bool = False
    empty_slot: str = "kept"
    raster_us: int = 0
    bag_ms: int = 1
    sleeps_too_long: bool = True
    period_ns: int | None = None
    answer: str | None = None


def frame(payload: int) -> int:
    """Octets of a message's frame, destination to FCS.

    Examples
    --------
    >>> frame(1472)
    1518
    """
    return payload + HEADERS + FRAME


def ns(value: float) -> str:
    """A duration as the description has it, to the picosecond."""
    return f"{max(0, round(value * 1000))} ps"


@dataclass(frozen=True)
class Cell:
    """One condition of Table 3."""

    protocol: str
    payload: int
    saturation: int
    period_ms: int = 2
    messages: int = 1000
    round_trip: bool = False
    seed: int = 1
    knobs: Knobs = field(default_factory=Knobs)

    def calm(self) -> Cell:
        """The same without flood."""
        return replace(self, saturation=0)


def tte_host(interface_ns: float, fits: dict[str, Fit], cell: Cell) -> dict[str, Any]:
    """The host with a TTE card. Reading a frame from it costs ``interface_ns`` an octet."""
    knobs = cell.knobs

    def stack(name: str, thread: str) -> dict[str, Any]:
        fit = fits[name]
        rest = {"constant": ns(fit.constant_ns), "per_octet": ns(fit.per_octet_ns)}
        return {"interface": "card", "thread": thread, "receive": [{"name": "api", "latency": rest}]}

    return {
        "about": "A PC with a TTE card; fitted on the rows of 64 and 1472 B without saturation.",
        # One thread for TTE and RC, whose API is not safe for several; one for UDP.
        "threads": {
            "tte": {"wake_up": {"min": "0 us", "max": "5 us"}},
            "udp": {"wake_up": {"min": "0 us", "max": "5 us"}},
        },
        "interfaces": {
            "card": {
                "receive": {"per_octet": ns(interface_ns if knobs.slow_interface else 0)},
                "reception_order": "class-queues" if knobs.classes else "fifo",
                "receive_ring": knobs.ring,
                "receive_fifo": f"{knobs.fifo} B",
            }
        },
        "stacks": {"rc": stack("RC", "tte"), "be": stack("BE", "udp"), "tte": stack("TTE", "tte")},
    }


def udp_host(fit: Fit, knobs: Knobs) -> dict[str, Any]:
    """The host with a COTS card. Paces and thresholds are those of its driver's source (e1000e)."""
    moderation: dict[str, Any] = {"type": "none"}
    if knobs.moderation:
        moderation = {"type": "delayed", "interval": "50 us"}
        if knobs.bulk:
            moderation["bulk"] = {"interval": "250 us", "above": "10000 B", "below": "6000 B"}
    work = fit.constant_ns * knobs.softirq
    softirq, rest = ns(work), {"constant": ns(fit.constant_ns - work), "per_octet": ns(fit.per_octet_ns)}
    return {
        "about": "A PC with a COTS card; fitted on the rows of 64 and 1472 B without saturation.",
        "threads": {"udp": {"wake_up": {"min": "0 us", "max": "6 us"}}},
        "interfaces": {"card": {"receive_ring": 256, "moderation": moderation}},
        "stacks": {
            "udp": {
                "interface": "card",
                "thread": "udp",
                "receive": [
                    {"name": "softirq", "latency": softirq} | ({"occupancy": softirq} if knobs.one_processor else {}),
                    {"name": "socket", "latency": rest},
                ],
                "socket_buffer": "8 MB",
            }
        },
    }


def network(cell: Cell, interface_ns: float, fits: dict[str, Fit]) -> Network:
    """The description of a cell."""
    udp = cell.protocol == "UDP"
    host = udp_host(fits["UDP"], cell.knobs) if udp else tte_host(interface_ns, fits, cell)
    duration = cell.messages * period_ns(cell) + (OFFSET_MS + 30) * 1_000_000
    more: dict[str, Any] = {}
    if "TTE" in (cell.protocol, cell.knobs.answer) or cell.knobs.raster_us:
        more["time_triggered"] = cycle(cell.knobs)
    more["test"] = bed(cell)
    windows = cell.saturation > 0 and cell.period_ms > 2
    if windows:
        more["events"] = flood_windows(cell)
    made = Network(
        f"{cell.protocol}-{cell.payload}-{cell.saturation}".lower(),
        devices={"switch": switch(udp, cell.knobs)},
        hosts={"pc": host},
        network_control="none",
        vlans={1: {"tagged": "all"}},
        allow=["port::overload", "class::overload"],
        run={"duration": ns(duration), "seed": cell.seed},
        **more,
    )
    for number in (1, 2, 3, 4):
        made.end_station(f"es{number}", host="pc" if number < 3 else "ideal")
    made.bridge("switch", device="switch")
    for number in (1, 2, 3, 4):
        made.link(f"es{number}", "switch", rate="1 Gbit/s", length="3 m")
    add_messages(made, cell)
    if cell.knobs.raster_us and cell.protocol != "TTE":
        # Ports keep the raster if they have time-triggered links. This one has its slots, and hardly ever a message.
        link = {"id": 9, "period": "1 ms", "offset": "400 us", "release": "free"}
        hardly: dict[str, Any] = {"type": "periodic", "interval": "510 ms", "offset": "1 ms"}
        made.stream(
            "slots", "es1", "es2", tagged=False, payload="92 B", stack="tte", traffic=hardly, time_triggered=link
        )
    if cell.saturation:
        # What comes to end system 1 meets nothing that it sends; without an answer it is left out.
        for one, other in (("es3", "es1"), ("es4", "es2"))[0 if cell.round_trip else 1 :]:
            made.stream(
                f"flood-{other}", one, other, tagged=False, payload=f"{FLOOD_PAYLOAD + HEADERS} B",
                stack="udp" if udp else "be", started=not windows,
                traffic=flood(cell.saturation, sleeps_too_long=cell.knobs.sleeps_too_long),
            )  # fmt: skip
    return made


def bed(cell: Cell) -> dict[str, Any]:
    """The tasks, and the stations' clocks as phc2sys sets them: once a second by the quickest of five readings of the
    interface's clock (Table 1), weights 0.35 and 0.15. What the stations log has their offset in it."""
    tasks: list[dict[str, Any]] = [
        {"type": "transmit", "station": "es1", "route": "message"},
    ]
    if cell.round_trip:
        tasks += [
            {"type": "relay", "station": "es2", "route": "message", "by": "answer"},
            {"type": "receive", "station": "es1", "route": "answer"},
        ]
    else:
        tasks += [{"type": "receive", "station": "es2", "route": "message"}]
    clocks = {
        "interval": "1 s", "proportional": "0.35", "integral": "0.15", "readings": 5,
        "reading": {"min": "3632 ns", "max": "6002 ns"},
    }  # fmt: skip
    return {"clocks": clocks, "tasks": tasks}


def switch(udp: bool, knobs: Knobs) -> dict[str, Any]:
    """The TTE development switch, or the COTS switch; what they take is in the fitted constants."""
    if udp:
        # One queue for all has no limit for each reception port.
        queues: dict[str, Any] = {"tie_rule": "arrival-order"}
        if knobs.fair:
            queues = {"tie_rule": "round-robin", "reception_queue_limit": 40}
        return queues | {"switching": "cut-through", "queue_limit": {"frames": 80}}
    return {"switching": "store-and-forward"}


def flood(
    saturation: int, burst: int = 10, sleeps_too_long: bool = True, threads: int = 3, overhead_us: int = 60
) -> dict[str, Any]:
    """Three threads, bursts of 10, and 60 us of sleep too long on average (Table 2)."""
    interval = 12_304 * 100 / saturation
    said: dict[str, Any] = {"type": "injected", "threads": threads, "burst": burst, "interval": ns(interval)}
    over = {"overhead_min": f"{overhead_us - 10} us", "overhead_max": f"{overhead_us + 10} us"}
    return said | (over if sleeps_too_long else {})


def cycle(knobs: Knobs) -> dict[str, Any]:
    """What the TTE network's time-triggered links have in common. Its precision is unpublished."""
    said: dict[str, Any] = {
        "precision": "1 us", "integration_cycle": "10 ms", "integration": "timely-block",
        "empty_slot": knobs.empty_slot,
    }  # fmt: skip
    if knobs.raster_us:
        said["raster"] = {"cycle": f"{knobs.raster_us} us", "window": f"{knobs.raster_us // 2} us"}
    return said


def period_ns(cell: Cell) -> int:
    """The application's period."""
    if cell.knobs.period_ns is not None:
        return cell.knobs.period_ns
    if cell.knobs.locked:
        return cell.period_ms * 1_000_000
    return PERIOD_NS[cell.period_ms] + (SLIDE_NS // cell.messages if cell.period_ms == 510 else 0)


def flood_windows(cell: Cell) -> list[dict[str, Any]]:
    """Between messages that are 510 ms apart the flood is off: it begins as long before each as its queues take
    to fill, and lasts as long behind it as the message may be under way."""
    before, after = (30, 35) if cell.protocol == "BE" else (8, 4)
    events: list[dict[str, Any]] = []
    for number in range(cell.messages):
        at = OFFSET_MS * 1_000_000 + number * period_ns(cell)
        for key, when in (("start_stream", at - before * 1_000_000), ("stop_stream", at + after * 1_000_000)):
            stations = ("es1", "es2") if cell.round_trip else ("es2",)
            events += [{"at": ns(when), key: f"flood-{station}"} for station in stations]
    return events


def add_messages(made: Network, cell: Cell) -> None:
    """The messages, and their way back if they are relayed."""
    jitter = "0 us" if cell.knobs.locked else "4 us"
    traffic: dict[str, Any] = {
        "type": "periodic", "interval": ns(period_ns(cell)), "offset": f"{OFFSET_MS} ms", "jitter": jitter,
    }  # fmt: skip
    back: dict[str, Any] = {"type": "response", "to": "message"}
    protocols = {"message": cell.protocol, "answer": cell.knobs.answer or cell.protocol}
    for name, talker, listener, when in (("message", "es1", "es2", traffic), ("answer", "es2", "es1", back)):
        if name == "answer" and not cell.round_trip:
            continue
        settings: dict[str, Any] = {
            "tagged": False,
            "payload": f"{cell.payload + HEADERS} B",
            "traffic": when,
            "stack": (protocol := protocols[name]).lower(),
        }
        number = 1 if name == "message" else 2
        if protocol == "RC":
            bag = {"id": number, "bag": f"{cell.knobs.bag_ms} ms", "profile": "development-switch"}
            settings |= {"priority": 5, "virtual_link": bag | {"buffer": "overwriting"}}
        elif protocol == "TTE":
            # Dispatch points of the talker: one a millisecond; the switch sends on as soon as every frame is there. Who
            # answers follows a message, and not the cycle.
            release = "locked" if cell.knobs.locked and name == "message" else "free"
            offset = "400 us" if name == "message" else "700 us"
            settings["time_triggered"] = {"id": number, "period": "1 ms", "offset": offset, "release": release}
        made.stream(name, talker, listener, **settings)
