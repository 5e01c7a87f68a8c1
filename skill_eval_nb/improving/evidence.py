"""The evidence for drafts: a workspace's suite, checks with figures, stored runs, answers."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from skill_eval_nb.disk import read_bytes, write_atomic
from skill_eval_nb.documents import (
    Dimension,
    Document,
    Eval,
    Expectation,
    Faults,
    NotJSON,
    StructuralExpectation,
    mend,
    parse,
    to_json,
)
from skill_eval_nb.running.asking import Answers, AskingProgress, Item, LeftOut, Terms
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.running.skill import contents
from skill_eval_nb.running.stored_runs import StoredRun, stored_runs
from skill_eval_nb.skill_md import read_text
from skill_eval_nb.text import brief, count, dollars, in_quotes
from skill_eval_nb.view import Block, Shown, Table, Text, reasons
from skill_eval_nb.workspace import catalogue_files, find
from skill_eval_nb.workspace.jobs import SKILL_FILE, kept_skills, skill_now

from .values import Part, RunRef, Suggestion, only_suite

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables.workspace import Workspace

    from .aggregation import Aggregate


V = TypeVar("V")
D = TypeVar("D", bound=Document)
Progress = Callable[[AskingProgress], None]
MOST = 30
"""If there are more reasons than this, the rest are only counted."""
LARGEST_SHOWN = 200_000
"""Bytes of a file whose text is read."""


def stored_at(folders: Iterable[str]) -> dict[str, StoredRun]:
    """The runs that are stored in these folders, by the folder as it was given."""
    real = {str(Path(folder).resolve()): folder for folder in folders if Path(folder).is_dir()}
    found = stored_runs(os.path.commonpath(list(real))) if real else []
    return {real[str(run.folder)]: run for run in found if str(run.folder) in real}


def texts(folder: Path) -> Iterator[tuple[str, str | None]]:
    """Name and text of each file of a skill, SKILL.md first.

    The text is None if a file is not text, is larger than `LARGEST_SHOWN`, or cannot be read.
    """
    root = folder.resolve()
    for name in sorted(contents(root).files, key=lambda name: (name != SKILL_FILE, name)):
        path = root / name
        try:
            shown = path.stat().st_size <= LARGEST_SHOWN
            yield name, read_bytes(path, root).decode() if shown else None
        except (OSError, UnicodeDecodeError):
            yield name, None


def skill_folders(runs: Iterable[StoredRun]) -> Iterator[Path]:
    """Every version of a skill in the workspaces of these runs, and the current one."""
    workspaces: dict[Path, list[StoredRun]] = {}
    for run in runs:
        workspaces.setdefault(run.workspace, []).append(run)
    for workspace, own in sorted(workspaces.items()):
        names = ({run.iteration for run in own}, {run.configuration for run in own})
        yield from (kept_skill.folder for kept_skill in kept_skills(workspace, *names))
        if (now := skill_now(workspace)) is not None:
            yield now.folder


# ── what models answered ─────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True, repr=False)
class Paid(Shown):
    """The result of asking a model, item by item.

    Attributes:
        status: `done`; `partial` where a question has no answer; `dry run` if nobody was
            asked.
        n_before: answers that were there before.
        n_missing: answers still missing.
        model: the model that was asked; None if there was nothing to ask and none was named.
        failed: questions without an answer, each with the reason.
        left_out: what could not be asked about, each with the reason.
        cost_usd: what this call's answers cost; None if a price is not known.
        worst_usd: the most that the missing ones could have cost before they were asked, in US
            dollars; None if a price is not known.
        notes: choices made for the user, and caveats.
    """

    status: str
    n_before: int
    n_missing: int
    model: str | None
    failed: tuple[LeftOut, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    cost_usd: float | None = 0.0
    worst_usd: float | None = 0.0
    notes: tuple[str, ...] = ()

    def _counts(self, there: int, nouns: str) -> str:
        """How many answers there are and are missing, and what they cost."""
        if self.status == "dry run":
            return (
                f"{there:,} {nouns} are there, {self.n_missing} to be made, "
                f"{dollars(self.worst_usd)} at most"
            )
        return (
            f"{there:,} {nouns}, {self.n_before} of them from before, {self.n_missing} missing; "
            f"{dollars(self.cost_usd)}"
        )

    def _left_blocks(self, caption: str) -> list[Block]:
        """What failed, every reason once, and the notes."""
        why = [("failed", failure.reason) for failure in self.failed]
        why += [("left out", left.reason) for left in self.left_out]
        table: Table = reasons(why, caption, MOST)
        return [table, *(Text(note, soft=True) for note in self.notes)]


def paid_fields(
    items: Iterable[Item[V]], answers: Answers[V], terms: Terms, left_out: Iterable[LeftOut] = ()
) -> dict[str, Any]:
    """The fields of `Paid` that answers give."""
    keys = [item.key for item in items]
    failed = tuple(answers.failed.values())
    return {
        "status": "dry run" if terms.dry_run else "partial" if failed else "done",
        "n_before": sum(key in answers.before for key in keys),
        "n_missing": sum(key not in answers.values for key in keys),
        "failed": failed,
        "left_out": tuple(left_out),
        "cost_usd": answers.cost_usd,
        "worst_usd": answers.worst_usd,
    }


def choose_model(terms: Terms, given: str | None, earlier: Iterable[str | None], to_do: str) -> str:
    """The model to ask.

    Args:
        terms: how models are asked.
        given: the model that was named, if one was.
        earlier: the models that were asked before.
        to_do: what it is to do.

    Raises:
        Refused: none was named, and several were asked before, or none.
    """
    found = terms.model(given, earlier)
    if isinstance(found, str):
        return found
    names = f"{', '.join(found)} were asked before" if found else "none was asked before"
    raise refuse(f"model is not given, and {names}: say which model is to {to_do}")


# ── answers that are documents ───────────────────────────────────────────────────────────────

_WRITING = threading.Lock()


def documents_at(paths: Iterable[Path], kind: type[D]) -> Iterator[tuple[Path, D]]:
    """The documents in files, including those that somebody has edited.

    Files that cannot be read are left out: the loader reports them.
    """
    for path in paths:
        try:
            raw = parse(read_bytes(path), Faults())
        except (NotJSON, OSError):
            continue
        if isinstance(raw, dict):
            yield path, mend(raw, kind)[0]


def write_numbered(folder: Path, stem: str, content: Any) -> Path:
    """Write JSON as STEM-N.json under the next number that is free, in one step.

    STEM.json, as other tools have it, is the first.

    Raises:
        OSError: it cannot be written.
    """
    with _WRITING:
        folder.mkdir(exist_ok=True)
        names = (re.fullmatch(rf"{stem}(?:-(\d+))?\.json", path.name) for path in folder.iterdir())
        number = 1 + max((int(name[1] or 1) for name in names if name), default=0)
        return write_atomic(folder / f"{stem}-{number}.json", to_json(content))


KEYS = list(RunRef._fields)
REASON = 240
"""The most characters of a suggestion that are quoted."""


@dataclass(frozen=True, slots=True)
class Check:
    """An expectation that several evals share under one name, and its results.

    Attributes:
        target: what a draft calls it: its id, else its text.
        text: what it checks.
        definition: from the first of its evals.
        evals: ids of the evals that have it.
        figures: rows of `stats.discrimination` over all iterations taken together, the side
            that is compared first; empty if it has no verdicts.
        verdicts: of each run with one.
    """

    target: str
    text: str
    definition: StructuralExpectation | Expectation
    evals: tuple[str, ...]
    figures: tuple[Mapping[str, Any], ...]
    verdicts: Mapping[RunRef, bool]

    @property
    def structural(self) -> bool:
        """Whether it is one of the structural expectations of its evals."""
        return isinstance(self.definition, StructuralExpectation)

    @property
    def part(self) -> Part:
        """The list of an eval that contains it."""
        return "structural_expectations" if self.structural else "expectations"

    @property
    def critical(self) -> bool:
        """Whether failing it fails the gate."""
        return getattr(self.definition, "critical", False)

    @property
    def named(self) -> str:
        """Its id and its words; its words alone if it has no id."""
        words = in_quotes(self.text)
        return words if self.target == self.text else f"{brief(self.target)} ({words})"

    @property
    def in_words(self) -> str:
        """Its results, in sentences."""
        reasons = [str(row["reason"]) for row in self.figures]
        return " ".join(f"{self.named}: {reason[0].lower()}{reason[1:]}" for reason in reasons)

    def is_any(self, *classes: str) -> bool:
        """Whether a comparison gives it one of these classes."""
        return any(row["class"] in classes for row in self.figures)

    def is_all(self, *classes: str) -> bool:
        """Whether all comparisons give it one of these classes."""
        return bool(self.figures) and all(row["class"] in classes for row in self.figures)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A workspace as the rules of drafting see it.

    Attributes:
        ws: the workspace; it holds one suite.
        found: what its graders suggest.
        suite: its evals by id, if they have runs and a definition.
        names: the evals' names by id.
        stored: the runs with a folder.
        checks: its expectations that the suite defines.
        sides: the configuration that is compared and its baseline; None without a baseline.
    """

    ws: Workspace
    found: Aggregate
    suite: Mapping[str, Eval]
    names: Mapping[str, str]
    stored: Mapping[RunRef, StoredRun]
    checks: tuple[Check, ...]
    sides: tuple[str, str] | None

    def dimensions(self) -> list[tuple[Dimension, tuple[str, ...]]]:
        """Rubric dimensions that are word for word the same, with the evals that have them."""
        together: dict[str, tuple[Dimension, tuple[str, ...]]] = {}
        for eval_id, eval_ in self.suite.items():
            for dimension in eval_.quality_rubric.dimensions if eval_.quality_rubric else ():
                first, evals = together.get(form(dimension), (dimension, ()))
                together[form(dimension)] = (first, (*evals, eval_id))
        return list(together.values())

    def about(self, check: Check) -> tuple[Suggestion, ...]:
        """What graders suggest about a check."""
        names = {check.target, check.text, check.definition.id} - {None}
        return tuple(
            suggestion
            for suggestion in self.found.suggestions
            if suggestion.assertion in names and not set(suggestion.evals).isdisjoint(check.evals)
        )

    def stand_in(self, check: Check) -> Check | None:
        """A critical check that fails wherever this one does, as it is about the same files."""
        pattern = getattr(check.definition, "pattern", None)
        fits = check.structural and check.definition.type == "file_exists"
        for other in self.checks if fits else ():
            contains = other.definition.type in ("file_contains", "file_not_contains")
            same = contains and getattr(other.definition, "pattern", None) == pattern
            if other.critical and same and set(check.evals) <= set(other.evals):
                return other
        return None

    def skill_text(self) -> str:
        """The versions of the skill in the workspace or next to it, as one text."""
        return "\n".join(map(read_text, skill_folders(self.stored.values())))


