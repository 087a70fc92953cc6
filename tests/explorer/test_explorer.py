"""The explorer in a real browser: it moves, it anneals, by keyboard too, at the width of a desk and of a phone."""

import json

import pytest

from phaselect import theory

RUN = "document.body.dataset.verdict"


def picture(page, name):
    return page.evaluate("name => document.getElementById(name).toDataURL()", name)


def slide(page, name, position):
    page.evaluate(
        """([name, position]) => {
          const slider = document.getElementById(name);
          slider.value = position;
          slider.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        [name, position],
    )


def settled(page):
    """The latest prediction is there, and drawn."""
    page.wait_for_function("document.body.dataset.predicted === String(asked)")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_sliders_move_the_prediction_and_the_phase_diagram(visit):
    page = visit()
    settled(page)
    before = page.evaluate("known.branches.uninformed.at(-1).m"), picture(page, "overlap"), picture(page, "needed")
    slide(page, "alpha", 108)
    settled(page)
    after = page.evaluate("known.branches.uninformed.at(-1).m"), picture(page, "overlap"), picture(page, "needed")
    assert [value == other for value, other in zip(before, after, strict=True)] == [False] * 3
    assert before[0] > 0.999
    assert after[0] == pytest.approx(0.636, abs=1e-3)  # the hard phase
    slide(page, "mu", 320)
    settled(page)
    assert page.inner_text("#mu-value") == "1580"
    for start in ("uninformed", "informed"):
        point = theory.saddle_point(1.08, 1580.0, 1 / 1580, start=start)
        assert page.inner_text(f"#numbers-{start}").split()[-2:] == [
            f"{point.m:.4f}",
            f"{point.mse_y:.2e}".replace("e-0", "e-"),
        ]
    page.wait_for_function("known.rows.size > 1")
    first = page.evaluate("known.rowsFor")
    page.check("#mode-lam", force=True)
    settled(page)
    page.wait_for_function("first => known.rowsFor !== first", arg=first)
    assert page.is_hidden("#product")
    assert page.is_visible("#lam")
    assert "1.584" in page.inner_text("#kept")
    assert "the overlap m ends at 0.000. From mu = " in page.get_attribute("#overlap", "aria-label")


def test_an_easy_instance_is_recovered_and_a_run_can_be_repeated(visit):
    page = visit(reduced_motion="reduce")
    slide(page, "alpha", 180)
    slide(page, "n", 60)
    page.select_option("#steps", "30")
    traces = []
    for _ in range(2):
        page.evaluate("delete document.body.dataset.verdict")
        page.click("#run")
        page.wait_for_function(RUN)
        found = json.loads(page.evaluate(RUN))
        assert all(found[solver]["m"] > 0.99 and found[solver]["recovered"] for solver in ("metropolis", "messages"))
        traces.append(page.evaluate("known.trace.map(row => [row.mu, row.metropolis.m, row.messages.m])"))
    assert traces[0] == traces[1]
    assert len(traces[0]) == page.evaluate("SCHEDULE.length")
    assert "Both found x" in page.inner_text("#status")
    page.click("#another")
    page.wait_for_function("known.trace.length > 2")
    assert page.input_value("#seed") == "1"
    assert page.evaluate("known.trace[0].metropolis.m") != traces[0][0][1]
    page.click("#run")
    assert page.inner_text("#status") == "Stopped."


def test_the_keyboard_alone_tells_a_story_and_cools_by_hand(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "λ = 0 gets stuck"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")
    assert page.get_attribute("#stories button", "aria-pressed") == "true"
    assert page.inner_text("#run") == "Stop"
    page.wait_for_function("known.trace.length > 2")
    page.focus("#by-hand")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("known.trace.length > 2")
    page.focus("#mu")
    page.keyboard.press("Home")
    page.wait_for_function("known.trace.at(-1).mu === MU_RANGE[0]")
    assert page.inner_text("#mu-value") == "0.3"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_on_a_phone(visit, scheme):
    page = visit(viewport={"width": 400, "height": 800}, color_scheme=scheme)
    for summary in page.query_selector_all("summary"):
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    inside = "[...document.querySelectorAll('canvas, input, button, select, table')].filter(e => e.offsetParent)"
    assert page.evaluate(f"{inside}.every(e => e.getBoundingClientRect().right <= 400)")
    assert page.evaluate("[...document.querySelectorAll('input, select')].every(e => e.labels.length === 1)")


def test_the_python_on_the_page_does_what_is_on_the_screen(visit, capsys):
    page = visit()
    slide(page, "alpha", 180)
    slide(page, "n", 50)
    page.select_option("#steps", "10")
    settled(page)
    names = {}
    exec(page.text_content("#python"), names)
    assert names["cooled"]["mu"].tolist() == pytest.approx(page.evaluate("SCHEDULE"))
    assert names["cooled"]["m"].tolist() == pytest.approx(page.evaluate("known.branches.uninformed.map(p => p.m)"))
    assert names["informed"]["m"].tolist() == pytest.approx(page.evaluate("known.branches.informed.map(p => p.m)"))
    assert names["problem"].A.shape == (90, 50)
    assert capsys.readouterr().out
