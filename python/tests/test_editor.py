"""What editors get: the schema's line in scenarios, and snippets that become descriptions without a fault."""

import json
import re
from pathlib import Path

import pytest

import tautwire

ROOT = Path(__file__).parents[2]
SNIPPETS = {
    one["prefix"]: "\n".join(one["body"])
    for one in json.loads((ROOT / "docs/guide/editor/tautwire.code-snippets").read_text(encoding="utf-8")).values()
}


def filled(name: str) -> str:
    """A snippet with its defaults."""
    text = re.sub(r"\$\{\d+:([^}]*)\}", r"\1", SNIPPETS[name]).replace("\\$", "$")
    assert "${" not in text
    return text


def test_scenarios_name_the_schema_that_is_there() -> None:
    named = 0
    for path in sorted((ROOT / "scenarios").glob("*.yaml")):
        for found in re.findall(r"^# yaml-language-server: \$schema=(\S+)$", path.read_text(encoding="utf-8"), re.M):
            assert (path.parent / found).resolve() == ROOT / "docs/schema/tautwire.schema.json", path
            named += 1
    assert named >= 68


STREAM_KEYS = ("tw-stream", "tw-ats-stream")


@pytest.mark.parametrize("name", sorted(SNIPPETS))
def test_a_snippet_with_its_defaults_has_no_fault(name: str) -> None:
    text = filled("tw-network")
    if name in STREAM_KEYS:
        text = text.replace("run:", filled(name) + "run:")
    elif name == "tw-credit-based":
        text = text.replace("store-and-forward}", f"store-and-forward, {filled(name)}}}")
    elif name == "tw-gates":
        text = text.replace("store-and-forward}", f"store-and-forward, ports: {{p1: {{}}, p2: {{{filled(name)}}}}}}}")
    elif name == "tw-frer":
        # Copies need two ways.
        text = text.replace("links:\n", "  second: {type: bridge}\nlinks:\n")
        text = text.replace("streams:", "  - {between: [sender, second]}\n  - {between: [second, receiver]}\nstreams:")
        text = text.replace("run:", f"    {filled(name)}\nrun:")
    if name == "tw-ats-stream":
        text = text.replace("store-and-forward}", "store-and-forward, classes: {4: {transmission-selection: ats}}}")
    # A fault would be an exception.
    bounded = tautwire.bounds(tautwire.load_text(text))
    assert all(end["verdict"] == "proven" for one in bounded.summary["streams"] for end in one["listeners"])
