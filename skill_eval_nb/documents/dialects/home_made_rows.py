"""Where the rows of a home-made document are, and what its keys name.

A document is walked as a tree. A key names a side, a list of rows, or a group of sides; below a
list of rows, the keys of an object name evals, models or sides. What lies deepest and has figures
or verdicts is a row, together with what names the objects around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from ..base import Faults, names_of, objects, plain_key
from ..evals import TriggerQuery, TriggerSet
from ..parsing import is_verdict
from ..repair import note_missing, note_unused
from ..results import BenchmarkRun, RunResult, parse_figure_key
from ..run import TEXT_NAMES, GradedExpectation, Grading
from ..sides import (
    WITH,
    configuration_in,
    is_base,
    is_lettered,
    is_model,
    is_side,
)

Plain = dict[str, Any]

PLACES = (
    *("runs", "evals", "eval_results", "results", "rows", "tests", "test_cases", "cases"),
    *("scenarios", "per_eval", "evaluations", "per_case", "by_case"),
)
"""Where people keep what runs can be made of, best first: later ones repeat earlier ones."""

LAST = ("details", "detail")
"""Where they keep it too, but in a row its checks."""

GROUPS = ("configs", "configurations", "conditions", "variants", "arms", "sides")
"""Where people keep an object for each configuration, with its rows in one of `PLACES`."""

_SUMMARIES = ("run_summary", "summary", "totals", "aggregate", "metadata", "delta")
_OF_ALL = {*_SUMMARIES, "overall", "total", "average", "mean", "comparison"}
"""Keys beside evals that name none."""

_EVAL = (*names_of(BenchmarkRun, "eval_id"), *names_of(BenchmarkRun, "eval_name"))
EVAL = {*_EVAL}
SURE_OF_EVAL = [name for name in _EVAL if name not in ("id", "name")]
"""Names of an eval's id or name that nothing else has."""
SIDE = {*names_of(BenchmarkRun, "configuration")}
_IDENTITY = {*EVAL, *SIDE, *names_of(BenchmarkRun, "run_number"), "skill", "skill_name", "model"}
_IDENTITY |= {*names_of(BenchmarkRun, "harness")}

SCORED = ("content", "structure", "content_score", "structure_score")
SCORES = ("scores", "subscores", "dimension_scores", "rubric", "ratings")
"""Rubric dimensions by their names, and objects that hold some: 1 to 5, or up to 10."""

VERDICTS = {*names_of(Grading, "expectations"), "grading"} - {"results", "details"}
"""What lists of verdicts are called."""
PASSED = {*names_of(RunResult, "passed"), "assertions", "checks", "expectations"}
"""What `"7/8"` stands under if it counts verdicts."""
_COUNTED = {*names_of(RunResult, "pass_rate"), "passed", "total", *VERDICTS}
OF_RUNS = ("runs", "trials", "attempts", "n")
OF_MANY = {*names_of(RunResult, "failed"), *names_of(RunResult, "total"), "fail", *OF_RUNS}
"""What stands beside a number of passes, and says of how many."""
FIGURES = {*names_of(RunResult), *VERDICTS, *SCORED, *SCORES}
FIGURES |= {*names_of(BenchmarkRun, "result"), *names_of(BenchmarkRun, "rubric_scores")}
NAMES = FIGURES | _IDENTITY
_KNOWN = {plain_key(name): name for name in sorted(NAMES)}

_DEEP = 6
"""No rows lie deeper."""


# ── verdicts ───────────────────────────────────────────────────────────────────────────────────

_TEXTS = ("text", *TEXT_NAMES.split(), "item", "rule", "question")
_PASSES = names_of(GradedExpectation, "passed")
_HOLDS_VERDICTS = VERDICTS | {"summary"}
_AGAINST = ("triggered", "violated", "hit")
"""What a verdict on something that must not be says where it is."""
_VERDICT = ("passed", "pass", "overall_pass", "evaluation_pass", "verdict", "outcome", "result")
"""What says of a run whether it passed."""
_FLAG = re.compile(r"(?:.+_)?(?:match(?:es|ed)?|ok|correct|valid|passed|pass|met|success)")
"""Names of flags that are good if they are true."""


