"""benchmark.md read back by a Markdown parser that is not ours."""

import re
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from skill_eval_nb import stats
from skill_eval_nb.report import markdown
from skill_eval_nb.report.page import escape_markdown
from tests.report.made import (
    HOSTILE,
    balanced,
    check,
    helping,
    hostile,
    in_iterations,
    of_two_models,
    one_side,
    problem,
    run,
    score,
    stated,
    workspace,
)

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def tables(text):
    """The tables of a Markdown text by the line above them: lists of rows of plain texts."""
    found, caption, rows = {}, "", None
    for token in READER.parse(text):
        if token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "table_close":
            found[caption], rows = rows, None
        elif token.type == "inline" and rows is not None:
            rows[-1].append(shown(token))
        elif token.type == "inline":
            caption = shown(token)
    return found


def shown(inline):
    """What a reader sees of a line; nothing but text and a command may be in it."""
    plain = {"text", "text_special", "strong_open", "strong_close", "code_inline"}
    assert {child.type for child in inline.children} <= plain, inline.content
    return "".join(child.content for child in inline.children)


def headings(text):
    found = [pair for pair in pairwise(READER.parse(text)) if pair[0].type == "heading_open"]
    return [(opened.tag, shown(inline)) for opened, inline in found]


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


@cache
def plain():
    """The report of two evals and two sides, with nothing else known."""
    return markdown(workspace(runs=balanced()))


def test_it_opens_with_the_table_that_people_know():
    text = plain()
    assert headings(text)[0] == ("h1", "Benchmark of tdd, iteration-1")
    first, *_ = tables(text).values()
    assert first == [
        ["Metric", "with_skill", "without_skill", "Delta"],
        ["Pass rate", "81.3% (n = 4)", "43.8% (n = 4)", "+37.5 pp (n = 2)"],
        ["Time", "68.0 s (n = 4)", "55.0 s (n = 4)", "+13.0 s (n = 2)"],
        ["Tokens", "4,850 (n = 4)", "3,150 (n = 4)", "+1,700 (n = 2)"],
    ]


def test_the_verdict_stands_first_and_says_what_it_rests_on():
    lines = plain().splitlines()
    assert lines[2].startswith("**Too few runs to say whether with_skill helps on these 2 evals.**")
    assert lines[4].startswith("**Too few evals to say whether with_skill helps on tasks like")
    assert "exact p = " in lines[2]
    assert "takes 6 evals that differ" in lines[4]
    lines = markdown(workspace(runs=helping(6, 3))).splitlines()
    assert lines[2].startswith("**with_skill helps on these 6 evals.** Pass rate: +50 pp (+")
    assert lines[4].startswith("**with_skill helps on tasks like these.** Pass rate: +50 pp (as")


def test_single_runs_of_many_evals_are_led_by_what_they_say_of_tasks_like_these():
    lines = markdown(workspace(runs=helping(8, 1))).splitlines()
    assert lines[2].startswith("**with_skill helps on tasks like these.** Pass rate: +50 pp (")
    assert lines[4].startswith("**Too few runs to say whether with_skill helps on these 8 evals.**")


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
    assert (
        "Of tasks like these nothing can be claimed: that takes at least 6 evals that differ"
        in text
    )
    many = [
        row | {"eval_id": f"{row['eval_id']}-{more}", "eval_name": f"{row['eval_name']} {more}"}
        for row in balanced()
        for more in range(4)
    ]
    _, first, *_ = rows_of(markdown(workspace(runs=many)), "Tasks like these: other evals")
    (like,) = stats.deltas(workspace(runs=many), scope="population").to_dicts()
    assert first[-1] == like["verdict"]


def judged(judgings=2):
    """Runs of which each was judged several times; the judge is a point off every other time."""
    rows = balanced()
    scores = [
        score(row, "clarity", 2 + row["run_number"] / 2 + judging % 2, judging)
        for row in rows
        for judging in range(1, judgings + 1)
    ]
    return workspace(runs=rows, rubric_scores=scores)


@cache
def report_of_judged(judgings=2):
    """The report of `judged`."""
    return markdown(judged(judgings))


