"""A real JupyterLab, and a notebook open in it in a real Chromium."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import nbformat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nbformat import NotebookNode
    from playwright.sync_api import Browser, ConsoleMessage, Page, Route, WebSocketRoute

    from .desk import Desk

START_SECONDS = 120
RUN_SECONDS = 300
SIZE = {"width": 1200, "height": 900}
TALLEST_PICTURE = 12_000
"""Pixels; Chromium draws no page much taller than this."""

OPEN = """async path => {
  const app = window.jupyterapp;
  await app.restored;
  const before = app.shell.currentWidget;
  const panel = await app.commands.execute('docmanager:open', {path, factory: 'Notebook'});
  before?.dispose();
  app.shell.activateById(panel.id);
  await panel.context.ready;
  await panel.sessionContext.ready;
  await panel.revealed;
}"""

RUN = """async () => {
  const app = window.jupyterapp;
  await app.commands.execute('notebook:run-all-cells');
  await app.shell.currentWidget.context.save();
}"""

DRAWN = """() => [...document.querySelectorAll('[class*=jp-RenderedVegaCommon]')]
  .every(chart => chart.querySelector('.marks'))"""

AROUND = """() => {
  const notebook = document.querySelector('.jp-WindowedPanel-outer');
  return document.documentElement.clientHeight - notebook.clientHeight;
}"""
"""Pixels of the page that are not the notebook's."""
HEIGHT = "() => document.querySelector('.jp-WindowedPanel-outer').scrollHeight"

SHUT_DOWN = "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab."""

    url: str
    token: str
    desk: Desk


@dataclass
class OpenNotebook:
    """A notebook open in Chromium, and what Chromium had to complain about."""

    page: Page
    path: Path
    console_errors: list[str] = field(default_factory=list)
    outside_requests: list[str] = field(default_factory=list)

    def run(self) -> NotebookNode:
        """Run all cells, wait until every chart is drawn, save; what was saved."""
        self.page.evaluate(RUN)
        self.page.wait_for_function(DRAWN)
        return nbformat.read(self.path, as_version=4)

    def screenshot(self, picture: Path) -> None:
        """Keep a picture of the whole notebook, from its first cell to its last."""
        width = self.page.viewport_size["width"] if self.page.viewport_size else 1200
        around = self.page.evaluate(AROUND)
        height = min(around + self.page.evaluate(HEIGHT), TALLEST_PICTURE)
        self.page.set_viewport_size({"width": width, "height": height})
        # Lab lays its panels out anew after a pause
        self.page.wait_for_function(f"(around) => Math.abs(({AROUND})() - around) <= 1", arg=around)
        picture.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=picture)


@dataclass
class Reader:
    """A JupyterLab in a page of Chromium, and the notebook that is open in it."""

    page: Page
    work: Path
    open: OpenNotebook = field(init=False)

    def __post_init__(self) -> None:
        self.open = OpenNotebook(self.page, self.work)


@contextmanager
def start(desk: Desk) -> Iterator[Lab]:
    """Start a JupyterLab, which has a Notebook beside it, and end it with all its kernels."""
    token = secrets.token_hex(16)
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=0",
        f"--ServerApp.root_dir={desk.work}",
        f"--IdentityProvider.token={token}",
        *(f"--{app}.expose_app_in_browser=True" for app in ("LabApp", "JupyterNotebookApp")),
    ]
    log = desk.folder / "lab.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            command,
            env=desk.environment(),
            cwd=desk.work,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        yield Lab(_url(desk, server, log), token, desk)
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:  # now and then it waits for a kernel that is gone
            server.kill()
            server.wait()


@contextmanager
def look_at(lab: Lab, browser: Browser, page_of: str = "doc") -> Iterator[Reader]:
    """Open a JupyterLab in Chromium, with no notebook yet; or another page of a server."""
    context = browser.new_context(reduced_motion="reduce")
    reader = Reader(context.new_page(), lab.desk.work)
    page = reader.page

    def complain(error: str) -> None:
        reader.open.console_errors.append(error)

    def stop(route: Route) -> None:
        reader.open.outside_requests.append(route.request.url)
        route.abort()

    def stop_socket(route: WebSocketRoute) -> None:
        reader.open.outside_requests.append(route.url)
        route.close()

    page.on("console", lambda it: complain(_told(it)) if it.type == "error" else None)
    page.on("pageerror", lambda error: complain(str(error)))
    context.route(_leaves, stop)
    context.route_web_socket(_leaves, stop_socket)
    try:
        page.goto(f"{lab.url}{page_of}?token={lab.token}")
        page.wait_for_function("() => window.jupyterapp?.shell")
        yield reader
    finally:
        context.close()


@contextmanager
def open_notebook(reader: Reader, name: str) -> Iterator[OpenNotebook]:
    """Open a notebook (its path below the desk's folder) and wait for its kernel.

    One after the other in the same page, as a reader does: to load JupyterLab takes longer
    than most notebooks do.
    """
    page = reader.page
    reader.open = OpenNotebook(page, reader.work / name)
    page.set_default_timeout(RUN_SECONDS * 1000)
    page.set_viewport_size(SIZE)
    page.evaluate(OPEN, name)
    yield reader.open
    page.evaluate(SHUT_DOWN)


def _told(message: ConsoleMessage) -> str:
    return f"{message.text} ({message.location['url']})"


def _url(desk: Desk, server: subprocess.Popen[bytes], log: Path) -> str:
    """The address that a JupyterLab writes down once it listens."""
    runtime = Path(desk.environment()["JUPYTER_RUNTIME_DIR"]) / f"jpserver-{server.pid}.json"
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        time.sleep(0.1)
        with suppress(FileNotFoundError, json.JSONDecodeError):  # not written, or half of it
            return json.loads(runtime.read_text())["url"]
    message = f"JupyterLab did not start:\n{log.read_text()}"
    raise RuntimeError(message)


def _leaves(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme not in ("data", "blob", "about") and parts.hostname != "127.0.0.1"
