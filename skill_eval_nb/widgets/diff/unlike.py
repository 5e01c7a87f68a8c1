"""What else differs between two iterations: then the deltas are not of the skill alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.running.iteration import planned
from skill_eval_nb.workspace.read import nearest_metadata
from skill_eval_nb.workspace.snapshots import iteration_folder

from ..ui import Child, Node, h
from ..ui.parts import notice, table
from .skill import Pair, marked, spans

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace


TOLD_APART = frozenset(("skills", "evals", "executor_model", "judge", "stand_in"))
"""Parts of a plan that have a place of their own here, or are no setting."""
JUDGE = "judge's model"
MODELS = {"executor_model": "executor's model", "judge_model": JUDGE}
ALONE = "Those of one iteration alone are in no delta between the two."
KINDS = {
    "Evals": ALONE,
    "Prompts": "",
    "Expectations": "",
    "Rubric dimensions": ALONE,
    "Models": "",
    "How it was run": "",
}
"""What can differ, and what to know of it."""
MISSING = "–"


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that differs beside the skill.

    Attributes:
        kind: a key of KINDS.
        about: what it is of.
        before: how it is in the first iteration; None where it is not there.
        after: the same of the second.
    """

    kind: str
    about: str
    before: str | None
    after: str | None

    @property
    def touches_deltas(self) -> bool:
        """Whether deltas are of unlike things: other tasks, other checks, another judge."""
        of_grading = ("Prompts", "Expectations", "Rubric dimensions")
        return self.kind in of_grading or self.about == JUDGE


def unlike(ws: Workspace, pair: Pair) -> list[Difference]:
    """All that is known to differ between two iterations but their skill and their figures.

    `ws` has the runs of these two iterations of one skill alone.
    """
    runs, scores = ws.polars("runs"), ws.polars("rubric_scores")
    shared = set.intersection(*(set(_of(runs, side)["eval_id"]) for side in pair))
    base = Path(ws.path) if ws.path else None
    both_scored = all(_of(scores, side).height for side in pair)
    return [
        *_alone("Evals", pair, runs, "eval_id", "eval_name"),
        *(_prompts(runs, pair, base) if base else ()),
        *_checks(ws.polars("expectations"), pair, shared),
        *(_alone("Rubric dimensions", pair, scores, *["dimension"] * 2) if both_scored else ()),
        *_models(runs, pair),
        *(_plans(runs, pair, base) if base else ()),
    ]


def _of(frame: pl.DataFrame, iteration: str) -> pl.DataFrame:
    return frame.filter(iteration=iteration)


def _changed(kind: str, before: Mapping[Any, str], after: Mapping[Any, str]) -> list[Difference]:
    """What is another one on either side, by what it is about; a part missing is no change."""
    return [
        Difference(kind, str(about), words, after[about])
        for about, words in before.items()
        if after.get(about, words) != words
    ]


def _alone(kind: str, pair: Pair, frame: pl.DataFrame, key: str, name: str) -> list[Difference]:
    """What stands in one iteration only."""
    rows = (_of(frame, side) for side in pair)
    a, b = (dict(zip(of[key], of[name], strict=True)) for of in rows)
    gone = [Difference(kind, name, name, None) for key, name in a.items() if key not in b]
    return gone + [Difference(kind, name, None, name) for key, name in b.items() if key not in a]


def _checks(checks: pl.DataFrame, pair: Pair, shared: Collection[str]) -> Iterator[Difference]:
    """Expectations of one iteration alone, and those of one id in other words."""
    columns = ["eval_id", "layer", "expectation_id", "text", "eval_name"]
    rows = [
        [
            row
            for row in _of(checks, side).unique(columns, maintain_order=True).to_dicts()
            if row["eval_id"] in shared
        ]
        for side in pair
    ]
    if not all(rows):
        return
    known = [{key: row for row in of for key in _keys(row)} for of in rows]
    for row in rows[0]:
        others = [known[1][key] for key in _keys(row) if key in known[1]]
        if not others:
            yield Difference("Expectations", row["eval_name"], row["text"], None)
        elif row["expectation_id"] and all(other["text"] != row["text"] for other in others):
            about = f"{row['eval_name']}, {row['expectation_id']}"
            yield Difference("Expectations", about, row["text"], others[0]["text"])
    for row in rows[1]:
        if not any(key in known[0] for key in _keys(row)):
            yield Difference("Expectations", row["eval_name"], None, row["text"])


