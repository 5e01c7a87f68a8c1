"""A widget on a page of its own, in a real Chromium, without JupyterLab around it.

The page has JupyterLab's own theme and the widget's own script and style; messages go to the
Python widget and back as they do through a kernel.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import time
from collections import deque
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tests.widgets.hostile import canaries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

    from skill_eval_nb.widgets.ui import Panel

THEMES = Path(sys.prefix) / "share" / "jupyter" / "lab" / "themes" / "@jupyterlab"
ADDRESS = "http://widget.test/"
Theme = Literal["light", "dark", "dark-high-contrast"]
Look = tuple[Theme, int]
"""A theme, and how many pixels the window is wide."""

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>widget</title>
<style id="theme">THEME</style><style>STYLE</style>
<style>body {margin: 0; padding: 16px; background: var(--jp-layout-color0);}</style></head>
<body data-jp-theme-light="LIGHT" data-jp-theme-name="NAME">
<main id="here"></main><main id="there"></main>
<script type="module">
import widget from "./panel.js";
const bytes = async (name) =>
  new DataView(await (await fetch(`./bytes/${name}`)).arrayBuffer());
const heard = {"change:_wire": new Set(), "msg:custom": new Set(), comm_live_update: new Set()};
const state = JSON.parse(await window.senState());
state._wire = await bytes(state._wire);
const model = {
  get: (name) => state[name],
  send: (message) => window.senSend(JSON.stringify(message)),
  on: (kind, callback) => heard[kind].add(callback),
  off: (kind, callback) => heard[kind].delete(callback),
};
window.senRender = (place) => widget.render({model, el: document.getElementById(place)});
window.senClose = window.senRender("here");
window.senReady = true;
for (;;) {
  const news = JSON.parse(await window.senNews(state.page));
  if (!news) break;
  for (const {tree, message, buffers} of news) {
    const given = await Promise.all((buffers ?? []).map(bytes));
    if (tree) { state._wire = await bytes(tree); heard["change:_wire"].forEach((one) => one()); }
    else heard["msg:custom"].forEach((one) => one(message, given));
  }
}
</script></body></html>"""


SETTLED = """() => [...document.querySelectorAll('.sen')].every(
  (one) => one.dataset.pending === '0')"""

FRAMES = """() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"""
"""In which the page sees what has come into sight, and asks for it."""

REFRESHED = """(seconds) => new Promise((done) => {
  const frame = document.createElement("iframe");
  frame.srcdoc = `<meta http-equiv=refresh content='${seconds};url=about:blank#after'>`;
  frame.onload = () => {
    if (frame.contentWindow.location.hash === "#after") { frame.remove(); done(); }
  };
  document.body.append(frame);
})"""

DRESSED = """({style, light, name}) => {
  document.getElementById("theme").textContent = style;
  Object.assign(document.body.dataset, {jpThemeLight: light, jpThemeName: name});
}"""

UNFOLD = "() => document.querySelectorAll('.sen details').forEach((one) => (one.open = true))"

HEIGHT = 900
TALLEST = 12_000
"""Pixels; Chromium draws no page much taller than this."""


