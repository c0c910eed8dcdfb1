"""Networks in the forms of other tools."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tautwire import _core
from tautwire.errors import FileError
from tautwire.network import Network, load, load_text

__all__ = ["ExportForm", "Exported", "ImportForm", "Imported", "export", "import_network"]

ExportForm = Literal[
    "tc", "yang", "yang-xml", "uni", "uni-xml", "gptp", "gptp-xml", "tsnkit", "saihu", "inet", "dot", "graphml"
]
ImportForm = Literal["lldp", "linuxptp", "graphml", "tc", "tsnkit", "saihu", "inet", "yang", "uni", "gptp", "capture"]


@dataclass(frozen=True)
class Exported:
    """A network in the form of another tool.

    Parameters
    ----------
    texts
        The texts: of a form with several files by their names, else by the name of the form.
    left_out
        What the description says and the texts do not, a line each.
    """

    texts: dict[str, str]
    left_out: list[str]

    @property
    def text(self) -> str:
        """The text, if there is one; ``ValueError`` if there are several."""
        if len(self.texts) != 1:
            raise ValueError(f"there are {len(self.texts)} texts: see `texts`, or choose a bridge by `node`")
        return next(iter(self.texts.values()))


@dataclass(frozen=True)
class Imported:
    """What another tool knows of a network, as a description.

    Parameters
    ----------
    text
        The description, in YAML.
    left_out
        What the files say and the description does not, and what it says without them; a line each.
    files
        Files that the description names, such as traces of packets, by their names: ``save`` writes them beside it.
    """

    text: str
    left_out: list[str]
    files: dict[str, str] = field(default_factory=dict)

    def network(self) -> Network:
        """The network of the description; ``DescriptionError`` if it has faults, ``ValueError`` if it names files."""
        if self.files:
            raise ValueError(f"the description names other files, {', '.join(self.files)}: `save` it, then `load` it")
        return load_text(self.text)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the description, and the files that it names into its folder; ``FileExistsError`` if one is there."""
        folder = Path(path).parent
        texts = {folder / name: text for name, text in self.files.items()} | {Path(path): self.text}
        for file in texts:
            if file.exists():
                raise FileExistsError(f"{file} is there")
        for file, text in texts.items():
            with file.open("x", encoding="utf-8") as written:
                written.write(text)


def export(network: Network | str | os.PathLike[str], form: ExportForm, *, node: str | None = None) -> Exported:
    """Writes a network in the form of another tool, as ``tautwire export`` does.

    Parameters
    ----------
    network
        A network, or the path of a description.
    form
        ``"tc"``, ``"yang"``, ``"yang-xml"``, ``"uni"``, ``"uni-xml"``, ``"gptp"``, ``"gptp-xml"``, ``"tsnkit"``,
        ``"saihu"``, ``"inet"``, ``"dot"`` or ``"graphml"``.
    node
        The bridge to write, of a form with a document for each; without it all of them.

    Raises
    ------
    ValueError
        There is no such form, or it has no text of this node.
    DescriptionError, FileError
        The description has faults, or cannot be read.

    Examples
    --------
    >>> import tautwire
    >>> network = tautwire.Network("pair")
    >>> network.end_station("a")
    >>> network.bridge("s")
    >>> network.link("a", "s", rate="1 Gbit/s")
    >>> print(tautwire.export(network, "dot").text)
    graph "pair" {
      node [fontname="sans-serif"];
      "a" [shape=ellipse];
      "s" [shape=box];
      "a" -- "s" [label="1 Gbit/s", taillabel="p1", headlabel="p1"];
    }
    <BLANKLINE>
    >>> found = tautwire.export(network, "yang")
    >>> list(found.texts), found.left_out[-1]
    (['s.json'], 'device model ideal: its delays, stages, limits and order')
    """
    of = network if isinstance(network, Network) else load(network)
    texts, left_out = _core.export(of.core(), form, node=node)
    return Exported(dict(texts), left_out)


def import_network(
    form: ImportForm,
    files: Sequence[str | os.PathLike[str]],
    *,
    configuration: str | None = None,
    base: Network | str | os.PathLike[str] | None = None,
) -> Imported:
    """A description of what another tool knows of a network, as ``tautwire import`` writes it.

    Parameters
    ----------
    form
        ``"lldp"``: what ``lldpctl -f json0`` prints, a file of each host with the host's name.
        ``"linuxptp"``: configurations of ptp4l, a file of each node, and the files of ``"lldp"`` of the same names.
        ``"graphml"``: a topology. ``"tc"``: what ``tc -j qdisc show`` prints, a file of each node, and the files of
        ``"lldp"`` of the same names. ``"tsnkit"``: tables of tsnkit, a topology with tasks and a schedule. ``"saihu"``:
        a network of Saihu, one file. ``"inet"``: NED files and an INI file of INET. ``"yang"``: instance data of
        bridges in JSON or XML, a document of each. ``"uni"``: requests for streams of a CUC, with a base.
        ``"gptp"``: YANG instance data of gPTP, a document of each node with its name, with a base.
        ``"capture"``: a pcap or pcapng file.
    files
        Paths of the files.
    configuration
        Which configuration of an INI file of INET, if it has several.
    base
        A network, or the path of a description, into which ``"yang"``, ``"uni"`` or ``"gptp"`` is read: its text
        changes only where the documents say something else. What streams are needed for is read with a base alone.

    Raises
    ------
    ValueError
        There is no such form, or files have faults: all of them, a line each.
    DescriptionError
        The base has faults.
    FileError
        A file cannot be read.

    Examples
    --------
    >>> import tautwire
    >>> tautwire.import_network("lldp", ["missing.json"])
    Traceback (most recent call last):
    tautwire.errors.FileError: missing.json: No such file or directory

    What a bridge is configured as, in the description that it was made from:

    >>> import tempfile
    >>> network = tautwire.load_text('''name: pair
    ... nodes:
    ...   a: {type: end-station}
    ...   s: {type: bridge}
    ... links: [{between: [a, s], rate: 1 Gbit/s}]''')
    >>> document = tautwire.export(network, "yang").text.replace('"default-priority": 0', '"default-priority": 3')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder) / "s.json"
    ...     _ = place.write_text(document)
    ...     found = tautwire.import_network("yang", [place], base=network)
    >>> found.text.splitlines()[3], found.left_out
    ('  s: {type: bridge, ports: {p1: {default-priority: 3}}}', [])
    """
    octets = [(Path(file).stem, _read(file, is_text=form != "capture")) for file in files]
    if base is not None and not isinstance(base, Network):
        base = load(base)
    core = None if base is None else base.core()
    text, left_out, named = _core.import_network(form, octets, configuration, core)
    return Imported(text, left_out, dict(named))


def _read(file: str | os.PathLike[str], *, is_text: bool) -> bytes:
    try:
        octets = Path(file).read_bytes()
        if is_text:
            octets.decode("utf-8")
    except OSError as error:
        why = f"{os.fspath(file)}: {error.strerror}"
        raise FileError(why, code="file::unreadable", path=os.fspath(file)) from error
    except UnicodeDecodeError as error:
        raise FileError(f"{os.fspath(file)}: no UTF-8", code="file::unreadable", path=os.fspath(file)) from error
    return octets
