import webbrowser

import pytest

from tests.cli.program import run


@pytest.fixture
def opened(monkeypatch):
    """What the browser was asked to open."""
    pages = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not pages.append(address))
    return pages


def test_the_page_is_written_and_opened(tmp_path, opened):
    done = run("explore", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "wrote explorer.html\n", "")
    page = tmp_path / "explorer.html"
    assert opened == [page.as_uri()]
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert [word for word in ("http://", "https://", "src=", "import(", "fetch(") if word in text] == []
    assert len(text) < 120_000


def test_a_page_that_is_there_is_replaced_and_not_opened_if_unwanted(tmp_path, opened):
    (tmp_path / "mine.html").write_text("old")
    assert run("explore", "--out", "mine.html", "--no-open", cwd=tmp_path).returncode == 0
    assert "Choosing signs" in (tmp_path / "mine.html").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.html"]
    assert opened == []


def test_without_a_browser_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    done = run("explore", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == "phaselect: found no browser: open explorer.html in one\n"


@pytest.mark.parametrize(
    ("out", "message"), [("page.txt", "name the file .html"), ("no/such/page.html", "cannot write")]
)
def test_bad_names_are_one_line(tmp_path, out, message):
    done = run("explore", "--out", out, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
