"""The site as a reader has it: built without a warning, read from the file system in a browser without a network."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.screens import SCREEN, SCREENS

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, its examples not run: `make docs` does that."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("docs", "examples"):
        left_out = shutil.ignore_patterns("gallery", "generated", "__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=left_out)
    options = ["-q", "-W", "--keep-going", "-D", "plot_gallery=0"]
    command = [sys.executable, "-m", "sphinx", "-b", "html", *options, "docs", "site"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def page(site):
    """A page of Chromium that has no network."""
    playwright = pytest.importorskip("playwright.sync_api")
    if (chromium := shutil.which("chromium")) is None:
        pytest.skip("needs Chromium")
    with playwright.sync_playwright() as driver:
        options = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
        browser = driver.chromium.launch(executable_path=chromium, args=options)
        context = browser.new_context(viewport={"width": 1280, "height": SCREEN}, offline=True)
        yield context.new_page()
        browser.close()


def pages(site):
    return [path for path in sorted(site.rglob("*.html")) if not path.name.startswith(("genindex", "py-modindex"))]


CUT = "[...document.querySelectorAll('pre')].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText)"
WIDTH, HEIGHT = "document.documentElement.scrollWidth", "document.documentElement.scrollHeight"


def test_pages_are_short_and_nothing_is_cut(site, page):
    for path in pages(site):
        page.goto(path.as_uri())
        assert page.evaluate(HEIGHT) <= SCREENS * SCREEN, path.name
        assert page.evaluate(CUT) == [], path.name
        for width in (400, 1280):
            page.set_viewport_size({"width": width, "height": SCREEN})
            assert page.evaluate(WIDTH) <= width, path.name


def test_nothing_is_asked_of_the_network(site, page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    for path in pages(site)[::10]:
        page.goto(path.as_uri())
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_formulas_are_drawn(site, page):
    page.goto((site / "equations_theory.html").as_uri())
    formulas = page.query_selector_all("math")
    assert len(formulas) > 40
    drawn = {one.text_content(): one.bounding_box()["height"] for one in formulas}
    assert [text for text, height in drawn.items() if height < 5 or "\\" in text] == []
    assert page.evaluate("document.fonts.check('16px \"STIX Two Math\"')")
    letter, fraction = (page.query_selector(name).bounding_box()["height"] for name in ("mi", "mfrac"))
    assert fraction > 1.3 * letter


def test_search_works_from_the_file_system(site, page):
    page.goto((site / "index.html").as_uri())
    page.fill("input[name=q]", "toeplitz")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results li a", timeout=10_000)
    assert any("ensembles" in link.get_attribute("href") for link in page.query_selector_all("#search-results li a"))
