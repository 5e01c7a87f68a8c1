"""What a file of each kind has in it that no other has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..declared import names_of, plainly
from ..document import Document
from ..grading import Grading
from ..triggers import TriggerQuery, TriggerSet


def _keys(value: Any) -> set[str]:
    return {plainly(key) for key in value} if isinstance(value, dict) else set()


def _objects(raw: Any, *names: str) -> list[dict[str, Any]]:
    """The objects of the first list under one of `names` (or of `raw`, if it is a list)."""
    found = raw if isinstance(raw, list) else None
    if isinstance(raw, dict):
        lists = {plainly(key): value for key, value in raw.items()}
        wanted = (plainly(name) for name in names)
        found = next((lists[name] for name in wanted if isinstance(lists.get(name), list)), None)
    return [item for item in found or [] if isinstance(item, dict)]


_PROMPTS = {"prompt", "task", "taskprompt"}
_CHECKS = {"assertions", "expectations", "expectedoutput"}
_QUERIES = {plainly(name) for name in names_of(TriggerQuery, "query")}
_VERDICTS = {"passed", "result", "met", "grade", "verdict", "status", "pass", "outcome"}
_SIDES = {"withskill", "withoutskill", "oldskill", "newskill"}


def is_evals(raw: Any) -> bool:
    """Evals, cases or scenarios with a prompt each."""
    if is_triggers(raw):
        return False
    rows = [_keys(one) for one in _objects(raw, "evals", "test_cases", "cases", "scenarios")]
    return any(keys & _PROMPTS or (keys & {"query", "input"} and keys & _CHECKS) for keys in rows)


def is_eval_metadata(raw: Any) -> bool:
    """An eval by its id or name, with a prompt or with what is checked."""
    keys = _keys(raw)
    named, checked = keys & {"evalid", "evalname", "caseid"}, keys & {"prompt", *_CHECKS}
    return bool(named and checked) and not is_grading(raw)


def is_grading(raw: Any) -> bool:
    """Verdicts, and no prompt that would make it an eval."""
    if not isinstance(raw, dict) or _keys(raw) & _PROMPTS:
        return False
    rows = _objects(raw, *names_of(Grading, "expectations"))
    return any(_keys(one) & _VERDICTS for one in rows) or {
        "assertionsmet",
        "assertionsmissed",
    } <= _keys(raw)


def is_structural(raw: Any) -> bool:
    """A gate that was passed or not."""
    return "gatepassed" in _keys(raw)


def is_judging(raw: Any) -> bool:
    """Rubric scores of a numbered judging."""
    return {"rubricscores", "judging"} <= _keys(raw)


def is_benchmark(raw: Any) -> bool:
    """Runs, or figures by configuration, of several evals."""
    keys = _keys(raw)
    if not isinstance(raw, dict) or keys & _PROMPTS:
        return False
    if "runsummary" in keys or {"skillname", "evalresults"} <= keys or "pertestcase" in keys:
        return True
    if any("pertestcase" in _keys(one) for one in _objects(raw, "entries")):
        return True
    if any(_keys(one) & {"configurations", "evaluations"} for one in _objects(raw, "iterations")):
        return True
    rows = _objects(raw, "runs", "evals", "results", "cases")
    return any(len(_keys(one) & _SIDES) > 1 and not _keys(one) & {"prompt"} for one in rows)


def has_rates(raw: Any, depth: int = 4) -> bool:
    """Whether some key not far below speaks of a pass rate."""
    inside = raw.values() if isinstance(raw, dict) else raw if isinstance(raw, list) else ()
    return any("passrate" in key for key in _keys(raw)) or (
        depth > 0 and any(has_rates(item, depth - 1) for item in inside)
    )


def is_comparison(raw: Any) -> bool:
    """A winner, and what it won by."""
    return "winner" in _keys(raw) and bool(
        _keys(raw)
        & {"rubric", "reasoning", "criteriascores", "outputquality", "expectationresults"}
    )


def is_analysis(raw: Any) -> bool:
    """Why one side of a comparison won."""
    return bool(
        _keys(raw)
        & {"improvementsuggestions", "winnerstrengths", "loserweaknesses", "comparisonsummary"}
    )


def is_history(raw: Any) -> bool:
    """Versions of a skill."""
    rows = _objects(raw, "iterations", "versions") if isinstance(raw, dict) else []
    return any("version" in _keys(one) for one in rows)


def is_feedback(raw: Any) -> bool:
    """Reviews."""
    return isinstance(raw, dict) and isinstance(raw.get("reviews"), list)


def is_triggers(raw: Any) -> bool:
    """Queries, and whether the skill should be picked up for them, with nothing else to check."""
    rows = [_keys(one) for one in _objects(raw, *names_of(TriggerSet, "queries"))]
    if any(keys & {"assertions", "expectations"} for keys in rows):
        return False
    return any(
        ("query" in keys and keys & {"shouldtrigger", "expected"} and not keys & _PROMPTS)
        or ("shouldtrigger" in keys and keys & _QUERIES)
        for keys in rows
    )


def is_optimization(raw: Any) -> bool:
    """A best description."""
    return "bestdescription" in _keys(raw)


def is_suggestions(raw: Any) -> bool:
    """Suggestions, and how many runs made them."""
    rows = _objects(raw, "suggestions") if isinstance(raw, dict) else []
    return any("frequency" in _keys(one) for one in rows)


def is_object(raw: Any) -> bool:
    """An object: the name of the file says the rest."""
    return isinstance(raw, dict)


def knows(document: type[Document]) -> Callable[[Any], bool]:
    """Whether an object has a field of `document`, for files whose name says the rest."""
    known = {plainly(one) for one in names_of(document)}
    return lambda raw: bool(_keys(raw) & known)
