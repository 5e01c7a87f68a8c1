"""The runs that a home-made benchmark tells of, and what its keys name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..base import Faults, names_of, plainly
from ..parsing import Unreadable, is_verdict, read_number
from ..repair import mend, not_in, not_used
from ..results import BenchmarkRun, RunResult, Stats
from ..run import TEXT_NAMES, GradedExpectation, Grading, Timing
from ..sides import UNSTATED, WITH, find_side, is_lettered, is_model, is_side, likeness

_DELTA = re.compile(r"(?<![a-z])delta(?![a-z])", re.IGNORECASE)
_STATISTICS = {
    **{name: field for field in names_of(Stats, own=True) for name in names_of(Stats, field)},
    "overall": "mean",
    "total": "total",
    "median": "median",
}
_METRICS = {
    plainly(name): (field, 1.0)
    for field in ("time_seconds", "tokens", "tool_calls", "cost_usd")
    for name in names_of(RunResult, field)
}
_METRICS |= {"passrate": ("pass_rate", 1.0), "time": ("time_seconds", 1.0)}
_METRICS |= dict.fromkeys(("ms", "durationms"), ("time_seconds", 0.001))
"""What is measured, by the words that are left of a key, and its factor to the shared unit."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What a key names: whose figure, of what, which statistic, and the factor to our unit."""

    configuration: str | None
    metric: str | None
    statistic: str
    factor: float
    rest: str


def configuration_in(key: str) -> str | None:
    """The configuration that a key names, in lower case.

    >>> configuration_in("eval-0-with_skill"), configuration_in("cost_efficiency")
    ('with_skill', None)
    """
    found = find_side(key) or _DELTA.search(key)
    return found[0].lower().replace("-", "_") if found else None


def is_configuration(key: str) -> bool:
    """Whether a key is nothing but the name of a configuration.

    >>> is_configuration("old_skill"), is_configuration("with_skill_prompt")
    (True, False)
    """
    return configuration_in(key) == key.lower().replace("-", "_")


def is_of_side(key: str, value: Any) -> bool:
    """Whether what lies below a key is of one configuration, and of no other.

    A word that often means something else is a side's if it holds runs or what counts as one.

    >>> is_of_side("version_a", {"score": 8}), is_of_side("version_a", "v2.0")
    (True, False)
    >>> is_of_side("skill", {"name": "pdf"}), is_of_side("skill", {"pass_rate": 0.5})
    (False, True)
    """
    if not isinstance(value, dict | list) or not is_side(key):
        return False
    return is_side(key, sure=True) or (
        bool(_COUNTED & value.keys()) or with_own_verdict(value) is not value or _has_rows(value)
        if isinstance(value, dict)
        else bool(_entries(value))
    )


def figure_of(key: str) -> Figure:
    """What a key like `avg_duration_ms` or `tokens_with_skill_mean` names.

    >>> figure_of("time_without_skill_mean")
    Figure(configuration='without_skill', metric='time_seconds', statistic='mean', factor=1.0,
           rest='time')
    >>> figure_of("avg_humor").metric is None, figure_of("avg_humor").rest
    (True, 'humor')
    """
    configuration = configuration_in(key)
    rest = key.lower().replace("-", "_").replace(configuration or "", "", 1)
    words = [word for word in re.split(r"[_\s-]+", rest) if word]
    statistic = "mean"
    if len(words) > 1:
        for place in (0, -1):
            if words[place] in _STATISTICS and not (
                words[place] == "total" and words[1:] == ["tokens"]
            ):
                statistic = _STATISTICS[words.pop(place)]
                break
    left = "".join(words)
    metric, factor = _METRICS.get(left, (None, 1.0))
    return Figure(configuration, metric, statistic, factor, "_".join(words))


Plain = dict[str, Any]
Row = tuple[str, Plain]
"""The JSON path of a row, and what it says together with what stands around it."""

PLACES = (
    "runs",
    "evals",
    "eval_results",
    "results",
    "rows",
    "tests",
    "test_cases",
    "cases",
    "scenarios",
    "per_eval",
    "evaluations",
    "per_case",
    "by_case",
)
"""Where people keep what runs can be made of, best first: later ones repeat earlier ones."""

_LAST = ("details", "detail")
"""Where they keep it too, but in a row its checks."""

