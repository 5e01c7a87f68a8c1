"""What the names of folders tell: runs, iterations, evals, sides, models."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from skill_eval_nb.documents.sides import find_side, is_side

_RUN = re.compile(
    r"(?:run|trial|rep|repeat|repetition|attempt|sample)[-_ ]?(\d{1,9})", re.IGNORECASE
)
WORDED_RUN = re.compile(
    r"(?:run|rerun|retry|trial|rep|repeat|repetition|attempt)(?:[-_. ]?\d.*|[-_. ].+)?"
    r"|(?:sample|try|seed|take|round)[-_. ]?\d.*",
    re.IGNORECASE,
)
"""What people call a run who do not number it: `run-final`, `run-1 (copy)`, `retry`."""
LIKE_A_RUN = re.compile(
    rf"{WORDED_RUN.pattern}|[a-uw-z]?\d{{1,4}}|\d{{4}}-?\d\d-?\d\d.*", re.IGNORECASE
)
"""And names that are a run's only where runs are looked for: `1`, `r1`, `2026-10-01`."""
NUMBER = re.compile(r"(?:[a-z]+[-_. ]?)?(\d{1,9})", re.IGNORECASE)
_ITERATION = re.compile(
    r"(?:iteration|iter|round)(?:[-_ ]?\d.*|[-_ ].+)"
    r"|\d{4}-?\d\d-?\d\d[-T_ ]?\d\d(?:[-:._h]?\d\d){1,2}(?:[-:._]\d+)?Z?",
    re.IGNORECASE,
)
_EVAL = re.compile(
    r"(?:eval|case|test|test[-_]case|tc|task|scenario)"
    r"(?:[-_ ]?(?P<number>\d+)(?:[-_ ]+(?P<rest>.+))?|[-_ ](?P<name>.+))",
    re.IGNORECASE,
)
_HASH = re.compile(r"--[0-9a-f]{8,64}$")
"""What some tools put behind the name of an eval, to tell the versions of its text apart."""

_CONTAINERS = frozenset(
    "runs evals eval cases results outputs benchmarks benchmark gradings grading workspace "
    "evaluations reports tests multi-model multi_model models by-model per-model".split()
)
"""Folders that hold evals, sides, runs or models, and are called after none of them."""


@lru_cache
def run_number(name: str) -> int | None:
    """The number of a run's folder, or None.

    >>> run_number("run-3"), run_number("run_12"), run_number("runs")
    (3, 12, None)
    """
    found = _RUN.fullmatch(name)
    return int(found[1]) if found else None


@lru_cache(maxsize=4096)
def is_iteration(name: str) -> bool:
    """Whether a folder is named like an iteration, or after the time at which it was made.

    >>> [is_iteration(n) for n in ("iteration-5b", "iteration-master", "iterations", "tier2")]
    [True, True, False, False]
    >>> [is_iteration(n) for n in ("2026-07-04T03-53-57-344Z", "2026-03-22-212935", "2026-03-22")]
    [True, True, False]
    """
    return _ITERATION.fullmatch(name) is not None


@lru_cache(maxsize=4096)
def is_eval(name: str) -> bool:
    """Whether a folder is named like an eval.

    >>> [is_eval(name) for name in ("eval-0", "eval-3-long-name", "eval-basic")]
    [True, True, True]
    >>> [is_eval(name) for name in ("evals", "eval-workspace")]
    [False, False]
    """
    return _EVAL.fullmatch(name) is not None and not name.lower().endswith("workspace")


@lru_cache(maxsize=4096)
def is_configuration(name: str) -> bool:
    """Whether a folder is named like a configuration: after a side, with anything beside it.

    `baseline` may be a word of an eval's name, if it does not begin it.

    >>> [is_configuration(n) for n in ("with_skill", "claude_with_skill", "with_skill (iter5)")]
    [True, True, True]
    >>> [is_configuration(n) for n in ("baseline", "eval-1", "audit-baseline", "testing-skill")]
    [True, False, False, False]
    """
    found = find_side(name)
    return is_side(name) or bool(found and (found.start() == 0 or "skill" in found[0].lower()))


def is_container(name: str) -> bool:
    """Whether a folder's name says only that things are kept in it."""
    return name.lower() in _CONTAINERS


@lru_cache(maxsize=4096)
def eval_parts(name: str) -> tuple[str | None, str]:
    """The id and the name that an eval's folder name holds.

    >>> eval_parts("eval-3-long-name"), eval_parts("eval-2"), eval_parts("crud-api")
    (('3', 'long-name'), ('2', 'eval-2'), (None, 'crud-api'))
    >>> eval_parts("crud-api--0c6d8f9f52ad")
    (None, 'crud-api')
    """
    name = _HASH.sub("", name) or name
    found = _EVAL.fullmatch(name)
    if not found or found["number"] is None:
        return None, name
    return str(int(found["number"])), found["rest"] or name


@lru_cache(maxsize=4096)  # the same names come again and again
def slug(text: str) -> str:
    """A name without case, blanks and punctuation, to compare names that people write by hand.

    >>> slug("Email Validation (TDD)") == slug("email-validation-tdd")
    True
    """
    return re.sub(r"[\W_]+", "-", text.lower()).strip("-")


def number_id(id_: str) -> int | str:
    """An eval's id as a number, if that is what it is written like.

    >>> number_id("12"), number_id("012"), number_id("no-log")
    (12, '012', 'no-log')
    """
    return int(id_) if re.fullmatch(r"0|[1-9][0-9]{0,14}", id_) else id_


PLACEHOLDERS = frozenset(("", "-", "—", "unknown", "n/a", "none", "null", "tbd"))


def stated_text(text: str | None) -> str | None:
    """A text that says something: None for placeholders such as ``<model-name>``.

    >>> stated_text("<model-name>"), stated_text("—"), stated_text("pdf")
    (None, None, 'pdf')
    """
    if text is None or text.strip().lower() in PLACEHOLDERS:
        return None
    return None if text.startswith("<") and text.endswith(">") else text


_OF_EVAL = re.compile(r"\b(?:eval|name|id|test|case|task|scenario|title)\b", re.IGNORECASE)


def eval_named(document: Any) -> str | None:
    """The name that a document gives its eval; None for a placeholder.

    What a template leaves in angle brackets speaks of the field. Other words in them are what the
    eval is called, as is its id, whatever it says.

    >>> from types import SimpleNamespace as row
    >>> [eval_named(row(eval_id=7, eval_name=n)) for n in ("<eval-name>", "none", "<script>")]
    [None, None, '<script>']
    >>> eval_named(row(eval_id="none", eval_name="none"))
    'none'
    """
    name = document.eval_name
    if name and (name == document.eval_id or (name[0] == "<" and not _OF_EVAL.search(name))):
        return name
    return stated_text(name)


def skill_named(text: str | None) -> str | None:
    """The name of a skill in what a file gives for it, which may be the path of its SKILL.md.

    >>> skill_named("plugin/skills/tdd/SKILL.md"), skill_named("tdd"), skill_named("<skill>")
    ('tdd', 'tdd', None)
    """
    name = stated_text(text)
    if name is None or "/" not in name:
        return name
    parts = [part for part in name.split("/") if part.lower() not in ("", ".", "skill.md")]
    return parts[-1] if parts else None
