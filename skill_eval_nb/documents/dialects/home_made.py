"""Home-made documents that say clearly what they mean, though no dialect describes them.

They are read only. A benchmark is brought into the shared form step by step: where its
iterations are, where the entries are that runs can be made of, what stands for each
configuration, and which figures are stated. Whatever is not understood is left where it is,
and a benchmark of which nothing is understood is a fault.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import Any

from ..base import Faults, names_of, objects, plain_key
from ..parsing import read_share
from ..repair import find_unused, mapping_by_name, mend, note_missing, note_unused
from ..results import (
    Benchmark,
    BenchmarkMetadata,
    BenchmarkRun,
    ConfigurationSummary,
    RunResult,
    Stats,
    parse_figure_key,
)
from ..run import Grading, read_timing
from ..sides import UNSTATED, is_base, is_plain_side
from ..tools.part import Part
from ..tools.promptfoo import read_components
from .home_made_rows import (
    EVAL,
    FIGURES,
    GROUPS,
    LAST,
    NAMES,
    OF_MANY,
    OF_RUNS,
    PASSED,
    PLACES,
    SCORED,
    SCORES,
    SIDE,
    VERDICTS,
    Plain,
    Row,
    entries_of,
    find_loose_rows,
    find_rows_at,
    is_number,
    is_score,
    name_rows,
    outcomes,
    read_query,
    score_in,
    share_of,
    side_of_rows,
    sides_in,
    verdicts_in,
    with_own_verdict,
    with_share,
    with_shares,
)

SUMMARIES = ("run_summary", *GROUPS, "summary", "totals", "aggregate")
_INSIDE = ("summary", "aggregate", "stats", "metrics", "averages")
"""Where the figures of a configuration lie, if not in its object itself."""
_READ = {*_INSIDE, *PLACES}
_OF_STATS = set(names_of(Stats, own=True))
_STATED = {
    name: field
    for field in names_of(ConfigurationSummary, own=True)
    for name in names_of(ConfigurationSummary, field)
}
"""What the shared type calls the figures of a configuration, best first, and the field of each."""


def _read_summary(
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
    scores = (run.get("rubric_scores", run.get("quality")) for run in runs)
    named = (mapping_by_name(own) if isinstance(own, list) else own for own in scores)
    dimensions = {name for own in named if isinstance(own, dict) for name in own}
    own = {k: v for k, v in block.items() if k in sides or not isinstance(v, dict | list)}
    for at, found in [*((f"{where}.{key}", block.get(key)) for key in SUMMARIES), (where, own)]:
        stated = _map_by_side(found, at, faults) if isinstance(found, list) else found
        if isinstance(stated, dict):
            _add_stated(out, stated, dimensions, at, faults)
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
        message = f"not used: {', '.join(twice)} has entries that differ; write one per side"
        faults.add("warning", "not-used", where, message)
    return {name: entries[0] for name, entries in sides.items() if name not in twice}


def _add_stated(out: Plain, found: Plain, dimensions: set[str], where: str, faults: Faults) -> None:
    loose: Plain = {}
    for key, value in found.items():
        is_figure = isinstance(value, dict) and value.keys() <= _OF_STATS | {"median", "n"}
        if isinstance(value, dict) and not (value and is_figure) and key != "cost_efficiency":
            figures = _read_configuration(value, dimensions, f"{where}.{key}", faults)
            if figures:
                out[key] = {**figures, **out.get(key, {})}
        elif is_plain_side(key):
            message = f"{value!r} is not a figure; write pass_rate and others as numbers"
            faults.add("warning", "not-a-figure", f"{where}.{key}", message)
        else:
            loose[key] = value
    for key, value in loose.items():
        name = parse_figure_key(key).configuration or UNSTATED
        _add_figure(out.setdefault(name, {}), key, value, dimensions, where, faults)


def _read_configuration(value: Plain, dimensions: set[str], where: str, faults: Faults) -> Plain:
    """The figures of one configuration; those that the shared type knows go first."""
    figures: Plain = {}
    inside = (value[key] for key in _INSIDE if isinstance(value.get(key), dict))
    rest = {**value, **next(inside, {})}
    if where.endswith(".delta") and "total_tokens" in rest:  # `tokens` beside it are a part
        rest["tokens"] = rest.pop("total_tokens")
    for name, field in _STATED.items():
        if rest.get(name) is not None:
            figures.setdefault(field, rest.pop(name))
    for key, item in rest.items():
        _add_figure(figures, key, item, dimensions, where, faults)
    return figures


def _add_figure(
    figures: Plain, key: str, value: Any, dimensions: set[str], where: str, faults: Faults
) -> None:
    """Put one figure where it belongs, if it is one, and nothing says it already."""
    figure = parse_figure_key(key)
    if figure.metric is None and figure.rest not in dimensions and key not in _READ:
        note_unused(value, f"{where}.{key}", faults)
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

_METADATA = names_of(BenchmarkMetadata)
_NOTES = names_of(Benchmark, "notes")


UNDERSTOOD = {f"$.{place}" for place in (*PLACES, *GROUPS, "summary", "totals")}
UNDERSTOOD |= {f"$.runs[*].{key}" for key in ("timing", "execution_metrics", "input_tokens")}
"""What only this reader makes use of in a benchmark."""


def rearrange(kind: str, raw: Any, faults: Faults) -> Any:
    """A home-made grading or trigger set in the structure of the shared one; others as they are.

    What is read into it is told, and what is of no use.
    """
    listed = {"results": raw}
    plain = listed if isinstance(raw, list) and verdicts_in(listed) else raw
    if kind == "grading" and isinstance(plain, dict):
        plain = with_share(plain)
        if _has_other_scale(plain):
            scores = {name: {"score": None} for name in plain["rubric_scores"]}
            plain = {**plain, "rubric_scores": scores}
            message = "not used: scores above 5 are on another scale; write them from 1 to 5"
            faults.add("error", "other-scale", "$.rubric_scores", message)
        is_plain = any(plain.get(key) for key in names_of(Grading, "expectations"))
        return _add_dimensions(plain if is_plain else with_own_verdict(_join_parts(plain)))
    if kind == "triggers" and (queries := [read_query(*found) for found in outcomes(raw)]):
        around = raw if isinstance(raw, dict) else {}
        rest = {key: raw[key] for key in around if next(outcomes({key: raw[key]}), None) is None}
        message = "the expected and actual outcome of a query are read as one run of it"
        faults.add("info", "inferred-run", "$", message)
        return {**rest, "queries": queries}
    return raw


def _has_other_scale(raw: Plain) -> bool:
    """Whether one of a grading's scores is above 5, so that the others are of that scale too."""
    found = raw.get("rubric_scores")
    scores = found.values() if isinstance(found, dict) else ()
    known: list[Any] = [one.get("score") if isinstance(one, dict) else one for one in scores]
    return any(is_number(score) and score > 5 for score in known)


