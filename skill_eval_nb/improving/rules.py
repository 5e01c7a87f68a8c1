"""The evidence for drafts, and the rules that make drafts of it without a model."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from skill_eval_nb.documents import Dimension, Document, Eval, Expectation, StructuralExpectation
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.running.stored_runs import StoredRun
from skill_eval_nb.skill_md import read_text
from skill_eval_nb.stats.expectations import (
    ADVISED,
    FAILS,
    FLAKY,
    HURTS,
    LITTLE,
    PASSES,
    fewest_scored,
)
from skill_eval_nb.text import clip, count, format_figure, in_quotes, some
from skill_eval_nb.workspace import catalogue_files, find

from .values import (
    ANCHORS,
    REMARK,
    Draft,
    Kind,
    Part,
    RunRef,
    Suggestion,
    SuiteItem,
    new_draft,
    only_suite,
    skill_folders,
    stored_at,
)

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables.workspace import Workspace

    from .aggregation import Aggregate


KEYS = list(RunRef._fields)
REASON = 240
"""The most characters of a suggestion that are quoted."""


@dataclass(frozen=True, slots=True)
class Check:
    """An expectation that several evals share under one name, and its results.

    Attributes:
        target: what a draft calls it: its id, else its text.
        text: what it checks.
        definition: from the first of its evals.
        evals: ids of the evals that have it.
        figures: rows of `stats.discrimination` over all iterations taken together, the side
            that is compared first; empty if it has no verdicts.
        verdicts: of each run with one.
    """

    target: str
    text: str
    definition: StructuralExpectation | Expectation
    evals: tuple[str, ...]
    figures: tuple[Mapping[str, Any], ...]
    verdicts: Mapping[RunRef, bool]

    @property
    def structural(self) -> bool:
        """Whether it is one of the structural expectations of its evals."""
        return isinstance(self.definition, StructuralExpectation)

    @property
    def part(self) -> Part:
        """The list of an eval that contains it."""
        return "structural_expectations" if self.structural else "expectations"

    @property
    def critical(self) -> bool:
        """Whether failing it fails the gate."""
        return getattr(self.definition, "critical", False)

    @property
    def named(self) -> str:
        """Its id and its words; its words alone if it has no id."""
        words = in_quotes(self.text)
        return words if self.target == self.text else f"{clip(self.target)} ({words})"

    @property
    def in_words(self) -> str:
        """Its results, in sentences."""
        reasons = [str(row["reason"]) for row in self.figures]
        return " ".join(f"{self.named}: {reason[0].lower()}{reason[1:]}" for reason in reasons)

    def is_any(self, *classes: str) -> bool:
        """Whether a comparison gives it one of these classes."""
        return any(row["class"] in classes for row in self.figures)

    def is_all(self, *classes: str) -> bool:
        """Whether all comparisons give it one of these classes."""
        return bool(self.figures) and all(row["class"] in classes for row in self.figures)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A workspace as the rules of drafting see it.

    Attributes:
        ws: the workspace; it holds one suite.
        found: what its graders suggest.
        suite: its evals by id, if they have runs and a definition.
        names: the evals' names by id.
        stored: the runs with a folder.
        checks: its expectations that the suite defines.
        sides: the configuration that is compared and its baseline; None without a baseline.
    """

    ws: Workspace
    found: Aggregate
    suite: Mapping[str, Eval]
    names: Mapping[str, str]
    stored: Mapping[RunRef, StoredRun]
    checks: tuple[Check, ...]
    sides: tuple[str, str] | None

    def dimensions(self) -> list[tuple[Dimension, tuple[str, ...]]]:
        """Rubric dimensions that are word for word the same, with the evals that have them."""
        together: dict[str, tuple[Dimension, tuple[str, ...]]] = {}
        for eval_id, eval_ in self.suite.items():
            for dimension in eval_.quality_rubric.dimensions if eval_.quality_rubric else ():
                first, evals = together.get(canonical_json(dimension), (dimension, ()))
                together[canonical_json(dimension)] = (first, (*evals, eval_id))
        return list(together.values())

    def advice_on(self, check: Check) -> tuple[Suggestion, ...]:
        """What graders suggest about a check."""
        names = {check.target, check.text, check.definition.id} - {None}
        return tuple(
            suggestion
            for suggestion in self.found.suggestions
            if suggestion.assertion in names and not set(suggestion.evals).isdisjoint(check.evals)
        )

    def find_stand_in(self, check: Check) -> Check | None:
        """A critical check that fails wherever this one does, as it is about the same files."""
        pattern = getattr(check.definition, "pattern", None)
        fits = check.structural and check.definition.type == "file_exists"
        for other in self.checks if fits else ():
            contains = other.definition.type in ("file_contains", "file_not_contains")
            same = contains and getattr(other.definition, "pattern", None) == pattern
            if other.critical and same and set(check.evals) <= set(other.evals):
                return other
        return None

    def skill_text(self) -> str:
        """The versions of the skill in the workspace or next to it, as one text."""
        return "\n".join(map(read_text, skill_folders(self.stored.values())))