def verdicts_in(run: Plain) -> dict[str, list[Plain]]:
    """The lists of a run that hold verdicts, whatever they are called.

    >>> verdicts_in({"reject": [{"criterion": "It guesses", "triggered": False}]})
    {'reject': [{'text': 'It guesses', 'passed': True}]}
    """
    found: dict[str, list[Plain]] = {}
    for key, value in run.items():
        rows = value if isinstance(value, list) else []
        verdicts = [_read_verdict(row) if isinstance(row, dict) else {} for row in rows]
        if verdicts and all(verdicts):
            found[key] = verdicts
    return found


def _read_verdict(row: Plain) -> Plain:
    """A row as a verdict; empty if it is none."""
    text = next((row[name] for name in _TEXTS if isinstance(row.get(name), str)), None)
    passed = next((name for name in _PASSES if name in row and is_verdict(row[name])), None)
    against = next((name for name in _AGAINST if type(row.get(name)) is bool), None)
    if text is None or (passed or against) is None or _HOLDS_VERDICTS & row.keys():
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
    lists = verdicts_in(run) if not any(run.get(key) for key in VERDICTS) else {}
    flags = [key for key, value in run.items() if type(value) is bool and _FLAG.fullmatch(key)]
    if lists:
        used, verdicts = [*lists], [*chain.from_iterable(lists.values())]
    elif len(flags) > 1 and not (_COUNTED | set(_VERDICT)) & run.keys():
        used, verdicts = flags, [{"text": key, "passed": run[key]} for key in flags]
    else:
        score = run.get("score")
        fields = {**score, **run} if isinstance(score, dict) else run
        key = next((key for key in _VERDICT if key in fields and is_verdict(fields[key])), None)
        known = {name for name, value in run.items() if not isinstance(value, dict)}
        if key is None or ((_COUNTED | OF_MANY) & known) - {key}:  # then it is how many
            return run
        used, verdicts = [key], [{"text": "the run passed", "passed": fields[key]}]
    rest = {key: value for key, value in run.items() if key not in used}
    return {**rest, "expectations": verdicts}


def is_row(fields: Plain) -> bool:
    """Whether an object has figures or verdicts of a run."""
    return bool(FIGURES & fields.keys()) or with_own_verdict(fields) is not fields


# ── scores ───────────────────────────────────────────────────────────────────────────────────────


def score_in(value: Any) -> Any:
    """A score without the `/5` that may follow it."""
    found = re.fullmatch(r"\s*([1-5](?:\.\d+)?)\s*/\s*5\s*", value) if type(value) is str else None
    return float(found[1]) if found else value


def is_score(value: Any) -> bool:
    """Whether it is a score from 1 to 5, or an object with one."""
    value = score_in(value.get("score") if isinstance(value, dict) else value)
    return type(value) in (int, float) and 1 <= value <= 5


def share_of(raw: Any, *names: str) -> float | None:
    """The score of a whole grading, as a share of the highest there is.

    >>> share_of({"total_score": 7.5, "max_score": 10}, "score", "total_score")
    0.75
    """
    found: Plain = raw if isinstance(raw, dict) else {}
    both = [found[key] for key in (*names, "max_score") if is_number(found.get(key))]
    return both[0] / both[1] if len(both) == 2 and 0 <= both[0] <= both[1] != 0 else None


def with_share(raw: Plain) -> Plain:
    """The same, with a `score` beside a `max_score` as the share of 1 that it is."""
    share = share_of(raw, "score")
    if share is None:
        return raw
    return {key: raw[key] for key in raw if key != "max_score"} | {"score": share}


def with_shares(raw: Any, depth: int = 0) -> Any:
    """The same, with the score of each run as a share of 1, where the highest is told.

    >>> with_shares({"results": [{"score": 7, "max_score": 10}]})
    {'results': [{'score': 0.7}]}
    """
    if isinstance(raw, list):
        return [with_shares(value, depth + 1) for value in raw]
    if not isinstance(raw, dict) or depth > _DEEPEST:
        return raw
    return {
        key: value if key in _OF_PARTS else with_shares(value, depth + 1)
        for key, value in with_share(raw).items()
    }


_DEEPEST = 12
"""No score of a run lies deeper."""
_OF_PARTS = {*SCORES, *VERDICTS, "rubric_scores", "quality", "dimensions", "criteria"}
"""What holds scores of parts of a run."""


# ── the walk ───────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Row:
    """A row: its JSON path, and what it says together with what stands around it.

    `note` is why it is of its side, if no usual name says so; `label` is what a side that is
    called by a letter says that it is; `position` is that of the nearest entry around it which is
    of no eval.
    """

    where: str
    fields: Plain
    note: str = ""
    label: str | None = None
    position: int | None = None