GROUPS = ("configs", "configurations", "conditions", "variants", "arms", "sides")
"""Where people keep an object for each configuration, with its rows in one of `PLACES`."""

_EVAL = {*names_of(BenchmarkRun, "eval_id"), *names_of(BenchmarkRun, "eval_name")}
SURE_OF_EVAL = [
    key
    for field in ("eval_id", "eval_name")
    for key in names_of(BenchmarkRun, field)
    if key not in ("id", "name")
]
"""Names of an eval's id or name that nothing else has."""
_SIDE = {*names_of(BenchmarkRun, "configuration")}
_IDENTITY = {*_EVAL, *_SIDE, *names_of(BenchmarkRun, "run_number"), "skill", "skill_name", "model"}
_IDENTITY |= {*names_of(BenchmarkRun, "harness")}
_PASSED = {*names_of(RunResult, "passed"), "assertions", "checks", "expectations"}
"""What `"7/8"` stands under if it counts verdicts."""

_SCORED = ("content", "structure", "content_score", "structure_score")
_SCORES = ("scores", "subscores", "dimension_scores", "rubric", "ratings")
"""Rubric dimensions by their names, and objects that hold some: 1 to 5, or up to 10."""

_COUNTS = {
    "passed_expectations": "passed",
    "passed_count": "passed",
    "passes": "passed",
    "pass": "passed",
    "fail": "failed",
    "total_expectations": "total",
    "total_count": "total",
    "assertions": "total",
}
"""Other names of counts."""

_FLAG = re.compile(r"(?:.+_)?(?:match(?:es|ed)?|ok|correct|valid|passed|pass|met|success)")
"""Names of flags that are good if they are true."""

_VERDICTS = {*names_of(Grading, "expectations"), "grading"} - {"results", "details"}
_TEXTS = ("text", *TEXT_NAMES, "item", "rule", "question")
_PASSES = names_of(GradedExpectation, "passed")
_VERDICT = ("passed", "pass", "overall_pass", "evaluation_pass", "verdict", "outcome", "result")
_COUNTED = {*names_of(RunResult, "pass_rate"), "passed", "total", *_VERDICTS}
_FIGURES = {
    *names_of(RunResult),
    *names_of(BenchmarkRun, "result"),
    *names_of(BenchmarkRun, "rubric_scores"),
    *_VERDICTS,
    *_SCORED,
    *_SCORES,
}
_NAMES = _FIGURES | _IDENTITY
_KNOWN = {plainly(name): name for name in sorted(_NAMES)}
_ERRORS = ("error", "errored", "timeout", "timed_out", "crashed")
"""What the status of a run says where there was nothing to grade."""

_DEEP = 6
"""No rows lie deeper."""


_AGAINST = ("triggered", "violated", "hit")
"""What a verdict on something that must not be says where it is."""


def verdicts_in(run: Plain) -> dict[str, list[Plain]]:
    """The lists of a run that hold verdicts, whatever they are called.

    >>> verdicts_in({"reject": [{"criterion": "It guesses", "triggered": False}]})
    {'reject': [{'text': 'It guesses', 'passed': True}]}
    """
    found: dict[str, list[Plain]] = {}
    for key, value in run.items():
        rows = value if isinstance(value, list) else []
        verdicts = [_verdict(row) for row in rows if isinstance(row, dict)]
        if verdicts and len(verdicts) == len(rows) and all(verdicts):
            found[key] = verdicts
    return found


def _verdict(row: Plain) -> Plain:
    """A row as a verdict; empty if it is none."""
    text = next((row[name] for name in _TEXTS if isinstance(row.get(name), str)), None)
    passed = next((name for name in _PASSES if name in row and is_verdict(row[name])), None)
    against = next((name for name in _AGAINST if type(row.get(name)) is bool), None)
    if text is None or (passed or against) is None or (_VERDICTS | {"summary"}) & row.keys():
        return {}
    rest = {key: value for key, value in row.items() if value != text and key != against}
    if passed is None:
        rest["passed"] = not row[str(against)]
    return {"text": text, **rest}


