"""Sweeps over parameters and seeds."""

import io

import pytest
from networks import make_two_hosts

import tautwire
from tautwire.progress import Progress


def delay(duration: str, seed: int) -> dict[str, int]:
    run = tautwire.simulate(make_two_hosts(), duration=duration, seed=seed)
    observed = run.stream("slow")["listeners"][0]["observed"]
    return {"frames": observed["count"], "max_ps": observed["delay_max_ps"]}


def fail(number: int) -> int:
    if number == 2:
        raise tautwire.UnknownNameError("number 2", code="test::two")
    return number


def test_processes_give_what_one_process_gives() -> None:
    points = tautwire.grid(duration=["1900 us", "4900 us"])
    alone = tautwire.sweep(delay, points, seeds=[1, 2], workers=1)
    spread = tautwire.sweep(delay, points, seeds=[1, 2], workers=2)
    assert alone == spread
    assert [(row["duration"], row["seed"], row["frames"]) for row in spread] == [
        ("1900 us", 1, 2),
        ("1900 us", 2, 2),
        ("4900 us", 1, 5),
        ("4900 us", 2, 5),
    ]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_exception_of_a_call_is_raised(workers: int) -> None:
    with pytest.raises(tautwire.UnknownNameError, match="number 2"):
        tautwire.sweep(fail, tautwire.grid(number=[1, 2, 3]), workers=workers)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_is_drawn_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Progress, "INTERVAL", 0.0)
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        with Progress(2, "runs", stream) as progress:
            progress.advance()
    assert "1/2 runs" in terminal.getvalue()
    assert pipe.getvalue() == ""