def quote_graders(suggestions: Iterable[Suggestion]) -> str:
    """What graders said, each with the number of runs that said it."""
    return " ".join(
        f"Graders of {count(suggestion.frequency, 'run')} said: "
        f"{in_quotes(suggestion.reason, REASON)}"
        + ("" if suggestion.reason.rstrip().endswith((".", "!", "?")) else ".")
        for suggestion in suggestions
    )


def runs_of(checks: Iterable[Check], suggestions: Iterable[Suggestion] = ()) -> list[RunRef]:
    """The runs behind checks and suggestions, each once."""
    verdicts = [ref for check in checks for ref in check.verdicts]
    sources = [source.run for suggestion in suggestions for source in suggestion.sources]
    return list(dict.fromkeys([*verdicts, *sources]))


def canonical_json(document: Document) -> str:
    """A document as JSON with sorted keys: equal documents give equal texts."""
    return json.dumps(msgspec.to_builtins(document), sort_keys=True)


def evidence_of(ws: Workspace, found: Aggregate, baseline: str | None) -> Evidence:
    """Collect the evidence for drafts.

    Raises:
        Refused: the workspace has several suites, or the baseline does not exist.
    """
    runs = ws.polars("runs")
    only_suite(runs, "a draft")
    rows = zip(runs.select(KEYS).iter_rows(), runs["path"], strict=True)
    refs = {str(Path(ws.path, path)): RunRef(*keys) for keys, path in rows if ws.path and path}
    stored = {refs[folder]: run for folder, run in stored_at(refs).items()}
    suite: dict[str, Eval] = {}
    for ref, run in stored.items():
        if run.eval is not None:
            suite.setdefault(ref.eval_id, run.eval)
    if lacking := set(runs["eval_id"]) - set(suite):
        suite |= {name: eval_ for name, eval_ in _evals_of_suites(ws) if name in lacking}
    names = dict(runs.select("eval_id", "eval_name").unique(maintain_order=True).iter_rows())
    try:
        checks = _checks(ws, suite, baseline)
    except ValueError as error:
        raise refuse(str(error)) from None
    rows = [row for check in checks for row in check.figures]
    sides = next(((r["configuration"], r["baseline"]) for r in rows if r["baseline"]), None)
    return Evidence(ws, found, suite, names, stored, checks, sides)


def _evals_of_suites(ws: Workspace) -> Iterator[tuple[str, Eval]]:
    """The evals that suites define, the first definition last; runs may have no folder."""
    if not os.path.isdir(ws.path):  # noqa: PTH112 an empty path is not a folder
        return
    index = catalogue_files(find(ws.path))
    workspaces = set(ws.polars("runs")["workspace"])
    for folder, key, eval_ in reversed(index.definitions):
        if index.names[folder][0] in workspaces:
            yield key.id, eval_


def _checks(ws: Workspace, suite: Mapping[str, Eval], baseline: str | None) -> tuple[Check, ...]:
    """The checks that the evals of a suite define, in their order, with their results.

    Raises:
        ValueError: the baseline does not exist.
    """
    together: dict[tuple[str, str], tuple[StructuralExpectation | Expectation, list[str]]] = {}
    for eval_id, eval_ in suite.items():
        for check in (*eval_.structural_expectations, *eval_.expectations):
            key = (type(check).__name__, canonical_json(check))
            together.setdefault(key, (check, []))[1].append(eval_id)
    defined = list(together.values())
    rows = _match_verdicts(defined, ws.polars("expectations"))
    figures = _check_figures(ws, rows, baseline)
    verdicts: list[dict[RunRef, bool]] = [{} for _ in defined]
    for *keys, number, passed in rows.select(*KEYS, "check", "passed").iter_rows():
        if passed is not None:
            verdicts[number][RunRef(*keys)] = passed
    return tuple(
        Check(
            check.id or getattr(check, "name", None) or _words_of(check),
            _words_of(check),
            check,
            tuple(evals),
            figures.get(at, ()),
            verdicts[at],
        )
        for at, (check, evals) in enumerate(defined)
    )


