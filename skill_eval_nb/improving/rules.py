"""Draft changes by rules from the figures, without a model; each rule makes one kind of draft."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from skill_eval_nb.documents import Eval
from skill_eval_nb.stats.expectations import (
    ADVISED,
    FAILS,
    FLAKY,
    HURTS,
    LITTLE,
    PASSES,
    fewest_scored,
)
from skill_eval_nb.text import brief, count, figure, in_quotes, some

from .evidence import KEYS, Check, Evidence, form, quote_graders, runs_of
from .values import ANCHORS, REMARK, Draft, Kind, RunRef, Suggestion, SuiteItem, new_draft

RARELY = 0.1
"""A gate that fails less often, or only once, works, however random its failures are."""
FEWEST_RUNS = 3
"""An eval is too easy if it has at least this many runs per side and all pass."""
FEWEST_SAYING = 2
"""At least this many runs must miss the same thing before anything is drafted."""
NOISY = 0.5
"""Anchors should be sharper if the judge's share of the variance is at least this, ..."""
UNSURE = 0.25
"""... and its variance at least this: half a point of standard deviation."""
FEWEST_SCORES = 6
"""With this many equal scores, a dimension is said never to differ."""
QUOTED = 160
"""Characters of evidence that an anchor quotes."""
AT = {"1": (1, 2), "3": (3,), "5": (5,)}
"""The scores whose evidence an anchor is drafted from."""
Scores = Sequence[tuple[RunRef, float, str | None]]
"""What judges gave in a dimension: run, score and evidence."""


def drop_useless(evidence: Evidence) -> Iterator[Draft]:
    """Drop checks that always pass or always fail; take flaky ones out of the gate.

    Critical checks stay, unless another critical check fails whenever they would. A critical check
    that always fails is a wall, not a gate: it is demoted, like one that is flaky or that the skill
    makes worse. Evals that are too easy should get another task first; the checks that only they
    have may then tell something. To say that a check always passes or fails takes as many runs as
    in the notes: see `say_unsettled`.
    """
    easy = set(too_easy(evidence))
    for check in evidence.checks:
        suggestions = evidence.about(check)
        failures = sum(not passed for passed in check.verdicts.values())
        often = failures > max(1, RARELY * len(check.verdicts))
        passes = check.is_all(PASSES) and not easy.issuperset(check.evals)
        settled = _is_settled(check)
        if check.critical and often and check.is_any(FLAKY, HURTS, *[FAILS] * settled):
            gate = (
                "It is critical: a run that fails it is not judged. Outside the gate it would "
                "still count."
            )
            item = {**msgspec.to_builtins(check.definition), "critical": False}
            yield _change_check("demote", check, [item], gate, suggestions)
        elif settled and (passes or check.is_all(FAILS)):
            other = evidence.stand_in(check) if check.critical else None
            gate = "is critical as well and fails where no such file is there."
            if other is not None or not check.critical:
                why = f"{other.named} {gate}" if other else ""
                yield _change_check("drop", check, (), why, suggestions)


def _is_settled(check: Check) -> bool:
    """Whether a check has enough verdicts to be changed for always passing or failing."""
    return min(map(fewest_scored, check.figures), default=0) >= ADVISED


def say_unsettled(evidence: Evidence) -> str:
    """Which checks have too few runs to be changed; "" where none has."""
    few = [
        check.named
        for check in evidence.checks
        if (check.is_all(PASSES) or check.is_all(FAILS)) and not _is_settled(check)
    ]
    little = sum(check.is_all(LITTLE) for check in evidence.checks)
    said: list[str] = []
    if few:
        said.append(
            f"{count(len(few), 'check')} always passed or always failed in fewer than {ADVISED} "
            f"runs a side. Run them more often before you change them: {some(few)}."
        )
    if little:
        said.append(f"Too little is known of {count(little, 'check')}: run more first.")
    return " ".join(said)


def reword_unsteady(evidence: Evidence) -> Iterator[Draft]:
    """Reword expectations that are judged inconsistently, and those that graders call vague."""
    for check in evidence.checks:
        vague = [mention for mention in evidence.about(check) if mention.kind == "vague"]
        if not check.structural and (vague or check.is_any(FLAKY)):
            why = "Write what decides it."
            yield _change_check("reword", check, [""], why, vague)


