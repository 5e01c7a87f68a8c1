"""`history`: the versions of a skill from the runs of a workspace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from skill_eval_nb.running.refused import refuse
from skill_eval_nb.stats.values import better

from .deciding import TABLES, Rules
from .describing import by_version
from .following import Known, follow, oldest
from .keeping import kept
from .sides import versions_of
from .stating import given, stated
from .values import Lineage, Version

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace


def history(
    ws: Workspace,
    *,
    configuration: str | None = None,
    metric: str = "pass_rate",
    parents: Mapping[str, str] | None = None,
    level: float = 0.95,
    worth: float | None = None,
) -> Lineage:
    """The versions of a skill: what each was made from, what changed, and whether it won.

    A version is the with-skill side of an iteration; v0 is the first one, or the `old_skill`
    that the first iteration also ran. In the `test-cases` dialect the versions of the
    description are versions, where its benchmark says which pass was of which.

    `won` and `lost` are what the verdict of `stats.deltas` on these evals bears out (`helps`,
    `hurts`); everything else is a `tie`, whatever the means are. Where the iteration also ran
    its parent as `old_skill`, the two sides of that iteration are compared (the same evals, at
    the same time), else the two iterations. Intervals are not adjusted for many versions.

    Args:
        ws: a workspace with the runs of one skill.
        configuration: the side that is the skill's; told by its name where it is not given.
        metric: what decides: a number column of `runs`, or a rubric dimension by its name.
        parents: version or iteration to the one that it was made from. What is not given is
            what a history.json of the workspace states, else the best version before it.
        level: of the intervals; a win needs p ≤ 1 - level.
        worth: the smallest difference worth having, as for `stats.deltas`.

    Returns:
        a `Lineage`; of a workspace without runs, one without versions.

    Raises:
        Refused: there are several skills or workspaces; or a configuration or version is not
            there; or of the metric neither more nor less is better.
        ValueError: the metric is not there, or the level lies outside (0, 1).

    >>> import skill_eval_nb as sen
    >>> found = history(sen.load("data/tdd-workspace"))
    >>> [(one.version, one.parent, one.grading_result) for one in found.versions]
    [('v0', None, 'baseline'), ('v1', 'v0', 'tie')]
    """
    if better(metric) is None:
        raise refuse(f"no version can win by {metric}: neither more nor less of it is better")
    workspace, skill = _only(ws.polars("runs"))
    ws = by_version(ws)
    tables = {name: ws.polars(name) for name in TABLES}
    sides, notes = versions_of(tables["runs"], configuration)
    rows = ws.polars("history").filter(workspace=workspace, skill=skill).to_dicts()
    said, note = stated(rows, sides)
    known = Known(
        tables=tables,
        sides=sides,
        rules=Rules(metric, worth, level),
        given=given(parents, sides),
        stated=said,
        kept=kept(ws, tables["runs"]),
    )
    versions = follow(known)
    notes += [text for text in (note, *_contradicted(versions, rows if said else [])) if text]
    started = oldest(one.started_at for one in versions)
    return Lineage(workspace, skill, metric, level, versions, started, tuple(notes))


def _only(runs: pl.DataFrame) -> tuple[str, str]:
    """The one workspace and skill that the runs are of; no names where there are none."""
    every = sorted(runs.select("workspace", "skill").unique().rows())
    if len(every) > 1:
        names = "; ".join(f"skill {skill!r} in {workspace!r}" for workspace, skill in every[:5])
        more = f" and {len(every) - 5} more" if len(every) > 5 else ""
        raise refuse(
            f"a history is of one skill, and here are {len(every)}: {names}{more}; choose one by "
            "ws.select(workspace=…, skill=…)"
        )
    return every[0] if every else ("", "")


def _contradicted(
    versions: Sequence[Version], rows: Iterable[Mapping[str, object]]
) -> Iterable[str]:
    """Where a history.json says something else."""
    for one in versions:
        if one.stated_result not in (None, one.grading_result):
            yield (
                f"history.json says that {one.version} {_was(one.stated_result)}; "
                f"its runs say: {one.grading_result or 'nothing to compare'}."
            )
    best = next((str(row["version"]) for row in rows if row["is_current_best"]), None)
    ours = next((one.version for one in versions if one.is_current_best), None)
    if best is not None and best != ours:
        proven = "prove none to be" if ours is None else f"bear out {ours}"
        yield f"history.json has {best} as the best version, its runs {proven}."


def _was(result: str | None) -> str:
    """A stated result in a sentence.

    >>> _was("won"), _was("tie")
    ('won', 'was a tie')
    """
    return result if result in ("won", "lost") else f"was a {result}"
