"""The four hosts of the evaluation as a description.

Nothing of a host's or the switch's delays is published. What is chosen here is chosen within what the
evaluation's own layouts allow: from the start of its slot to the answer in its station a request of
512 B takes more than 100 us and at most 200 us. The cycle is 1 ms: the only whole number of
microseconds within what the printed values allow (0.86 to 1.15 ms) that divides the application's
10 ms, as its constant phase within a run asks for.
"""

from __future__ import annotations

from dataclasses import dataclass

import tautwire

#: Microseconds.
CYCLE = 1000
#: From the application to the station's queue, and from the last bit received to the application.
HAND_OVER, RECEIVE = 10, 15
SLAVES = ("slave-a", "slave-b", "slave-c")


@dataclass(frozen=True)
class Layout:
    """Slots of a cycle in microseconds: the standby's watch, then (owner, offset, length) of each."""

    watch: int
    slots: tuple[tuple[str, int, int], ...]

    def start(self, owner: str) -> int:
        """Where the slot of an owner begins."""
        return next(offset for name, offset, _ in self.slots if name == owner)

    def apart(self, slave: str) -> int:
        """From the master's slot to a slave's."""
        return self.start(slave) - self.start("master")


#: Figure 2; Figure 3 with the first two slots as they were, or grown too; and Figure 6 as it must be at
#: least: a request and its answer of 1500 B meet in one cycle, or no printed mean could be.
LAYOUTS = {
    "100": Layout(100, (("master", 200, 100), ("slave-a", 300, 100))),
    "200": Layout(100, (("master", 200, 200), ("slave-a", 400, 200))),
    "200, all grown": Layout(200, (("master", 400, 200), ("slave-a", 600, 200))),
    "load": Layout(100, (("master", 200, 125), ("slave-a", 475, 125), ("slave-b", 600, 125), ("slave-c", 725, 125))),
}


@dataclass(frozen=True)
class Interrupts:
    """Interrupts with a phase of their own, evenly up to a distance in microseconds: at the master alone, or at all."""

    apart: float
    everywhere: bool = False


@dataclass(frozen=True)
class Request:
    """What the master asks a slave: when first, how often, in microseconds; an answer of another size, if any."""

    slave: str
    at: float
    interval: int = 10_000
    size: str = "frame: 512 B"
    answer: str = ""


def pair(one: Request, jitter: float) -> str:
    """The streams of a request and its response."""
    head = "priority: 6, tagged: false"
    times = f"interval: {one.interval} us, offset: {one.at * 1000:.0f} ns, jitter: {jitter * 1000:.0f} ns"
    request, response = f"request-{one.slave}", f"response-{one.slave}"
    return (
        f"  - {{name: {request}, talker: master, listeners: {one.slave}, {head}, {one.size}, "
        f"traffic: {{type: periodic, {times}}}}}\n"
        f"  - {{name: {response}, talker: {one.slave}, listeners: master, {head}, {one.answer or one.size}, "
        f"traffic: {{type: response, to: {request}}}}}\n"
    )


def hosts(interrupts: Interrupts | None) -> str:
    """The plain host, and one that is told of received frames by interrupts, if any is."""
    plain = f"  rtnet: {{transmit: {HAND_OVER} us, receive: {RECEIVE} us}}\n"
    if interrupts is None:
        return plain
    ways = f"transmit: [{{name: rtnet, latency: {HAND_OVER} us}}], receive: [{{name: rtnet, latency: {RECEIVE} us}}]"
    moderation = f"{{type: drawn, interval: {1000 * interrupts.apart:.0f} ns}}"
    return (
        f"{plain}  told:\n    interfaces: {{card: {{moderation: {moderation}}}}}\n"
        f"    stacks: {{rtnet: {{interface: card, {ways}}}}}\n"
    )


def text(
    layout: Layout,
    requests: list[Request],
    *,
    jitter: float = 0,
    duration: str = "1005 ms",
    more: str = "",
    cycle: float = CYCLE,
    start_up: bool = False,
    interrupts: Interrupts | None = None,
    slotted: bool = True,
) -> str:
    """A run; ``jitter`` is by how much the application is released too late at most, in microseconds.

    With ``start_up`` the stations find together before the requests begin, as by RTcfg. Unless ``slotted`` the same
    hosts send the same requests and answers when they are ready, and nobody opens cycles.
    """
    nodes = ("master", "standby", *SLAVES)
    lines = (f"    - {{owner: {owner}, offset: {at} us, length: {length} us}}\n" for owner, at, length in layout.slots)
    slots = "".join(lines)
    opens = "listeners: all, tagged: false, payload: 46 B, traffic: {type: synchronisation}"
    streams = "".join(pair(one, jitter) for one in requests)
    told = {node for node in nodes if interrupts and (interrupts.everywhere or node == "master")}
    stations = "".join(f"  {node}: {{type: end-station{', host: told' * (node in told)}}}\n" for node in nodes)
    found = "  start-up: {calibrations: 20, configuration: 512 B}\n" if start_up else ""
    tdma = (
        f"tdma:\n  cycle: {cycle:.0f} us\n  synchronisation: opening\n"
        f"  standby: {{synchronisation: standing-in, offset: {layout.watch} us}}\n{found}  slots:\n{slots}"
    )
    openings = f"  - {{name: opening, talker: master, {opens}}}\n  - {{name: standing-in, talker: standby, {opens}}}\n"
    return f"""name: rtnet
network-control: none
vlans:
  1:
    tagged: all
hosts:
{hosts(interrupts)}defaults: {{rate: 100 Mbit/s, host: rtnet}}
nodes:
{stations}  switch: {{type: bridge}}
links:
{"".join(f"  - {{between: [{node}, switch]}}{chr(10)}" for node in nodes)}{tdma * slotted}streams:
{openings * slotted}{streams}run: {{duration: {duration}}}
{more}"""


def network(layout: Layout, requests: list[Request], **settings: object) -> tautwire.Network:
    """The same, read."""
    return tautwire.load_text(text(layout, requests, **settings))  # type: ignore[arg-type]
