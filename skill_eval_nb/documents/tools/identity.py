"""What the runs of every tool are: of which eval and model, which are copies, how they ended."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from skill_eval_nb.text import count, some

from ..base import Severity
from ..run import GradedExpectation, RubricScore, Timing, drop_unread, unread_message
from ..sides import side_in
from .part import Run, model_of

Tell = Callable[[Severity, str, str, str], object]
"""Takes note of a problem: its severity, its code, the file, what was found and what to do."""

_OF_SIDE = re.compile(r"skill|^(config(uration)?|condition|variant|arm|mode)$", re.IGNORECASE)
"""Names of what is given to a test and may be what sets the sides apart."""
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partial, incorrect, no answer."""
VERDICTS = {"C": True, "I": False, "N": False, "P": None, True: True, False: False}
"""Values that are verdicts."""


def settle_runs(runs: list[Run], tell: Tell) -> list[Run]:
    """The runs of one tool and workspace, each once, with its eval, model, end and scores.

    An eval is what was asked, a model its whole name where a shorter one is another's as well.
    """
    _name_models(runs)
    _name_evals(runs)
    kept = _without_copies(runs, tell)
    _settle_errors(kept, tell)
    _leave_unread(kept, tell)
    _place_scores(kept, tell)
    _tell_scorers(kept, tell)
    return kept


def number_in(value: Any) -> float | None:
    """A score as a number; letters are read as the verdicts that they stand for."""
    try:
        return float(_LETTERS.get(value.strip(), value) if isinstance(value, str) else value)
    except (ValueError, TypeError):
        return None


def is_verdict(value: Any) -> bool:
    """Whether a score is a verdict: true, false, 1, 0 or a letter that stands for one."""
    return isinstance(value, bool | str | int | float) and value in VERDICTS


def _name_models(runs: list[Run]) -> None:
    """A model is its name without its provider's; two that share it have their whole names."""
    whole: dict[str | None, set[Any]] = defaultdict(set)
    for run in runs:
        run.model = run.model or (model_of(run.whole_model) if run.whole_model else None)
        whole[run.model] |= {run.whole_model} - {None}
    for run in runs:
        if run.whole_model and len(whole[run.model]) > 1:
            run.model = run.whole_model


def _name_evals(runs: list[Run]) -> None:
    """Name each eval after what was asked: by its own words, and by more of them where needed."""
    numbered = [run for run in runs if run.asked and run.eval_id is not None]
    asked = [run for run in runs if run.asked and run.eval_id is None]
    asked += numbered if _is_renumbered(numbered) else []
    switches = _skill_switches(asked)
    rests = [
        _text({k: v for k, v in run.asked.items() if k and k not in switches}) for run in asked
    ]
    words: dict[str, set[Any]] = defaultdict(set)
    for rest, run in zip(rests, asked, strict=True):
        words[rest] |= {run.asked.get("")} - {None}
    for rest, run in zip(rests, asked, strict=True):
        if run.asked.get("") is None and rest != "{}" and len(words[rest]) == 1:
            run.asked[""] = next(iter(words[rest]))  # as another file calls what is asked
    keys = [_text([run.asked.get(""), rest]) for run, rest in zip(asked, rests, strict=True)]
    names = dict(zip(keys, asked, strict=True))
    labels = {key: _eval_labels(run.asked, key, switches) for key, run in names.items()}
    for _ in range(3):  # a name that is another's as well says more
        met = Counter(label[0] for label in labels.values())
        labels = {key: label[met[label[0]] > 1 :] or label for key, label in labels.items()}
    for key, run in zip(keys, asked, strict=True):
        run.eval_id = labels[key][0]
    for run in runs:
        run.eval_name = run.eval_name or (None if run.eval_id is None else str(run.eval_id))


def _is_renumbered(runs: list[Run]) -> bool:
    """Whether ids are running numbers of files: one question has another in another file."""
    ids: dict[str, set[Any]] = defaultdict(set)
    files: dict[tuple[str, str | None], set[Any]] = defaultdict(set)
    for run in runs:
        ids[_text(run.asked)].add(run.eval_id)
        files[_text(run.asked), run.path].add(run.eval_id)
    return max(map(len, ids.values()), default=0) > 1 and max(map(len, files.values())) == 1


def _skill_switches(runs: list[Run]) -> set[str]:
    """What speaks of the skill, and is given to a side rather than to a case: no part of an eval.

    Where two cases of a side differ in it alone it tells them apart, and is a part of them.
    """
    found = set()
    for name in sorted({name for run in runs for name in run.asked} - {""}):
        given = [run.asked.get(name) for run in runs]
        if not (_OF_SIDE.search(name) or any(isinstance(v, str) and side_in(v) for v in given)):
            continue
        cases: dict[tuple[str, str], set[str]] = defaultdict(set)
        for run, value in zip(runs, given, strict=True):
            rest = {key: known for key, known in run.asked.items() if key != name and known}
            cases[run.configuration, _text(rest) if rest else ""].add(_text(value))
        several = len({side for side, _ in cases}) > 1
        if several and all(rest and len(values) == 1 for (_, rest), values in cases.items()):
            found.add(name)
    return found


