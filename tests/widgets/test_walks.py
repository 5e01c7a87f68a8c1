"""Walks through the widgets, in `tests/kept/walk_*.txt`: what somebody does, and then sees.

A line `= …` opens a widget, with what it is given; `> …` does something there, as the page would,
and `* …` does what the first element of a label is for; `! …` writes or removes a file, as others
do; all in JSON. Below stands what came of it: what there is to read since, what the elements
have, and what is in files that are not as they were. To walk another way, add such lines,
and write what comes of them anew (`tests/golden.py` says how).
"""

from __future__ import annotations

import datetime as dt
import difflib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb.stats.values import RUN
from skill_eval_nb.widgets.ui import Panel
from tests.charts import worlds
from tests.charts.test_factors import models
from tests.checkout import ROOT
from tests.corpus.build import graded, lay
from tests.golden import KEPT, fingerprint, hold
from tests.triggers.made import make_skill
from tests.widgets.diff import made as diff
from tests.widgets.drafts import made as drafts
from tests.widgets.review import made as review
from tests.widgets.run import panels as run
from tests.widgets.show import runs
from tests.widgets.trees import elements, text
from tests.widgets.trigger import made as trigger

LONG = 140
TODAY = f"{dt.datetime.now(dt.UTC):%Y-%m-%d}"
PASSING = re.compile(
    r"\b[0-9a-f]{12,}\b|(?<=sen-panel-)\d+|(?<=genai-prices )[\d.]*\d"
    r'|(?<=\["press", )[^]]*|\d{4}-\d\d-\d\dT[\d:.+Z]+'
)
"""What is another every time: names made of where something is, counters, today's prices."""


ONE = "iteration-1/eval-1-it/with_skill/run-1"
DATA = ROOT / "data"
OPENED: dict[str, Callable[..., Panel]] = {
    "data": lambda _, name, **given: sen.explore(DATA / name, **given),
    "world": lambda _, **given: sen.explore(worlds.world(**given)),
    "models": lambda _: sen.explore(models(large=0.4, small=0.0)),
    "library": lambda _: sen.library_panel(DATA),
    "diff": lambda home, **given: sen.diff(diff.workspace(home, **given)),
    "diff of": lambda _, name: sen.diff(DATA / name),
    "drafts": lambda home: sen.drafts(drafts.workspace(home)),
    "review": review.opened,
    "checks": lambda home: sen.review(review.doubted(home), "checks"),
    "run": lambda home, **given: run.panel_on(run.demo_skill(home), **given),
    "nowhere": lambda home: run.panel_on(home / "nowhere"),
    "triggers": lambda home: sen.trigger_panel(trigger.demo_skill(home)),
    "no triggers": lambda home: sen.trigger_panel(make_skill(home / "kites")),
    "no drafts": lambda home: sen.drafts(home / "none"),
    "first evals": lambda home: sen.drafts(sen.draft_evals(make_skill(home / "kites"), n=3)),
    "run of": lambda _, **tables: sen.show(runs.workspace(**tables), tuple(runs.KEY)),
    "file": lambda home, name, words: sen.show(file_in(home, name, words), ONE),
    "show": lambda _, name, path: sen.show(DATA / name, path),
}


def file_in(home: Path, name: str, words: str) -> Path:
    """A workspace of one run, which put out one file."""
    lay(home, {f"{ONE}/outputs/{name}": words, f"{ONE}/grading.json": graded("p")})
    return home


def written(home: Path) -> dict[str, str]:
    """What the small files are, by their paths."""
    files = (path for path in sorted(home.rglob("*")) if path.is_file())
    return {f"{path.relative_to(home)}": path.read_text(errors="replace") for path in files}


def seen(panel: Panel, home: Path, files: dict[str, str]) -> list[str]:
    """What is to be read, line by line; then a line for each attribute that elements have.

    And what is in the files that are not as they were.
    """
    told: dict[str, list[str]] = {}
    for tag, attributes, *_ in elements(panel._tree):
        for name, one in attributes.items():
            if name != "blob":
                told.setdefault(f"{tag}.{name}", []).append(json.dumps(one, ensure_ascii=False))
    if hasattr(panel, "selection"):
        rows = pl.DataFrame(panel.selection).select(RUN).rows()
        told["selected"] = [str(len(rows)), *map(str, rows)]
    read = [f"fault: {panel.fault}"] * bool(panel.fault) + text(panel._tree, " | ").splitlines()
    lines = [*read, *(f"{name}: {' '.join(values)}" for name, values in told.items())]
    for name, words in {**files, **written(home)}.items():
        if words != files.get(name):
            lines += [f"{name}: {line}" for line in words.splitlines()]
    lines = [PASSING.sub("…", one.replace(str(home), "…")).replace(TODAY, "…") for one in lines]
    return [one if len(one) < LONG else f"{one[: LONG - 40]}… {fingerprint(one)}" for one in lines]


def called(panel: Panel, label: str) -> dict[str, Any]:
    """What can be done with the first element of that label."""
    for tag, attributes, inside, *_ in elements(panel._tree):
        if tag == "label" and text(inside).split("\n")[0] == label:
            return next(one[1]["on"] for one in elements(inside) if "on" in one[1])
        if label in (attributes.get("aria-label"), text(inside)) and "on" in attributes:
            assert not attributes.get("disabled"), label
            return attributes["on"]
    raise AssertionError(f"nothing is called {label!r}")


def act_of(panel: Panel, way: str, name: str, given: list[Any]) -> tuple[Any, ...]:
    """What the page would send."""
    if way == ">":
        return name, *given
    return *next(iter(called(panel, name).values())), *given


def put(path: Path, words: str | None) -> None:
    """Write a file, as others do meanwhile, or remove it."""
    if words is None:
        path.unlink()
    else:
        path.write_text(words)


def walked(lines: list[str], home: Path) -> Iterator[str]:
    """The lines of what is done, each with what came of it."""
    before: list[str] = []
    for number, line in enumerate(lines):
        yield line
        way, (name, *given) = line[0], json.loads(f"[{line[1:]}]")
        if way == "=":
            home, before = home.parent / str(number), []
            home.mkdir()
            more = given.pop() if given and isinstance(given[-1], dict) else {}
            panel = OPENED[name](home, *given, **more)
            files = written(home)
        elif way == "!":
            put(home / name, *given)
        else:
            panel.do(*act_of(panel, way, name, given))
        assert panel.settle()
        now = seen(panel, home, files)
        changes = [*difflib.unified_diff(before, now, n=0, lineterm="")][2:]
        gone = [one for one in changes if one.startswith("-")]
        yield from [f"  {len(gone)} lines went: {fingerprint(str(gone))}"] * bool(gone)
        yield from (f"  {one[1:]}" for one in changes if one.startswith("+"))
        before = now


WALKS = sorted(path.stem for path in KEPT.glob("walk_*.txt"))


@pytest.mark.parametrize("name", WALKS)
def test_what_is_done_shows_what_it_did(name: str, tmp_path: Path) -> None:
    lines = (KEPT / f"{name}.txt").read_text().splitlines()
    steps = [line for line in lines if line and line[0] in "=>*!"]
    hold(name, walked(steps, tmp_path / "0"))
