"""What the graders suggest over runs and evals, the same thing once; as a table and a file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import leads_out, read_bytes
from skill_eval_nb.documents import SuggestionAggregate, dump, to_json
from skill_eval_nb.documents.feedback import AggregatedSuggestion, SuggestionSource
from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.running.asking import Terms
from skill_eval_nb.running.refused import refuse
from skill_eval_nb.tables.frames import Backend, frame_of, to_pandas
from skill_eval_nb.text import count
from skill_eval_nb.view import Block, Items, Shown, Text, Title
from skill_eval_nb.workspace import NO_ITERATION, PathLike, write_atomic
from skill_eval_nb.workspace.layout import OWN

from .mention import KINDS, Mention, mentions, n_graded
from .merge import Merging, merged
from .values import Suggestion
from .wording import grouped

THRESHOLD = 0.8
"""Chosen on labelled pairs: `python -m bench.grouping`."""
FILE = "eval_feedback_aggregate.json"
"""The file's name in an iteration's folder."""
MOST = 50
"""So many suggestions are shown; the table has them all."""
_BEGINS = (
    r"(?:consider|add|proposed|suggest(?:ion|ed)?|instead|replace|require|drop|remove|rephrase|"
    r"reword|tighten|strengthen|specify|clarify|update|split|either|extend|restrict|limit|change|"
    r"make|define|name|look|check|compare|parse|use|ask|allow|demand|state|say|set|include|run|"
    r"count|sum|execute|verify|test|merge|move|lower|raise|"
    r"(?:a|an) (?:better|stronger|sharper|stricter|more \w+) (?:assertion|check|expectation|test)|"
    r"(?:the |this )?(?:assertion|check|expectation|it|they) (?:should|ought to))\b"
)
_ACTION = re.compile(
    rf"(?:^|(?<=[.;:!?] )|(?<=, so )|(?<=[—–] ))(?P<action>{_BEGINS}[^\n]*?)"
    r"(?=[.!?](?:\s+[`\"“(]*(?-i:[A-ZÀ-Þ])|[\"”’)]*\s*$)|[.;]\s*$|;\s|\n|$)",
    re.IGNORECASE,
)
"""The first sentence that begins with what to do."""


@dataclass(frozen=True, slots=True, repr=False)
class Aggregate(Shown):
    """The graders' suggestions over all runs, the same thing once.

    Attributes:
        suggestions: most frequent first, then as they were first said.
        threshold: the distance of wordings, 0-1, up to which they were taken for the same.
        total_runs: runs that a grader looked at, with suggestions or without.
        skill_name: the skill; None where there are several.
        iteration: its name; None where there are several.
        merging: what a model was asked to merge; None where none was to.
        backend: the kind of `table`.
    """

    suggestions: tuple[Suggestion, ...]
    threshold: float
    total_runs: int
    skill_name: str | None = None
    iteration: str | None = None
    merging: Merging | None = None
    backend: Backend = "polars"

    @property
    def merged_by(self) -> str | None:
        """The model that merged further; None where none did."""
        merging = self.merging
        return merging.model if merging and merging.answered else None

    def table(self, backend: Backend | None = None) -> Any:
        """A row a suggestion: its fields, but for the sources, of which it has the number.

        `evals` is a list of their ids; `backend` is that of the workspace unless told.
        """
        import polars as pl

        names = ("frequency", "assertion", "reason", "action", "kind")
        types = dict.fromkeys(names, pl.String) | {"frequency": pl.Int64}
        types |= {"evals": pl.List(pl.String), "n_sources": pl.Int64, "key": pl.String}
        rows = [
            (
                *(getattr(suggestion, name) for name in names),
                [*suggestion.evals],
                len(suggestion.sources),
                suggestion.key,
            )
            for suggestion in self.suggestions
        ]
        frame = pl.DataFrame(rows, schema=types, orient="row")
        return to_pandas(frame) if (backend or self.backend) == "pandas" else frame

    def document(self) -> SuggestionAggregate:
        """It as `eval_feedback_aggregate.json` has it, with the sources of each suggestion."""
        number = re.fullmatch(r"iteration-(0|[1-9]\d{0,8})", self.iteration or "")
        return SuggestionAggregate(
            skill_name=self.skill_name,
            iteration=int(number[1]) if number else self.iteration,
            total_runs=self.total_runs,
            threshold=self.threshold,
            merged_by=self.merged_by,
            suggestions=[_documented(suggestion) for suggestion in self.suggestions],
        )

    def write(self, path: PathLike, *, force: bool = False) -> Path:
        """Write the document, in one step.

        Args:
            path: the file, or a folder to put `eval_feedback_aggregate.json` into.
            force: whether to replace a file that was not made by this.

        Raises:
            Refused: such a file is there.
            OSError: it cannot be written.
        """
        document = self.document()
        raw = dump(document)
        first = ("skill_name", "iteration", "total_runs", "threshold", "merged_by")
        names = ("frequency", "assertion", "reason", "action", "kind", "evals", "sources")
        # In the order that people know, with its nulls.
        content = {name: raw.get(name) for name in first} | {
            "suggestions": [
                {name: dump(getattr(suggestion, name)) for name in names}
                for suggestion in document.suggestions
            ]
        }
        return write_atomic(free(path, force=force), to_json(content))

    def _blocks(self) -> Iterator[Block]:
        merging = () if self.merging is None else tuple(map(Text, self.merging.notes))
        runs = count(self.total_runs, "graded run")
        if not self.suggestions:
            none = f"the graders of {runs} made none" if self.total_runs else "no run was graded"
            yield Title(f"No suggestions: {none}.")
            yield from merging
            return
        where = ", ".join(one for one in (self.skill_name, self.iteration) if one)
        number = count(len(self.suggestions), "suggestion")
        times = sum(len(suggestion.sources) for suggestion in self.suggestions)
        yield Title(
            f"{number} from {runs}{f' ({where})' if where else ''}",
            f"said {times:,} times; wordings at most {self.threshold:g} apart (0-1) are taken for "
            "the same",
        )
        yield from merging
        for suggestion in self.suggestions[:MOST]:
            action = [f"→ {suggestion.action}"] if suggestion.action else []
            yield Items(
                [suggestion.reason, *action], f"{suggestion.frequency:,} × {_about(suggestion)}"
            )
        if (more := len(self.suggestions) - MOST) > 0:
            yield Text(f"… and {more:,} more; table() has them all.")


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
    every = mentions(ws)
    groups, merging = grouped(every, threshold), None
    if merge_model is not None:
        kept = Path(ws.path, OWN, "merging") if ws.path and Path(ws.path).is_dir() else None
        terms = Terms(connection, prices, budget_usd, dry_run=dry_run)
        groups, merging = merged(groups, merge_model, kept, terms)
    order = {one: place for place, one in enumerate(every)}
    groups.sort(key=lambda group: (-_frequency(group), min(order[one] for one in group)))
    runs = frame_of(ws, "runs")
    skills, iterations = (runs[name].unique().to_list() for name in ("skill", "iteration"))
    return Aggregate(
        tuple(_suggestion(sorted(group, key=order.__getitem__), group[0]) for group in groups),
        threshold,
        n_graded(ws),
        skills[0] if len(skills) == 1 else None,
        iterations[0] if len(iterations) == 1 and iterations != [NO_ITERATION] else None,
        merging,
        getattr(ws, "backend", "polars"),
    )


def free(path: PathLike, *, force: bool = False) -> Path:
    """The file that `write` writes, where it may.

    Raises:
        Refused: a file is there that something else made, and `force` is not asked for.
    """
    file = Path(path)
    file = file / FILE if file.is_dir() else file
    if fault := leads_out(file, file.parent):
        raise refuse(f"{file} cannot be written: {fault}")
    if not force and file.exists() and not _is_ours(file):
        raise refuse(
            f"{file} is there already and states no threshold, so something else made it: "
            "name another file, or ask for it to be replaced (force)"
        )
    return file


def place_of(ws: Any) -> Path:
    """The file for the aggregate of a workspace.

    It lies in the folder of the iteration; in that of the workspace where there are several
    iterations, or none.

    Raises:
        Refused: there are several workspaces or skills, so that no one file is theirs.
    """
    keys = frame_of(ws, "runs").select("workspace", "skill", "iteration", "path").unique()
    suites = keys.select("workspace", "skill").unique().sort("workspace", "skill").rows()
    if len(suites) != 1:
        names = ", ".join(f"{workspace} ({skill})" for workspace, skill in suites) or "none"
        raise refuse(
            f"an aggregate belongs to one workspace and skill; there are {len(suites)} in "
            f"{ws.path}: {names}. Name the file to write, or the path of one of them"
        )
    base = Path(ws.path)
    base = base.parent if base.is_file() else base
    workspace = base / suites[0][0]
    folder = workspace if workspace.is_dir() else base
    iterations = keys["iteration"].unique().to_list()
    if iterations == [NO_ITERATION] or len(iterations) > 1:
        return folder / FILE
    for path in keys["path"].sort():
        parts = Path(path).parts
        if iterations[0] in parts:
            return base.joinpath(*parts[: parts.index(iterations[0]) + 1], FILE)
    return folder / FILE


def _is_ours(file: Path) -> bool:
    """Whether a file is one that `write` made: it states a threshold."""
    try:
        return "threshold" in json.loads(read_bytes(file))
    except (ValueError, TypeError):
        return False


def _documented(suggestion: Suggestion) -> AggregatedSuggestion:
    names = ("frequency", "assertion", "reason", "action", "kind")
    sources = [
        SuggestionSource(
            **each.run._asdict(), kind=each.kind, expectation=each.expectation, reason=each.reason
        )
        for each in suggestion.sources
    ]
    fields = {name: getattr(suggestion, name) for name in names}
    return AggregatedSuggestion(**fields, evals=list(suggestion.evals), sources=sources)


def _suggestion(many: Sequence[Mention], nearest: Mention) -> Suggestion:
    sources = tuple(one.source for one in many)
    kinds = Counter(source.kind for source in sources)
    content = json.dumps(
        [[*source.run, source.kind, source.expectation, source.reason] for source in sources]
    )
    first = [nearest.source, *(source for source in sources if source != nearest.source)]
    actions = Counter(filter(None, (action_of(one.kind, one.reason) for one in first)))
    return Suggestion(
        key=f"s-{sha256(content.encode()).hexdigest()[:8]}",
        reason=nearest.source.reason,
        frequency=_frequency(many),
        assertion=_assertion(many),
        action=actions.most_common(1)[0][0] if actions else None,
        kind=min(kinds, key=lambda kind: (-kinds[kind], KINDS.index(kind))),
        sources=sources,
    )


def action_of(kind: str, reason: str) -> str | None:
    """What to do, in the grader's words; None where nothing is proposed.

    >>> action_of("critique", "Too easy: all pass. Consider a limit of 50 lines.")
    'Consider a limit of 50 lines'
    >>> action_of("suggested", "The sum is right")
    'Add: The sum is right'
    >>> action_of("critique", "The check says nothing.")
    """
    if kind == "suggested":
        return f"Add: {reason.strip()}"
    found = _ACTION.search(" ".join(reason.split()))
    if found is None:
        return None
    action = re.sub(r"^(?:proposed|suggest(?:ion|ed)): *", "", found["action"], flags=re.IGNORECASE)
    return action[:1].upper() + action[1:]


def _frequency(many: Sequence[Mention]) -> int:
    return len({one.source.run for one in many})


def _assertion(many: Sequence[Mention]) -> str | None:
    """The label that the expectation has; its text where evals give it several ids."""
    about = [one.about for one in many if one.about is not None]
    if not about:
        return None
    labels = {one.label for one in about}
    return labels.pop() if len(labels) == 1 else about[0].text


def _about(suggestion: Suggestion) -> str:
    if suggestion.assertion is not None:
        return suggestion.assertion
    named = next((source.expectation for source in suggestion.sources if source.expectation), None)
    return "a missing expectation" if named is None else f"{named} (no expectation of the eval)"