def quote_graders(suggestions: Iterable[Suggestion]) -> str:
    """What graders said, each with the number of runs that said it."""
    return " ".join(
        f"Graders of {count(suggestion.frequency, 'run')} said: "
        f"{in_quotes(suggestion.reason, REASON)}"
        + ("" if suggestion.reason.rstrip().endswith((".", "!", "?")) else ".")
        for suggestion in suggestions
    )


def runs_of(checks: Iterable[Check], suggestions: Iterable[Suggestion] = ()) -> list[RunRef]:
    """The runs behind checks and suggestions, each once."""
    verdicts = [ref for check in checks for ref in check.verdicts]
    sources = [source.run for suggestion in suggestions for source in suggestion.sources]
    return list(dict.fromkeys([*verdicts, *sources]))


def form(document: Document) -> str:
    """A document's JSON, the same for the same document."""
    return json.dumps(msgspec.to_builtins(document), sort_keys=True)


def evidence_of(ws: Workspace, found: Aggregate, baseline: str | None) -> Evidence:
    """Collect the evidence for drafts.

    Raises:
        Refused: the workspace has several suites, or the baseline does not exist.
    """
    runs = ws.polars("runs")
    only_suite(runs, "a draft")
    rows = zip(runs.select(KEYS).iter_rows(), runs["path"], strict=True)
    refs = {str(Path(ws.path, path)): RunRef(*keys) for keys, path in rows if ws.path and path}
    stored = {refs[folder]: run for folder, run in stored_at(refs).items()}
    suite: dict[str, Eval] = {}
    for ref, run in stored.items():
        if run.eval is not None:
            suite.setdefault(ref.eval_id, run.eval)
    if lacking := set(runs["eval_id"]) - set(suite):
        suite |= {name: eval_ for name, eval_ in _evals_of_suites(ws) if name in lacking}
    names = dict(runs.select("eval_id", "eval_name").unique(maintain_order=True).iter_rows())
    try:
        checks = _checks(ws, suite, baseline)
    except ValueError as error:
        raise refuse(str(error)) from None
    rows = [row for check in checks for row in check.figures]
    sides = next(((r["configuration"], r["baseline"]) for r in rows if r["baseline"]), None)
    return Evidence(ws, found, suite, names, stored, checks, sides)


