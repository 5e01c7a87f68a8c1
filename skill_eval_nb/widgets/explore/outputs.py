"""The outputs: how each begins, eval by eval and configuration by configuration."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

from skill_eval_nb.charts.metrics import metric as metric_of
from skill_eval_nb.text import as_label, count

from ..show.comparison import read_beginning
from ..show.run import folder_of
from ..ui import Child, h
from ..ui.parts import button, soft, table
from ..ui.source import key_of
from ..ui.track import size
from . import figures
from .choice import Place
from .evals import Line, list_evals
from .look import Drawn, Look, list_page

COLUMNS = 4
"""Configurations that have a column: the two sides first."""
RATE = metric_of("pass_rate")


def outputs(look: Look) -> Child:
    """The view of outputs; a click on one opens it beside that of the other side."""
    sides = [name for _, name in look.kinds]
    names = list(dict.fromkeys([*sides, *look.suite.configurations]))
    columns = [_Column(look, name) for name in names[:COLUMNS]]

    def draw_eval(line: Line, at: Place) -> Drawn:  # noqa: ARG001 -- as all views have it
        (eval_id, name), part = line
        act = ("pick", "eval", part.iteration, eval_id, name)
        return Drawn(as_label(name), act, [column.cell(line) for column in columns])

    lines = list_evals(look, look.figures(figures.eval_keys))
    rows, paging = list_page(look, "outputs", lines, "eval", draw_eval, {})
    left = len(names) - COLUMNS
    heads: list[Child] = ["Eval", *(column.head for column in columns)]
    return h(
        "div",
        soft("How the first run’s output begins, and the pass rate of all runs. Click to compare."),
        table(heads, rows, label="Outputs by eval and configuration", cls="sen-x-outputs"),
        soft(f"{count(left, 'configuration')} more: choose them above.") if left > 0 else None,
        paging,
    )


class _Column:
    """The runs of a configuration, and what is shown of them."""

    def __init__(self, look: Look, name: str) -> None:
        self._look = look
        kind = {side: kind for kind, side in look.kinds}.get(name, "other")
        self.head = h("span", h("i", cls=f"sen-x-swatch sen-x-{kind}"), as_label(name, 60))
        own = replace(look.choice, configuration=name, baseline=None)
        parts = {part: replace(part, configuration=name, baseline=None) for part in look.parts}
        rates = look.counted.figures(figures.cells, list(parts.values()), RATE.column)
        self._rates = {
            (eval_key, part): cell.mean
            for part, mine in parts.items()
            for (eval_key, _), cell in (rates[mine] or {}).items()
        }
        self._runs: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
        for run in look.counted.runs(own, None).iter_rows(named=True):
            self._runs[run["iteration"], run["eval_id"], run["eval_name"]].append(run)

    def cell(self, line: Line) -> Child:
        """The first run's output, as the button that opens it."""
        (eval_id, name), part = line
        runs = self._runs[part.iteration, eval_id, name]
        if not runs:
            return soft("no run")
        file, words = read_beginning(folder_of(self._look.ws, runs[0]))
        about = h("small", f" {count(len(runs), 'run')} · {file}", cls="sen-soft")
        begins = h("div", words, cls="sen-x-begins", dir="auto") if words else None
        key = key_of(runs[0])
        return button(
            [h("div", h("b", size(RATE, self._rates.get(line))), about), begins],
            ("open_outputs", name, *key),
            cls="sen-x-output",
            aria_expanded=key in self._look.seen.opened,
        )
