"""How a blind comparison shows itself: in a notebook as HTML, elsewhere as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from skill_eval_nb.look import framed

if TYPE_CHECKING:
    from .compared import Compared

MOST = 30
"""More evals or reasons than these are counted, not listed."""
MEASURES = {
    "position_consistency": "position consistency: share of pairs with one winner in both orders",
    "preference_fairness": "preference fairness: −1 what is first is preferred, 0 fair, 1 the last",
    "repetition_stability": "repetition stability: share of the commonest answer to one question",
}


def text(found: Compared) -> str:
    """The view as plain text."""
    lines = [f"{_title(found)}: {found.status}"]
    lines += [str(found.verdict)] if _is_told(found) else []
    lines += [f"  {line}" for line in _rates(found)]
    lines += [f"  {what} = {figure}" for what, figure in _measures(found.figures)]
    rows = _evals(found)
    lines += [f"  eval {one['eval_id']} ({one['eval_name']}): {_won(one, found)}" for one in rows]
    lines += [f"  {_counted(found)}"]
    lines += [f"{what}: {times} × {reason}" for what, reason, times in _reasons(found)]
    return "\n".join([*lines, *found.notes])


def html(found: Compared) -> str:
    """The notebook view; every text from files and models is escaped."""
    verdict = found.verdict
    word = f"{verdict.winner} {verdict.word}" if verdict.winner else verdict.word
    told = f"<h4>{escape(word)}</h4><div>{escape(verdict.reason)}</div>" if _is_told(found) else ""
    rates = "".join(f"<div>{escape(line)}</div>" for line in _rates(found))
    evals = [(one["eval_id"], one["eval_name"], _won(one, found)) for one in _evals(found)]
    reasons = [(what, f"{times}", reason) for what, reason, times in _reasons(found)]
    notes = "".join(f"<div class='sen-path'>{escape(one)}</div>" for one in found.notes)
    inside = (
        f"<h3>{escape(_title(found))}</h3>"
        f"<div class='sen-path'>{escape(found.status)}; {escape(_counted(found))}</div>"
        f"{told}{rates}"
        f"{_table('Can the comparator be trusted?', ('', ''), list(_measures(found.figures)))}"
        f"{_table('By eval', ('eval', 'name', 'winner'), evals)}"
        f"{_table('Not compared', ('what', 'times', 'reason'), reasons)}{notes}"
    )
    return framed("sen-compared", inside)


def _is_told(found: Compared) -> bool:
    """Whether a verdict is to be had; before anybody was asked there is none."""
    return bool(found.comparisons) or found.status != "dry run"


def _title(found: Compared) -> str:
    return f"{found.a} against {found.b}, compared blind by {found.model}"


def _rates(found: Compared) -> Iterator[str]:
    row = found.figures
    units = {"": "pairs (these evals)", "eval_": "evals (tasks like these)"}
    for prefix, unit in units.items():
        if row and row[f"{prefix}win_rate"] is not None:
            decided = row[f"{prefix}wins"] + row[f"{prefix}losses"]
            yield (
                f"{found.a} wins {row[f'{prefix}win_rate']:.0%} of {decided} decided {unit}, 95 % "
                f"interval {row[f'{prefix}low']:.0%} to {row[f'{prefix}high']:.0%} (exact); "
                f"ties left out: {row[f'{prefix}ties']}"
            )


def _measures(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, what in MEASURES.items():
        if row and row[name] is not None:
            yield what, f"{row[name]:.2f}"


def _evals(found: Compared) -> list[dict[str, Any]]:
    rows = found.by_eval
    dicts = rows.to_dict("records") if hasattr(rows, "iloc") else rows.to_dicts()
    return dicts[:MOST]


def _won(one: Mapping[str, Any], found: Compared) -> str:
    """Who won an eval, and by how many pairs."""
    if not one["n_settled"]:
        return f"not settled (0 of {one['n_pairs']} pairs in both orders)"
    names = {"a": found.a, "b": found.b}
    return (
        f"{names.get(one['winner'], 'tie')} ({one['wins']} to {one['losses']}, {one['ties']} tied, "
        f"{one['n_settled']} of {one['n_pairs']} pairs settled)"
    )


def _counted(found: Compared) -> str:
    known = "a price is not known"
    cost = known if found.cost_usd is None else f"${found.cost_usd:.4f}"
    if found.status == "dry run":
        worst = known if found.worst_usd is None else f"${found.worst_usd:.4f} at most"
        pairs, there = len(found.pairs), len(found.comparisons)
        return (
            f"{pairs} pairs: {there} comparisons are there, {found.n_missing} to be made, {worst}"
        )
    return (
        f"{len(found.comparisons)} comparisons, {found.n_before} of them from before, "
        f"{found.n_missing} missing; {cost}"
    )


def _reasons(found: Compared) -> Iterable[tuple[str, str, int]]:
    """Every reason once, with how often it was met."""
    told = Counter(("failed", one.reason) for one in found.failed)
    told += Counter(("left out", one.reason) for one in found.left_out)
    return [(what, reason, times) for (what, reason), times in told.most_common(MOST)]


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th scope='col'>{one}</th>" for one in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<h4>{caption}</h4><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
