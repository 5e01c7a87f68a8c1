"""Home-made documents that say clearly what they mean, though no dialect describes them.

They are read only. A benchmark is brought into the shared form step by step: where its
iterations are, where the entries are that runs can be made of, what stands for each
configuration, and which figures are stated. Whatever is not understood is left where it is,
and a benchmark of which nothing is understood is a fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..base import Document, Faults, names_of, plainly
from ..evals import TriggerQuery, TriggerSet
from ..repair import find_unused, mapping_by_name, mend, not_in, not_used
from ..results import Benchmark, BenchmarkMetadata, ConfigurationSummary, Stats
from ..run import Grading
from ..sides import UNSTATED
from ..tools.part import Part
from ..tools.promptfoo import read_components
from .home_made_rows import (
    GROUPS,
    PLACES,
    SCORES,
    VERDICTS,
    Plain,
    entries_of,
    figure_of,
    is_number,
    is_plain_side,
    sides_in,
    verdicts_in,
    with_own_verdict,
)
from .home_made_runs import is_score, read_runs

SUMMARIES = ("run_summary", *GROUPS, "summary", "totals", "aggregate")
_INSIDE = ("summary", "aggregate", "stats", "metrics", "averages")
"""Where the figures of a configuration lie, if not in its object itself."""
_READ = {*_INSIDE, *PLACES}
_OF_STATS = set(names_of(Stats, own=True))


def read_summary(
    block: Plain, sides: set[str], runs: list[Plain], where: str, faults: Faults
) -> Plain:
    """Configuration to stated figures, as plain values of `ConfigurationSummary`.

    Args:
        block: one benchmark.
        sides: its keys that are a configuration each.
        runs: its runs: `avg_humor` is a figure if they have a dimension `humor`.
        where: its JSON path.
        faults: gets what could not be understood.
    """
    out: Plain = {}
    scores = (run.get("rubric_scores") for run in runs)
    named = (mapping_by_name(own) if isinstance(own, list) else own for own in scores)
    dimensions = {name for own in named if isinstance(own, dict) for name in own}
    for place in SUMMARIES:
        found = block.get(place)
        if isinstance(found, list):
            found = _map_by_side(found, f"{where}.{place}", faults)
        if isinstance(found, dict):
            _add_stated(out, found, dimensions, f"{where}.{place}", faults)
    own = {
        key: value
        for key, value in block.items()
        if key in sides or not isinstance(value, dict | list)
    }
    _add_stated(out, own, dimensions, where, faults)
    return {name: figures for name, figures in out.items() if figures}


def _map_by_side(found: list[Any], where: str, faults: Faults) -> Plain:
    """A list of configurations by their names, without those that have two different entries."""
    sides: dict[str, list[Plain]] = {}
    for _, entry in entries_of(found, group=True):
        name = entry.pop("configuration", None)
        if isinstance(name, str):
            sides.setdefault(name, []).append(entry)
    twice = [
        name for name, (first, *others) in sides.items() if any(one != first for one in others)
    ]
    if twice:
        message = f"not used: {', '.join(twice)} has several entries that differ; write one a side"
        faults.add("warning", "not-used", where, message)
    return {name: entries[0] for name, entries in sides.items() if name not in twice}


def _add_stated(out: Plain, found: Plain, dimensions: set[str], where: str, faults: Faults) -> None:
    loose: Plain = {}
    for key, value in found.items():
        if isinstance(value, dict) and not _is_statistics(value) and key != "cost_efficiency":
            figures = _read_configuration(value, dimensions, f"{where}.{key}", faults)
            if figures:
                out[key] = {**figures, **out.get(key, {})}
        elif is_plain_side(key):
            message = f"{value!r} is not a figure; write pass_rate and others as numbers"
            faults.add("warning", "not-a-figure", f"{where}.{key}", message)
        else:
            loose[key] = value
    for key, value in loose.items():
        name = figure_of(key).configuration or UNSTATED
        _add_figure(out.setdefault(name, {}), key, value, dimensions, where, faults)


def _is_statistics(value: Plain) -> bool:
    return bool(value) and value.keys() <= _OF_STATS | {"median", "n"}


def _read_configuration(value: Plain, dimensions: set[str], where: str, faults: Faults) -> Plain:
    """The figures of one configuration; those that the shared type knows go first."""
    figures: Plain = {}
    inside = (value[key] for key in _INSIDE if isinstance(value.get(key), dict))
    rest = {**value, **next(inside, {})}
    if where.endswith(".delta") and "total_tokens" in rest:  # `tokens` beside it are a part
        rest["tokens"] = rest.pop("total_tokens")
    for field in names_of(ConfigurationSummary, own=True):
        for name in names_of(ConfigurationSummary, field):
            if rest.get(name) is not None:
                figures.setdefault(field, rest.pop(name))
    for key, item in rest.items():
        _add_figure(figures, key, item, dimensions, where, faults)
    return figures


def _add_figure(
    figures: Plain, key: str, value: Any, dimensions: set[str], where: str, faults: Faults
) -> None:
    """Put one figure where it belongs, if it is one, and nothing says it already."""
    figure = figure_of(key)
    if figure.metric is None and figure.rest not in dimensions and key not in _READ:
        not_used(value, f"{where}.{key}", faults)
    if isinstance(value, dict | list | bool | None) or figure.statistic not in _OF_STATS:
        return
    if figure.rest in dimensions:
        scores = figures.setdefault("rubric_dimensions", {}).setdefault(figure.rest, {})
        scores.setdefault(figure.statistic, value)
    if figure.metric is None:
        return
    if figure.factor != 1 and isinstance(value, int | float):
        value = round(value * figure.factor, 9)
    there = figures.get(figure.metric)
    if not isinstance(there, dict) and figure.statistic != "mean":
        there = figures[figure.metric] = {"mean": there}
    if isinstance(there, dict):
        there.setdefault(figure.statistic, value)
    else:
        figures.setdefault(figure.metric, value)


HOME_MADE = "wild"
"""What documents that no dialect describes are said to be written in."""

_METADATA = (*names_of(BenchmarkMetadata), "runs_per_eval")
_NOTES = names_of(Benchmark, "notes")


_UNDERSTOOD = {f"$.{place}" for place in (*PLACES, *GROUPS, "summary", "totals")}
_UNDERSTOOD |= {f"$.runs[*].{key}" for key in ("timing", "execution_metrics", "input_tokens")}
"""What only this reader makes use of in a benchmark."""


def suits(kind: str, raw: Any, errors: bool, unknown: set[str]) -> bool:
    """Whether this reader makes more of a document than the nearest dialect.

    Args:
        kind: the kind of document.
        raw: its plain JSON value.
        errors: whether the nearest dialect reads it with errors.
        unknown: JSON paths of the keys that the nearest dialect does not know.
    """
    if kind == "benchmark":
        return errors or bool(unknown & _UNDERSTOOD)
    return _rearrange(kind, raw) != raw


def _rearrange(kind: str, raw: Any) -> Any:
    """A home-made grading or trigger set in the structure of the shared one; others as they are."""
    listed = {"results": raw}
    plain = listed if isinstance(raw, list) and verdicts_in(listed) else raw
    if kind == "grading" and isinstance(plain, dict):
        plain = _with_share(plain)
        if _has_other_scale(plain):
            scores = {name: {"score": None} for name in plain["rubric_scores"]}
            plain = {**plain, "rubric_scores": scores}
        is_plain = any(plain.get(key) for key in names_of(Grading, "expectations"))
        return _add_dimensions(plain if is_plain else with_own_verdict(_join_parts(plain)))
    if kind == "triggers" and (queries := [_read_query(*found) for found in outcomes(raw)]):
        around = raw if isinstance(raw, dict) else {}
        rest = {key: raw[key] for key in around if next(outcomes({key: raw[key]}), None) is None}
        return {**rest, "queries": queries}
    return raw


def share_of(raw: Any, *names: str) -> float | None:
    """The score of a whole grading, as a share of the highest there is.

    >>> share_of({"total_score": 7.5, "max_score": 10}, "score", "total_score")
    0.75
    """
    found: Plain = raw if isinstance(raw, dict) else {}
    both = [found[key] for key in (*names, "max_score") if is_number(found.get(key))]
    return both[0] / both[1] if len(both) == 2 and 0 <= both[0] <= both[1] != 0 else None


def _with_share(raw: Plain) -> Plain:
    """The same, with a `score` beside a `max_score` as the share of 1 that it is."""
    share = share_of(raw, "score")
    if share is None:
        return raw
    return {key: raw[key] for key in raw if key != "max_score"} | {"score": share}


def _with_shares(raw: Any, depth: int = 0) -> Any:
    """The same, with the score of each run as a share of 1, where the highest is told.

    >>> _with_shares({"results": [{"score": 7, "max_score": 10}]})
    {'results': [{'score': 0.7}]}
    """
    if isinstance(raw, list):
        return [_with_shares(value, depth + 1) for value in raw]
    if not isinstance(raw, dict) or depth > _DEEPEST:
        return raw
    return {
        key: value if key in _OF_PARTS else _with_shares(value, depth + 1)
        for key, value in _with_share(raw).items()
    }


_DEEPEST = 12
"""No score of a run lies deeper."""
_OF_PARTS = {*SCORES, *VERDICTS, "rubric_scores", "quality", "dimensions", "criteria"}
"""What holds scores of parts of a run."""


def _has_other_scale(raw: Any) -> bool:
    """Whether one of a grading's scores is above 5, so that the others are of that scale too."""
    found = raw.get("rubric_scores") if isinstance(raw, dict) else None
    scores = found.values() if isinstance(found, dict) else ()
    known: list[Any] = [one.get("score") if isinstance(one, dict) else one for one in scores]
    return any(is_number(score) and score > 5 for score in known)


