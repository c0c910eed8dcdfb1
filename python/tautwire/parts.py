"""Nodes, cables and streams as objects: mappings whose keys are attributes, too, and that know who made them."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, ClassVar, Generic, TypeVar, Unpack, overload

from tautwire.describe import NAMED, Part, Verbatim, plain, yaml
from tautwire.errors import UnknownNameError
from tautwire.keys import (
    LinkAttributes,
    LinkKeys,
    NetworkKeys,
    NodeAttributes,
    NodeKeys,
    StreamAttributes,
    StreamKeys,
)

__all__ = ["Description", "Elements", "Keys", "Link", "Node", "Nodes", "Place", "Stream", "caller"]

#: A file of Python and a line of it.
Place = tuple[str, int]

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


def caller() -> Place | None:
    """The line of Python that called this package."""
    frame = sys._getframe(1)
    # The classes here rest on those of Python's library that are mappings and sequences.
    while frame is not None and frame.f_code.co_filename.startswith((_OWN, "<frozen ")):
        frame = frame.f_back  # type: ignore[assignment]
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


class Keys(MutableMapping[Any, Any]):
    """A mapping of a description.

    A key is found in the spelling of the description and in that of Python: ``stream["time-aware"]``,
    ``stream["time_aware"]`` and ``stream.time_aware`` are one. Names of ports, devices and hosts stay as they are.

    Examples
    --------
    >>> found = Keys({"queue-limit": {"frames": 9}})
    >>> found.queue_limit.frames, "queue_limit" in found, found["queue-limit"]
    (9, True, Keys({'frames': 9}))
    """

    #: All keys that there may be, if they are known.
    KNOWN: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self, said: Mapping[Any, Any] | None = None, made: Place | None = None, *, is_named: bool = False
    ) -> None:
        vars(self).update(_said={}, _places={}, _made=made, _is_named=is_named)
        for key, value in (said or {}).items():
            self._put(key, value, made)

    def _spelled(self, key: Any) -> Any:
        """The key as it is in the description."""
        if key in self._said or not isinstance(key, str) or isinstance(key, Verbatim) or self._is_named:
            return key
        return key.replace("_", "-")

    def _put(self, key: Any, value: Any, place: Place | None) -> None:
        spelled = self._spelled(key)
        self._said[spelled] = _wrapped(value, place, spelled in NAMED)
        if place is not None:
            self._places[spelled] = place

    def __getitem__(self, key: Any) -> Any:
        return self._said[self._spelled(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._put(key, value, caller())

    def __delitem__(self, key: Any) -> None:
        del self._said[self._spelled(key)]

    def __contains__(self, key: Any) -> bool:
        return self._spelled(key) in self._said

    def __iter__(self) -> Iterator[Any]:
        return iter(self._said)

    def __len__(self) -> int:
        return len(self._said)

    def __or__(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        return {**self, **other}

    def __ror__(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        return {**other, **self}

    def __ior__(self, other: Mapping[Any, Any]) -> Keys:
        self.update(other)
        return self

    def __getattr__(self, name: str) -> Any:
        # Before there is anything, as while it is copied, there are no keys.
        said = vars(self).get("_said")
        if said is None or name.startswith("__"):
            raise AttributeError(name)
        if name in self:
            return self[name]
        if self._spelled(name) in self.KNOWN:
            return None
        raise self._unknown(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if self.KNOWN and self._spelled(name) not in self.KNOWN:
            raise self._unknown(name)
        self[name] = value

    def __delattr__(self, name: str) -> None:
        if name not in self:
            raise self._unknown(name)
        del self[name]

    def _unknown(self, name: str) -> AttributeError:
        known = sorted(self.KNOWN or self._said, key=str)
        near = difflib.get_close_matches(self._spelled(name), [str(one) for one in known], 1)
        hint = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(map(str, known))}"
        return AttributeError(f"{type(self).__name__} has no key `{self._spelled(name)}`; {hint}")

    def __dir__(self) -> list[str]:
        """What an editor offers."""
        return [*super().__dir__(), *(key.replace("-", "_") for key in self.KNOWN or map(str, self._said))]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({plain(self)!r})"


class Node(Keys, NodeAttributes):
    """An end station or a bridge."""

    KNOWN = frozenset(name.replace("_", "-") for name in NodeAttributes.__annotations__)


class Link(Keys, LinkAttributes):
    """A cable."""

    KNOWN = frozenset(name.replace("_", "-") for name in LinkAttributes.__annotations__)

    def _names(self) -> tuple[Any, ...]:
        ends = self.get("between") or ()
        return (self.get("name"), "-".join(str(end) for end in ends))


class Stream(Keys, StreamAttributes):
    """A stream.

    Examples
    --------
    >>> stream = Stream({"name": "video", "payload": "100 B", "traffic": {"type": "periodic", "interval": "1 ms"}})
    >>> stream.payload = "200 B"
    >>> stream.traffic.interval, stream.deadline, stream
    ('1 ms', None, Stream({'name': 'video', 'payload': '200 B', 'traffic': {'type': 'periodic', 'interval': '1 ms'}}))
    >>> stream.dead_line = "1 ms"
    Traceback (most recent call last):
    AttributeError: Stream has no key `dead-line`; did you mean `deadline`?
    """

    KNOWN = frozenset(name.replace("_", "-") for name in StreamAttributes.__annotations__)

    def _names(self) -> tuple[Any, ...]:
        return (self.get("name"),)


One = TypeVar("One", Link, Stream)


class Elements(MutableSequence[One], Generic[One]):
    """Streams or cables in their order; each is found by its number and by its name, a cable by its ends, too.

    Examples
    --------
    >>> found = Elements(Link, [{"between": ["a", "b"]}, {"between": ["b", "c:p1"], "name": "last"}])
    >>> found["a-b"] is found[0], found["last"] is found[-1], found["b-c:p1"] is found[1]
    (True, True, True)
    """

    def __init__(self, kind: type[One], said: Iterable[Mapping[Any, Any]] = (), made: Place | None = None) -> None:
        self._kind: type[One] = kind
        self._all: list[One] = [self._made(one, made) for one in said]

    def _made(self, said: Any, place: Place | None) -> One:
        # What a description cannot have is left for its check.
        made: One = said if isinstance(said, self._kind) or not isinstance(said, Mapping) else self._kind(said, place)
        return made

    def _number(self, at: int | str) -> int:
        if not isinstance(at, str):
            return at
        for number, one in enumerate(self._all):
            if isinstance(one, Keys) and at in one._names():
                return number
        what = self._kind.__name__.lower()
        names = ", ".join(str(next(filter(None, one._names()), "-")) for one in self._all if isinstance(one, Keys))
        raise UnknownNameError(f"no {what} `{at}`", code=f"{what}::unknown", help=f"there are: {names}")

    @overload
    def __getitem__(self, at: int | str) -> One: ...
    @overload
    def __getitem__(self, at: slice) -> Elements[One]: ...
    def __getitem__(self, at: int | str | slice) -> One | Elements[One]:
        return Elements(self._kind, self._all[at]) if isinstance(at, slice) else self._all[self._number(at)]

    def __setitem__(self, at: Any, value: Any) -> None:
        if isinstance(at, slice):
            self._all[at] = [self._made(one, caller()) for one in value]
        else:
            self._all[self._number(at)] = self._made(value, caller())

    def __delitem__(self, at: int | str | slice) -> None:
        del self._all[at if isinstance(at, slice) else self._number(at)]

    def insert(self, at: int, value: Mapping[Any, Any]) -> None:
        """Inserts an element before the one with this number."""
        self._all.insert(at, self._made(value, caller()))

    def __len__(self) -> int:
        return len(self._all)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(self._all)


class Nodes(MutableMapping[str, Node]):
    """Nodes by name, in their order."""

    def __init__(self, said: Mapping[Any, Any] | None = None, made: Place | None = None) -> None:
        self._all: dict[Any, Node] = {}
        for name, one in (said or {}).items():
            self._put(name, one, made)

    def _put(self, name: Any, value: Any, place: Place | None) -> None:
        is_made = isinstance(value, Node) or not isinstance(value, Mapping)
        self._all[name] = value if is_made else Node(value, place)

    def __getitem__(self, name: str) -> Node:
        if name not in self._all:
            raise KeyError(f"no node `{name}`; there are: {', '.join(map(str, self._all))}")
        return self._all[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._put(name, value, caller())

    def __delitem__(self, name: str) -> None:
        del self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        return repr(self._all)


def _wrapped(value: Any, place: Place | None, is_named: bool) -> Any:
    """A value whose mappings are :class:`Keys`; parts and texts stay as they are."""
    if isinstance(value, Keys | Part | str):
        return value
    if isinstance(value, Mapping):
        return Keys(value, place, is_named=is_named)
    if isinstance(value, list | tuple):
        return [_wrapped(one, place, False) for one in value]
    return value


class Description:
    """A description that is being written.

    Parameters
    ----------
    name
        Name of the network.
    **settings
        Further keys of the description, as ``defaults`` or ``run``.

    Examples
    --------
    >>> from tautwire import Periodic
    >>> network = Description("two-hosts", run={"duration": "10 ms"})
    >>> network.end_station("a")
    >>> network.end_station("b")
    >>> network.link("a", "b", rate="1 Gbit/s")
    >>> network.stream("s", "a", "b", frame="1522 B", traffic=Periodic("1 ms"))
    >>> print(network.text())
    name: "two-hosts"
    nodes:
      a:
        type: "end-station"
      b:
        type: "end-station"
    links:
      - between: ["a", "b"]
        rate: "1 Gbit/s"
    streams:
      - name: "s"
        talker: "a"
        listeners: "b"
        frame: "1522 B"
        traffic:
          type: "periodic"
          interval: "1 ms"
    run:
      duration: "10 ms"
    <BLANKLINE>
    """

    def __init__(self, name: str, **settings: Unpack[NetworkKeys]) -> None:
        made = caller()
        said: dict[str, Any] = dict(settings)
        self.name = name
        self.nodes = Nodes(said.pop("nodes", None), made)
        self.links = Elements(Link, said.pop("links", None) or (), made)
        self.streams = Elements(Stream, said.pop("streams", None) or (), made)
        self.settings = Keys(said, made)

    def end_station(self, name: str, **settings: Unpack[NodeKeys]) -> None:
        """Adds an end station."""
        self._node(name, "end-station", settings)

    def bridge(self, name: str, **settings: Unpack[NodeKeys]) -> None:
        """Adds a bridge."""
        self._node(name, "bridge", settings)

    def _node(self, name: str, kind: str, settings: NodeKeys) -> None:
        if name in self.nodes:
            raise ValueError(f"there is a node `{name}` already")
        self.nodes[name] = {"type": kind, **settings}

    def link(self, first: str, second: str, **settings: Unpack[LinkKeys]) -> None:
        """Adds a cable between two nodes or ports (``"node:port"``)."""
        self.links.append({"between": [first, second], **settings})  # type: ignore[arg-type]

    def stream(self, name: str, talker: str, listeners: str | Iterable[str], **settings: Unpack[StreamKeys]) -> None:
        """Adds a stream."""
        ends = listeners if isinstance(listeners, str) else list(listeners)
        self.streams.append({"name": name, "talker": talker, "listeners": ends, **settings})  # type: ignore[arg-type]

    def document(self) -> dict[str, Any]:
        """The description as plain mappings and lists."""
        said: dict[str, Any] = {"name": self.name, "nodes": self.nodes, "links": self.links, "streams": self.streams}
        document = plain({key: value for key, value in said.items() if value} | self.settings)
        assert isinstance(document, dict)
        return document

    def text(self) -> str:
        """The description as YAML."""
        return yaml(self.document()) + "\n"
