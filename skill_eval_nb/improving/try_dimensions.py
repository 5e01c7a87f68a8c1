"""Try drafts of rubric dimensions: judge them on stored outputs within a budget, or price that.

Judgings are stored one per file in `.skill-eval-nb/tries/<draft>/judgings` of the workspace. A
file's name is a hash of the model and of all that it was shown and asked, so that any change makes
a new question.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.documents import Dimension, Eval, Judging, QualityRubric, dump, mend, to_json
from skill_eval_nb.grading.judge import (
    Answer,
    Case,
    Judge,
    Unjudged,
    judging_of,
    prepare,
    questions,
    same_model,
)
from skill_eval_nb.models import Prices
from skill_eval_nb.models.ask import Answered
from skill_eval_nb.models.stand_in import MODELS
from skill_eval_nb.running.asking import AskingProgress, Item, answers_of
from skill_eval_nb.running.judge_tasks import case_of
from skill_eval_nb.running.stored_runs import StoredRun, top_of
from skill_eval_nb.text import brief, count, dollars
from skill_eval_nb.workspace import write_atomic

from .tried import AFTER, BEFORE, OnRuns, Trial, Tried, Values, What
from .values import Progress, documents_at, own_folder, plain, stored_at

if TYPE_CHECKING:
    import polars as pl

MEAN = "rubric_weighted_mean"
MOST = 5
"""The most reasons that are reported."""
AT_ONCE = 100
"""Runs prepared at a time: what is shown of thousands would not fit into memory."""
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def try_dimensions(trial: Trial) -> Tried:
    """Judge new dimensions on stored outputs if that is free or within a budget; else price it.

    If a dimension is only removed or gets another weight, nothing has to be judged.
    """
    import polars as pl

    draft, ws, runs = trial.draft, trial.ws, trial.runs
    new = [
        mend(dict(item) if isinstance(item, Mapping) else {"name": item}, Dimension)[0]
        for item in draft.new
    ]
    stored = _scores(trial)
    rows = ws.polars("dimensions").filter(pl.col("eval_id").is_in(runs["eval_id"].to_list()))
    found: dict[What, OnRuns] = {}
    target = None if draft.target is None else _target_name(rows, draft.target)
    if target is not None:
        by_place = dict(stored.filter(dimension=target).select("run", "score").iter_rows())
        found["replaced"] = OnRuns([by_place.get(at) for at in range(runs.height)])
    judged, notes, begins = _Judged(), (), ""
    if target is not None and (not new or _is_reweighed(rows, target, new)):
        old = found["replaced"].values
        if not any(old):
            return trial.result("not tried", f"No stored run has a score on {target}.")
        coming = {dimension.name: (dimension.weight, old) for dimension in new}
        begins = f"With weight {new[0].weight:g} of {target}" if new else ""
    else:
        judged = _judge_dimensions(trial, new)
        if isinstance(judged, Tried):
            return judged
        notes = tuple(judged.notes(runs))
        coming = {
            dimension.name: (dimension.weight, judged.scores(dimension.name, runs.height))
            for dimension in new
        }
        evidence = [judged.evidence(at) for at in range(runs.height)]
        found = {"draft": OnRuns(_weighted_scores(list(coming.values())), evidence), **found}
    return trial.make_result(
        found,
        _rubric_means(runs, stored, target, coming),
        (MEAN,),
        scored=True,
        begins=begins,
        cost_usd=judged.cost_usd,
        to_judge=judged.to_judge,
        notes=notes,
    )


# ── judging ──────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Judged:
    """The judgings so far.

    Attributes:
        model: the model that judges.
        judgings: the judgings, by the index of the run.
        unscored: why a run has none, by its index.
        price_usd: the most that the missing ones cost; None if no price is known.
        to_judge: how many are missing.
        cost_usd: what was spent; None if a price is not known.
    """

    model: str = ""
    judgings: dict[int, Judging] = field(default_factory=dict)
    unscored: dict[int, str] = field(default_factory=dict)
    price_usd: float | None = 0.0
    to_judge: int = 0
    cost_usd: float | None = 0.0

    def scores(self, name: str, n_runs: int) -> list[float | None]:
        """The score of each run in a dimension."""
        rubrics = {at: judging.rubric_scores for at, judging in self.judgings.items()}
        found = {at: rubric[name].score for at, rubric in rubrics.items() if name in rubric}
        return [found.get(at) for at in range(n_runs)]

    def evidence(self, place: int) -> str:
        """The evidence for the scores of a run, or why it has none."""
        if place not in self.judgings:
            return f"Not scored: {self.unscored.get(place)}"
        scores = self.judgings[place].rubric_scores.values()
        return "; ".join(score.evidence or "" for score in scores)

    def notes(self, runs: pl.DataFrame) -> Iterator[str]:
        """What was left out and why, and a warning about the judge."""
        for reason, times in Counter(self.unscored.values()).most_common(MOST):
            yield f"{count(times, 'run')}: {reason}."
        for executor in sorted(set(runs["executor_model"].drop_nulls())):
            if (warning := same_model(self.model, executor)) is not None:
                yield warning


def _judge_dimensions(trial: Trial, new: Sequence[Dimension]) -> _Judged | Tried:
    """The judgings of new dimensions; or a result that says what is needed for them."""
    models = sorted(set(trial.runs["judge_model"].drop_nulls()))
    model = trial.terms.model(trial.judge_model, models)
    if not isinstance(model, str):
        judges = f"{', '.join(models)} judged these runs" if models else "no run names one"
        answer = f"This needs a judge, and {judges}: name a model with judge_model."
        return trial.result("not tried", answer)
    connection = trial.terms.connection
    free = model in MODELS if connection is None else connection.stand_in is not None
    dry_run = trial.terms.budget_usd is None and not free
    found = _judge(trial, model, new, free=free, dry_run=dry_run)
    if not (dry_run and found.to_judge):
        return found
    usd = found.price_usd
    price = "no price is known for it: add it to the table of prices"
    if usd is not None:
        price = f"{dollars(usd)} at most: set budget_usd to have it done"
    return trial.result(
        "priced",
        f"{count(found.to_judge, 'run')} would be judged by {brief(model)}, {price}.",
        price_usd=usd,
        to_judge=found.to_judge,
        notes=tuple(found.notes(trial.runs)),
    )


def _judge(
    trial: Trial, model: str, new: Sequence[Dimension], *, free: bool, dry_run: bool
) -> _Judged:
    """The stored judgings and new ones; each new one is written as soon as it arrives.

    Raises:
        Stopped: `stop` was set before the end.
        Refused: there is a budget and no known price, the draft is being tried already, or the
            folder cannot be written.
        OSError: a judging cannot be written.
        ModelFault: no API key was found; nothing was sent.
    """
    found, terms = _Judged(model), trial.terms
    ready = _items(found, trial, model, new)
    while batch := dict(islice(ready, AT_ONCE)):
        spent, done = found.cost_usd or 0.0, len(found.judgings) + len(found.unscored)
        before = AskingProgress(done, trial.runs.height, found.to_judge, spent, "")
        budget = None if free or terms.budget_usd is None else max(0.0, terms.budget_usd - spent)
        report = terms.progress and partial(_tell, terms.progress, before)
        mine = replace(terms, budget_usd=budget, dry_run=dry_run, progress=report)
        items = list(batch.values())
        answers = answers_of(items, partial(_stored_judgings, items), "a try-out", mine)
        for place, item in batch.items():
            if item.key in answers.values:
                found.judgings[place] = answers.values[item.key]
            else:
                found.to_judge += 1
                if item.key in answers.failed:
                    found.unscored[place] = answers.failed[item.key].reason
        found.price_usd = _plus(found.price_usd, answers.worst_usd)
        found.cost_usd = _plus(found.cost_usd, 0.0 if free else answers.cost_usd)
    return found


def _tell(tell: Progress, before: AskingProgress, now: AskingProgress) -> None:
    done, failed = before.done + now.done, before.failed + now.failed
    tell(AskingProgress(done, before.total, failed, before.spent_usd + now.spent_usd, now.what))


def _plus(amount: float | None, other: float | None) -> float | None:
    return None if amount is None or other is None else amount + other


def _items(
    found: _Judged, trial: Trial, model: str, new: Sequence[Dimension]
) -> Iterator[tuple[int, Item[Judging]]]:
    """The runs that can be judged, prepared one by one; the others are noted in `found`."""
    judge, rubric, runs = Judge(model), QualityRubric(list(new)), trial.runs
    sides = tuple(sorted(set(trial.ws.polars("runs")["configuration"])))
    stored = stored_at(runs.filter(runs["reason"].is_null())["folder"])
    for place, row in enumerate(runs.iter_rows(named=True)):
        try:
            prepared = prepare(judge, _judge_case(row, stored.get(row["folder"]), rubric, sides))
        except Unjudged as error:
            found.unscored[place] = error.reason
            continue
        (question,) = questions(prepared, 1)
        content = json.dumps([question.model, question.body()["messages"]], sort_keys=True)
        name = hashlib.sha256(content.encode()).hexdigest()[:24]
        folder = judgings_folder(top_of(Path(row["folder"]).resolve()), trial.draft.key)
        save = partial(_save, prepared, trial.terms.known_prices, folder / f"{name}.json")
        yield place, Item(name, name, replace(question, key=name), folder, save)


def _save(prepared: Any, prices: Prices, path: Path, answered: Answered[Answer]) -> Judging:
    judging = judging_of(
        prepared,
        1,
        [answered.value],
        answered.usage,
        prices=prices,
        refused=answered.refused,
        seconds=answered.seconds,
    )
    write_atomic(path, to_json(dump(judging)))
    return judging


def judgings_folder(home: Path, key: str) -> Path:
    """The folder for the judgings of a draft in this workspace; an odd key gets a plain name.

    >>> judgings_folder(Path("ws"), "d-12ab").parts[-5:]
    ('ws', '.skill-eval-nb', 'tries', 'd-12ab', 'judgings')

    Raises:
        OSError: a link leads out of the workspace.
    """
    name = key if _PLAIN.fullmatch(key) else hashlib.sha256(key.encode()).hexdigest()[:16]
    return own_folder(home, "tries", name, "judgings")  # `judgings` are never taken for results


def _stored_judgings(items: Sequence[Item[Judging]]) -> dict[str, Judging]:
    """The stored judgings; unreadable ones are ignored."""
    paths = (item.folder / f"{item.key}.json" for item in items if item.folder is not None)
    found = documents_at(paths, Judging)
    return {path.stem: judging for path, judging in found if judging.rubric_scores}


def _judge_case(
    row: Mapping[str, Any], run: StoredRun | None, rubric: QualityRubric, sides: tuple[str, ...]
) -> Case:
    """A run as a judge sees it, with only these dimensions.

    Raises:
        Unjudged: it cannot be judged, or was gated.
    """
    if run is None:
        raise Unjudged(row["reason"] or "it has no stored outputs")
    if row["gate_passed"] is False:
        raise Unjudged("it was gated, so the judge is skipped")
    if run.eval is None or not run.eval.prompt:
        raise Unjudged("the prompt of its eval is unknown")
    own = Eval(run.eval.prompt, expected_output=run.eval.expected_output, quality_rubric=rubric)
    names = (top_of(run.folder).name.removesuffix("-workspace"), row["skill"])
    return case_of(replace(run, eval=own), tuple(dict.fromkeys(names)), sides)


# ── scores and weights ───────────────────────────────────────────────────────────────────────


def _scores(trial: Trial) -> pl.DataFrame:
    """Each run's scores, averaged over judgings: `run` (its index), dimension, score, weight."""
    import polars as pl

    rows = trial.rows("rubric_scores").drop_nulls("score")
    return rows.group_by("run", "dimension", maintain_order=True).agg(
        pl.col("score").sort().mean(), pl.col("weight").first()
    )