def of_rubric(evidence: Evidence) -> Iterator[Draft]:
    """Anchors if there are none or the judge is unsure, and lower weights.

    Drafted anchors quote what judges said about runs with that score. A dimension that never
    differs tells nothing, so its weight is halved.
    """
    noise = _noise(evidence)
    table = evidence.ws.polars("rubric_scores").drop_nulls("score")
    for dimension, evals in evidence.dimensions():
        own = table.filter(table["eval_id"].is_in(list(evals)), dimension=dimension.name)
        rows = own.select(*KEYS, "score", "evidence").iter_rows()
        scores = [(RunRef(*keys), score, text) for *keys, score, text in rows]
        runs = list(dict.fromkeys(run for run, _, _ in scores))
        empty = [at for at in ANCHORS if not dimension.scoring.get(at, "").strip()]
        given = {score for _, score, _ in scores}
        item = msgspec.to_builtins(dimension)
        if not empty and len(given) == 1 and len(scores) >= FEWEST_SCORES:
            item["weight"] = dimension.weight / 2
            why = (
                f"all {len(scores)} scores of {count(len(runs), 'run')} are "
                f"{figure(given.pop())}. What never differs tells nothing, and draws the weighted "
                "mean towards that score: its weight is halved, from "
                f"{figure(dimension.weight)}."
            )
        elif empty or dimension.name in noise:
            wanted = empty or ANCHORS
            quotes = {at: quote for at in wanted if (quote := _quote(evidence, scores, AT[at]))}
            for at, quote in quotes.items():
                old = dimension.scoring.get(at, "").strip()
                item["scoring"][at] = f"{old} For instance: {quote}" if old else quote
            lacks = f"It has no anchor for {some(empty)}." if empty else noise[dimension.name]
            drafted = (
                f"Those for {some(quotes)} quote what the judge said of runs with that score; "
                "make them say what is common to such runs."
                if quotes
                else "No evidence of a run with such a score is stored."
            )
            why = f"{lacks} {drafted}"
        else:
            continue
        name, why = dimension.id or dimension.name, f"{brief(dimension.name)}: {why}"
        called = in_quotes(dimension.name)
        yield new_draft("sharpen", "dimensions", evals, name, [item], why, runs=runs, called=called)


def add_missed(evidence: Evidence) -> Iterator[Draft]:
    """Add an expectation for what several runs miss: in a grader's words, or left to be written."""
    for suggestion in evidence.found.suggestions:
        evals = [eval_id for eval_id in evidence.suite if eval_id in suggestion.evals]
        if suggestion.assertion is not None or suggestion.frequency < FEWEST_SAYING or not evals:
            continue
        named = any(source.expectation for source in suggestion.sources)
        named = named or suggestion.about == REMARK
        action = suggestion.action or ""
        text = action.removeprefix("Add: ") if action.startswith("Add: ") else ""
        known = {each.text for name in evals for each in evidence.suite[name].expectations}
        if named or text in known:
            continue
        note = (
            "It is judged, and has no verdicts yet."
            if text
            else "Write the expectation; prefer a check that a program can make."
        )
        why = f"{quote_graders([suggestion])} {note}"
        runs = runs_of([], [suggestion])
        yield new_draft(
            "add", "expectations", evals, None, [text], why, runs=runs, suggestions=[suggestion.key]
        )


def of_evals(evidence: Evidence) -> Iterator[Draft]:
    """Add an eval with the checks that all have, or a new task for an eval that all runs pass."""
    if evidence.sides is None or not evidence.suite:
        return
    yield from _to_add(evidence, evidence.sides[1])
    for eval_id, (n_with, n_without) in too_easy(evidence).items():
        why = (
            f"Every one of {n_with} runs of {evidence.sides[0]} and {n_without} of "
            f"{evidence.sides[1]} passes all checks of {in_quotes(evidence.names[eval_id])}: its "
            "task is too easy to show what the skill is good for. Write a harder "
            "one."
        )
        runs = [ref for ref in evidence.stored if ref.eval_id == eval_id]
        item = {**msgspec.to_builtins(evidence.suite[eval_id]), "prompt": ""}
        yield new_draft("reword", "evals", (eval_id,), eval_id, [item], why, runs=runs)


def _change_check(
    kind: Kind, check: Check, new: Sequence[SuiteItem], why: str, suggestions: Sequence[Suggestion]
) -> Draft:
    """A draft that removes a check, with its figures and what graders said about it."""
    return new_draft(
        kind,
        check.part,
        check.evals,
        check.target,
        new,
        " ".join(filter(None, (check.in_words, quote_graders(suggestions), why))),
        runs=runs_of([check], suggestions),
        suggestions=[suggestion.key for suggestion in suggestions],
        called=check.named,
    )