def test_the_variance_is_told_in_its_parts():
    header, *rows = rows_of(report_of_judged(), "Standard deviation in points")
    assert header == ["Dimension", "Configuration", "Eval", "Run", "Judge"]
    assert [row[:2] for row in rows] == [["clarity", "with_skill"], ["clarity", "without_skill"]]
    figures = stats.variance(judged()).filter(component="judge")
    spread, share = figures["variance"][0] ** 0.5, figures["share"][0]
    assert rows[0][4].startswith(f"{spread:.2f}, {share:.0%}")
    header, *_ = rows_of(report_of_judged(1), "Standard deviation in points")
    assert header[2:] == ["Eval", "Run + judge"]


def test_the_judge_is_held_against_itself_or_it_is_said_that_it_cannot():
    _, row = rows_of(report_of_judged(), "Scores of the same output, judged again")
    (found,) = stats.agreement(judged()).to_dicts()
    assert row[:2] == ["clarity", "unstated"]
    assert row[2:4] == [f"{found['exact']:.0%}", f"{found['within_one']:.0%}"] == ["0%", "100%"]
    assert row[-1] == "8 outputs"
    assert found["note"] in report_of_judged()
    assert "No output was judged twice" in report_of_judged(1)


def test_what_stands_out_is_what_the_notes_say():
    text = report_of_judged()
    assert ("h2", "Notable") in headings(text)
    told = stats.notes(judged()).filter(kind="gain and cost")["text"].item()
    assert f"- {escape_markdown(told)}" in text.splitlines()


def test_evals_stand_by_name_with_both_sides_or_with_the_reason_why_not():
    text = markdown(workspace(runs=[*balanced(), run("3", "with_skill", 1, 1.0)]))
    told = (
        "- 1 of 3 evals cannot be compared, with_skill against without_skill: ‘eval 3’ (no run of "
        "without_skill). Run what is missing."
    )
    assert told in text.splitlines()
    assert rows_of(text, "Pass rate, by eval") == [
        ["Eval", "with_skill", "without_skill", "Delta"],
        ["eval 1", "87.5% (n = 2)", "37.5% (n = 2)", "+50 pp"],
        ["eval 2", "75% (n = 2)", "50% (n = 2)", "+25 pp"],
        ["eval 3", "100% (n = 1)", "–", "–"],
    ]


def test_dimensions_have_n_on_both_sides():
    rows = balanced()
    scores = [
        score(row, "clarity", 4.0 if row["configuration"] == "with_skill" else 3.0)
        for row in rows
        if (row["eval_id"], row["configuration"]) != ("2", "without_skill")
    ]
    text = markdown(workspace(runs=rows, rubric_scores=scores))
    assert rows_of(text, "Scores from 1 to 5") == [
        ["Dimension", "with_skill", "without_skill", "Delta"],
        ["clarity", "4.00 (n = 4)", "3.00 (n = 2)", "+1.00 (n = 1)"],
    ]


def test_checks_that_tell_nothing():
    rows = balanced()
    checks = [check(row, "is there", True) for row in rows]
    checks += [check(row, "is not there", False) for row in rows]
    checks += [check(row, "too seldom seen", False) for row in rows if row["eval_id"] == "2"]
    checks += [check(row, "leans", row["configuration"] == "with_skill") for row in rows]
    checks += [check(row, "one side", True) for row in rows if row["configuration"] == "with_skill"]
    checks += [check(row, "never scored", None) for row in rows]
    text = markdown(workspace(runs=rows, expectations=checks))
    assert rows_of(text, "n counts verdicts") == [
        ["Check", "Verdict", "Evals", "n with_skill", "n without_skill"],
        ["is not there", "always fails", "eval 1 and eval 2", "4", "4"],
        ["is there", "always passes", "eval 1 and eval 2", "4", "4"],
    ]
    assert (
        "with_skill against without_skill, 6 checks: always passes 1, always fails 1 and "
        "too little data 4." in text
    )
    assert "- 8 of 40 verdicts not scored" in text


