"""Drafts of rubric dimensions: judged on stored outputs, within a budget; without one priced.

Judgings lie in `.skill-eval-nb/tries/<draft>/judgings` of the workspace, a file each. Its name is
drawn from all that the judge was shown, from who judged and from what was asked: whatever of
it changes, the question is another one.
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
from statistics import fmean
from typing import TYPE_CHECKING, Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import (
    Dimension,
    Eval,
    Faults,
    Judging,
    NotJSON,
    QualityRubric,
    dump,
    mend,
    parse,
    to_json,
)
from skill_eval_nb.grading.judge import (
    SCHEMA,
    Case,
    Judge,
    Unjudged,
    prepare,
    read_answer,
    request,
    same_model,
)
from skill_eval_nb.grading.judge.answers import Answer, judging_of
from skill_eval_nb.grading.judge.prompt import WHO
from skill_eval_nb.models import Prices
from skill_eval_nb.models.ask import Answered, Question
from skill_eval_nb.models.stand_in.settings import MODELS
from skill_eval_nb.running.asking import AskingProgress, Item, answers_of
from skill_eval_nb.running.judge_tasks import case_of
from skill_eval_nb.running.stored_runs import StoredRun, folder_in, top_of, transcript_in
from skill_eval_nb.stats.values import RUN, stand_in_keys
from skill_eval_nb.text import brief, count, dollars, figure
from skill_eval_nb.workspace import write_atomic
from skill_eval_nb.workspace.layout import OWN

from .differences import AFTER, BEFORE, compared, in_words, suite_of, without_it
from .tried import Request, Tried, What
from .try_checks import ERRORED, UNSCORED, plain

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

SCORED = "scored"
OUTCOMES = (SCORED, ERRORED, UNSCORED)
MEAN = "rubric_weighted_mean"
KEY = ("workspace", "skill", "eval_id")
MOST = 5
"""So many reasons are told."""
AT_ONCE = 100
"""So many runs are made ready at a time: what is shown of thousands would not fit in memory."""
GATED = "it was gated, so the judge is skipped"
NO_PROMPT = "nothing says what the prompt of its eval was"
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

Scores = list[float | None]
"""Of each run; None where it has none."""


def try_dimensions(request: Request, runs: pl.DataFrame) -> Tried:
    """Judge what comes on stored outputs, where that is free or paid for; else price it."""
    draft, ws = request.draft, request.ws
    new = [
        mend(dict(one) if isinstance(one, Mapping) else {"name": one}, Dimension)[0]
        for one in draft.new
    ]
    rows = _dimensions(ws, runs)
    target = None if draft.target is None else _target(rows, draft.target)
    stored = _scores(ws, runs)
    if target is not None and (not new or _is_reweighed(rows, target, new)):
        return _by_stored_scores(request, runs, stored, target, new)
    models = sorted(set(runs["judge_model"].drop_nulls()))
    model = request.terms.model(request.judge_model, models)
    if not isinstance(model, str):
        judges = f"{', '.join(models)} judged these runs" if models else "nothing names one"
        answer = f"It takes a judge, and {judges}: say which as judge_model."
        return request.result("not tried", answer)
    homes = [top_of(Path(folder).resolve()) for folder in runs["folder"]]
    cases = _cases(ws, runs, new, homes)
    folders = [folder_of(home, draft.key) for home in homes]
    priced = request.terms.budget_usd is None and not _is_free(request, model)
    found = _judge(request, model, cases, folders, dry_run=priced)
    if priced and found.to_judge:
        usd = found.price_usd
        price = "no price is known for it: add it to the table of prices"
        if usd is not None:
            price = f"{dollars(usd)} at most: say budget_usd to have it done"
        return request.result(
            "priced",
            f"{count(found.to_judge, 'run')} would be judged by {brief(model)}, {price}.",
            price_usd=usd,
            to_judge=found.to_judge,
            notes=tuple(_notes(runs, model, found)),
        )
    return _by_judgings(request, runs, stored, target, new, found, model)


def _by_judgings(
    request: Request,
    runs: pl.DataFrame,
    stored: pl.DataFrame,
    target: str | None,
    new: Sequence[Dimension],
    found: _Judged,
    model: str,
) -> Tried:
    """The new scores, compared, and beside those of what the draft replaces."""
    import polars as pl

    given = {one.name: (one.weight, found.scores(one.name, runs.height)) for one in new}
    scores = _weighted(list(given.values()))
    evidence = [found.evidence(at) for at in range(runs.height)]
    values: dict[What, pl.DataFrame] = {"draft": _valued(runs, scores)}
    columns = [pl.Series("score", scores, pl.Float64), pl.Series("evidence", evidence, pl.String)]
    if target is not None:
        old = _of_dimension(stored, target, runs.height)
        values["replaced"] = _valued(runs, old)
        columns.append(pl.Series("replaced_score", old, pl.Float64))
    differences = compared(request, runs, values, OUTCOMES, "score")
    by_run = runs.select(RUN).with_columns(*columns).hstack(_means(runs, stored, target, given))
    scored = [score for score in scores if score is not None]
    if not scored:
        ((reason, times),) = Counter(evidence).most_common(1)
        answer = f"None of {count(runs.height, 'run')} has a score: {times} × {reason}."
    elif differences.proof is None:
        runs_scored = count(len(scored), "run")
        mean = figure(fmean(scored))
        answer = f"It scores {mean} on average in {runs_scored}; there are no two sides."
    else:
        answer = f"{in_words(request.draft, differences.proof, 'Its mean score is')}."
    return request.result(
        "tried",
        answer,
        by_run=by_run,
        suite=partial(suite_of, request, by_run, (MEAN,)),
        cost_usd=found.cost_usd,
        to_judge=found.to_judge,
        notes=tuple(_notes(runs, model, found)),
        **differences.parts(),
    )


def _by_stored_scores(
    request: Request,
    runs: pl.DataFrame,
    stored: pl.DataFrame,
    target: str,
    new: Sequence[Dimension],
) -> Tried:
    """The figures without a dimension, or with another weight of it: nothing has to be judged."""
    import polars as pl

    old = _of_dimension(stored, target, runs.height)
    if not any(one is not None for one in old):
        return request.result("not tried", f"No stored run has a score on {target}.")
    values: dict[What, pl.DataFrame] = {"replaced": _valued(runs, old)}
    differences = compared(request, runs, values, OUTCOMES, "score")
    means = _means(runs, stored, target, {one.name: (one.weight, old) for one in new})
    by_run = runs.select(RUN).with_columns(pl.Series("replaced_score", old, pl.Float64))
    by_run = by_run.hstack(means)
    suite = suite_of(request, by_run, (MEAN,))
    begins = f"With weight {new[0].weight:g} of {target}" if new else None
    answer = without_it(request.draft, suite, MEAN, begins=begins)
    parts = differences.parts()
    return request.result("tried", answer, by_run=by_run, suite=lambda: suite, **parts)


# ── judging ──────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Judged:
    """What has come of judging so far.

    Attributes:
        judgings: by the place of the run.
        left_out: why a run cannot be judged at all, by its place.
        failed: why there is no judging though it was asked for, by the place of the run.
        price_usd: what those that are missing cost at most; None where no price is known.
        to_judge: how many are missing.
        cost_usd: what was spent; None where a price is not known.
    """

    judgings: dict[int, Judging] = field(default_factory=dict)
    left_out: dict[int, str] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    price_usd: float | None = 0.0
    to_judge: int = 0
    cost_usd: float | None = 0.0

    def scores(self, name: str, n_runs: int) -> Scores:
        """The score of each run in a dimension."""
        rubrics = (
            self.judgings[at].rubric_scores if at in self.judgings else {} for at in range(n_runs)
        )
        return [rubric[name].score if name in rubric else None for rubric in rubrics]

    def evidence(self, place: int) -> str:
        """What the scores of a run rest on, or why there is none."""
        judging = self.judgings.get(place)
        if judging is None:
            return f"Not scored: {self.left_out.get(place) or self.failed.get(place)}"
        return "; ".join(
            rubric_score.evidence or "" for rubric_score in judging.rubric_scores.values()
        )


def _is_free(request: Request, model: str) -> bool:
    """Whether the judge is the stand-in, which costs nothing."""
    connection = request.terms.connection
    return model in MODELS if connection is None else connection.stand_in is not None


def _judge(
    asked: Request,
    model: str,
    cases: Sequence[Case | str],
    folders: Sequence[Path],
    *,
    dry_run: bool,
) -> _Judged:
    """What is stored, and what is judged now; every judging is written as soon as there is one.

    Raises:
        Stopped: `stop` was set before the end.
        Refused: there is a budget and no known price, the draft is being tried already, or the
            folder cannot be written.
        OSError: a judging cannot be written.
        ModelFault: no API key was found; nothing was sent.
    """
    found, terms, free = _Judged(), asked.terms, _is_free(asked, model)
    ready = _items(found, model, cases, folders, terms.known_prices)
    while batch := list(islice(ready, AT_ONCE)):
        items = [item for _, item in batch]
        before, failed = len(found.judgings) + len(found.left_out), len(found.failed)
        spent = found.cost_usd or 0.0

        def tell(
            progress: AskingProgress,
            done: int = before + failed,
            was: int = failed,
            usd: float = spent,
        ) -> None:
            assert terms.progress is not None
            fields = {
                "done": done + progress.done,
                "failed": was + progress.failed,
                "total": len(cases),
            }
            terms.progress(replace(progress, **fields, spent_usd=usd + progress.spent_usd))

        budget = None if free or terms.budget_usd is None else max(0.0, terms.budget_usd - spent)
        mine = replace(
            terms,
            budget_usd=budget,
            dry_run=dry_run,
            progress=None if terms.progress is None else tell,
        )
        answers = answers_of(items, partial(_stored, items), "a try-out", mine)
        for place, item in batch:
            if item.key in answers.values:
                found.judgings[place] = answers.values[item.key]
            else:
                found.to_judge += 1
                if item.key in answers.failed:
                    found.failed[place] = answers.failed[item.key].reason
        found.price_usd = _plus(found.price_usd, answers.worst_usd)
        found.cost_usd = _plus(found.cost_usd, 0.0 if free else answers.cost_usd)
    return found


def _plus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _items(
    found: _Judged,
    model: str,
    cases: Sequence[Case | str],
    folders: Sequence[Path],
    prices: Prices,
) -> Iterator[tuple[int, Item[Judging]]]:
    """The runs that can be judged, one made ready after the other; the others are noted."""
    judge = Judge(model)
    for place, (case, folder) in enumerate(zip(cases, folders, strict=True)):
        if isinstance(case, str):
            found.left_out[place] = case
            continue
        try:
            prepared = prepare(judge, case)
        except Unjudged as error:
            found.left_out[place] = error.reason
            continue
        body = request(judge, case, 1, prepared=prepared)
        content = json.dumps([body["model"], body["messages"]], sort_keys=True)
        name = hashlib.sha256(content.encode()).hexdigest()[:24]
        wanted = [dimension.name for dimension in case.dimensions]
        question = Question(
            key=name,
            model=judge.model,
            system=body["system"],
            content=body["messages"][0]["content"],
            schema=SCHEMA,
            read=partial(_read, wanted),
            max_tokens=judge.max_tokens,
            effort=judge.effort,
            deadline=judge.deadline,
            who=WHO,
        )

        def save(
            answered: Answered[Answer],
            prepared: Any = prepared,
            path: Path = folder / f"{name}.json",
        ) -> Judging:
            judging = judging_of(
                prepared.judge,
                prepared.case,
                1,
                [answered.value],
                answered.usage,
                prepared=prepared,
                prices=prices,
                refused=answered.refused,
                seconds=answered.seconds,
            )
            write_atomic(path, to_json(dump(judging)))
            return judging

        yield place, Item(name, name, question, folder, save)


def _read(wanted: list[str], raw: Any) -> Answer:
    return read_answer(json.dumps(raw), [], wanted)


def folder_of(home: Path, key: str) -> Path:
    """Where the judgings of a draft of this workspace lie; a strange key gets a plain name.

    >>> folder_of(Path("ws"), "d-12ab").as_posix()
    'ws/.skill-eval-nb/tries/d-12ab/judgings'
    """
    name = key if _PLAIN.fullmatch(key) else hashlib.sha256(key.encode()).hexdigest()[:16]
    return home / OWN / "tries" / name / "judgings"  # `judgings` are never taken for results


def _stored(items: Sequence[Item[Judging]]) -> dict[str, Judging]:
    """The judgings that were kept; one that cannot be read is none."""
    found = {}
    for item in items:
        assert item.folder is not None
        try:
            raw = parse(read_bytes(item.folder / f"{item.key}.json"), Faults())
        except (OSError, NotJSON):
            continue
        judging = mend(raw, Judging)[0]
        if judging.rubric_scores:
            found[item.key] = judging
    return found


def _cases(
    ws: Workspace, runs: pl.DataFrame, dimensions: Sequence[Dimension], homes: Sequence[Path]
) -> list[Case | str]:
    """What a judge is shown of each run, with these dimensions alone; or why it is not judged."""
    rubric = QualityRubric(list(dimensions))
    suite = ws.polars("evals").select(*KEY, "prompt", "expected_output")
    evals = {
        tuple(key): Eval(prompt, expected_output=wanted, quality_rubric=rubric)
        for *key, prompt, wanted in suite.iter_rows()
        if prompt
    }
    sides = tuple(sorted(set(ws.polars("runs")["configuration"])))
    return [
        _case(row, evals.get(tuple(row[name] for name in KEY)), sides, home)
        for row, home in zip(runs.iter_rows(named=True), homes, strict=True)
    ]


def _case(
    row: dict[str, Any], definition: Eval | None, sides: tuple[str, ...], home: Path
) -> Case | str:
    if row["reason"] is not None:
        return row["reason"]
    if row["gate_passed"] is False:
        return GATED
    if definition is None:
        return NO_PROMPT
    run = StoredRun(
        folder=Path(row["folder"]),
        eval=definition,
        workspace=home,
        iteration=row["iteration"],
        eval_id=row["eval_id"],
        eval_name=row["eval_name"],
        configuration=row["configuration"],
        run_number=row["run_number"],
        outputs=Path(row["folder"], "outputs"),
        transcript=transcript_in(row["folder"]),
        inputs=folder_in(row["folder"], "inputs"),
    )
    names = (home.name.removesuffix("-workspace"), row["skill"])
    return case_of(run, tuple(dict.fromkeys(names)), sides)


def _notes(runs: pl.DataFrame, model: str, found: _Judged) -> Iterator[str]:
    """What was left out, and why, and what to know of the judge."""
    for reasons in (found.left_out, found.failed):
        for reason, times in Counter(reasons.values()).most_common(MOST):
            yield f"{count(times, 'run')}: {reason}."
    for executor in sorted(set(runs["executor_model"].drop_nulls())):
        if (warning := same_model(model, executor)) is not None:
            yield warning


# ── scores and weights ───────────────────────────────────────────────────────────────────────


def _scores(ws: Workspace, runs: pl.DataFrame) -> pl.DataFrame:
    """Each run's scores, the mean over judgings: `run` (its index), dimension, score, weight."""
    import polars as pl

    scores = ws.polars("rubric_scores").with_columns(*stand_in_keys()).drop_nulls("score")
    rows = scores.join(runs.select(RUN).with_row_index("run"), on=RUN, nulls_equal=True)
    return rows.group_by("run", "dimension", maintain_order=True).agg(
        pl.col("score").sort().mean(), pl.col("weight").first()
    )


