"""The dialects: one module each, and what recognises, reads, checks and describes them all.

A dialect's module holds nothing but facts: the form in which it has each kind of document. What
is written is of one form alone: our own, which `canonical` gives.
"""

from __future__ import annotations

import difflib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from ..base import (
    Document,
    Faults,
    fields_of,
    is_default,
    mask_positions,
    names_of,
    objects,
    origin_of,
    parts_of,
    plain_key,
    struct_fields,
)
from ..evals import Expectation, TriggerQuery, TriggerSet
from ..repair import HOLDING, find_unused, mend, note_missing, walk
from ..run import Grading
from .codingbuddy import CODINGBUDDY
from .form import NEUTRAL, Form
from .home_made import HOME_MADE, UNDERSTOOD, components, read_benchmarks, rearrange
from .home_made_rows import has_rows, is_of_side, outcomes, speaks_of_triggers
from .iterations import ITERATIONS
from .skill_creator import SKILL_CREATOR
from .skill_evaluator import SKILL_EVALUATOR
from .test_cases import TEST_CASES

__all__ = [
    "DIALECTS",
    "HOME_MADE",
    "NEUTRAL",
    "Distance",
    "NoSuchDocument",
    "canonical",
    "check",
    "cut_lists",
    "distances",
    "form_of",
    "json_schema",
    "kind_of",
    "read_as_shared",
    "recognise",
]


def _keys(value: Any) -> set[str]:
    return {plain_key(key) for key in value} if isinstance(value, dict) else set()


_PROMPTS = {"prompt", "task", "taskprompt"}
_CHECKS = {"assertions", "expectations", "expectedoutput", "expectedbehavior", "groundtruth"}
_QUERIES = {plain_key(name) for name in names_of(TriggerQuery, "query")}
_VERDICTS = {"passed", "result", "met", "grade", "verdict", "status", "pass", "outcome"}


def is_evals(raw: Any) -> bool:
    """Evals, cases or scenarios with a prompt each."""
    if is_triggers(raw):
        return False
    rows = [_keys(row) for row in objects(raw, "evals", "test_cases", "cases", "scenarios")]
    return any(
        keys & _PROMPTS or (keys & {"query", "input", "question"} and keys & _CHECKS)
        for keys in rows
    )


def is_eval_metadata(raw: Any) -> bool:
    """An eval by its id or name, with a prompt or with what is checked."""
    keys = _keys(raw)
    named, checked = keys & {"evalid", "evalname", "caseid"}, keys & {"prompt", *_CHECKS}
    return bool(named and checked) and not is_grading(raw)


def is_grading(raw: Any) -> bool:
    """Verdicts, and no prompt that would make it an eval."""
    if not isinstance(raw, dict) or _keys(raw) & _PROMPTS:
        return False
    rows = objects(raw, *names_of(Grading, "expectations"))
    return (
        any(_keys(row) & _VERDICTS for row in rows)
        or {"assertionsmet", "assertionsmissed"} <= _keys(raw)
        or bool(components(raw))
    )


def is_benchmark(raw: Any) -> bool:
    """Runs, or figures by configuration, of several evals."""
    keys = _keys(raw)
    if not isinstance(raw, dict) or keys & _PROMPTS:
        return False
    if "runsummary" in keys or {"skillname", "evalresults"} <= keys or "pertestcase" in keys:
        return True
    if any("pertestcase" in _keys(entry) for entry in objects(raw, "entries")):
        return True
    if any(_keys(part) & {"configurations", "evaluations"} for part in objects(raw, "iterations")):
        return True
    rows = objects(raw, "runs", "evals", "results", "cases")
    return any(
        sum(is_of_side(key, value) for key, value in row.items()) > 1 and "prompt" not in _keys(row)
        for row in rows
    )


def has_rates(raw: Any, depth: int = 4) -> bool:
    """Whether a key at most `depth` levels below names a pass rate."""
    inside = raw.values() if isinstance(raw, dict) else raw if isinstance(raw, list) else ()
    return any("passrate" in key for key in _keys(raw)) or (
        depth > 0 and any(has_rates(item, depth - 1) for item in inside)
    )


_COMPARED = {"rubric", "reasoning", "criteriascores", "outputquality", "expectationresults"}
"""What a winner won by."""
_ANALYSED = {"improvementsuggestions", "winnerstrengths", "loserweaknesses", "comparisonsummary"}
"""Why one side of a comparison won."""


def is_feedback(raw: Any) -> bool:
    """Reviews."""
    return isinstance(raw, dict) and isinstance(raw.get("reviews"), list)


