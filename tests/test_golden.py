"""All that is read, computed, drawn and written of the bundled data, held against what it was."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents import dump
from skill_eval_nb.tables import check
from tests.checkout import ROOT
from tests.golden import fingerprint, hold, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDERS = [*sorted((ROOT / "data").glob("*-workspace")), ROOT / "data" / "release-notes"]
DRAWN = ("tdd-workspace",)
"""Folders of whose charts the look is kept line for line, and not as a digest."""
LOOK = re.compile(r"\.(?:encoding|mark|spec|resolve|params|transform|facet|legend|\$schema)\b")
"""What in a chart's specification is the same whatever the data."""


def everything(folder: Path) -> Iterator[str]:
    """The lines of all that is known of a folder."""
    ws = sen.load(folder, backend="polars")
    yield from (repr(ws), *map(str, check(folder)))
    for name, table in ws.tables().items():
        yield from lines_of(table.to_dict(as_series=False), f"tables.{name}")
    for name in sorted({*sen.stats.__all__} - {"sequential"}):
        table = getattr(sen.stats, name)(ws)
        yield from lines_of(table.to_dict(as_series=False), f"stats.{name}")
    for name in sorted({*sen.charts.__all__} - {"save"}):
        spec = getattr(sen.charts, name)(ws).to_dict(validate=False)
        lines = [*lines_of({**spec, "config": None}, f"charts.{name}")]
        looks = [line for line in lines if LOOK.search(line.split(": ")[0])]
        yield from (line for line in lines if line not in looks)
        yield from looks if folder.name in DRAWN else [f"{name}.look: {fingerprint(str(looks))}"]
    for number, document in enumerate(sen.report.benchmark(ws)):
        yield from lines_of(dump(document), f"benchmark.{number}")
    yield from sen.report.markdown(ws).splitlines()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_nothing_has_changed_unseen(folder: Path) -> None:
    hold(folder.name, everything(folder))


@pytest.mark.corpus
def test_other_peoples_workspaces_are_read_as_they_were(corpus_loaded: list[sen.Workspace]) -> None:
    """Their tables and deltas, as a number of rows and a digest each; no sentence of ours."""
    lines = []
    for ws in corpus_loaded:
        tables = {name: ws.polars(name) for name in ws.tables()} | {
            "problems": ws.polars("problems").drop("message"),
            "deltas": sen.stats.deltas(ws).select("estimate", "low", "high", "p", "verdict"),
        }
        told = [
            f"{name} {table.height} {fingerprint(str([*lines_of(table.rows())]))}"
            for name, table in tables.items()
            if len(table)
        ]
        lines.append(f"{Path(ws.path).name}: {', '.join(told)}")
    hold("corpus", lines)
