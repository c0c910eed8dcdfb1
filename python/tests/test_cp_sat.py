"""Schedules by CP-SAT: small questions against brute force, and networks beside the searches of Tautwire."""

import itertools
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ortools")

import tautwire
from tautwire import cp_sat

SCENARIOS = Path(__file__).parents[2] / "scenarios"

Question = dict[str, Any]


def drawn(draw: random.Random) -> Question:
    """Three lines, and up to four flows of one to three hops in a row, of times so short that all can be tried."""
    lines, queues, precision = 3, draw.choice([0, 1, 3]), draw.choice([0, 0, 1])

    def flow(number: int) -> dict[str, Any]:
        period = draw.choice([4, 6, 8, 12])
        least = draw.choice([0, 0, 0, draw.randrange(period)])
        most = period - 1 if least == 0 else min(least + draw.randrange(3), period - 1)
        hops: list[dict[str, Any]] = []
        for place, line in enumerate(draw.sample(range(lines), draw.randint(1, 3))):
            ready = draw.randint(1, 2)
            queue = {"queue": line, "before_ps": draw.randint(0, 1), "until_ps": draw.randint(1, 2)}
            hops.append(
                {
                    "link": line,
                    "previous": None if place == 0 else place - 1,
                    "window_ps": draw.randint(1, 3),
                    "ready_min_ps": 0 if place == 0 else ready,
                    "ready_max_ps": 0 if place == 0 else ready + draw.randint(0, 1),
                    "tail_ps": draw.randint(1, 2),
                    "queue": queue if queues and line < queues else None,
                }
            )
        return {
            "name": f"f{number}",
            "period_ps": period,
            "deadline_ps": draw.choice([None, draw.randint(2, 12)]),
            "start_min_ps": least,
            "start_max_ps": most,
            "hops": hops,
        }

    rooms = [draw.choice([None, None, {"cycle_ps": draw.choice([4, 6]), "length_ps": 1}]) for _ in range(lines)]
    streams = draw.randint(1, 4)
    flows = [flow(number) for number in range(streams)]
    for line in range(lines):
        cycle = 24
        if rooms[line] is None and draw.random() < 0.2:
            only = dict.fromkeys(("previous", "queue")) | {"link": line, "window_ps": draw.randint(1, 4)}
            hop = only | dict.fromkeys(("ready_min_ps", "ready_max_ps", "tail_ps"), 0)
            room = {"name": "room", "period_ps": cycle, "deadline_ps": None, "start_min_ps": 0}
            flows.append(room | {"start_max_ps": cycle - 1, "hops": [hop]})
    return {
        "precision_ps": precision,
        "links": [{"name": f"l{line}", "room": room} for line, room in enumerate(rooms)],
        "flows": flows,
        "streams": streams,
        "kept": [],
    }


def taken(question: Question, flow: dict[str, Any], at: list[int]) -> Iterator[tuple[tuple[str, int], set[int]]]:
    """The time that a flow takes of its lines and queues, of 24 in all."""
    period = flow["period_ps"]
    for hop, instant in zip(flow["hops"], at, strict=True):
        spans = [(("link", hop["link"]), instant, instant + hop["window_ps"])]
        if queue := hop["queue"]:
            begin = instant - queue["before_ps"]
            if hop["previous"] is not None:
                begin = at[hop["previous"]] + hop["ready_min_ps"] - question["precision_ps"]
            spans.append((("queue", queue["queue"]), begin, instant + queue["until_ps"]))
        for resource, begin, end in spans:
            if end - begin > period:
                yield resource, set(range(25))  # More than there is.
            yield resource, {(time + turn) % 24 for turn in range(0, 24, period) for time in range(begin, end)}


def ways(question: Question, flow: dict[str, Any]) -> Iterator[list[int]]:
    """All instants of a flow by itself."""
    precision = question["precision_ps"]

    def on(at: list[int]) -> Iterator[list[int]]:
        if len(at) == len(flow["hops"]):
            yield at
            return
        hop = flow["hops"][len(at)]
        until = hop["queue"]["until_ps"] if hop["queue"] else 0
        first = at[-1] + hop["ready_max_ps"] + precision
        last = at[-1] + hop["ready_min_ps"] + flow["period_ps"] - precision - until
        if flow["deadline_ps"] is not None:
            last = min(last, flow["deadline_ps"] - hop["tail_ps"] + at[0])
        for instant in range(first, last + 1):
            yield from on([*at, instant])

    for start in range(flow["start_min_ps"], flow["start_max_ps"] + 1):
        if flow["deadline_ps"] is None or flow["hops"][0]["tail_ps"] <= flow["deadline_ps"]:
            yield from on([start])