def _eval_labels(asked: dict[str, Any], key: str, switches: set[str]) -> list[str]:
    """Names of an eval, each saying more than the one before; the last is no other's."""
    own = " ".join(str(asked.get("") or "").split())[:100]
    rest = [value for name, value in asked.items() if name and name not in switches]
    words = ", ".join(value if isinstance(value, str) else _text(value) for value in rest)
    words = " ".join(words.split())[:100] or "unnamed"
    more = f"{own} ({words})" if own else words
    return [*filter(None, [own]), more, f"{more} #{sha256(key.encode()).hexdigest()[:6]}"]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _without_copies(runs: list[Run], tell: Tell) -> list[Run]:
    """The runs without those that repeat another: of several, the first that has a result."""
    seen: set[tuple[object, ...]] = set()
    copies: set[int] = set()
    for run in sorted(runs, key=lambda run: (run.cached is True, run.grading is None)):
        key = (run.skill, run.eval_id, run.configuration, run.model, run.run_id)
        if run.run_id is not None and run.cached is not False and key in seen:
            copies.add(id(run))
        seen.add(key)
    of_file = Counter(run.path for run in runs)
    for path, number in Counter(run.path for run in runs if id(run) in copies).items():
        message = f"{number} of its {of_file[path]} results repeat others: each is counted once"
        tell("warning", "copy", path, message)
    replayed = Counter(run.path for run in runs if run.cached and id(run) not in copies)
    for path, number in replayed.items():
        message = (
            f"{count(number, 'run')} from a cache: counted, with the original's time and tokens"
        )
        tell("info", "cached", path, message)
    return [run for run in runs if id(run) not in copies]


def _settle_errors(runs: list[Run], tell: Tell) -> None:
    """A run that ended in an error and has no result is errored; else its result counts."""
    scored: dict[str, list[str]] = defaultdict(list)
    for run in runs:
        if run.error is None:
            continue
        reason = (run.error.splitlines() or [""])[0][:200] or "no reason is given"
        if _has_result(run):
            scored[run.path].append(reason)
        else:
            run.score = run.grading = None
            run.timing = run.timing or Timing()
            run.timing.status, run.timing.reason = "error", reason
    for path, reasons in scored.items():
        why = ", ".join(dict.fromkeys(reasons))
        what = f"{count(len(reasons), 'run')} ended in an error ({why})"
        message = f"{what}: the scores count, as in the tool's own figures"
        tell("info", "error-beside-score", path, message)


def _has_result(run: Run) -> bool:
    """Whether anything was found right or wrong."""
    if run.grading is None:
        return False
    verdicts = [check.passed for check in run.grading.expectations]
    return run.rate is not None or run.score is not None or len(verdicts) > verdicts.count(None)


def _leave_unread(runs: list[Run], tell: Tell) -> None:
    """Checks without a verdict, as the judge gave none: no score of the run counts them either."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for run in runs:
        unread = drop_unread(run.grading) if run.grading is not None else []
        if unread:
            names = {what.split(": ")[0] for what, _ in unread}
            run.score = None
            run.scores = {name: row for name, row in run.scores.items() if name not in names}
            found[run.path] += unread
    for path, checks in found.items():
        tell("warning", "judge-unread", path, unread_message(checks))


def _place_scores(runs: list[Run], tell: Tell) -> None:
    """Make scores checks or dimensions, by all values of a name; none by a part of them.

    What gave the rate is a check if it gave verdicts alone.
    """
    values: dict[str, list[tuple[Run, Any, str | None]]] = defaultdict(list)
    for run in runs:
        for name, (value, why) in run.scores.items() if run.grading else ():
            values[name].append((run, value, why))
    for name, rows in values.items():
        if all(is_verdict(value) for _, value, _ in rows):
            for run, value, why in rows:
                if run.grading is not None and not run.checked:
                    run.grading.expectations.append(GradedExpectation(name, VERDICTS[value], why))
        elif others := [row for row in rows if row[0].scorer != name]:
            _place_dimension(name, others, tell)


def _place_dimension(name: str, rows: list[tuple[Run, Any, str | None]], tell: Tell) -> None:
    """Make a score a dimension if all its values have one scale; else say that it is unused."""
    numbers = [number_in(value) for _, value, _ in rows]
    known = [number for number in numbers if number is not None]
    low, high = min(known, default=0), max(known, default=0)
    if len(known) < len(rows) or not (0 <= low <= high <= 1 or 1 <= low <= high <= 5):
        _tell_unused(name, rows, known, tell)
        return
    by = 5 if high <= 1 else 1
    for (run, _, why), number in zip(rows, known, strict=True):
        assert run.grading is not None
        score = RubricScore(score=number * by, evidence=why, weight=run.weights.get(name))
        run.grading.rubric_scores[name] = score
    if by == 5:
        message = f"{name}: shares of 1, read as shares of 5, as rubric dimensions are"
        tell("warning", "converted", rows[0][0].path, message)


def _tell_unused(name: str, rows: list[Any], known: list[float], tell: Tell) -> None:
    """Name scores that no table has a place for: texts, and other or mixed scales."""
    values = some(dict.fromkeys(str(value)[:40] for _, value, _ in rows))
    runs = count(len(rows), "run")
    message = f"{name} is {values} in {runs}: not used; scores are of 0 to 1, or of 1 to 5"
    tell("warning" if known else "info", "not-used", rows[0][0].path, message)


def _tell_scorers(runs: list[Run], tell: Tell) -> None:
    """Name it where the rates of an eval are of several scorers, and so of no one thing."""
    scorers: dict[tuple[str | None, Any], set[str]] = defaultdict(set)
    for run in runs:
        scorers[run.skill, run.eval_id] |= {run.scorer} if run.scorer else set()
    mixed = [names for names in scorers.values() if len(names) > 1]
    if mixed:
        names = ", ".join(sorted(mixed[0]))
        evals = count(len(mixed), "eval")
        message = f"the pass rates of {evals} come from scorers of different things: {names}"
        tell("warning", "scorers-differ", min(run.path for run in runs), message)
