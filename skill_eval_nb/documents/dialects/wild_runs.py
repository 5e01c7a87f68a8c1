"""The runs in a home-made benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..benchmark import BenchmarkRun, RunResult
from ..declared import names_of
from ..faults import Faults
from ..scalars import Unreadable, read_number
from ..timing import Timing
from ..tolerant import mend
from .wild_names import configuration_in, figure_of, is_configuration

Plain = dict[str, Any]

_PLACES = (
    "runs",
    "evals",
    "eval_results",
    "results",
    "tests",
    "cases",
    "per_eval",
    "evaluations",
    "per_case",
    "by_case",
)
"""Where people keep what runs can be made of, best first: later ones repeat earlier ones."""

_IDENTITY = {
    *names_of(BenchmarkRun, "eval_id"),
    *names_of(BenchmarkRun, "eval_name"),
    *names_of(BenchmarkRun, "run_number"),
    "skill",
    "model",
}
_FIGURES = {
    *names_of(RunResult),
    *names_of(BenchmarkRun, "result"),
    *names_of(BenchmarkRun, "expectations"),
    *names_of(BenchmarkRun, "rubric_scores"),
}


def runs_of(block: Plain, where: str, faults: Faults) -> list[Plain]:
    """The runs of one benchmark, as plain values of `BenchmarkRun`."""
    for place in _PLACES:
        entries = _entries(block.get(place))
        runs = [
            _run(run, f"{where}.{place}{at}", faults)
            for at, entry in entries
            for run in _sides(entry)
            if _FIGURES & run.keys()
        ]
        if runs:
            return _in_shares(runs, f"{where}.{place}", faults)
        if entries and place != "runs":
            message = f"{len(entries)} entries without any figure; they are not runs"
            faults.add("info", "no-figures", f"{where}.{place}", message)
    return []


def _entries(found: Any) -> list[tuple[str, Plain]]:
    """The entries of a list or mapping, with the end of their JSON paths."""
    if isinstance(found, list):
        return [(f"[{index}]", one) for index, one in enumerate(found) if isinstance(one, dict)]
    if isinstance(found, dict):
        return [
            (f".{key}", _keyed(key, one)) for key, one in found.items() if isinstance(one, dict)
        ]
    return []


def _keyed(key: str, entry: Plain) -> Plain:
    """An entry whose key names the eval, or the eval and the configuration."""
    configuration = configuration_in(key)
    if configuration is None:
        return entry if _IDENTITY & entry.keys() else {"eval_name": key, **entry}
    start = key.lower().replace("-", "_").rfind(configuration)
    name = key[:start].rstrip("-_ ") or key
    named = {} if _IDENTITY & entry.keys() else {"eval_name": name}
    return {"configuration": configuration, **named, **entry}


def _sides(entry: Plain) -> Iterator[Plain]:
    """One run for each configuration that an entry speaks of, else the entry itself."""
    identity = {key: value for key, value in entry.items() if key in _IDENTITY}
    blocks = {
        key: value for key, value in entry.items() if is_configuration(key) and key != "delta"
    }
    blocks = {key: value for key, value in blocks.items() if isinstance(value, dict)}
    prefixed: dict[str, Plain] = {}
    for key, value in entry.items():
        figure = figure_of(key)
        if (
            figure.configuration not in (None, "delta")
            and figure.metric
            and not isinstance(value, dict)
        ):
            prefixed.setdefault(str(figure.configuration), {})[figure.rest] = value
    for name, side in (blocks or prefixed).items():
        yield {**identity, **side, "configuration": name}
    if not blocks and not prefixed:
        yield entry


def _run(run: Plain, where: str, faults: Faults) -> Plain:
    out = dict(run)
    if not any(name in run for name in names_of(BenchmarkRun, "configuration")):
        out["configuration"] = "unstated"
        message = "no configuration is named for these runs; they are `unstated`"
        faults.add("info", "unstated", where, message)
    if isinstance(run.get("run_index"), int) and "run_number" not in run:
        out["run_number"] = out.pop("run_index") + 1
    _unfold_counts(out)
    result = out.get("result", out.get("summary"))
    out["result"] = dict(result) if isinstance(result, dict) else _figures(out)
    out.pop("summary", None)
    _add_costs(run, out["result"], where, faults)
    _read_share(out["result"], where, faults)
    if not isinstance(out.get("rubric_scores", out.get("quality")), dict):
        out.pop("quality", None)
    elif "quality" in out:
        out["rubric_scores"] = out.pop("quality")
    return out


def _read_share(result: Plain, where: str, faults: Faults) -> None:
    """`pass_rate: "2/3"`: so many of the runs passed; of their expectations it says nothing."""
    stated = result.get("pass_rate")
    if isinstance(stated, str) and "/" in stated:
        try:
            result["pass_rate"] = read_number(stated, "rate")
        except Unreadable:
            return
        message = f"pass rate {stated!r} counts runs, not expectations: a rate without counts"
        faults.add("info", "rate-over-runs", where, message)


def _unfold_counts(run: Plain) -> None:
    """`assertions: {total, passed, failed, details}`: counts and verdicts in one object."""
    found = run.get("assertions")
    if isinstance(found, dict):
        del run["assertions"]
        details = found.get("details")
        if isinstance(details, list):
            run["expectations"] = details
        for key in ("passed", "failed", "total"):
            if key in found:
                run.setdefault(key, found[key])


def _figures(run: Plain) -> Plain:
    """The figures that stand directly in a run."""
    known = set(names_of(RunResult)) - {"errors"}
    return {key: run.pop(key) for key in list(run) if key in known}


def _add_costs(run: Plain, result: Plain, where: str, faults: Faults) -> None:
    """Time and tokens from where else they may stand in the run."""
    timing = run.get("timing")
    if isinstance(timing, dict):
        found, _ = mend(timing, Timing)
        if found.total_duration_seconds is not None and not _has(result, "time_seconds"):
            result["time_seconds"] = found.total_duration_seconds
        if found.total_tokens is not None and not _has(result, "tokens"):
            result["tokens"] = found.total_tokens
    metrics = run.get("execution_metrics")
    counted = metrics.get("token_counts") if isinstance(metrics, dict) else None
    if isinstance(metrics, dict) and "tool_calls" in metrics and not _has(result, "tool_calls"):
        result["tool_calls"] = metrics["tool_calls"]
    for tokens in (run, counted):
        if isinstance(tokens, dict) and not _has(result, "tokens"):
            parts = [tokens.get(name) for name in ("input_tokens", "output_tokens")]
            counts = [part for part in parts if type(part) is int]
            if len(counts) == len(parts):
                result["tokens"] = sum(counts)
                faults.add("info", "tokens-added", where, "tokens are input_tokens + output_tokens")


def _has(result: Plain, figure: str) -> bool:
    return any(result.get(name) is not None for name in names_of(RunResult, figure))


def _in_shares(runs: list[Plain], where: str, faults: Faults) -> list[Plain]:
    """Pass rates as shares of 1, where any of them shows that the file has percentages."""
    rates = [run["result"].get("pass_rate") for run in runs]
    numbers = [rate for rate in rates if type(rate) in (int, float)]
    if not any(1 < rate <= 100 for rate in numbers):
        return runs
    for run, rate in zip(runs, rates, strict=True):
        if type(rate) in (int, float):
            run["result"]["pass_rate"] = rate / 100
    faults.add("info", "converted", where, "the pass rates are percentages; read as shares of 1")
    return runs
