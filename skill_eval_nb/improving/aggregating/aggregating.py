"""`aggregate`: what the graders suggest over runs and evals, the same thing once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.running.refused import refuse
from skill_eval_nb.tables.frames import frame_of
from skill_eval_nb.workspace import NO_ITERATION

from ..values import Source, Suggestion
from .actions import action_of
from .collected import Aggregate
from .grouping import grouped
from .merging import merged
from .placing import answers_of
from .said import KINDS, Said, runs_read, said

THRESHOLD = 0.8
"""Chosen on labelled pairs: `python -m tests.bench.grouping`."""


def aggregate(
    ws: Any,
    *,
    threshold: float = THRESHOLD,
    merge_model: str | None = None,
    connection: Connection | None = None,
    prices: Prices | None = None,
    budget_usd: float | None = None,
    dry_run: bool = False,
) -> Aggregate:
    """What the graders suggest for the evals, over all runs, the same thing once.

    Suggestions of several iterations are collected together: select one, where only that
    should count (`ws.select(iteration="iteration-2")`). What graders say of an output as a
    whole (`overall`) is no suggestion for a change and is left out.

    Args:
        ws: a `Workspace`; where it is a folder, answers of a model are kept below it, in
            `.skill-eval-nb/merging`, and nobody is asked the same twice.
        threshold: the distance of two wordings, 0-1, up to which they are taken for the same.
        merge_model: a model that is asked which suggestions say the same in other words; it
            may join groups, not part them. Nobody is asked where it is not given.
        connection: how the model is reached; where it is not given, the stand-in answers in
            process for its own models, and any other model from outside.
        prices: what calls cost; the bundled table where it is not given.
        budget_usd: the most that may be spent, in US dollars.
        dry_run: ask nobody; `merging.worst_usd` says what asking costs at most.

    Raises:
        Refused: `threshold` is not from 0 to 1, or there is a budget and no known price.
        ModelFault: no API key was found; nothing was sent.

    >>> import skill_eval_nb as sen
    >>> aggregate(sen.tables.Workspace.from_tables({}))
    No suggestions: no run was graded.
    """
    if not 0 <= threshold <= 1:
        raise refuse(f"threshold is {threshold}: it must be from 0 (same words) to 1 (same topic)")
    every = said(ws)
    groups, merging = grouped(every, threshold), None
    if merge_model is not None:
        groups, merging = merged(
            groups,
            merge_model,
            kept=answers_of(ws),
            connection=connection,
            prices=prices,
            budget_usd=budget_usd,
            dry_run=dry_run,
        )
    order = {one: place for place, one in enumerate(every)}
    groups.sort(key=lambda group: (-_frequency(group), min(order[one] for one in group)))
    runs = frame_of(ws, "runs")
    iteration = _only(runs["iteration"].unique().to_list())
    return Aggregate(
        tuple(_suggestion(sorted(group, key=order.__getitem__), group[0]) for group in groups),
        threshold,
        runs_read(ws),
        _only(runs["skill"].unique().to_list()),
        None if iteration == NO_ITERATION else iteration,
        merging,
        getattr(ws, "backend", "polars"),
    )


def _suggestion(many: Sequence[Said], nearest: Said) -> Suggestion:
    sources = tuple(one.source for one in many)
    kinds = Counter(one.kind for one in sources)
    first = [nearest.source, *(one for one in sources if one != nearest.source)]
    return Suggestion(
        key=_key(sources),
        reason=nearest.source.reason,
        frequency=_frequency(many),
        assertion=_assertion(many),
        action=_action(first),
        kind=min(kinds, key=lambda kind: (-kinds[kind], KINDS.index(kind))),
        sources=sources,
    )


def _frequency(many: Sequence[Said]) -> int:
    return len({one.source.run for one in many})


def _assertion(many: Sequence[Said]) -> str | None:
    """The label that the expectation has; its text where evals give it several ids."""
    about = [one.about for one in many if one.about is not None]
    if not about:
        return None
    labels = Counter(one.label for one in about)
    return labels.most_common(1)[0][0] if len(labels) == 1 else about[0].text


def _action(sources: Sequence[Source]) -> str | None:
    """What most sources propose; the first of them, where that is none."""
    actions = Counter(
        action for one in sources if (action := action_of(one.kind, one.reason)) is not None
    )
    return actions.most_common(1)[0][0] if actions else None


def _key(sources: Sequence[Source]) -> str:
    content = json.dumps([[*one.run, one.kind, one.expectation, one.reason] for one in sources])
    return f"s-{sha256(content.encode()).hexdigest()[:8]}"


def _only(names: Sequence[str]) -> str | None:
    return names[0] if len(names) == 1 else None
