"""Proofs of the hardware's invariants by induction, with open tools.

A proof is ``formal/MODULE_proof.sv``: it drives the module with any input that its callers may give, and
asserts what must hold. Yosys turns it into SMT, Yices shows that nothing asserted fails in the first
steps after a reset, and that what holds for some steps holds in the next. Sizes are small, behaviour
is whole: a property of two lanes and rings of two places.

A proof that cannot fail proves nothing: every one is run again with each of its mutations, faults
planted in the module's text, and must fail.

    python hdl/prove.py                 all proofs and their mutations
    python hdl/prove.py MODULE...       some
    python hdl/prove.py --proofs        without mutations

What was proved, and found faulty when mutated, is noted in ``formal/proved.json``: module to a hash of
everything that its proof reads.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile

import crossings

HDL = pathlib.Path(__file__).resolve().parent
RTL = HDL / "rtl"
FORMAL = HDL / "formal"
PROVED = FORMAL / "proved.json"
SCRIPTS = pathlib.Path(sysconfig.get_path("scripts"))
DRIVER = "import sys; from pyosys import libyosys as y; d = y.Design(); [y.run_pass(line, d) for line in sys.argv[1:]]"
# From flip-flops with resets and memories to a transition system.
PASSES = ("memory_map -formal", "async2sync", "chformal -lower", "formalff -clk2ff -ff2anyinit", "dffunmap", "opt -full")
# Of several clocks: each is an input like any other, and a step of the system may have an edge of any of them.
PASSES_OF_CLOCKS = ("memory_map -formal", "chformal -lower", "clk2fflogic", "formalff -ff2anyinit", "opt -full")


@dataclasses.dataclass(frozen=True)
class Proof:
    """A module, and what shows that its proof can fail."""

    module: str
    # Steps of the induction.
    steps: int
    # (text of the module, what a fault makes of it)
    mutations: tuple[tuple[str, str], ...]
    # Signals of the design that take any value: what computes them is proved, or tested, elsewhere.
    cut: tuple[str, ...] = ()
    # Other files of the design, beside the module and its proof.
    files: tuple[str, ...] = ()
    passes: tuple[str, ...] = PASSES
    # Parameters of the proof with which faults are looked for: a fault that a small design shows need not be looked for in a large one.
    mutated: tuple[tuple[str, int], ...] = ()

    @property
    def top(self) -> str:
        return f"{self.module}_proof"

    def hash(self) -> str:
        """Of the module, of the files beside it, what they include, and of the proof."""
        digest = hashlib.sha256(
            repr((self.steps, self.mutations, self.cut, self.passes, *((self.mutated,) if self.mutated else ()))).encode()
        )
        paths = [RTL / f"{self.module}.sv", *(RTL / name for name in self.files), FORMAL / f"{self.top}.sv"]
        included = {name for path in paths for name in re.findall(r'`include "([^"]+)"', path.read_text())}
        for path in (*paths, *(RTL / name for name in sorted(included))):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
        return digest.hexdigest()


PROOFS = (
    Proof(
        "sync_fifo",
        1,
        (
            ("if (push_i) write_q <= write_q + 1'b1;", "if (push_i && !pop_i) write_q <= write_q + 1'b1;"),
            ("assign data_o = mem[read_q];", "assign data_o = mem[write_q];"),
            ("count_q == (PointerWidth + 1)'(1)", "count_q == (PointerWidth + 1)'(2)"),
        ),
    ),
    Proof(
        "async_fifo",
        1,
        (
            ("write_gray_q <= gray(write_next);", "write_gray_q <= write_next;"),
            ("assign level_o = binary(write_seen_q) - read_q;", "assign level_o = write_q - read_q;"),
            ("assign level_o = binary(write_seen_q) - read_q;", "assign level_o = write_seen_q - read_q;"),
            ("if (pop_i) read_q <= read_q + 1'b1;", "read_q <= read_q + 1'b1;"),
            ("if (push_i) mem[write_q[PointerWidth-1:0]] <= data_i;", "mem[write_q[PointerWidth-1:0]] <= data_i;"),
            ("assign data_o = mem[read_q[PointerWidth-1:0]];", "assign data_o = mem[write_seen_q[PointerWidth-1:0]];"),
            ("always_ff @(posedge write_clk_i or negedge write_rst_ni) begin", "always_ff @(posedge write_clk_i) begin"),
        ),
        passes=PASSES_OF_CLOCKS,
    ),
    Proof(
        "egress_port",
        1,
        (
            ("&& !(popped_q && popped_class_q == scan_q);", ";"),
            ("live_q[k-1] && !(pop && pop_class == class_q[k-1]);", "live_q[k-1];"),
            ("!earlier(now_q, entry[Best][0].eligible)", "1'b1"),
            ("&& gate_q[c] ", ""),
            ("rise_q <= gate_open_i[c] ? $signed({2'b00, idle_slope_i[c]}) : '0;", "rise_q <= $signed({2'b00, idle_slope_i[c]});"),
            ("none_q <= gate_q[c] && ", "none_q <= "),
            ("&& !waiting_q[cut_class_i]", ""),
            ("waiting_q[c] && !(less && count_q ==", "waiting_q[c] && !(less && count_q >="),
            ("if (pop && choice_q[c]) candidate_q[c].valid <= 1'b0;", ""),
            ("|| earlier(entry[k-1][2*l+1].eligible", "|| !earlier(entry[k-1][2*l+1].eligible"),
        ),
        mutated=(("Classes", 4), ("Lanes", 2)),
    ),
    Proof(
        "ats_engine",
        1,
        (
            ("issue || step_valid_q[Latency-3:0] != '0", "issue || step_valid_q[Latency-4:0] != '0"),
            ("oldest_q <= now_i - AgeMax;", "oldest_q <= now_i;"),
            ("assign issued = refresh_due\n", "assign issued = !wait_valid_q\n"),
            ("(conflict_next || refresh_due_next)", "conflict_next"),
            ("floor_q              <= later_of(step_q[2].frame.arrival, group_q);", "floor_q <= step_q[2].frame.arrival;"),
            ("bucket_after_q <= eligible_q - ahead_choice_q;", "bucket_after_q <= scheduler_eligible_choice_q;"),
            ("assign too_long = earlier(limit_q, eligible_q);", "assign too_long = 1'b0;"),
            ("+ RecoveryWidth'(|sum_product_q[FractionBits-1:0]);", ";"),
            ("+ RecoveryWidth'(|sum_product_q[FractionBits-1:0]);", "+ RecoveryWidth'(1);"),
            ("(ProductWidth'(fold_high_q) << (2 * PartWidth));", "(ProductWidth'(fold_high_q) << PartWidth);"),
            ("(ProductWidth'(part_middle_q) << PartWidth);", "ProductWidth'(part_middle_q);"),
            ("ChargedWidth'(read_octets_q) + ChargedWidth'(charged_overhead_i);", "ChargedWidth'(read_octets_q);"),
        ),
    ),
    Proof(
        "exact_table",
        1,
        (
            ("if (write_q == WrIdle) begin", "if (write_valid_i) begin"),
            ("take_change || change_q != '0", "take_change || change_q[Latency-3:0] != '0"),
            ("if (hit_q != '0) begin", "if (hit_q[Ways-1:0] != '0) begin"),
            ("if (step_q[1].op != OpAge) hashed.rows", "if (step_q[1].op == OpLookup) hashed.rows"),
            ("crc_q[b] <= ^(step_q[0].key & Taps[b]);", "crc_q[b] <= ^(step_q[0].key & Taps[(b + 1) % 32]);"),
            ("write_ways = kept_fixed ? '0 : hit_q[Ways-1:0];", "write_ways = hit_q[Ways-1:0];"),
            ("write_stash = hit_q[Stash] && !kept_fixed;", "write_stash = hit_q[Stash];"),
            ("write_ways[way_q] = free_q || !found_q[Stash].valid;", "write_ways[way_q] = 1'b1;"),
            ("write_stash = !free_q && !found_q[Stash].valid;", "write_stash = 1'b0;"),
            ("((moves_q[MovesWidth-1] || full_q) && !found_q[Stash].fixed)", "full_q"),
            ("if (!drops) write_ways[way_q] = 1'b1;", ""),
            ("new_stash.valid = moves;", ""),
            ("free_q <= !(&live_q[Ways-1:0]);", "free_q <= 1'b1;"),
            ("read_q[Stash] <= stash_q;", "read_q[Stash] <= write_stash_q ? new_stash_q : stash_q;"),
        ),
        mutated=(("Requesters", 2),),
    ),
    Proof(
        "packet_buffer",
        1,
        (
            ("else if (free_pop) free_head_valid_q <= 1'b0;", ""),
            ("assign free_fetch = free_write_q != free_read_q && (", "assign free_fetch = ("),
            ("{Ports{free_head_valid_q && initialised}}", "{Ports{initialised}}"),
            ("release_q <= readers_read_q == CountWidth'(1) ? StWalk : StIdle;", "release_q <= StWalk;"),
            ("release_q   <= walk_left_q == ChainWidth'(1) ? StIdle : StNext;", "release_q <= StNext;"),
            ("StRead: release_q <= StWait;", "StRead: release_q <= StCount;"),
            ("assign count_down = release_q == StCount && !claim_write;", "assign count_down = release_q == StCount;"),
            ("freed_waits_q  <= freed_valid & ~freed_pop;", "freed_waits_q  <= freed_valid;"),
            ("if (here_write && here_new_q) begin", "if (here[p] && here_new_q) begin"),
            ("ChainWidth'((end_words_q + WordsWidth'(7)) >> 3);", "ChainWidth'((end_words_q + WordsWidth'(8)) >> 3);"),
            ("here_lost_q ? !here_first_q && cells_q[p] != '0 :", "here_lost_q ? 1'b0 :"),
            ("done_short_q[p] && !cut_source[p];", "done_short_q[p];"),
            ("done_short_q[p] && !cut_source[p];", "!cut_source[p];"),
            ("assign wants_cell = ~spare_valid_q & ~short_q;", "assign wants_cell = ~spare_valid_q;"),
            ("(here_last_q || here_offset_q != 3'(ShortWords - 1))", "1'b1"),
            ("if (ends_q[p]) short_q[p] <= 1'b0;", ""),
        ),
        cut=(
            *("dut.word_valid", "dut.word_first", "dut.word_last", "dut.word_bad"),
            *("dut.orphan_cell", "dut.orphan_cells", "dut.freed_cell", "dut.freed_cells", "dut.freed_alone"),
        ),
        files=("sync_fifo.sv",),
        mutated=(("Ports", 2),),
    ),
    Proof(
        "frame_dispatch",
        1,
        (
            ("item_valid_q <= item_valid_q ? !item_gone :", "item_valid_q <= item_valid_q ? 1'b0 :"),
            ("assign decided_taken = free && decided_valid_q;", "assign decided_taken = free && decided_valid_q && !item_valid_q;"),
            ("taken_q   <= step_q[1] && !scarce_q ? wanted & room_i : '0;", "taken_q   <= step_q[1] && !scarce_q ? wanted : '0;"),
            ("limited_o <= step_q[1] && scarce_q ? wanted : '0;", "limited_o <= step_q[1] && scarce_q ? wanted & room_i : '0;"),
            ("assign claim_valid_o = step_q[3];", "assign claim_valid_o = step_q[3] && way_q.ports != '0;"),
            ("if (free) begin", "if (free || decision_valid_i) begin"),
        ),
    ),
    Proof(
        "cut_through",
        1,
        (
            ("ready_i[e] && enough_i && alive_i[source_q[e]]", "ready_i[e] && enough_i"),
            ("ready_i[e] && enough_i &&", "ready_i[e] &&"),
            ("source_q <= ask_source_q;", "source_q <= '0;"),
            ("ask_class_o[e]  <= class_i[p];", "ask_class_o[e]  <= class_i[e];"),
        ),
    ),
    Proof(
        "gmii_rx",
        1,
        (
            ("filled_q <= filled_q == 4'd8 ? 4'd1 : filled_q + 4'd1;", "filled_q <= filled_q + 4'd1;"),
            ("take && count_q == LengthWidth'(3)", "take && count_q == LengthWidth'(2)"),
            ("crc_q == Residue && !error_q;", "crc_q == Residue;"),
            ("count_q == LengthWidth'(OctetsMax - 1)", "1'b0"),
            ("|| (finish && filled_q != '0);", "|| (finish && filled_q == 4'd8);"),
            ("assign refused = delimiter && state_q == StIdle && !rested_q;", "assign refused = 1'b0;"),
        ),
    ),
    Proof(
        "gmii_tx",
        1,
        (
            ("localparam logic [3:0] GapLast = 4'(12 - Lead);", "localparam logic [3:0] GapLast = 4'(11 - Lead);"),
            ("step_q >= GapLast - 4'd2", "step_q >= GapLast - 4'd3"),
            ("ready_o = !start_q && ", "ready_o = "),
            ("StPreamble: if (step_q == 4'd7) state_q <= StData;", "StPreamble: if (step_q == 4'd6) state_q <= StData;"),
            (
                "delimiter_o  <= line_q == StPreamble && line_step_q == 4'd7;",
                "delimiter_o  <= line_q == StPreamble && line_step_q == 4'd6;",
            ),
            ("if (step_q == 4'd3) begin", "if (step_q == 4'd2) begin"),
        ),
    ),
    Proof(
        "gate_control",
        1,
        (
            ("assign pop = push_q != pop_q && !since[EdgeWidth-1];", "assign pop = push_q != pop_q;"),
            ("assign rooms = !full && (closing & ring_full) == '0;", "assign rooms = (closing & ring_full) == '0;"),
            ("if (edge_q == begin_q || !changed || !runs_q)", "if (!changed || !runs_q)"),
            ("closing == '0 ? StPush : StClose", "StPush"),
            ("usable_q <= known || !late_o || stalls;", "usable_q <= 1'b1;"),
            ("known_q <= (known || late_o) && !off;", "known_q <= known && !off;"),
            ("taken_q[c] && !(bounded_q[c] && left[c][NearWidth-1]);", "taken_q[c];"),
            ("(NearWidth'(ask_octets_i) + NearWidth'(Overhead));", "NearWidth'(ask_octets_i);"),
            ("if (closes[c]) ring_pop_q[c] <= ring_pop_q[c] + 1'b1;", "if (pop) ring_pop_q[c] <= ring_pop_q[c] + 1'b1;"),
            ("assign closing = put_states_q & ~states_q;", "assign closing = put_states_q ^ states_q;"),
        ),
        cut=("dut.sum", "dut.carry"),
    ),
)


def translate(proof: Proof, rtl: pathlib.Path, smt: pathlib.Path, parameters: tuple[tuple[str, int], ...]) -> None:
    """Writes the transition system of a proof over the RTL in a folder."""
    options = " ".join(f"-G {name}={value}" for name, value in parameters)
    files = [rtl / f"{proof.module}.sv", *(RTL / name for name in proof.files), FORMAL / f"{proof.top}.sv"]
    passes = [
        f"read_slang -D SYNTHESIS -I {RTL} --top {proof.top} {options} " + " ".join(map(str, files)),
        f"prep -top {proof.top} -flatten",
        *(f"cutpoint w:{name}" for name in proof.cut),
        *proof.passes,
        f"write_smt2 -wires {smt}",
    ]
    done = subprocess.run([sys.executable, "-c", DRIVER, *passes], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{proof.top}: {(done.stdout + done.stderr)[-2000:]}")


def failing(proof: Proof, smt: pathlib.Path, *, first: bool) -> list[str]:
    """Names of what fails, in a first step after a reset or in the step of the induction; or the first of them.

    Each assertion is asked for by itself, given all of them in the steps before.
    """
    text = smt.read_text()
    names = re.findall(r"^; yosys-smt2-assert (\d+) (\S+)$", text, re.MULTILINE)
    if not names:
        raise RuntimeError(f"{proof.top} asserts nothing")
    states = [f"s{number}" for number in range(proof.steps + 1)]
    lines = ["(set-logic QF_UFBV)", text, *(f"(declare-fun {name} () |{proof.top}_s|)" for name in states)]
    asked: list[str] = []

    def reach(number: int) -> None:
        """Allows what the callers may do up to a state."""
        lines.append(f"(assert (and (|{proof.top}_h| {states[number]}) (|{proof.top}_u| {states[number]})))")
        if number:
            lines.append(f"(assert (|{proof.top}_t| {states[number - 1]} {states[number]}))")

    def ask(name: str) -> None:
        for number, what in names:
            asked.append(what)
            lines.extend(["(push 1)", f"(assert (not (|{proof.top}_a {number}| {name})))", "(check-sat)", "(pop 1)"])

    for start in (f"(assert (|{proof.top}_i| s0))", None):
        lines.append("(push 1)")
        if start:
            lines.append(start)
        for number, name in enumerate(states):
            reach(number)
            if start or number == proof.steps:
                ask(name)
            lines.append(f"(assert (|{proof.top}_a| {name}))")
        lines.append("(pop 1)")
    command = [str(SCRIPTS / "yices-smt2"), "--incremental"]
    answers: list[str] = []
    with tempfile.TemporaryFile("w+") as questions:
        questions.write("\n".join(lines))
        questions.seek(0)
        solver = subprocess.Popen(command, stdin=questions, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    with solver:
        assert solver.stdout
        for line in solver.stdout:
            answers.append(line.strip())
            if first and answers[-1] == "sat":
                solver.kill()
                return [asked[len(answers) - 1]]
    if len(answers) != len(asked) or set(answers) - {"sat", "unsat"}:
        raise RuntimeError(f"{proof.top}: {answers[-20:]}")
    return list(dict.fromkeys(what for what, answer in zip(asked, answers, strict=True) if answer == "sat"))


def check(proof: Proof, mutation: tuple[str, str] | None = None) -> list[str]:
    """What fails of the module, or the first that fails of it with a fault."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        text = (RTL / f"{proof.module}.sv").read_text()
        if mutation:
            before, after = mutation
            if text.count(before) != 1:
                raise ValueError(f"{proof.module}: not once in its text: {before}")
            text = text.replace(before, after)
        (folder / f"{proof.module}.sv").write_text(text)
        smt = folder / "proof.smt2"
        translate(proof, folder, smt, proof.mutated if mutation else ())
        return failing(proof, smt, first=mutation is not None)


