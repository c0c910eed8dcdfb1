"""Networks that several tests use."""

from typing import Any

import tautwire


def make_two_hosts(**settings: Any) -> tautwire.Network:
    """Two streams between two end stations, by a bridge."""
    network = tautwire.Network("two-hosts", run={"duration": "9900 us"}, **settings)
    network.end_station("a")
    network.end_station("b")
    network.bridge("s")
    network.link("a", "s", rate="1 Gbit/s")
    network.link("s", "b", rate="1 Gbit/s")
    for name, interval in (("fast", "125 us"), ("slow", "1 ms")):
        network.stream(
            name, "a", "b", priority=5, frame="1522 B", traffic=tautwire.Periodic(interval), deadline="100 us"
        )
    return network
