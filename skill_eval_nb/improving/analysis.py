"""`analyse`: why the winners of blind comparisons won, and what to change in the skill."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from skill_eval_nb.documents import Analysis, Comparison, dump
from skill_eval_nb.documents.results import ComparedRun
from skill_eval_nb.documents.sides import is_without_skill, likeness
from skill_eval_nb.grading.analyst import Answer, ShownWork, analysis_of, question
from skill_eval_nb.grading.judge import Unjudged
from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.models.ask import Answered
from skill_eval_nb.running.asking import Item, LeftOut, Terms, answers_of
from skill_eval_nb.running.judge_tasks import case_of
from skill_eval_nb.running.protocol import no_such, refuse
from skill_eval_nb.running.stored_runs import StoredRun, stored_runs
from skill_eval_nb.stats.preference import FIRST, LAST, TIE, most_often, settle_orders
from skill_eval_nb.tables import Workspace, load
from skill_eval_nb.text import clip, count
from skill_eval_nb.view import Block, Items, Title
from skill_eval_nb.workspace import NO_ITERATION, PathLike, find, natural_key, read_files
from skill_eval_nb.workspace.jobs import find_kept_skill, kept_skills, skill_now

from .pairs import compared_run
from .values import (
    LARGEST_SHOWN,
    Paid,
    Progress,
    choose_model,
    documents_at,
    paid_fields,
    read_texts,
    write_numbered,
)

LETTERS = (FIRST, LAST)
MOST = 20
"""If there are more analyses than this, the rest are only counted."""
PARTS = {"winner_strengths": "the winner did well", "loser_weaknesses": "the loser did badly"}


@dataclass(frozen=True, slots=True)
class Explained:
    """A stored analysis and its file."""

    path: Path
    document: Analysis


@dataclass(frozen=True, kw_only=True, repr=False)
class Analysed(Paid):
    """The result of analysing comparisons.

    Attributes:
        explained: every analysis of the chosen comparisons, including those of earlier calls; the
            table `analyses` of the loaded workspace has a row per suggestion.
    """

    explained: tuple[Explained, ...]

    def _blocks(self) -> Iterator[Block]:
        there = len(self.explained)
        by = f" by {self.model}" if self.model else ""
        yield Title(
            f"{count(there, 'comparison')} analysed{by}: {self.status}",
            self._say_counts(there, "analyses"),
        )
        for document in (analysis.document for analysis in self.explained[:MOST]):
            parts = ((name, getattr(document, part)) for part, name in PARTS.items())
            lines = [f"{name}: {text}" for name, texts in parts for text in texts]
            lines += [
                f"[{each.priority}, {each.category}] {each.suggestion} ({each.expected_impact})"
                for each in document.improvement_suggestions
            ]
            runs = [document.runs[side] for side in ("winner", "loser")]
            winner, loser = (clip(_name_run(run), 80) for run in runs)
            yield Items(lines, f"eval {clip(runs[0].eval_id)}: {winner} won against {loser}")
        yield from self._left_blocks("Not analysed")


def analyse(
    ws: Workspace | PathLike,
    *,
    comparison: str | Path | None = None,
    model: str | None = None,
    connection: Connection | None = None,
    prices: Prices | None = None,
    budget_usd: float | None = None,
    concurrency: int = 4,
    dry_run: bool = False,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Analysed:
    """Ask why the winner of each comparison won, and what to change in the skill.

    The model knows which side was which, and sees both versions of the skill, both outputs with
    their transcripts, and what the comparator said. Ties are not analysed; a pair whose orders
    disagree, or that was seen in only one order, is a tie. Comparisons by other tools are left out:
    they do not say which two runs they compared.

    Each answer is written at once, as `analysis-N.json` next to its comparison, and never asked for
    again: a second call asks only for what is missing.

    Args:
        ws: a workspace, or its path.
        comparison: the id, pair or file of one comparison; all if not given.
        model: the model that analyses; if not given, the model that compared.
        connection: how the model is reached; if not given, the stand-in judge answers in
            process; other models are called over the network.
        prices: what calls cost; the bundled table if not given.
        budget_usd: the most that may be spent, in US dollars; questions that do not fit are not
            asked.
        concurrency: how many questions to ask at a time.
        dry_run: no model is asked; `worst_usd` is the most the rest would cost.
        progress: called after each question.
        stop: once set, calls in flight are cancelled; what was written stays.

    Raises:
        Refused: there is no such comparison, a figure makes no sense, no model is known, there
            is a budget and no known price, an analysis is already running there, or the folder
            cannot be written.
        Stopped: `stop` was set before the end.
        ModelFault: no API key was found; nothing was sent.
        FileNotFoundError, NothingToLoad: a path does not exist.
        OSError: an answer cannot be written.
    """
    ours = ws if isinstance(ws, Workspace) else load(ws)
    if not ours.path:
        raise refuse("this workspace was made of tables: there are no comparisons on disk")
    terms = Terms(connection, prices, budget_usd, concurrency, dry_run, progress, stop)
    won, left = _split_won(_select_comparisons(_stored_comparisons(ours.path), comparison))
    compared_by = [comparison.judge_model for pair in won for comparison in pair.documents]
    asks = won or model is not None  # else there is nothing to ask, and no model to name
    analyst = choose_model(terms, model, compared_by, "analyse") if asks else None
    behind = _RunLookup(stored_runs(ours.path) if won else ())
    items: list[Item[Explained]] = []
    for pair in won:
        assert analyst is not None
        try:
            items.append(behind.make_item(pair, analyst, terms.known_prices))
        except Unjudged as why:
            left.append(LeftOut(pair.first.within, str(why)))
    folders = dict.fromkeys(item.folder for item in items if item.folder is not None)
    answers = answers_of(items, partial(read_analyses, folders), "an analysis", terms)
    return Analysed(
        **paid_fields(items, answers, terms, left),
        model=analyst,
        notes=tuple(behind.notes),
        explained=tuple(answers.values[item.key] for item in items if item.key in answers.values),
    )


# ── the comparisons, and who won ─────────────────────────────────────────────────────────────


class _StoredComparison(NamedTuple):
    """A comparison on disk: its file, its path below what was loaded, and what it says."""

    path: Path
    within: str
    document: Comparison

    def is_named(self, name: str) -> bool:
        """Whether it is selected by its id, its pair or its file."""
        names = (self.document.comparison_id, self.document.pair, self.within, self.path.name)
        return name in names or self.path.resolve() == Path(name).resolve()


class _WonPair(NamedTuple):
    """A pair whose winner is known.

    Attributes:
        first: a comparison of it.
        documents: what that says and, if there is one, the one in the other order.
        winner: the letter of the winner in the first.
    """

    first: _StoredComparison
    documents: list[Comparison]
    winner: str


def _stored_comparisons(path: str) -> list[_StoredComparison]:
    """Every comparison below a path, in the natural order of their files."""
    found = find(path)
    root = Path(found.base).absolute()
    every = []
    for kind, file, document in read_files(found).others:
        if kind == "comparison":
            full = Path(file.path).absolute()
            within = full.relative_to(root).as_posix() if full.is_relative_to(root) else file.path
            every.append(_StoredComparison(Path(file.path), within, document))
    return sorted(every, key=lambda comparison: natural_key(comparison.within))


def _select_comparisons(
    every: Sequence[_StoredComparison], wanted: str | Path | None
) -> list[_StoredComparison]:
    """The selected comparisons: all, or those of the named pair.

    Raises:
        Refused: there is no such comparison.
    """
    if wanted is None:
        return list(every)
    meant = [each for each in every if each.is_named(str(wanted))]
    if not meant:
        raise refuse(no_such("comparison", str(wanted), [each.within for each in every]))
    pairs = {each.document.pair for each in meant} - {None}
    return [each for each in every if each in meant or each.document.pair in pairs]


def _split_won(comparisons: Iterable[_StoredComparison]) -> tuple[list[_WonPair], list[LeftOut]]:
    """The pairs with a winner, and the others with the reason."""
    found: list[_WonPair] = []
    left: list[LeftOut] = []
    groups: dict[object, list[_StoredComparison]] = {}
    for comparison in comparisons:
        document = comparison.document
        if document.pair is None or not document.runs.keys() >= set(LETTERS):
            left.append(LeftOut(comparison.within, "it does not say which two runs it compared"))
        else:
            groups.setdefault((comparison.path.parent, document.pair), []).append(comparison)
    for own in groups.values():
        first = own[0]
        orders: tuple[list[Comparison], list[Comparison]] = ([], [])
        for other in own:
            turned = other.document.runs[FIRST] != first.document.runs[FIRST]
            orders[turned].append(other.document)
        forth, back = (Counter(comparison.winner for comparison in seen) for seen in orders)
        winner = settle_orders((forth, back))
        if winner not in LETTERS:
            left.append(LeftOut(first.within, _explain_tie(most_often(forth), most_often(back))))
            continue
        shown: list[Comparison] = []
        for documents, letter in zip(orders, (winner, _other_letter(winner)), strict=True):
            # Of each order the first that says so, else the first.
            shown += sorted(documents, key=lambda document: document.winner != letter)[:1]
        found.append(_WonPair(first, shown, winner))
    return found, left


def _other_letter(letter: str) -> str:
    return LAST if letter == FIRST else FIRST


def _explain_tie(forth: str | None, back: str | None) -> str:
    """Why neither run wins, given the winner in each order."""
    if forth is None or back is None:
        return "it was seen in one order only: position bias cannot be ruled out"
    if (forth, back) == (TIE, TIE):
        return "a tie in both orders"
    return f"the orders disagree ({forth} and then {back} won): a tie"


# ── the runs that were compared ──────────────────────────────────────────────────────────────


def _name_run(run: StoredRun | ComparedRun) -> str:
    """A run in words."""
    where = "" if run.iteration in (None, NO_ITERATION) else f" of {run.iteration}"
    return f"{run.configuration}{where}, run {run.run_number}"


@dataclass
class _RunLookup:
    """Looks up the runs behind the letters of comparisons.

    Attributes:
        runs: the runs on disk.
        notes: anything noticed on the way, each once.
    """

    runs: Sequence[StoredRun]
    notes: dict[str, None] = field(default_factory=dict)

    def make_item(self, won: _WonPair, analyst: str, prices: Prices) -> Item[Explained]:
        """The question about a pair, and what is stored of the answer.

        Raises:
            Unjudged: a run is missing, unknown, or cannot be shown.
        """
        letters = (won.winner, _other_letter(won.winner))
        runs = [self._run_behind(won.first, letter) for letter in letters]
        winner, loser = map(self._show_work, letters, runs)
        request = question(analyst, winner, loser, won.documents)
        folder = won.first.path.parent

        def save(answered: Answered[Answer]) -> Explained:
            given = {"model": request.model, "prices": prices}
            analysis = analysis_of(answered, winner, loser, won.documents, **given)
            analysis.eval_id = runs[0].eval_id
            analysis.runs = dict(zip(("winner", "loser"), map(compared_run, runs), strict=True))
            analysis.fingerprint = request.key
            raw = dump(analysis)
            for side, own in raw.get("instruction_following", {}).items():  # as readers expect it
                raw["instruction_following"][side] = {"score": None, "issues": []} | own
            return Explained(write_numbered(folder, "analysis", raw), analysis)

        return Item(request.key, won.first.within, request, folder, save)

    def _run_behind(self, comparison: _StoredComparison, letter: str) -> StoredRun:
        """The run behind a letter."""
        stated = comparison.document.runs[letter]
        for run in self.runs:
            is_it = stated.workspace in (None, run.workspace.name) and stated.path == run.within
            if is_it and run.eval and run.outputs:
                return run
        why = "is not here, or without its outputs or its eval"
        raise Unjudged(f"the run behind {letter}, {stated.path}, {why}")

    def _show_work(self, letter: str, run: StoredRun) -> ShownWork:
        """A run with the version of the skill that it had, or why that cannot be shown."""
        kept, like = None, likeness(run.configuration)
        label = f"the version of {run.configuration} was not kept"
        if is_without_skill(run.configuration):
            label = f"none ({run.configuration})"
        else:
            beside = [other for other in self.runs if other.workspace == run.workspace]
            iterations = {other.iteration for other in beside}
            configurations = {other.configuration for other in beside}
            versions = kept_skills(run.workspace, iterations, configurations)
            kept = find_kept_skill(versions, run.iteration, run.configuration, alone=like is None)
            if kept is None and like is None and (kept := skill_now(run.workspace)):
                note = (
                    f"The version of {run.configuration} in {run.iteration} was not kept: the "
                    "skill as it is now was shown instead."
                )
                self.notes[note] = None
        unread = f"[not shown: no text that can be read, or more than {LARGEST_SHOWN:,} bytes]"
        files = () if kept is None else read_texts(kept.folder)
        return ShownWork(
            _name_run(run),
            letter,
            case_of(run, (), ()),
            label if kept is None else kept.name,
            tuple((name, unread if text is None else text) for name, text in files),
        )


def read_analyses(folders: Iterable[Path]) -> dict[str, Explained]:
    """The analyses in these folders by their fingerprints; what cannot be read has none."""
    paths = (path for folder in folders for path in sorted(folder.glob("analysis*.json")))
    found = documents_at(paths, Analysis)
    return {
        analysis.fingerprint: Explained(path, analysis)
        for path, analysis in found
        if analysis.fingerprint is not None
    }