def _add_dimensions(raw: Plain) -> Plain:
    """A grading with the scores of 5 that stand beside all verdicts, each as of a dimension."""
    whole = ("total_score", "max_score") if share_of(raw, "total_score") is not None else ()
    plain = {key: value for key, value in raw.items() if key not in whole}
    for key in names_of(Grading, "expectations"):
        rows = [row for row in objects(plain.get(key)) if "name" in row]
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


def read_benchmarks(raw: Any) -> tuple[list[Benchmark], Faults]:
    """The benchmarks that are in a home-made one, and what was found odd in it."""
    raw, faults = with_shares(raw), Faults()
    blocks = _find_iterations(raw)
    found = [_read_benchmark(block, where, faults) for block, where in blocks]
    if isinstance(raw, dict) and blocks[0][1] != "$":
        for key, value in raw.items():
            if not any(where.startswith(f"$.{key}") for _, where in blocks):
                note_unused(value, f"$.{key}", faults)
    note_missing(raw, found, faults)
    if not any(benchmark.runs or benchmark.run_summary for benchmark in found):
        faults.add("error", "no-figures", "$", "no runs or figures that can be understood")
    return found, faults


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
    runs, keys = read_runs(block, where, faults)
    sides = {key for key in block if is_plain_side(key)} | sides_in(block).keys()
    plain = {
        "metadata": {**{key: block[key] for key in _METADATA if key in block}, **given},
        "runs": runs,
        "run_summary": _read_summary(block, sides, runs, where, faults),
        "notes": [_note_text(note) for key in _NOTES for note in _as_list(block.get(key))],
    }
    document, mended = mend(plain, Benchmark)
    for fault in (*mended.remarkable(), *find_unused(document)):
        faults.append(replace(fault, where=where + fault.where.removeprefix("$")))
    read = {*keys, *sides, *SUMMARIES, *_METADATA, *_NOTES, "metadata"}
    for key, value in block.items():
        if key not in read and isinstance(value, dict | list):
            note_unused(value, f"{where}.{key}", faults)
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