def _evals_of_suites(ws: Workspace) -> Iterator[tuple[str, Eval]]:
    """The evals that suites define, the first definition last; runs may have no folder."""
    if not os.path.isdir(ws.path):  # noqa: PTH112 an empty path is not a folder
        return
    index = catalogue_files(find(ws.path))
    workspaces = set(ws.polars("runs")["workspace"])
    for folder, key, eval_ in reversed(index.definitions):
        if index.names[folder][0] in workspaces:
            yield key.id, eval_


def _checks(ws: Workspace, suite: Mapping[str, Eval], baseline: str | None) -> tuple[Check, ...]:
    """The checks that the evals of a suite define, in their order, with their results.

    Raises:
        ValueError: the baseline does not exist.
    """
    together: dict[tuple[str, str], tuple[StructuralExpectation | Expectation, list[str]]] = {}
    for eval_id, eval_ in suite.items():
        for check in (*eval_.structural_expectations, *eval_.expectations):
            key = (type(check).__name__, form(check))
            together.setdefault(key, (check, []))[1].append(eval_id)
    defined = list(together.values())
    rows = _own_rows(defined, ws.polars("expectations"))
    figures = _check_figures(ws, rows, baseline)
    verdicts: list[dict[RunRef, bool]] = [{} for _ in defined]
    for *keys, number, passed in rows.select(*KEYS, "check", "passed").iter_rows():
        if passed is not None:
            verdicts[number][RunRef(*keys)] = passed
    return tuple(
        Check(
            check.id or getattr(check, "name", None) or _words(check),
            _words(check),
            check,
            tuple(evals),
            figures.get(at, ()),
            verdicts[at],
        )
        for at, (check, evals) in enumerate(defined)
    )


