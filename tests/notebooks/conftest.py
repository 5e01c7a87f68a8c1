"""A desk, a JupyterLab at it, and notebooks open in a browser."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.notebooks import desk as desks
from tests.notebooks import lab as labs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> desks.Desk:
    """A folder with copies of the notebooks and the data, and no network."""
    return desks.lay(tmp_path_factory.mktemp("desk"))


@pytest.fixture(scope="module")
def lab(desk: desks.Desk) -> Iterator[labs.Lab]:
    """A JupyterLab at the desk."""
    with labs.start(desk) as running:
        yield running


@pytest.fixture(scope="module")
def reader(browser: Browser, lab: labs.Lab) -> Iterator[labs.Reader]:
    """That JupyterLab in Chromium."""
    with labs.look_at(lab, browser) as looking:
        yield looking


@pytest.fixture
def opened(reader: labs.Reader) -> Callable[[str], AbstractContextManager[labs.OpenNotebook]]:
    """Opens a notebook, given its path below the desk's `work`."""
    return partial(labs.open_notebook, reader)