def test_checks_that_tell_the_sides_apart():
    rows = [
        row | {"run_number": row["run_number"] + 2 * more} for row in balanced() for more in (0, 1)
    ]
    checks = [check(row, "tells", row["configuration"] == "with_skill") for row in rows]
    checks += [check(row, "speaks | against", row["configuration"] != "with_skill") for row in rows]
    text = markdown(workspace(runs=rows, expectations=checks))
    assert rows_of(text, "Checks that tell the sides apart") == [
        ["Check", "Class", "Evals", "Pass rate", "Baseline", "Difference", "p"],
        [
            *("speaks | against", "hurts", "eval 1 and eval 2"),
            *("0% (n = 8)", "100% (n = 8)", "−100 pp", "0.00041"),
        ],
        [
            *("tells", "separates", "eval 1 and eval 2"),
            *("100% (n = 8)", "0% (n = 8)", "+100 pp", "0.00041"),
        ],
    ]


def test_runs_that_count_nowhere_are_named():
    rows = [*balanced(), run("2", "with_skill", 3, None)]
    rows.append(run("1", "without_skill", 3, None) | {"status": "ungraded"})
    lines = markdown(workspace(runs=rows)).splitlines()
    told = (
        "- Not in every figure: of 10 runs 1 errored (eval 2 with_skill run 3); 1 left nothing "
        "that could be graded (eval 1 without_skill run 3)."
    )
    assert lines.count(told) == 1


def test_problems_are_counted_and_the_worst_named_first():
    problems = [
        problem(
            one, path=f"{one}.json", where="$.x" if one == "error" else None, message=f"an {one}"
        )
        for one in ("info", "warning", "error", "info")
    ]
    text = markdown(workspace(runs=balanced(), problems=problems))
    assert "Problems in the files: 1 error, 1 warning and 2 info." in text
    assert rows_of(text, "Errors first") == [
        ["Severity", "File", "Problem"],
        ["error", "error.json $.x", "an error"],
        ["warning", "warning.json", "an warning"],
    ]


def test_an_audit_names_what_does_not_agree():
    figures = stated(
        ("with_skill", "pass_rate", "mean", 0.8125),
        ("without_skill", "pass_rate", "mean", 0.9),
        ("with_skill", "tokens", "mean", 4850),
    )
    text = markdown(workspace(runs=balanced(), stated=figures))
    assert "1 of the 3 figures of iteration-1/benchmark.json do not agree with the runs." in text
    (_, row) = rows_of(text, "Stated, and what the runs give")
    assert row[:2] + row[3:] == ["without_skill", "Pass rate, mean", "0.9", "0.4375"]


def test_what_it_cost_is_added_up():
    rows = [row | {"cost_usd": 0.25} for row in balanced()]
    rows[0]["cost_usd"] = None
    assert rows_of(markdown(workspace(runs=rows)), "All runs added up") == [
        ["", "with_skill", "without_skill", "Together"],
        ["Time", "4 min 32 s (n = 4)", "3 min 40 s (n = 4)", "8 min 12 s (n = 8)"],
        ["Tokens", "19,400 (n = 4)", "12,600 (n = 4)", "32,000 (n = 8)"],
        ["Cost", "$0.7500 (n = 3)", "$1.00 (n = 4)", "$1.75 (n = 7)"],
    ]


def test_three_configurations_have_a_delta_each():
    rows = [*balanced(), run("1", "old_skill", 1, 0.5), run("2", "old_skill", 1, 0.5)]
    first, *_ = tables(markdown(workspace(runs=rows))).values()
    assert first[:2] == [
        [
            *("Metric", "with_skill", "old_skill", "without_skill"),
            *("Delta with_skill", "Delta old_skill"),
        ],
        [
            *("Pass rate", "81.3% (n = 4)", "50% (n = 2)", "43.8% (n = 4)"),
            *("+37.5 pp (n = 2)", "+6.3 pp (n = 2)"),
        ],
    ]