def _dimensions(ws: Workspace, runs: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    evals = runs["eval_id"].unique().to_list()
    return ws.polars("dimensions").filter(pl.col("eval_id").is_in(evals))


def _target(rows: pl.DataFrame, target: str) -> str:
    """The name of the dimension that is meant: by its id, else by its name."""
    ids = rows.filter(rows["dimension_id"] == target)["dimension"]
    names = [name for name in rows["dimension"].unique() if plain(name) == plain(target)]
    return ids[0] if len(ids) else names[0] if names else target


def _is_reweighed(rows: pl.DataFrame, target: str, new: Sequence[Dimension]) -> bool:
    """Whether a draft changes nothing but a weight, so that the stored scores still hold."""
    if len(new) != 1 or plain(new[0].name) != plain(target):
        return False
    stated = rows.filter(dimension=target).select("description", "anchors").unique().rows()
    return bool(stated) and all(
        (description or None) == (new[0].description or None)
        and (json.loads(anchors) if anchors else {}) == new[0].scoring
        for description, anchors in stated
    )


def _of_dimension(stored: pl.DataFrame, name: str, n_runs: int) -> Scores:
    """The stored scores of a dimension, run by run."""
    by_run = dict(stored.filter(dimension=name).select("run", "score").iter_rows())
    return [by_run.get(run) for run in range(n_runs)]


def _valued(runs: pl.DataFrame, scores: Scores) -> pl.DataFrame:
    """The keys of runs, `outcome`, and the score as `value`."""
    import polars as pl

    outcomes = [
        ERRORED if status == "errored" else UNSCORED if score is None else SCORED
        for status, score in zip(runs["status"], scores, strict=True)
    ]
    return runs.select(
        *RUN, pl.Series("outcome", outcomes, pl.String), pl.Series("value", scores, pl.Float64)
    )


def _weighted(given: Sequence[tuple[float, Scores]]) -> Scores:
    """The weighted mean of several dimensions, run by run; one of them is itself."""
    if len(given) == 1:
        return list(given[0][1])
    weights = [weight for weight, _ in given]
    means: Scores = []
    for row in zip(*(scores for _, scores in given), strict=True):
        scores = [score for score in row if score is not None]
        known = len(scores) == len(row) and sum(weights)
        total = sum(weight * score for weight, score in zip(weights, scores, strict=False))
        means.append(total / sum(weights) if known else None)
    return means


def _means(
    runs: pl.DataFrame,
    scores: pl.DataFrame,
    target: str | None,
    new: Mapping[str, tuple[float, Scores]],
) -> pl.DataFrame:
    """`rubric_weighted_mean_before` as stored, and `_after`.

    After is null where a run has no score on what comes, or its scores are not stored one by
    one; a run that has no score at all stays as it is.

    Args:
        runs: as `runs_for` gives them.
        scores: what `_scores` gives.
        target: the dimension that goes.
        new: of each dimension that comes, its weight, and its score run by run.
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
