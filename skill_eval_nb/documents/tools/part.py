"""An object within a tool's file, read field by field; no text that it gives holds a key."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from ..base import MOST, Faults, names_of
from ..evals import EvalMetadata, TriggerSet
from ..parsing import Unreadable, read_number
from ..results import BenchmarkRun, Comparison, ConfigurationSummary, Stated
from ..run import GradedExpectation, Grading, RunRecord
from ..sides import WITH, WITHOUT, is_side, model_and_side, side_in

T = TypeVar("T")


class Run(RunRecord):
    """A run in a tool's file: what names it, and the documents that would lie in its folder.

    `rate` is its pass rate if that is not a count of verdicts, `score` the tool's own weighted
    figure; `incomplete` says why the tool itself does not take it for a result. Where `path` is
    not given it was read from the tool's file. Without a `run_number` it is the next of its eval
    and configuration.

    What holds for the runs of all tools is worked out over all that lie together:

    - `asked` is what was asked, by names, under "" what it is called: without an `eval_id` it is
      the eval, and with one that is a running number where another file has other numbers.
    - `whole_model` is the model's name with its provider's, where `model` is shorter or not given.
    - Runs of one eval, side and model that have the same `run_id` are copies. Where `cached` is
      given, `run_id` is the answer, and only what was taken from a cache is a copy.
    - `error` is why it ended early, "" if nothing says why; with a grading its result counts
      all the same.
    - `scores` are further scores, each a value and why: checks if all of a name are verdicts,
      dimensions if they have one scale, with their `weights` in a rubric's mean; `checked`
      where the former are among the checks already. `scorer` is what gave the rate.
    """

    asked: dict[str, Any] = {}
    prompt: str | None = None
    whole_model: str | None = None
    run_id: str | None = None
    cached: bool | None = None
    error: str | None = None
    scores: dict[str, tuple[Any, str | None]] = {}
    weights: dict[str, float] = {}
    checked: bool = False
    scorer: str | None = None
    took_place: bool = True


class Aggregate(ConfigurationSummary):
    """What a tool states of a configuration (or of `delta`), its own weighted figure included.

    `others` are figures that no run has, by their names.
    """

    score: Stated = None
    others: dict[str, float] = {}


@dataclass
class Results:
    """What a file of a tool tells.

    Attributes:
        runs: the runs; a configuration that nothing states is `unstated`.
        skill: the skill, where the file names it.
        key: what no other file has: the same key is a copy, and counted once.
        iteration: the iteration, where the file names one.
        below: the folders between the workspace and the file, where the file says so.
        aggregates: configuration, or `delta`, to what the tool itself states of it.
        evals: what the evals are, joined to runs by their ids.
        comparisons: blind comparisons.
        triggers: queries, with what was expected and what happened.
        faults: what was repaired, decided or left out, each with what to do.
    """

    runs: list[Run] = field(default_factory=list)
    skill: str | None = None
    key: str | None = None
    iteration: str | None = None
    below: str | None = None
    aggregates: dict[str, Aggregate] = field(default_factory=dict)
    evals: list[EvalMetadata] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    triggers: list[TriggerSet] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)


class Tool(Protocol):
    """A reader of another tool's results; a module with these two functions is one.

    `skill_eval_nb.tools` is the entry point group under which others register theirs::

        [project.entry-points."skill_eval_nb.tools"]
        our-harness = "our_harness.skill_eval"

    and `our_harness/skill_eval.py` may be no more than::

        from skill_eval_nb.documents.tools import Part, Results, Run, checks

        def recognise(raw):
            return isinstance(raw, dict) and "our_harness" in raw

        def read(raw, path):
            whole = Part(raw)
            results = Results(skill=whole.text("skill"), faults=whole.faults)
            for row in whole.parts("trials"):
                results.runs.append(Run(
                    configuration="with_skill" if row.flag("skill_on") else "without_skill",
                    eval_id=row.text("task"),
                    grading=checks((c.text("name"), c.flag("ok")) for c in row.parts("checks")),
                ))
            return results
    """

    def recognise(self, raw: Any) -> bool:
        """Whether a file is this tool's, from what is in it.

        Args:
            raw: what a `.json` file holds; of a `.jsonl` file a list with its first line.
        """
        ...

    def read(self, raw: Any, path: str) -> Results:
        """What the file tells; `raw` has all lines of a `.jsonl` file."""
        ...


def side_of(path: str, levels: int = 3) -> str | None:
    """The side that the name of a file, or of the nearest folder above it, speaks of."""
    names = path.replace("\\", "/").split("/")[-levels - 1 :]
    names[-1] = names[-1].rsplit(".", 1)[0]
    return next((side for name in reversed(names) if (side := side_in(name))), None)


def checks(verdicts: Iterable[tuple[str | None, bool | None]]) -> Grading:
    """A grading of texts and verdicts; the verdict is None if a check was not scored."""
    return Grading(
        expectations=[GradedExpectation(text=text or "unnamed", passed=ok) for text, ok in verdicts]
    )


def total_of(stated: int | None, *parts: int | None) -> int | None:
    """A total as it is stated, else the sum of its parts, if all of them are known."""
    known = [part for part in parts if part is not None]
    return sum(known) if stated is None and known and len(known) == len(parts) else stated


def seconds_between(start: str | None, end: str | None) -> float | None:
    """Seconds from one ISO 8601 time to another; None if either is none, or they are turned."""
    try:
        passed = datetime.fromisoformat(end or "") - datetime.fromisoformat(start or "")
    except (ValueError, TypeError):
        return None
    return passed.total_seconds() if passed.total_seconds() >= 0 else None


def mean(
    values: Iterable[float | None], weights: Iterable[float | None] | None = None
) -> float | None:
    """The mean of the values that are known, weighted where weights are given."""
    known = [
        (value, 1.0 if weight is None else weight)
        for value, weight in zip(values, weights or iter(lambda: None, 0), strict=False)
        if value is not None
    ]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else None


HIDDEN = "[hidden]"
"""What stands in place of a key or a password."""
_KEY = re.compile(
    r"(?<![^\W_])(?:sk|pk|rk|xox[abprs])-[\w-]{10,}|gh[opsu]_\w{16,}|github_pat_\w{16,}|hf_\w{16,}|AIza[\w-]{24,}"
    r"|AKIA[0-9A-Z]{12,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+|(?<=Bearer )[\w.~+/=-]{8,}"
    r"|(?<=//)[^/?#\s@]{1,99}@"
    r"|(?<![^\W_])(?:api[-_]?key|secret|password|auth[-_]?token|access[-_]?token)"
    r"[\"']?\s{0,3}[=:]\s{0,3}[\"']?[^\s\"',;]{6,}",
    re.IGNORECASE,
)
_MARKS = ("sk-", "pk-", "rk-", "xox", "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "hf_", "aiza")
_MARKS += ("akia", "eyj", "bearer ", "//", "api", "token", "secret", "password")
"""What a match of `_KEY` has or follows: most texts have nothing of it."""
_SETTINGS = re.compile(r"env|kwargs|headers|auth|cookie|key|password|secret|token", re.IGNORECASE)
_LEAST = 8
"""A secret shorter than this is not looked for: it would be found in words."""


def secrets_in(raw: Any, *, inside: bool = False, depth: int = 0) -> Iterator[str]:
    """The texts below keys that speak of keys, environments and arguments.

    >>> list(secrets_in({"agent": {"name": "claude-code", "kwargs": {"api_key": "abcdefgh"}}}))
    ['abcdefgh']
    """
    if depth > 12:
        return
    if isinstance(raw, dict):
        for key, value in raw.items():
            named = inside or bool(_SETTINGS.search(str(key)))
            yield from secrets_in(value, inside=named, depth=depth + 1)
    elif isinstance(raw, list):
        for value in raw:
            yield from secrets_in(value, inside=inside, depth=depth + 1)
    elif inside and isinstance(raw, str) and len(raw) >= _LEAST:
        yield raw


def without_keys(text: str, secrets: Iterable[str] = ()) -> str:
    """A text in which no key can be read.

    >>> without_keys("401 for sk-ant-REDACTED, api_key=hunter2hunter2")
    '401 for [hidden], [hidden]'
    """
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return _mask_keys(text) if len(text) > _NAME else _name_masked(text)


_NAME = 40
"""Texts up to so long are names, mostly, and come again in every run."""


def _mask_keys(text: str) -> str:
    plain = text.lower()
    return _KEY.sub(HIDDEN, text) if any(mark in plain for mark in _MARKS) else text


_name_masked = lru_cache(4096)(_mask_keys)


def _clean(raw: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(raw, str):
        return without_keys(raw, secrets)
    if isinstance(raw, list):
        return [_clean(value, secrets) for value in raw]
    if not isinstance(raw, dict):
        return raw
    return {without_keys(str(key), secrets): _clean(value, secrets) for key, value in raw.items()}


_SIDES = names_of(BenchmarkRun, "configuration")
_SWITCHES = ("skill", "skills", "with_skill", "use_skill", "skill_enabled")
_OFF = (None, False, 0, [], "", "0", "none", "false", "off", "no")
_ENDPOINTS = (
    "assistant|chat|completions?|converse|embeddings?|messages|realtime|responses"
    "|text-(?:classification|generation)"
)
_OF_PROVIDER = re.compile(rf"[\w.-]+:(?!//)(?:(?:{_ENDPOINTS}):)?")


def model_of(name: str, *, colons: bool = False) -> str:
    """A model's name without the prefix of its provider, which ends at a slash, or at a colon.

    >>> model_of("mockco/m-small:free"), model_of("ollama:chat:llama3:8b", colons=True)
    ('m-small:free', 'llama3:8b')
    """
    if not colons:
        return name.partition("/")[2] or name
    return name[found.end() :] or name if (found := _OF_PROVIDER.match(name)) else name


class Part:
    """An object within a tool's file at a JSON path: its fields by name, and their faults.

    A field that is absent or null is None and no fault; one of another type is None and a
    fault. Texts hold no keys.
    """

    __slots__ = ("faults", "raw", "secrets", "where")

    def __init__(
        self,
        raw: Any,
        where: str = "$",
        faults: Faults | None = None,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self.raw: dict[str, Any] = raw if isinstance(raw, dict) else {}
        self.where = where
        self.faults = Faults() if faults is None else faults
        self.secrets = secrets

    def at(self, name: object) -> str:
        """Where a field of this name stands."""
        return f"{self.where}.{without_keys(str(name), self.secrets)}"

    def _wrong(self, name: str, wanted: str) -> None:
        message = f"expected {wanted}, found {type(self.raw[name]).__name__}; taken as not known"
        self.faults.add("warning", "wrong-type", self.at(name), message)

    def _of_type(self, name: str, kind: type[T], wanted: str) -> T | None:
        raw = self.raw.get(name)
        if raw is None or isinstance(raw, kind):
            return raw
        self._wrong(name, wanted)
        return None

    def _below(self, raw: Any, where: str) -> Part:
        return Part(raw, f"{self.where}{where}", self.faults, self.secrets)

    def clean(self) -> dict[str, Any]:
        """All of it, as it is but for keys in its texts."""
        return _clean(self.raw, self.secrets)

    def part(self, name: str) -> Part:
        """The object of this name; one without fields if there is none."""
        return self._below(self._of_type(name, dict, "an object"), f".{name}")

    def parts(self, name: str) -> list[Part]:
        """The objects of a list."""
        raw = self._of_type(name, list, "a list") or []
        found = [(at, value) for at, value in enumerate(raw) if isinstance(value, dict)]
        if len(found) < len(raw):
            odd = f"{len(raw) - len(found)} of its {len(raw)} elements are not objects: left out"
            self.faults.add("warning", "wrong-type", self.at(name), odd)
        return [self._below(value, f".{name}[{at}]") for at, value in found]

    def side(self) -> str | None:
        """The configuration that one of its fields names."""
        for name in _SIDES:
            if isinstance(self.raw.get(name), str) and (text := self.text(name)):
                model, side = model_and_side(text)
                return (side_in(side) if is_side(side) and not model else None) or text
        return None

    def switch(self) -> str | None:
        """The side that one of its fields names, or that a switch of the skill among them says."""
        there = (self.raw[name] for name in _SWITCHES if name in self.raw)
        return self.side() or next((WITHOUT if value in _OFF else WITH for value in there), None)

    def either(self, name: str, bare: str) -> Part:
        """The object of this name; where a text stands in its place, one with that under `bare`."""
        raw = self.raw.get(name)
        return self._below({bare: raw}, "") if isinstance(raw, str) else self.part(name)

    def numbers(self, least: float = -math.inf) -> dict[str, float]:
        """The fields that are finite numbers, not below `least`, by their names."""
        return {
            without_keys(str(name), self.secrets): value
            for name in self.raw
            if (value := self.number(name, least)) is not None
        }

    def named(self, name: str) -> dict[str, Part]:
        """The objects of an object, by their names."""
        inside = self.part(name)
        return {
            (shown := without_keys(str(key), self.secrets)): self._below(value, f".{name}.{shown}")
            for key, value in inside.raw.items()
            if isinstance(value, dict)
        }

    def number(self, name: str, least: float = -math.inf) -> float | None:
        """A finite number, not below `least`; a text that is plainly one is read."""
        raw = self.raw.get(name)
        if raw is None:
            return None
        try:
            value = read_number(raw)
        except Unreadable:
            self._wrong(name, "a number")
            return None
        if not least <= value <= MOST:
            message = f"{value:g} is out of range; taken as not known"
            self.faults.add("warning", "out-of-range", self.at(name), message)
            return None
        return value

    def whole(self, name: str) -> int | None:
        """A count."""
        value = self.number(name, 0)
        return None if value is None else round(value)

    def rate(self, name: str) -> float | None:
        """A share of 1; what is outside of 0 to 1 is a fault and None."""
        value = self.number(name)
        if value is not None and not 0 <= value <= 1:
            message = f"{value:g} is not a share of 1: it is kept as `score`, not as a pass rate"
            self.faults.add("warning", "no-rate", self.at(name), message)
            return None
        return value

    def agrees(self, name: str, value: float | None, of: str = "the runs in this file") -> None:
        """Note where a figure that is stated is not the one that what it is `of` gives."""
        stated = self.number(name)
        if stated is not None and value is not None and abs(stated - value) > 0.0051:
            message = f"states {stated:g}, but {of} give {value:g}; those count"
            self.faults.add("warning", "disagree", self.at(name), message)

    def flag(self, name: str) -> bool | None:
        """True or false."""
        return self._of_type(name, bool, "true or false")

    def text(self, *names: str) -> str | None:
        """The first text, or number as a text, under these names that is not empty."""
        for name in names:
            raw: Any = self.raw.get(name)
            kind = type(raw)
            if kind is str or kind is int or kind is float:
                if text := without_keys(str(raw), self.secrets).strip():
                    return text
            elif raw is not None:
                self._wrong(name, "a text")
        return None
