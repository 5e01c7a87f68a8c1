"""`compare`: compare two sides blind, every pair of runs in both orders."""

from __future__ import annotations

import hashlib
import json
import random
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from skill_eval_nb.disk import resolve_inside
from skill_eval_nb.documents import Comparison, dump
from skill_eval_nb.grading.comparator import Answer, Prepared, comparison_of, prepare, question
from skill_eval_nb.grading.judge import Unjudged, same_model
from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.models.ask import Answered
from skill_eval_nb.models.stand_in import MODELS
from skill_eval_nb.running.asking import Item, LeftOut, Terms, answers_of
from skill_eval_nb.running.judge_tasks import case_of
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.running.stored_runs import StoredRun
from skill_eval_nb.stats import preference
from skill_eval_nb.stats.preference import (
    FIRST,
    LAST,
    LEVEL,
    PLAIN,
    TIE,
    Orders,
    Wins,
    most_often,
    settle_orders,
)
from skill_eval_nb.tables import Workspace, load
from skill_eval_nb.tables.columns import Backend, iterate_rows, to_pandas
from skill_eval_nb.text import count, format_p, percent, with_sign
from skill_eval_nb.view import Block, Mark, Pairs, Table, Text, Title
from skill_eval_nb.workspace import NO_ITERATION, UNSTATED, PathLike

from .pairs import ComparedSide, Named, Pair, compared_run, pairs_of, run_identity, sides_of
from .values import (
    Paid,
    Progress,
    choose_model,
    documents_at,
    paid_fields,
    read_texts,
    skill_folders,
    write_numbered,
)

