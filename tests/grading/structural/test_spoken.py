"""The types of the `iterations` dialect, and what is read from their sentences."""

from __future__ import annotations

import time

import pytest

from skill_eval_nb.documents import Expectation, mend
from skill_eval_nb.grading.structural import (
    check,
    denied,
    either,
    files_named,
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


@pytest.mark.parametrize(
    ("sentence", "passed"),
    [
        ("clean.csv is created", True),
        ("Output file is created", True),
        ("Generates a deploy.sh script", False),
        ("Both clean.csv and notes.md are there", False),
        ("clean.csv or notes.md is there", True),
        ("No clean.csv is left", None),
        ("It never writes to clean.csv", None),
    ],
)
def test_file_exists(tmp_path, sentence, passed):
    assert said(tmp_path, "file_exists", sentence, {"clean.csv": TABLE}).passed is passed


@pytest.mark.parametrize(
    ("sentence", "passed"),
    [
        ("clean.csv has 2 data rows: each once", True),
        ("clean.csv has 3 rows", False),
        ("at least 2 rows remain", True),
        ("more than 2 rows", False),
        ("no more than 2 rows", True),
        ("2+ rows", True),
        ("All input rows are preserved", None),
        ("2 rows, of which 1 row is new", None),
        ("other.csv has 2 rows", False),
    ],
)
def test_row_count(tmp_path, sentence, passed):
    assert said(tmp_path, "row_count", sentence, {"clean.csv": TABLE}).passed is passed


def test_rows_of_several_tables_are_not_guessed(tmp_path):
    files = {"a.csv": TABLE, "b.csv": TABLE}
    assert said(tmp_path, "row_count", "has 2 rows", files).passed is None
    assert said(tmp_path, "row_count", "b.csv has 2 rows", {}).passed is True
    assert (
        said(tmp_path, "row_count", "no table at all: 0 rows", {}, pattern="x.csv").passed is False
    )


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


@pytest.mark.parametrize(
    ("sentence", "passed"),
    [
        ('The notes say "thank you"', True),
        ("The notes say 'thank you'", True),
        ("The notes say “thank you” and ‘bye’", True),
        ("The notes say `thank you` and `farewell`", False),
        ('The notes say "hello" or "bye"', True),
        ('notes.md says "bye"', True),
        ('"notes.md" says "bye"', True),
        ('other.md says "bye"', False),
        ('Does not say "bye"', None),
        ("It's polite, isn't it", None),
        ("Days are written as year-month-day: 2024-01-05 occurs", None),
    ],
)
def test_contains_text(tmp_path, sentence, passed):
    found = said(tmp_path, "contains_text", sentence, {"notes.md": "thank you\nbye"})
    assert found.passed is passed


@pytest.mark.parametrize("read", [files_named, texts_named, denied, either, rows_named])
def test_a_sentence_of_megabytes_is_read_in_one_go(read):
    """It took minutes for each of some, where looking began anew at each character."""
    for again in (" ", "1,", "1 ", "«", "“", "‘", "a.", "a/", "not "):
        begun = time.thread_time()
        read(again * 200_000)
        assert time.thread_time() - begun < 10, again
