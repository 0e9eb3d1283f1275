"""The page in a browser: no errors, no requests, tooltips by pointer and keyboard."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("relvec_test_browser", HERE / "browser.py")
helper = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(helper)

pytestmark = pytest.mark.skipif(helper.CHROMIUM is None, reason="Chromium is not installed")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = helper.Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def pages(sinc_report, snake_report, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return {
        "sinc": sinc_report.save(folder / "sinc.html"),
        "snake": snake_report.save(folder / "snake.html"),
    }


@pytest.mark.parametrize("name", ["sinc", "snake"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_page_loads_without_requests_and_fits_the_width(browser, pages, name, dark, width):
    browser.open(pages[name], width=width, dark=dark)
    assert browser.complaints() == []
    asked = [address for address in browser.requests() if not address.startswith("data:")]
    assert asked == [pages[name].as_uri()]
    assert browser.run("document.documentElement.scrollWidth") <= width
    colour = browser.run("getComputedStyle(document.body).backgroundColor")
    assert colour == ("rgb(18, 22, 28)" if dark else "rgb(246, 247, 249)")
    outside = browser.run(
        """[...document.querySelectorAll("svg")].flatMap(svg => {
          const box = svg.getBoundingClientRect();
          return [...svg.querySelectorAll("text")].filter(text => {
            const t = text.getBoundingClientRect();
            return t.left < box.left - 2 || t.right > box.right + 2 || t.bottom > box.bottom + 2;
          }).map(text => text.textContent);
        })"""
    )
    assert outside == []


def test_button_changes_the_theme(browser, pages):
    browser.open(pages["sinc"])
    theme = "document.documentElement.dataset.theme"
    browser.run("document.getElementById('theme').click()")
    assert browser.run(theme) == "dark"
    assert browser.run("document.getElementById('theme').textContent") == "☀ Light"
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 28)"
    browser.run("document.getElementById('theme').click()")
    assert browser.run(theme) == "light"


def test_points_have_tooltips(browser, pages):
    browser.open(pages["sinc"])
    place = browser.run(
        """(async () => {
          const dot = document.querySelector("svg .ring circle");
          dot.scrollIntoView({block: "center", behavior: "instant"});
          // scrolling hides the tooltip: wait until it has ended
          await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));
          const box = dot.getBoundingClientRect();
          return [box.x + box.width / 2, box.y + box.height / 2];
        })()"""
    )
    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=place[0], y=place[1])
    assert browser.run("document.getElementById('tip').className") == "on"
    assert browser.run("document.getElementById('tip').textContent") != ""
    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
    assert browser.run("document.getElementById('tip').className") == ""
    assert browser.complaints() == []


def test_tables_sort_by_number(browser, pages):
    browser.open(pages["snake"])
    column = """[...document.querySelector("table.sortable").tBodies[0].rows]
      .map(row => Number(row.cells[1].dataset.value))"""
    press = "document.querySelectorAll('table.sortable th button')[1].click()"
    before = browser.run(column)
    browser.run(press)
    assert browser.run(column) == sorted(before, reverse=True)
    browser.run(press)
    assert browser.run(column) == sorted(before)


def test_page_prints(browser, pages):
    browser.open(pages["sinc"], dark=True)
    printed = browser.ask("Page.printToPDF", printBackground=True)["data"]
    assert printed.startswith("JVBERi0")  # %PDF-


def test_arrow_keys_show_tooltips(browser, pages):
    browser.open(pages["sinc"])
    press = """(key) => document.activeElement.dispatchEvent(
      new KeyboardEvent("keydown", {key: key, bubbles: true, cancelable: true}))"""
    browser.run(
        """(async () => {
          const chart = document.querySelector("figure svg");
          chart.scrollIntoView({block: "center", behavior: "instant"});
          // scrolling hides the tooltip: wait until it has ended
          await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));
          chart.focus({preventScroll: true});
        })()"""
    )
    assert browser.run("document.activeElement.tagName") == "svg"
    tooltips = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        browser.run(f"({press})('{key}')")
        tooltips.append(browser.run("document.getElementById('tip').textContent"))
    assert browser.run("document.getElementById('tip').className") == "on"
    assert tooltips[0] == tooltips[2] != tooltips[1]
    first = "[...document.querySelectorAll('figure svg')][0].querySelectorAll('.at').length"
    assert browser.run(first) == 1
    browser.run(f"({press})('Escape')")
    assert browser.run("document.getElementById('tip').className") == ""
    assert browser.complaints() == []


def test_print_is_light_in_dark_mode(browser, pages):
    browser.open(pages["sinc"], dark=True)
    colour = "getComputedStyle(document.body).backgroundColor"
    assert browser.run(colour) == "rgb(18, 22, 28)"
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    browser.ask("Emulation.setEmulatedMedia", media="print", features=[dark])
    assert browser.run(colour) == "rgb(255, 255, 255)"
    browser.ask("Emulation.setEmulatedMedia", media="", features=[])


def test_chart_text_is_legible_on_a_phone(browser, pages):
    browser.open(pages["sinc"], width=390, height=800)
    heights = browser.run(
        """[...document.querySelectorAll("svg .tick")].map(
          each => each.getBoundingClientRect().height)"""
    )
    assert min(heights) > 8.0
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")