def find_rows_at(key: str, value: Any, where: str, known: Plain, faults: Faults) -> Iterator[Row]:
    """The rows below a key, which may name their side; `known` is what stands around them."""
    side = side_of_rows(key, value)
    around = {**known, "configuration": side} if side else known
    if side and isinstance(value, dict):
        return _find_rows_in(value, f"{where}.{key}", around, faults)
    return _find_rows(value, f"{where}.{key}", around, faults, group=key in GROUPS)


def find_loose_rows(block: Plain, where: str, faults: Faults) -> dict[str, list[Row]]:
    """The rows below each key of the whole that is a configuration or an eval itself."""
    keys = [key for key, value in block.items() if side_of_rows(key, value) or _is_eval(key, value)]
    found = {key: list(_find_rows({key: block[key]}, where, {}, faults)) for key in keys}
    return {key: rows for key, rows in found.items() if rows}


def _find_rows(
    found: Any, where: str, known: Plain, faults: Faults, *, group: bool = False
) -> Iterator[Row]:
    """The rows of a list or mapping; in a `group` each is a configuration.

    At the top of a document, what a group has directly in a configuration is its summary.
    """
    if where.count(".") + where.count("[") > 2 * _DEEP:
        return
    found = _turn_to_evals(found)
    if isinstance(found, dict) and not group:
        sides = [key for key, value in found.items() if side_of_rows(key, value)]
        for key in sides:
            yield from find_rows_at(key, found[key], where, known, faults)
        found = {key: value for key, value in found.items() if key not in (*sides, *_OF_ALL)}
    entries = entries_of(found, group=group)
    if isinstance(found, list) and 0 < len(entries) < len(found):
        odd = f"{len(found) - len(entries)} of its {len(found)} elements"
        faults.add("warning", "wrong-type", where, f"{odd} are not objects: left out")
    for position, (at, entry) in enumerate(entries, 1):
        rows = list(_find_rows_in(entry, where + at, known, faults))
        for row in rows if not (group or EVAL & {*known, *entry}) else ():
            row.position = row.position or position
        if not group or known or any(row.where != where + at for row in rows):
            yield from rows


def _find_rows_in(entry: Plain, where: str, known: Plain, faults: Faults) -> Iterator[Row]:
    """The rows that an entry holds, else itself once for each configuration it speaks of."""
    if "configuration" in known and _are_evals(entry):
        yield from _find_rows(entry, where, known, faults)
        return
    around = {**known, **_identity_of(entry)}
    inside = [
        key
        for key, value in entry.items()
        if side_of_rows(key, value) or (key in PLACES and _are_rows(value))
    ]
    for keys in (GROUPS, inside):
        below = (find_rows_at(key, entry.get(key), where, around, faults) for key in keys)
        if rows := list(chain.from_iterable(below)):
            yield from rows
            return
    yield from (row for row in _split_sides({**known, **entry}, where) if is_row(row.fields))


def _turn_to_evals(found: Any) -> Any:
    """Maps of one figure each, from eval to value, as a map from eval to figures.

    >>> _turn_to_evals({"seconds": {"a": 5, "b": 6}, "tokens": {"a": 70}})
    {'a': {'time_seconds': 5.0, 'tokens': 70.0}, 'b': {'time_seconds': 6.0}}
    """
    maps: Plain = found if isinstance(found, dict) else {}
    figures = {key: parse_figure_key(key) for key in maps}
    if not all(
        figures[key].metric and isinstance(values, dict) and all(map(is_number, values.values()))
        for key, values in maps.items()
    ):
        return found
    evals: dict[str, Plain] = {}
    for key, figure in figures.items():
        for eval_, value in maps[key].items():
            evals.setdefault(eval_, {})[str(figure.metric)] = value * figure.factor
    return evals or found


def is_number(value: Any) -> bool:
    """Whether it is a number, and neither true nor false."""
    return type(value) in (int, float)


# ── what a key and what is below it are ────────────────────────────────────────────────────────


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
        else bool(entries_of(value))
    )