def free(question: Question) -> dict[tuple[str, int], set[int]]:
    """What is free of each line and queue before any flow."""
    left = {("link", line): set(range(24)) for line in range(len(question["links"]))}
    for line, link in enumerate(question["links"]):
        if room := link["room"]:
            kept = range(room["cycle_ps"] - room["length_ps"], room["cycle_ps"])
            left["link", line] -= {time + turn for turn in range(0, 24, room["cycle_ps"]) for time in kept}
    return left | {("queue", queue): set(range(24)) for queue in range(3)}


def fits(question: Question, flows: list[int], left: dict[tuple[str, int], set[int]]) -> bool:
    """Whether some flows have a place in what is left, by trying all instants."""
    if not flows:
        return True
    flow = question["flows"][flows[0]]
    for at in ways(question, flow):
        after = dict(left)
        for resource, times in taken(question, flow, at):
            if not times <= after[resource]:
                break
            after[resource] = after[resource] - times
        else:
            if fits(question, flows[1:], after):
                return True
    return False


def has_schedule(question: Question, streams: tuple[int, ...]) -> bool:
    rooms = list(range(question["streams"], len(question["flows"])))
    return fits(question, [*streams, *rooms], free(question))


def holds(question: Question, dispatch: list[list[int] | None]) -> bool:
    """Whether instants are a schedule of the flows that have some."""
    left = free(question)
    for flow, at in zip(question["flows"], dispatch, strict=True):
        if at is None:
            continue
        if at not in list(ways(question, flow)):
            return False
        for resource, times in taken(question, flow, at):
            if not times <= left[resource]:
                return False
            left[resource] = left[resource] - times
    return True


@pytest.mark.parametrize("choices", [cp_sat.CHOICES_MAX, 1])
def test_small_questions_are_answered_as_brute_force_does(choices: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cp_sat, "CHOICES_MAX", choices)
    draw = random.Random(choices)
    seen = {"scheduled": 0, "impossible": 0}
    for _ in range(80 * int(os.environ.get("TAUTWIRE_TIMES", "1"))):
        question = drawn(draw)
        text = json.dumps(question)
        answer = json.loads(cp_sat.solve(text))
        assert cp_sat.solve(text) == json.dumps(answer), "the same question has the same answer"
        streams = tuple(range(question["streams"]))
        seen[answer["verdict"]] += 1
        assert holds(question, answer["dispatch_ps"]), question
        placed = [flow for flow in streams if answer["dispatch_ps"][flow] is not None]
        if answer["verdict"] == "scheduled":
            assert len(placed) == len(streams) and answer["conflict"] is None
            continue
        assert not has_schedule(question, streams), question
        # As many as can be, and no fewer.
        more = itertools.combinations(streams, len(placed) + 1)
        assert not any(has_schedule(question, some) for some in more), question
        conflict = answer["conflict"]["flows"]
        assert answer["conflict"]["proven"] and not has_schedule(question, tuple(conflict)), question
        for flow in conflict:
            rest = tuple(one for one in conflict if one != flow)
            assert not rest or has_schedule(question, rest), (question, conflict)
    assert min(seen.values()) > 15, seen


def plant(
    deadline: str = "30 us", talkers: tuple[str | None, ...] = ("479 us", "119 us", "249 us", "374 us", None)
) -> Any:
    """Talkers that send at an instant, or at any, over one port; files need room for their largest frame there."""
    network = tautwire.Network("plant", network_control="none", run={"duration": "5 ms"}, vlans={1: {"tagged": "all"}})
    network.settings["defaults"] = {"rate": "100 Mbit/s", "traffic_class_table": "identity"}
    network.bridge("s")
    for name in ("z", "server", *(f"t{number}" for number in range(len(talkers)))):
        network.end_station(name)
        network.link(name, "s")
    for number, at in enumerate(talkers):
        required = {} if at is None else {"earliest_transmit_offset": at, "latest_transmit_offset": at}
        network.stream(
            f"order{number}",
            f"t{number}",
            "z",
            priority=7,
            payload="100 B",
            deadline=deadline,
            traffic=tautwire.Periodic("500 us"),
            time_aware=required,
        )
    network.stream("files", "server", "z", payload="1500 B", traffic=tautwire.ConstantRate("20 Mbit/s"))
    return network


