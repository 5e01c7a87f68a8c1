"""All checks of a run together: order, summary, gate, each file read once."""

from __future__ import annotations

import glob
import os
import time
from collections import Counter
from functools import partialmethod
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_eval_nb import disk
from skill_eval_nb.disk import NO_LINK, read_bytes
from skill_eval_nb.documents import Eval, Expectation, Structural, StructuralExpectation, dump, mend
from skill_eval_nb.documents.run import CHECK_FAILED
from skill_eval_nb.grading.check_types import CheckContext
from skill_eval_nb.grading.outputs import BadGlob, Outputs, list_outputs, match_pattern
from skill_eval_nb.grading.structural import KINDS, OF_TRANSCRIPT, check, expectations_of
from tests.grading.structural.made import checked, lay, wanted


@given(st.lists(st.tuples(st.sampled_from([True, False, None]), st.booleans()), max_size=4))
def test_gate_and_summary(tmp_path_factory, checks):
    """A check that failed shuts the gate where it is critical; one unscored leaves it open."""
    kinds = {True: ("file_exists", "a.md"), False: ("file_exists", "b.md"), None: ("exsits", "a")}
    expectations = [
        wanted(kinds[mark][0], pattern=kinds[mark][1], critical=critical, id=f"S{at}")
        for at, (mark, critical) in enumerate(checks)
    ]
    folder = lay(tmp_path_factory.getbasetemp() / "gate", {"a.md": ""})
    found = check(expectations, folder, None)
    marks, deciding = [mark for mark, _ in checks], [mark for mark, critical in checks if critical]
    assert [(one.id, one.passed) for one in found.expectations] == [
        (f"S{at}", mark) for at, mark in enumerate(marks)
    ]
    gate = False if False in deciding else (None if None in deciding else True)
    assert found.gate_passed is gate
    passed, failed, summary = marks.count(True), marks.count(False), found.summary
    assert summary is not None
    assert (summary.total, summary.passed, summary.failed) == (len(marks), passed, failed)
    scored = passed + failed
    assert summary.pass_rate == (pytest.approx(passed / scored, abs=1e-4) if scored else None)


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
        ("", "*", {}, None, ""),
        ("file_contains", "*", {"match_regex": {"a": 1}}, None, ""),
        ("file_not_contains", "*", {"match": ["a", "b"]}, None, ""),
        ("file_contains", "*", {}, None, ""),
        ("file_contains", "*", {"match_any": ["", ""], "match_regex": ""}, None, ""),
        ("file_count", "*", {}, None, ""),
        ("file_count", "*", {"count": 1, "operator": "about"}, None, ""),
        ("file_count", "*", {"count": "some"}, None, ""),
        ("file_exists", None, {"description": "The notes were written"}, None, ""),
        # What is not there is told with what is.
        ("file_exists", "*.csv", {}, False, "No file matches *.csv; there is a.md, c.txt, docs/b"),
        ("file_exists", "docs", {}, False, "docs is a folder, write docs/** for its files"),
        ("file_exists", "docs/**", {}, True, "docs/b.md"),
        ("csv_valid", None, {}, False, "There is no table among the outputs (5 files)"),
        ("file_contains", "*.csv", {"match": "x"}, False, "there is nothing to look into"),
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
        ("file_not_contains", "*", {"match_regex": "by them"}, True, "binary files: logo.png"),
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


@settings(max_examples=150, deadline=None)
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


def test_layer_1_s_expectations_of_an_eval():
    structural = StructuralExpectation("file_exists", pattern="*")
    scripted = mend({"text": "runs", "type": "custom", "script": "true"}, Expectation)[0]
    sentences = [
        Expectation("a.csv is there", type="file_exists"),
        Expectation("It reads well"),
        Expectation("It is right", type="custom"),
        Expectation("It is good", type="qualitative"),
        scripted,
    ]
    one = Eval("x", structural_expectations=[structural], expectations=sentences)
    assert expectations_of(one) == [structural, sentences[0], scripted]


