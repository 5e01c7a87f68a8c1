"""All that is to be seen: the choices, the verdict, and one of the parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from skill_eval_nb.charts.metrics import Metric, metric

from ..panel import Child, Node, h
from ..panel.parts import notice, tabs
from . import files, versions
from .choice import Choice
from .figures import Figures
from .flips import FLIPS, Check
from .two import Suite, Two
from .views import behind, checks, head, others, skill, verdicts
from .views.words import waiting

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace
    from skill_eval_nb.workspace.snapshots import KeptSkill


@dataclass(frozen=True)
class Look:
    """Two iterations as they are looked at while a view is made.

    Attributes:
        ws: the workspace.
        suites: what can be chosen.
        figures: of the two iterations.
        choice: what is chosen.
    """

    ws: Workspace
    suites: Sequence[Suite]
    figures: Figures
    choice: Choice

    @property
    def two(self) -> Two:
        """The two iterations."""
        return self.figures.two

    @property
    def configuration(self) -> str:
        """The configuration that is looked at: the one with the skill where none is chosen."""
        names = self.two.suite.configurations
        return self.choice.configuration if self.choice.configuration in names else names[0]

    @cached_property
    def metric(self) -> Metric:
        """What the iterations are compared by."""
        names = self.figures.metrics
        wanted = self.choice.metric
        return metric(wanted if wanted in names else next(iter(names), "pass_rate"))

    @cached_property
    def versions(self) -> versions.Versions:
        """The versions of the skill that are there."""
        return versions.versions(self.ws, self.two.suite)

    @cached_property
    def pair(self) -> tuple[KeptSkill | None, KeptSkill | None]:
        """The versions that are compared: those chosen, else those of the iterations."""
        old, new = versions.of_two(self.versions, self.two, self.configuration)
        wanted, every = self.choice.versions, self.versions.every
        return (
            every.get(wanted["old"]) if "old" in wanted else old,
            every.get(wanted["new"]) if "new" in wanted else new,
        )

    @cached_property
    def compared(self) -> files.Comparison | None:
        """What differs between them; None where one was not kept."""
        old, new = self.pair
        return files.compare(old.folder, new.folder) if old and new else None

    def checks(self) -> list[Check] | None:
        """The expectations of the configuration; None while they are being counted."""
        every = self.figures.checks()
        return None if every is None else every.get(self.configuration, [])

    def below(self, kind: str) -> dict[Any, Child]:
        """What stands below the row that was clicked, by its key."""
        clicked, opened = self.choice.behind, self.choice.opened
        if clicked is None or clicked.kind != kind:
            return {}
        runs = self.figures.behind(clicked, self.metric.column)
        listed = behind.columns(self.two, clicked, runs, opened, self.metric)
        return {clicked.key: [listed, behind.in_full(self.ws, self.two, opened)]}


def page(look: Look, name: str) -> Child:
    """The page; `name` is unlike that of any other in the notebook."""
    figures, column = look.figures, look.metric.column
    between = figures.between(column)
    return [
        head.choices(look.suites, look.two, look.configuration, figures.metrics, column),
        head.summary(
            look.two, look.configuration, look.metric, between,
            look.checks(), look.compared, figures.unlike(),
        ),
        tabs(
            _tabs(look), look.choice.tab, ("choose_tab",), _part(look),
            label="Parts of the comparison", page=name,
        ),
    ]  # fmt: skip


def nothing(suites: Sequence[Suite], lacking: str | None) -> Child:
    """What is said where there are no two iterations."""
    if lacking:
        return notice(lacking)
    told = [f"{one.name}: {', '.join(one.iterations) or 'none'}" for one in suites]
    return [
        notice(
            "There are no two iterations of a skill to compare. A changed skill, or other evals "
            "or models, begin the next one when it is run."
        ),
        h("ul", (h("li", one) for one in told)) if told else None,
    ]


def _tabs(look: Look) -> dict[str, str]:
    own, unlike, compared = look.checks(), look.figures.unlike(), look.compared
    flipped = None if own is None else sum(one.turn in FLIPS for one in own)
    return {
        "verdicts": "Verdicts",
        "checks": "Expectations" + ("" if flipped is None else f" ({flipped:,} flipped)"),
        "skill": "Skill files" + ("" if compared is None else f" ({len(compared.files):,})"),
        "others": "What else differs" + ("" if unlike is None else f" ({unlike.count:,})"),
    }


def _part(look: Look) -> Node:
    two, choice = look.two, look.choice
    if choice.tab == "skill":
        return skill.skill(
            two, look.configuration, look.versions, look.pair, look.compared,
            choice.unfolded, choice.side_by_side,
        )  # fmt: skip
    if choice.tab == "others":
        unlike = look.figures.unlike()
        return waiting() if unlike is None else others.others(unlike, two)
    if choice.tab == "checks":
        every, below = look.figures.checks(), look.below("check")
        if every is None:
            return waiting()
        return checks.expectations(two, every, look.configuration, below, choice.all_rows)
    return h("div", _verdicts(look))


def _verdicts(look: Look) -> Iterator[Node | None]:
    """The tables of verdicts, each as soon as it is counted."""
    figures, two, side, meant = look.figures, look.two, look.configuration, look.metric
    between, inside = figures.between(meant.column), figures.inside(meant.column)
    if between is None or inside is None:
        yield waiting()
    else:
        yield verdicts.overview(two, between, inside, meant)
    by_eval = figures.by_eval(meant.column, side)
    if by_eval is None:
        yield waiting()
    else:
        below = look.below("eval")
        yield verdicts.evals(two, by_eval, meant, side, below, look.choice.all_rows)
    by_dimension = figures.by_dimension(side)
    if by_dimension is None:
        yield waiting()
    else:
        yield verdicts.dimensions(two, by_dimension, side, look.below("dimension"))
