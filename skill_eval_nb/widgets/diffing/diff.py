"""`diff`: what changed between two iterations of a skill."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from skill_eval_nb.charts.metrics import Metric
from skill_eval_nb.charts.metrics import metric as metric_of
from skill_eval_nb.tables.frames import to_pandas

from ..exploring.later import Later
from ..panel import Child, Node, Panel, action, h, style
from ..panel.parts import notice, tabs
from ..runs import RunKey
from ..showing import SHOWING_CSS
from ..source import Source
from . import files, versions
from .behind import Behind, runs_behind
from .figures import Figures
from .flips import FLIPS, Check, CheckKey
from .two import Suite, Two, chosen, suites, two
from .views import behind as behind_view
from .views import checks, head, others, skill, verdicts
from .views.words import waiting

HERE = Path(__file__).parent
PATIENCE = 0.2
"""Seconds that a click waits for figures, before it is drawn without them."""

_NUMBERS = count(1)


def diff(ws: Any, a: str | None = None, b: str | None = None) -> Diff:
    """Show what changed between two iterations of a skill.

    The skill's own files as a text diff, where the runs kept them; the verdicts, of all evals
    and of each, and of each rubric dimension; the expectations that flipped, with the runs
    behind each; and what else differs, so that the two are not compared for what they are not.

    Args:
        ws: a `Workspace`, or the path of one.
        a: the iteration to compare against; the one before `b` where not given.
        b: the other one; the last where not given.

    Returns:
        a widget; its `.selection` is the table of the runs behind what was clicked.

    Raises:
        ValueError: for an iteration that is not there, or the same one twice.
    """
    return Diff(ws, a, b)


class Diff(Panel):
    """What changed between two iterations, as a widget."""

    label: ClassVar[str] = "What changed between two iterations"
    _css: Any = style(SHOWING_CSS, HERE / "diffing.css")

    def __init__(self, ws: Any, a: str | None = None, b: str | None = None) -> None:
        self._stale = False
        """Whether the workspace is another one than what is below was worked out from."""
        self.source = Source(ws, self._changed)
        self._suites = suites(self.source.ws)
        self._asked = (a, b)
        self._followed = True
        """Whether the iterations are those asked for, and no others were chosen since."""
        self._two = chosen(self._suites, a, b) if self._suites or a or b else None
        self._figures: Figures | None = None
        self._configuration = ""
        self._metric = ""
        self._tab = "verdicts"
        self._side_by_side = False
        self._all = False
        self._unfolded: set[tuple[str, int]] = set()
        self._versions: dict[str, str] = {}
        self._behind: Behind | None = None
        self._in_full: dict[str, RunKey] = {}
        self._page = f"sen-diff-{next(_NUMBERS)}"
        self._later = Later(self.show, PATIENCE)
        super().__init__()

    @property
    def selection(self) -> Any:
        """The runs of both iterations behind what was clicked last, as a table.

        The rows are those of `ws.runs`, and the table is of its kind; where nothing was
        clicked, they are all runs of the two iterations.
        """
        with self._lock:
            self._renew()
        ws = self.source.ws
        if self._two is None:
            rows = ws.polars("runs").clear()
        else:
            rows = runs_behind(ws, self._two, self._behind)
        return to_pandas(rows) if ws.backend == "pandas" else rows

    def settle(self, seconds: float = 60) -> bool:
        """Wait until nothing is being counted; whether it came to that."""
        return self._later.wait(seconds)

    # ── what a person does ────────────────────────────────────────────────────────────────────

    @action
    def choose_suite(self, at: str) -> None:
        """Look at another skill."""
        self._choose(two(self._suites[int(at)]))

    @action
    def choose_a(self, name: str) -> None:
        """Compare against another iteration; if it is the other of the two, they change places."""
        self._choose(self._with(name, self._sure.a if name == self._sure.b else self._sure.b))

    @action
    def choose_b(self, name: str) -> None:
        """Compare another iteration."""
        self._choose(self._with(self._sure.b if name == self._sure.a else self._sure.a, name))

    @action
    def swap(self) -> None:
        """Let the two iterations change places."""
        self._versions = {
            other: self._versions[one]
            for one, other in (("old", "new"), ("new", "old"))
            if one in self._versions
        }
        self._choose(self._with(self._sure.b, self._sure.a), keep_versions=True)

    @action
    def choose_configuration(self, name: str) -> None:
        """Look at another configuration."""
        if name not in self._sure.suite.configurations:
            raise ValueError(f"There is no configuration {name}.")
        self._configuration = name
        self._close()
        self._versions = {}

    @action
    def choose_metric(self, name: str) -> None:
        """Compare by another metric."""
        if name not in self._known.metrics:
            raise ValueError(f"There are no figures of {name}.")
        self._metric = name

    @action
    def choose_tab(self, name: str) -> None:
        """Look at another part."""
        if name != self._tab:
            self._tab, self._all = name, False
            self._close()

    @action
    def show_behind(self, kind: Any, key: str | list[str]) -> None:
        """Show the runs behind an eval, a dimension or an expectation; once more hides them."""
        about = key if isinstance(key, str) else CheckKey(*key)
        wanted = Behind(kind, self._shown, about)
        is_open = wanted == self._behind
        self._close()
        self._behind = None if is_open else wanted

    @action
    def open_run(self, *values: Any) -> None:
        """Show a run in full, beside one of the other iteration; once more hides it."""
        key = RunKey(*values)
        if self._in_full.get(key.iteration) == key:
            del self._in_full[key.iteration]
        else:
            self._in_full[key.iteration] = key

    @action
    def show_all(self) -> None:
        """Show every row of a long table."""
        self._all = True

    @action
    def choose_version(self, which: str, name: str) -> None:
        """Compare another version of the skill, whatever iterations are chosen."""
        self._versions[which] = name

    @action
    def lay_out(self, side_by_side: bool) -> None:
        """Show the lines of the skill's files in one column or side by side."""
        self._side_by_side = side_by_side

    @action
    def unfold(self, name: str, at: int) -> None:
        """Show unchanged lines of a file."""
        self._unfolded.add((name, at))

    # ── what there is to see ──────────────────────────────────────────────────────────────────

    def view(self) -> Child:
        """The choices, the verdict, and one of the parts."""
        self._later.begin()
        self._renew()
        if self._two is None:
            return self._nothing()
        figures = self._known
        return [
            head.choices(self._suites, self._sure, self._shown, figures.metrics, self._by),
            head.summary(
                self._sure,
                self._shown,
                metric_of(self._by),
                figures.between(self._by),
                self._own_checks(),
                self._compared(),
                figures.unlike(),
            ),
            tabs(
                self._tabs(), self._tab, ("choose_tab",), self._part(),
                label="Parts of the comparison", page=self._page,
            ),
        ]  # fmt: skip

    def _nothing(self) -> Child:
        if self.source.lacking:
            return notice(self.source.lacking)
        told = [f"{one.name}: {', '.join(one.iterations) or 'none'}" for one in self._suites]
        return [
            notice(
                "There are no two iterations of a skill to compare. A changed skill, or other "
                "evals or models, begin the next one when it is run."
            ),
            h("ul", (h("li", one) for one in told)) if told else None,
        ]

    def _tabs(self) -> dict[str, str]:
        figures = self._known
        own, unlike, compared = self._own_checks(), figures.unlike(), self._compared()
        flipped = None if own is None else sum(one.turn in FLIPS for one in own)
        return {
            "verdicts": "Verdicts",
            "checks": "Expectations" + ("" if flipped is None else f" ({flipped:,} flipped)"),
            "skill": "Skill files" + ("" if compared is None else f" ({len(compared.files):,})"),
            "others": "What else differs" + ("" if unlike is None else f" ({unlike.count:,})"),
        }

    def _own_checks(self) -> list[Check] | None:
        every = self._known.checks()
        return None if every is None else every.get(self._shown, [])

    def _part(self) -> Node:
        chosen, figures = self._sure, self._known
        if self._tab == "skill":
            found = self._found_versions()
            return skill.skill(
                chosen, self._shown, found, self._pair(found), self._compared(),
                self._unfolded, self._side_by_side,
            )  # fmt: skip
        if self._tab == "others":
            unlike = figures.unlike()
            return waiting() if unlike is None else others.others(unlike, chosen)
        if self._tab == "checks":
            every = figures.checks()
            if every is None:
                return waiting()
            below = self._below("check")
            return checks.expectations(chosen, every, self._shown, below, self._all)
        return h("div", self._verdicts(chosen, figures, metric_of(self._by)))

    def _verdicts(self, chosen: Two, figures: Figures, meant: Metric) -> Iterator[Node | None]:
        between, inside = figures.between(self._by), figures.inside(self._by)
        if between is None or inside is None:
            yield waiting()
        else:
            yield verdicts.overview(chosen, between, inside, meant)
        by_eval = figures.by_eval(self._by, self._shown)
        if by_eval is None:
            yield waiting()
        else:
            below = self._below("eval")
            yield verdicts.evals(chosen, by_eval, meant, self._shown, below, self._all)
        by_dimension = figures.by_dimension(self._shown)
        if by_dimension is None:
            yield waiting()
        else:
            below = self._below("dimension")
            yield verdicts.dimensions(chosen, by_dimension, self._shown, below)

    def _below(self, kind: str) -> dict[Any, Child]:
        """What stands below the row that was clicked, by its key."""
        behind = self._behind
        if behind is None or behind.kind != kind:
            return {}
        runs = self._known.behind(behind, self._by)
        meant = metric_of(self._by)
        listed = behind_view.columns(self._sure, behind, runs, self._in_full, meant)
        whole = behind_view.in_full(self.source.ws, self._sure, self._in_full)
        return {behind.key: [listed, whole]}

    # ── what it is worked out from ────────────────────────────────────────────────────────────

    @property
    def _sure(self) -> Two:
        if self._two is None:
            raise ValueError("There are no two iterations to compare.")
        return self._two

    @property
    def _known(self) -> Figures:
        if self._figures is None:
            self._figures = Figures(self.source.ws, self._sure, self._later)
        return self._figures

    @property
    def _shown(self) -> str:
        """The configuration that is looked at."""
        names = self._sure.suite.configurations
        return self._configuration if self._configuration in names else names[0]

    @property
    def _by(self) -> str:
        """The metric."""
        names = self._known.metrics
        return self._metric if self._metric in names else next(iter(names), "pass_rate")

    def _with(self, a: str, b: str) -> Two:
        for name in (a, b):
            if name not in self._sure.suite.iterations:
                raise ValueError(f"There is no iteration {name}.")
        return Two(self._sure.suite, a, b)

    def _choose(self, wanted: Two, *, keep_versions: bool = False) -> None:
        self._two, self._figures, self._followed = wanted, None, False
        self._all = False
        if not keep_versions:
            self._versions = {}
        self._unfolded.clear()
        self._close()

    def _close(self) -> None:
        self._behind = None
        self._in_full = {}

    def _found_versions(self) -> versions.Versions:
        return versions.versions(self.source.ws, self._sure.suite)

    def _pair(self, found: versions.Versions) -> tuple[Any, Any]:
        """The versions that are compared: those chosen, else those of the iterations."""
        old, new = versions.of_two(found, self._sure, self._shown)
        every = found.every
        if "old" in self._versions:
            old = every.get(self._versions["old"])
        if "new" in self._versions:
            new = every.get(self._versions["new"])
        return old, new

    def _compared(self) -> files.Comparison | None:
        old, new = self._pair(self._found_versions())
        return files.compare(old.folder, new.folder) if old and new else None

    def _changed(self) -> None:
        """Runs have landed; in whatever thread, so what is shown is renewed where it is drawn."""
        self._stale = True
        self.show()

    def _renew(self) -> None:
        """Take in what has landed; the iterations that were chosen stay chosen."""
        if not self._stale:
            return
        self._stale = False
        self._later.forget()
        self._suites = suites(self.source.ws)
        self._figures = None
        was = self._two
        if self._followed or was is None:
            self._two = self._again()
        else:
            self._two = next((_same(was, one) for one in self._suites if _is(was, one)), None)
        if self._two != was:
            self._close()

    def _again(self) -> Two | None:
        try:
            return chosen(self._suites, *self._asked)
        except ValueError:  # what was asked for is gone
            return chosen(self._suites, None, None)


def _is(was: Two, suite: Suite) -> bool:
    names = (was.suite.workspace, was.suite.skill)
    return (suite.workspace, suite.skill) == names and {was.a, was.b} <= set(suite.iterations)


def _same(was: Two, suite: Suite) -> Two:
    return Two(suite, was.a, was.b)
