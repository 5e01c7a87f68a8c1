"""The runs behind a figure: of an eval, a dimension or an expectation, in both iterations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..runs import RunKey, key_of
from .flips import CheckKey, of_check
from .two import Two

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace


@dataclass(frozen=True, slots=True)
class Behind:
    """What was clicked on: an eval by its id, a dimension by its name, an expectation."""

    kind: Literal["eval", "dimension", "check"]
    configuration: str
    key: str | CheckKey


@dataclass(frozen=True, slots=True)
class Told:
    """A run, and what it has to say to the figure.

    Attributes:
        key: the run.
        eval_name: its eval's name.
        status: what became of it.
        passed: the verdicts on the expectation, if one was asked about.
        figures: its scores on the dimension, or the value of the metric.
        evidence: what the verdict or the scores rest on.
    """

    key: RunKey
    eval_name: str
    status: str
    passed: tuple[bool | None, ...] = ()
    figures: tuple[float, ...] = ()
    evidence: tuple[str, ...] = ()


def runs_behind(ws: Workspace, two: Two, behind: Behind | None) -> pl.DataFrame:
    """The rows of `runs` of both iterations that a figure rests on; all of them without one."""
    runs = two.rows(ws, "runs")
    if behind is None:
        return runs
    runs = runs.filter(configuration=behind.configuration)
    match behind.key:
        case CheckKey(eval_id=eval_id):
            return runs.filter(eval_id=eval_id)
        case name if behind.kind == "eval":
            return runs.filter(eval_id=name)
        case name:
            own = two.rows(ws, "rubric_scores")
            own = own.filter(configuration=behind.configuration, dimension=name)
            keys = list(RunKey._fields)
            return runs.join(own.select(keys).unique(), on=keys, how="semi", maintain_order="left")


def told(ws: Workspace, two: Two, behind: Behind, metric: str) -> dict[str, list[Told]]:
    """The runs behind a figure, by iteration, each with what it has to say."""
    found: dict[str, list[Told]] = {two.a: [], two.b: []}
    rows = runs_behind(ws, two, behind).to_dicts()
    about = _about(ws, two, behind)
    for row in rows:
        key = key_of(row)
        mine = about.get(key, [])
        if behind.kind == "eval":
            figures: Iterable[Any] = (row[metric],)
        else:
            figures = (one["score"] for one in mine) if behind.kind == "dimension" else ()
        found[key.iteration].append(
            Told(
                key,
                row["eval_name"],
                row["status"],
                tuple(one["passed"] for one in mine) if behind.kind == "check" else (),
                tuple(value for value in figures if value is not None),
                tuple(one["evidence"] for one in mine if one["evidence"]),
            )
        )
    return found


def _about(ws: Workspace, two: Two, behind: Behind) -> dict[RunKey, list[dict[str, Any]]]:
    """What expectations or rubric scores say of the runs, by run."""
    if behind.kind == "eval":
        return {}
    if isinstance(behind.key, CheckKey):
        rows = of_check(two.rows(ws, "expectations"), behind.key)
    else:
        rows = two.rows(ws, "rubric_scores").filter(dimension=behind.key)
    found: dict[RunKey, list[dict[str, Any]]] = {}
    for row in rows.filter(configuration=behind.configuration).to_dicts():
        found.setdefault(key_of(row), []).append(row)
    return found
