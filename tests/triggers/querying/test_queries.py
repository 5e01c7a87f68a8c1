"""A trigger set in every form that its file may have, and what is said of one that is none."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.triggers.attempt import Query
from skill_eval_nb.triggers.queries import (
    QueryDoubt,
    alike,
    check_queries,
    gives_away,
    read_queries,
)
from tests.corpus.build import graded, lay
from tests.triggers.querying.made import SHOULD, SHOULD_NOT, SOUND, of

ROWS = [{"query": "sort it", "should_trigger": True}, {"query": "hi", "should_trigger": False}]
QUERIES = (Query("sort it", should_trigger=True), Query("hi", should_trigger=False))
SEVERAL = [
    {"id": 1, "query": "sort it", "expected": "tidy-tables"},
    {"id": 2, "query": "write it up", "expected": "release-notes"},
    {"id": 3, "query": "hi", "expected": "none"},
]


def written(folder: Path, raw: Any, name: str = "trigger-eval-set.json") -> Path:
    """A file that holds this."""
    return lay(folder, {name: raw}) / name


@pytest.mark.parametrize(
    "raw",
    [
        ROWS,
        {"queries": ROWS},
        {"evals": ROWS, "skill_name": "tidy-tables"},
        {"query_results": [{**one, "trigger_count": 0, "run_count": 3} for one in ROWS]},
        {"skill": "tidy-tables", "cases": [{"id": "case-1", **one} for one in ROWS]},
        {
            "cases": [
                {"prompt": one["query"], "should_trigger": one["should_trigger"]} for one in ROWS
            ]
        },
        [{**ROWS[0], "_comment": "made up"}, {"Query": "hi", "shouldTrigger": "no"}],
    ],
)
def test_every_form_is_read(tmp_path: Path, raw: Any) -> None:
    assert read_queries(written(tmp_path, raw)) == QUERIES


def test_tags_and_splits_are_read(tmp_path: Path) -> None:
    raw = [
        ROWS[0] | {"tags": ["near miss", "for notes"], "split": "test"},
        ROWS[1] | {"tag": "odd", "split": "dev"},
    ]
    first, second = read_queries(written(tmp_path, raw))
    assert (first.tags, first.split) == (("near miss", "for notes"), "test")
    assert (second.tags, second.split) == (("odd",), None)


def test_a_set_for_several_skills_is_read_for_one(tmp_path: Path) -> None:
    file = written(tmp_path, SEVERAL)
    found = read_queries(file, skill="release-notes")
    assert [one.should_trigger for one in found] == [False, True, False]
    with pytest.raises(Refused, match=r"for several skills \(release-notes and tidy-tables\)"):
        read_queries(file)
    with pytest.raises(Refused, match="none expects `pdf`"):
        read_queries(file, skill="pdf")


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("", "empty"),
        ("not json", "not JSON"),
        ({}, "is no trigger set"),
        ({"rows": ROWS}, "is no trigger set"),
        (graded("pf"), "is no trigger set"),
        ([1, 2], r"\$\[1\]: expected an object"),
        ([*ROWS, {"should_trigger": True}], r"\$\[2\].query: `query` is missing"),
        ([{"query": "a", "should_trigger": "perhaps"}], "expected true or false"),
        ({"evals": [{"id": 1, "prompt": "p", "expected_output": "e"}]}, "do not say whether"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, raw: Any, said: str) -> None:
    with pytest.raises(Refused, match=said):
        read_queries(written(tmp_path, raw))


def test_queries_of_which_nobody_knows_are_never_taken_as_negatives(tmp_path: Path) -> None:
    raw = [*ROWS, {"query": "a"}, {"query": "b", "should_trigger": None}]
    with pytest.raises(Refused, match=r"4 rows, of which 2 \(number 3 and 4\) do not say"):
        read_queries(written(tmp_path, raw))


def test_a_folder_with_several_sets_is_ambiguous(tmp_path: Path) -> None:
    lay(tmp_path, {"trigger-a.json": ROWS, "trigger-b.json": ROWS})
    assert read_queries(tmp_path) == QUERIES  # twice the same is no choice
    lay(tmp_path, {"trigger-b.json": ROWS[:1]})
    with pytest.raises(Refused, match=r"several trigger sets: trigger-a.json and trigger-b.json"):
        read_queries(tmp_path)


# ── doubting ───────────────────────────────────────────────────────────────────────────────────


def named(found: Iterable[QueryDoubt]) -> list[str]:
    return [one.doubt for one in found]


def test_a_sound_set_is_not_doubted() -> None:
    assert check_queries(SOUND, "tidy-tables") == ()


@pytest.mark.parametrize(
    ("queries", "doubt"), [(SHOULD, "no negatives"), (SHOULD_NOT, "no positives")]
)
def test_one_class_tells_nothing(queries: list[Query], doubt: str) -> None:
    assert named(check_queries(queries)) == [doubt]


def test_the_same_words_in_both_classes_contradict() -> None:
    again = Query("Draw a chart of orders.csv!", should_trigger=True)
    (doubt,) = check_queries([*SOUND, again])
    assert doubt.doubt == "contradiction"
    assert set(doubt.queries) == {again.query, SHOULD_NOT[0].query}


def test_nearly_the_same_words_are_doubted_within_a_class_alone() -> None:
    near = SHOULD[1].query.replace("date", "dates")
    (doubt,) = check_queries([*SOUND, Query(near, should_trigger=True)])
    assert (doubt.doubt, doubt.queries) == ("nearly twice", (SHOULD[1].query, near))
    assert check_queries([*SOUND, Query(near, should_trigger=False)]) == ()


def test_the_name_of_the_skill_gives_away() -> None:
    queries = [*SOUND, *of("ask csv to do it", should=False)]
    (doubt,) = check_queries(queries, "csv")
    assert doubt.doubt == "gives away"
    assert doubt.queries == ("what does CSV stand for", "ask csv to do it")
    assert check_queries(queries) == ()


@pytest.mark.parametrize("number", [1, 5, 7])
def test_few_queries_say_little(number: int) -> None:
    low, _ = proportion_confint(number, number, method="wilson")
    (doubt,) = check_queries([*SHOULD[:number], *SHOULD_NOT])
    assert doubt.doubt == "few"
    assert f"{number} quer" in doubt.message
    assert f"above {low:.0%}" in doubt.message


# ── wording ────────────────────────────────────────────────────────────────────────────────────

LETTERS = st.text("abcxyzÄß", min_size=1, max_size=8)


def test_only_small_differences_are_alike() -> None:
    queries = [
        "turn this report into a text file",
        "turn this text file into a report",
        "turn this report into a text file!",
        "turn that report into a text file",
    ]
    assert alike(queries) == [(0, 3), (2, 3)]  # 0 and 2 are the same, which is something else
    assert alike([]) == []


GIVES_AWAY = (
    "use tidy-tables on this",
    "Tidy-Tables: a.csv",
    "/tidy-tables a.csv",
    "is there a `tidy-tables`?",
    "run tidy-tables.",
    "用tidy-tables整理",
)
DOES_NOT = (
    "tidy tables",
    "tidy-tables-2 is broken",
    "my-tidy-tables",
    "untidy-tablesque",
    "cat /home/me/tidy-tables/a.csv",
    "see skills/tidy-tables",
    "open tidy-tables/a.csv",
    "~/tidy-tables",
    r"C:\data\tidy-tables",
    "tidy-tables.csv",
    "a.tidy-tables",
)


def test_the_name_as_a_word_gives_away_and_in_a_path_or_another_word_does_not() -> None:
    found = [one for one in (*GIVES_AWAY, *DOES_NOT) if gives_away(one, "tidy-tables")]
    assert found == [*GIVES_AWAY]


@given(LETTERS, LETTERS)
def test_a_short_name_inside_another_word_is_none(before: str, after: str) -> None:
    assert not gives_away(f"{before}pdf", "pdf")
    assert not gives_away(f"pdf{after}", "pdf")
    assert not gives_away(f"{before}/pdf/{after}", "pdf")
    assert gives_away(f"{before} PDF {after}", "pdf")