def sides_in(entry: Plain) -> Plain:
    """The blocks of an entry that are one configuration each, or its list of verdicts.

    Where the entry has verdicts or rates of its own, an unsure word names a part of them.
    """
    alone = not _COUNTED & entry.keys()
    return {
        key: value if isinstance(value, dict) else {"expectations": value}
        for key, value in entry.items()
        if is_of_side(key, value) and (alone or is_side(key, sure=True))
        if isinstance(value, dict) or (entries_of(value) and are_verdicts(value))
    }


def side_of_rows(key: str, value: Any) -> str | None:
    """The configuration that a key names, if its rows lie below."""
    if side := _side_of_list(key, value):
        return side
    return key if is_of_side(key, value) and _has_rows(value) else None


def _side_of_list(key: str, value: Any) -> str | None:
    """The configuration that a list of rows is called after: `with_skill_detail`."""
    side = configuration_in(key)
    is_first = side not in (None, "delta") and key.lower().startswith(f"{side}_")
    return side if is_first and isinstance(value, list) and _are_rows(value) else None


def _is_eval(key: str, value: Any) -> bool:
    """Whether a key at the top of a document names an eval, with its sides below it."""
    return (
        isinstance(value, dict)
        and bool(sides_in(value))
        and key not in (*PLACES, *GROUPS, *_SUMMARIES)
        and not is_of_side(key, value)
        and parse_figure_key(key).metric is None
    )


def _has_rows(side: Any) -> bool:
    """Whether what lies below a configuration are its rows, or holds a list of them."""
    if not isinstance(side, dict):
        return _are_rows(side)
    return any(_are_rows(side.get(place)) for place in PLACES) or _are_evals(side)


def _are_rows(found: Any) -> bool:
    return bool(entries_of(found)) and not are_verdicts(found)


def are_verdicts(found: Any) -> bool:
    """Whether entries are the verdicts of one run, and no runs."""
    return all(_read_verdict(entry) for _, entry in entries_of(found))


def _are_evals(value: Plain) -> bool:
    """Whether the keys of an object name evals, each with its own figures."""
    evals = {key: entry for key, entry in value.items() if key not in _OF_ALL}
    return (
        bool(evals)
        and evals.keys().isdisjoint(PLACES)
        and all(
            isinstance(row, dict) and FIGURES & row.keys() and parse_figure_key(key).metric is None
            for key, row in evals.items()
        )
        and not (FIGURES & value.keys())
    )


# ── what names a row ───────────────────────────────────────────────────────────────────────────


def entries_of(found: Any, *, group: bool = False) -> list[tuple[str, Plain]]:
    """The entries of a list or mapping, with the end of their JSON paths."""
    is_list = isinstance(found, list)
    items = enumerate(found) if is_list else found.items() if isinstance(found, dict) else ()
    entries: list[tuple[str, Plain]] = []
    for key, value in items:
        if isinstance(value, dict):
            entry = _rename_known_keys(value)
            if group:
                entry = _name_configuration(entry) if is_list else {"configuration": key, **entry}
            elif not is_list:
                entry = _name_by_key(str(key), entry)
            entries.append((f"[{key}]" if is_list else f".{key}", entry))
    return entries


def _rename_known_keys(entry: Plain) -> Plain:
    """The same with the usual names: `caseId` is `case_id`."""
    return {
        key if key in NAMES else _KNOWN.get(plain_key(key), key): value
        for key, value in entry.items()
    }


def _name_configuration(entry: Plain) -> Plain:
    """An object for a configuration, whose name is this configuration's."""
    key = next((key for key in (*SIDE, "name", "label", "id") if key in entry), None)
    rest = {other: value for other, value in entry.items() if other != key}
    return entry if key is None else {"configuration": entry[key], **rest}


def _name_by_key(key: str, entry: Plain) -> Plain:
    """An entry whose key names the eval, or the eval and the configuration."""
    configuration = configuration_in(key)
    if is_model(key):
        return {"model": key, **entry}
    if configuration is None:
        return entry if EVAL & entry.keys() else {"eval_name": key, **entry}
    start = key.lower().replace("-", "_").rfind(configuration)
    name = key[:start].rstrip("-_ ") or key
    named = {} if EVAL & entry.keys() else {"eval_name": name}
    return {"configuration": configuration, **named, **entry}


def _identity_of(entry: Plain) -> Plain:
    """What names an entry, and so the runs in it."""
    return {k: value for k, value in entry.items() if k in _IDENTITY and not is_of_side(k, value)}