class Stage:
    """A widget on a page, and what Chromium had to complain about."""

    def __init__(self, page: Page, panel: Panel, theme: Theme) -> None:
        self.page = page
        self.panel = panel
        self.alive = True
        """Whether the kernel answers; set it to False for one that has died."""
        self.console_errors: list[str] = []
        self.outside_requests: list[str] = []
        self._theme: Theme = theme
        self._to_page: deque[dict[str, Any]] = deque()
        self._bytes: dict[str, bytes] = {}
        self._names = itertools.count()
        self._asking: asyncio.Event | None = None
        """Set for the page to be answered: it has all that was sent, and waits for more."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._open = True
        self._page_number = 0
        panel.observe(lambda _: self._tell({"tree": self._put(panel._wire)}), names="_wire")
        panel.send = self._queue  # type: ignore[method-assign]
        page.on(
            "console",
            lambda one: self.console_errors.append(one.text) if one.type == "error" else None,
        )
        page.on("pageerror", lambda error: self.console_errors.append(str(error)))
        page.expose_function("senState", self._state)
        page.expose_function("senSend", self._heard)
        page.expose_function("senNews", self._news)
        page.route("**/*", self._answer)
        self.open()

    def open(self) -> None:
        """Open the page, or open it anew, as a reload does."""
        self._forget()
        self._to_page.clear()
        self.page.goto(ADDRESS)
        self.page.wait_for_function("() => window.senReady")

    def dress(self, theme: Theme, width: int) -> None:
        """Look at the same page in another theme, through a window of another width."""
        self._theme = theme
        self.page.emulate_media(color_scheme=_scheme(theme))
        self.page.evaluate(DRESSED, _dressed(theme))
        height = self.page.viewport_size["height"] if self.page.viewport_size else HEIGHT
        self.page.set_viewport_size({"width": width, "height": height})

    def settle(self) -> None:
        """Wait until every message has its answer, all is worked out, and all of it is drawn."""
        self._answered()
        assert self.panel.settle()
        self.page.evaluate(FRAMES)
        self._answered()

    def _answered(self) -> None:
        self.fetched()
        self.page.wait_for_function(SETTLED, timeout=30_000)

    def fetched(self) -> None:
        """Wait until the page has all that was sent: it asks again once it has taken that up."""
        self.until(lambda: not self._to_page and self._asking)

    def until(self, holds: Callable[[], object]) -> None:
        """Wait until Python has heard of something that leaves nothing to see in the page."""
        deadline = time.monotonic() + 30
        while not holds():
            assert time.monotonic() < deadline, "it did not come about in 30 seconds"
            self.page.wait_for_timeout(20)

    def garble(self, then: bytes) -> list[str]:
        """Send the page no tree, and `then` once it asks; gives what it asks for, as it does."""
        asked: list[str] = []

        def send_again(key: str) -> None:
            asked.append(key)
            del self.panel.send_state  # this once
            self._tell({"tree": self._put(then)})

        self.panel.send_state = send_again  # type: ignore[method-assign]
        self._tell({"tree": self._put(b"garbled")})
        return asked

    def see_refreshed(self, seconds: int) -> None:
        """Wait until a frame that begins now has refreshed itself: so would all others have."""
        self.page.evaluate(REFRESHED, seconds)

    def unroll(self) -> None:
        """Make the window as tall as the page: pictures and frames are read once they are seen."""
        self.settle()
        width = self.page.viewport_size["width"] if self.page.viewport_size else 1000
        height = self.page.evaluate("() => document.body.scrollHeight")
        self.page.set_viewport_size({"width": width, "height": max(HEIGHT, min(height, TALLEST))})
        self.settle()

    def keep(self, path: Path) -> None:
        """Keep a picture of the whole page as it is."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=path, full_page=True)

    def _state(self) -> str:
        """What a page begins with. A page before it, which may be slow, gets no more news."""
        self._page_number += 1
        self._forget()
        state = self.panel.get_state()
        begun = {"_wire": self._put(state["_wire"]), "_name": state["_name"]}
        return json.dumps(begun | {"page": self._page_number})

    def _put(self, data: Any) -> str:
        """Lay bytes out for the page; under what name."""
        name = str(next(self._names))
        self._bytes[name] = bytes(data)
        return name

    def _heard(self, message: str) -> None:
        if self.alive:
            self.panel._answer_message(self.panel, json.loads(message), [])

    def _queue(self, content: Any, buffers: Any = None) -> None:
        names = [self._put(one) for one in buffers or ()]
        self._tell({"message": content, "buffers": names})

    def _tell(self, news: dict[str, Any]) -> None:
        """Hand something on to the page, from whatever thread."""
        self._to_page.append(news)
        asking = self._asking
        if asking and self._loop:
            self._loop.call_soon_threadsafe(asking.set)

    async def _news(self, page_number: int) -> str:
        """What the page does not have yet, once there is something; null where it is to go."""
        if page_number != self._page_number:
            return "null"
        self._forget()
        mine = self._asking = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        while self._asking is mine and self._open and not self._to_page:
            await mine.wait()
            mine.clear()
        if self._asking is not mine or not self._open:
            return "null"
        self._asking = None
        ready = [self._to_page.popleft() for _ in range(len(self._to_page))]
        return json.dumps(ready)

    def unfold(self) -> None:
        """Open all that can be opened, and wait until it is drawn."""
        self.settle()
        self.page.evaluate(UNFOLD)
        self.settle()

    def fine(self) -> None:
        """Nothing was complained about, nothing was fetched, and nothing hostile has run."""
        assert canaries(self.page) == []
        assert self.outside_requests == []
        assert self.console_errors == []

    def close(self) -> None:
        """Leave the page: it hears nothing more."""
        self._open = False
        self._forget()

    def _forget(self) -> None:
        """Let go of who asked last: a page asks once at a time, so that one is left."""
        asking, self._asking = self._asking, None
        if asking:
            asking.set()

    def _answer(self, route: Any) -> None:
        url = route.request.url
        if url == ADDRESS:
            look = _dressed(self._theme)
            page = PAGE.replace("LIGHT", look["light"]).replace("NAME", look["name"])
            page = page.replace("STYLE", str(self.panel._css))
            route.fulfill(body=page.replace("THEME", look["style"]), content_type="text/html")
        elif url == f"{ADDRESS}panel.js":
            route.fulfill(body=str(self.panel._esm), content_type="text/javascript")
        elif url.startswith(("chrome://", "chrome-extension://")):
            route.continue_()  # the browser's own viewer of PDF
        elif url.startswith(f"{ADDRESS}bytes/"):
            route.fulfill(body=self._bytes.pop(url.rpartition("/")[2]))
        elif url.startswith(("data:", "blob:")) or url == f"{ADDRESS}favicon.ico":
            route.fulfill(status=204)
        else:
            self.outside_requests.append(url)
            route.abort()


@contextmanager
def staged(
    browser: Browser, panel: Panel, theme: Theme = "light", width: int = 1000
) -> Iterator[Stage]:
    """Put a widget on a page of its own, where all is fine in the end."""
    context = browser.new_context(
        reduced_motion="reduce",  # what moves is drawn sixty times a second
        viewport={"width": width, "height": HEIGHT},
        color_scheme=_scheme(theme),
    )
    try:
        stage = Stage(context.new_page(), panel, theme)
        try:
            yield stage
            stage.fine()
        finally:
            stage.close()
    finally:
        context.close()


def _scheme(theme: Theme) -> Literal["light", "dark"]:
    return "light" if theme == "light" else "dark"


def _dressed(theme: Theme) -> dict[str, str]:
    """What a page has of a theme: its style, and what JupyterLab says of it on the body."""
    return {
        "style": (THEMES / f"theme-{theme}-extension" / "index.css").read_text(),
        "light": str(theme == "light").lower(),
        "name": f"JupyterLab {theme.replace('-', ' ').title()}",
    }