def _words_of(check: StructuralExpectation | Expectation) -> str:
    """What a check checks, in words."""
    if isinstance(check, Expectation):
        return check.text
    return check.description or check.id or check.type


def _match_verdicts(
    defined: list[tuple[StructuralExpectation | Expectation, list[str]]], table: pl.DataFrame
) -> pl.DataFrame:
    """The verdicts on checks that are defined, each with the number of its check.

    An eval's check is known by its id, else by its text, among those of its layer first.
    """
    import polars as pl

    known: dict[tuple[bool, str, str | None], int] = {}
    for number, (check, evals) in enumerate(defined):
        for name in {check.id, _words_of(check)} - {None}:
            for eval_id in evals:
                known.setdefault((isinstance(check, StructuralExpectation), eval_id, name), number)

    def number_of(layer: str, eval_id: str, *names: str | None) -> int | None:
        first = layer == "structural"
        keys = ((structural, eval_id, name) for structural in (first, not first) for name in names)
        return next((known[key] for key in keys if key in known), None)

    rows = table.select("layer", "eval_id", "expectation_id", "text").iter_rows()
    numbers = pl.Series("check", [number_of(*row) for row in rows], pl.Int64)
    return table.with_columns(numbers).drop_nulls("check")


def _check_figures(
    ws: Workspace, rows: pl.DataFrame, baseline: str | None
) -> dict[int, tuple[Mapping[str, Any], ...]]:
    """`stats.discrimination` of each check, each eval of each iteration a block of its own."""
    import polars as pl

    from skill_eval_nb.stats import discrimination
    from skill_eval_nb.tables.workspace import Workspace

    if not rows.height:
        return {}
    block = pl.concat_str("iteration", "eval_id", separator="\n").alias("eval_id")
    pooled = [block, pl.lit("all").alias("iteration")]
    one_check = [pl.col("check").cast(pl.String).alias("text"), pl.lit("any").alias("layer")]
    no_id = pl.lit(None, pl.String).alias("expectation_id")
    tables = {
        "runs": ws.polars("runs").with_columns(*pooled),
        "expectations": rows.with_columns(*pooled, *one_check, no_id),
    }
    found: dict[int, tuple[Mapping[str, Any], ...]] = {}
    for row in discrimination(Workspace.from_tables(tables), baseline).iter_rows(named=True):
        found[int(row["text"])] = (*found.get(int(row["text"]), ()), row)
    return found


# ── the rules, each of which makes one kind of draft ─────────────────────────────────────────

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
    easy = set(find_easy_evals(evidence))
    for check in evidence.checks:
        suggestions = evidence.advice_on(check)
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
            other = evidence.find_stand_in(check) if check.critical else None
            gate = "is critical as well and fails where no such file is there."
            if other is not None or not check.critical:
                why = f"{other.named} {gate}" if other else ""
                yield _change_check("drop", check, (), why, suggestions)


def _is_settled(check: Check) -> bool:
    """Whether a check has enough verdicts to be changed for always passing or failing."""
    return min(map(fewest_scored, check.figures), default=0) >= ADVISED


def say_unsettled(evidence: Evidence) -> str:
    """The checks with too few runs to be changed, in words; "" if there are none."""
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
            f"runs per side. Run them more often before you change them: {some(few)}."
        )
    if little:
        said.append(f"Too little data on {count(little, 'check')}: run more first.")
    return " ".join(said)


def reword_unsteady(evidence: Evidence) -> Iterator[Draft]:
    """Reword expectations that are judged inconsistently, and those that graders call vague."""
    for check in evidence.checks:
        vague = [mention for mention in evidence.advice_on(check) if mention.kind == "vague"]
        if not check.structural and (vague or check.is_any(FLAKY)):
            why = "Write what decides it."
            yield _change_check("reword", check, [""], why, vague)