def name_run(row: Plain) -> Plain:
    """A row with eval and side, where a path, an entry point and a version name them.

    >>> name_run({"run": "A/with_skill", "tokens": 7})
    {'eval_name': 'A', 'configuration': 'with_skill', 'tokens': 7}
    >>> name_run({"entry_point": "cli", "version": "v2"})
    {'eval_name': 'cli', 'configuration': 'v2', 'entry_point': 'cli', 'version': 'v2'}
    """
    eval_, _, side = row["run"].rpartition("/") if isinstance(row.get("run"), str) else ("", "", "")
    if eval_ and _names_side(side):
        rest = {key: value for key, value in row.items() if key != "run"}
        return {"eval_name": eval_, "configuration": side, **rest}
    point, version = row.get("entry_point"), row.get("version")
    if not isinstance(point, str):
        return row
    names = {} if EVAL & row.keys() else {"eval_name": point}
    if isinstance(version, str) and not SIDE & row.keys():
        names["configuration"] = version
    return {**names, **row}


def name_rows(rows: Iterable[Plain]) -> list[Plain]:
    """Rows with eval and side, as `name_run` finds them.

    If several skills have an eval of one name, each is called after its skill.
    """
    rows = [name_run(row) for row in rows]
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


# ── a run for each side ────────────────────────────────────────────────────────────────────────


def _split_sides(entry: Plain, where: str) -> Iterator[Row]:
    """One row for each configuration that an entry speaks of, else the entry itself."""
    identity = _identity_of(entry)
    blocks = sides_in(entry)
    own = _take_beside_base(entry, blocks)
    if own is not None:
        yield Row(where, own, "the other side of a baseline is read as with_skill")
    prefixed: dict[str, Plain] = {}
    for key, value in entry.items():
        figure = parse_figure_key(key)
        is_of_side = figure.metric and figure.configuration not in (None, "delta")
        if is_of_side and not isinstance(value, dict):
            prefixed.setdefault(str(figure.configuration), {})[figure.rest] = value
    for name, side in (blocks or prefixed).items():
        fields = {**identity, **_rename_known_keys(side), "configuration": name}
        yield Row(where, fields, label=_read_label(side) if is_lettered(name) else None)
    if not blocks and not prefixed and own is None:
        yield Row(where, entry)


def _take_beside_base(entry: Plain, blocks: Plain) -> Plain | None:
    """The run of the skill, where figures stand beside an object for the baseline alone, or null.

    >>> _take_beside_base({"eval": "a", "passed": 2, "total": 2, "baseline": None}, {})
    {'eval': 'a', 'passed': 2, 'total': 2, 'configuration': 'with_skill'}
    """
    bases = {key for key in entry if isinstance(entry[key], dict | None) and is_base(key)}
    rest = {key: value for key, value in entry.items() if key not in bases}
    is_own = bases and bases >= blocks.keys() and FIGURES & rest.keys() and not SIDE & rest.keys()
    return {**rest, "configuration": WITH} if is_own else None


def _read_label(side: Plain) -> str | None:
    names = (side.get(key) for key in ("version", "skill_version", "label", "name"))
    return next((name for name in names if isinstance(name, str) and 0 < len(name) <= 60), None)


# ── documents of several runs ──────────────────────────────────────────────────────────────────


def has_rows(raw: Any) -> bool:
    """Whether a value holds rows that are runs, whatever its name: of evals and sides.

    Where it names its skill, with time or model, graded evals are enough.
    """
    raw = {"results": raw} if isinstance(raw, list) else raw
    if not isinstance(raw, dict):
        return False
    loose = find_loose_rows(raw, "$", Faults())
    if any(_side_of_list(key, raw[key]) for key in loose):
        return True
    is_measured = "skill_name" in raw and not raw.keys().isdisjoint(("timestamp", "model"))
    places = (key for key in (*PLACES, *GROUPS) if key in raw)
    below = (find_rows_at(key, raw[key], "$", {}, Faults()) for key in places)
    return any(
        EVAL & row.keys() and is_row(row) and (_is_sided(row) or (is_measured and _is_graded(row)))
        for row in (name_run(found.fields) for found in chain(*below, *loose.values()))
    )


def _is_sided(row: Plain) -> bool:
    named = any(_names_side(str(row.get(name))) for name in SIDE)
    return named or {"entry_point", "skill"} <= row.keys()


def _is_graded(row: Plain) -> bool:
    return not VERDICTS.isdisjoint(verdicts_in(row))


