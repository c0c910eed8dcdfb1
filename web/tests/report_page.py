"""Reports, and pages of Chromium that show them: Debian's Chromium, driven by playwright, from file://."""

import os
import shutil
import subprocess
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page

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


def report_of(folder: Path, scenario: Path) -> Path:
    """The report of a scenario, made by the command if there is one."""
    return of_command(folder, scenario) or of_sample(folder, scenario)


def overheard(context: BrowserContext) -> tuple[Page, list[str], list[str]]:
    """A new page, with what it says on the console and the addresses that it asks for."""
    page, said, asked = context.new_page(), [], []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on("request", lambda request: asked.append(request.url))
    return page, said, asked


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
        self.page, self.said, self.asked = overheard(self.context)
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
