"""Schedules by CP-SAT, the constraint solver of OR-Tools: exact, for small sets.

What it is asked is what the searches of Tautwire are asked, with the same margins. The unknowns are the instant at
which each talker dispatches and the wait at each port behind it. Two windows of one line, of periods *T* and *P*, are
apart if for a whole number *k* the second begins at least *k g* behind the end of the first and ends at most
*(k + 1) g* behind its begin, with *g* the greatest common divisor of both periods; so are two stays in one queue. Which
*k* it is, is chosen. One worker, one seed, and limits in the solver's own count of work instead of time: the same
question has the same answer everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import gcd
from typing import Any

__all__ = ["LIMIT", "solve"]

# Work for one question to the solver, in its own unit: some seconds of a processor.
LIMIT = 10.0
# Most whole numbers of a pair that are a choice each; more are one unknown.
CHOICES_MAX = 64

Flow = dict[str, Any]


@dataclass(frozen=True)
class Mark:
    """An instant: a sum of unknowns and a constant, and the least and the greatest that it can be."""

    at: Any
    least: int
    most: int

    def later(self, time: int) -> Mark:
        """The instant some time later."""
        return Mark(self.at + time, self.least + time, self.most + time)


@dataclass(frozen=True)
class Window:
    """From a mark to another one in every period, of a flow; of none, what is kept for other traffic."""

    flow: int | None
    begin: Mark
    end: Mark
    period: int


class Model:
    """Some flows of a question, each in the schedule or, if they are optional, in it where its literal is true."""

    def __init__(self, question: dict[str, Any], flows: Sequence[int], *, optional: bool) -> None:
        from ortools.sat.python import cp_model

        self.of: dict[int, list[Any]] = {}
        self.inside: dict[int, Any] = {}
        self.tails: list[Any] = []
        self.choices: list[Any] = []
        self.model = cp_model.CpModel()
        self.question = question
        self.quantum = quantum(question)
        self.kept = {one["flow"]: [self.exactly(at) for at in one["dispatch_ps"]] for one in question["kept"]}
        lines: dict[Any, list[Window]] = {}
        for flow in flows:
            if optional and flow < question["streams"]:
                self.inside[flow] = self.model.new_bool_var(f"in {flow}")
            for resource, window in self.windows(flow):
                lines.setdefault(resource, []).append(window)
        for number, link in enumerate(question["links"]):
            if link["room"] and ("link", number) in lines:
                end = Mark(0, 0, 0)
                length, cycle = (self.exactly(link["room"][key]) for key in ("length_ps", "cycle_ps"))
                lines["link", number].append(Window(None, end.later(-length), end, cycle))
        for windows in lines.values():
            for number, first in enumerate(windows):
                for second in windows[:number]:
                    self.apart(first, second)
        if not self.is_tied(flows):
            # Any schedule can be turned until one flow starts first.
            self.model.add(self.of[flows[0]][0] == self.start(self.question["flows"][flows[0]])[0])

    def exactly(self, ps: int) -> int:
        assert ps % self.quantum == 0
        return ps // self.quantum

    def start(self, flow: Flow) -> tuple[int, int]:
        return self.exactly(flow["start_min_ps"]), flow["start_max_ps"] // self.quantum

    def is_tied(self, flows: Sequence[int]) -> bool:
        """Whether instants are bound to the begin of cycles."""

        def anywhere(flow: Flow) -> bool:
            least, most = self.start(flow)
            return most - least + 1 == self.exactly(flow["period_ps"])

        rooms = any(link["room"] for link in self.question["links"])
        return rooms or bool(self.kept) or not flows or not all(anywhere(self.question["flows"][one]) for one in flows)

    def windows(self, number: int) -> Iterable[tuple[tuple[str, int], Window]]:
        """The windows of a flow on its lines and in its queues; its instants are unknowns then."""
        flow = self.question["flows"][number]
        precision, period = self.exactly(self.question["precision_ps"]), self.exactly(flow["period_ps"])
        least, most = self.start(flow)
        root = Mark(self.model.new_int_var(least, most, f"start {number}"), least, most)
        marks: list[Mark] = []
        deadline = flow["deadline_ps"]
        for place, hop in enumerate(flow["hops"]):
            queue = hop["queue"]
            until = self.exactly(queue["until_ps"]) if queue else 0
            if hop["previous"] is None:
                at = root
                comes = at.later(-self.exactly(queue["before_ps"])) if queue else at
            else:
                before = marks[hop["previous"]]
                ready = [self.exactly(hop[key]) for key in ("ready_min_ps", "ready_max_ps")]
                longest = ready[0] + period - precision - until - ready[1] - precision
                there = before.later(ready[1] + precision)
                wait = self.model.new_int_var(0, max(longest, 0), f"wait {number}.{place}")
                at = Mark(there.at + wait, there.least, there.most + max(longest, 0))
                comes = before.later(ready[0] - precision)
            if deadline is not None:
                room = (deadline - hop["tail_ps"]) // self.quantum
                self.model.add(at.at - root.at <= room)
                at = Mark(at.at, at.least, min(at.most, root.most + max(room, 0)))
            if number in self.kept:
                self.model.add(at.at == self.kept[number][place])
            marks.append(at)
            yield ("link", hop["link"]), Window(number, at, at.later(self.exactly(hop["window_ps"])), period)
            if queue:
                yield ("queue", queue["queue"]), Window(number, comes, at.later(until), period)
            if not any(other["previous"] == place for other in flow["hops"]):
                self.tails.append(at.at - root.at)
        self.of[number] = [mark.at for mark in marks]

    def apart(self, first: Window, second: Window) -> None:
        """Two windows never meet."""
        g = gcd(first.period, second.period)
        outside = [self.inside[one.flow].Not() for one in (first, second) if one.flow in self.inside]
        # second.begin - first.end >= k g, and second.end - first.begin <= (k + 1) g.
        last = (second.begin.most - first.end.least) // g
        begin = -((first.begin.most - second.end.least) // g) - 1
        if last - begin + 1 > CHOICES_MAX:
            k = self.model.new_int_var(begin, last, "")
            self.choices.append(k)
            for held in (
                self.model.add(second.begin.at - first.end.at >= k * g),
                self.model.add(second.end.at - first.begin.at <= (k + 1) * g),
            ):
                held.only_enforce_if([one.Not() for one in outside])
            return
        choices = []
        for turn in range(begin, last + 1):
            choice = self.model.new_bool_var("")
            self.model.add(second.begin.at - first.end.at >= turn * g).only_enforce_if(choice)
            self.model.add(second.end.at - first.begin.at <= (turn + 1) * g).only_enforce_if(choice)
            choices.append(choice)
        self.model.add_bool_or([*choices, *outside])
        self.choices += choices

    def run(self, limit: float) -> tuple[str, Any]:
        """How the solver ends, and the solver."""
        from ortools.sat.python import cp_model

        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        solver.parameters.max_deterministic_time = limit
        ended = solver.solve(self.model)
        words = {cp_model.OPTIMAL: "optimal", cp_model.FEASIBLE: "feasible", cp_model.INFEASIBLE: "infeasible"}
        return words.get(ended, "unknown"), solver

    def dispatch(self, solver: Any) -> dict[int, list[int]]:
        """The instants of a solution, picoseconds, of each flow that is in it."""
        inside = {flow for flow in self.of if flow not in self.inside or solver.boolean_value(self.inside[flow])}
        return {flow: [solver.value(at) * self.quantum for at in self.of[flow]] for flow in sorted(inside)}


def quantum(question: dict[str, Any]) -> int:
    """The greatest time of which all instants and lengths are multiples; those of deadlines are rounded down."""
    times = [question["precision_ps"]]
    for flow in question["flows"]:
        times += [flow["period_ps"], flow["start_min_ps"]]
        for hop in flow["hops"]:
            times += [hop["window_ps"], hop["ready_min_ps"], hop["ready_max_ps"]]
            times += [hop["queue"][key] for key in ("before_ps", "until_ps")] if hop["queue"] else []
    rooms = [link["room"] for link in question["links"] if link["room"]]
    times += [room[key] for room in rooms for key in ("cycle_ps", "length_ps")]
    times += [at for one in question["kept"] for at in one["dispatch_ps"]]
    return int(reduce(gcd, times))


def is_alone_impossible(question: dict[str, Any], flow: Flow) -> bool:
    """Whether a flow has no place even with nothing else on its lines."""
    precision, period, latest = question["precision_ps"], flow["period_ps"], []
    for hop in flow["hops"]:
        queue = hop["queue"]
        until = queue["until_ps"] if queue else 0
        if hop["previous"] is None:
            latest.append(0)
            too_long = queue is not None and queue["before_ps"] + until > period
        else:
            latest.append(latest[hop["previous"]] + hop["ready_max_ps"] + precision)
            too_long = hop["ready_min_ps"] + period - precision - until < hop["ready_max_ps"] + precision
        late = flow["deadline_ps"] is not None and latest[-1] + hop["tail_ps"] > flow["deadline_ps"]
        if too_long or late or hop["window_ps"] > period:
            return True
    return False


class Search:
    """The answer to one question, by as many questions to the solver as it takes."""

    def __init__(self, question: dict[str, Any], limit: float) -> None:
        self.question = question
        self.limit = limit
        self.streams = list(range(question["streams"]))
        self.rooms = list(range(question["streams"], len(question["flows"])))

    def ended(self, flows: Sequence[int]) -> str:
        """How the solver ends with all of some streams."""
        return Model(self.question, [*flows, *self.rooms], optional=False).run(self.limit)[0]

    def core(self) -> list[int] | None:
        """Streams that have no schedule together, by the solver's own reasoning; none if it does not find out."""
        made = Model(self.question, self.streams + self.rooms, optional=True)
        made.model.add_assumptions([made.inside[flow] for flow in self.streams])
        ended, solver = made.run(self.limit)
        if ended != "infeasible":
            return None
        named = set(solver.sufficient_assumptions_for_infeasibility())
        return [flow for flow in self.streams if made.inside[flow].index in named]

    def least(self, flows: list[int]) -> list[int]:
        """A least set: without any of its streams the others have a schedule, or the solver does not find out."""
        chunk = max(1, len(flows) // 2)
        while True:
            at = 0
            while at < len(flows):
                rest = flows[:at] + flows[at + chunk :]
                if rest and self.ended(rest) == "infeasible":
                    flows = rest
                else:
                    at += chunk
            if chunk == 1:
                return flows
            chunk = -(-chunk // 2)

    def most(self) -> dict[int, list[int]]:
        """A schedule of as many streams as the solver finds."""
        alone = [one for one in self.streams if not is_alone_impossible(self.question, self.question["flows"][one])]
        made = Model(self.question, alone + self.rooms, optional=True)
        made.model.maximize(sum(made.inside.values()))
        ended, solver = made.run(self.limit)
        return made.dispatch(solver) if ended in ("optimal", "feasible") else {}

    def answer(self, *, least_delay: bool) -> dict[str, Any]:
        """The verdict, the instants, and a least conflict."""
        alone = [one for one in self.streams if is_alone_impossible(self.question, self.question["flows"][one])]
        if alone:
            return self.given("impossible", self.most(), alone[:1])
        made = Model(self.question, self.streams + self.rooms, optional=False)
        ended, solver = made.run(self.limit)
        if ended in ("optimal", "feasible"):
            found = made.dispatch(solver)
            made.model.minimize(sum(made.tails))
            if not least_delay:
                # In the order that was found no frame waits longer than it must.
                for choice in made.choices:
                    made.model.add(choice == solver.value(choice))
            better, solver = made.run(self.limit)
            found = made.dispatch(solver) if better in ("optimal", "feasible") else found
            return self.given("scheduled", found, None)
        found = self.most()
        if ended == "unknown":
            whole = len(found) == len(self.streams) + len(self.rooms)
            return self.given("scheduled" if whole else "left out", found, None)
        return self.given("impossible", found, self.least(self.core() or self.streams))

    def given(self, verdict: str, found: dict[int, list[int]], conflict: list[int] | None) -> dict[str, Any]:
        return {
            "verdict": verdict,
            "dispatch_ps": [found.get(flow) for flow in range(len(self.question["flows"]))],
            "conflict": None if conflict is None else {"flows": conflict, "proven": True},
        }


def solve(question: str, *, limit: float = LIMIT, least_delay: bool = False) -> str:
    """Answers a question of Tautwire's synthesis; both are JSON.

    Parameters
    ----------
    question
        Lines, flows with their margins, rooms for other traffic, and instants that stay.
    limit
        Work for each question to the solver, in its own unit, some seconds of a processor; the same on each machine.
    least_delay
        Whether to go on to the least sum of delays of all orders of frames. In the order that is found first delays are
        as short as they can be, anyway.
    """
    return json.dumps(Search(json.loads(question), limit).answer(least_delay=least_delay))