def _words(check: StructuralExpectation | Expectation) -> str:
    """What a check checks, in words."""
    if isinstance(check, Expectation):
        return check.text
    return check.description or check.id or check.type


def _own_rows(
    defined: list[tuple[StructuralExpectation | Expectation, list[str]]], table: pl.DataFrame
) -> pl.DataFrame:
    """The verdicts on checks that are defined, each with the number of its check.

    An eval's check is known by its id, else by its text, among those of its layer first.
    """
    import polars as pl

    known: dict[tuple[bool, str, str | None], int] = {}
    for number, (check, evals) in enumerate(defined):
        for name in {check.id, _words(check)} - {None}:
            for eval_id in evals:
                known.setdefault((isinstance(check, StructuralExpectation), eval_id, name), number)

    def number_of(layer: str, eval_id: str, *names: str | None) -> int | None:
        first = layer == "structural"
        keys = ((structural, eval_id, name) for structural in (first, not first) for name in names)
        return next((known[key] for key in keys if key in known), None)

    rows = table.select("layer", "eval_id", "expectation_id", "text").iter_rows()
    numbers = pl.Series("check", [number_of(*row) for row in rows], pl.Int64)
    return table.with_columns(numbers).drop_nulls("check")


def _check_figures(
    ws: Workspace, rows: pl.DataFrame, baseline: str | None
) -> dict[int, tuple[Mapping[str, Any], ...]]:
    """`stats.discrimination` of each check, each eval of each iteration a block of its own."""
    import polars as pl

    from skill_eval_nb.stats import discrimination
    from skill_eval_nb.tables.workspace import Workspace

    if not rows.height:
        return {}
    block = pl.concat_str("iteration", "eval_id", separator="\n").alias("eval_id")
    pooled = [block, pl.lit("all").alias("iteration")]
    one_check = [pl.col("check").cast(pl.String).alias("text"), pl.lit("any").alias("layer")]
    no_id = pl.lit(None, pl.String).alias("expectation_id")
    tables = {
        "runs": ws.polars("runs").with_columns(*pooled),
        "expectations": rows.with_columns(*pooled, *one_check, no_id),
    }
    found: dict[int, tuple[Mapping[str, Any], ...]] = {}
    for row in discrimination(Workspace.from_tables(tables), baseline).iter_rows(named=True):
        found[int(row["text"])] = (*found.get(int(row["text"]), ()), row)
    return found
