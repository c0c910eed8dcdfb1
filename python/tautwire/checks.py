"""Faults of a description, and the rules of TSN profiles."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from tautwire import _core
from tautwire.errors import DescriptionError, Diagnostic, FileError, UnknownNameError
from tautwire.network import Network, Source, read_file

__all__ = ["ProfileRule", "check", "profile_rules"]


def check(source: Source, *, profile: str | None = None) -> list[Diagnostic]:
    """All faults of a description, errors and warnings, in order of place.

    Parameters
    ----------
    source
        A network built in code, or the path of a file.
    profile
        A TSN profile: ``"802.1BA"``, ``"802.1DG"``, ``"60802"`` or ``"802.1DP"``. Breaches of its rules are errors.

    Raises
    ------
    FileError
        The file cannot be read.
    UnknownNameError
        There is no such profile.

    Examples
    --------
    >>> [one.severity for one in check(Network("nothing"))]
    ['error']
    >>> pair = Network("pair")
    >>> pair.end_station("a")
    >>> pair.end_station("b")
    >>> pair.link("a", "b", rate="1 Gbit/s")
    >>> [one.code for one in check(pair, profile="802.1DG")]
    ['802.1DG::bridged']
    """
    if profile is not None:
        return _profile(source, profile)[1]
    name, text = _origin(source)
    _, faults = read_file(name) if text is None else _core.load_text(name, text)
    return _located(source, faults)


@dataclass(frozen=True)
class ProfileRule:
    """A rule of a TSN profile, and what became of it in a network.

    Attributes
    ----------
    rule
        Its name, such as ``802.1BA::link``.
    says
        What is right.
    source, source_kind
        Where that is stated, and whether that is a ``standard``, a ``draft``, a ``companion`` specification or a
        ``contribution``.
    verdict
        ``kept``, ``broken``, ``not applicable`` or ``unknown``.
    why
        What is missing, if it is not applicable or unknown.
    breaches
        What breaks it.
    """

    rule: str
    says: str
    source: str
    source_kind: str
    verdict: str
    why: str | None
    breaches: tuple[str, ...]


def profile_rules(source: Source, profile: str) -> list[ProfileRule]:
    """The rules of a TSN profile with their verdicts in a network.

    Parameters
    ----------
    source
        A network built in code, or the path of a file.
    profile
        ``"802.1BA"``, ``"802.1DG"``, ``"60802"`` or ``"802.1DP"``.

    Raises
    ------
    FileError
        The file cannot be read.
    DescriptionError
        The description has faults of its own.
    UnknownNameError
        There is no such profile.

    Examples
    --------
    >>> pair = Network("pair")
    >>> pair.end_station("a")
    >>> pair.end_station("b")
    >>> pair.link("a", "b", rate="1 Gbit/s")
    >>> [(one.rule, one.breaches) for one in profile_rules(pair, "802.1DG") if one.verdict == "broken"]
    [('802.1DG::bridged', ('the network has no bridge',))]
    """
    rules, faults = _profile(source, profile)
    if rules is None:
        raise DescriptionError(faults)
    return [ProfileRule(**{**one, "breaches": tuple(one["breaches"])}) for one in json.loads(rules)["rules"]]


def _origin(source: Source) -> tuple[str, str | None]:
    """The name and text of a description; of a file that is as it was read, its path alone: others are beside it."""
    if not isinstance(source, Network):
        return os.fspath(source), None
    if source._read is not None and source._path is not None and source._changed is None:
        return source._path, None
    return source._path or source.name, source.own_text()


def _profile(source: Source, profile: str) -> tuple[str | None, list[Diagnostic]]:
    name, text = _origin(source)
    try:
        rules, faults = _core.check_profile(name, text, profile)
    except ValueError as error:
        raise UnknownNameError(str(error), code="profile::unknown") from error
    except OSError as error:
        raise FileError(f"{name}: {error}", code="file::unreadable", path=name) from error
    return rules, _located(source, faults)


def _located(source: Source, faults: list[_core._Fault]) -> list[Diagnostic]:
    found = [Diagnostic(*one) for one in faults]
    return source._placed(found) if isinstance(source, Network) else found