def _keys(row: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """What an expectation is known by in its eval: its id where it has one, and its text."""
    names = {"id": row["expectation_id"], "text": row["text"]}
    return [(row["eval_id"], row["layer"], by, name) for by, name in names.items() if name]


def _prompts(runs: pl.DataFrame, pair: Pair, base: Path) -> list[Difference]:
    """Prompts that the metadata of the two iterations have in other words."""
    prompts: dict[str, dict[str, str]] = {side: {} for side in pair}
    names: dict[str, str] = {}
    first = runs.unique(["iteration", "eval_id"], keep="first", maintain_order=True)
    for row in first.to_dicts():
        place = base / row["path"]
        folder = iteration_folder(place, row["iteration"])
        metadata = nearest_metadata(place, folder) if folder else None
        if metadata is not None and metadata.prompt:
            name = names.setdefault(row["eval_id"], row["eval_name"])
            prompts[row["iteration"]][name] = metadata.prompt.strip()
    return _changed("Prompts", *prompts.values())


def _models(runs: pl.DataFrame, pair: Pair) -> list[Difference]:
    a, b = (
        {
            words: ", ".join(sorted(_of(runs, side)[column].drop_nulls().unique()))
            for column, words in MODELS.items()
        }
        for side in pair
    )
    stated = {about: models for about, models in a.items() if models and b[about]}
    return _changed("Models", stated, b)


def _plans(runs: pl.DataFrame, pair: Pair, base: Path) -> list[Difference]:
    """What our journals say of how the two were run."""
    settings: list[dict[str, str]] = []
    for side in pair:
        path = next(iter(_of(runs, side)["path"]), None)
        folder = iteration_folder(base / path, side) if path else None
        plans = planned(folder) if folder and folder.is_dir() else None
        if not plans:
            return []
        own = {**plans[-1].runs, **plans[-1].grading}
        settings.append(
            dict(_flat({name: of for name, of in own.items() if name not in TOLD_APART}))
        )
    every = dict.fromkeys([*settings[0], *settings[1]], "none")
    return _changed("How it was run", *(every | own for own in settings))


def _flat(settings: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """The settings of a plan, each under its own name."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}, ")
        else:
            yield f"{above}{name}", "none" if value is None else str(value)


def unlike_view(found: Sequence[Difference], pair: Pair) -> Node:
    """All that differs beside the skill and the figures."""
    if not found:
        return notice(
            "Nothing else differs, as far as the files tell: evals, prompts, expectations, rubric "
            "dimensions and models are the same.",
            fine=True,
        )
    doubt = "Where prompts, expectations, rubric or judge differ, a delta compares unlike things."
    sections = {kind: [change for change in found if change.kind == kind] for kind in KINDS}
    return h(
        "div",
        notice(doubt) if any(difference.touches_deltas for difference in found) else None,
        [_section(kind, several, pair) for kind, several in sections.items() if several],
    )


def _section(kind: str, several: Sequence[Difference], pair: Pair) -> Node:
    known = h("p", KINDS[kind], cls="sen-soft") if KINDS[kind] else None
    rows = [(difference.about, *_cells(difference)) for difference in several]
    return h("section", h("h4", kind), known, table(("Of", *pair), rows))


def _cells(difference: Difference) -> list[Child]:
    if difference.before is None or difference.after is None:
        return [
            h("div", words or MISSING, dir="auto")
            for words in (difference.before, difference.after)
        ]
    return [
        h("div", spans(pieces, kind), cls="sen-diff-asked", dir="auto")
        for pieces, kind in zip(
            marked(difference.before, difference.after), ("old", "new"), strict=True
        )
    ]
