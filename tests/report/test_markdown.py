"""benchmark.md read back by a Markdown parser that is not ours."""

import json
import re
from collections import defaultdict
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from skill_eval_nb import load, stats
from skill_eval_nb.report import markdown
from skill_eval_nb.report.page import escape_markdown
from tests.checkout import ROOT
from tests.report.made import HOSTILE, SIDES, balanced, helping, hostile, score, workspace

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


def test_the_checks_that_fail_most_stand_first_with_their_evidence():
    """Counted from the files, by nothing of ours."""
    folder = ROOT / "data" / "skill-creator-workspace"
    seen = defaultdict(lambda: defaultdict(list))
    for path in sorted(folder.glob("*/*/*/*/grading.json")):
        for check in json.loads(path.read_text())["expectations"]:
            of_eval = re.sub(r"^eval-\d+-", "", path.parts[-4])
            seen[check["text"], of_eval][path.parts[-3]].append(check)
    wanted = {
        key: [f"{sum(one['passed'] for one in own[side])} of {len(own[side])}" for side in SIDES]
        for key, own in seen.items()
        if not all(one["passed"] for one in own[SIDES[0]])
    }
    _, *rows = rows_of(markdown(load(folder)), "Passed of the runs that were scored")
    assert {(row[0], row[1]): row[3:] for row in rows} == wanted
    for text, name, evidence, *_ in rows:
        failed = [one for one in seen[text, name][SIDES[0]] if not one["passed"]]
        assert evidence in [" ".join(one["evidence"].split()) for one in failed]
    shares = [int(row[3].split()[0]) / int(row[3].split()[2]) for row in rows]
    assert shares == sorted(shares)


def test_intervals_and_verdicts_stand_beside_every_delta():
    rows = balanced()
    ws = workspace(runs=rows, rubric_scores=[score(row, "clarity", 4) for row in rows])
    text = markdown(ws)
    header, *rows = rows_of(text, "These evals: another run")
    assert header == ["Metric", "Delta", "Interval", "p", "Verdict"]
    assert [row[0] for row in rows] == ["Pass rate", "Time", "Tokens", "clarity"]
    (own,) = stats.deltas(ws).to_dicts()
    low, high = f"{own['low'] * 100:+.1f} pp", f"{own['high'] * 100:+.1f} pp"
    assert rows[0][2] == f"{low} to {high}".replace("-", "−")
    assert rows[0][4] == own["verdict"]
    none = "Of tasks like these nothing can be claimed: that takes at least 6 evals that differ"
    assert none in text
    many = workspace(runs=helping(8, 2))
    _, first, *_ = rows_of(markdown(many), "Tasks like these: other evals")
    (like,) = stats.deltas(many, scope="population").to_dicts()
    assert first[-1] == like["verdict"]


def test_hostile_texts_stay_texts():
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