def test_room_for_others_may_be_anywhere_in_the_cycle() -> None:
    network = plant()
    # First fit takes the one gap that is long enough for the files, and their room then is the end of the cycle.
    left_out, _ = network.schedule()
    assert (left_out["verdict"], left_out["conflict"]["proven"]) == ("left out", False)
    schedule, scheduled = network.schedule(method="cp-sat")
    assert (schedule["verdict"], schedule["conflict"], schedule["unproven"]) == ("scheduled", None, [])
    assert all(stream["proven"] for stream in schedule["streams"])
    assert (schedule["run"]["verdict"], schedule["run"]["not_proven"]) == ("proven", [])
    assert scheduled is not None and tautwire.verify(scheduled, seed=7).verdict == "proven"
    offsets = {stream["name"]: stream["offset_ps"] for stream in schedule["streams"]}
    assert [offsets[f"order{number}"] for number in range(4)] == [479_000_000, 119_000_000, 249_000_000, 374_000_000]
    assert network.schedule(method="cp-sat")[0] == schedule
    # What it found stays as it is, by either search.
    kept, _ = scheduled.schedule(method="cp-sat", keep=True)
    assert {stream["name"]: stream["offset_ps"] for stream in kept["streams"]} == offsets


def test_what_cannot_be_is_proven_by_the_least_set() -> None:
    schedule, _ = plant(talkers=("100 us", None, "105 us", None)).schedule(method="cp-sat")
    assert schedule["verdict"] == "impossible"
    assert schedule["conflict"] == {"streams": ["order0", "order2"], "proven": True}
    assert [stream["offset_ps"] is None for stream in schedule["streams"]].count(True) == 1
    late, _ = plant(deadline="20 us").schedule(method="cp-sat")
    assert (late["verdict"], late["conflict"]["streams"]) == ("impossible", ["order0"])
    assert all(stream["offset_ps"] is None for stream in late["streams"])


@pytest.mark.parametrize("name", ["gates-to-be-scheduled", "to-be-scheduled"])
def test_scenarios_are_scheduled_beside_the_search(name: str) -> None:
    network = tautwire.load(SCENARIOS / f"{name}.yaml")
    ours, _ = network.schedule()
    schedule, scheduled = network.schedule(method="cp-sat")
    assert ours["verdict"] == schedule["verdict"] == "scheduled" and scheduled is not None
    assert schedule["run"]["not_proven"] == []


def test_what_is_asked_wrongly_is_refused() -> None:
    with pytest.raises(tautwire.SolverError, match="neither"):
        plant().schedule(method="z3")  # type: ignore[arg-type]
    with pytest.raises(tautwire.SolverError, match="change in a run"):
        plant().schedule(method="cp-sat", at="1 ms")
    with pytest.raises(tautwire.UnknownNameError, match="nothing to schedule"):
        plant(talkers=()).schedule(method="cp-sat")


def test_a_schedule_that_is_none_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the solver answers is compared by other code."""
    right = cp_sat.solve

    def wrong(question: str, **how: Any) -> str:
        answer = json.loads(right(question, **how))
        answer["dispatch_ps"][0][-1] -= 1_000
        return json.dumps(answer)

    monkeypatch.setattr(cp_sat, "solve", wrong)
    with pytest.raises(tautwire.UnknownNameError, match="the search gave a schedule that is none"):
        plant().schedule(method="cp-sat")

    def fails(question: str, **how: Any) -> str:
        raise ArithmeticError("solver")

    monkeypatch.setattr(cp_sat, "solve", fails)
    with pytest.raises(ArithmeticError, match="solver"):
        plant().schedule(method="cp-sat")
