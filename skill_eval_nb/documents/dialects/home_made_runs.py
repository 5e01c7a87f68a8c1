"""The rows of a home-made benchmark as runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from ..base import Faults, names_of, plainly
from ..parsing import read_share
from ..repair import mend, not_used
from ..results import BenchmarkRun, RunResult
from ..run import Timing
from ..sides import UNSTATED
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
    is_base,
    is_number,
    name_rows,
    side_of_rows,
    with_own_verdict,
)

_COUNTS = {
    **dict.fromkeys(("passed_expectations", "passed_count", "passes", "pass"), "passed"),
    "fail": "failed",
    **dict.fromkeys(("total_expectations", "total_count", "assertions"), "total"),
}
"""Other names of counts."""


def read_runs(block: Plain, where: str, faults: Faults) -> tuple[list[Plain], set[str]]:
    """The runs of one benchmark, as plain values of `BenchmarkRun`, and the keys they are below."""
    known = {plainly(key): key for key in reversed(block)}
    for name in (*PLACES, *GROUPS, *LAST):
        key = name if name in block else known.get(plainly(name), name)
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
    return len(figures) < 2 or all(
        any(keys & other for at, other in enumerate(figures) if at != place)
        for place, keys in enumerate(figures)
    )


def _make_runs(rows: list[Row], where: str, faults: Faults) -> list[Plain]:
    """Rows as runs; those that name no eval are an eval each, if there are several."""
    for row, fields in zip(rows, name_rows(row.fields for row in rows), strict=True):
        row.fields = fields
    _give_sides(rows)
    _give_labels(rows)
    _halve_scores_of_ten(rows, faults)
    unnamed = [row.fields for row in rows if not EVAL & row.fields.keys()]
    several = len({fields["row"] for fields in unnamed if "row" in fields}) > 1
    runs = []
    for row in rows:
        if row.note:
            faults.add("info", "inferred-side", row.where, row.note)
        position = row.fields.pop("row", None)
        if position is not None and several and not EVAL & row.fields.keys():
            row.fields["eval_name"] = position
            message = "no eval is named: each such row is a separate eval, named by its position"
            faults.add("warning", "unnamed-eval", row.where, message)
        runs.append(_row_to_run(row.fields, row.where, faults))
    return _turn_to_shares(runs, where, faults)


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
    if isinstance(run.get("run_index"), int) and "run_number" not in run:
        out["run_number"] = out.pop("run_index") + 1
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
    not_used(rest, f"{where}.assertions", faults)
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
            message = f"{stated[:60]!r}: not scored, and in no rate"
            faults.add("info", "not-scored", f"{where}.{key}", message)


def _unfold_scores(run: Plain) -> None:
    """Scores, wherever in the run they stand, as those of rubric dimensions, from 1 to 5."""
    scores: Plain = {}
    for key in (*SCORES, *SCORED):
        found = run.get(key)
        parts = found if isinstance(found, dict) else {key: found} if key in SCORED else {}
        if parts and all(map(is_score, parts.values())):
            group = f"{key}: " if key in SCORED and parts is found else ""
            scores |= {f"{group}{k.removesuffix('_score')}": _score(v) for k, v in parts.items()}
            del run[key]
    quality = run.pop("quality", None)
    own = run.get("rubric_scores", quality)
    if isinstance(own, dict) or scores:
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
            message = "scores of 10, halved to scores of 5"
            faults.add("warning", "converted", f"{row.where}.{key}", message)


def _score(value: Any) -> Any:
    """A score without the `/5` that may follow it."""
    found = re.fullmatch(r"\s*([1-5](?:\.\d+)?)\s*/\s*5\s*", value) if type(value) is str else None
    return float(found[1]) if found else value


def is_score(value: Any) -> bool:
    """Whether it is a score from 1 to 5, or an object with one."""
    value = _score(value.get("score") if isinstance(value, dict) else value)
    return type(value) in (int, float) and 1 <= value <= 5


def _pop_figures(run: Plain) -> Plain:
    """The figures that stand directly in a run."""
    known = set(names_of(RunResult)) - {"errors"}
    known -= {key for key in known if f"expected_{key}" in run}  # then it is what was checked
    return {key: run.pop(key) for key in list(run) if key in known}


def _add_costs(run: Plain, result: Plain, where: str, faults: Faults) -> None:
    """Time, tokens and tool calls from where else they may stand in the run."""
    found = run.get("execution_metrics")
    metrics = found if isinstance(found, dict) else {}
    own = {key: run[key] for key in ("total_tokens", *_PARTS) if key in run}
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


_PARTS = ("input_tokens", "output_tokens")
_OF_TIMING = {*names_of(Timing)} - {"status", "reason", "tool_calls"}


def read_timing(places: Mapping[str, Any], faults: Faults, *, known: bool = False) -> Timing:
    """What a run took, as objects say, by their places; of each figure the first that is told.

    Tokens are the total, else the sum of input and output tokens of one object. If they are
    `known` already, adding them up is not noted.
    """
    timing = Timing()
    for where, part in places.items():
        if not isinstance(part, dict):
            continue
        one, found = mend({key: part[key] for key in part if key in _OF_TIMING}, Timing)
        faults.extend(replace(fault, where=f"{where}{fault.where[1:]}") for fault in found)
        counts = [count for name in _PARTS if (count := getattr(one, name)) is not None]
        if timing.total_tokens is None and one.total_tokens is None and len(counts) == len(_PARTS):
            one.total_tokens = sum(counts)
            if not known:
                message = "tokens are input_tokens + output_tokens"
                faults.add("info", "tokens-added", where, message)
        for name in one.__struct_fields__:
            if getattr(timing, name) is None:
                setattr(timing, name, getattr(one, name))
    return timing


def _has_figure(result: Plain, figure: str) -> bool:
    return any(result.get(name) is not None for name in names_of(RunResult, figure))


def _turn_to_shares(runs: list[Plain], where: str, faults: Faults) -> list[Plain]:
    """Rates as shares of 1, if any of them shows that the file has percentages.

    Scores up to 10 are of a highest that is not told, and no rates.
    """
    for name in ("pass_rate", "score"):
        results = [run["result"] for run in runs if is_number(run["result"].get(name))]
        rates = [result[name] for result in results]
        if name == "score" and 1 < max(rates, default=0) <= 10:
            message = f"not used: scores up to {max(rates):g}; write `max_score` beside each"
            faults.add("warning", "no-rate", where, message)
            for result in results:
                del result[name]
        elif any(2 <= rate <= 100 for rate in rates):
            for result in results:
                if abs(result[name]) <= 100:
                    result[name] /= 100
            message = f"the {name}s are percentages; read as shares of 1".replace("_", " ")
            faults.add("warning", "converted", where, message)
    return runs
