"""Drafts without a model, by what the figures say; each rule gives those of one kind.

A sharper check in the place of one that always passes is found in the stored outputs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from skill_eval_nb.documents import Eval
from skill_eval_nb.stats.expectations import FAILS, FLAKY, HURTS, PASSES
from skill_eval_nb.stats.inference.intervals import COUNTS, exact_tests
from skill_eval_nb.text import brief, chance, count, figure, quoted, some

from .evidence import KEYS, Check, Evidence, Output, form, halves, runs_of, suggested
from .values import ANCHORS, Draft, Kind, RunRef, Suggestion, SuiteItem, new_draft

RARELY = 0.1
"""A gate that fails more rarely, or only once, works, however chancy its failures are."""
FEWEST_RUNS = 3
"""Runs on each side from which on an eval that all of them pass is too easy."""
FEWEST_SAYING = 2
"""Runs that must miss the same before anything is drafted."""
NOISY = 0.5
"""The judge's share of the variance from which on anchors are to be sharper, ..."""
UNSURE = 0.25
"""... where its variance is at least this: half a point of standard deviation."""
FEWEST_SCORES = 6
"""Equal scores from which on a dimension is said never to differ."""
QUOTED = 160
"""Characters of evidence that an anchor quotes."""
AT = {"1": (1, 2), "3": (3,), "5": (5,)}
"""The scores whose evidence an anchor is drafted from."""
Scores = Sequence[tuple[RunRef, float, str | None]]
"""What judges gave in a dimension: run, score and evidence."""


def useless(evidence: Evidence) -> Iterator[Draft]:
    """Drop what always passes or always fails; take out of the gate what chance decides.

    What is critical stays, unless another critical check fails wherever it would. A critical
    check that always fails is no gate but a wall: it is demoted, as one that is flaky or that
    the skill makes worse. Evals that are too easy are to get another task first, and what only
    they check may tell something then.
    """
    easy = set(too_easy(evidence))
    for check in evidence.checks:
        suggestions = evidence.about(check)
        failures = sum(not passed for passed in check.verdicts.values())
        often = failures > max(1, RARELY * len(check.verdicts))
        passes = check.is_all(PASSES) and not easy.issuperset(check.evals)
        if check.critical and check.is_any(FAILS, FLAKY, HURTS) and often:
            gate = (
                "It is critical: where it fails, no judge looks at the run. Beside the gate it "
                "would still count."
            )
            item = {**msgspec.to_builtins(check.definition), "critical": False}
            yield _changed("demote", check, [item], gate, suggestions)
        elif check.critical and evidence.stand_in(check) is None:
            continue
        elif passes or check.is_all(FAILS):
            yield _changed("drop", check, (), evidence.gate(check), suggestions)


def rewording(evidence: Evidence) -> Iterator[Draft]:
    """Word anew what is judged now so, now so, and what graders call vague."""
    for check in evidence.checks:
        vague = [mention for mention in evidence.about(check) if mention.kind == "vague"]
        if not check.structural and (vague or check.is_any(FLAKY)):
            why = "A wording that says what decides it is still to be written."
            yield _changed("reword", check, [""], why, vague)


def of_rubric(evidence: Evidence) -> Iterator[Draft]:
    """Anchors where there are none or the judge is unsure, and lower weights.

    Anchors that are to be drafted quote what judges said of runs with that score. A dimension
    that never differs tells nothing: it weighs half.
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
        yield new_draft("sharpen", "dimensions", evals, name, [item], why, runs=runs)


def missed(evidence: Evidence) -> Iterator[Draft]:
    """Add an expectation for what several runs miss: in a grader's words, else to be written."""
    for suggestion in evidence.found.suggestions:
        evals = [eval_id for eval_id in evidence.suite if eval_id in suggestion.evals]
        if suggestion.assertion is not None or suggestion.frequency < FEWEST_SAYING or not evals:
            continue
        named = any(source.expectation for source in suggestion.sources)
        action = suggestion.action or ""
        text = action.removeprefix("Add: ") if action.startswith("Add: ") else ""
        known = {each.text for name in evals for each in evidence.suite[name].expectations}
        if named or text in known:
            continue
        note = (
            "It is judged, and has no verdicts yet."
            if text
            else "The expectation is still to be written; a check that a program makes is better "
            "where one can."
        )
        why = f"{suggested([suggestion])} {note}"
        runs = runs_of([], [suggestion])
        yield new_draft(
            "add", "expectations", evals, None, [text], why, runs=runs, suggestions=[suggestion.key]
        )


