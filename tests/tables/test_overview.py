"""What a workspace shows: sound HTML, nothing from a file unescaped, errors first; and the text."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skill_eval_nb as sen
from skill_eval_nb import show
from skill_eval_nb.tables import Workspace
from skill_eval_nb.tables.columns import to_pandas
from skill_eval_nb.tables.workspace import MOST_LINES
from skill_eval_nb.text import make_visible
from skill_eval_nb.view import NO_FORMULAS, Items, frame_html
from tests.checkout import ROOT
from tests.corpus.build import graded
from tests.tables.made import BASELINE, RUN, a_run, load, two_sides, workspace

TAGS = "div h3 h4 p b i span table thead tbody tr th td dl dt dd code br ul li a".split()
TAG = re.compile(
    rf"<(?:/?({'|'.join(TAGS)}))"
    r"(?: (?:class=sen-path|class='(?:sen-|mathjax_ignore|tex2jax_ignore|[\w -])*'|scope='col'"
    r"|colspan='\d+'|href='[^'<>]*' target='_blank' rel='noopener'))*>|<wbr>"
)
"""A tag as the view writes it."""
HOSTILE = (
    "<script>alert('x')</script>",
    "</td></table><img src=x onerror=alert(1)>",
    "'><b onclick='x'>",
    '" style="display:none',
    "&lt;b&gt; &amp;",
    "</style><style>*{display:none}",
    "\u202etxt.exe",
)


LOOK = (
    "() => ({page: document.documentElement.scrollWidth, warnings: getComputedStyle("
    "document.querySelector('.sen-card.sen-warning')).borderLeftColor})"
)


def words_of(shown: Any) -> list[str]:
    """The texts that are shown, of which none is a tag: there are no others than ours."""
    style, page = shown._repr_html_().removeprefix("<style>").split("</style>", 1)
    texts = TAG.split(page)[::2]
    assert not [text for text in (style, *texts) if "<" in text]
    return [unescape(text) for text in texts if text.strip()]


def named(name: str) -> Workspace:
    """A workspace in which every text from a file is `name`."""
    keys = dict.fromkeys(("workspace", "skill", "iteration", "eval_id", "configuration"), name)
    problem = {"severity": "error", "code": name, "path": name, "message": name}
    ws = workspace(runs=[a_run() | keys], problems=[problem])
    return Workspace.from_tables(ws.tables(), path=name)


@given(st.text(min_size=1))
def test_no_name_breaks_the_page(name):
    words_of(named(name))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_shown_as_they_are(name):
    # Of the path, workspace, skill, iteration, configuration and problem.
    assert words_of(named(name)).count(name) >= 6
    for shown in (show(pl.DataFrame({name: [name]})), show([name]), show([Path(name)])):
        assert make_visible(name) in words_of(shown)


def test_its_style_is_understood_and_it_is_as_wide_as_the_page(browser):
    ws = sen.load(ROOT / "data" / "tdd-workspace")
    drawn = browser.new_page()
    for width in (1000, 420):
        drawn.set_viewport_size({"width": width, "height": 900})
        drawn.set_content(ws._repr_html_())
        look = drawn.evaluate(LOOK)
        assert look["warnings"] == "rgb(224, 161, 27)"
        assert look["page"] <= width
    drawn.close()


def problem(severity: str, code: str, path: str = "p") -> dict[str, Any]:
    return {"severity": severity, "code": code, "path": path, "message": f"{code} at {path}"}


def test_what_is_too_much_to_list_is_counted_and_nothing_is_said_to_be_nothing():
    many = [problem("warning", f"code-{n}") for n in range(MOST_LINES + 3)]
    assert "… and 3 more" in words_of(workspace(problems=many))
    ws = workspace(runs=[a_run(f"ws-{n}") for n in range(MOST_LINES + 2)])
    assert "… and 2 more" in words_of(ws)
    assert "  … and 2 more" in repr(ws).splitlines()
    ws = workspace(runs=[a_run(iteration=f"i-{n}") for n in range(1, 13)])
    assert "i-1, i-2, i-3 and 9 more" in words_of(ws)
    assert words_of(Workspace.from_tables({})) == ["Nothing here"]


def block(ws: Workspace, caption: str) -> Any:
    (found,) = (one for one in ws._blocks() if getattr(one, "caption", "") == caption)
    return found


def test_what_has_graded_runs_comes_first_then_their_natural_order():
    runs = [a_run("a", "ungraded"), a_run("b"), a_run("c"), a_run("c"), a_run("d", "executed")]
    for ws, order in (
        (workspace(runs=runs), ["c", "b", "a", "d"]),
        (workspace(runs=[a_run("ws-10"), a_run("ws-9")]), ["ws-9", "ws-10"]),
        # One without runs and evals has a line too.
        (workspace(triggers=[{"workspace": "ws", "skill": "auth", "query": "Log in"}]), ["ws"]),
    ):
        assert [row[0] for row in block(ws, "What is here").rows] == order


SUITE = {"evals.json": {"evals": [{"id": 1, "prompt": "Log in."}]}}


@pytest.mark.parametrize(
    ("files", "code", "why"),
    [
        # Errors first.
        (two_sides() | {f"{BASELINE}/timing.json": "{"}, "ws.problems", "1 thing on disk could "),
        (two_sides(), "sen.charts.forest(ws)", ""),
        ({f"{RUN}/grading.json": graded("p")}, "", "every run is of with_skill: nothing to"),
        ({"eval-1/grading.json": graded("p")}, "", "no run names its configuration"),
        (SUITE, "ws.evals", "there are evals here, but no runs yet"),
    ],
)
def test_the_first_step(tmp_path, files, code, why):
    first = block(load(tmp_path, files), "Look at next").rows[0]
    assert first[0].startswith(code)
    assert first[1].startswith(why)


@pytest.mark.parametrize("name", ["iterations-workspace", "test-cases-workspace"])
def test_every_step_can_be_taken(name):
    ws = sen.load(ROOT / "data" / name)
    codes = [code for code, _ in block(ws, "Look at next").rows]
    assert len(codes) >= 2
    for code in codes:
        assert eval(code, {"ws": ws, "sen": sen}) is not None


# ── a table, or files, as a notebook reads them ────────────────────────────────────────────────


def test_texts_are_whole_and_rows_as_many_as_asked_for():
    long = "a word and another " * 40
    frame = pl.DataFrame({"text": [long] * 30, "n": range(30), "note": [None] * 30})
    for table in (frame, to_pandas(frame)):
        few, every = show(table, rows=3), show(table, rows=None)
        assert few._repr_html_().count(long) == repr(few).count(long) == 3
        assert "3 of 30 rows; rows=None shows all of them." in words_of(few)
        assert every._repr_html_().count(long) == repr(every).count(long) == 30
        assert "of 30 rows" not in repr(every)


def test_a_view_has_its_own_rules_touches_nothing_outside_and_prices_are_no_formulas():
    shown = frame_html("<p>5 &lt; $6 and $7</p>", "p {margin:1px}")
    style, inside = shown.removeprefix("<style>").split("</style>")
    assert style.startswith(".sen-shown.sen-shown {")
    assert style.endswith("p {margin:1px}}")
    assert inside == f"<div class='sen-shown {NO_FORMULAS}'><p>5 &lt; $6 and $7</p></div>"
    assert NO_FORMULAS.split() == ["mathjax_ignore", "tex2jax_ignore"]
    assert [line.strip() for line in Items(["a"], more=1).lines()][-2:] == ["- a", "… and 1 more"]
