"""report.html read back by a parser that is not ours: whole, alone, and nothing but text in it."""

import re
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from urllib.parse import unquote

import pytest

from skill_eval_nb.report import html, markdown
from skill_eval_nb.report.content import Picture, Section
from skill_eval_nb.report.page import render_html
from tests.report.made import (
    HOSTILE,
    balanced,
    check,
    hostile,
    in_iterations,
    problem,
    score,
    workspace,
)

VOID = {"meta"}


class Page(HTMLParser):
    """The elements of a page, and the texts by the element they stand in."""

    def __init__(self, source):
        super().__init__()
        self.elements, self.texts, self.open = [], [], []
        self.tables, self.declared = [], None
        self.feed(source)
        self.close()

    def handle_decl(self, decl):
        self.declared = decl

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if not self.open:
            assert not data.strip()
            return
        self.texts.append((self.open[-1], data))
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data

    def text(self, *tags):
        return [data for tag, data in self.texts if tag in tags]


def whole():
    rows = [
        row | {"rubric_normalized": 0.6, "rubric_weighted_mean": 3.0, "cost_usd": 0.1}
        for row in balanced()
    ]
    checks = [check(row, text, True) for row in rows for text in ("is there", "is right")]
    scores = [score(row, "clarity", 3.0) for row in rows]
    problems = [problem(path="a.json", message="no JSON")]
    return workspace(runs=rows, expectations=checks, rubric_scores=scores, problems=problems)


def two_iterations():
    return workspace(runs=in_iterations(1, 2))


@cache
def source(made):
    """The page of a workspace, written once for all tests that look at it."""
    return html(made())


@pytest.fixture
def page():
    return Page(source(whole))


def test_the_page_is_whole(page):
    assert page.declared == "DOCTYPE html"
    assert page.open == []
    assert page.elements[0] == ("html", {"lang": "en"})
    assert ("meta", {"charset": "utf-8"}) in page.elements


@pytest.mark.parametrize("made", [whole, hostile, workspace])
def test_nothing_is_fetched_and_nothing_runs(made):
    page = Page(source(made))
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "image", "use", "base"}
    for tag, attributes in page.elements:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("href", "xlink:href", "src", "srcset", "action", "data"):
                assert value.startswith("#"), (tag, name, value)
            if "url(" in (value or "") and tag != "meta":
                assert "url(#" in value, (tag, name, value)
    for text in page.text("style"):
        assert "url(" not in text
        assert "@import" not in text


def test_it_says_what_the_markdown_says(page):
    ws = whole()
    text = markdown(ws)
    for part in page.text("h1", "h2", "p", "li"):
        if part == "Runs":  # only a page has rows to link to
            continue
        assert part in text.replace("\\", "")
    first = page.tables[0]
    assert first[:2] == [
        ["Metric", "with_skill", "without_skill", "Delta"],
        ["Pass rate", "81.3% n = 4", "43.8% n = 4", "+37.5 pp n = 2"],
    ]


@pytest.mark.parametrize("made", [whole, hostile, two_iterations])
def test_every_run_can_be_linked_to(made):
    page = Page(source(made))
    rows = [one["id"] for tag, one in page.elements if tag == "tr" and "id" in one]
    links = [one["href"].removeprefix("#") for tag, one in page.elements if tag == "a"]
    assert [unquote(link) for link in links if not re.fullmatch(r"s\d+", link)] == rows
    assert len(set(rows)) == len(rows) == made().runs.shape[0]
    assert not any(character.isspace() for row in rows for character in row)
    assert "Every run" not in markdown(made())


def test_it_can_be_heard(page):
    levels = [int(tag[1]) for tag, _ in page.elements if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    tags = [tag for tag, _ in page.elements]
    assert tags.count("table") == tags.count("caption") == len(page.tables)
    assert all(attributes.get("scope") for tag, attributes in page.elements if tag == "th")
    pictures = [attributes for tag, attributes in page.elements if tag == "svg"]
    assert len(pictures) == 6
    assert all(one["role"] == "img" and one["aria-label"] for one in pictures)


def test_names_inside_pictures_do_not_clash(page):
    names = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(names) == len(set(names))
    pictures = Page(render_html(Section("x", (Picture("1", clipped), Picture("2", clipped)))))
    names = [one["id"] for _, one in pictures.elements if "clip" in one.get("id", "")]
    used = [one["clip-path"] for _, one in pictures.elements if "clip-path" in one]
    assert len(set(names)) == len(names) == 2
    assert used == [f"url(#{name})" for name in names]


def clipped():
    import altair as alt

    return (
        alt.Chart(alt.Data(values=[{"a": 1, "b": "<b>&"}])).mark_circle(clip=True).encode(x="a:Q")
    )


def test_hostile_texts_stay_texts():
    page = Page(source(hostile))
    cells = {cell for table in page.tables for row in table for cell in row}
    for text in HOSTILE:
        assert " ".join(text.replace("\u202e", "").split()) in cells
    known = {tag for tag, _ in Page(source(whole)).elements}
    assert {tag for tag, _ in page.elements} <= known | {"a", "li", "nav", "ul"}


def test_a_page_of_many_benchmarks_has_the_charts_of_all_together(monkeypatch):
    monkeypatch.setitem(render_html.__globals__, "PICTURED", 1)  # two are many
    page = Page(html(two_iterations()))
    assert [tag for tag, _ in page.elements].count("svg") == 1
    assert any("the charts of each are left out" in text for text in page.text("p"))


def test_a_picture_is_drawn_into_the_page():
    def draw():
        return clipped().mark_text().encode(text="b:N")

    page = Page(render_html(Section("x", (Picture('"alt"', draw),))))
    assert "<b>&" in page.text("text")
    assert [one["aria-label"] for tag, one in page.elements if tag == "svg"] == ['"alt"']


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_it_in_both_lights(browser, tmp_path, scheme):
    path = tmp_path / "report.html"
    path.write_text(source(hostile), encoding="utf-8")
    context = browser.new_context(color_scheme=scheme)
    tab = context.new_page()
    told, asked = [], []
    tab.on("console", lambda message: told.append(message.text))
    tab.on("pageerror", lambda error: told.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(path.as_uri())
    paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    inks = tab.evaluate(
        """() => [...document.querySelectorAll("svg text")].map(
             text => getComputedStyle(text).fill).filter(fill => fill != "rgb(32, 38, 45)")"""
    )  # the figures in the coloured cells of the matrix keep their ink
    context.close()
    assert told == []
    assert asked == [path.as_uri()]
    assert is_light(paper) == (scheme == "light")
    assert len(inks) > 10
    assert {is_light(ink) for ink in inks} == {scheme == "dark"}


def is_light(colour):
    return sum(map(int, re.findall(r"\d+", colour)[:3])) > 382


def test_the_charts_are_drawn_unchecked_and_are_right_all_the_same(monkeypatch):
    shown = []
    monkeypatch.setitem(
        render_html.__globals__, "inline_svg", lambda chart, *_: shown.append(chart) or ""
    )
    html(whole())
    assert len(shown) > 3
    for chart in shown:
        chart.to_dict(validate=True)