def note(noted: dict[str, str], name: str, digest: str) -> None:
    noted[name] = digest
    PROVED.write_text(json.dumps(noted, indent=2, sort_keys=True) + "\n")


def main(arguments: list[str]) -> int:
    chosen = [argument for argument in arguments if not argument.startswith("-")]
    unknown = set(chosen) - {proof.module for proof in PROOFS} - {"crossings"}
    if unknown:
        print(f"no proof of {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    wrong = 0
    noted = json.loads(PROVED.read_text()) if PROVED.exists() else {}
    for proof in PROOFS:
        if chosen and proof.module not in chosen:
            continue
        begin = os.times().children_user
        failed = check(proof)
        spent = os.times().children_user - begin
        found = not failed
        print(f"{proof.module:16} {'FAILS: ' + ', '.join(failed) if failed else f'proved, {spent:.0f} s'}", flush=True)
        for mutation in () if "--proofs" in arguments else proof.mutations:
            failed = check(proof, mutation)
            found &= bool(failed)
            print(f"  {', '.join(failed) or 'NOT FOUND'}: {mutation[0]} -> {mutation[1] or 'nothing'}", flush=True)
        wrong += not found
        if found and "--proofs" not in arguments:
            note(noted, proof.module, proof.hash())
    if not chosen or "crossings" in chosen:
        if crossings.main():
            note(noted, "crossings", crossings.checked_hash())
        else:
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