def is_triggers(raw: Any) -> bool:
    """Queries, and whether the skill should be picked up for them, with nothing else to check."""
    rows = [_keys(query) for query in objects(raw, *names_of(TriggerSet, "queries"))]
    if any(keys & {"assertions", "expectations"} for keys in rows):
        return False
    return speaks_of_triggers(raw) or any(
        ("query" in keys and keys & {"shouldtrigger", "expected"} and not keys & _PROMPTS)
        or ("shouldtrigger" in keys and keys & _QUERIES)
        for keys in rows
    )


def has(*all_of: str, any_of: Iterable[str] = (), below: str = "") -> Callable[[Any], bool]:
    """Whether an object has keys by all of these names, and one of those, if there are any.

    With `below` it is an object in one of the lists by these names that has them.
    """
    wanted, options = set(all_of), set(any_of)

    def fits(raw: Any) -> bool:
        rows = objects(raw, *below.split()) if below and isinstance(raw, dict) else [raw]
        found = map(_keys, rows)
        return any(wanted <= keys and bool(not options or keys & options) for keys in found)

    return fits


class NoSuchDocument(ValueError):
    """There is no document of that kind, or the dialect has none."""


_RULES: tuple[tuple[str, str, Callable[[Any], bool], bool], ...] = (
    ("triggers", r"trigger|eval_queries|eval_set", is_triggers, True),
    ("triggers", r"trigger|routing|activation", lambda raw: any(outcomes(raw)), False),
    ("structural", r"structural", has("gatepassed"), True),
    ("judging", r"judging", has("rubricscores", "judging"), True),
    ("comparison", r"comparison", has("winner", any_of=_COMPARED), True),
    ("analysis", r"analysis", has(any_of=_ANALYSED), True),
    ("optimization", r"optimi[sz]ation|best_description", has("bestdescription"), True),
    ("history", r"history", has("version", below="iterations versions"), True),
    ("suggestions", r"feedback_aggregate|suggestion", has("frequency", below="suggestions"), True),
    ("feedback", r"feedback", is_feedback, True),
    ("benchmark", r"benchmark", is_benchmark, True),
    ("benchmark", r"benchmark", has_rates, False),
    ("benchmark", "", has_rows, True),
    ("benchmark", r"timing|usage|tokens|costs?", has("pereval"), False),
    ("evals", r"evals|eval_metadata|test_cases|cases", is_evals, True),
    ("eval_metadata", r"eval_metadata|assertions", is_eval_metadata, True),
    ("grading", r"grading", is_grading, True),
    *(
        (kind, kind, has(any_of=map(plain_key, names_of(NEUTRAL[kind]))), False)
        for kind in ("eval_metadata", "metrics", "timing")
    ),
    ("metrics", r"^metrics$", lambda raw: isinstance(raw, dict), False),
    ("timing", r"^timing$", lambda raw: isinstance(raw, dict), False),
)
"""Kind, what names of its files hold, what its files hold, and whether that alone is enough.
The order decides if several rules fit."""

_OTHER_NAMES = {
    "trigger_eval": "triggers",
    "trigger-eval-set": "triggers",
    "eval_feedback_aggregate": "suggestions",
}
_NAMES = {kind: kind for kind in NEUTRAL.keys() - {"judging", "triggers", "optimization"}}
_NAMES = {**_NAMES, **_OTHER_NAMES}
"""The names that the dialects give to their files, without `.json`."""


def kind_of(name: str, raw: Any) -> str | None:
    """Which kind of document a file is, from its name and, above all, from what is in it.

    Args:
        name: the file's name, or a path that ends in it.
        raw: its plain JSON value.

    Returns:
        one of the keys of `NEUTRAL`, or None for a file that is none of them.

    >>> kind_of("eval_metadata.json", {"test_cases": [{"id": "a", "prompt": "Do"}]})
    'evals'
    >>> kind_of("grading_with_skill.json", {"expectations": [{"text": "It runs", "passed": True}]})
    'grading'
    >>> kind_of("package.json", {"name": "x"}) is None
    True
    """
    stem = re.split(r"[\\/]", name)[-1].lower().removesuffix(".json")
    if not isinstance(raw, (dict, list)):
        return None
    raw = cut_lists(raw)
    by_name = (rule for rule in _RULES if re.search(rule[1], stem.replace("-", "_")))
    by_content = (rule for rule in _RULES if rule[3])
    rules = chain(by_name, by_content)
    return next((kind for kind, _, fits, _ in rules if fits(raw)), None) or _NAMES.get(stem)


DIALECTS: dict[str, dict[str, Form]] = {
    "skill-creator": SKILL_CREATOR,
    "skill-evaluator": SKILL_EVALUATOR,
    "iterations": ITERATIONS,
    "codingbuddy": CODINGBUDDY,
    "test-cases": TEST_CASES,
}
"""The dialects and their documents. Where a file fits several equally well, the first counts."""