def _names_side(name: str) -> bool:
    return is_side(name) or configuration_in(name) is not None


def find_rows_of_several(raw: Any, known: Plain, faults: Faults) -> list[Plain]:
    """The rows of a grading that grades several runs: by configuration, or in lists.

    Results are runs where each names its side, or is measured or graded and no check itself.
    What stands around a row, or is `known` of the file, is that of the row, where it says none.
    Figures that stand beside the runs are noted.
    """
    whole = {"results": raw} if isinstance(raw, list) else raw
    rows, used = _find_several(whole, faults) if isinstance(whole, dict) else ([], set[str]())
    if rows:
        for key in (key for key in whole if key not in used):
            note_unused(whole[key], f"$.{key}", faults)
        note_missing(raw, rows, faults)
    return name_rows({**known, **row} for row in rows)


def _find_several(raw: Plain, faults: Faults) -> tuple[list[Plain], set[str]]:
    """The rows of several runs, and the keys that they lie below."""
    known = _identity_of(raw)
    for key in ("runs", "results"):
        rows = [row.fields for row in find_rows_at(key, raw.get(key), "$", known, faults)]
        if rows and (key == "runs" or all(map(_is_run, rows))):
            return rows, {key}
    if any(raw.get(key) for key in names_of(Grading, "expectations")):
        return [], set()
    loose = find_loose_rows(raw, "$", faults)
    rest = {key: value for key, value in raw.items() if key not in loose}
    sides = sides_in(rest)
    found = [*chain(*loose.values()), *(_find_rows_in(rest, "$", {}, faults) if sides else ())]
    return [{**known, **row.fields} for row in found], loose.keys() | sides.keys()


def _is_run(row: Plain) -> bool:
    """Whether a result names its side, or its eval, or is measured, and is no check with a text."""
    named, numbers = name_run(row), sum(map(is_number, row.values()))
    graded = with_own_verdict(row) is not row or bool(PASSED & row.keys()) or named is not row
    known = numbers > 1 or any(key in named for key in SURE_OF_EVAL) or bool(verdicts_in(row))
    return bool(SIDE & row.keys()) or (not row.keys() & {*_TEXTS} and graded and known)


# ── queries, and what they did ───────────────────────────────────────────────────────────────────

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
        rows = objects(raw)
        if any(map(_is_outcome, rows)):
            yield from ((row, about or {}) for row in rows)
        else:
            for row in rows:
                yield from outcomes(row, about, depth - 1)


def speaks_of_triggers(raw: Any) -> bool:
    """Whether rows say what a query did in words that nothing else than a trigger set has."""
    return any(
        {plain_key(key) for key in row} & _OF_TRIGGERS
        or _NO_SKILL & {_find_skill(row, _HAPPENED) or "?"}
        for row, _ in outcomes(raw)
    )


def _is_outcome(row: Plain) -> bool:
    told = [_find_key(row, names) for names in (_EXPECTED, _HAPPENED, _RIGHT)]
    return bool(told[1] and (told[0] or told[2])) and not {plain_key(key) for key in row} & _OF_RUNS


def _find_key(row: Plain, names: Sequence[str]) -> str | None:
    """The key of a row that is one of these names and holds true or false, a text or nothing."""
    keys = {plain_key(key): key for key in row if isinstance(row[key], bool | str | None)}
    return next((keys[plain_key(name)] for name in names if plain_key(name) in keys), None)


def _find_skill(row: Plain, names: Sequence[str]) -> str | None:
    """The skill that a row names under one of these names, in lower case."""
    value = row.get(_find_key(row, names) or "")
    return value.strip().lower() if isinstance(value, str) else None


def read_query(row: Plain, about: Plain | None = None) -> Plain:
    """A query with what was expected of its one run, and what that did, each true or false.

    >>> read_query({"query": "Tidy up", "expected": True, "actual": False})
    {'query': 'Tidy up', 'should_trigger': True, 'triggered': 0, 'runs': 1}
    >>> read_query({"id": 7, "expect": "pdf", "got": "docx", "ok": False})
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
        did = plain_key(expected) == plain_key(happened)
    out["should_trigger"] = should
    out |= {"expected": expected} if isinstance(expected, str) and should else {}
    out |= {"triggered": int(did), "runs": 1} if isinstance(did, bool) else {}
    variant = {"description": row["variant"]} if isinstance(row.get("variant"), str) else {}
    return {**(about or {}), **variant, **out}