def too_easy(evidence: Evidence) -> dict[str, tuple[int, int]]:
    """The evals that every run passes on both sides, with the number of runs of each."""
    if evidence.sides is None:
        return {}
    easy: dict[str, tuple[int, int]] = {}
    for eval_id in evidence.suite:
        own = evidence.ws.polars("runs").filter(eval_id=eval_id).drop_nulls("pass_rate")
        rates = dict(own.group_by("configuration").agg("pass_rate").iter_rows())
        rates_with, rates_without = (rates.get(side, []) for side in evidence.sides)
        if (
            min(len(rates_with), len(rates_without)) >= FEWEST_RUNS
            and min(*rates_with, *rates_without) == 1
        ):
            easy[eval_id] = (len(rates_with), len(rates_without))
    return easy


def _to_add(evidence: Evidence, baseline: str) -> Iterator[Draft]:
    from skill_eval_nb.stats import plan

    try:
        designs = plan(evidence.ws.polars("runs"), baseline=baseline)
    except ValueError:  # nothing that a plan could rest on
        return
    chosen = designs.filter("chosen").to_dicts()[-1:]  # of the last iteration
    there = evidence.ws.polars("evals").height
    for design in chosen:
        if design["n_evals"] <= there:
            continue
        item = common(list(evidence.suite.values()))
        has = "with the checks that every eval has" if len(item) > 1 else "which has no checks yet"
        why = (
            f"To find a difference of {figure(design['wanted'])} in {design['metric']}, the plan "
            f"asks for {design['n_evals']} evals × {count(design['n_runs'], 'run')}; there are "
            f"{there}, so {design['n_evals'] - there} more. This is the form of one, {has}. "
            f"{design['note'] or ''}"
        )
        runs = [ref for ref in evidence.stored if ref.iteration == design["iteration"]]
        yield new_draft("add", "evals", (), None, [item], why.strip(), runs=runs)


def common(evals: list[Eval]) -> dict[str, Any]:
    """The form of a new eval: what every eval of the suite has, and no task yet."""

    def shared_items(lists: list[Any]) -> list[Any]:
        forms = set.intersection(*({form(item) for item in own} for own in lists))
        return [item for item in lists[0] if form(item) in forms]

    texts = [
        expectation.text for expectation in shared_items([eval_.expectations for eval_ in evals])
    ]
    structural = shared_items([eval_.structural_expectations for eval_ in evals])
    rubrics = [eval_.quality_rubric.dimensions if eval_.quality_rubric else [] for eval_ in evals]
    dimensions = msgspec.to_builtins(shared_items(rubrics))
    item: dict[str, Any] = {"prompt": ""}
    item |= {"expectations": texts} if texts else {}
    item |= {"structural_expectations": msgspec.to_builtins(structural)} if structural else {}
    return item | ({"quality_rubric": {"dimensions": dimensions}} if dimensions else {})


def _noise(evidence: Evidence) -> dict[str, str]:
    """The dimensions in which the judge disagrees with itself most, with a sentence about it."""
    from skill_eval_nb.stats import variance

    found: dict[str, list[float]] = {}
    for row in variance(evidence.ws).iter_rows(named=True):
        if row["component"] == "judge" and row["dimension"] and row["share"] is not None:
            share = row["share"] if row["variance"] >= UNSURE else 0.0
            found.setdefault(row["dimension"], []).append(share)
    return {
        name: (
            f"Of what its scores vary by, {figure(100 * min(shares))} % and more is the judge, who "
            "gives the same output different scores."
        )
        for name, shares in found.items()
        if min(shares) >= NOISY
    }


def _quote(evidence: Evidence, scores: Scores, at: tuple[int, ...]) -> str:
    """The shortest evidence that says something, of a run with one of these scores."""
    texts = [
        (len(text), run.eval_id, text, run)
        for run, score, text in scores
        if round(score) in at and text and len(text.split()) > 2
    ]
    if not texts:
        return ""
    *_, text, run = min(texts)
    return f"“{brief(text, QUOTED)}” ({brief(evidence.names[run.eval_id])})"


RULES: tuple[Callable[[Evidence], Iterator[Draft]], ...] = (
    drop_useless,
    reword_unsteady,
    of_rubric,
    add_missed,
    of_evals,
)
"""The order of drafts with equally strong evidence."""