def form_of(kind: str, dialect: str) -> Form:
    """How `dialect` writes documents of `kind`.

    Raises:
        NoSuchDocument: there is no such kind or dialect, or the dialect has no such document.
    """
    check_known_name(kind, "kind of document", NEUTRAL)
    check_known_name(dialect, "dialect", DIALECTS)
    form = DIALECTS[dialect].get(kind)
    if form is None:
        having = ", ".join(name for name, forms in DIALECTS.items() if kind in forms)
        raise NoSuchDocument(
            f"`{dialect}` has no document `{kind}`; these dialects have one: {having}"
        )
    return form


def check_known_name(name: str, what: str, known: Iterable[str]) -> None:
    """Raise `NoSuchDocument` for a name that is not known; it offers the nearest, or all."""
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(known)}"
        raise NoSuchDocument(f"there is no {what} `{name}`; {hint}")


def recognise(kind: str, raw: Any, seen: dict[str, Distance] | None = None) -> str:
    """The dialect that a document is nearest to, or `wild`.

    Nearest is that of the smallest distance (see `distances`); the first of several. `wild` are
    home-made documents that no dialect reads without errors or left-overs, but that still say
    clearly what is meant. `seen` are the distances, if they are known.

    >>> recognise("grading", {"expectations": [{"text": "It runs", "passed": True}]})
    'iterations'
    """
    seen = seen or distances(kind, raw)
    nearest = min(seen, key=lambda name: seen[name][:4])
    errors, unknown = seen[nearest].errors > 0, seen[nearest].unknown
    return HOME_MADE if _is_home_made(kind, raw, errors, unknown) else nearest


def _is_home_made(kind: str, raw: Any, errors: bool, unknown: set[str]) -> bool:
    """Whether what reads home-made documents makes more of one than the nearest dialect.

    Args:
        kind: the kind of document.
        raw: its plain JSON value.
        errors: whether the nearest dialect reads it with errors.
        unknown: JSON paths of the keys that the nearest dialect does not know.
    """
    if kind == "benchmark":
        return errors or bool(unknown & UNDERSTOOD)
    is_odd = kind in ("grading", "triggers") and (errors or bool(unknown))
    return is_odd and rearrange(kind, raw, Faults()) != raw


_SAMPLE = 200
"""How many elements of a list show how all of them are written."""


def cut_lists(raw: Any) -> Any:
    """A plain JSON value with the first elements of its long lists alone.

    >>> len(cut_lists({"runs": [{"eval_id": n} for n in range(10_000)]})["runs"])
    200
    """
    if isinstance(raw, dict):
        return {key: cut_lists(value) for key, value in raw.items()}
    return [cut_lists(value) for value in raw[:_SAMPLE]] if isinstance(raw, list) else raw


class Distance(NamedTuple):
    """How far a document is from a dialect: what counts most comes first."""

    foreign: bool
    """Whether the dialect knows none of its lists and objects."""
    errors: int
    odd: int
    """What the dialect does not know, or calls by another name."""
    absent: int
    """Fields of the dialect that are nowhere; of a document without errors alone."""
    unknown: set[str]
    """The JSON paths of what the dialect does not know."""


def distances(kind: str, raw: Any) -> dict[str, Distance]:
    """How far a document is from each dialect that has its kind.

    Raises:
        NoSuchDocument: there is no such kind.
    """
    check_known_name(kind, "kind of document", NEUTRAL)
    raw = cut_lists(raw)
    wires = {name: forms[kind].wire for name, forms in DIALECTS.items() if kind in forms}
    return {name: _measure_distance(raw, wire) for name, wire in wires.items()}


def _measure_distance(raw: Any, wire: type[Document]) -> Distance:
    document, faults = mend(raw, wire)
    errors = sum(fault.severity == "error" for fault in faults)
    marks: dict[str, set[str]] = defaultdict(set)
    for mark, where, _ in walk(document):
        marks[mark].add(mask_positions(where))
    absent, unknown = marks["absent"] - marks["known"], marks["unknown"]
    odd = sum(fault.severity != "error" for fault in faults.collapsed()) + len(unknown)
    return Distance(_is_foreign(document), errors, odd, 0 if errors else len(absent), unknown)


def _is_foreign(document: Document) -> bool:
    """Whether a list or object is missing, and all that are there are no fields of the type."""
    origin = origin_of(document)
    wanted = {
        field.name
        for field in fields_of(type(document)).values()
        if field.field.required and isinstance(field.kind, HOLDING)
    }
    if origin is None or not isinstance(origin.raw, dict) or wanted <= set(origin.keys.values()):
        return False
    inside = [key for key, value in origin.raw.items() if value and isinstance(value, list | dict)]
    return bool(inside) and not origin.keys.keys() & set(inside)


def read_as_shared(kind: str, raw: Any) -> tuple[Any, Faults]:
    """Read a plain JSON value as the shared document of its kind, whatever dialect it is of.

    A benchmark is a list of documents, one an iteration. A name by which a field is known is
    no fault; what was repaired, and what holds figures that no document has, is.
    """
    documents, faults = _read_any_dialect(kind, raw)
    return documents if kind == "benchmark" else documents[0], faults.remarkable()


