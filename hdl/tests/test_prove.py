"""The committed RTL is the one whose invariants were proved."""

from __future__ import annotations

import json

import pytest

import crossings
import prove


@pytest.mark.parametrize("proof", prove.PROOFS, ids=lambda proof: proof.module)
def test_what_was_proved_is_this_rtl(proof: prove.Proof) -> None:
    proved = json.loads(prove.PROVED.read_text())
    assert proved.get(proof.module) == proof.hash(), "run `make hdl-prove` and commit hdl/formal/proved.json"


def test_every_proof_is_called() -> None:
    assert {path.stem for path in prove.FORMAL.glob("*.sv")} == {proof.top for proof in prove.PROOFS}


def test_what_crosses_between_clocks_was_checked_in_this_rtl() -> None:
    proved = json.loads(prove.PROVED.read_text())
    assert proved.get("crossings") == crossings.checked_hash(), "run `make hdl-prove` and commit hdl/formal/proved.json"


def test_every_register_of_the_switch_has_its_clock() -> None:
    assert crossings.other_clocks(crossings.RTL) == []