def sharpen_rubrics(evidence: Evidence) -> Iterator[Draft]:
    """Anchors if there are none or the judge is unsure, and lower weights.

    Drafted anchors quote what judges said about runs with that score. A dimension that never
    differs tells nothing, so its weight is halved.
    """
    noise = _find_noise(evidence)
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
                f"{format_figure(given.pop())}. A score that never varies tells nothing and "
                "pulls the weighted mean towards it: its weight is halved, from "
                f"{format_figure(dimension.weight)}."
            )
        elif empty or dimension.name in noise:
            wanted = empty or ANCHORS
            quotes = {at: quote for at in wanted if (quote := _quote(evidence, scores, AT[at]))}
            for at, quote in quotes.items():
                old = dimension.scoring.get(at, "").strip()
                item["scoring"][at] = f"{old} For instance: {quote}" if old else quote
            lacks = f"It has no anchor for {some(empty)}." if empty else noise[dimension.name]
            drafted = (
                f"Those for {some(quotes)} quote the judge on runs with that score; "
                "rewrite them to say what such runs have in common."
                if quotes
                else "No evidence of a run with such a score is stored."
            )
            why = f"{lacks} {drafted}"
        else:
            continue
        name, why = dimension.id or dimension.name, f"{clip(dimension.name)}: {why}"
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


def add_evals(evidence: Evidence) -> Iterator[Draft]:
    """Add an eval with the checks that all have, or a new task for an eval that all runs pass."""
    if evidence.sides is None or not evidence.suite:
        return
    yield from _draft_additions(evidence, evidence.sides[1])
    for eval_id, (n_with, n_without) in find_easy_evals(evidence).items():
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


def find_easy_evals(evidence: Evidence) -> dict[str, tuple[int, int]]:
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


def _draft_additions(evidence: Evidence, baseline: str) -> Iterator[Draft]:
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
        item = shared_form(list(evidence.suite.values()))
        has = "with the checks that every eval has" if len(item) > 1 else "which has no checks yet"
        why = (
            f"To detect a difference of {format_figure(design['wanted'])} in {design['metric']}, "
            f"plan {design['n_evals']} evals × {count(design['n_runs'], 'run')}; there are "
            f"{there}, so {design['n_evals'] - there} more. This is the form of one, {has}. "
            f"{design['note'] or ''}"
        )
        runs = [ref for ref in evidence.stored if ref.iteration == design["iteration"]]
        yield new_draft("add", "evals", (), None, [item], why.strip(), runs=runs)


def shared_form(evals: list[Eval]) -> dict[str, Any]:
    """The form of a new eval: what every eval of the suite has, and no task yet."""

    def shared_items(lists: list[Any]) -> list[Any]:
        forms = set.intersection(*({canonical_json(item) for item in own} for own in lists))
        return [item for item in lists[0] if canonical_json(item) in forms]

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


def _find_noise(evidence: Evidence) -> dict[str, str]:
    """The dimensions in which the judge disagrees with itself most, with a sentence about it."""
    from skill_eval_nb.stats import variance

    found: dict[str, list[float]] = {}
    for row in variance(evidence.ws).iter_rows(named=True):
        if row["component"] == "judge" and row["dimension"] and row["share"] is not None:
            share = row["share"] if row["variance"] >= UNSURE else 0.0
            found.setdefault(row["dimension"], []).append(share)
    return {
        name: (
            f"At least {format_figure(100 * min(shares))} % of the variance of its scores comes "
            "from the judge, which gives the same output different scores."
        )
        for name, shares in found.items()
        if min(shares) >= NOISY
    }


def _quote(evidence: Evidence, scores: Scores, at: tuple[int, ...]) -> str:
    """The shortest evidence that is not empty, of a run with one of these scores."""
    texts = [
        (len(text), run.eval_id, text, run)
        for run, score, text in scores
        if round(score) in at and text and len(text.split()) > 2
    ]
    if not texts:
        return ""
    *_, text, run = min(texts)
    return f"“{clip(text, QUOTED)}” ({clip(evidence.names[run.eval_id])})"


RULES: tuple[Callable[[Evidence], Iterator[Draft]], ...] = (
    drop_useless,
    reword_unsteady,
    sharpen_rubrics,
    add_missed,
    add_evals,
)
"""The order of drafts with equally strong evidence."""