def _add_dimensions(raw: Plain) -> Plain:
    """A grading with the scores of 5 that stand beside all verdicts, each as of a dimension."""
    whole = ("total_score", "max_score") if share_of(raw, "total_score") is not None else ()
    plain = {key: value for key, value in raw.items() if key not in whole}
    for key in names_of(Grading, "expectations"):
        found = plain.get(key)
        rows = found if isinstance(found, list) else []
        rows = [row for row in rows if isinstance(row, dict) and "name" in row]
        scores = [row.get("score") for row in rows]
        each_once = len({str(row["name"]) for row in rows}) == len(rows) > 0
        if not each_once or not all(map(is_score, scores)) or set(scores) == {1}:
            continue
        parts = ("score", "reasoning", "weight")
        plain["rubric_scores"] = {
            str(row["name"]): {part: row[part] for part in parts if part in row} for row in rows
        }
        plain[key] = [{**row, "score": None} for row in rows]
    return plain


def read_home_made(kind: str, raw: Any, document_type: type[Document]) -> tuple[list[Any], Faults]:
    """The shared documents that are in a home-made one, and what was found odd in it."""
    faults = Faults()
    if kind == "benchmark":
        return _read_benchmarks(_with_shares(raw), faults), faults
    document, found = mend(_rearrange(kind, raw), document_type)
    if kind == "grading" and _has_other_scale(raw):
        message = "not used: scores above 5, so of another scale; write them from 1 to 5"
        faults.add("error", "other-scale", "$.rubric_scores", message)
    faults.extend(found)
    faults.extend(find_unused(document))
    if kind == "triggers":
        message = "what was expected of a query, and what it did, is read as one run of it"
        faults.add("info", "inferred-run", "$", message)
        not_in(raw, document, faults)
    return [document], faults


