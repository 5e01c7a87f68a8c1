"""What tests of several rooms share: other people's workspaces, and a browser."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

import hypothesis
import pytest

from tests import chromium

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from types import ModuleType

    from playwright.sync_api import Browser

    from skill_eval_nb.tables import Workspace

# Of several workers on few cores none gains by threads of its own, and each small query pays for
# waking them. Read when polars and numpy are imported, here and in what the tests start.
os.environ.setdefault("POLARS_MAX_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# jsonschema, which Altair and JupyterLab bring, looks for it: each worker would compile its grammar
# of addresses for two seconds.
sys.modules.setdefault("rfc3987_syntax", cast("ModuleType", None))

hypothesis.settings.register_profile(
    "patient",
    hypothesis.settings.default,
    deadline=None,  # two tests share a core
    # Few of each of two hundred properties: the whole is to end in five minutes.
    # New ones are drawn in every run; SKILL_EVAL_NB_EXAMPLES=200 looks harder.
    max_examples=int(os.environ.get("SKILL_EVAL_NB_EXAMPLES", "12")),
)
hypothesis.settings.load_profile("patient")

NO_CORPUS = "left out: SKILL_EVAL_NB_CORPUS names no folder with other people's workspaces"


def _corpus() -> Path | None:
    """The folder that SKILL_EVAL_NB_CORPUS names; a folder of repositories."""
    named = os.environ.get("SKILL_EVAL_NB_CORPUS")
    if not named:
        return None
    if not Path(named).is_dir():
        message = f"SKILL_EVAL_NB_CORPUS is {named}, which is not a folder."
        raise pytest.UsageError(message)
    return Path(named).resolve()


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Workspaces as people left them, a folder a repository."""
    return _corpus() or pytest.skip(NO_CORPUS)


@pytest.fixture(scope="session")
def others(corpus: Path) -> Path:
    """Results of other tools, a folder a tool, in `others` beside the corpus."""
    return _beside(corpus, "others")


@pytest.fixture(scope="session")
def published(corpus: Path) -> Path:
    """Published studies with their raw data, in `published` beside the corpus."""
    return _beside(corpus, "published")


def _beside(corpus: Path, name: str) -> Path:
    found = corpus.parent / name
    return (
        found if found.is_dir() else pytest.skip(f"left out: there is no {name} beside the corpus")
    )


@pytest.fixture(scope="session")
def corpus_workspaces(corpus: Path) -> list[Path]:
    """The folder of each repository of the corpus, in order of name."""
    return sorted(path for path in corpus.iterdir() if path.is_dir())


@pytest.fixture(scope="session")
def corpus_loaded(corpus_workspaces: list[Path]) -> list[Workspace]:
    """What can be loaded of them, each once for all tests."""
    import skill_eval_nb as sen

    loaded = []
    for path in corpus_workspaces:
        with suppress(sen.NothingToLoad):
            loaded.append(sen.load(path))
    return loaded


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium that draws pages, the light one where there is one."""
    yield from _launched(chromium.light())


@pytest.fixture(scope="module")
def whole_browser() -> Iterator[Browser]:
    """A Chromium with all that it has."""
    yield from _launched(chromium.find())


def _launched(path: Path | None) -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    if path is None and chromium.required():
        pytest.fail(f"SKILL_EVAL_NB_REQUIRE_BROWSER is set, but {chromium.MISSING}")
    if path is None:
        pytest.skip(f"left out: {chromium.MISSING}")
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=path, args=list(chromium.ARGUMENTS))
        yield chrome
        chrome.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What is left out for want of the corpus is told in one line, of this file."""
    report = yield
    if report.skipped and NO_CORPUS in str(report.longrepr):
        report.longrepr = (__file__, 1, NO_CORPUS)
    return report


def pytest_configure() -> None:
    """Say at once, and once, that the corpus is not where it should be."""
    _corpus()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage, which would take half of the time, in each worker.

    What was collected counts as old, and not as frozen: the package goes by what is frozen.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.unfreeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they ask for, and put files first that take long.

    A file goes to one worker: whichever ends last should have little left.
    """
    for item in items:
        asked = set(getattr(item, "fixturenames", ()))
        if asked & {"corpus", "corpus_workspaces", "corpus_loaded"}:
            item.add_marker("corpus")
        if asked & {"browser", "whole_browser"}:
            item.add_marker("browser")
    marks = ("slow", "browser", "corpus")
    marked = {mark: {one.path for one in items if one.get_closest_marker(mark)} for mark in marks}

    def place(item: pytest.Item) -> int:
        ranks = (rank for rank, paths in enumerate(marked.values()) if item.path in paths)
        return next(ranks, len(marks))

    items.sort(key=place)
