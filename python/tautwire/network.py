"""Networks: read from a file or a text, or built in code."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, cast

from tautwire import _core, cp_sat, schedules, spreadsheets
from tautwire.describe import verbatim, yaml
from tautwire.edits import Edited, edited, keys_at
from tautwire.errors import DescriptionError, Diagnostic, FileError, UnknownNameError
from tautwire.keys import NetworkKeys
from tautwire.parts import Description, Elements, Keys, Link, Nodes, Place, Stream, caller
from tautwire.shown import counted, network_html
from tautwire.texts import PARTS, changed_text, numbered, said

__all__ = ["Network", "load", "load_text"]


class Network(Description):
    """A network, its traffic, and how a run of it is made.

    Built in code it is a description that grows; :func:`load` and :func:`load_text` make one from
    YAML, which is changed as one of code is and keeps its comments, order and layout. Either way there
    is one path: text, checked and resolved when it is first computed with.

    Parameters
    ----------
    name
        Name of the network.
    **settings
        Further keys of the description in snake_case, as ``defaults``, ``devices`` or ``run``.

    Examples
    --------
    >>> import tautwire
    >>> network = tautwire.Network("two-hosts", run={"duration": "10 ms"})
    >>> network.end_station("a")
    >>> network.end_station("b")
    >>> network.link("a", "b", rate="1 Gbit/s")
    >>> network.stream("s", "a", "b", frame="1522 B", traffic=tautwire.Periodic("1 ms"), deadline="50 us")
    >>> tautwire.verify(network).verdict
    'proven'

    What was read is changed by its keys, and a fault has the line of Python that made it.

    >>> read = tautwire.load_text("nodes: {a: {type: end-station}, b: {type: end-station}}\\n"
    ...                           "links: [{between: [a, b], rate: 1 Gbit/s}]   # mine\\n")
    >>> read.links["a-b"].length = "5 m"
    >>> print(read.text().splitlines()[-1])
    links: [{between: [a, b], rate: 1 Gbit/s, length: 5 m}]   # mine
    """

    def __init__(self, name: str, **settings: Unpack[NetworkKeys]) -> None:
        self._read: _core.CoreNetwork | None = None
        # What was read before it was changed: its text and document.
        self._base: tuple[str, dict[str, Any]] | None = None
        self._edited: tuple[dict[str, Any], Edited | None] | None = None
        self._path: str | None = None
        self._changed: str | None = None
        self._cache: tuple[str, _core.CoreNetwork] | None = None
        super().__init__(name, **settings)

    @classmethod
    def _of(cls, read: _core.CoreNetwork, path: str | None = None, changed: str | None = None) -> Network:
        network = cls(read.name)
        network._read = read
        network._path = path
        network._changed = changed
        return network

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Network:
        """A network of what :meth:`document` gives, changed or not.

        Examples
        --------
        >>> document = load_text("name: alone\\nnodes: {a: {type: end-station}}").document()
        >>> document["nodes"]["b"] = {"type": "end-station"}
        >>> document["links"] = [{"between": ["a", "b"], "rate": "1 Gbit/s"}]
        >>> Network.of_document(document).core().nodes
        ['a', 'b']
        """
        network = cls(str(document.get("name", "network")))
        network._fill(dict(document), caller())
        return network

    def __repr__(self) -> str:
        """Its name and how large it is, in a line; a description with faults has one, too."""
        return f"Network({self.name!r}, {self._size(self.document())})"

    def _repr_html_(self) -> str:
        """Its streams in a table, as a notebook shows it."""
        document = self.document()
        return network_html(f"{self.name}: {self._size(document)}", document)

    def _size(self, document: Mapping[str, Any]) -> str:
        kinds = [
            node.get("type") if isinstance(node, Mapping) else None for node in (document.get("nodes") or {}).values()
        ]
        streams = len(document.get("streams") or []) if self._read is None else len(self._read.streams)
        sizes = [(kinds.count("end-station"), "end station"), (kinds.count("bridge"), "bridge")]
        sizes += [(len(document.get("links") or []), "link"), (streams, "stream")]
        return ", ".join(counted(*size) for size in sizes)

    def __getstate__(self) -> dict[str, Any]:
        """What crosses to another process: the description alone, or the path of its file."""
        state = dict(self.__dict__)
        state["_cache"] = state["_edited"] = None
        if self._read is not None:
            state["_read"] = self._read.text
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        text = state["_read"]
        self.__dict__.update(state)
        if text is not None and self._changed is not None:
            self._read = resolved(*_core.load_text(self._path or self.name, self._changed))
        elif text is not None and self._path is not None:
            self._read = resolved(*read_file(self._path))
        elif isinstance(text, str):
            self._read = resolved(*_core.load_text(self.name, text))

    # What was read from a text becomes objects when it is first asked for or added to.

    @property
    def settings(self) -> Keys:
        """Keys of the description other than name, nodes, links and streams."""
        return cast(Keys, self._part("settings"))

    @settings.setter
    def settings(self, value: Mapping[Any, Any]) -> None:
        self._set_part("settings", value if isinstance(value, Keys) else Keys(value, caller()))

    @property
    def nodes(self) -> Nodes:
        """Nodes by name."""
        return cast(Nodes, self._part("nodes"))

    @nodes.setter
    def nodes(self, value: Mapping[str, Any]) -> None:
        self._set_part("nodes", value if isinstance(value, Nodes) else Nodes(value, caller()))

    @property
    def links(self) -> Elements[Link]:
        """Cables, by their number, name or ends (``"a-b"``)."""
        return cast(Elements[Link], self._part("links"))

    @links.setter
    def links(self, value: Iterable[Mapping[Any, Any]]) -> None:
        self._set_part("links", value if isinstance(value, Elements) else Elements(Link, value, caller()))

    @property
    def streams(self) -> Elements[Stream]:
        """Streams of the description itself, by number or name; those of ``stream-tables`` stay in their files."""
        return cast(Elements[Stream], self._part("streams"))

    @streams.setter
    def streams(self, value: Iterable[Mapping[Any, Any]]) -> None:
        self._set_part("streams", value if isinstance(value, Elements) else Elements(Stream, value, caller()))

    def _part(self, name: str) -> Any:
        self._open()
        return self.__dict__[f"_{name}"]

    def _set_part(self, name: str, value: Any) -> None:
        self._open()
        self.__dict__[f"_{name}"] = value

    def _open(self) -> None:
        """What was read goes on as objects."""
        if self._read is not None:
            text, document = self._read.own_text, self.document()
            self._fill(document, None)
            self._base = (text, document)

    def _fill(self, document: dict[str, Any], made: Place | None) -> None:
        said = verbatim(document)
        self._read = None
        self.name = str(said.pop("name", self.name))
        self.nodes = Nodes(said.pop("nodes", None), made)
        self.links = Elements(Link, said.pop("links", None) or (), made)
        self.streams = Elements(Stream, said.pop("streams", None) or (), made)
        self.settings = Keys(said, made)

    def document(self) -> dict[str, Any]:
        """The description as plain mappings and lists, a copy: of a network that was read, what stands in its text.

        Examples
        --------
        >>> network = load_text("name: pair\\nnodes: {a: {type: end-station}, b: {type: end-station}}")
        >>> network.document()["nodes"]
        {'a': {'type': 'end-station'}, 'b': {'type': 'end-station'}}
        >>> network.link("a", "b", rate="1 Gbit/s")
        >>> network.document()["links"]
        [{'between': ['a', 'b'], 'rate': '1 Gbit/s'}]
        """
        if self._read is None:
            return super().document()
        found: dict[str, Any] = numbered(json.loads(self._read.document()))
        return found

    def streams_from(
        self,
        path: str | os.PathLike[str],
        *,
        sheet: str | None = None,
        columns: Mapping[str, str | None] | None = None,
    ) -> None:
        """Adds the streams of a spreadsheet, one in each row; their faults have its row.

        Parameters
        ----------
        path, sheet, columns
            As for :func:`tautwire.stream_table`.

        Raises
        ------
        DescriptionError
            Cells are none of a table of streams; all faults, each with row and column.
        FileError
            The file cannot be read, or openpyxl is not installed.
        """
        self.streams.extend(spreadsheets.streams_of(path, sheet=sheet, columns=columns))

    def timetable(self) -> dict[str, Any] | None:
        """The windows of a cycle: slots of TDMA, of time-triggered links, or of the elementary cycle of HaRTES.

        Returns
        -------
        dict or None
            ``kind``, ``cycle_ps``, ``basic_cycle_ps``, and ``rows``: of each station or port the slots with ``label``,
            ``kind``, ``offset_ps``, ``length_ps`` and ``period_ps``. None of a network without them.
        """
        found = self.core().timetable()
        return None if found is None else json.loads(found)

    def text(self) -> str:
        """The description as YAML: of a network that was read its own text, with what has been changed."""
        if self._read is not None:
            return self._read.text
        found = self._edit()
        return super().text() if found is None else found.text

    def own_text(self) -> str:
        """The description as YAML, without the text of files that it names."""
        return self._read.own_text if self._read is not None else self.text()

    def save(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Writes the description to a file.

        Parameters
        ----------
        path
            The file; by default the one that it was read from.

        Raises
        ------
        FileError
            It cannot be written, or the network was not read from a file.
        """
        target = path if path is not None else self._path
        if target is None:
            raise FileError("the network was not read from a file: name one", code="file::unwritable")
        try:
            Path(target).write_text(self.own_text(), encoding="utf-8")
        except OSError as error:
            raise FileError(str(error), code="file::unwritable", path=os.fspath(target)) from error
        return Path(target)

    def _edit(self) -> Edited | None:
        """The text that was read with what has been changed; none if there is none, or a new text must say it."""
        if self._base is None:
            return None
        document = super().document()
        if self._edited is None or self._edited[0] != document:
            text, before = self._base
            # An empty list of streams is none; a text without a name keeps the one that it got.
            before = {key: value for key, value in before.items() if value or key not in PARTS}
            after = {key: value for key, value in document.items() if key != "name" or key in before}
            found = edited(text, before, after)
            is_right = found is not None and said(found.text) == said(yaml(after))
            self._edited = (document, found if is_right else None)
        return self._edited[1]

    def _placed(self, faults: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Faults with the lines of Python that made them, and the others with the lines of the text that was read."""
        if self._read is not None:
            return list(faults)
        text, edit = self.text(), self._edit()
        found = []
        for fault in faults:
            if fault.path == (self._path or self.name):
                source = self._maker(keys_at(text, fault.line, fault.column))
                was = None if edit is None or source is not None else edit.place_before(fault.line, fault.column)
                line, column = was or (fault.line, fault.column)
                fault = replace(fault, source=source, line=line, column=column)
            found.append(fault)
        return found

    def _maker(self, keys: Sequence[Any]) -> Place | None:
        """The line of Python that stated what these keys lead to."""
        parts: dict[str, Any] = {"nodes": self.nodes, "links": self.links, "streams": self.streams}
        node: Any = parts.get(keys[0], self.settings) if keys else None
        place: Place | None = None
        for key in keys[1:] if keys and keys[0] in parts else keys:
            if isinstance(node, Keys):
                key = key if key in node else int(key) if str(key).isdecimal() else key
                place = node._places.get(key, node._made)
                node = node.get(key)
            elif isinstance(node, Nodes):
                node = node.get(key)
            elif isinstance(node, Elements | list) and isinstance(key, int) and key < len(node):
                node = node[key]
            else:
                break
            if isinstance(node, Keys) and node._made is not None:
                place = node._made if place is None else place
        return place

    def changed(self, values: Mapping[str, Any]) -> Network:
        """The same network with other values; comments, layout and order of its text stay.

        Parameters
        ----------
        values
            Values by the keys that lead to them. An element of a list has its name, a cable its ends:
            ``"streams.video.payload"``, ``"links.a-b.rate"``. A key that is missing in its mapping is added.

        Raises
        ------
        UnknownNameError
            Nothing in the description is named so.
        DescriptionError
            A value is none that the description takes; its faults have the line of Python that called.

        Examples
        --------
        >>> text = "nodes: {a: {type: end-station}, b: {type: end-station}}\\n"
        >>> text += "links: [{between: [a, b], rate: 1 Gbit/s}]   # mine"
        >>> print(load_text(text).changed({"links.a-b.rate": "2.5 Gbit/s"}).text().splitlines()[-1])
        links: [{between: [a, b], rate: 2.5 Gbit/s}]   # mine
        """
        text = changed_text(self.own_text(), values)
        path = self._path or self.name
        read, faults = _core.load_text(path, text)
        if read is None:
            raise DescriptionError(self._of_change(Diagnostic(*one) for one in faults))
        return Network._of(read, self._path, text)

    def _of_change(self, faults: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Faults that :meth:`changed` made with the line that called it; those that were there before as they were."""
        before = []
        if self._read is None:
            _, own = _core.load_text(self._path or self.name, self.text())
            before = self._placed(Diagnostic(*one) for one in own)
        known = {(fault.code, fault.message): fault for fault in before}
        place = caller()
        found = []
        for fault in faults:
            was = known.get((fault.code, fault.message))
            if was is None and fault.severity == "error" and fault.path == (self._path or self.name):
                fault = replace(fault, source=place)
            found.append(was or fault)
        return found

    def core(self) -> _core.CoreNetwork:
        """The resolved network.

        Raises
        ------
        DescriptionError
            The description has faults.
        """
        if self._read is not None:
            return self._read
        text = self.text()
        if self._cache is None or self._cache[0] != text:
            # Files that it names stand beside the one that it was read from.
            read, faults = _core.load_text(self._path or self.name, text)
            if read is None:
                raise DescriptionError(self._placed(Diagnostic(*one) for one in faults))
            self._cache = (text, read)
        return self._cache[1]

    def stream_names(self) -> list[str]:
        """Names of all streams, in order.

        Examples
        --------
        >>> Network("empty", nodes={"a": {"type": "end-station"}}).stream_names()
        []
        """
        return self.core().streams

    def device(self, node: str | None = None) -> dict[str, Any]:
        """A device model in use, its delays in picoseconds.

        Parameters
        ----------
        node
            Name of the model; the only one if there is but one.

        Raises
        ------
        UnknownNameError
            There is no such model, or several.
        """
        devices = self.core().devices()
        found = [one for one in devices if node in (None, one["name"])]
        if len(found) != 1:
            names = ", ".join(one["name"] for one in devices)
            raise UnknownNameError(f"no single device `{node}`", code="device::unknown", help=f"there are: {names}")
        return found[0]

    def schedulers(self) -> list[dict[str, Any]]:
        """The ATS scheduler instances of all bridges, with the streams that each holds."""
        return self.core().schedulers()

    def schedule(
        self,
        *,
        keep: bool = False,
        precision: str = "0 s",
        at: str | None = None,
        method: schedules.Method = "search",
        limit: float = cp_sat.LIMIT,
        least_delay: bool = False,
    ) -> tuple[dict[str, Any], Network | None]:
        """Offsets and gates of all time-aware streams, or dispatch points of all time-triggered virtual links.

        Bounds prove what is found, and a run of the network with it is held against them, before it is given.

        Parameters
        ----------
        keep
            Whether offsets that time-aware streams state, and their windows, stay as they are.
        precision
            Greatest difference of two clocks for which windows of gates leave time.
        at
            When a run sets new lists for the streams without an offset, which are added to those that have one and
            have not ended by then. The schedule has the ``change`` with its instants, streams that have ``ended``,
            and whether it is ``safe``; if not, no network comes with it.
        method
            ``"search"``: as ``tautwire schedule``, for large sets, too. ``"cp-sat"``: by the solver of OR-Tools (extra
            ``cp-sat``), for small sets: a schedule of all streams; or the proof that there is none for these margins,
            a schedule of as many as it finds, and the least ``conflict``, proven.
        limit
            Of ``"cp-sat"``: work for each question to the solver, in its own unit of some seconds. The same limit
            gives the same schedule on each machine. Beyond it the verdict is ``left out``, unless all are placed.
        least_delay
            Of ``"cp-sat"``: go on to the schedule with the least sum of delays of all orders of frames.

        Returns
        -------
        tuple
            The schedule, and the network with it in its description; None where it cannot be written there, as for
            links from a table. Of time-aware streams: ``verdict``, ``streams`` with their ``offset_ps``, bounds and
            whether they are proven, ``ports`` with their ``control_list``, the least ``conflict`` if one was left
            out, and the reasons of what is ``unproven``. Of links: ``verdict``, ``links`` with their ``points``,
            ``ports`` with the share of their time that is in slots. With a network, ``run``: the ``verdict`` of its
            bounds and a run together, how many frames were ``delivered``, and streams that are ``not_proven``.

        Raises
        ------
        UnknownNameError
            The network has nothing to schedule, or takes no schedule.
        SolverError
            OR-Tools is not installed, or a run contradicts the bounds.

        Examples
        --------
        >>> network = Network("pair", time_triggered={"precision": "1 us"}, network_control="none")
        >>> network.end_station("a")
        >>> network.end_station("b")
        >>> network.link("a", "b", rate="100 Mbit/s")
        >>> network.stream("s", "a", "b", payload="100 B", traffic={"type": "periodic", "interval": "10 ms"},
        ...                time_triggered={"period": "10 ms"})
        >>> schedule, scheduled = network.schedule()
        >>> schedule["verdict"], schedule["links"][0]["points"][0]["offset_ps"]
        ('scheduled', 0)
        >>> scheduled.schedule()[0] == schedule
        True
        """
        how = schedules.How(keep, precision, at, method, limit, least_delay)
        schedule, text = schedules.schedule(self, how)
        if text is None:
            return schedule, None
        scheduled = load_text(text, self.name)
        return schedule | {"run": schedules.held(scheduled)}, scheduled


Source = Network | str | os.PathLike[str]


def load(path: str | os.PathLike[str]) -> Network:
    """Reads a description from a file.

    Parameters
    ----------
    path
        A YAML file.

    Raises
    ------
    FileError
        The file cannot be read.
    DescriptionError
        It has faults; all of them are told.

    Examples
    --------
    >>> load("missing.yaml")
    Traceback (most recent call last):
    tautwire.errors.FileError: missing.yaml: No such file or directory (os error 2)
    """
    return Network._of(resolved(*read_file(path)), os.path.abspath(path))


def load_text(text: str, name: str = "text") -> Network:
    """Reads a description from a text.

    Parameters
    ----------
    text
        YAML.
    name
        What diagnostics call it.

    Raises
    ------
    DescriptionError
        It has faults; all of them are told.

    Examples
    --------
    >>> load_text("name: alone\\nnodes: {a: {type: end-station}}").name
    'alone'
    """
    return Network._of(resolved(*_core.load_text(name, text)))


def network_of(source: Source) -> Network:
    """A network as it is, or the one that a file describes."""
    return source if isinstance(source, Network) else load(source)


def read_file(path: str | os.PathLike[str]) -> tuple[_core.CoreNetwork | None, list[_core._Fault]]:
    name = os.fspath(path)
    try:
        return _core.load(name)
    except OSError as error:
        raise FileError(f"{name}: {error}", code="file::unreadable", path=name) from error


def resolved(read: _core.CoreNetwork | None, faults: list[_core._Fault]) -> _core.CoreNetwork:
    if read is None:
        raise DescriptionError([Diagnostic(*one) for one in faults])
    return read