_EXPECTED = ("should_trigger", "expected", "expect", "expected_skill", "should_activate")
_HAPPENED = (
    "triggered actual got picked predicted selected activated fired invoked chosen did_trigger "
    "picked_skill selected_skill actual_skill"
).split()
"""What people call what a query was to do, and what it did: true or false, or a skill's name."""
_RIGHT = ("ok", "pass", "passed", "correct")
_OF_TRIGGERS = {"shouldtrigger", "shouldactivate", "triggered", "activated", "didtrigger", "query"}
_OF_RUNS = {"assertions", "expectations", "passrate", "configuration", "condition", "total"}
_NO_SKILL = {"", "none", "null", "no", "no skill", "no_skill", "nothing", "n/a", "-"}
_LISTS = {*names_of(TriggerSet, "queries"), "rows", "items", "variants", "groups", "per_query"}


def outcomes(raw: Any, about: Plain | None = None, depth: int = 4) -> Iterator[tuple[Plain, Plain]]:
    """The rows of a file that say what a query did, each with the variant or group it is below."""
    if isinstance(raw, dict) and depth:
        group = [raw[key] for key in ("group", "category") if isinstance(raw.get(key), str)][:1]
        around = {**(about or {}), **({"tags": group} if group else {})}
        for key, value in raw.items():
            variant = {} if key in _LISTS or group else {"description": key}
            if isinstance(value, dict | list):
                yield from outcomes(value, {**around, **variant}, depth - 1)
    elif isinstance(raw, list):
        rows = [row for row in raw if isinstance(row, dict)]
        if any(map(_is_outcome, rows)):
            yield from ((row, about or {}) for row in rows)
        else:
            for row in rows:
                yield from outcomes(row, about, depth - 1)