def with_own_verdict(run: Plain) -> Plain:
    """A run that says whether it passed, and no more, as one with this one verdict.

    Lists of verdicts under any key are its verdicts. Several flags that are good if they are
    true are a verdict each.

    >>> with_own_verdict({"eval_id": 1, "pass": True})
    {'eval_id': 1, 'expectations': [{'text': 'the run passed', 'passed': True}]}
    >>> with_own_verdict({"pass": True, "pass_rate": 0.5})
    {'pass': True, 'pass_rate': 0.5}
    >>> with_own_verdict({"size_match": True, "colour_match": False, "draft": True})["expectations"]
    [{'text': 'size_match', 'passed': True}, {'text': 'colour_match', 'passed': False}]
    """
    lists = verdicts_in(run) if not any(run.get(key) for key in _VERDICTS) else {}
    if lists:
        rest = {key: value for key, value in run.items() if key not in lists}
        return {**rest, "expectations": [verdict for key in lists for verdict in lists[key]]}
    flags = [key for key, value in run.items() if type(value) is bool and _FLAG.fullmatch(key)]
    if len(flags) > 1 and not (_COUNTED | set(_VERDICT)) & run.keys():
        rest = {key: value for key, value in run.items() if key not in flags}
        return {**rest, "expectations": [{"text": key, "passed": run[key]} for key in flags]}
    score = run.get("score")
    fields = {**score, **run} if isinstance(score, dict) else run
    key = next((key for key in _VERDICT if key in fields and is_verdict(fields[key])), None)
    known = {name for name, value in run.items() if not isinstance(value, dict)}
    if key is None or (_COUNTED & known) - {key}:
        return run
    rest = {name: value for name, value in run.items() if name != key}
    return {**rest, "expectations": [{"text": "the run passed", "passed": fields[key]}]}


def runs_of(block: Plain, where: str, faults: Faults) -> tuple[list[Plain], set[str]]:
    """The runs of one benchmark, as plain values of `BenchmarkRun`, and the keys they are below."""
    for place in (*PLACES, *GROUPS, *_LAST):
        found = block.get(place)
        rows = list(_rows(found, f"{where}.{place}", {}, faults, group=place in GROUPS))
        if rows:
            return _in_shares(_runs(rows, faults), f"{where}.{place}", faults), {place}
        entries = _entries(found)
        if entries and place not in ("runs", *GROUPS):
            message = f"{len(entries)} entries without any figure; they are not runs"
            faults.add("info", "no-figures", f"{where}.{place}", message)
    loose = {key: list(_loose(key, value, where, faults)) for key, value in block.items()}
    evals = {key: rows for key, rows in loose.items() if rows and not _of_side(key, block[key])}
    if not _alike(list(evals.values())):
        loose = {key: rows for key, rows in loose.items() if key not in evals}
    rows = [row for of_key in loose.values() for row in of_key]
    return _in_shares(_runs(rows, faults), where, faults), {key for key in loose if loose[key]}


def _alike(evals: list[list[Row]]) -> bool:
    """Whether objects that could be evals have figures in common: metrics have each their own."""
    figures = [{name for _, row in rows for name in row.keys() & _FIGURES} for rows in evals]
    return len(figures) < 2 or all(
        any(keys & other for at, other in enumerate(figures) if at != place)
        for place, keys in enumerate(figures)
    )


def rows_of_several(raw: Any, faults: Faults) -> list[Plain]:
    """The rows of a grading that grades several runs: by configuration, or in lists.

    Results are runs where each names its side, or is measured or graded and no check itself.
    Figures that stand beside the runs are noted.
    """
    whole = {"results": raw} if isinstance(raw, list) else raw
    rows, used = _several_in(whole, faults) if isinstance(whole, dict) else ([], set[str]())
    if rows:
        for key in [key for key in whole if key not in used]:
            not_used(whole[key], f"$.{key}", faults)
        not_in(raw, rows, faults)
    return rows


def _several_in(raw: Plain, faults: Faults) -> tuple[list[Plain], set[str]]:
    """The rows of several runs, and the keys that they lie below."""
    known = _identity_of(raw)
    for place in ("runs", "results"):
        rows = [row for _, row in _rows(raw.get(place), f"$.{place}", known, faults)]
        if rows and (place == "runs" or all(map(_is_run, rows))):
            return rows, {place}
    if any(raw.get(key) for key in names_of(Grading, "expectations")):
        return [], set()
    loose = {key: list(_loose(key, raw[key], "$", faults)) for key in raw}
    found = [row for rows in loose.values() for row in rows]
    rest = {key: value for key, value in raw.items() if not loose[key]}
    if sides := sides_in(rest):
        found += _rows_in(rest, "$", {}, faults)
    return [{**known, **row} for _, row in found], (raw.keys() - rest.keys()) | sides.keys()


