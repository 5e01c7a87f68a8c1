"""Many skills on one page, each of which opens in the explorer."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, ClassVar

from skill_eval_nb.charts.metrics import metric
from skill_eval_nb.report.library import Library, say_known, say_step, show_part
from skill_eval_nb.report.measured import Table
from skill_eval_nb.stats.skills import OverSkills
from skill_eval_nb.stats.verdict import Row

from .explore import HEADLINE, Explore
from .explore.choice import Choice, suite_of
from .explore.rows import Things, find_bar, row_has, table_buttons, words_of
from .ui import Child, Node, action, h
from .ui.parts import blocks_view, button, table, table_row
from .ui.track import axis_of, delta_view, scale, track

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace

__all__ = ["LibraryPanel", "library_panel"]


def library_panel(ws: Workspace | str | PathLike[str]) -> LibraryPanel:
    """Look through many skills: the answer for all of them, and each in the explorer with a click.

    It shows what `sen.library` finds, and includes new runs as they finish. The widget's
    `.library` is that, and `.selection` the runs that you are looking at.

    Args:
        ws: what `load` returned, or the path of a folder above workspaces.
    """
    return LibraryPanel(ws, Choice())


def things_of(row: Row) -> Things:
    """What a skill is found by, beside its words."""
    return {"What is known": [say_known(row)], "Workspace": [row["workspace"]]}


class LibraryPanel(Explore):
    """Skills side by side; the explorer of the one that is opened."""

    label: ClassVar[str] = "Library of skills"
    is_open = False
    """Whether a skill is looked at, and not all of them."""

    def _renew_counts(self) -> None:
        super()._renew_counts()
        self.library = Library(self.source.ws)

    def view(self) -> Child:
        """All skills, or the one that is open."""
        if self.is_open:
            return [button("← All skills", ("close_skill",), kind="quiet"), super().view()]
        page = self.library.page
        said = map(show_part, (part for part in page.parts if not isinstance(part, Table)))
        shown = [h("h3", page.heading), blocks_view(filter(None, said))]
        rows = self.library.rows
        label, every = "Search skills and next steps", map(things_of, rows)
        bar = find_bar(self.search, every, label) if len(rows) > 1 else None
        takes = table_buttons(f"{self._page_id} library", "skills", lambda: rows) if rows else None
        tables = [self._skills_table(answer) for answer in self.library.answers]
        return h("div", shown, takes, bar, tables, cls="sen-x-explore")

    def _skills_table(self, answer: OverSkills) -> Node:
        named = self.library.name_rows(answer)
        meant, axis = metric(HEADLINE), axis_of([row for _, _, row in named], metric(HEADLINE))
        heads = ["Skill", scale(axis, meant, meant.difference_axis, difference=True)]
        heads += ["Difference", "What is known", "Next step"]
        rows: list[Node] = []
        for at, name, row in named:
            cells: list[Child] = [
                button(name, ("open_skill", at), kind="quiet"),
                track(axis, row, meant),
                delta_view(meant, row),
                say_known(row),
                h("small", say_step(row)),
            ]
            words, things = words_of(name, say_known(row), say_step(row)), things_of(row)
            if self.search.is_met(words, things):
                rows.append(table_row(cells, key=str(at), has=row_has(words, things)))
        return table(heads, rows, caption=f"Against {answer.against}")

    @action
    def open_skill(self, at: int) -> None:
        """Look at a skill, by its row in the table of the library."""
        row = self.library.rows[at]
        sides = row["configuration"], row["baseline"]
        request = Choice(row["workspace"], row["skill"], (row["iteration"],), *sides)
        suite = suite_of(self.counted.suites, request)
        models = suite.models if suite is not None else ()
        own = (model for model in models if all(row[key] == name for key, name in model))
        self._change_choice(replace(request, model=next(own, ())))
        self.find(None, "")
        self.is_open = True

    @action
    def close_skill(self) -> None:
        """Look at all skills again."""
        self.find(None, "")
        self.is_open = False