def speaks_of_triggers(raw: Any) -> bool:
    """Whether rows say what a query did in words that nothing else than a trigger set has."""
    return any(
        {plainly(key) for key in row} & _OF_TRIGGERS
        or _NO_SKILL & {_find_skill(row, _HAPPENED) or "?"}
        for row, _ in outcomes(raw)
    )


def _is_outcome(row: Plain) -> bool:
    told = [_find_key(row, names) for names in (_EXPECTED, _HAPPENED, _RIGHT)]
    return bool(told[1] and (told[0] or told[2])) and not {plainly(key) for key in row} & _OF_RUNS


def _find_key(row: Plain, names: Sequence[str]) -> str | None:
    """The key of a row that is one of these names and holds true or false, a text or nothing."""
    keys = {plainly(key): key for key in row if isinstance(row[key], bool | str | None)}
    return next((keys[plainly(name)] for name in names if plainly(name) in keys), None)


def _find_skill(row: Plain, names: Sequence[str]) -> str | None:
    """The skill that a row names under one of these names, in lower case."""
    value = row.get(_find_key(row, names) or "")
    return value.strip().lower() if isinstance(value, str) else None


def _read_query(row: Plain, about: Plain | None = None) -> Plain:
    """A query with what was expected of its one run, and what that did, each true or false.

    >>> _read_query({"query": "Tidy up", "expected": True, "actual": False})
    {'query': 'Tidy up', 'should_trigger': True, 'triggered': 0, 'runs': 1}
    >>> _read_query({"id": 7, "expect": "pdf", "got": "docx", "ok": False})
    {'id': 7, 'query': '7', 'should_trigger': True, 'expected': 'pdf', 'triggered': 0, 'runs': 1}
    """
    keys = [_find_key(row, names) for names in (_EXPECTED, _HAPPENED, _RIGHT)]
    expected, happened, right = (row.get(key) if key else None for key in keys)
    out = {key: value for key, value in row.items() if key not in keys}
    if not any(row.get(name) for name in names_of(TriggerQuery, "query")):
        names = (row[key] for key in ("id", "query_id", "name") if key in row)
        out["query"] = str(next(names, None))
    by_name = isinstance(right, bool) and not isinstance(expected, bool)  # so null is no skill
    should, did = (
        (value or "").strip().lower() not in _NO_SKILL
        if isinstance(value, str) or (by_name and key and value is None)
        else value
        for key, value in zip(keys, (expected, happened), strict=False)
    )
    if should and did and isinstance(right, bool):
        did = right
    elif should and isinstance(expected, str) and isinstance(happened, str):
        did = plainly(expected) == plainly(happened)
    out["should_trigger"] = should
    out |= {"expected": expected} if isinstance(expected, str) and should else {}
    out |= {"triggered": int(did), "runs": 1} if isinstance(did, bool) else {}
    variant = {"description": row["variant"]} if isinstance(row.get("variant"), str) else {}
    return {**(about or {}), **variant, **out}


def components(raw: Any) -> list[Plain]:
    """The verdicts of a grading that is made of components, as promptfoo's Python has them.

    >>> components({"pass": True, "component_results": [
    ...     {"pass": True, "reason": "found", "assertion": {"type": "contains", "value": "42"}}]})
    [{'text': 'contains: 42', 'passed': True, 'evidence': 'found'}]
    """
    verdicts = read_components(Part(raw), "component_results")
    return [{"text": one.text, "passed": one.passed, "evidence": one.evidence} for one in verdicts]


