"""The pages of ``tautwire serve`` in Debian's Chromium: the list of runs, a run, two side by side, and a run that goes on.

The command is the one on the path, or is built by cargo. A live run needs root and network namespaces, which it makes itself.
"""

import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from report_page import ROOT, WIDTHS, overheard

TWO = (ROOT / "scenarios" / "two-stations.yaml").read_text()


@pytest.fixture(scope="module")
def command() -> str:
    """The command ``tautwire``."""
    found = os.environ.get("TAUTWIRE_COMMAND") or shutil.which("tautwire")
    if (
        found
        and b"serve"
        in subprocess.run([found, "--help"], capture_output=True, check=True).stdout
    ):
        return found
    cargo = [
        "cargo",
        "build",
        "--quiet",
        "--locked",
        "--package",
        "tautwire-cli",
        "--message-format",
        "json",
    ]
    built = subprocess.run(cargo, check=True, capture_output=True, cwd=ROOT, text=True)
    lines = [json.loads(line) for line in built.stdout.splitlines()]
    return next(
        line["executable"] for line in reversed(lines) if line.get("executable")
    )


class Served:
    """A server and a page of it, with all that the page said and asked for."""

    def __init__(
        self, command: str, browser: Browser, folder: Path, size: tuple[int, int]
    ) -> None:
        arguments = [command, "serve", "runs", "--listen", "127.0.0.1:0"]
        self.server = subprocess.Popen(
            arguments, cwd=folder, stdout=subprocess.PIPE, text=True
        )
        assert self.server.stdout
        self.url = self.server.stdout.readline().strip()
        self.origin, self.token = self.url.split("/?token=")
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}
        )
        self.page, self.said, self.asked = overheard(self.context)
        self.page.goto(self.url)

    def end(self) -> None:
        """The server ends; nothing was said, by a policy that was broken or otherwise, and nothing asked of others."""
        self.context.close()
        self.server.terminate()
        self.server.wait(10)
        others = [
            url for url in self.asked if not url.startswith((self.origin, "data:"))
        ]
        assert (self.said, others, self.server.returncode) == ([], [], 0)

    def is_narrow(self) -> bool:
        """Whether nothing is wider than the screen."""
        width = self.page.evaluate("document.documentElement.scrollWidth")
        return width <= self.page.viewport_size["width"]


