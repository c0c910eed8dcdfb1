"""The report in a real browser: Debian's Chromium, driven by playwright, from file://.

The report is that of ``TAUTWIRE_REPORT`` if it is set, else the one that the command ``tautwire``
makes of ``scenarios/in-vehicle.yaml`` if it is on the path and can, else the sample that
``crates/report/examples/sample_report.rs`` writes.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("TAUTWIRE_CHROMIUM", "/usr/bin/chromium")
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}


def of_command(
    folder: Path, scenario: Path = ROOT / "scenarios" / "in-vehicle.yaml"
) -> Path | None:
    """The report of a run that the command makes; nothing if there is no command or scenario."""
    command = shutil.which("tautwire")
    if command is None or not scenario.is_file():
        return None
    run = folder / "run"
    subprocess.run(
        [command, "verify", str(scenario), "--out", str(run)],
        check=False,
        capture_output=True,
    )
    subprocess.run([command, "report", str(run)], check=True, capture_output=True)
    return next(run.rglob("*.html"), None) or next(folder.rglob("*.html"), None)


def of_sample(folder: Path, *scenario: Path) -> Path:
    """The report of a made-up run, or of a scenario."""
    path = folder / "sample.html"
    cargo = ["cargo", "run", "--quiet", "--locked", "--package", "tautwire-report"]
    named = [str(path), *map(str, scenario)]
    subprocess.run(
        [*cargo, "--example", "sample_report", "--", *named], check=True, cwd=ROOT
    )
    return path


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report under test."""
    given = os.environ.get("TAUTWIRE_REPORT")
    if given:
        return Path(given).resolve()
    folder = tmp_path_factory.mktemp("report")
    return of_command(folder) or of_sample(folder)


