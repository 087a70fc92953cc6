"""The report in a real browser: opened from a file, at the width of a desk and of a phone."""

import io
import shutil
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from phaselect.base.style import panels
from phaselect.base.tables import load_table
from phaselect.cli.main import main
from phaselect.figures import gallery
from phaselect.figures.gallery import FIGURES
from phaselect.report.page import build_report

TABLES = Path(__file__).parents[2] / "docs" / "tables"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = [
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def only_one_in_full(figure, path, save=gallery.save):
    """To write a .pdf takes longer than all else together, and one is as good as all; others are drawn coarsely."""
    if path.stem == "rsb":
        save(figure, path)
    elif path.suffix == ".pdf":
        path.touch()
    else:
        path.write_bytes(empty_picture())


@cache
def empty_picture():
    drawn = io.BytesIO()
    panels(2)[0].savefig(drawn, format="png", dpi=150)
    return drawn.getvalue()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gallery, "save", only_one_in_full)
        patch.setattr(gallery, "draw", lambda name, table: panels(2)[0])  # tests/figures/test_print.py draws them all
        done = CliRunner().invoke(main, ["report", "--from", str(TABLES), "--out", str(folder)])
    assert done.exit_code == 0, done.output
    return folder


def test_the_folder_has_every_figure_and_its_table(report):
    for suffix in ("png", "pdf", "csv"):
        assert len(list(report.glob(f"*.{suffix}"))) == len(FIGURES)
    assert (report / "rsb.pdf").read_bytes().startswith(b"%PDF")


def test_the_page_is_self_contained(report):
    text = (report / "index.html").read_text()
    assert "http://" not in text
    assert "https://" not in text
    assert text.count("src='data:image/png;base64,") == len(FIGURES)


def test_what_tables_say_is_text_and_no_markup(report, tmp_path):
    tables = {name: load_table(report / f"{name}.csv") for name in FIGURES}
    tables["rsb"].provenance["command"] = "<script>alert('&')</script>"
    for name in FIGURES:
        (tmp_path / f"{name}.png").symlink_to(report / f"{name}.png")
    text = build_report(tables, tmp_path).read_text()
    assert "<script" not in text
    assert "<code>&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt; --out rsb.pdf</code>" in text


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [1280, 400])
def test_in_a_browser(report, tmp_path, width):
    from playwright.sync_api import sync_playwright

    problems, requests = [], []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *QUIET])
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.on("console", lambda message: problems.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto((report / "index.html").as_uri())
        page.wait_for_load_state("load")
        images = page.evaluate("[...document.images].map(i => [i.complete, i.naturalWidth, i.clientWidth, !!i.alt])")
        scroll, client = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        verdicts = page.evaluate("document.querySelectorAll('.ledger .verdict').length")
        browser.close()
    assert problems == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert len(images) == len(FIGURES)
    assert all(complete and natural > 500 and 0 < shown <= width and alt for complete, natural, shown, alt in images)
    assert scroll <= client
    assert verdicts >= 25