def _identity_of(entry: Plain) -> Plain:
    """What names an entry, and is to be known of the runs in it."""
    names = {*_IDENTITY, "row"}
    return {k: value for k, value in entry.items() if k in names and not is_of_side(k, value)}


def _is_run(row: Plain) -> bool:
    """Whether a result names its side, or its eval, or is measured, and is no check with a text."""
    named, numbers = named_run(row), sum(map(is_number, row.values()))
    graded = with_own_verdict(row) is not row or bool(_PASSED & row.keys()) or named is not row
    known = numbers > 1 or any(key in named for key in SURE_OF_EVAL) or bool(verdicts_in(row))
    return bool(_SIDE & row.keys()) or (not row.keys() & {*_TEXTS} and graded and known)


def has_rows(raw: Any) -> bool:
    """Whether an object holds rows that name eval and configuration: runs, whatever its name."""
    raw = {"results": raw} if isinstance(raw, list) else raw
    if not isinstance(raw, dict):
        return False
    loose = {key: list(_loose(key, value, "$", Faults())) for key, value in raw.items()}
    if any(of_list(key, raw[key]) and loose[key] for key in raw):
        return True
    places = [place for place in (*PLACES, *GROUPS) if place in raw]
    found = [_rows(raw[place], "$", {}, Faults(), group=place in GROUPS) for place in places]
    found += map(iter, loose.values())
    return any(
        (
            any(_is_side_named(row.get(name)) for name in _SIDE)
            or {"entry_point", "skill"} <= row.keys()
        )
        and _EVAL & row.keys()
        and (_FIGURES & row.keys() or with_own_verdict(row) is not row)
        for rows in found
        for row in (named_run(row) for _, row in rows)
    )


def is_measurement(raw: Any) -> bool:
    """Whether an object holds graded evals of a skill that it names, with time or model."""
    known = set(raw) if isinstance(raw, dict) else set[str]()
    if "skill_name" not in known or not known & {"timestamp", "model"}:
        return False
    return any(
        _EVAL & row.keys() and _VERDICTS & verdicts_in(row).keys()
        for place in PLACES
        for _, row in _entries(raw.get(place))
    )


def _is_side_named(name: Any) -> bool:
    return is_side(str(name)) or configuration_in(str(name)) is not None


def _loose(key: str, value: Any, where: str, faults: Faults) -> Iterator[Row]:
    """Rows below a key of the whole that is a configuration or an eval itself."""
    if _of_side(key, value):
        yield from _below(key, value, where, {}, faults)
    elif (
        isinstance(value, dict)
        and sides_in(value)
        and key not in (*PLACES, *GROUPS, *_SUMMARIES)
        and not is_of_side(key, value)
        and figure_of(key).metric is None
    ):
        yield from _rows({key: value}, where, {}, faults)


def _of_side(key: str, value: Any) -> bool:
    """Whether below a key lie the rows of one configuration."""
    return of_list(key, value) is not None or (is_of_side(key, value) and _has_rows(value))


def of_list(key: str, value: Any) -> str | None:
    """The configuration that a list of rows is called after: `with_skill_detail`."""
    configuration = configuration_in(key)
    is_list = isinstance(value, list) and _are_rows(value)
    start = configuration is not None and key.lower().startswith(f"{configuration}_")
    return configuration if is_list and start and configuration != "delta" else None


_SUMMARIES = ("run_summary", "summary", "totals", "aggregate", "metadata", "delta")
_OF_ALL = {*_SUMMARIES, "overall", "total", "average", "mean", "comparison"}
"""Keys beside evals that name none."""