@pytest.mark.parametrize(
    "place", ["structural.exists", "structural.read_table", "structural.contains", "search.near_by"]
)
def test_a_check_that_fails_itself_ends_no_other(tmp_path, monkeypatch, place):
    """Whatever goes wrong that nobody thought of: it is said, and the others are scored."""

    def fail(*_, **__):
        raise KeyError("nobody thought of it")

    monkeypatch.setattr(f"skill_eval_nb.grading.{place}", fail)
    checks = [
        wanted("file_exists", pattern="a.csv"),
        wanted("csv_valid", pattern="a.csv"),
        wanted("file_contains", pattern="a.csv", match="b", except_context=["zz"]),
        wanted("file_count", pattern="a.csv", count=1),
    ]
    found = check(checks, lay(tmp_path, {"a.csv": "a,b\n1,2\n"}), None).expectations
    failed = [one for one in found if one.passed is None]
    assert [one.evidence for one in failed] == [
        f"{CHECK_FAILED} (KeyError: 'nobody thought of it'); please report it"
    ]
    assert [one.passed for one in found].count(True) == 3


# ── contains ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "near", "evidence"),
    [
        *(("onSubmit\n1\n2\nvi.fn()\n", n, said) for n, said in ((2, None), (3, "within 3 line"))),
        *(("vi.fn()\n1\nonSubmit\n", n, said) for n, said in ((1, None), (2, "within 2 line"))),
        ("onSubmit\n1\nvi.fn()\n", 0, None),
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


def test_a_million_exempt_matches_do_not_hang(tmp_path):
    files = {"a.txt": "x " * 1_000_000}
    fields = {"pattern": "*", "except_context": ["x"]}
    for how in ({"match": "x"}, {"match_regex": "x*"}):
        found = checked(tmp_path, "file_not_contains", files, **fields, **how)
        assert found.passed is not False
        assert found.evidence


# ── outputs ────────────────────────────────────────────────────────────────────────────────────


def test_only_regular_files_inside_are_outputs(tmp_path):
    """Links that lead out are neither followed nor counted, pipes not waited for."""
    secret, outputs = tmp_path / "secret.md", tmp_path / "outputs"
    secret.write_text("the secret")
    lay(outputs, {"docs/a.txt": "here"})
    (outputs / "latest.txt").symlink_to("docs/a.txt")
    (outputs / "link.md").symlink_to(secret)
    (outputs / "up").symlink_to(tmp_path, target_is_directory=True)
    (outputs / "gone.md").symlink_to("nowhere")
    (outputs / "one.md").symlink_to("two.md")
    (outputs / "two.md").symlink_to("one.md")
    os.mkfifo(outputs / "pipe.md")
    os.close(os.open(os.fsencode(outputs) + b"/caf\xe9\n.csv", os.O_CREAT))
    found = checked(tmp_path, "file_contains", pattern="*.md", match="secret")
    assert found.passed is False
    assert "the secret" not in found.evidence
    assert "up is a link that leads out of the outputs" in found.evidence
    assert "pipe.md is not a regular file" in found.evidence
    assert checked(tmp_path, "file_exists", pattern="**/secret.md").passed is False
    assert checked(tmp_path, "file_count", pattern="*.md", count=0).passed is True
    own = checked(tmp_path, "file_contains", pattern="latest.txt", match="here")
    assert own.evidence.startswith("latest.txt:1: here")
    odd = checked(tmp_path, "file_exists", pattern="*.csv")  # a name that is no text
    assert (odd.passed, "\n" in odd.evidence) == (True, False)
    assert odd.evidence.encode()
    with pytest.raises(OSError, match="link"):  # nor what became one after it was listed
        read_bytes(outputs / "link.md", flags=NO_LINK)


def test_a_file_that_is_too_large_is_told_and_not_scored(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "LARGEST", 100_000)
    lay(tmp_path, {"outputs/big.txt": "x" * 200_000})
    for says in ("big.txt: it has 0 MB", "big.txt: No such file"):
        found = checked(tmp_path, "file_not_contains", pattern="*", match="y")
        assert found.passed is None
        assert says in found.evidence
        monkeypatch.setattr(Outputs, "read", lambda *_: (tmp_path / "none").read_bytes())


def test_a_file_is_read_once_for_all_checks_but_a_large_one(tmp_path, monkeypatch):
    """A large file is read anew, and takes no room from the others."""
    reads: list[str] = []
    read = Outputs.read
    counted = lambda outputs, name: reads.append(name) or read(outputs, name)  # noqa: E731
    monkeypatch.setattr(Outputs, "read", counted)
    monkeypatch.setattr(CheckContext, "__init__", partialmethod(CheckContext.__init__, room=100))
    folder = lay(tmp_path / "outputs", {"a.txt": "x" * 200, "b.txt": "small", "c.txt": "more"})
    sentence = "The texts 'one', 'two' and 'three' are there"
    for checks in (
        [wanted("file_contains", pattern="*", match="y", id=f"S{at}") for at in range(3)],
        [wanted("contains_text", description=sentence)],
    ):
        reads.clear()
        check(checks, folder, None)
        assert Counter(reads) == {"a.txt": 3, "b.txt": 1, "c.txt": 1}


# ── globs ──────────────────────────────────────────────────────────────────────────────────────

DOCS = ["docs/a.md", "docs/b.test.ts", "docs/deep/c.md", "docs/deep/er/d.md"]
NAMES = ["a.md", "b.txt", ".env", *DOCS, "src/a.ts", "src/a.test.ts", "src/.hidden/x.ts"]
PIECES = st.sampled_from(
    ["*", "**", "*.md", "?.*", "docs", "src", "deep", "[ab]*", "[!a].*", "*.ts"]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return lay(tmp_path_factory.mktemp("outputs"), dict.fromkeys(NAMES, ""))


@settings(max_examples=100, deadline=None)
@given(pieces=st.lists(PIECES, min_size=2, max_size=4))
def test_a_pattern_with_slashes_names_what_python_globs(folder, pieces):
    pattern = "/".join(pieces)  # pathlib's glob has no `include_hidden`
    theirs = glob.glob(pattern, root_dir=folder, recursive=True, include_hidden=True)  # noqa: PTH207
    files = {name for name in theirs if Path(folder, name).is_file()}
    assert set(match_pattern(pattern, list_outputs(str(folder)).names)) == files


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("docs/**", DOCS),
        ("docs/", DOCS),
        ("./docs/*.md", ["docs/a.md"]),
        ("docs//a.md", ["docs/a.md"]),
        ("outputs/docs/*.md", ["docs/a.md"]),
        ("{a,b}.{md,txt}", ["a.md", "b.txt", "docs/a.md"]),
        ("b.txt\nsrc/a.ts", ["b.txt", "src/a.ts"]),
        ("**", NAMES),
        ("A.md", []),
        ("**/er/**/d.md", ["docs/deep/er/d.md"]),
    ],
)
def test_patterns_as_people_write_them(pattern, names):
    assert sorted(match_pattern(pattern, NAMES)) == sorted(names)


