"""What each type of check finds in outputs; order, summary and gate of all of them together."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_eval_nb.documents import Expectation, Structural, dump, mend
from skill_eval_nb.documents.run import CHECK_FAILED
from skill_eval_nb.grading import sandbox
from skill_eval_nb.grading.structural import (
    KINDS,
    check,
    either,
    files_named,
    may_deny,
    rows_named,
    texts_named,
)
from tests.bubblewrap import needed
from tests.corpus.build import lay
from tests.grading.made import checked, wanted

FILES = {
    "a.md": "",
    "docs/b.md": "",
    "c.txt": "x\n12\n",
    "logo.png": b"\x89PNG\0 made by us",
    "src/a.ts": "one\ntwo\n  const\x1b[31m x = vi.fn();\x07\n",
    # The runner's own files are no outputs.
    "metrics.json": '{"tool_calls": {"Read": 1}, "total_steps": 2}',
    "structural.json": '{"expectations": [], "gate_passed": true}',
}
SHOWN = r"src/a.ts:3: const\x1b[31m x = vi.fn();\x07 ('vi.fn(')"
ANY = {"match": "no", "match_any": ["neither"], "match_regex": r"^\d+$"}


@pytest.mark.parametrize(
    ("kind", "pattern", "fields", "passed", "evidence"),
    [
        # What is not said, or cannot be read, is never a pass.
        ("file_contians", "*", {"match": "x"}, None, "did you mean file_contains?"),
        ("file_contains", "*", {"match_regex": {"a": 1}}, None, ""),
        ("file_contains", "*", {}, None, ""),
        ("file_contains", "*", {"match_any": ["", ""], "match_regex": ""}, None, ""),
        ("file_count", "*", {}, None, ""),
        ("file_count", "*", {"count": 1, "operator": "about"}, None, ""),
        ("file_exists", None, {"description": "The notes were written"}, None, ""),
        # What is not there is told with what is.
        ("file_exists", "*.csv", {}, False, "No file matches *.csv; there is a.md, c.txt, docs/b"),
        ("file_exists", "docs", {}, False, "docs is a folder, write docs/** for its files"),
        ("file_exists", "docs/**", {}, True, "docs/b.md"),
        ("csv_valid", None, {}, False, "There is no table among the outputs (5 files)"),
        ("file_not_contains", "*.csv", {"match": "x"}, False, "there is nothing to look into"),
        # Files are counted.
        *(
            (
                "file_count",
                "*.md",
                {"count": n, "operator": one},
                right,
                "a.md and docs/b.md; wanted",
            )
            for n, operators, right in (
                (2, ("==", None, ">=", "<=", "=", "≥"), True),
                *((3, ("==", ">="), False), (1, ("<=",), False), (1, (">",), True)),
            )
            for one in operators
        ),
        ("file_count", "*", {"count": 5}, True, "a.md"),
        # Evidence names file and line; of several fields any counts.
        ("file_contains", "*.ts", {"match": "vi.fn("}, True, SHOWN),
        ("file_contains", "*", ANY, True, "c.txt:2: 12 (any counts: 'no' or 'neither' or /^"),
        ("file_not_contains", "*", ANY, False, "c.txt:2: 12"),
        # Binary files are not searched for expressions.
        ("file_not_contains", "*", {"match_regex": "by us"}, True, "binary files: logo.png"),
        ("file_not_contains", "*.png", {"match_regex": "made|by"}, False, "No text file"),
    ],
)
def test_what_a_check_finds(tmp_path, kind, pattern, fields, passed, evidence):
    found = checked(tmp_path, kind, FILES, pattern=pattern, **fields)
    assert found.passed is passed
    assert evidence in found.evidence


TEXTS = st.text(max_size=20) | st.sampled_from(
    ["a", "a.csv", "*", "a.csv has 2 rows", "**/*.csv", "no 'x' or \u201cy\u201d", "[", "{a,b}"]
)
VALUES = st.one_of(
    TEXTS, st.none(), st.booleans(), st.integers(), st.floats(), st.lists(TEXTS, max_size=2)
)
FIELDS = st.dictionaries(
    st.sampled_from(
        "pattern match match_any match_regex except_context count operator script "
        "description".split()
    ),
    VALUES,
    max_size=5,
)
CONTENTS = st.one_of(
    st.binary(max_size=60), st.text('a,;"\n\r\0 1x\t|é', max_size=60).map(str.encode)
)
NAMED = ["a.csv", "b.tsv", "c.jsonl", "d/e.md", "metrics.json", "f\x1b\u202e.txt"]


@settings(max_examples=60, deadline=None)
@given(
    files=st.dictionaries(st.sampled_from(NAMED), CONTENTS, max_size=4),
    checks=st.lists(st.tuples(st.sampled_from(sorted(KINDS)) | VALUES, FIELDS, st.booleans())),
)
def test_whatever_checks_and_outputs_hold_no_check_fails_itself(tmp_path_factory, files, checks):
    folder = lay(tmp_path_factory.mktemp("any"), files)
    expectations = [
        mend({"text": "it", "type": kind, **fields}, Expectation)[0]
        if spoken
        else wanted(kind, **fields)
        for kind, fields, spoken in checks
    ]
    found = check(expectations, folder, folder / "a.csv")
    assert len(found.expectations) == len(checks)
    assert all(one.evidence and CHECK_FAILED not in one.evidence for one in found.expectations)
    again = mend(dump(found), Structural)[0]
    assert [one.passed for one in again.expectations] == [one.passed for one in found.expectations]


# ── contains ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "near", "evidence"),
    [
        *(("onSubmit\n1\n2\nvi.fn()\n", n, said) for n, said in ((2, None), (3, "within 3 line"))),
        *(("vi.fn()\n1\nonSubmit\n", n, said) for n, said in ((1, None), (2, "within 2 line"))),
        ("onSubmit = vi.fn()\n", 0, "on the same line"),
        ("onSubmit = vi.fn()\n\n\n\nconst y = vi.fn()", 1, None),
    ],
)
@pytest.mark.parametrize("how", [{"match": "vi.fn("}, {"match_regex": r"vi\.fn\("}])
def test_a_match_is_exempt_where_a_text_stands_near(tmp_path, text, near, evidence, how):
    more = {"pattern": "*", "except_context": ["other", "onSubmit"], "options": {"near": near}}
    found = checked(tmp_path, "file_not_contains", {"a.ts": text}, **more, **how)
    assert found.passed is (evidence is not None)
    assert (f"'onSubmit' is {evidence}" if evidence else "vi.fn()") in found.evidence


@pytest.mark.parametrize(
    "data",
    [
        *(f"x{end}héllo{end}".encode() for end in ("\r\n", "\r")),
        "\ufeffx\nhéllo".encode(),
        *("x\r\nhéllo\n".encode(f"utf-{how}") for how in ("16", "16-be", "16-le", "32")),
        b"\xe9 not UTF-16\n" + "héllo\n".encode(),
    ],
)
@pytest.mark.parametrize("how", [{"match": "héllo"}, {"match_regex": "^héllo$"}])
def test_encodings_and_line_ends(tmp_path, data, how):
    found = checked(tmp_path, "file_contains", {"a.txt": data}, pattern="*", **how)
    assert found.passed is True
    assert found.evidence.startswith("a.txt:2: héllo")


# ── the types of the `iterations` dialect, and what is read from ──────────────────────────────────

TABLE = 'name,since\n"Adams, Jo",2024\nBrandt,2023\n'


def said(folder, kind, sentence, files, **fields):
    """What a check of the dialect finds: its JSON is a name, a sentence and a type."""
    raw = {"name": "it", "description": sentence, "type": kind, **fields}
    one = mend(raw, Expectation)[0]
    return check([one], lay(folder / "outputs", files), None).expectations[0]


NAMED_FILES = {"clean.csv": TABLE, "words.md": "thank you\nbye"}


@pytest.mark.parametrize(
    ("kind", "sentence", "passed"),
    [
        ("file_exists", "clean.csv is created", True),
        ("file_exists", "Output file is created", True),
        ("file_exists", "Generates a deploy.sh script", False),
        ("file_exists", "Both clean.csv and notes.md are there", False),
        ("file_exists", "clean.csv or notes.md is there", True),
        ("file_exists", "No clean.csv is left", None),
        ("row_count", "clean.csv has 2 data rows: each once", True),
        ("row_count", "at least 2 rows remain", True),
        ("row_count", "more than 2 rows", False),
        ("row_count", "no more than 2 rows", True),
        ("row_count", "2+ rows", True),
        ("row_count", "All input rows are preserved", None),
        ("row_count", "2 rows, of which 1 row is new", None),
        ("contains_text", 'The words say "thank you"', True),
        ("contains_text", "The words say “thank you” and ‘bye’", True),
        ("contains_text", "The words say `thank you` and `farewell`", False),
        ("contains_text", 'The words say "hello" or "bye"', True),
        ("contains_text", '"words.md" says "bye"', True),
        ("contains_text", 'other.md says "bye"', False),
        ("contains_text", 'Does not say "bye"', None),
        ("contains_text", "It's polite, isn't it", None),
        ("contains_text", "Days are written as year-month-day: 2024-01-05 occurs", None),
    ],
)
def test_what_a_sentence_asks_for(tmp_path, kind, sentence, passed):
    assert said(tmp_path, kind, sentence, NAMED_FILES).passed is passed


def test_rows_of_several_tables_are_not_guessed(tmp_path):
    files = {"a.csv": TABLE, "b.csv": TABLE}
    assert said(tmp_path, "row_count", "has 2 rows", files).passed is None
    assert said(tmp_path, "row_count", "b.csv has 2 rows", {}).passed is True
    assert said(tmp_path, "row_count", "none: 0 rows", {}, pattern="x.csv").passed is False


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        (TABLE, True),
        (TABLE.replace(",2", ";2").replace("name,", "name;"), True),
        ("a\tb\n1\t2\n", True),
        ("a,b\n", True),
        ('a,b\n"one\nline",2\n', True),
        ("a,b\n1,2\n\n3,4\n", True),
        (f"{'x' * 200_000},b\n1,2\n", True),
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
        read(again * 100_000)
        assert time.thread_time() - begun < 10, again


# ── `custom_script` ───────────────────────────────────────────────────────────────────────────────

ALLOWED = {"allow_scripts": True}


@pytest.mark.parametrize(
    ("options", "said"),
    [({"sandbox": "none"}, "allow_scripts=True"), (ALLOWED, "bwrap is not installed")],
    ids=["without permission", "without a sandbox"],
)
def test_what_must_not_run_is_not_scored_and_does_not_run(tmp_path, monkeypatch, options, said):
    monkeypatch.setattr(sandbox, "available", lambda: "bwrap is not installed")
    mark = tmp_path / "ran"
    found = checked(tmp_path, "custom_script", script=f"touch {mark}", options=options)
    assert found.passed is None
    assert said in found.evidence
    assert not mark.exists()


@needed
@pytest.mark.parametrize(
    ("script", "passed", "said"),
    [
        ("grep -q x a.md", True, ""),
        ("test -f docs/deep/b.md && test -x run.sh", True, ""),
        ("exit 3", False, ""),
        ("no-such-program a.md", None, ""),
        ("./missing.sh", False, ""),
        ("echo 1 > new.txt && rm a.md", True, ""),
        ("cat {secret}", False, ""),
        ('test -n "$ANTHROPIC_API_KEY"', False, ""),
        ("sleep 600", False, "was ended"),
        ("seq 20500 | xargs touch; tail -f a.md", False, "more than 20,000 files"),
    ],
)
def test_exit_0_passes_and_nothing_else_is_reached(tmp_path, monkeypatch, script, passed, said):
    if "sleep" in script:
        monkeypatch.setattr("skill_eval_nb.grading.checks.SECONDS", 1.0)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-user")
    secret = lay(tmp_path, {"secret.txt": "secret"}) / "secret.txt"
    files = {"a.md": "x", "docs/deep/b.md": "", "run.sh": "#!/bin/sh\nexit 0\n"}
    outputs = lay(tmp_path / "outputs", files)
    (outputs / "run.sh").chmod(0o755)
    (outputs / "link.txt").symlink_to(secret)
    script = script.format(secret=secret)
    found = checked(tmp_path, "custom_script", script=script, options=ALLOWED)
    assert found.passed is passed, found.evidence
    assert said in found.evidence
    assert (outputs / "a.md").read_text() == "x"
    assert not (outputs / "new.txt").exists()


def test_none_is_spelled_out_and_too_large_outputs_are_not_copied(tmp_path, monkeypatch):
    asked = {"script": "grep -q x a", "options": {**ALLOWED, "sandbox": "none"}}
    assert checked(tmp_path, "custom_script", {"a": "x"}, **asked).passed is True
    monkeypatch.setattr("skill_eval_nb.grading.checks.LARGEST_COPY", 10)
    found = checked(tmp_path, "custom_script", {"a": "x" * 11}, **asked)
    assert found.passed is None
    assert "cannot be copied" in found.evidence
    assert [path.name for path in (tmp_path / "outputs").iterdir()] == ["a"]