def _rows(
    found: Any, where: str, known: Plain, faults: Faults, *, group: bool = False
) -> Iterator[Row]:
    """The rows of a list or mapping; those of a `group` are a configuration each."""
    if where.count(".") + where.count("[") > 2 * _DEEP:
        return
    found = _by_eval(found)
    if isinstance(found, dict) and not group:
        sides = [key for key, value in found.items() if _of_side(key, value)]
        for key in sides:
            yield from _below(key, found[key], where, known, faults)
        found = {key: value for key, value in found.items() if key not in (*sides, *_OF_ALL)}
    entries = _entries(found, group=group)
    if isinstance(found, list) and 0 < len(entries) < len(found):
        odd = f"{len(found) - len(entries)} of its {len(found)} elements"
        faults.add("warning", "wrong-type", where, f"{odd} are not objects: left out")
    for position, (at, entry) in enumerate(entries):
        unnamed = {} if group or _EVAL & {*known, *entry} else {"row": f"row {position + 1}"}
        rows = list(_rows_in(entry, where + at, {**known, **unnamed}, faults))
        if not group or any(place != where + at for place, _ in rows):
            yield from rows


def _by_eval(found: Any) -> Any:
    """Maps of one figure each, from eval to value, as a map from eval to figures.

    >>> _by_eval({"seconds": {"a": 5, "b": 6}, "tokens": {"a": 70}})
    {'a': {'time_seconds': 5, 'tokens': 70}, 'b': {'time_seconds': 6}}
    """
    maps: Plain = found if isinstance(found, dict) else {}
    figures = {key: figure_of(key) for key in maps}
    if not all(figure.metric and isinstance(maps[key], dict) for key, figure in figures.items()):
        return found
    if not all(is_number(value) for values in maps.values() for value in values.values()):
        return found
    evals: dict[str, Plain] = {}
    for key, figure in figures.items():
        for eval_, value in maps[key].items():
            value *= 1 if figure.factor == 1 else figure.factor  # noqa: PLW2901 -- in our unit
            evals.setdefault(eval_, {})[str(figure.metric)] = value
    return evals or found


def _below(key: str, side: Any, where: str, known: Plain, faults: Faults) -> Iterator[Row]:
    """The rows of the configuration of a key, which are a list or lie deeper in an object."""
    known = {**known, "configuration": of_list(key, side) or key}
    walk = _rows_in if isinstance(side, dict) else _rows
    return walk(side, f"{where}.{key}", known, faults)


def _rows_in(entry: Plain, where: str, known: Plain, faults: Faults) -> Iterator[Row]:
    """The rows that an entry holds, else itself once for each configuration it speaks of."""
    if "configuration" in known and _are_evals(entry):
        evals = {key: value for key, value in entry.items() if key not in _OF_ALL}
        yield from _rows(evals, where, known, faults)
        return
    of_side = {key for key, value in entry.items() if _of_side(key, value)}
    inside = [key for key in entry if key in of_side or (key in PLACES and _are_rows(entry[key]))]
    around = {**known, **_identity_of(entry)}
    rows = [
        row
        for key in GROUPS
        for at, side in _entries(entry.get(key), group=True)
        for row in _rows_in(side, f"{where}.{key}{at}", around, faults)
    ]
    for key in inside if not rows else ():
        if key in of_side:
            rows += _below(key, entry[key], where, around, faults)
        else:
            rows += _rows(entry[key], f"{where}.{key}", around, faults)
    yield from rows
    for run in _split_sides({**known, **entry}) if not rows else ():
        if _FIGURES & run.keys() or with_own_verdict(run) is not run:
            yield where, run


def _has_rows(side: Any) -> bool:
    """Whether what lies below a configuration are its rows, or holds a list of them."""
    if not isinstance(side, dict):
        return _are_rows(side)
    return any(_are_rows(side.get(place)) for place in PLACES) or _are_evals(side)


def _are_rows(found: Any) -> bool:
    return bool(_entries(found)) and not are_verdicts(found)


def _are_evals(value: Plain) -> bool:
    """Whether the keys of an object name evals, each with its own figures."""
    evals = {key: entry for key, entry in value.items() if key not in _OF_ALL}
    return (
        bool(evals)
        and evals.keys().isdisjoint(PLACES)
        and all(
            isinstance(entry, dict) and _FIGURES & entry.keys() and figure_of(key).metric is None
            for key, entry in evals.items()
        )
        and not (_FIGURES & value.keys())
    )


def are_verdicts(found: Any) -> bool:
    """Whether entries are the verdicts of one run, and no runs."""
    return all(_verdict(entry) for _, entry in _entries(found))


