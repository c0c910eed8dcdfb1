"""The views of one mechanism each: timetables, elementary cycles, test beds, virtual links, copies."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from report_page import ROOT, WIDTHS, Opened, report_of

TIME_TRIGGERED = """name: timed
network-control: none
vlans:
  1:
    tagged: all
time-triggered: {precision: 1 us, raster: {cycle: 1 ms, window: 400 us}}
defaults: {rate: 100 Mbit/s, traffic-class-table: identity}
nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge}}
links: [{between: [a, s]}, {between: [s, b]}]
streams:
  - {name: fast, talker: a, listeners: b, payload: 100 B, traffic: {type: periodic, interval: 1 ms},
     time-triggered: {id: 1, period: 1 ms, offset: 0 us}}
  - {name: slow, talker: a, listeners: b, payload: 900 B, traffic: {type: periodic, interval: 4 ms},
     time-triggered: {id: 2, period: 4 ms, offset: 1100 us}}
run: {duration: 20 ms}
"""


def test_the_schedule_of_time_triggered_links_is_drawn(
    browser: Browser, tmp_path: Path
) -> None:
    scenario = tmp_path / "timed.yaml"
    scenario.write_text(TIME_TRIGGERED, encoding="utf-8")
    opened = Opened(browser, report_of(tmp_path, scenario), WIDTHS["desktop"])
    page = opened.page
    rows = page.locator("#timetable .time-row:not(.axis)")
    assert rows.locator(".time-name").all_inner_texts() == ["a.p1", "s.p2"]
    assert rows.nth(0).locator("rect").count() == 5, (
        "four of the fast link, one of the slow one"
    )
    page.locator("#timetable rect").filter(has_text="slow").first.click()
    assert page.locator("#stream h2").inner_text().startswith("slow")
    opened.is_quiet()
    opened.context.close()


def test_elementary_cycles_are_drawn_with_their_frames(
    browser: Browser, tmp_path: Path
) -> None:
    report = report_of(tmp_path, ROOT / "scenarios" / "harts-synchronous.yaml")
    opened = Opened(browser, report, WIDTHS["desktop"])
    table = opened.page.locator("#timetable")
    assert table.locator("h2").inner_text() == "Elementary cycles"
    rows = table.locator(".time-row:not(.axis)")
    windows = ["trigger", "turn-around", "synchronous", "asynchronous"]
    for row in range(rows.count()):
        for window in windows:
            assert rows.nth(row).locator(f"rect.slot.{window}").count() == 1, (
                "one cycle is shown"
            )
    table.get_by_role("button", name="Whole").click()
    assert rows.nth(0).locator("rect.slot.trigger").count() == 32
    frames = table.locator("rect.cycle-frame.synchronous")
    assert frames.count() > 0
    frames.first.dispatch_event("click")
    assert "synchronous window" in table.locator(".chosen").inner_text()
    opened.is_quiet()
    opened.context.close()


def test_the_messages_of_a_test_bed_have_their_fate_and_their_links(
    browser: Browser, tmp_path: Path
) -> None:
    scenario = ROOT / "scenarios" / "test-bed.yaml"
    report = report_of(tmp_path, scenario)
    opened = Opened(browser, report, WIDTHS["desktop"])
    messages = opened.page.evaluate(
        "() => JSON.parse(document.getElementById('tautwire-data').textContent).summary.test.messages"
    )
    rows = opened.page.locator("#test-bed tbody tr")
    assert rows.count() == sum(1 + len(one["links"]) for one in messages)
    heads = [
        text.strip()
        for text in opened.page.locator("#test-bed thead th").all_text_contents()
    ]
    for column, key in (
        ("Misdirected", "misdirected"),
        ("Corrupted", "corrupted"),
        ("Repeated", "repeated"),
    ):
        cells = opened.page.locator(
            f"#test-bed tr.first > :nth-child({heads.index(column) + 1})"
        ).all_inner_texts()
        assert [int(cell) for cell in cells] == [one[key] for one in messages]
    opened.is_quiet()
    opened.context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_the_virtual_links_are_a_table_by_end_system(
    browser: Browser, tmp_path: Path, width: str
) -> None:
    """A row for each link with its BAG, what it is granted, its bound; a press shows its stream."""
    scenario = ROOT / "scenarios" / "avionics.yaml"
    path = report_of(tmp_path, scenario)
    opened = Opened(browser, path, WIDTHS[width])
    rows = opened.page.locator("#virtual-links tbody tr")
    expected = opened.page.evaluate(
        "() => JSON.parse(document.getElementById('tautwire-data').textContent).summary.virtual_links"
    )
    assert rows.count() == len(expected) > 3
    first = expected[0]
    text = rows.nth(0).inner_text()
    assert first["talker"] in text and str(first["id"]) in text
    assert f"{first['bag_ps'] // 10**9}" in text
    rows.nth(0).locator("button").click()
    assert opened.page.inner_text("#stream h2").startswith(first["streams"][0])
    opened.is_quiet()
    opened.context.close()


def test_members_of_a_stream_with_copies_are_shown(
    browser: Browser, tmp_path: Path
) -> None:
    """Both ways of the copies have their hops, recovery functions their members, and copies that are eliminated are not lost."""
    report = report_of(tmp_path, ROOT / "scenarios" / "member-streams.yaml")
    opened = Opened(browser, report, WIDTHS["desktop"])
    page = opened.page
    page.locator("#streams button", has_text="orders").click()
    hops = page.locator(".breakdown tbody tr th").all_inner_texts()
    short = ["controller.p1 → s1", "s1.p2 → s2", "s2.p2 → s4", "s4.p3 → motor"]
    long = ["s1.p3 → s3, another way", "s3.p2 → s5", "s5.p2 → s4", "s4.p3 → motor"]
    assert [" ".join(hop.split()) for hop in hops] == short + long
    recovery = page.locator("table", has_text="latent errors").locator("tbody tr")
    assert recovery.count() == 1
    assert " ".join(recovery.first.inner_text().split()).startswith(
        "orders s4 sequence p1, p2 160 120 "
    )
    assert (
        page.locator("#losses .note").inner_text()
        == "40 copies lost, 120 copies eliminated"
    )
    opened.is_quiet()
    opened.context.close()