def _target_name(rows: pl.DataFrame, target: str) -> str:
    """The name of the dimension with this id, else with this name."""
    ids = rows.filter(rows["dimension_id"] == target)["dimension"]
    names = [name for name in rows["dimension"].unique() if plain(name) == plain(target)]
    return next(iter([*ids, *names]), target)


def _is_reweighed(rows: pl.DataFrame, target: str, new: Sequence[Dimension]) -> bool:
    """Whether a draft only changes a weight, so that the stored scores are still valid."""
    if len(new) != 1 or plain(new[0].name) != plain(target):
        return False
    stated = rows.filter(dimension=target).select("description", "anchors").unique().rows()
    return bool(stated) and all(
        (description or None) == (new[0].description or None)
        and (json.loads(anchors) if anchors else {}) == new[0].scoring
        for description, anchors in stated
    )


def _weighted_scores(given: Sequence[tuple[float, Values]]) -> Values:
    """The weighted mean of dimensions, for each run; a single dimension is its own mean."""
    if len(given) == 1:
        return given[0][1]
    weights = [weight for weight, _ in given]
    means: list[float | None] = []
    for row in zip(*(scores for _, scores in given), strict=True):
        known = None not in row and sum(weights)
        total = sum(weight * (score or 0) for weight, score in zip(weights, row, strict=True))
        means.append(total / sum(weights) if known else None)
    return means


