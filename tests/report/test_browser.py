"""The page in headless Chromium: no console error, by keyboard alone, on a phone, light and dark.

Needs Debian's package `chromium` and the package `playwright` (its client only; no browser of its own is loaded).
"""

from __future__ import annotations

import argparse
import shutil

import pytest

from lmms_tasks.report.commands import add_report
from tests.report.test_report import HOSTILE
from tests.report.written_runs import TASK, row, verdict, write_run

CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs pip install playwright")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def written(folder, tmp_path):
    """A page of the real runs and of one with hostile texts, disagreeing judges and an unscored row."""
    rows = [
        row(0, 0.9, HOSTILE, target=HOSTILE, category="a"),
        row(1, None, category="b"),
        row(2, 0.1, verdicts=[verdict("one", 4), verdict("two", 1)], category="b"),
        *(row(n, 0.5, category="a") for n in range(3, 60)),
    ]
    hostile = write_run(tmp_path / "hostile", rows, model="acme/hostile")
    parser = argparse.ArgumentParser()
    add_report(parser)
    parsed = parser.parse_args([str(hostile), str(folder), "--output", str(tmp_path / "page.html")])
    parsed.run(parsed)
    return tmp_path / "page.html"


@pytest.fixture
def opened(chromium, written):
    """Open the page at a width and colour scheme; at the end nothing has been said, loaded or broken."""
    said: list[str] = []
    contexts = []

    def open_page(width=1280, scheme="light"):
        context = chromium.new_context(viewport={"width": width, "height": 850}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
        page.goto(written.as_uri())
        page.wait_for_selector("[data-ready]", state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


def choose(page, **values):
    for name, value in values.items():
        page.locator(f"#{name}").select_option(label=value)


def first_rows(page):
    return [text.split(",")[0] for text in page.eval_on_selector_all(".row", "rows => rows.map(r => r.ariaLabel)")]


def test_the_filters_show_the_rows_that_they_name(opened):
    page = opened()
    choose(page, task=TASK, run="hostile · 2026-01-02 03:04", metric="w_sum")
    assert first_rows(page)[:2] == ["Row 2", "Row 3"]  # 0.1, then the first of those with 0.5
    choose(page, show="unscored")
    assert first_rows(page) == ["Row 1"]
    choose(page, show="judges disagree")
    assert first_rows(page) == ["Row 2"]
    page.locator(".verdicts summary").first.click()
    assert "accuracy 4, relevance 2" in page.locator(".verdicts").first.inner_text()
    choose(page, show="in the order of rows")
    page.locator("#contains").fill("onerror")
    page.wait_for_timeout(400)  # the search waits until typing pauses
    assert first_rows(page) == ["Row 0"]
    assert HOSTILE.replace("\ud800", "?") == page.locator(".row pre").nth(1).evaluate("e => e.textContent")
    assert page.locator(".row script, .row pre img").count() == 0


def test_the_keyboard_alone_reaches_everything(opened):
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    choose(page, task=TASK)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.ariaLabel") == page.locator(".row").nth(1).get_attribute("aria-label")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.ariaLabel") == page.locator(".row").nth(0).get_attribute("aria-label")
    before = page.locator("#count").inner_text()
    page.keyboard.press("n")
    assert before.startswith("1 to 20 of") and page.locator("#count").inner_text().startswith("21 to 40 of")
    page.keyboard.press("p")
    assert page.locator("#count").inner_text() == before
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "contains"
    # In the search box letters are letters.
    page.keyboard.type("njk")
    assert page.locator("#contains").input_value() == "njk"


def test_an_image_opens_and_closes_by_keyboard(opened):
    page = opened()
    image = page.locator(".images button").first
    image.focus()
    page.keyboard.press("Enter")
    assert page.locator("#zoom").evaluate("e => e.open && e.querySelector('img').naturalWidth > 100")
    page.keyboard.press("Escape")
    assert not page.locator("#zoom").evaluate("e => e.open")


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_no_width_makes_the_page_scroll_sideways(opened, width):
    page = opened(width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    small = page.eval_on_selector_all(
        "button, select, input", "all => all.filter(e => e.offsetParent && e.offsetHeight < 24).length"
    )
    assert small == 0


def test_light_and_dark_follow_the_system_and_the_button(opened):
    colours = {}
    for scheme in ("light", "dark"):
        page = opened(scheme=scheme)
        colours[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.locator("#theme").click()
        colours[f"{scheme}, turned"] = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colours["light"] == colours["dark, turned"] != colours["dark"] == colours["light, turned"]
