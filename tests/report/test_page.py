"""report.html and benchmark.md read back by parsers that are not ours."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from xml.etree import ElementTree as ET

import altair as alt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from skill_eval_nb.report import html, markdown
from skill_eval_nb.report.measured import Picture, Section
from skill_eval_nb.report.page import escape_markdown, render_html
from tests.report.made import (
    HOSTILE,
    hostile,
    in_iterations,
    problem,
    whole,
    workspace,
)


def full():
    more = {"rubric_normalized": 0.6, "rubric_weighted_mean": 3.0, "cost_usd": 0.1}
    return workspace(**whole(**more), problems=[problem(path="a.json", message="no JSON")])


def two_iterations():
    return workspace(runs=in_iterations(1, 2))


def read(source):
    """A page as XML, which it is but for its void elements: whatever is open is closed."""
    assert source.startswith("<!DOCTYPE html>")
    return ET.fromstring(re.sub(r"(<meta[^>]*)>", r"\1/>", source))


@cache
def source(made):
    """The page of a workspace, written once for all tests that look at it."""
    return html(made())


@pytest.fixture
def page():
    return read(source(full))


def text_of(element):
    return "".join(element.itertext())


@pytest.mark.parametrize("made", [full, hostile, workspace])
def test_nothing_is_fetched_and_nothing_runs(made):
    page = read(source(made))
    tags = {one.tag for one in page.iter()}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "image", "use", "base"}
    for one in page.iter():
        for name, value in one.attrib.items():
            assert not name.startswith("on"), (one.tag, name)
            if name in ("href", "xlink:href", "src", "srcset", "action", "data"):
                assert value.startswith("#"), (one.tag, name, value)
            if one.tag != "meta":
                assert value.count("url(") == value.count("url(#"), (one.tag, name, value)
    assert not [one for one in page.iter("style") if re.search(r"url\(|@import", text_of(one))]


def test_it_says_what_the_markdown_says(page):
    text = markdown(full()).replace("\\", "")
    told = {one.text for tag in ("h1", "h2", "p", "li") for one in page.iter(tag) if one.text}
    assert {part for part in told if part not in text} == set()
    head, first, *_ = ([text_of(cell) for cell in row] for row in page.iter("tr"))
    assert head == ["Metric", "with_skill", "without_skill", "Delta"]
    assert first == ["Pass rate", "81.3% n = 4", "43.8% n = 4", "+37.5 pp n = 2"]


def test_it_can_be_heard(page):
    assert page.attrib == {"lang": "en"}
    assert [one.get("charset") for one in page.iter("meta") if one.get("charset")] == ["utf-8"]
    levels = [int(one.tag[1]) for one in page.iter() if re.fullmatch(r"h\d", one.tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    tables = [*page.iter("table")]
    assert len(tables) == len([one for table in tables for one in table.iter("caption")]) > 3
    assert all(one.get("scope") for one in page.iter("th"))
    pictures = [*page.iter("svg")]
    assert len(pictures) == 7
    assert all(one.get("role") == "img" and one.get("aria-label") for one in pictures)


def test_a_picture_is_drawn_into_the_page_and_names_inside_do_not_clash(page):
    names = [one.attrib["id"] for one in page.iter() if "id" in one.attrib]
    assert len(names) == len(set(names))

    def clipped():
        chart = alt.Chart(alt.Data(values=[{"a": 1, "b": "<b>&"}])).mark_text(clip=True)
        return chart.encode(x="a:Q", text="b:N")

    drawn = read(render_html(Section("x", (Picture('"1"', clipped), Picture("2", clipped)))))
    assert "<b>&" in [one.text for one in drawn.iter("text")]
    assert [one.get("aria-label") for one in drawn.iter("svg")] == ['"1"', "2"]
    names = [one.get("id") for one in drawn.iter("clipPath")]
    used = [one.get("clip-path") for one in drawn.iter() if one.get("clip-path")]
    assert len(set(names)) == len(names) == 2
    assert used == [f"url(#{name})" for name in names]


def test_hostile_texts_stay_texts():
    page = read(source(hostile))
    cells = {text_of(one) for tag in ("td", "th") for one in page.iter(tag)}
    assert {" ".join(text.replace("\u202e", "").split()) for text in HOSTILE} <= cells
    known = {one.tag for one in read(source(full)).iter()}
    assert {one.tag for one in page.iter()} <= known | {"a", "li", "nav", "ul"}


def test_a_page_of_many_benchmarks_has_the_charts_of_all_together(monkeypatch):
    monkeypatch.setitem(render_html.__globals__, "PICTURED", 1)  # two are many
    page = read(html(two_iterations()))
    assert len([*page.iter("svg")]) == 1
    assert any("the charts of each are left out" in text_of(one) for one in page.iter("p"))


@pytest.mark.browser
def test_a_browser_shows_it_in_both_lights(browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(source(hostile), encoding="utf-8")
    context = browser.new_context()
    tab = context.new_page()
    told, asked = [], []
    tab.on("console", lambda message: told.append(message.text))
    tab.on("pageerror", lambda error: told.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(path.as_uri())
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        inks = tab.evaluate(
            """() => [...document.querySelectorAll("svg text")].map(
                 text => getComputedStyle(text).fill).filter(fill => fill != "rgb(32, 38, 45)")"""
        )  # the figures in the coloured cells of the matrix keep their ink
        assert is_light(paper) == (scheme == "light")
        assert len(inks) > 10
        assert {is_light(ink) for ink in inks} == {scheme == "dark"}
    context.close()
    assert (told, asked) == ([], [path.as_uri()])


def is_light(colour):
    return sum(map(int, re.findall(r"\d+", colour)[:3])) > 382


# ── Markdown ──────────────────────────────────────────────────────────────────────────────────────


READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
LINKS = {"link_open", "link_close"}


def tables(text):
    """The tables of a Markdown text by the line above them: lists of rows of plain texts."""
    found, caption, rows = {}, "", None
    for token in READER.parse(text):
        if token.type == "table_open":
            rows = found[caption] = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "table_close":
            rows = None
        elif token.type == "inline" and rows is not None:
            rows[-1].append(shown(token))
        elif token.type == "inline":
            caption = shown(token, LINKS)
    return found


def shown(inline, links=frozenset()):
    """What a reader sees of a line; nothing but text, a command and these kinds may be in it."""
    plain = {"text", "text_special", "strong_open", "strong_close", "code_inline"}
    assert {child.type for child in inline.children} <= plain | links, inline.content
    return "".join(child.content for child in inline.children)


def rows_of(text, caption):
    (found,) = [rows for name, rows in tables(text).items() if name.startswith(caption)]
    return found


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
@pytest.mark.parametrize("before", ["", "- ", "# ", "| "])
@example(HOSTILE[0])
@example(HOSTILE[4])
@example(HOSTILE[7])
def test_an_escaped_text_is_read_as_it_is(before, text):
    line = escape_markdown(text)
    assert "\n" not in line
    source = f"| a |\n| - |\n| {line} |" if before == "| " else f"{before}{line}"
    inlines = [token for token in READER.parse(source) if token.type == "inline"]
    read = shown(inlines[-1]) if inlines else ""
    if before == "| " and len(inlines) == 1:
        read = ""  # a table whose last cell is empty
    assert read == " ".join(text.split())


@cache
def report_of_hostile():
    return markdown(hostile())


def test_the_contents_lead_to_every_section_and_nothing_else_is_a_link():
    tokens = READER.parse(report_of_hostile())
    inline = [child for token in tokens for child in token.children or ()]
    links = [child.attrs["href"] for child in inline if child.type == "link_open"]
    heads = [at for at, token in enumerate(tokens) if (token.tag, token.nesting) == ("h2", 1)]
    titles = [shown(tokens[at + 1]).lower() for at in heads]
    assert links == ["#" + re.sub(r"[^\w -]", "", one).replace(" ", "-") for one in titles] != []


def test_hostile_texts_stay_texts_in_markdown():
    text = report_of_hostile()
    tokens = READER.parse(text)
    kinds = {token.type for token in tokens}
    kinds |= {child.type for token in tokens for child in token.children or ()}
    acting = "html_block html_inline image code_inline hr fence em_open s_open softbreak"
    assert kinds.isdisjoint([*acting.split(), "blockquote_open"])
    strong = [child for token in tokens for child in token.children or () if child.markup == "**"]
    assert len(strong) == 2 * len(re.findall(r"^\*\*", text, re.MULTILINE)), "verdicts only"
    names = [row[0] for row in rows_of(text, "Pass rate, by eval")[1:]]
    assert names == [" ".join(name.replace("\u202e", "").split()) for name in HOSTILE]