def _rubric_means(
    runs: pl.DataFrame,
    scores: pl.DataFrame,
    target: str | None,
    new: Mapping[str, tuple[float, Values]],
) -> pl.DataFrame:
    """`rubric_weighted_mean_before` as stored, and `_after`.

    After is null if a run has no score in a new dimension, or its scores are not stored one by
    one; a run without any score stays as it is.

    Args:
        runs: as in `Trial`.
        scores: the result of `_scores`.
        target: the dimension to remove.
        new: the weight and the scores of each new dimension, run by run.
    """
    import polars as pl

    score, weight = pl.col("score"), pl.col("weight")
    rest = scores if target is None else scores.filter(pl.col("dimension") != target)
    sums = rest.group_by("run").agg(
        (score * weight).sum().alias("scored"), weight.sum().alias("weighed")
    )
    wide = runs.with_row_index("run").select("run", MEAN)
    for table in (scores.select("run", stored=True).unique(), sums):
        wide = wide.join(table, on="run", how="left", maintain_order="left")
    scored, weighed = pl.col("scored").fill_null(0.0), pl.col("weighed").fill_null(0.0)
    for own, values in new.values():
        scored += pl.lit(pl.Series(values, dtype=pl.Float64)) * own
        weighed += own
    after = pl.when(pl.col("stored") & (weighed > 0)).then(scored / weighed)
    return wide.select(pl.col(MEAN).alias(MEAN + BEFORE), after.alias(MEAN + AFTER))