FOLDER = "comparisons"
"""Their folder in a workspace."""
MOST = 30
"""If there are more evals than this, the rest are only counted."""
EVAL = ("workspace", "eval_id", "eval_name")
WHO = {FIRST: "a", LAST: "b", TIE: TIE}
STABLE = 0.8
"""Below this repetition stability or position consistency, the comparator is called unsteady."""
FEWEST_EVALS = 6
"""With fewer, no exact test over evals can be below 5 %."""
MEASURES = {
    "position_consistency": "position consistency: share of pairs with one winner in both orders",
    "preference_fairness": "preference fairness: −1 prefers the first, 0 is fair, 1 the last",
    "repetition_stability": "repetition stability: share of the most common answer to a question",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Compared(Paid):
    """The result of comparing two sides, `a` and `b`, blind.

    Attributes:
        a: the name of the first side.
        b: the name of the second side.
        pairs: one row per pair of runs, in the workspace's kind of table. `workspace`, `eval_id`,
            `eval_name`, `run_number`, `pair` (as documents have it), `run_a`, `run_b` (their
            folders); `winner` after unblinding: `a`, `b` or `tie`, null if it was not seen in
            both orders; `a_first`, `b_first`: the winner if that side was shown first;
            `consistent`: whether they agree; `repeated_same`: whether the same order got the
            same answer twice, null if it was asked once; `n_comparisons`; `reasons`: the
            comparator's own, with what was A and B.
        by_eval: one row per eval: its pairs, those settled, `wins` of a, `losses`, `ties`,
            `winner`.
        figures: the row of `stats.preference`, with wins, losses and rates of a against b; empty
            if nothing was seen.
        comparisons: every comparison that counts, including those of earlier calls.
    """

    a: str
    b: str
    pairs: Any
    by_eval: Any
    figures: Mapping[str, Any]
    comparisons: tuple[Comparison, ...]

    @property
    def verdict(self) -> Winner:
        """Who wins, in words."""
        return decide_winner(self.figures, self.a, self.b)

    @property
    def winner(self) -> str | None:
        """The name of the winner; None if unknown."""
        return self.verdict.winner

    def _blocks(self) -> Iterator[Block]:
        there = len(self.comparisons)
        yield Title(
            f"{self.a} against {self.b}, compared blind by {self.model}: {self.status}",
            f"{len(self.pairs):,} pairs; {self._say_counts(there, 'comparisons')}",
        )
        if there or self.status != "dry run":  # before any question was asked there is no verdict
            who = self.verdict
            word = f"{who.winner} {who.word}" if who.winner else who.word
            yield Mark("info", word, who.reason)
        yield from map(Text, say_rates(self.figures, self.a))
        measures = {what: self.figures.get(name) for name, what in MEASURES.items()}
        rows = [(what, f"{value:.2f}") for what, value in measures.items() if value is not None]
        yield Pairs(rows, "Can the comparator be trusted?")
        rows = [
            (f"eval {row['eval_id']} ({row['eval_name']})", self._winner_of_eval(row))
            for row in iterate_rows(self.by_eval)
        ]
        yield Table(("", ""), rows[:MOST], "By eval", more=len(rows) - MOST)
        yield from self._left_blocks("Not compared")

    def _winner_of_eval(self, row: Mapping[str, Any]) -> str:
        """Who won an eval, and by how many pairs."""
        if not row["n_settled"]:
            return f"not settled (0 of {row['n_pairs']} pairs in both orders)"
        who = {"a": self.a, "b": self.b}.get(row["winner"], "tie")
        return (
            f"{who} ({row['wins']} to {row['losses']}, {row['ties']} tied, {row['n_settled']} of "
            f"{row['n_pairs']} pairs settled)"
        )


def compare(
    ws: Workspace | PathLike,
    a: Named,
    b: Named,
    *,
    model: str | None = None,
    evals: Iterable[str | int] | None = None,
    repeat: float = 0.2,
    connection: Connection | None = None,
    prices: Prices | None = None,
    budget_usd: float | None = None,
    concurrency: int = 8,
    dry_run: bool = False,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Compared:
    """Compare two sides blind: which one does the same tasks better?

    Run 1 of an eval is compared with run 1 of the same eval on the other side, and so on. Each
    pair is judged in both orders, and a sample of the pairs twice in the same order. The model
    sees no names, paths or models of the sides, and no text of a skill except what an output
    itself contains. A side wins a pair if both orders name it; otherwise the pair is a tie.

    Each answer is written at once as `comparisons/comparison-N.json` in a's workspace, and is
    never asked for again: after an interruption, call this again to get what is missing.

    Args:
        ws: a workspace, or its path.
        a: a configuration (`"with_skill"`), an iteration (`"iteration-1"`: its with-skill side),
            both (`("iteration-1", "with_skill")`, or with a slash between them), or another
            workspace or its path (its with-skill side). Without an iteration, the latest is
            used. If the suites differ, a's criteria are used.
        b: the same.
        model: the model that compares; if not given, the model that judged these runs.
        evals: ids or names of evals; all if not given.
        repeat: the share of pairs to judge twice in the same order, 0 to 1.
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
        Refused: a side or eval does not exist, a number is out of range, no model is known,
            there is a budget and no known price, a comparison is already running there, or the
            folder cannot be written.
        Stopped: `stop` was set before the end.
        ModelFault: no API key was found; nothing was sent.
        FileNotFoundError, NothingToLoad: a path does not exist.
        OSError: an answer cannot be written.
    """
    if not 0 <= repeat <= 1:
        raise refuse(f"repeat is {repeat}: it is a share of the pairs, from 0 to 1")
    ours = ws if isinstance(ws, Workspace) else load(ws)
    terms = Terms(connection, prices, budget_usd, concurrency, dry_run, progress, stop)
    sides = sides_of(ours, a, b)
    judges = [row["judge_model"] for side in sides for row in side.rows]
    comparator = choose_model(terms, model, judges, "compare")
    pairs, left = pairs_of(*sides, evals)
    orders, unshown = _plan_orders(comparator, pairs, sides, repeat)
    homes = sorted({run.workspace for pair in pairs for run in (pair.a, pair.b)})
    items = [_make_item(order, comparator, sides, terms.known_prices) for order in orders]
    answers = answers_of(items, partial(read_comparisons, homes), "a comparison", terms)
    found = answers.values
    return Compared(
        **paid_fields(items, answers, terms, [*left, *unshown]),
        model=comparator,
        notes=tuple(_list_notes(sides, comparator)),
        a=sides[0].label,
        b=sides[1].label,
        **outcome_of(orders, found, sides[0].rows[0]["workspace"], ours.backend),
        comparisons=tuple(
            found[order.fingerprint] for order in orders if order.fingerprint in found
        ),
    )


def _list_notes(sides: Sequence[ComparedSide], comparator: str) -> Iterable[str]:
    yield from dict.fromkeys(note for side in sides for note in side.notes)
    if comparator in MODELS:
        yield "the comparator was the stand-in, not a model: this is no verdict on the sides"
    models = {row["executor_model"] for side in sides for row in side.rows}
    for executor in sorted(models - {None}, key=str):
        if same_model(comparator, executor):
            yield (
                f"the comparator also did the work ({executor}): models favour their own, so "
                "choose another one if the sides' models differ"
            )


# ── what is asked ────────────────────────────────────────────────────────────────────────────


class _Order(NamedTuple):
    """A pair in one of its orders.

    Attributes:
        pair: the two runs.
        prepared: what is shown of them, a first.
        swapped: whether b's is shown as A.
        order: 1 or 2; which order comes first was drawn at random.
        repetition: 1, or 2 if the same was asked before.
        fingerprint: the same for the same question of the same model.
    """

    pair: Pair
    prepared: Prepared
    swapped: bool
    order: int
    repetition: int
    fingerprint: str


def _plan_orders(
    comparator: str, pairs: Sequence[Pair], sides: Sequence[ComparedSide], repeat: float
) -> tuple[list[_Order], list[LeftOut]]:
    """Both orders of every pair, then the repetitions; and the pairs that cannot be shown.

    Which pairs are repeated, and in which order, depends only on the pairs. If the
    share is not 0, at least one pair is repeated.
    """
    drawn = sorted(pairs, key=lambda pair: _random_key(pair.key))
    repeated = {pair.key for pair in drawn[: max(round(repeat * len(pairs)), bool(repeat))]}
    left: list[LeftOut] = []
    orders: list[_Order] = []
    runs = [run for pair in pairs for run in (pair.a, pair.b)]
    skill = (text for at in skill_folders(runs) for _, text in read_texts(at))
    lines = tuple(line for text in skill for line in (text or "").splitlines())
    hidden = _hidden_names(sides, runs)
    for pair in pairs:
        try:
            prepared = prepare(
                *(case_of(run, *hidden) for run in (pair.a, pair.b)), skill_lines=lines
            )
        except Unjudged as error:
            left.append(LeftOut(pair.named, error.reason))
            continue
        first = random.Random(_random_key(pair.key)).random() < 0.5  # noqa: S311 -- no secret
        swapped = first is (run_identity(pair.a) < run_identity(pair.b))
        for order, time in ((1, 1), (2, 1), (1, 2))[: 2 + (pair.key in repeated)]:
            turned = swapped if order == 1 else not swapped
            body = question(comparator, prepared, "", swapped=turned).body()
            content = json.dumps({**body, "metadata": None, "repetition": time}, sort_keys=True)
            fingerprint = hashlib.sha256(content.encode()).hexdigest()
            orders.append(_Order(pair, prepared, turned, order, time, fingerprint))
    return sorted(orders, key=lambda order: order.repetition), left  # repetitions last


def _random_key(key: str) -> str:
    return hashlib.sha256(f"0\n{key}".encode()).hexdigest()


def _hidden_names(
    sides: Sequence[ComparedSide], runs: Sequence[StoredRun]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of skills, and all other names in these workspaces that could tell a side.

    If the sides differ by their skills, the skills' names are among the other names, which are
    covered in other prose, too.
    """
    folders = {run.workspace.name for run in runs}
    tables = [side.ws.polars("runs") for side in sides]
    skills_a, skills_b = ({row["skill"] for row in side.rows} for side in sides)
    skills = {name for table in tables for name in table["skill"]}
    skills = (skills | {name.removesuffix("-workspace") for name in folders}) - (
        skills_a ^ skills_b
    )
    columns = ("configuration", "iteration", "executor_model")
    names = {name for table in tables for column in columns for name in table[column].unique()}
    names = (names | folders | skills_a ^ skills_b) - skills - {NO_ITERATION, UNSTATED, None}
    return tuple(sorted(skills)), tuple(sorted(names))


def _make_item(
    planned: _Order, comparator: str, sides: tuple[ComparedSide, ComparedSide], prices: Prices
) -> Item[Comparison]:
    pair, prepared, swapped, order, repetition, fingerprint = planned
    home = pair.a.workspace

    def save(answered: Answered[Answer]) -> Comparison:
        comparison = comparison_of(
            answered, prepared, model=comparator, prices=prices, swapped=swapped
        )
        shown = [(pair.a, sides[0]), (pair.b, sides[1])]
        (run_a, a), (run_b, b) = reversed(shown) if swapped else shown
        comparison.comparison_id = f"{pair.key}-{order}-{repetition}-{fingerprint[:8]}"
        comparison.eval_id = pair.a.eval_id
        comparison.configuration_a, comparison.configuration_b = a.configuration, b.configuration
        comparison.version_a, comparison.version_b = a.version, b.version
        comparison.pair, comparison.order, comparison.repetition = pair.key, order, repetition
        comparison.runs = {
            "A": compared_run(run_a, a.rows[0]["skill"]),
            "B": compared_run(run_b, b.rows[0]["skill"]),
        }
        comparison.fingerprint = fingerprint
        raw = dump(comparison)
        for side, own in raw.get("output_quality", {}).items():  # as readers expect it
            raw["output_quality"][side] = {"score": None, "strengths": [], "weaknesses": []} | own
        write_numbered(comparisons_folder(home), "comparison", raw)
        return comparison

    what = f"{pair.named}, order {order}{', again' if repetition > 1 else ''}"
    own = question(comparator, prepared, fingerprint[:32], swapped=swapped)
    return Item(fingerprint, what, own, comparisons_folder(home), save)


def comparisons_folder(workspace: Path) -> Path:
    """The folder of a workspace's comparisons; it may not exist yet.

    Raises:
        OSError: a link of that name leads elsewhere.
    """
    return Path(resolve_inside(workspace / FOLDER, workspace))


def read_comparisons(workspaces: Iterable[Path]) -> dict[str, Comparison]:
    """The comparisons of these workspaces by their fingerprints; what cannot be read has none."""
    folders = map(comparisons_folder, workspaces)
    paths = (path for folder in folders for path in sorted(folder.glob("comparison-*.json")))
    found = documents_at(paths, Comparison)
    return {
        comparison.fingerprint: comparison
        for _, comparison in found
        if comparison.fingerprint is not None
    }


# ── results ──────────────────────────────────────────────────────────────────────────────────


def outcome_of(
    orders: Sequence[_Order], found: Mapping[str, Comparison], workspace: str, backend: Backend
) -> dict[str, Any]:
    """Unblind comparisons, and count: the fields `pairs`, `by_eval` and `figures` of `Compared`."""
    import polars as pl

    whole, text, won = pl.Int64, pl.String, pl.col("winner")
    by_pair: dict[str, list[_Order]] = {}
    for order in orders:
        by_pair.setdefault(order.pair.key, []).append(order)
    told = ("pair", "run_a", "run_b", "winner", "a_first", "b_first")
    schema = dict.fromkeys(EVAL, text) | {"run_number": whole} | dict.fromkeys(told, text)
    schema |= {"consistent": pl.Boolean, "repeated_same": pl.Boolean, "n_comparisons": whole}
    rows = [{"workspace": workspace} | _pair_row(own, found) for own in by_pair.values()]
    pairs = pl.DataFrame(rows, schema | {"reasons": pl.List(text)})
    counts = {"wins": won == "a", "losses": won == "b", "ties": won == TIE}
    by_eval = pairs.group_by(EVAL, maintain_order=True).agg(
        pl.len().cast(whole).alias("n_pairs"),
        won.count().cast(whole).alias("n_settled"),
        *(happened.sum().cast(whole).alias(name) for name, happened in counts.items()),
    )
    gained = (pl.col("wins") - pl.col("losses")).sign()
    names = {1: "a", -1: "b", 0: TIE}
    winner = pl.when(pl.col("n_settled") > 0).then(gained.replace_strict(names, return_dtype=text))
    by_eval = by_eval.with_columns(winner=winner)
    seen = []
    for order in orders:
        if (comparison := found.get(order.fingerprint)) is not None:
            about = order.pair.a.eval_id, order.pair.key
            seen.append((*about, *("ba" if order.swapped else "ab"), comparison.winner))
    columns = ("eval", "pair", "first", "second", "winner")
    plain = pl.DataFrame(seen, dict.fromkeys(columns, text), orient="row").select("eval", *PLAIN)
    frames = [to_pandas(frame) if backend == "pandas" else frame for frame in (pairs, by_eval)]
    figures = next(iter(preference(plain).to_dicts()), {})
    return {"pairs": frames[0], "by_eval": frames[1], "figures": figures}


def _pair_row(own: Sequence[_Order], found: Mapping[str, Comparison]) -> dict[str, Any]:
    """A row of `pairs`."""
    pair = own[0].pair
    answers: Orders = (Counter(), Counter())
    reasons = []
    for order in own:
        if (comparison := found.get(order.fingerprint)) is not None:
            answers[order.swapped][comparison.winner] += 1
            letters = "b is A, a is B" if order.swapped else "a is A, b is B"
            reasons.append(f"({letters}) {comparison.reasoning}")
    forth, back = map(most_often, answers)
    winner = settle_orders(answers)
    again = [seen for seen in answers if seen.total() > 1]
    turned = {FIRST: LAST, LAST: FIRST, TIE: TIE}
    return {
        **{name: getattr(pair.a, name) for name in ("eval_id", "eval_name", "run_number")},
        "pair": pair.key,
        "run_a": pair.a.within,
        "run_b": pair.b.within,
        "winner": winner and WHO[winner],
        "a_first": forth and WHO[forth],
        "b_first": back and WHO[turned[back]],
        "consistent": None if winner is None else back is not None and forth == turned[back],
        "repeated_same": len(again[0]) == 1 if again else None,
        "n_comparisons": len(reasons),
        "reasons": reasons,
    }


@dataclass(frozen=True, slots=True)
class Winner:
    """Who wins, and why.

    Attributes:
        winner: the name of the side; None if unknown.
        word: `wins`, `unclear`, `found out` (the comparator goes by the order) or `nothing
            compared`.
        reason: in words, with the figures.
    """

    winner: str | None
    word: str
    reason: str


def decide_winner(row: Mapping[str, Any], a: str, b: str) -> Winner:
    """The verdict on *these evals*, and whether it holds for tasks like these.

    A side wins if the exact p of its wins over pairs is at most 5 %. No side wins if most pairs
    have a different winner in the other order, and these favour one position more often than chance
    would (exact p at most 5 %).

    Args:
        row: of `stats.preference`, of a against b; empty if nothing was seen.
        a: the name of the one side.
        b: the name of the other side.
    """
    pairs = row.get("n_both_orders", 0)
    if not pairs:
        return Winner(None, "nothing compared", "No pair was compared in both orders.")
    if reason := _found_out(row, pairs):
        return Winner(None, "found out", reason)
    wins, losses = row["wins"], row["losses"]
    counts = (
        f"{a} wins {wins}, {b} wins {losses}, {row['ties']} tied, of {count(pairs, 'pair')} "
        f"({row['n_evals']} evals)"
    )
    if row["p"] is None or row["p"] > 1 - LEVEL:
        p = "nothing was decided" if row["p"] is None else f"exact p {format_p(row['p'])}"
        reason = f"It is unclear which is better on these evals: {counts}; {p}.{_doubts_text(row)}"
        return Winner(None, "unclear", reason)
    winner, other = (a, b) if wins > losses else (b, a)
    reason = (
        f"{winner} is better than {other} on these evals: {counts}; exact p "
        f"{format_p(row['p'])}. {_say_beyond(row, wins > losses)}{_doubts_text(row)}"
    )
    return Winner(winner, "wins", reason)


def say_rates(row: Mapping[str, Any], a: str) -> Iterator[str]:
    """How often a wins, over pairs and over evals, in words."""
    units = {"": "pairs (these evals)", "eval_": "evals (tasks like these)"}
    for prefix, unit in units.items():
        if row and row[f"{prefix}win_rate"] is not None:
            decided = row[f"{prefix}wins"] + row[f"{prefix}losses"]
            names = ("win_rate", "low", "high")
            rate, low, high = (percent(row[f"{prefix}{name}"]) for name in names)
            yield (
                f"{a} wins {rate} of {decided} decided {unit}, 95 % interval {low} to {high} "
                f"(exact); ties left out: {row[f'{prefix}ties']}"
            )


def _found_out(row: Mapping[str, Any], pairs: int) -> str:
    """A sentence if the comparator goes by position, not by the outputs; else empty."""
    primacy, recency = row["primacy"], row["recency"]
    p = Wins(primacy, recency, ties=0).p
    if 2 * (primacy + recency) <= pairs or p is None or p > 1 - LEVEL:
        return ""
    place, times = ("first", primacy) if primacy > recency else ("last", recency)
    return (
        f"No winner: the comparator is biased. It preferred whatever came {place} in {times} of "
        f"{count(pairs, 'pair')} (preference fairness {with_sign(row['preference_fairness'])}, "
        f"position consistency {row['position_consistency']:.2f}). Choose another comparator."
    )


def _say_beyond(row: Mapping[str, Any], a_wins: bool) -> str:
    """What holds for tasks like these."""
    wins, losses, p = row["eval_wins"], row["eval_losses"], row["eval_p"]
    if p is not None and p <= 1 - LEVEL and (wins > losses) is a_wins:
        return f"This holds for tasks like these, too (over evals, exact p {format_p(p)})."
    if wins + losses < FEWEST_EVALS:
        return (
            f"Nothing can be claimed beyond these evals: {wins + losses} evals were decided, "
            f"and at least {FEWEST_EVALS} are needed."
        )
    exact = format_p(row["eval_p"])
    return f"Whether this holds for tasks like these is open (over evals, exact p {exact})."


def _doubts_text(row: Mapping[str, Any]) -> str:
    """What to bear in mind about the comparator; "" if there is nothing."""
    doubts = []
    stability, consistency = row["repetition_stability"], row["position_consistency"]
    if stability is not None and stability < STABLE:
        doubts.append(f"asked the same question again, its stability is {stability:.2f}")
    if consistency < STABLE:
        doubts.append(f"asked in both orders, its consistency is {consistency:.2f}")
    return f" The comparator is inconsistent: {'; '.join(doubts)}." if doubts else ""
