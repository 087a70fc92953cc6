"""One browser, without a network, for all tests of the explorer; skipped where there is no Chromium."""

import pytest

from phaselect.explorer.assembly import write_page
from tests.report.test_page import CHROMIUM, QUIET


@pytest.fixture(scope="package")
def explorer(tmp_path_factory):
    """The page as a file."""
    path = tmp_path_factory.mktemp("explorer") / "explorer.html"
    write_page(path)
    return path


@pytest.fixture(scope="package")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *QUIET])
        yield started
        started.close()


@pytest.fixture
def visit(browser, explorer):
    """Opens the page; afterwards it must have asked for nothing else and have complained of nothing."""
    pages, problems, requests = [], [], []

    def open_page(**options):
        page = browser.new_page(offline=True, **options)
        pages.append(page)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(explorer.as_uri())
        page.wait_for_function("document.body.dataset.predicted")
        return page

    yield open_page
    for page in pages:
        page.close()
    assert problems == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
