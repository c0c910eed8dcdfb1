"""The views of a TDMA network: slots of a cycle, what a standby takes over, the cycles of a run."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from report_page import ROOT, WIDTHS, Opened, report_of


@pytest.mark.parametrize("width", WIDTHS, ids=str)
def test_the_slots_of_a_tdma_cycle_are_drawn(
    browser: Browser, tmp_path: Path, width: str
) -> None:
    report = report_of(tmp_path, ROOT / "scenarios" / "tdma.yaml")
    opened = Opened(browser, report, WIDTHS[width])
    table = opened.page.locator("#timetable")
    rows = table.locator(".time-row:not(.axis)")
    assert rows.locator(".time-name").all_inner_texts() == [
        "master",
        "standby",
        "slave-a",
        "slave-c",
    ]
    assert rows.nth(0).locator("rect.synchronisation").count() == 2, (
        "two basic cycles until all repeats"
    )
    assert rows.nth(3).locator("rect.ordinary").count() == 1, "every other cycle"
    box = rows.nth(3).locator("svg").bounding_box()
    slot = rows.nth(3).locator("rect").bounding_box()
    assert abs((slot["x"] - box["x"]) / box["width"] - 0.75) < 0.01, "1.5 of 2 ms"
    table.get_by_role("button", name="One cycle").click()
    assert rows.nth(3).locator("rect").count() == 0, "not in the cycles of even number"
    assert rows.nth(0).locator("rect").count() == 2
    rows.nth(0).locator("rect.real-time").click()
    assert "150.000" in table.locator(".chosen").inner_text()
    width = opened.page.evaluate("document.documentElement.scrollWidth")
    assert width <= opened.page.viewport_size["width"]
    opened.is_quiet()
    opened.context.close()


@pytest.mark.parametrize("width", WIDTHS, ids=str)
def test_the_takeover_of_a_standby_is_drawn(
    browser: Browser, tmp_path: Path, width: str
) -> None:
    report = report_of(tmp_path, ROOT / "scenarios" / "tdma-failures.yaml")
    opened = Opened(browser, report, WIDTHS[width])
    page = opened.page
    data = json.loads(page.locator("#tautwire-data").text_content())["summary"]
    stated, failures = data["takeover"], data["failures"]
    assert [failure["failure"] for failure in failures] == [
        "stations",
        "links",
        "frames",
        "all",
    ]
    rows = page.locator("#takeover .takeover-row")
    assert rows.count() == 2 + len(failures)

    def share(row: int, part: str) -> float:
        box = rows.nth(row).locator("svg").bounding_box()
        return (
            rows.nth(row).locator(f"rect.takeover-{part}").bounding_box()["width"]
            / box["width"]
        )

    stretch = share(0, "cycle") / stated["cycle_ps"]
    assert abs(share(0, "watch") - stretch * stated["watch_ps"]) < 0.005
    assert abs(share(1, "added") - stretch * stated["takeover_max_ps"]) < 0.005
    for row, failure in enumerate(failures, start=2):
        assert abs(share(row, "added") - stretch * failure["added_max_ps"]) < 0.005
    mark = rows.nth(0).locator("line.takeover-seen").bounding_box()
    box = rows.nth(0).locator("svg").bounding_box()
    middle = mark["x"] + mark["width"] / 2
    assert (
        abs(
            (middle - box["x"]) / box["width"] - stretch * stated["silence_observed_ps"]
        )
        < 0.01
    )
    assert "at most" in rows.last.inner_text() and "seen" in rows.last.inner_text()
    assert rows.nth(2).locator("line.takeover-seen").count() == 0, (
        "a run shows all that fails together"
    )
    assert (
        page.evaluate("document.documentElement.scrollWidth")
        <= page.viewport_size["width"]
    )
    opened.is_quiet()
    opened.context.close()


@pytest.mark.parametrize("width", WIDTHS, ids=str)
def test_the_cycles_of_a_tdma_run_are_drawn(
    browser: Browser, tmp_path: Path, width: str
) -> None:
    """A row for each cycle with its opener and what became of each slot; pages, a way to one cycle, the odd ones."""
    report = report_of(tmp_path, ROOT / "scenarios" / "tdma-failures.yaml")
    opened = Opened(browser, report, WIDTHS[width])
    page = opened.page
    data = json.loads(page.locator("#tautwire-data").text_content())["summary"]
    cycles = data["tdma_cycles"]["cycles"]
    table = page.locator("#timetable")
    table.get_by_role("button", name="Cycles of the run").click()
    rows = table.locator(".cycle-row[role=listitem]")
    assert rows.count() == 40 < len(cycles)
    table.get_by_role("button", name="more cycles").click()
    assert rows.count() == 80
    first = next(
        place for place, cycle in enumerate(cycles) if cycle["opened_by"] == "standby"
    )
    assert rows.locator(".cycle-opener").all_inner_texts() == [
        cycle["opened_by"] for cycle in cycles[:80]
    ]
    for letter, kind in [("u", "used"), ("e", "empty"), ("x", "unheard")]:
        expected = sum(cycle["slots"].lower().count(letter) for cycle in cycles[:80])
        assert rows.locator(f"rect.fate-{kind}").count() == expected > 0, kind
    missed = sum(sum(map(str.isupper, cycle["slots"])) for cycle in cycles[:80])
    assert rows.locator("path.fate-missed").count() == missed > 0
    box = rows.nth(first).locator("svg").bounding_box()
    silent = rows.nth(first).locator("rect.fate-no-cycle").bounding_box()
    assert abs(silent["width"] / box["width"] - 0.1) < 0.01, (
        "the standby watches for 100 us of 1 ms"
    )
    assert rows.locator("rect.fate-no-cycle").count() == 1
    table.get_by_label("Go to cycle").fill(str(cycles[first]["number"]))
    name = rows.first.locator("button")
    name.focus()
    page.keyboard.press("Enter")
    told = table.locator(".chosen").inner_text().replace("\xa0", " ")
    assert (
        told.startswith(f"Cycle {cycles[first]['number']} at ")
        and "opened by the standby 100.000 µs later" in told
    )
    assert told == rows.first.locator("svg").get_attribute("aria-label").replace(
        "\xa0", " "
    )
    table.get_by_role("button", name="earlier cycles").click()
    assert rows.first.locator("b").inner_text() == str(cycles[first - 40]["number"])
    table.get_by_label("Only those out of the ordinary").check()
    odd = [
        place
        for place, cycle in enumerate(cycles)
        if re.search("[ExX]", cycle["slots"])
    ]
    assert rows.first.locator("b").inner_text() == str(cycles[odd[0]]["number"])
    assert (
        page.evaluate("document.documentElement.scrollWidth")
        <= page.viewport_size["width"]
    )
    opened.is_quiet()
    opened.context.close()


LONE_MASTER = """name: lone
network-control: none
vlans:
  1:
    tagged: all
