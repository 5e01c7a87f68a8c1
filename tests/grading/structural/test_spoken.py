"""The types of the `iterations` dialect, and what is read from their sentences."""

from __future__ import annotations

import time

import pytest

from skill_eval_nb.documents import Expectation, mend
from skill_eval_nb.grading.structural import (
    check,
    either,
    files_named,
    may_deny,
    rows_named,
    texts_named,
)
from tests.grading.structural.made import lay

TABLE = 'name,since\n"Adams, Jo",2024\nBrandt,2023\n'


def said(folder, kind, sentence, files, **fields):
    """What a check of the dialect finds: its JSON is a name, a sentence and a type."""
    raw = {"name": "it", "description": sentence, "type": kind, **fields}
    one = mend(raw, Expectation)[0]
    return check([one], lay(folder / "outputs", files), None).expectations[0]


FILES = {"clean.csv": TABLE, "words.md": "thank you\nbye"}


@pytest.mark.parametrize(
    ("kind", "sentence", "passed"),
    [
        ("file_exists", "clean.csv is created", True),
        ("file_exists", "Output file is created", True),
        ("file_exists", "Generates a deploy.sh script", False),
        ("file_exists", "Both clean.csv and notes.md are there", False),
        ("file_exists", "clean.csv or notes.md is there", True),
        ("file_exists", "No clean.csv is left", None),
        ("file_exists", "It never writes to clean.csv", None),
        ("row_count", "clean.csv has 2 data rows: each once", True),
        ("row_count", "clean.csv has 3 rows", False),
        ("row_count", "at least 2 rows remain", True),
        ("row_count", "more than 2 rows", False),
        ("row_count", "no more than 2 rows", True),
        ("row_count", "2+ rows", True),
        ("row_count", "All input rows are preserved", None),
        ("row_count", "2 rows, of which 1 row is new", None),
        ("row_count", "other.csv has 2 rows", False),
        ("contains_text", 'The words say "thank you"', True),
        ("contains_text", "The words say 'thank you'", True),
        ("contains_text", "The words say “thank you” and ‘bye’", True),
        ("contains_text", "The words say `thank you` and `farewell`", False),
        ("contains_text", 'The words say "hello" or "bye"', True),
        ("contains_text", 'words.md says "bye"', True),
        ("contains_text", '"words.md" says "bye"', True),
        ("contains_text", 'other.md says "bye"', False),
        ("contains_text", 'Does not say "bye"', None),
        ("contains_text", "It's polite, isn't it", None),
        ("contains_text", "Days are written as year-month-day: 2024-01-05 occurs", None),
    ],
)
def test_what_a_sentence_asks_for(tmp_path, kind, sentence, passed):
    assert said(tmp_path, kind, sentence, FILES).passed is passed


def test_rows_of_several_tables_are_not_guessed(tmp_path):
    files = {"a.csv": TABLE, "b.csv": TABLE}
    assert said(tmp_path, "row_count", "has 2 rows", files).passed is None
    assert said(tmp_path, "row_count", "b.csv has 2 rows", {}).passed is True
    assert said(tmp_path, "row_count", "none: 0 rows", {}, pattern="x.csv").passed is False


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        (TABLE, True),
        (TABLE.replace("\n", "\r\n"), True),
        (TABLE.replace(",2", ";2").replace("name,", "name;"), True),
        ("a\tb\n1\t2\n", True),
        ("a,b\n", True),
        ('a,b\n"one\nline",2\n', True),
        ("a,b\n1,2\n\n3,4\n", True),
        (f"a,b\n1,{'x' * 200_000}\n", True),
        (f"{'x' * 200_000},b\n1,2\n", True),
        ("a,b\n1,2,3\n", False),
        ("a,b\n1\n", False),
        ('a,b\n"open,2\n', False),
        ("", False),
        ("a,,c\n1,2,3\n", False),
        ("\0\0\0", False),
    ],
)
def test_csv_valid(tmp_path, text, passed):
    found = said(tmp_path, "csv_valid", "Output is valid CSV with headers", {"out.csv": text})
    assert found.passed is passed
    assert "out.csv" in found.evidence


@pytest.mark.parametrize("read", [files_named, texts_named, may_deny, either, rows_named])
def test_a_sentence_of_megabytes_is_read_in_one_go(read):
    """It took minutes for each of some, where looking began anew at each character."""
    for again in (" ", "1,", "1 ", "«", "“", "‘", "a.", "a/", "not "):
        begun = time.thread_time()
        read(again * 200_000)
        assert time.thread_time() - begun < 10, again