def test_one_configuration_stands_alone():
    text = markdown(workspace(runs=one_side()))
    first, *_ = tables(text).values()
    assert first[:2] == [["Metric", "with_skill"], ["Pass rate", "81.3% (n = 4)"]]
    assert "**" not in text
    assert "How sure" not in text
    assert "There is nothing to compare: no baseline among the configurations: with_skill." in text


def test_several_iterations_stand_side_by_side_first():
    text = markdown(workspace(runs=in_iterations(1, 2)))
    assert [name for tag, name in headings(text) if tag != "h3"] == [
        "Benchmarks of tdd",
        "tdd-workspace, tdd, iteration-1",
        "tdd-workspace, tdd, iteration-2",
    ]
    assert "iteration-2: Too few runs to say" in text[: text.index("Pass rate: means")]
    first, *_ = tables(text).values()
    assert [row[0][-11:] for row in first[1:]] == ["iteration-1", "iteration-2"]
    assert first[1][1:] == [
        "with_skill 81.3% (n = 4)",
        "without_skill 43.8% (n = 4)",
        "+37.5 pp (n = 2)",
        "too few runs",
    ]


def test_a_suite_without_runs_is_shown():
    keys = {"workspace": "w", "skill": "pdf", "weight": 1.0, "n_structural": 0, "n_dimensions": 2}
    evals = [
        {**keys, "eval_id": str(n), "eval_name": name, "n_expectations": n}
        for n, name in enumerate(("forms", "tables"), 1)
    ]
    text = markdown(workspace(evals=evals))
    assert headings(text)[0] == ("h1", "Benchmark of pdf")
    assert "2 evals, no run; workspace w." in text
    assert rows_of(text, "What is defined")[1:] == [
        ["forms", "1", "0", "2"],
        ["tables", "2", "0", "2"],
    ]
    assert "- No run was found: these evals wait for their first." in text


def test_no_section_is_empty():
    for text in (
        markdown(workspace()),
        plain(),
        markdown(workspace(runs=[run("1", "x", 1, None)])),
        report_of_hostile(),
    ):
        assert not re.search(r"^#+ [^\n]+\n+(?=(#|\Z))", text, re.MULTILINE), text
        assert not re.search(r"\b(nan|none|null|inf)\b", text.replace("none of", ""), re.IGNORECASE)


def test_hostile_texts_stay_texts():
    text = report_of_hostile()
    tokens = READER.parse(text)
    kinds = {token.type for token in tokens}
    kinds |= {child.type for token in tokens for child in token.children or ()}
    assert kinds.isdisjoint(
        {"html_block", "html_inline", "link_open", "image", "code_inline", "hr"}
    )
    assert kinds.isdisjoint({"fence", "em_open", "s_open", "softbreak", "blockquote_open"})
    strong = [child for token in tokens for child in token.children or () if child.markup == "**"]
    assert len(strong) == 2 * len(re.findall(r"^\*\*", text, re.MULTILINE)), "verdicts only"
    names = [row[0] for row in rows_of(text, "Pass rate, by eval")[1:]]
    seen = [" ".join(name.replace("\u202e", "").split()) for name in HOSTILE]
    assert names == seen
    assert all(len(row) == len(rows[0]) for rows in tables(text).values() for row in rows)


def test_each_model_has_a_verdict_a_table_and_a_section_and_what_is_stated_is_of_all():
    figures = stated(("without_skill", "pass_rate", "mean", 0.5))
    text = markdown(workspace(runs=of_two_models(), stated=figures))
    for name in ("large", "small"):
        assert f"tdd-workspace, tdd, iteration-1, {name}: " in text
        assert ("h2", f"tdd-workspace, tdd, iteration-1, {name}") in headings(text)
    assert "third: There is nothing to compare.** All runs of this model are of with" in text
    _, *rows = rows_of(text, "Pass rate: means over runs")
    assert [row[0].split(", ")[-1] for row in rows] == ["large", "small", "third"]
    assert [row[3].split()[0] for row in rows] == ["+37.5", "−37.5", "–"]
    assert text.count("What benchmark.json states") == 1
    assert "iteration-1, all models" in text
    assert "The 1 figure of iteration-1/benchmark.json agree" in text