def _join_parts(raw: Plain) -> Plain:
    """The verdicts of components, or of assertions that were met or missed, in one list."""
    if verdicts := components(raw):
        rest = {key: raw[key] for key in raw if key not in ("component_results", "pass")}
        return {**rest, "expectations": verdicts}
    if not {"assertions_met", "assertions_missed"} <= raw.keys():
        return raw
    rest = dict(raw)
    found = ((rest.pop("assertions_met"), True), (rest.pop("assertions_missed"), False))
    rest["expectations"] = [
        {"text": text, "passed": passed} for texts, passed in found for text in _as_list(texts)
    ]
    if "quality_score" in rest:
        rest["rubric_scores"] = {"quality": rest.pop("quality_score")}
    return rest


def _read_benchmarks(raw: Any, faults: Faults) -> list[Benchmark]:
    blocks = _find_iterations(raw)
    found = [_read_benchmark(block, where, faults) for block, where in blocks]
    if isinstance(raw, dict) and blocks[0][1] != "$":
        for key, value in raw.items():
            if not any(where.startswith(f"$.{key}") for _, where in blocks):
                not_used(value, f"$.{key}", faults)
    not_in(raw, found, faults)
    if not any(benchmark.runs or benchmark.run_summary for benchmark in found):
        faults.add("error", "no-figures", "$", "no runs and no figures that can be understood")
    return found


def _find_iterations(raw: Any) -> list[tuple[dict[str, Any], str]]:
    """The parts of the file that are a benchmark each, and where they stand."""
    if not isinstance(raw, dict):
        return [({"results": raw} if isinstance(raw, list) else {}, "$")]
    shared = {key: raw[key] for key in _METADATA if key in raw}
    for key in ("iterations", "models"):
        blocks = raw.get(key)
        if isinstance(blocks, list) and blocks and all(isinstance(block, dict) for block in blocks):
            return [({**shared, **part}, f"$.{key}[{index}]") for index, part in enumerate(blocks)]
    named = [key.lower().startswith("iteration") and isinstance(raw[key], dict) for key in raw]
    if named and all(named):
        numbers = {key: key.lower().removeprefix("iteration").strip("_-") for key in raw}
        return [({"iteration": numbers[key], **raw[key]}, f"$.{key}") for key in raw]
    return [(raw, "$")]


def _read_benchmark(block: dict[str, Any], where: str, faults: Faults) -> Benchmark:
    found = block.get("metadata")
    given = found if isinstance(found, dict) else {}
    metadata = {**{key: block[key] for key in _METADATA if key in block}, **given}
    if isinstance(metadata.get("runs_per_eval"), int):
        metadata.setdefault("runs_per_configuration", metadata.pop("runs_per_eval"))
    runs, keys = read_runs(block, where, faults)
    sides = {key for key in block if is_plain_side(key)} | sides_in(block).keys()
    plain = {
        "metadata": metadata,
        "runs": runs,
        "run_summary": read_summary(block, sides, runs, where, faults),
        "notes": [_note_text(note) for key in _NOTES for note in _as_list(block.get(key))],
    }
    document, mended = mend(plain, Benchmark)
    for fault in (*mended.remarkable(), *find_unused(document)):
        faults.append(replace(fault, where=where + fault.where.removeprefix("$")))
    read = {*keys, *sides, *SUMMARIES, *_METADATA, *_NOTES, "metadata"}
    for key, value in block.items():
        if key not in read and isinstance(value, dict | list):
            not_used(value, f"{where}.{key}", faults)
            if key.startswith("per_eval"):
                message = "not used: figures by eval; the runs' own rows were used"
                faults.add("info", "not-used", f"{where}.{key}", message)
    return document


def _as_list(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _note_text(note: Any) -> Any:
    """A remark as one text, if it was an object of several."""
    if isinstance(note, dict):
        return ": ".join(str(value) for value in note.values() if isinstance(value, (str, int)))
    return note
