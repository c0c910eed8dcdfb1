"""What all tests of the page start from: one browser, and the report under test.

The report is that of ``TAUTWIRE_REPORT`` if it is set, else the one that the command ``tautwire``
makes of ``scenarios/in-vehicle.yaml`` if it is on the path and can, else the sample that
``crates/report/examples/sample_report.rs`` writes.
"""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from report_page import CHROMIUM, SWITCHES, WIDTHS, Opened, of_command, of_sample


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


@pytest.fixture(params=WIDTHS, ids=str)
def opened(request: pytest.FixtureRequest, browser: Browser, report: Path):
    opened = Opened(browser, report, WIDTHS[request.param])
    yield opened
    opened.is_quiet()
    opened.context.close()