def of_evals(evidence: Evidence) -> Iterator[Draft]:
    """One eval to add, with the checks that all have; a new task for one that all runs pass."""
    if evidence.sides is None or not evidence.suite:
        return
    yield from _to_add(evidence, evidence.sides[1])
    for eval_id, (n_with, n_without) in too_easy(evidence).items():
        why = (
            f"Every one of {n_with} runs of {evidence.sides[0]} and {n_without} of "
            f"{evidence.sides[1]} passes all checks of {quoted(evidence.names[eval_id])}: its "
            "task is too easy to show what the skill is good for. A harder one is still to be "
            "written."
        )
        runs = [ref for ref in evidence.stored if ref.eval_id == eval_id]
        item = {**msgspec.to_builtins(evidence.suite[eval_id]), "prompt": ""}
        yield new_draft("reword", "evals", (eval_id,), eval_id, [item], why, runs=runs)


def _changed(
    kind: Kind, check: Check, new: Sequence[SuiteItem], why: str, suggestions: Sequence[Suggestion]
) -> Draft:
    """A draft for what goes, with the check's figures and what graders said of it."""
    return new_draft(
        kind,
        check.part,
        check.evals,
        check.target,
        new,
        " ".join(filter(None, (check.in_words, suggested(suggestions), why))),
        runs=runs_of([check], suggestions),
        suggestions=[suggestion.key for suggestion in suggestions],
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

    def shared(lists: list[Any]) -> list[Any]:
        forms = set.intersection(*({form(item) for item in own} for own in lists))
        return [item for item in lists[0] if form(item) in forms]

    texts = [expectation.text for expectation in shared([eval_.expectations for eval_ in evals])]
    structural = shared([eval_.structural_expectations for eval_ in evals])
    rubrics = [eval_.quality_rubric.dimensions if eval_.quality_rubric else [] for eval_ in evals]
    dimensions = msgspec.to_builtins(shared(rubrics))
    item: dict[str, Any] = {"prompt": ""}
    item |= {"expectations": texts} if texts else {}
    item |= {"structural_expectations": msgspec.to_builtins(structural)} if structural else {}
    return item | ({"quality_rubric": {"dimensions": dimensions}} if dimensions else {})


def _noise(evidence: Evidence) -> dict[str, str]:
    """The dimensions in which the judge differs from itself most, and a sentence of it."""
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


# ── a sharper check, found in the stored outputs ─────────────────────────────────────────────

ABOUT_FILES = ("file_exists", "file_contains", "file_not_contains", "file_count")
ALPHA = 0.05
"""The exact p above which sides are not taken to differ."""
LEAST_APART = 0.3
"""The difference of the pass rates below which they are not."""
TESTED = 400
"""So many phrases that differ most are tested."""
ALIKE = 0.95
"""The share of runs on which two checks agree from which on they are one."""
MOST_TOKENS, FEWEST_CHARS, BEST_CHARS = 4, 4, 16
"""Of a phrase: its tokens at most, its letters at least, and the length that is preferred."""
_TOKEN = re.compile(r"\w+|[^\w\s]+")
_WORD = re.compile(r"[^\W\d_]{3,}")


class Phrase(NamedTuple):
    """A phrase of one side, the outputs a check of it passes, and how they differ.

    Attributes:
        phrase: what is to be looked for.
        wanted: whether it is to stand there (file_contains), or not to (file_not_contains).
        passing: places of the outputs that pass.
        estimate: the difference of the pass rates, the mean over the evals.
        counts: of each eval: passed and scored, passed and scored on the baseline.
        p: exact, over the evals.
    """

    phrase: str
    wanted: bool
    passing: frozenset[int]
    estimate: float
    counts: list[tuple[int, ...]]
    p: float = 1.0


def sharpened(evidence: Evidence) -> Iterator[Draft]:
    """Look for a phrase that stands on one side only, on half of the evals of a check.

    The other half is not looked at, so that a try-out there is a proof. What is the gate's stays
    as it is and gets the new check beside it.
    """
    skill = evidence.skill_text() if evidence.sides else ""
    mined: dict[Any, tuple[list[Output], list[Phrase]]] = {}
    for check in evidence.checks if evidence.sides else ():
        in_files = check.structural and check.definition.type in ABOUT_FILES
        if not (in_files and check.is_all(PASSES)):
            continue
        looked_at, left = halves(evidence.with_outputs(check.evals))
        pattern = getattr(check.definition, "pattern", None)
        if (looked_at, pattern) not in mined:
            outputs = evidence.outputs(looked_at, pattern)
            tasks = [evidence.suite[eval_id] for eval_id in looked_at]
            given = [text for task in tasks for text in (task.prompt, *task.files)]
            found = differing(outputs, evidence.sides[0], given) if evidence.sides else []
            found.sort(key=lambda split: split.phrase not in skill)  # what it asks for, first
            mined[looked_at, pattern] = outputs, found
        outputs, found = mined[looked_at, pattern]
        new = (split for split in found if not _is_known(split, outputs, evidence))
        if (best := next(new, None)) is not None:
            yield _sharper(evidence, check, best, pattern, looked_at, left)


def differing(
    outputs: Sequence[Output], configuration: str, given: Collection[str] = ()
) -> list[Phrase]:
    """The phrases that stand on one side of the evals more often than on the other.

    A phrase is a few tokens of one line. What stands in one eval alone, or was given, is left out.

    Args:
        outputs: of both sides' runs.
        configuration: the one that is compared; all other outputs are of its baseline.
        given: texts in which a phrase must not stand, as what the evals were given.

    Returns:
        Those that differ most first, of these the ones of about `BEST_CHARS` characters.
    """
    import polars as pl

    blocks: dict[tuple[str, str], tuple[list[int], list[int]]] = {}
    for at, output in enumerate(outputs):
        own = blocks.setdefault((output.run.iteration, output.run.eval_id), ([], []))
        own[output.run.configuration != configuration].append(at)
    fewest = min(2, len({output.run.eval_id for output in outputs}))
    every = frozenset(range(len(outputs)))
    apart: list[Phrase] = []
    for phrase, standing in _phrases_in(outputs).items():
        evals = {outputs[at].run.eval_id for at in standing}
        if len(evals) < fewest or any(phrase in text for text in given):
            continue
        for passing in (standing, every - standing):
            counts = [
                tuple(n for side in block for n in (len(passing.intersection(side)), len(side)))
                for block in blocks.values()
            ]
            rates = [a / n - b / m for a, n, b, m in counts if n and m]
            estimate = sum(rates) / len(rates) if rates else 0.0
            if estimate >= LEAST_APART:
                apart.append(Phrase(phrase, passing is standing, passing, estimate, counts))
    apart.sort(
        key=lambda split: (-split.estimate, not split.wanted, _worth(split.phrase), split.phrase)
    )
    rows = [(row, *counts) for row, split in enumerate(apart[:TESTED]) for counts in split.counts]
    if not rows:
        return []
    tests = exact_tests(pl.DataFrame(rows, schema=["row", *COUNTS], orient="row"))
    chances = dict(tests.select("row", "p").iter_rows())
    tested = (split._replace(p=chances.get(row, 1.0)) for row, split in enumerate(apart[:TESTED]))
    return [split for split in tested if split.p <= ALPHA]


def _worth(phrase: str) -> tuple[bool, int]:
    return not phrase[0].isalnum(), abs(len(phrase) - BEST_CHARS)


def _phrases_in(outputs: Sequence[Output]) -> dict[str, frozenset[int]]:
    """Where each phrase stands, of those that stand in enough outputs to tell sides apart."""
    tokens = [set(_TOKEN.findall(output.text)) for output in outputs]
    times = Counter(token for own in tokens for token in own)
    least = LEAST_APART / 4 * len(outputs)
    often = {token for token, number in times.items() if number >= least}
    where: dict[str, set[int]] = {}
    for at, output in enumerate(outputs):
        for line in {line.strip() for line in output.text.splitlines()}:
            for phrase in _phrases(line, often):
                where.setdefault(phrase, set()).add(at)
    return {phrase: frozenset(places) for phrase, places in where.items() if len(places) >= least}


def _phrases(line: str, often: Collection[str]) -> Iterator[str]:
    found = list(_TOKEN.finditer(line))
    for at, first in enumerate(found):
        for last in found[at : at + MOST_TOKENS]:
            if last[0] not in often:
                break
            phrase = line[first.start() : last.end()]
            if sum(map(str.isalnum, phrase)) >= FEWEST_CHARS and _WORD.search(phrase):
                yield phrase


def _is_known(found: Phrase, outputs: Sequence[Output], evidence: Evidence) -> bool:
    """Whether a check that there is says the same of nearly all runs."""
    for check in evidence.checks:
        same = [
            check.verdicts[output.run] == (at in found.passing)
            for at, output in enumerate(outputs)
            if check.structural and output.run in check.verdicts
        ]
        if same and sum(same) >= ALIKE * len(same):
            return True
    return False


def _sharper(
    evidence: Evidence,
    check: Check,
    found: Phrase,
    pattern: str | None,
    looked_at: Sequence[str],
    left: Sequence[str],
) -> Draft:
    assert evidence.sides is not None
    stays = check.critical and evidence.stand_in(check) is None
    files = f"file {pattern}" if pattern else "output file"
    article = "No" if not found.wanted else "A" if pattern else "An"
    new: dict[str, Any] = {
        "type": "file_contains" if found.wanted else "file_not_contains",
        "description": f"{article} {files} holds “{found.phrase}”",
        **({"pattern": pattern} if pattern else {}),
        "match": found.phrase,
        "critical": False,
    }
    own, of, other, others = (sum(numbers) for numbers in zip(*found.counts, strict=True))
    verb = "stands" if found.wanted else "does not stand"
    names, unseen = ([evidence.names[name] for name in half] for half in (looked_at, left))
    suggestions = evidence.about(check)
    proof = "There is no further eval to prove it on."
    if unseen:
        were = "was" if len(unseen) == 1 else "were"
        proof = f"{some(unseen)} {were} not looked at: a try-out there is the proof."
    found_in = (
        f"“{brief(found.phrase, 60)}” {verb} in the outputs of {own} of {count(of, 'run')} of "
        f"{evidence.sides[0]} and {other} of {others} of {evidence.sides[1]} (exact p "
        f"{chance(found.p)}), looked for on {some(names)}."
    )
    gate = "It stays, for it is part of the gate." if stays else evidence.gate(check)
    why = (check.in_words, gate, suggested(suggestions), found_in, proof)
    return new_draft(
        "add" if stays else "sharpen",
        "structural_expectations",
        check.evals,
        None if stays else check.target,
        [new],
        " ".join(filter(None, why)),
        runs=runs_of([check], suggestions),
        suggestions=[each.key for each in suggestions],
        found_on=looked_at,
    )


RULES: tuple[Callable[[Evidence], Iterator[Draft]], ...] = (
    sharpened,
    useless,
    rewording,
    of_rubric,
    missed,
    of_evals,
)
"""In the order in which drafts that rest on equally much are given."""