def _entries(found: Any, *, group: bool = False) -> list[tuple[str, Plain]]:
    """The entries of a list or mapping, with the end of their JSON paths."""
    if isinstance(found, list):
        entries = [
            (f"[{index}]", _rename_known_keys(row))
            for index, row in enumerate(found)
            if isinstance(row, dict)
        ]
        return [(at, _name_configuration(entry)) for at, entry in entries] if group else entries
    if isinstance(found, dict):
        return [
            (f".{key}", {"configuration": key, **entry} if group else _name_by_key(key, entry))
            for key, value in found.items()
            if isinstance(value, dict)
            for entry in (_rename_known_keys(value),)
        ]
    return []


def _rename_known_keys(entry: Plain) -> Plain:
    """The same with the usual names: `caseId` is `case_id`."""
    return {
        key if key in _NAMES else _KNOWN.get(plainly(key), key): value
        for key, value in entry.items()
    }


def named_run(row: Plain) -> Plain:
    """A row with eval and side, where a path, an entry point and a version name them.

    >>> named_run({"run": "A/with_skill", "tokens": 7})
    {'eval_name': 'A', 'configuration': 'with_skill', 'tokens': 7}
    >>> named_run({"entry_point": "cli", "version": "v2"})
    {'eval_name': 'cli', 'configuration': 'v2', 'entry_point': 'cli', 'version': 'v2'}
    """
    eval_, _, side = row["run"].rpartition("/") if isinstance(row.get("run"), str) else ("", "", "")
    if eval_ and _is_side_named(side):
        rest = {key: value for key, value in row.items() if key != "run"}
        return {"eval_name": eval_, "configuration": side, **rest}
    point, version = row.get("entry_point"), row.get("version")
    if not isinstance(point, str):
        return row
    names = {} if _EVAL & row.keys() else {"eval_name": point}
    if isinstance(version, str) and not _SIDE & row.keys():
        names["configuration"] = version
    return {**names, **row}


def apart_by_skill(rows: list[Plain]) -> list[Plain]:
    """The same; if several skills have an eval of one name, each is called after its skill."""
    skills: dict[str, set[str]] = {}
    for row in rows:
        if isinstance(row.get("skill"), str) and "eval_name" in row:
            skills.setdefault(str(row["eval_name"]), set()).add(row["skill"])
    return [
        {**row, "eval_name": f"{row.get('skill')}/{row['eval_name']}"}
        if len(skills.get(str(row.get("eval_name")), ())) > 1
        else row
        for row in rows
    ]


def _name_configuration(entry: Plain) -> Plain:
    """An object for a configuration, whose name is this configuration's."""
    key = next((key for key in (*_SIDE, "name", "label", "id") if key in entry), None)
    rest = {other: value for other, value in entry.items() if other != key}
    return entry if key is None else {"configuration": entry[key], **rest}


def _name_by_key(key: str, entry: Plain) -> Plain:
    """An entry whose key names the eval, or the eval and the configuration."""
    configuration = configuration_in(key)
    if is_model(key):
        return {"model": key, **entry}
    if configuration is None:
        return entry if _EVAL & entry.keys() else {"eval_name": key, **entry}
    start = key.lower().replace("-", "_").rfind(configuration)
    name = key[:start].rstrip("-_ ") or key
    named = {} if _EVAL & entry.keys() else {"eval_name": name}
    return {"configuration": configuration, **named, **entry}


def sides_in(entry: Plain) -> Plain:
    """The blocks of an entry that are a configuration each, or the list of its verdicts.

    Where the entry has verdicts or rates of its own, an unsure word names a part of them.
    """
    alone = not _COUNTED & entry.keys()
    return {
        key: value if isinstance(value, dict) else {"expectations": value}
        for key, value in entry.items()
        if is_of_side(key, value) and (alone or is_side(key, sure=True))
        if isinstance(value, dict) or (_entries(value) and are_verdicts(value))
    }


def _split_sides(entry: Plain) -> Iterator[Plain]:
    """One run for each configuration that an entry speaks of, else the entry itself."""
    identity = _identity_of(entry)
    blocks = sides_in(entry)
    own = _beside_base(entry, blocks)
    if own is not None:
        yield {**own, _INFERRED: "the other side of a baseline is read as with_skill"}
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
        label = _label(side) if is_lettered(name) else None
        yield {**identity, **_rename_known_keys(side), "configuration": name, _LABEL: label}
    if not blocks and not prefixed and own is None:
        yield entry