@pytest.fixture(scope="session")
def browser():
    """Chromium, once for all tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield browser
        browser.close()


class Opened:
    """A report in a page, with all that it said and asked for."""

    def __init__(
        self,
        browser: Browser,
        report: Path,
        size: tuple[int, int],
        scheme: str = "light",
    ) -> None:
        width, height = size
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        self.page: Page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on(
            "console",
            lambda message: self.said.append(f"{message.type}: {message.text}"),
        )
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.url = report.as_uri()
        self.page.goto(self.url)
        self.page.wait_for_selector("#streams tbody tr")

    def is_quiet(self) -> None:
        """Nothing was said, and nothing asked for but the page and what it holds itself."""
        assert self.said == []
        others = [
            url for url in self.asked if url != self.url and not url.startswith("data:")
        ]
        assert others == []


@pytest.fixture(params=WIDTHS, ids=str)
def opened(request: pytest.FixtureRequest, browser: Browser, report: Path):
    opened = Opened(browser, report, WIDTHS[request.param])
    yield opened
    opened.is_quiet()
    opened.context.close()


def visible_columns(page: Page) -> list[str]:
    heads = page.locator("#streams thead th")
    return [
        heads.nth(n).inner_text()
        for n in range(heads.count())
        if heads.nth(n).is_visible()
    ]


def test_everything_is_there(opened: Opened) -> None:
    page = opened.page
    for section in ["topology", "streams", "stream", "links", "losses", "provenance"]:
        assert page.locator(f"#{section}").is_visible(), section
    assert page.locator("#streams tbody tr").count() >= 2
    assert page.locator("#links tbody tr").count() >= 2
    assert page.locator(".topology .node").count() >= 3
    assert page.locator(".topology .cable").count() >= 2
    assert len(page.locator("#provenance dd").nth(1).inner_text()) == 64, (
        "the scenario's SHA-256"
    )
    assert page.locator("header .badge").inner_text().strip() != ""


def test_nothing_is_wider_than_the_screen(opened: Opened) -> None:
    width = opened.page.evaluate("document.documentElement.scrollWidth")
    assert width <= opened.page.viewport_size["width"]
    over = """() => [...document.querySelectorAll("#streams .scroll, #stream .scroll")]
        .map((box) => box.scrollWidth - box.clientWidth)"""
    assert max(opened.page.evaluate(over)) <= 0, "the verdict is seen without scrolling"


def test_the_distribution_is_drawn(opened: Opened) -> None:
    page = opened.page
    rows = page.locator("#streams tbody tr")
    for row in range(rows.count()):
        rows.nth(row).locator("button").first.click()
        if page.locator(".distribution").count() > 0:
            break
    box = page.locator(".distribution svg").bounding_box()
    assert box and box["width"] > 250 and box["height"] > 200
    assert page.locator(".distribution .bars rect").count() >= 1
    curve = page.locator(".distribution path.ecdf")
    assert curve.get_attribute("d").count("V") >= 1
    assert "NaN" not in page.locator(".distribution").inner_html()
    page.get_by_role("button", name="Tail").click()
    assert "NaN" not in page.locator(".distribution").inner_html()
    assert page.locator(".breakdown .hop-bar").count() >= 1


def test_selecting_a_stream_shows_it(opened: Opened) -> None:
    page = opened.page
    rows = page.locator("#streams tbody tr")
    for row in [rows.count() - 1, 0]:
        button = rows.nth(row).locator("button.name")
        name = button.inner_text()
        button.click()
        assert rows.nth(row).get_attribute("aria-current") == "true"
        assert page.locator("#streams tr.selected").count() == 1
        assert page.locator("#stream h2").inner_text().startswith(name)


def test_streams_are_filtered_and_sorted(opened: Opened) -> None:
    page = opened.page
    rows = page.locator("#streams tbody tr")
    every = rows.count()
    name = rows.first.locator("button.name").inner_text()
    search = page.get_by_label("Filter streams by name or node")
    search.fill(name)
    assert 1 <= rows.count() <= every
    assert all(name in text for text in rows.all_inner_texts())
    search.fill("no such stream at all")
    assert rows.count() == 0
    search.fill("")
    assert rows.count() == every
    page.locator("#streams thead").get_by_role("button", name="Bound").click()
    head = page.locator("#streams thead th[aria-sort=descending]")
    assert "Bound" in head.inner_text()
    names = page.locator("#streams tbody button.name")
    page.locator("#streams thead").get_by_role("button", name="Stream").click()
    assert names.all_inner_texts() == sorted(names.all_inner_texts())


def test_a_node_filters_what_passes_it(opened: Opened) -> None:
    page = opened.page
    rows = page.locator("#streams tbody tr")
    every = rows.count()
    node = page.locator(".topology .node.end-station").first
    name = node.get_attribute("aria-label").removeprefix("End station ")
    node.click()
    assert page.locator(".focus-detail h3").inner_text() == name
    assert rows.count() <= every
    assert all(
        name in text for text in page.locator("#streams .chip").all_inner_texts()
    )
    page.keyboard.press("Escape")
    assert page.locator(".focus-detail").count() == 0
    assert rows.count() == every


def test_a_phone_keeps_what_matters(browser: Browser, report: Path) -> None:
    opened = Opened(browser, report, WIDTHS["phone"])
    columns = " ".join(visible_columns(opened.page))
    assert "Stream" in columns and "Verdict" in columns and "Bound" in columns
    assert "Margin" not in columns
    opened.is_quiet()
    opened.context.close()


def halved(report: Path, to: Path, part: str) -> Path:
    """The report with its bounds alone (as of ``bounds``), or its observation alone (``simulate``)."""
    text = report.read_text(encoding="utf-8")
    block = re.search(
        r'(<script id="tautwire-data" type="application/json">)(.*?)(</script>)',
        text,
        re.DOTALL,
    )
    data = json.loads(block.group(2))
    gone = (
        ["observed", "frames"]
        if part == "bounds"
        else ["bound", "verdict", "margin_ps", "method"]
    )
    del data["summary"]["run" if part == "bounds" else "verification"]
    if part == "bounds":
        data["histograms"] = []
    rows = [*data["summary"]["streams"], *data["summary"]["ports"]]
    rows += [
        row
        for stream in data["summary"]["streams"]
        for row in stream["listeners"] + stream["hops"]
    ]
    rows += [row for port in data["summary"]["ports"] for row in port["classes"]]
    listeners = [
        row for stream in data["summary"]["streams"] for row in stream["listeners"]
    ]
    rows += [row["application"] for row in listeners if "application" in row]
    for row in rows:
        for key in gone:
            row.pop(key, None)
    half = json.dumps(data).replace("<", "\\u003c")
    to.write_text(
        text[: block.start(2)] + half + text[block.end(2) :], encoding="utf-8"
    )
    return to


@pytest.mark.parametrize("part", ["bounds", "run"])
def test_half_of_the_results_is_shown_alone(
    browser: Browser, report: Path, tmp_path: Path, part: str
) -> None:
    opened = Opened(
        browser, halved(report, tmp_path / "half.html", part), WIDTHS["desktop"]
    )
    columns = " ".join(visible_columns(opened.page))
    assert ("Bound" in columns, "Verdict" in columns, "Mean" in columns) == (
        (True, True, False) if part == "bounds" else (False, False, True)
    )
    opened.page.locator("#streams tbody button.name").last.click()
    assert opened.page.locator(".breakdown .hop-bar").count() >= 1
    for nothing in ["NaN", "undefined", "Infinity"]:
        assert nothing not in opened.page.locator("main").inner_html()
    opened.is_quiet()
    opened.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(
    browser: Browser, report: Path, scheme: str
) -> None:
    """Contrast of text and ground is at least 4.5 (WCAG 2.2, 1.4.3), in both colour schemes."""
    opened = Opened(browser, report, WIDTHS["desktop"], scheme)
    contrasts = opened.page.evaluate(
        """() => {
            const parse = (text) => text.match(/[\\d.]+/g).map(Number);
            const luminance = ([r, g, b]) => {
                const [x, y, z] = [r, g, b].map((v) => {
                    const s = v / 255;
                    return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
                });
                return 0.2126 * x + 0.7152 * y + 0.0722 * z;
            };
            const ground = (element) => {
                for (let at = element; at; at = at.parentElement) {
                    const colour = parse(getComputedStyle(at).backgroundColor);
                    if (colour.length < 4 || colour[3] > 0) return colour;
                }
                return [255, 255, 255];
            };
            return [...document.querySelectorAll("h1, h2, td, th, dt, dd, .badge, .note, .unit, nav a")]
                .filter((element) => element.textContent.trim())
                .map((element) => {
                    const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(ground(element))];
                    return [element.className || element.tagName, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
                });
        }"""
    )
    assert len(contrasts) > 50
    assert [pair for pair in contrasts if pair[1] < 4.5] == []
    opened.context.close()


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


def timetable_of(folder: Path, scenario: Path) -> Path:
    return of_command(folder, scenario) or of_sample(folder, scenario)


@pytest.mark.parametrize("width", WIDTHS, ids=str)
def test_the_slots_of_a_tdma_cycle_are_drawn(
    browser: Browser, tmp_path: Path, width: str
) -> None:
    report = timetable_of(tmp_path, ROOT / "scenarios" / "tdma.yaml")
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
    report = timetable_of(tmp_path, ROOT / "scenarios" / "tdma-failures.yaml")
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
    report = timetable_of(tmp_path, ROOT / "scenarios" / "tdma-failures.yaml")
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
    opened = Opened(browser, timetable_of(tmp_path, scenario), WIDTHS["desktop"])
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


@pytest.mark.parametrize("width", WIDTHS, ids=str)
def test_what_an_application_sees_is_told_with_its_part(
    browser: Browser, tmp_path: Path, width: str
) -> None:
    """Bound and delays behind a host that takes time; its part ends the delay by hops, and all means add up."""
    report = timetable_of(tmp_path, ROOT / "scenarios" / "tdma.yaml")
    opened = Opened(browser, report, WIDTHS[width])
    page = opened.page
    streams = json.loads(page.locator("#tautwire-data").text_content())["summary"][
        "streams"
    ]
    stream = next(stream for stream in streams if stream["name"] == "question")
    application = stream["listeners"][0]["application"]
    page.locator("#streams tbody button.name").get_by_text(
        "question", exact=True
    ).click()

    def figure(name: str) -> str:
        return (
            page.locator("#stream .figures div")
            .filter(has=page.get_by_text(name, exact=True))
            .inner_text()
        )

    def microseconds(ps: int) -> str:
        return f"{ps / 1e6:.3f}"

    assert microseconds(application["bound"]["delay_max_ps"]) in figure(
        "Application bound"
    )
    seen = application["observed"]
    assert microseconds(seen["delay_max_ps"]) in figure("Application max")
    assert microseconds(seen["delay_mean_ps"]) in figure("Application mean")
    told = figure("Application mean").replace("\xa0", " ")
    assert f"{microseconds(seen['processing']['mean_ps'])} µs in its host" in told
    rows = page.locator("#stream .hops tbody tr")
    assert " ".join(rows.last.inner_text().split()).startswith("slave-a → application")
    bar = rows.last.locator(".hop-bar")
    assert (
        bar.locator("rect.part.processing").count()
        == bar.locator("rect.part").count()
        == 1
    )
    assert (
        bar.locator("rect.max").count() == 1 and bar.locator("rect.bound").count() == 0
    )
    if width == "desktop":
        means = [
            float(text)
            for text in rows.locator("td.number:nth-of-type(3)").all_inner_texts()
        ]
        assert (
            len(means) == 3 and abs(sum(means) - seen["delay_mean_ps"] / 1e6) < 0.005
        ), means
    for nothing in ["NaN", "undefined", "Infinity"]:
        assert nothing not in page.locator("#stream").inner_html()
    assert (
        page.evaluate("document.documentElement.scrollWidth")
        <= page.viewport_size["width"]
    )
    opened.is_quiet()
    opened.context.close()


def test_an_application_without_a_host_of_its_own_has_no_row(opened: Opened) -> None:
    assert opened.page.locator("#stream .hops tr.host").count() == 0


def test_there_is_no_takeover_where_nothing_takes_over(opened: Opened) -> None:
    assert opened.page.locator("#takeover").count() == 0


def test_the_schedule_of_time_triggered_links_is_drawn(
    browser: Browser, tmp_path: Path
) -> None:
    scenario = tmp_path / "timed.yaml"
    scenario.write_text(TIME_TRIGGERED, encoding="utf-8")
    opened = Opened(browser, timetable_of(tmp_path, scenario), WIDTHS["desktop"])
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


def test_the_tightness_of_bounds_is_drawn(browser: Browser, tmp_path: Path) -> None:
    command = shutil.which("tautwire")
    assert command is not None
    scenario, run = ROOT / "scenarios" / "in-vehicle.yaml", tmp_path / "run"
    words = [command, "verify", str(scenario), "--adversary", "--out", str(run)]
    subprocess.run(words, check=False, capture_output=True)
    subprocess.run([command, "report", str(run)], check=True, capture_output=True)
    opened = Opened(browser, next(run.rglob("*.html")), WIDTHS["desktop"])
    page = opened.page
    dots = page.locator("#tightness circle")
    bounded = page.locator("#streams tbody tr").filter(has_not_text="unbounded")
    assert dots.count() == bounded.count() > 1
    title = dots.last.locator("title").text_content() or ""
    dots.last.dispatch_event("click")
    assert page.locator("#stream h2").inner_text().startswith(title.split(" → ")[0])
    dots.last.dispatch_event("pointerenter")
    assert title in page.locator("#tightness .note").first.inner_text()
    opened.is_quiet()
    opened.context.close()


def test_elementary_cycles_are_drawn_with_their_frames(
    browser: Browser, tmp_path: Path
) -> None:
    report = timetable_of(tmp_path, ROOT / "scenarios" / "harts-synchronous.yaml")
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
    report = of_command(tmp_path, scenario) or of_sample(tmp_path, scenario)
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
    path = of_command(tmp_path, scenario) or of_sample(tmp_path, scenario)
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
    report = timetable_of(tmp_path, ROOT / "scenarios" / "member-streams.yaml")
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
