"""Walks through the widgets, in `tests/kept/walk_*.txt`: what somebody does, and then sees.

Each step is a line. `= …` opens a widget with what it is given. `> …` sends an action, as the page
would; `* …` does what the first element with that label is for. `! …` writes a file, or removes
what is there, as another program would; `^ …` says that something has landed in a folder. All are
in JSON, in which `~/` is the walk's own folder. Below a step are its effects, once all work has
ended: new text on the page, new attributes of its elements, and changed files. To try something
else, add such lines and write the effects anew (see `tests/golden.py`).
"""

from __future__ import annotations

import datetime as dt
import difflib
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb.stats.values import RUN
from skill_eval_nb.tables import Workspace
from skill_eval_nb.widgets.show.transcript import show_transcript
from skill_eval_nb.widgets.ui import Panel, h
from skill_eval_nb.widgets.ui.source import tell_landed
from tests.charts import worlds
from tests.checkout import ROOT
from tests.corpus.build import lay
from tests.golden import KEPT, fingerprint, hold
from tests.triggers.made import make_skill
from tests.widgets.diff import made as diff
from tests.widgets.drafts import made as drafts
from tests.widgets.review import made as review
from tests.widgets.run import panels as run
from tests.widgets.show import runs, zoo
from tests.widgets.show.one import draw
from tests.widgets.trees import elements, find, text
from tests.widgets.trigger import made as trigger
from tests.widgets.ui.toys import Plain

LONG = 140
TODAY = f"{dt.datetime.now(dt.UTC):%Y-%m-%d}"
PASSING = re.compile(
    r"\b[0-9a-f]{12,}\b|(?<=sen-panel-)\d+|(?<=genai-prices )[\d.]*\d"
    r"|(?<=, )(?:\d+:\d\d(?=Dismiss)|\d+\.\d s$)|\$[\d.]+ / \$[\d.]+"
    r'|(?<="press", )[^]]*|\d{4}-\d\d-\d\dT[\d:.+Z]+|(?<=not JSON: ).*'
)
"""What is another every time, or elsewhere: names made of where something is, counters, prices, how
long it took, and what a library says of what it cannot read."""


def file_in(home: Path, name: str, words: str | None = None) -> Panel:
    """What is shown of a file that a run put out; of the zoo's where no words are given."""
    made = draw(home, name, zoo.files()[name] if words is None else words)
    return Plain(h("p", made.kind), made.offer_all())


def others_of(home: Path, **given: Any) -> Panel:
    """What else differs between two iterations, beside their figures."""
    made = sen.diff(diff.workspace(home, **given))
    made.do("see", "tab", "others")
    assert made.settle()
    return Plain(find(made._tree, role="tabpanel"))


def transcript_in(home: Path, **files: str) -> Panel:
    """What is shown of a run's transcript in these forms, or of the zoo's."""
    files = files or {"jsonl": zoo.transcript()}
    lay(home, {f"transcript.{ending}": words for ending, words in files.items()})
    return Plain(show_transcript(home))


def several(*iterations: dict[str, list[int]]) -> Workspace:
    """Iterations, each with the sides it has, and how many of four checks each eval passed."""
    return worlds.workspace(
        runs=[
            worlds.run_keys(eval_id=one, eval_name=one, configuration=side)
            | {"iteration": f"iteration-{n}", "path": f"{n}/{one}/{side}", "status": "graded"}
            | {"passed": passed, "failed": 4 - passed, "total": 4, "pass_rate": passed / 4}
            for n, sides in enumerate(iterations, 1)
            for side, shares in sides.items()
            for one, passed in zip("ab", shares, strict=True)
        ]
    )


