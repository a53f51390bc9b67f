"""A running explorer, and a real browser that looks at it.

Tests that use `page` need Chromium, its driver (Debian: `chromium` and `chromium-driver`) and selenium.
Without them they skip, or fail where `BYTELOOM_NEED_BROWSER` is set. A message of the browser's console fails
a test.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import types
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest

from byteloom.explorer import Session, ViewError, assets
from byteloom.explorer.session import flag, string

WAIT = 10


@pytest.fixture(scope="session")
def session():
    """An explorer's session with the built-in tokenizers only."""
    return Session()


@pytest.fixture(scope="session")
def server(session):
    """An explorer that runs."""
    pytest.importorskip("fastapi", reason="the explorer needs FastAPI")
    pytest.importorskip("uvicorn", reason="the explorer needs uvicorn")
    from byteloom.explorer.server import Server

    with Server(session) as running:
        yield running


# Two tabs for tests of the shell, so that these do not depend on what real tabs show.

TRIAL = (Path(__file__).parent / "trial.js").read_text(encoding="utf-8")
TRIALS = {
    "tabs/trial.js": TRIAL,
    "tabs/second.js": TRIAL.replace('id: "trial", title: "Trial"', 'id: "second", title: "Second"'),
}


def trial_view(session, request):
    """Ids of the text, and an option that is given back; it can be told to fail, to wait and to break."""
    if flag(request, "fail"):
        raise ViewError("it was told to fail: <b>&amp;")
    time.sleep(request.get("wait", 0))
    if request.get("break"):
        raise RuntimeError("secret of the inside")
    text, tok = session.text(request), session.tokenizer(request).tokenizer
    ids = tok.encode_ordinary(text)[:3000]
    tokens = [{"id": id_, "bytes": tok.id_to_bytes(id_).hex()} for id_ in ids]
    return {"ids": tokens, "echo": string(request, "word"), "bad": float("nan") if request.get("nan") else 0}


for _name in ("trial", "second"):
    _module = types.ModuleType(f"byteloom.explorer.views.{_name}")
    _module.view = trial_view
    sys.modules[_module.__name__] = _module


@contextmanager
def with_trial_tabs():
    """An explorer that is made in here has the tabs `trial` and `second` and no others."""
    real = assets.asset_text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assets, "asset_text", lambda name: TRIALS.get(name) or real(name))
        patch.setattr(assets, "available_tabs", lambda: ["trial", "second"])
        yield


@pytest.fixture
def trial_tabs():
    """For the length of a test the tabs are `trial` and `second`."""
    with with_trial_tabs():
        yield


@pytest.fixture(scope="session")
def trial_server(session):
    """An explorer with the trial tabs that runs."""
    pytest.importorskip("fastapi", reason="the explorer needs FastAPI")
    pytest.importorskip("uvicorn", reason="the explorer needs uvicorn")
    from byteloom.explorer.server import Server

    with with_trial_tabs():
        running = Server(session)
    with running:
        yield running


def _browser_is_missing(reason):
    if os.environ.get("BYTELOOM_NEED_BROWSER"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def driver():
    """One headless Chromium for all tests."""
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        _browser_is_missing("selenium is not installed: pip install selenium")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    chromedriver = shutil.which("chromedriver")
    if not chromium or not chromedriver:
        _browser_is_missing("there is no Chromium with its driver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--no-proxy-server",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(chromedriver))
    try:
        yield browser
    finally:
        browser.quit()


class Page:
    """The explorer in the browser, as a test uses it."""

    def __init__(self, driver, url):
        self.driver = driver
        self.url = url

    def open(self, tab="", *, wait=True, **state):
        """Open a tab with a state as the address holds it: text, tokenizer, options, view, card."""
        values = {
            name: value if isinstance(value, str) else json.dumps(value) for name, value in state.items()
        }
        self.driver.get("about:blank")
        self.driver.get(f"{self.url}#{tab}?{urlencode(values)}" if tab or values else self.url)
        if wait:
            self.ready()
        return self

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, check, what):
        """Wait until `check()` is true and return what it gave."""
        end = time.monotonic() + WAIT
        while True:
            value = check()
            if value:
                return value
            if time.monotonic() > end:
                pytest.fail(f"waited {WAIT} s for {what}; the page says: {self.text('body')[:1500]}")
            time.sleep(0.02)

    def ready(self):
        """Wait until the newest question is answered and drawn."""
        return self.until(
            lambda: self.js(
                "const shell = globalThis.byteloomShell;"
                "return Boolean(shell) && shell.settled"
                " && !document.querySelector('[aria-busy=true], [data-pending]')"
            ),
            "an answer",
        )

    def all(self, css):
        return self.driver.find_elements("css selector", css)

    def find(self, css):
        """The first such element, waited for."""
        return self.until(lambda: next(iter(self.all(css)), None), css)

    def text(self, css):
        """What the first such element shows."""
        return self.js("return document.querySelector(arguments[0])?.innerText ?? ''", css)

    def figure(self, name):
        """A figure of the strip above the tabs, such as `tokens`."""
        return self.text(f'#strip [data-figure="{name}"] dd')

    def type(self, text):
        """Put a text into the text area, as a paste does."""
        self.js(
            "const area = document.getElementById('text'); area.value = arguments[0];"
            "area.dispatchEvent(new Event('input', { bubbles: true }));",
            text,
        )
        self.ready()

    def card(self, name):
        """Choose a card by its id."""
        self.js("document.querySelector('#cards details').open = true")
        self.find(f'[data-card="{name}"] button').click()
        self.ready()
        return self.text(f'[data-card="{name}"] .look')

    def resize(self, width, height=900, *, dark=None):
        """The size of the viewport in CSS pixels, whatever a window may be, and the system's colours."""
        cdp = self.driver.execute_cdp_cmd
        cdp(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        if dark is not None:
            scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
            cdp("Emulation.setEmulatedMedia", {"features": [scheme]})

    def sideways(self):
        """By how many pixels the page is wider than the screen."""
        return self.js("return document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def screenshot(self, path):
        """A picture of the whole page."""
        import base64

        size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True}
        )
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def messages(self):
        """What the console said since it was asked last."""
        return [
            f"{entry['level']}: {entry['message']}"
            for entry in self.driver.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING")
        ]


def _looking(driver, server):
    page = Page(driver, server.url)
    page.messages()
    page.resize(1280, dark=False)
    yield page
    driver.get("about:blank")


@pytest.fixture
def page(driver, server):
    """The explorer in the browser. A message of the console fails the test."""
    yield from _looking(driver, server)
    messages = Page(driver, "").messages()
    assert not messages, messages


@pytest.fixture
def trial_page(driver, trial_server):
    """The explorer with the trial tabs in the browser. A message of the console fails the test."""
    yield from _looking(driver, trial_server)
    messages = Page(driver, "").messages()
    assert not messages, messages