def _beside_base(entry: Plain, blocks: Plain) -> Plain | None:
    """The run of the skill, where figures stand beside an object for the baseline alone, or null.

    >>> _beside_base({"eval": "a", "passed": 2, "total": 2, "baseline": None}, {})
    {'eval': 'a', 'passed': 2, 'total': 2, 'configuration': 'with_skill'}
    """
    bases = {key for key in entry if isinstance(entry[key], dict | None) and _is_base(key)}
    rest = {key: value for key, value in entry.items() if key not in bases}
    is_own = bases and bases >= blocks.keys() and _FIGURES & rest.keys() and not _SIDE & rest.keys()
    return {**rest, "configuration": WITH} if is_own else None


def _is_base(name: str) -> bool:
    return is_side(name, sure=True) and likeness(name) is not None


_INFERRED = " inferred"
"""Why a row is of its side, if no usual name says so."""

_LABEL = " label"
"""What a lettered side says that it is, until it is known whether all rows say the same."""


def _label(side: Plain) -> str | None:
    names = (side.get(key) for key in ("version", "skill_version", "label", "name"))
    return next((name for name in names if isinstance(name, str) and 0 < len(name) <= 60), None)


def _give_labels(rows: list[Row]) -> None:
    """Call lettered sides what they are called in every row that tells."""
    labels: dict[str, set[str]] = {}
    for _, row in rows:
        if label := row.pop(_LABEL, None):  # then the side's name is a key
            labels.setdefault(row["configuration"], set()).add(label)
    names = {letter: next(iter(options)) for letter, options in labels.items() if len(options) == 1}
    for _, row in rows if len(set(names.values())) == len(labels) else ():
        if isinstance(letter := row.get("configuration"), str):
            row["configuration"] = names.get(letter, letter)


