"""Takes docs/explorer.png, a picture of the explorer: `python docs/make_explorer_picture.py` (needs Chromium)."""

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from phaselect.base.files import atomic_write
from phaselect.explorer.assembly import write_page

SIZE = {"width": 1280, "height": 1300}
COLOURS = 160
FINISHED = "document.body.dataset.verdict && known.rows.size === DIAGRAM_ALPHAS.length"


def picture() -> bytes:
    """The page once the anneal has ended and the phase diagram is complete, as a small PNG."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        write_page(Path(folder) / "explorer.html")
        browser = driver.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-background-networking"]
        )
        page = browser.new_page(viewport=SIZE, color_scheme="light", offline=True)
        page.goto((Path(folder) / "explorer.html").as_uri())
        page.click("#stories button:last-child")
        page.wait_for_function(FINISHED, timeout=120_000)
        page.wait_for_timeout(500)  # for the last frame
        shot = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    small = io.BytesIO()
    shot.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(small, "png", optimize=True)
    return small.getvalue()


if __name__ == "__main__":
    with atomic_write(Path(__file__).with_name("explorer.png")) as stream:
        stream.write(picture())
