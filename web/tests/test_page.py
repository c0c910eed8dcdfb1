"""The report's page as a whole: its tables, filters and drawings on a screen and on a phone."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from report_page import ROOT, WIDTHS, Opened, report_of


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


@pytest.mark.parametrize("width", WIDTHS, ids=str)
def test_what_an_application_sees_is_told_with_its_part(
    browser: Browser, tmp_path: Path, width: str
) -> None:
    """Bound and delays behind a host that takes time; its part ends the delay by hops, and all means add up."""
    report = report_of(tmp_path, ROOT / "scenarios" / "tdma.yaml")
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
