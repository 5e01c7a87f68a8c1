"""A sharper check in the place of one that always passes, found in the stored outputs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from skill_eval_nb.stats.expectations import PASSES
from skill_eval_nb.stats.inference.intervals import COUNTS, exact_tests
from skill_eval_nb.text import brief, chance, count, some

from .checks import Check, Evidence, Output, halves, runs_of, suggested
from .values import Draft, new_draft

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


class Found(NamedTuple):
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
    if evidence.sides is None:
        return
    skill = evidence.skill_text()
    mined: dict[Any, tuple[list[Output], list[Found]]] = {}
    for check in evidence.checks:
        in_files = check.structural and check.definition.type in ABOUT_FILES
        if not (in_files and check.is_all(PASSES)):
            continue
        evals = halves(evidence.with_outputs(check.evals, evidence.sides))
        pattern = getattr(check.definition, "pattern", None)
        if (evals[0], pattern) not in mined:
            outputs = evidence.outputs(evals[0], evidence.sides, pattern)
            tasks = [evidence.suite[one] for one in evals[0]]
            given = [text for task in tasks for text in (task.prompt, *task.files)]
            found = differing(outputs, evidence.sides[0], given)
            found.sort(key=lambda one: one.phrase not in skill)  # what the skill asks for, first
            mined[evals[0], pattern] = outputs, found
        outputs, found = mined[evals[0], pattern]
        new = (one for one in found if not _is_known(one, outputs, evidence))
        if (best := next(new, None)) is not None:
            yield _draft(evidence, check, best, pattern, evals)


def differing(
    outputs: Sequence[Output], configuration: str, given: Collection[str] = ()
) -> list[Found]:
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
    for at, one in enumerate(outputs):
        own = blocks.setdefault((one.run.iteration, one.run.eval_id), ([], []))
        own[one.run.configuration != configuration].append(at)
    fewest = min(2, len({output.run.eval_id for output in outputs}))
    every = frozenset(range(len(outputs)))
    apart = [
        one
        for phrase, standing in _phrases_in(outputs).items()
        if len({outputs[at].run.eval_id for at in standing}) >= fewest
        and not any(phrase in text for text in given)
        for wanted in (True, False)
        if (one := _compared(phrase, wanted, standing if wanted else every - standing, blocks))
    ]
    apart.sort(key=lambda one: (-one.estimate, not one.wanted, _worth(one.phrase), one.phrase))
    rows = [(row, *counts) for row, one in enumerate(apart[:TESTED]) for counts in one.counts]
    if not rows:
        return []
    tests = exact_tests(pl.DataFrame(rows, schema=["row", *COUNTS], orient="row"))
    chances = dict(tests.select("row", "p").iter_rows())
    tested = (one._replace(p=chances.get(row, 1.0)) for row, one in enumerate(apart[:TESTED]))
    return [one for one in tested if one.p <= ALPHA]


def _worth(phrase: str) -> tuple[bool, int]:
    return not phrase[0].isalnum(), abs(len(phrase) - BEST_CHARS)


def _compared(
    phrase: str,
    wanted: bool,
    passing: frozenset[int],
    blocks: dict[tuple[str, str], tuple[list[int], list[int]]],
) -> Found | None:
    """How the sides differ in a phrase; None where they hardly do."""
    counts = [
        tuple(n for side in block for n in (sum(at in passing for at in side), len(side)))
        for block in blocks.values()
    ]
    rates = [a / n - b / m for a, n, b, m in counts if n and m]
    estimate = sum(rates) / len(rates) if rates else 0.0
    return Found(phrase, wanted, passing, estimate, counts) if estimate >= LEAST_APART else None


def _phrases_in(outputs: Sequence[Output]) -> dict[str, frozenset[int]]:
    """Where each phrase stands, of those that stand in enough outputs to tell sides apart."""
    tokens = [set(_TOKEN.findall(output.text)) for output in outputs]
    times = Counter(token for own in tokens for token in own)
    least = LEAST_APART / 4 * len(outputs)
    often = {token for token, number in times.items() if number >= least}
    where: dict[str, list[int]] = {}
    for at, one in enumerate(outputs):
        lines = {line.strip() for line in one.text.splitlines()}
        for phrase in {phrase for line in lines for phrase in _phrases(line, often)}:
            where.setdefault(phrase, []).append(at)
    return {one: frozenset(places) for one, places in where.items() if len(places) >= least}


def _phrases(line: str, often: Collection[str]) -> Iterator[str]:
    found = list(_TOKEN.finditer(line))
    for at, first in enumerate(found):
        for last in found[at : at + MOST_TOKENS]:
            if last[0] not in often:
                break
            phrase = line[first.start() : last.end()]
            if sum(map(str.isalnum, phrase)) >= FEWEST_CHARS and _WORD.search(phrase):
                yield phrase


def _is_known(found: Found, outputs: Sequence[Output], evidence: Evidence) -> bool:
    """Whether a check that there is says the same of nearly all runs."""
    for check in evidence.checks:
        same = [
            check.verdicts[one.run] == (at in found.passing)
            for at, one in enumerate(outputs)
            if check.structural and one.run in check.verdicts
        ]
        if same and sum(same) >= ALIKE * len(same):
            return True
    return False


def _draft(
    evidence: Evidence,
    check: Check,
    found: Found,
    pattern: str | None,
    evals: tuple[tuple[str, ...], tuple[str, ...]],
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
    looked_at, left = ([evidence.names[name] for name in half] for half in evals)
    suggestions = evidence.about(check)
    proof = "There is no further eval to prove it on."
    if left:
        were = "was" if len(left) == 1 else "were"
        proof = f"{some(left)} {were} not looked at: a try-out there is the proof."
    found_in = (
        f"“{brief(found.phrase, 60)}” {verb} in the outputs of {own} of {count(of, 'run')} of "
        f"{evidence.sides[0]} and {other} of {others} of {evidence.sides[1]} (exact p "
        f"{chance(found.p)}), looked for on {some(looked_at)}."
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
        found_on=evals[0],
    )