@pytest.fixture(scope="module")
def folder(command: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of one network that differ in a payload, and a damaged one."""
    folder = tmp_path_factory.mktemp("serve")
    for name, text in [
        ("first", TWO),
        ("second", TWO.replace("payload: 100 B", "payload: 200 B")),
    ]:
        (folder / f"{name}.yaml").write_text(text)
        arguments = [command, "verify", f"{name}.yaml", "--out", f"runs/{name}"]
        subprocess.run(arguments, check=True, capture_output=True, cwd=folder)
    shutil.copytree(folder / "runs" / "first", folder / "runs" / "damaged")
    (folder / "runs" / "damaged" / "summary.json").write_text("{")
    return folder


@pytest.fixture(params=WIDTHS, ids=str)
def served(
    request: pytest.FixtureRequest, command: str, browser: Browser, folder: Path
):
    served = Served(command, browser, folder, WIDTHS[request.param])
    yield served
    served.end()


def test_the_token_is_kept_and_leaves_the_address(served: Served) -> None:
    page = served.page
    assert page.url == f"{served.origin}/"
    assert "token" not in page.url
    assert page.evaluate("document.cookie") == "", "no script reads it"
    page.reload()
    assert page.locator("h1").inner_text() == "Runs"
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{served.origin}/index.json")


def test_runs_are_listed(served: Served) -> None:
    page = served.page
    rows = page.locator("table.runs tbody tr")
    assert rows.count() == 3
    texts = {
        row.split("\n")[0].split("\t")[0].strip(): row for row in rows.all_inner_texts()
    }
    assert any("Proven" in text for text in texts.values())
    damaged = page.locator("table.runs tr", has_text="damaged:")
    assert "summary.json" in damaged.inner_text()
    assert damaged.locator("input").is_disabled()
    times = page.locator("table.runs time").evaluate_all(
        "all => all.map(one => one.dateTime)"
    )
    assert times == sorted(times, reverse=True)
    assert served.is_narrow()
    page.get_by_role("link", name="damaged", exact=True).click()
    assert "summary.json" in page.locator("main").inner_text()
    served.said.clear()  # The browser says that the answer was 500.


def test_a_run_is_the_report_with_a_way_back(served: Served) -> None:
    page = served.page
    page.get_by_role("link", name="first", exact=True).click()
    page.wait_for_selector("#streams tbody tr")
    assert page.url == f"{served.origin}/run/0/first"
    assert page.locator("#provenance").is_visible()
    assert served.is_narrow()
    page.get_by_role("link", name="All runs").click()
    assert page.locator("h1").inner_text() == "Runs"


def test_two_runs_are_compared_by_the_keyboard(served: Served) -> None:
    page = served.page
    for name in ["first", "second"]:
        page.get_by_label(f"Compare {name}").focus()
        page.keyboard.press("Space")
    link = page.get_by_role("link", name="Compare first with second")
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("table.compared")
    values = page.locator("#description tbody tr")
    assert values.count() == 1
    assert values.locator("td").all_inner_texts() == ["100 B", "200 B"]
    row = page.locator("table.compared tbody tr")
    assert row.count() == 1
    assert "bound greater" in row.inner_text()
    bound = row.locator("td.number").filter(has=page.locator(".both")).first
    before, after = (
        float(text) for text in bound.locator(".both > *").all_inner_texts()
    )
    assert before < after
    page.get_by_role("button", name="All 1").click()
    assert row.count() == 1
    assert served.is_narrow()
    page.get_by_role("link", name="second", exact=True).click()
    page.wait_for_selector("#streams tbody tr")


def is_root() -> bool:
    return os.geteuid() == 0 and shutil.which("unshare") is not None


@pytest.mark.skipif(not is_root(), reason="namespaces need root")
def test_a_live_run_is_shown_until_its_report(
    command: str, browser: Browser, tmp_path: Path
) -> None:
    scenario = ROOT / "scenarios" / "shaped-line.yaml"
    arguments = [
        command,
        "live",
        str(scenario),
        "--duration",
        "8s",
        "--ordinary-priority",
        "--out",
        "runs/now",
    ]
    live = subprocess.Popen(
        arguments,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for _ in range(600):
            if (
                list(tmp_path.glob("runs/now.partial-*/status.json"))
                or live.poll() is not None
            ):
                break
            time.sleep(0.05)
        if live.poll() == 3:
            pytest.skip(f"no namespaces: {live.communicate()[1]}")
        served = Served(command, browser, tmp_path, WIDTHS["desktop"])
        page = served.page
        page.get_by_role("link", name="now", exact=True).click()
        page.wait_for_selector("#streams tbody tr")
        assert page.locator("header [role=status]").inner_text() == "Goes on"
        assert page.locator("#topology .node").count() >= 3
        # Rates need two looks, and frames have come by then.
        page.wait_for_selector("#links tbody tr .bar")
        page.wait_for_selector("#topology text.load")
        row = page.locator("#streams tbody tr").first
        shown = row.locator("td").all_inner_texts()
        first = page.locator("#streams tbody tr td:nth-child(3)").all_inner_texts()
        assert any(text != "0" for text in first), shown
        assert "NaN" not in page.locator("main").inner_html()
        assert "undefined" not in page.locator("main").inner_text()
        page.wait_for_function(
            """before => [...document.querySelectorAll("#streams tbody tr td:nth-child(3)")]
                .map((cell) => cell.innerText).join() !== before""",
            arg=",".join(first),
        )
        assert served.is_narrow()
        page.get_by_role("link", name="its report").click(timeout=60_000)
        page.wait_for_selector("#streams tbody tr")
        assert page.url == f"{served.origin}/run/0/now"
        served.end()
        assert live.wait(10) in (0, 1)
    finally:
        live.kill()
        live.wait()