def _give_sides(rows: list[Row]) -> None:
    """Where no row says its side, it stands under a key of all rows that also names a baseline."""
    if any(_SIDE & row.keys() for _, row in rows):
        return
    shared = set.intersection(*(set(row) for _, row in rows)) if rows else set()
    for key in sorted(shared - _NAMES):
        names = [row[key] for _, row in rows if isinstance(row[key], str)]
        several = len(names) == len(rows) and 1 < len(set(names)) <= max(2, len(rows) // 2)
        if several and any(map(_is_base, names)):
            for _, row in rows:
                row |= {"configuration": row.pop(key), _INFERRED: f"`{key}` is read as the side"}
            return


def _runs(rows: list[Row], faults: Faults) -> list[Plain]:
    """Rows as runs; those that name no eval are an eval each, if there are several."""
    wheres = [where for where, _ in rows]
    rows = [*zip(wheres, apart_by_skill([named_run(row) for _, row in rows]), strict=True)]
    _give_sides(rows)
    _give_labels(rows)
    of_ten = _are_of_ten(rows, rows[0][0], faults) if rows else False
    loose = {row["row"] for _, row in rows if "row" in row and not _EVAL & row.keys()}
    runs = []
    for where, row in rows:
        if message := row.pop(_INFERRED, None):
            faults.add("info", "inferred-side", where, message)
        unnamed = row.pop("row", None)
        if unnamed is not None and len(loose) > 1 and not _EVAL & row.keys():
            row["eval_name"] = unnamed
            message = "no eval is named: each such row is a separate eval, named by its position"
            faults.add("warning", "unnamed-eval", where, message)
        runs.append(_row_to_run(row, of_ten, where, faults))
    return runs


def _row_to_run(run: Plain, of_ten: bool, where: str, faults: Faults) -> Plain:
    out = dict(with_own_verdict(run))
    if not any(name in run for name in _SIDE):
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
    for key in _VERDICTS & out.keys():
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
    _read_share(out["result"], where, faults)
    _leave_out_errors(out, where, faults)
    _unfold_scores(out, of_ten, where, faults)
    return out


def _leave_out_errors(run: Plain, where: str, faults: Faults) -> None:
    """Take out the figures of what ended in an error before there was anything to grade."""
    verdicts = any(isinstance(run.get(key), list) and run[key] for key in _VERDICTS)
    if str(run.get("status")).lower() not in _ERRORS or verdicts:
        return
    for key in ("passed", "failed", "total", *names_of(RunResult, "pass_rate")):
        run["result"].pop(key, None)
    message = f"status is {run['status']!r}: its figures are of no run, and enter no rate"
    faults.add("warning", "not-scored", where, message)


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
    """`assertions_passed: "7/8"` or `"N/A"`."""
    for key in _PASSED & run.keys():
        stated = run[key]
        if not isinstance(stated, str):
            continue
        if share := re.match(r"\s*(\d{1,6})\s*/\s*(\d{1,6})(?![\d/.])", stated):
            del run[key]
            run |= {"passed": int(share[1]), "total": int(share[2])}
        elif re.match(r"\s*(?:n\s*/\s*a|none|not scored|-+|—)(?!\w)", stated, re.IGNORECASE):
            del run[key]
            text = stated if len(stated) <= 60 else f"{stated[:57]}…"
            message = f"{text!r}: not scored, and in no rate"
            faults.add("info", "not-scored", f"{where}.{key}", message)


def _unfold_scores(run: Plain, of_ten: bool, where: str, faults: Faults) -> None:
    """Scores, wherever in the run they stand, as those of rubric dimensions, from 1 to 5."""
    scores: Plain = {}
    for key in (*_SCORES, *_SCORED):
        found = run.get(key)
        parts = found if isinstance(found, dict) else {key: found}
        if key in _SCORES and parts is not found:
            continue
        if of_ten and key in _SCORES and all(map(is_number, parts.values())):
            parts = {name: float(score or 0) / 2 for name, score in parts.items()}
            halved = "scores of 10, halved to scores of 5"
            faults.add("warning", "converted", f"{where}.{key}", halved)
        if not all(map(is_score, parts.values())):
            continue
        group = f"{key}: " if key in _SCORED and parts is found else ""
        scores |= {
            f"{group}{name.removesuffix('_score')}": _score(score) for name, score in parts.items()
        }
        del run[key]
    quality = run.pop("quality", None)
    own = run.get("rubric_scores", quality)
    if isinstance(own, dict) or scores:
        run["rubric_scores"] = {**(own if isinstance(own, dict) else {}), **scores}


def _are_of_ten(rows: list[Row], where: str, faults: Faults) -> bool:
    """Whether the scores of a file are of 10: some are above 5, and none is above 10.

    If one of them is below 2, which no scale of 1 to 5 has, none of them is used.
    """
    blocks = [row[key] for _, row in rows for key in _SCORES if isinstance(row.get(key), dict)]
    scores = [score for block in blocks for score in block.values() if is_number(score)]
    if not scores or not 5 < max(scores) <= 10:
        return False
    if min(scores) < 2:
        message = "scores of 10, some of them below 2: they fit no scale of 1 to 5"
        faults.add("warning", "not-scored", where, message)
        for _, row in rows:
            for key in _SCORES:
                row.pop(key, None)
    return min(scores) >= 2


def is_number(value: Any) -> bool:
    """Whether it is a number, and neither true nor false."""
    return type(value) in (int, float)


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
    for tokens in (run, counted, run.get("usage")):
        if isinstance(tokens, dict) and not _has(result, "tokens"):
            if type(tokens.get("total_tokens")) is int:
                result["tokens"] = tokens["total_tokens"]
                continue
            parts = [tokens.get(name) for name in ("input_tokens", "output_tokens")]
            counts = [part for part in parts if type(part) is int]
            if len(counts) == len(parts):
                result["tokens"] = sum(counts)
                faults.add("info", "tokens-added", where, "tokens are input_tokens + output_tokens")


def _has(result: Plain, figure: str) -> bool:
    return any(result.get(name) is not None for name in names_of(RunResult, figure))


def _in_shares(runs: list[Plain], where: str, faults: Faults) -> list[Plain]:
    """Pass rates as shares of 1, if any of them shows that the file has percentages."""
    rates = [run["result"].get("pass_rate") for run in runs]
    numbers = [rate for rate in rates if type(rate) in (int, float)]
    if not any(1 < rate <= 100 for rate in numbers):
        return runs
    for run, rate in zip(runs, rates, strict=True):
        if type(rate) in (int, float):
            run["result"]["pass_rate"] = rate / 100
    faults.add("warning", "converted", where, "the pass rates are percentages; read as shares of 1")
    return runs