# ── its rows as runs ─────────────────────────────────────────────────────────────────────────────

_COUNTS = {
    **dict.fromkeys(("passed_expectations", "passed_count", "passes", "pass"), "passed"),
    "fail": "failed",
    **dict.fromkeys(("total_expectations", "total_count", "assertions"), "total"),
}
"""Other names of counts."""


def read_runs(block: Plain, where: str, faults: Faults) -> tuple[list[Plain], set[str]]:
    """The runs of one benchmark, as plain values of `BenchmarkRun`, and the keys they are below."""
    known = {plain_key(key): key for key in reversed(block)}
    for name in (*PLACES, *GROUPS, *LAST):
        key = name if name in block else known.get(plain_key(name), name)
        rows = list(find_rows_at(key, block.get(key), where, {}, faults))
        if rows:
            return _make_runs(rows, f"{where}.{key}", faults), {key}
        entries = entries_of(block.get(key))
        if entries and name not in ("runs", *GROUPS):
            message = f"{len(entries)} entries without any figure; they are not runs"
            faults.add("info", "no-figures", f"{where}.{key}", message)
    loose = find_loose_rows(block, where, faults)
    evals = {key: rows for key, rows in loose.items() if not side_of_rows(key, block[key])}
    if not _are_alike(list(evals.values())):
        loose = {key: rows for key, rows in loose.items() if key not in evals}
    return _make_runs([*chain(*loose.values())], where, faults), set(loose)


def _are_alike(evals: list[list[Row]]) -> bool:
    """Whether objects that could be evals have figures in common: metrics have each their own."""
    figures = [{name for row in rows for name in row.fields.keys() & FIGURES} for rows in evals]
    times = Counter(chain.from_iterable(figures))
    return len(evals) < 2 or all(any(times[name] > 1 for name in names) for names in figures)


def _make_runs(rows: list[Row], where: str, faults: Faults) -> list[Plain]:
    """Rows as runs; those that name no eval are an eval each, if there are several."""
    for row, fields in zip(rows, name_rows(row.fields for row in rows), strict=True):
        row.fields = fields
    _give_sides(rows)
    _give_labels(rows)
    _halve_scores_of_ten(rows, faults)
    several = len({row.position for row in rows if not EVAL & row.fields.keys()} - {None}) > 1
    runs: list[Plain] = []
    for row in rows:
        if row.note:
            faults.add("info", "inferred-side", row.where, row.note)
        if several and row.position and not EVAL & row.fields.keys():
            row.fields["eval_name"] = f"row {row.position}"
            message = "no eval is named: each such row is a separate eval, named by its position"
            faults.add("warning", "unnamed-eval", row.where, message)
        runs.append(_row_to_run(row.fields, row.where, faults))
    _turn_to_shares(runs, where, faults)
    return runs


