"""A panel that shows what it is told to, on a page that all tests of a module share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.widgets.stage import HEIGHT, staged
from tests.widgets.ui.toys import Plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.widgets.stage import Stage


@pytest.fixture(scope="module")
def page_of_plain(browser: Browser) -> Iterator[Stage]:
    with staged(browser, Plain()) as opened:
        yield opened


@pytest.fixture
def stage(page_of_plain: Stage, plain: Plain) -> Iterator[Stage]:
    """The page, opened anew; nothing may go wrong in it, and nothing be fetched or run."""
    stage = page_of_plain
    stage.alive = True
    stage.page.evaluate("() => window.senClose()")
    stage.page.set_viewport_size({"width": 1000, "height": HEIGHT})
    stage.open()
    stage.console_errors.clear()
    yield stage
    assert plain.fault is None
    stage.fine()


@pytest.fixture
def plain(page_of_plain: Stage) -> Plain:
    panel = page_of_plain.panel
    assert isinstance(panel, Plain)
    panel.said.clear()
    panel.draw()
    return panel