DATA = ROOT / "data"
OPENED: dict[str, Callable[..., Panel]] = {
    "data": lambda _, name, **given: sen.explore(DATA / name, **given),
    "world": lambda _, **given: sen.explore(worlds.world(**given)),
    "files": lambda home, **files: sen.explore(lay(home, files)),
    "models": lambda _: sen.explore(worlds.models(large=0.4, small=0.0)),
    "library": lambda _: sen.library_panel(DATA),
    "diff": lambda home, **given: sen.diff(diff.workspace(home, **given)),
    "diff of": lambda _, name, *iterations: sen.diff(DATA / name, *iterations),
    "others": others_of,
    "drafts": lambda home, **given: sen.drafts(drafts.workspace(home, **given)),
    "review": review.opened,
    "checks": lambda home: sen.review(review.doubted(home), "checks"),
    "run panel": lambda _, **given: run.run_panel(DATA / "release-notes", **given),
    "run": lambda home, **given: run.panel_on(run.demo_skill(home), **given),
    "nowhere": lambda home: run.panel_on(home / "nowhere"),
    "triggers": lambda home, **files: sen.trigger_panel(lay(trigger.demo_skill(home), files)),
    "no triggers": lambda home: sen.trigger_panel(make_skill(home / "kites")),
    "no drafts": lambda home: sen.drafts(home / "none"),
    "first evals": lambda home, **given: sen.drafts(
        sen.draft_evals(make_skill(home / "kites"), **given)
    ),
    "run of": lambda _, **tables: sen.show(runs.workspace(**tables), tuple(runs.KEY)),
    "file": file_in,
    "transcript": transcript_in,
    "iterations": lambda _, iterations: sen.explore(several(*iterations)),
    "show": lambda _, name, path: sen.show(DATA / name, path),
}


def read_files(home: Path) -> dict[str, str]:
    """What the files are that somebody looks at, by their paths: not what jobs keep, or hide."""
    paths = {f"{path.relative_to(home)}": path for path in sorted(home.rglob("*"))}
    return {
        name: path.read_text(errors="replace")
        for name, path in paths.items()
        if path.is_file() and not re.search(r"(^|/)\.|release-notes-workspace/", name)
    }


def describe(panel: Panel, home: Path, files: dict[str, str]) -> list[str]:
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
    for name, words in {**files, **read_files(home)}.items():
        if words != files.get(name):
            lines += [f"{name}: {line}" for line in words.splitlines()]
    lines = [PASSING.sub("…", one.replace(str(home), "…").replace(str(ROOT), "")) for one in lines]
    lines = [one.replace(TODAY, "…") for one in lines]
    return [one if len(one) < LONG else f"{one[: LONG - 40]}… {fingerprint(one)}" for one in lines]


def find_actions(panel: Panel, label: str) -> dict[str, Any]:
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
    return *next(iter(find_actions(panel, name).values())), *given


def write(path: Path, words: str | None) -> None:
    """Write a file, as others do meanwhile, or remove what is there."""
    if words is not None:
        lay(path.parent, {path.name: words})
    elif path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def wait_for(panel: Panel) -> None:
    """Wait until all that was begun has ended, and is shown; in a panel inside it, too."""
    assert panel.settle()
    if isinstance(inner := getattr(panel, "_runs", None), Panel):
        wait_for(inner)
    for begun in ("tasks", "_judgings"):
        assert all(task.ended.wait(120) for task in getattr(panel, begun, {}).values())
    assert panel.settle()


def walk(lines: list[str], folder: Path) -> Iterator[str]:
    """The lines of what is done, each with what came of it."""
    before, home = [], folder
    for number, line in enumerate(lines):
        yield line
        way, (name, *given) = line[0], json.loads(f"[{line[1:]}]".replace("~/", f"{home}/"))
        if way == "=":
            home, before = folder / str(number) / "w", []
            home.mkdir(parents=True)
            more = given.pop() if given and isinstance(given[-1], dict) else {}
            try:
                panel = OPENED[name](home, *given, **more)
            except (LookupError, OSError, TypeError, ValueError) as error:
                yield f"  refused: {error}"
                continue
            files = read_files(home)
        elif way == "!":
            write(home / name, *given)
        elif way == "^":
            tell_landed(home / name)
        else:
            panel.do(*act_of(panel, way, name, given))
        wait_for(panel)
        now = describe(panel, home, files)
        changes = [*difflib.unified_diff(before, now, n=0, lineterm="")][2:]
        gone = [one for one in changes if one.startswith("-")]
        yield from [f"  {len(gone)} lines went: {fingerprint(str(gone))}"] * bool(gone)
        yield from (f"  {one[1:]}" for one in changes if one.startswith("+"))
        before = now


WALKS = sorted(path.stem for path in KEPT.glob("walk_*.txt"))


@pytest.mark.parametrize("name", WALKS)
def test_what_is_done_shows_what_it_did(name: str, tmp_path: Path) -> None:
    lines = (KEPT / f"{name}.txt").read_text().splitlines()
    steps = [line for line in lines if line and line[0] in "=>*!^"]
    hold(name, walk(steps, tmp_path))