@pytest.mark.parametrize(
    "pattern",
    [
        *("/etc/passwd", "../*.md", "../../*", "a/../../b", "~/x", "C:\\x", "  "),
        *("a/{b,..}/c", "{../a,b}", "..\\..\\*", "*.md\n../*"),
    ],
)
def test_a_pattern_that_leads_out_is_not_scored_by_any_check_of_files(tmp_path, pattern):
    options = {"match": "x", "count": 0, "operator": ">="}
    for kind in KINDS - {*OF_TRANSCRIPT, "custom_script", "custom"}:
        found = checked(tmp_path, kind, {"a.md": "x"}, pattern=pattern, **options)
        assert found.passed is None, kind
        assert "Not scored: `pattern`" in found.evidence


def test_no_pattern_hangs():
    for pattern in ("{," * 5_000, "**/" * 500_000 + "x" * 5_000, "*" * 5_000):
        with pytest.raises(BadGlob, match="characters; no path has more"):
            match_pattern(pattern, ["a.md"])
    assert match_pattern("**/" * 1_000 + "a.md", ["a.md", "b/a.md"]) == ["a.md", "b/a.md"]
    begun = time.process_time()
    for pattern in ("*a" * 30 + "b", "**/" * 40 + "b", "**/*a*/" * 4 + "b"):
        assert match_pattern(pattern, ["/".join(["a" * 60] * 30)]) == []
    with pytest.raises(BadGlob, match="more than 4 times"):
        match_pattern("**/*a*/" * 20 + "b", ["a.md"])
    assert time.process_time() - begun < 2
