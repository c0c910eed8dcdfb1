"""Parts of networks described in code: the same keys as the YAML, and turned into it.

Keys are written in snake_case here and in kebab-case there; quantities are text with a unit, as
``"100 Mbit/s"``. ``docs/`` has the reference of the description.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

__all__ = [
    "ArrivalCurve",
    "Clock",
    "ConstantRate",
    "File",
    "Greedy",
    "OnOff",
    "Periodic",
    "Poisson",
    "Replay",
    "Shaper",
    "Traffic",
    "Udp",
]


#: Keys below which there are names, not keys.
NAMED = ("nodes", "ports", "devices", "hosts")


class Part:
    """A part of a description: a dataclass whose fields are its keys."""

    TYPE: ClassVar[str | None] = None

    def describe(self) -> dict[str, Any]:
        """Its keys and values, those that are ``None`` left out."""
        assert dataclasses.is_dataclass(self)
        said = {one.name: getattr(self, one.name) for one in fields(self)}
        head = {} if self.TYPE is None else {"type": self.TYPE}
        return head | {name: value for name, value in said.items() if value is not None}


class Traffic(Part):
    """When a talker's frames come; one of its subclasses."""


@dataclass(frozen=True)
class Periodic(Traffic):
    """``burst`` frames back to back every ``interval``; with ``phase="random"`` at a phase drawn by the seed.

    Examples
    --------
    >>> Periodic("125 us", offset="10 us").describe()
    {'type': 'periodic', 'interval': '125 us', 'offset': '10 us'}
    """

    TYPE: ClassVar[str] = "periodic"
    interval: str
    offset: str | None = None
    jitter: str | None = None
    burst: int | None = None
    phase: str | None = None


@dataclass(frozen=True)
class ConstantRate(Traffic):
    """Frames spaced so that their bits on the wire make ``rate``."""

    TYPE: ClassVar[str] = "constant-rate"
    rate: str
    offset: str | None = None


@dataclass(frozen=True)
class Poisson(Traffic):
    """Frames at exponentially distributed distances; nothing bounds them."""

    TYPE: ClassVar[str] = "poisson"
    mean_interval: str


@dataclass(frozen=True)
class OnOff(Traffic):
    """Periodic frames during ``on``, none during ``off``, again and again."""

    TYPE: ClassVar[str] = "on-off"
    on: str
    off: str
    interval: str
    offset: str | None = None


@dataclass(frozen=True)
class Greedy(Traffic):
    """All that the arrival curve allows, as early as it allows."""

    TYPE: ClassVar[str] = "greedy"
    offset: str | None = None


@dataclass(frozen=True)
class Replay(Traffic):
    """Frames at the times of a trace: pcap, pcapng or CSV."""

    TYPE: ClassVar[str] = "replay"
    file: str


@dataclass(frozen=True)
class File(Traffic):
    """A file handed to the port at once."""

    TYPE: ClassVar[str] = "file"
    octets: str
    at: str | None = None


@dataclass(frozen=True)
class Shaper(Part):
    """The limits that ATS schedulers, and the talker if stated, enforce on a stream."""

    committed_information_rate: str
    committed_burst_size: str
    shape_at_talker: bool | None = None


@dataclass(frozen=True)
class ArrivalCurve(Part):
    """What a talker promises at most, in bits of the wire."""

    rate: str
    burst: str


@dataclass(frozen=True)
class Udp(Part):
    """IPv4 and UDP addresses of a stream."""

    source: str
    destination: str
    source_port: int
    destination_port: int


@dataclass(frozen=True)
class Clock(Part):
    """A node's clock."""

    tolerance: str | None = None
    drift: str | None = None
    offset: str | None = None
    granularity: str | None = None


def plain(value: Any) -> Any:
    """A value as the description has it: parts as mappings, keys in kebab-case.

    Names (keys of ``nodes``, ``ports``, ``devices``, ``hosts``) stay as they are.

    Examples
    --------
    >>> plain({"committed_burst_size": "1522 B", 7: Shaper("1 Mbit/s", "80 B")})
    {'committed-burst-size': '1522 B', 7: {'committed-information-rate': '1 Mbit/s', 'committed-burst-size': '80 B'}}
    """
    if isinstance(value, Part):
        return plain(value.describe())
    if isinstance(value, Mapping):
        return {_key(key): _named(key, one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(one) for one in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    raise TypeError(f"{value!r} cannot stand in a description: quantities are text with a unit, as '100 us'")


def _named(key: Any, value: Any) -> Any:
    if key in NAMED and isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    return plain(value)


def _key(key: Any) -> Any:
    if isinstance(key, Verbatim):
        return str(key)
    return key.replace("_", "-") if isinstance(key, str) else key


class Verbatim(str):
    """A key that the description has as it is written: a name may have an underscore."""

    __slots__ = ()


def verbatim(value: Any) -> Any:
    """A value that was read from a description, to be written as it was.

    Examples
    --------
    >>> plain(verbatim({"host_models": {"a_b": 1}}))
    {'host_models': {'a_b': 1}}
    """
    if isinstance(value, Mapping):
        return {Verbatim(key) if isinstance(key, str) else key: verbatim(one) for key, one in value.items()}
    return [verbatim(one) for one in value] if isinstance(value, list) else value


def yaml(value: Any, indent: int = 0) -> str:
    """A plain value as YAML in blocks; every string is quoted, as in JSON.

    Examples
    --------
    >>> print(yaml({"nodes": {"a": {"type": "bridge"}}, "links": [["a", "b"], {}]}))
    nodes:
      a:
        type: "bridge"
    links:
      - ["a", "b"]
      - {}
    """
    pad = " " * indent
    if isinstance(value, Mapping) and value:
        return "\n".join(
            f"{pad}{key}:" + (f"\n{yaml(one, indent + 2)}" if _is_block(one) else f" {json.dumps(one)}")
            for key, one in value.items()
        )
    if _is_block(value):
        lines = []
        for one in value:
            inner = yaml(one, indent + 2) if _is_block(one) else pad + "  " + json.dumps(one)
            lines.append(f"{pad}- {inner[indent + 2 :]}")
        return "\n".join(lines)
    return pad + json.dumps(value)


def _is_block(value: Any) -> bool:
    if isinstance(value, Mapping):
        return bool(value)
    return isinstance(value, list) and any(isinstance(one, Mapping | list) for one in value)