defaults: {rate: 100 Mbit/s}
nodes: {master: {type: end-station}, a: {type: end-station}}
links: [{between: [master, a]}]
events: [{at: 605500 us, stop-node: master}, {at: 608500 us, start-node: master}, {at: 700 ms, stop-node: master}]
tdma:
  cycle: 1 ms
  synchronisation: opening
  slots: [{owner: a, offset: 250 us, length: 60 us}]
streams:
  - {name: opening, talker: master, listeners: all, payload: 46 B, traffic: {type: synchronisation}}
  - {name: x, talker: a, listeners: master, payload: 200 B, traffic: {type: periodic, interval: 5 ms}}
run: {duration: 710 ms}
"""


def test_time_without_a_cycle_is_drawn(browser: Browser, tmp_path: Path) -> None:
    """A master that stops and comes back, and stops for good; cycles that are not kept are counted."""
    scenario = tmp_path / "lone.yaml"
    scenario.write_text(LONE_MASTER, encoding="utf-8")
    opened = Opened(browser, report_of(tmp_path, scenario), WIDTHS["desktop"])
    table = opened.page.locator("#timetable")
    table.get_by_role("button", name="Cycles of the run").click()
    table.get_by_label("Go to cycle").fill("499")
    gaps = [
        text.replace("\xa0", " ")
        for text in table.locator(".cycle-gap").all_inner_texts()
    ]
    assert gaps == [
        "4.5 ms without a cycle",
        "9.5 ms without a cycle, until the end of the run",
    ]
    assert table.locator(".cycles-left-out").all_inner_texts() == [
        "106 cycles not kept",
        "88 cycles not kept",
    ]
    assert "194 further cycles" in table.locator(".cycle-tools").inner_text()
    opened.is_quiet()
    opened.context.close()