def _give_sides(rows: list[Row]) -> None:
    """Where no row says its side, it stands under a key of all rows that also names a baseline."""
    if any(SIDE & row.fields.keys() for row in rows):
        return
    shared = set.intersection(*(set(row.fields) for row in rows)) if rows else set()
    for key in sorted(shared - NAMES):
        names = [row.fields[key] for row in rows if isinstance(row.fields[key], str)]
        several = len(names) == len(rows) and 1 < len(set(names)) <= max(2, len(rows) // 2)
        if several and any(map(is_base, names)):
            for row in rows:
                row.fields["configuration"] = row.fields.pop(key)
                row.note = f"`{key}` is read as the side"
            return


def _give_labels(rows: list[Row]) -> None:
    """Call lettered sides what they are called in every row that tells."""
    labels: dict[str, set[str]] = {}
    for row in rows:
        if row.label:
            labels.setdefault(row.fields["configuration"], set()).add(row.label)
    names = {letter: next(iter(options)) for letter, options in labels.items() if len(options) == 1}
    for row in rows if len(set(names.values())) == len(labels) else ():
        if isinstance(letter := row.fields.get("configuration"), str):
            row.fields["configuration"] = names.get(letter, letter)


def _row_to_run(run: Plain, where: str, faults: Faults) -> Plain:
    out = dict(with_own_verdict(run))
    if not SIDE & run.keys():
        out["configuration"] = UNSTATED
        message = "no configuration is named for these runs; they are `unstated`"
        faults.add("info", "unstated", where, message)
    for key, usual in _COUNTS.items():
        if type(out.get(key)) is int:
            out.setdefault(usual, out.pop(key))
    _unfold_assertions(out, where, faults)
    _unfold_counts(out, where, faults)
    for key in [key for key in out if key in VERDICTS]:
        if isinstance(out[key], list) and key not in names_of(BenchmarkRun, "expectations"):
            out["expectations"] = out.pop(key)
    if type(out.get("passed")) is bool:
        del out["passed"]
        message = "not used: a verdict on the run; its checks or figures were used"
        faults.add("info", "not-used", f"{where}.passed", message)
    result = out.get("result", out.get("summary", out.get("score")))
    out["result"] = dict(result) if isinstance(result, dict) else _pop_figures(out)
    for key in ("summary", "score"):
        if isinstance(out.get(key), dict):
            del out[key]
    _add_costs(run, out["result"], where, faults)
    _read_share_of_runs(out["result"], where, faults)
    _unfold_scores(out)
    return out


def _read_share_of_runs(result: Plain, where: str, faults: Faults) -> None:
    """`pass_rate: "2/3"`: 2 of 3 runs passed, which says nothing of their expectations."""
    stated = result.get("pass_rate")
    share = read_share(stated) if isinstance(stated, str) else None
    if share and share[1]:
        result["pass_rate"] = share[0] / share[1]
        message = f"pass rate {stated!r} counts runs, not expectations: a rate without counts"
        faults.add("info", "rate-over-runs", where, message)


def _unfold_assertions(run: Plain, where: str, faults: Faults) -> None:
    """`assertions: {total, passed, failed, details}`, or an object of verdicts by their texts."""
    found = run.get("assertions")
    if not isinstance(found, dict):
        return
    del run["assertions"]
    counts = {key: found[key] for key in ("passed", "failed", "total") if key in found}
    rest = {key: value for key, value in found.items() if key not in counts}
    details = rest.pop("details", None)
    if isinstance(details, list):
        run["expectations"] = details
    elif rest and all(type(passed) is bool for passed in rest.values()):
        run["expectations"] = [{"text": key, "passed": rest[key]} for key in rest]
        rest = {}
    note_unused(rest, f"{where}.assertions", faults)
    for key, count in counts.items():
        run.setdefault(key, count)


def _unfold_counts(run: Plain, where: str, faults: Faults) -> None:
    """`assertions_passed: "7/8"` or `"N/A"`, or a number of runs that passed beside all runs."""
    of = OF_MANY & run.keys()
    if type(run.get("passed")) is int and len(of) == 1 and of <= {*OF_RUNS}:
        run["pass_rate"] = f"{run.pop('passed')}/{run.pop(of.pop())}"
    for key in [key for key in run if key in PASSED]:
        stated = run[key]
        if not isinstance(stated, str):
            continue
        if share := read_share(stated):
            del run[key]
            run |= {"passed": share[0], "total": share[1]}
        elif re.match(r"\s*(?:n\s*/\s*a|none|not scored|-+|—)(?!\w)", stated, re.IGNORECASE):
            del run[key]
            message = f"{stated[:60]!r}: not scored, so in no rate"
            faults.add("info", "not-scored", f"{where}.{key}", message)


def _unfold_scores(run: Plain) -> None:
    """Scores, wherever in the run they stand, as those of rubric dimensions, from 1 to 5."""
    scores: Plain = {}
    for key in (*SCORES, *SCORED):
        found = run.get(key)
        parts = found if isinstance(found, dict) else {key: found} if key in SCORED else {}
        if parts and all(map(is_score, parts.values())):
            group = f"{key}: " if key in SCORED and parts is found else ""
            scores |= {f"{group}{k.removesuffix('_score')}": score_in(v) for k, v in parts.items()}
            del run[key]
    if scores:
        own = run.pop("rubric_scores", run.pop("quality", None))
        run["rubric_scores"] = {**(own if isinstance(own, dict) else {}), **scores}


def _halve_scores_of_ten(rows: list[Row], faults: Faults) -> None:
    """Halve the scores of a file if they are of 10: some are above 5, and none is above 10.

    If one of them is above 10, or below 2, which no scale of 1 to 5 has, none of them is used.
    """
    found = [(row, key, row.fields.get(key)) for row in rows for key in SCORES]
    blocks = [(row, key, block) for row, key, block in found if isinstance(block, dict)]
    scores = [score for *_, block in blocks for score in block.values() if is_number(score)]
    if max(scores, default=0) <= 5:
        return
    is_of_ten = max(scores) <= 10 and min(scores) >= 2
    if not is_of_ten:
        message = f"not used: scores of {min(scores):g} to {max(scores):g} fit no scale of 1 to 5"
        faults.add("warning", "not-scored", rows[0].where, message)
    for row, key, block in blocks:
        if not is_of_ten:
            row.fields = {name: value for name, value in row.fields.items() if name != key}
        elif all(map(is_number, block.values())):
            row.fields = {**row.fields, key: {name: score / 2 for name, score in block.items()}}
            message = "scores out of 10, halved to scores out of 5"
            faults.add("warning", "converted", f"{row.where}.{key}", message)


def _pop_figures(run: Plain) -> Plain:
    """The figures that stand directly in a run."""
    known = set(names_of(RunResult)) - {"errors"}
    known -= {key for key in known if f"expected_{key}" in run}  # then it is what was checked
    return {key: run.pop(key) for key in list(run) if key in known}


def _add_costs(run: Plain, result: Plain, where: str, faults: Faults) -> None:
    """Time, tokens and tool calls from where else they may stand in the run."""
    found = run.get("execution_metrics")
    metrics = found if isinstance(found, dict) else {}
    own = {key: run[key] for key in ("total_tokens", "input_tokens", "output_tokens") if key in run}
    places = {
        f"{where}.timing": run.get("timing"),
        where: own,
        f"{where}.execution_metrics.token_counts": metrics.get("token_counts"),
        f"{where}.usage": run.get("usage"),
    }
    timing = read_timing(places, faults, known=_has_figure(result, "tokens"))
    costs = {
        "time_seconds": timing.total_duration_seconds,
        "duration_ms": timing.duration_ms,
        "tokens": timing.total_tokens,
        "tool_calls": metrics.get("tool_calls"),
    }
    for name, cost in costs.items():
        same = ("time_seconds", name) if name == "duration_ms" else (name,)
        if cost is not None and not any(_has_figure(result, other) for other in same):
            result[name] = cost


def _has_figure(result: Plain, figure: str) -> bool:
    return any(result.get(name) is not None for name in names_of(RunResult, figure))


def _turn_to_shares(runs: list[Plain], where: str, faults: Faults) -> None:
    """Rates as shares of 1, if any of them shows that the file has percentages.

    Scores up to 10 are of a highest that is not told, and no rates.
    """
    for name in ("pass_rate", "score"):
        results = [run["result"] for run in runs if is_number(run["result"].get(name))]
        rates = [result[name] for result in results]
        if name == "score" and 1 < max(rates, default=0) <= 10:
            message = f"not used: scores up to {max(rates):g}; write `max_score` next to each"
            faults.add("warning", "no-rate", where, message)
            for result in results:
                del result[name]
        elif any(2 <= rate <= 100 for rate in rates):
            for result in results:
                if abs(result[name]) <= 100:
                    result[name] /= 100
            message = f"the {name}s are percentages; read as shares of 1".replace("_", " ")
            faults.add("warning", "converted", where, message)