def _read_any_dialect(kind: str, raw: Any) -> tuple[list[Any], Faults]:
    for form in (forms[kind] for forms in DIALECTS.values() if kind in forms):
        if form.rearrange is not None and form.fits(raw):
            wire, faults = mend(raw, form.wire)
            if not any(fault.severity == "error" for fault in faults):
                documents, found = _read_shared(kind, form.rearrange(canonical(wire)))
                faults += (fault for fault in found if fault.severity == "warning")
                note_missing(raw, documents, faults)
                faults.extend(find_unused(wire))
                return documents, faults
    return _read_shared(kind, raw)


def _read_shared(kind: str, raw: Any) -> tuple[list[Any], Faults]:
    document, faults = mend(raw, NEUTRAL[kind])
    errors = any(fault.severity == "error" for fault in faults)
    unknown = {mask_positions(where) for mark, where, _ in walk(document) if mark == "unknown"}
    is_home_made = _is_home_made(kind, raw, errors, unknown)
    if is_home_made and kind == "benchmark":
        return read_benchmarks(raw)
    if is_home_made:
        document, found = mend(rearrange(kind, raw, faults := Faults()), NEUTRAL[kind])
        faults += found
    faults += find_unused(document)
    if is_home_made and kind == "triggers":
        note_missing(raw, document, faults)
    return [document], faults


def check(kind: str, raw: Any, dialect: str | None = None) -> Faults:
    """Everything in which a document differs from what its dialect prescribes.

    >>> [fault.message for fault in check("timing", {"total_tokens": -1}, "codingbuddy")][:2]
    ['expected a whole number of at least 0, found -1', '`duration_ms` is missing']
    """
    dialect = dialect or recognise(kind, raw)
    if dialect == HOME_MADE:
        faults = read_as_shared(kind, raw)[1]
        faults.add("error", "no-dialect", "$", f"this is not the `{kind}` document of any dialect")
        return faults
    return mend(raw, form_of(kind, dialect).wire)[1]


def canonical(value: Any) -> Any:
    """A document under our own names of its fields, with what nobody knows kept beside them."""
    if isinstance(value, list):
        return [canonical(item) for item in value]
    if isinstance(value, dict):
        return {key: canonical(item) for key, item in value.items()}
    if not isinstance(value, Document):
        return value
    out = {
        field.encode_name: canonical(item)
        for field in struct_fields(type(value))
        if not is_default(item := getattr(value, field.name), field)
    }
    origin = origin_of(value)
    if origin is not None and isinstance(origin.raw, dict):
        unknown = origin.raw.keys() - origin.keys - out.keys()
        out |= {key: item for key, item in origin.raw.items() if key in unknown}
    return out["text"] if isinstance(value, Expectation) and out.keys() == {"text"} else out


def json_schema(kind: str, dialect: str | None = None) -> dict[str, Any]:
    """The JSON Schema of a document: in the shared form, or as one dialect has it.

    Args:
        kind: one of `NEUTRAL`; the name of its file will do, too.
        dialect: one of the dialects; without it, everything that we know is described.

    Raises:
        NoSuchDocument: there is no such kind or dialect, or the dialect has no such document.

    >>> json_schema("triggers", "codingbuddy")["type"]
    'array'
    >>> json_schema("gradin")
    Traceback (most recent call last):
    skill_eval_nb...NoSuchDocument: there is no document `gradin`; did you mean `grading`?
    """
    name = kind.removesuffix(".json")
    name = _OTHER_NAMES.get(name, name)
    check_known_name(name, "document", NEUTRAL)
    document = NEUTRAL[name] if dialect is None else form_of(name, dialect).wire
    schema = json.loads(json.dumps(msgspec.json.schema(document)), object_hook=_allow_more)
    for part in parts_of(document):
        if part.plain is not None:
            schema["$defs"][part.__name__] = _allow_bare(schema["$defs"][part.__name__], part.plain)
    top = schema["$defs"].pop(document.__name__)
    title = f"{name}.json" if dialect is None else f"{name}.json ({dialect})"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **{key: value for key, value in top.items() if key != "title"},
        **({"$defs": schema["$defs"]} if schema["$defs"] else {}),
    }


def _allow_bare(schema: dict[str, Any], plain: str) -> dict[str, Any]:
    """The schema of an object, or of the bare value that may stand for it."""
    bare = schema["properties"][plain]
    return bare if list(schema["properties"]) == [plain] else {"anyOf": [schema, bare]}


def _allow_more(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object without the ban on further fields: every dialect allows them."""
    return {key: value for key, value in schema.items() if key != "additionalProperties" or value}
