"""All checks of a run together: order, summary, gate, each file read once."""

from __future__ import annotations

import glob
import itertools
import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_eval_nb import disk
from skill_eval_nb.disk import NO_LINK, TooLarge, read_bytes
from skill_eval_nb.documents import Eval, Expectation, Structural, StructuralExpectation, dump, mend
from skill_eval_nb.documents.run import CHECK_FAILED
from skill_eval_nb.grading.structural import KINDS, check, expectations_of
from skill_eval_nb.grading.structural.outputs import BadGlob, Outputs, list_outputs, matching
from tests.grading.structural.made import checked, lay, wanted

PASSING = {"kind": "file_exists", "pattern": "a.md"}
FAILING = {"kind": "file_exists", "pattern": "b.md"}
UNSCORED = {"kind": "file_exsits", "pattern": "a.md"}
BY_MARK = {True: PASSING, False: FAILING, None: UNSCORED}


@pytest.mark.parametrize("marks", list(itertools.product([True, False, None], repeat=3)))
@pytest.mark.parametrize("critical", [(True, True, False), (False, False, False)])
def test_gate_and_summary(tmp_path, marks, critical):
    expectations = [
        wanted(**BY_MARK[mark], critical=is_critical, id=f"S{number}")
        for number, (mark, is_critical) in enumerate(zip(marks, critical, strict=True))
    ]
    found = check(expectations, lay(tmp_path, {"a.md": ""}), None)
    assert [one.passed for one in found.expectations] == list(marks)
    assert [one.id for one in found.expectations] == ["S0", "S1", "S2"]
    deciding = [mark for mark, one in zip(marks, critical, strict=True) if one]
    gate = False if False in deciding else (None if None in deciding else True)
    assert found.gate_passed is gate
    scored = [mark for mark in marks if mark is not None]
    assert found.summary is not None
    assert found.summary.total == 3
    assert found.summary.passed == scored.count(True)
    assert found.summary.failed == scored.count(False)
    rate = found.summary.pass_rate
    assert rate == (pytest.approx(scored.count(True) / len(scored), abs=1e-4) if scored else None)


def test_each_file_is_read_at_most_once(tmp_path, monkeypatch):
    read = []
    own = Outputs.read
    monkeypatch.setattr(Outputs, "read", lambda self, name: (read.append(name), own(self, name))[1])
    folder = lay(tmp_path, {"a.md": "x", "b.md": "y", "c.csv": "n\n1", "d.txt": ""})
    check(
        [
            wanted("file_contains", pattern="*.md", match="y"),
            wanted("file_not_contains", pattern="*", match_regex="z+"),
            wanted("file_not_contains", pattern="a.*", match="q"),
            wanted("csv_valid", description="valid"),
            wanted("file_exists", pattern="*.txt"),
        ],
        folder,
        None,
    )
    assert sorted(read) == ["a.md", "b.md", "c.csv", "d.txt"]


def test_an_unknown_type_is_never_a_pass(tmp_path):
    found = checked(tmp_path, "file_contians", {"a": "x"}, pattern="*", match="x")
    assert found.passed is None
    assert "did you mean file_contains?" in found.evidence
    assert checked(tmp_path, "", {"a": "x"}).passed is None


@pytest.mark.parametrize(
    "fields",
    [
        {"match": ["a", "b"]},
        {"match_regex": {"a": 1}},
        {"match": "x", "match_any": 7.5, "count": []},
    ],
)
def test_a_field_that_cannot_be_read_is_never_a_pass(tmp_path, fields):
    for kind in ("file_contains", "file_not_contains"):
        found = checked(tmp_path, kind, {"a": "zzz"}, pattern="*", **fields)
        assert found.passed is not True or "7.5" in found.evidence


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.text(max_size=6), st.lists(st.text(max_size=3))
)
RAW = st.fixed_dictionaries(
    {"type": st.one_of(st.sampled_from(sorted(KINDS)), VALUES)},
    optional={
        name: st.one_of(VALUES, st.sampled_from(["*", "a.md", "x", "(", "a+", "true"]))
        for name in (
            "pattern match match_any match_regex except_context count operator script description"
        ).split()
    },
)


@settings(max_examples=100, deadline=None)
@given(raw=RAW, spoken=st.booleans())
def test_whatever_a_suite_says_nothing_is_raised(tmp_path_factory, raw, spoken):
    folder = lay(tmp_path_factory.getbasetemp() / "any", {"a.md": "x\ny", "b.csv": "n\n1"})
    one = mend(
        {"text": "it", **raw} if spoken else raw, Expectation if spoken else StructuralExpectation
    )[0]
    found = check([one], folder, None)
    assert found.expectations[0].evidence
    again = mend(dump(found), Structural)[0]
    assert [each.passed for each in again.expectations] == [found.expectations[0].passed]


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


TEXTS = st.one_of(
    st.sampled_from(
        ["a", "a.csv", "*", "a.csv has 2 rows", "**/*.csv", "no 'x' or \u201cy\u201d", "[", "{a,b}"]
    ),
    st.text(max_size=20),
)
VALUES = st.one_of(
    TEXTS, st.none(), st.booleans(), st.integers(), st.floats(), st.lists(TEXTS, max_size=2)
)
FIELDS = st.dictionaries(
    st.sampled_from(
        "pattern match match_any match_regex except_context count operator description".split()
    ),
    VALUES,
    max_size=5,
)
FILES = st.one_of(st.binary(max_size=60), st.text('a,;"\n\r\0 1x\t|é', max_size=60).map(str.encode))


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_whatever_checks_and_outputs_hold_no_check_fails_itself(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("any")
    names = st.sampled_from(
        ["a.csv", "b.tsv", "c.jsonl", "d/e.md", "metrics.json", "f\x1b\u202e.txt"]
    )
    lay(folder, data.draw(st.dictionaries(names, FILES, max_size=4)))
    transcript = folder / "a.csv"
    kinds = st.sampled_from(sorted(KINDS - {"custom_script", "custom"}))
    checks = [
        wanted(data.draw(kinds), **data.draw(FIELDS)) for _ in range(data.draw(st.integers(1, 3)))
    ]
    spoken = mend({"description": "s", "type": data.draw(kinds), **data.draw(FIELDS)}, Expectation)[
        0
    ]
    found = check([*checks, spoken], folder, transcript)
    assert len(found.expectations) == len(checks) + 1
    assert all(CHECK_FAILED not in (one.evidence or "") for one in found.expectations)


@pytest.mark.parametrize(
    "place", ["checking.exists", "sentences.read_table", "checking.contains", "search.near_by"]
)
def test_a_check_that_fails_itself_ends_no_other(tmp_path, monkeypatch, place):
    """Whatever goes wrong that nobody thought of: it is said, and the others are scored."""

    def fail(*_, **__):
        raise KeyError("nobody thought of it")

    monkeypatch.setattr(f"skill_eval_nb.grading.structural.{place}", fail)
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


def test_evidence_names_file_and_line(tmp_path):
    files = {"src/a.ts": "one\ntwo\n  const x = vi.fn();\n"}
    found = checked(tmp_path, "file_contains", files, pattern="*.ts", match="vi.fn(")
    assert found.passed is True
    assert found.evidence == "src/a.ts:3: const x = vi.fn(); ('vi.fn(')"


def test_of_several_fields_any_counts_and_evidence_says_so(tmp_path):
    fields = {"match": "no", "match_any": ["neither"], "match_regex": r"^\d+$"}
    found = checked(tmp_path, "file_contains", {"a": "x\n12\n"}, pattern="*", **fields)
    assert found.passed is True
    assert found.evidence == r"a:2: 12 (any counts: 'no' or 'neither' or /^\d+$/)"
    found = checked(tmp_path, "file_not_contains", pattern="*", **fields)
    assert found.passed is False


@pytest.mark.parametrize("kind", ["file_contains", "file_not_contains"])
def test_a_check_that_finds_no_file_has_failed(tmp_path, kind):
    found = checked(tmp_path, kind, {"a.txt": "x"}, pattern="*.md", match="x")
    assert found.passed is False
    assert "No file matches *.md; there is a.txt: there is nothing to look into" in found.evidence


@pytest.mark.parametrize("fields", [{}, {"match": ""}, {"match_any": ["", ""], "match_regex": ""}])
def test_nothing_to_look_for_is_not_scored(tmp_path, fields):
    found = checked(tmp_path, "file_contains", {"a": "x"}, pattern="*", **fields)
    assert found.passed is None


FAR = "onSubmit\n1\n2\nvi.fn()\n"
NEAR = "onSubmit\n1\nvi.fn()\n"
SAME = "onSubmit = vi.fn()\n"
BELOW = "vi.fn()\n1\nonSubmit\n"


@pytest.mark.parametrize(
    ("text", "near", "passed"),
    [
        (FAR, 2, False),
        (FAR, 3, True),
        (NEAR, 2, True),
        (NEAR, 1, False),
        (NEAR, 0, False),
        (BELOW, 2, True),
        (BELOW, 1, False),
        (SAME, 0, True),
    ],
)
@pytest.mark.parametrize("how", [{"match": "vi.fn("}, {"match_regex": r"vi\.fn\("}])
def test_a_match_is_exempt_where_a_text_stands_near(tmp_path, text, near, passed, how):
    found = checked(
        tmp_path,
        "file_not_contains",
        {"a.ts": text},
        pattern="*",
        except_context=["other", "onSubmit"],
        options={"near": near},
        **how,
    )
    assert found.passed is passed
    if passed and near:
        assert "'onSubmit' stands within" in found.evidence
        assert f"within {near} line" in found.evidence
    elif passed:
        assert "stands on the same line" in found.evidence


def test_one_exempt_match_does_not_exempt_the_next(tmp_path):
    files = {"a.ts": SAME + "\n\n\n\nconst y = vi.fn()"}
    found = checked(
        tmp_path,
        "file_not_contains",
        files,
        pattern="*",
        match="vi.fn(",
        except_context=["onSubmit"],
    )
    assert found.passed is False
    assert found.evidence.startswith("a.ts:6: const y")


def test_a_million_exempt_matches_do_not_hang(tmp_path):
    files = {"a.txt": "x " * 1_000_000}
    for how in ({"match": "x"}, {"match_regex": "x*"}):
        found = checked(
            tmp_path, "file_not_contains", files, pattern="*", except_context=["x"], **how
        )
        assert found.passed is not False
        assert found.evidence


@pytest.mark.parametrize("how", [{"match": "héllo"}, {"match_regex": "^héllo$"}])
@pytest.mark.parametrize(
    "data",
    [
        "x\nhéllo\n".encode(),
        "x\r\nhéllo\r\n".encode(),
        "x\rhéllo\r".encode(),
        "\ufeffx\nhéllo".encode(),
        "x\nhéllo\n".encode("utf-16"),
        "x\r\nhéllo\n".encode("utf-32"),
        "x\nhéllo\n".encode("utf-16-le"),
        "x\r\nhéllo\n".encode("utf-16-be"),
        "x\nhéllo\n".encode("utf-32-le"),
        b"\xff\xfe not UTF-16".replace(b"\xff\xfe", b"\xe9") + "\nhéllo\n".encode(),
    ],
)
def test_encodings_and_line_ends(tmp_path, data, how):
    found = checked(tmp_path, "file_contains", {"a.txt": data}, pattern="*", **how)
    assert found.passed is True
    assert found.evidence.startswith("a.txt:2: héllo")


def test_binary_files_are_not_searched_for_expressions_and_evidence_says_so(tmp_path):
    files = {"logo.png": b"\x89PNG\0 made by us", "a.txt": "text"}
    found = checked(tmp_path, "file_not_contains", files, pattern="*", match_regex="made by us")
    assert found.passed is True
    assert "binary files: logo.png" in found.evidence
    found = checked(tmp_path, "file_not_contains", pattern="*.png", match_regex="made|by")
    assert found.passed is False
    assert "No text file" in found.evidence


def test_what_a_terminal_would_act_on_is_escaped(tmp_path):
    files = {"a.txt": "\x1b[31mhere\x07"}
    found = checked(tmp_path, "file_contains", files, pattern="*", match="here")
    assert "\x1b" not in found.evidence
    assert found.evidence.isprintable()


def test_a_file_that_cannot_be_read_leaves_the_check_unscored(tmp_path, monkeypatch):
    def refuse(self, name):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("skill_eval_nb.grading.structural.outputs.Outputs.read", refuse)
    found = checked(tmp_path, "file_not_contains", {"a.txt": "x"}, pattern="*", match="y")
    assert found.passed is None
    assert "a.txt: Permission denied" in found.evidence


# ── outputs ────────────────────────────────────────────────────────────────────────────────────


def test_links_that_lead_out_are_neither_followed_nor_counted(tmp_path):
    secret = tmp_path / "secret.md"
    secret.write_text("the secret")
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs/link.md").symlink_to(secret)
    (tmp_path / "outputs/up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "outputs/gone.md").symlink_to("nowhere")
    found = checked(tmp_path, "file_contains", pattern="*.md", match="secret")
    assert found.passed is False
    assert "the secret" not in found.evidence
    assert "link.md is a link that leads out of the outputs" in found.evidence
    assert checked(tmp_path, "file_exists", pattern="**/secret.md").passed is False
    assert checked(tmp_path, "file_count", pattern="*", count=0).passed is True


def test_a_link_to_an_output_is_an_output(tmp_path):
    lay(tmp_path / "outputs", {"docs/a.md": "here"})
    (tmp_path / "outputs/latest.md").symlink_to("docs/a.md")
    found = checked(tmp_path, "file_contains", pattern="latest.md", match="here")
    assert found.passed is True
    assert found.evidence.startswith("latest.md:1: here")


def test_a_circle_of_links_ends(tmp_path):
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs/one").symlink_to("two")
    (tmp_path / "outputs/two").symlink_to("one")
    assert checked(tmp_path, "file_count", pattern="*", count=0).passed is True


def test_a_pipe_is_not_waited_for(tmp_path):
    (tmp_path / "outputs").mkdir()
    os.mkfifo(tmp_path / "outputs/pipe.md")
    found = checked(tmp_path, "file_contains", pattern="*.md", match="x")
    assert found.passed is False
    assert "pipe.md is no regular file" in found.evidence


def test_what_became_a_link_after_listing_is_not_followed(tmp_path):
    (tmp_path / "secret").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError, match="link"):
        read_bytes(tmp_path / "link", flags=NO_LINK)


def test_a_file_that_is_too_large_is_told_and_not_scored(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "LARGEST", 100_000)
    lay(tmp_path, {"outputs/big.txt": "x" * 200_000})
    with pytest.raises(TooLarge):
        read_bytes(str(tmp_path / "outputs/big.txt"))
    found = checked(tmp_path, "file_not_contains", pattern="*", match="y")
    assert found.passed is None
    assert "big.txt: it has 0 MB" in found.evidence


def test_the_runner_s_own_files_are_no_outputs(tmp_path):
    files = {
        "metrics.json": '{"tool_calls": {"Read": 1}, "total_steps": 2}',
        "structural.json": '{"expectations": [], "gate_passed": true}',
        "a.md": "",
    }
    found = checked(tmp_path, "file_count", files, pattern="*", count=1)
    assert found.passed is True
    assert "a.md" in found.evidence


def test_a_name_that_is_no_text_is_shown_and_told(tmp_path):
    (tmp_path / "outputs").mkdir()
    os.close(os.open(os.fsencode(tmp_path / "outputs") + b"/caf\xe9\n.md", os.O_CREAT))
    found = checked(tmp_path, "file_exists", pattern="*.md")
    assert found.passed is True
    assert "\n" not in found.evidence
    assert found.evidence.encode()


# ── globs ──────────────────────────────────────────────────────────────────────────────────────

NAMES = [
    "a.md",
    "b.txt",
    ".env",
    "docs/a.md",
    "docs/b.test.ts",
    "docs/deep/c.md",
    "docs/deep/er/d.md",
    "src/a.ts",
    "src/a.test.ts",
    "src/.hidden/x.ts",
]
PIECES = st.sampled_from(
    ["*", "**", "*.md", "?.*", "docs", "src", "deep", "[ab]*", "[!a].*", "*.ts"]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return lay(tmp_path_factory.mktemp("outputs"), dict.fromkeys(NAMES, ""))


def globbed(pattern, folder):
    """The files that Python's `glob` names; pathlib's has no `include_hidden`."""
    theirs = glob.glob(pattern, root_dir=folder, recursive=True, include_hidden=True)  # noqa: PTH207
    return {name for name in theirs if Path(folder, name).is_file()}


@settings(max_examples=100, deadline=None)
@given(pieces=st.lists(PIECES, min_size=2, max_size=4))
def test_a_pattern_with_slashes_names_what_python_globs(folder, pieces):
    pattern = "/".join(pieces)
    files = globbed(pattern, folder)
    assert set(matching(pattern, list_outputs(str(folder)).names)) == files


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("docs/**", ["docs/a.md", "docs/b.test.ts", "docs/deep/c.md", "docs/deep/er/d.md"]),
        ("docs/", ["docs/a.md", "docs/b.test.ts", "docs/deep/c.md", "docs/deep/er/d.md"]),
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
    assert sorted(matching(pattern, NAMES)) == sorted(names)


@pytest.mark.parametrize(
    "pattern",
    [
        *("/etc/passwd", "../*.md", "../../*", "a/../../b", "~/x", "C:\\x", "  "),
        *("a/{b,..}/c", "{../a,b}", "..\\..\\*", "*.md\n../*"),
    ],
)
def test_a_pattern_that_leads_out_is_not_scored_by_any_check_of_files(tmp_path, pattern):
    with pytest.raises(BadGlob):
        matching(pattern, NAMES)
    options = {"match": "x", "count": 0, "operator": ">="}
    for kind in KINDS - {"no_errors", "custom_script", "custom"}:
        found = checked(tmp_path, kind, {"a.md": "x"}, pattern=pattern, **options)
        assert found.passed is None, kind
        assert "Not scored: `pattern`" in found.evidence


def test_a_pattern_of_megabytes_is_told():
    for pattern in ("{," * 5_000, "**/" * 500_000 + "x" * 5_000, "*" * 5_000):
        with pytest.raises(BadGlob, match="characters; no path has more"):
            matching(pattern, ["a.md"])
    assert matching("**/" * 1_000 + "a.md", ["a.md", "b/a.md"]) == ["a.md", "b/a.md"]


def test_many_stars_do_not_hang():
    name = "/".join(["a" * 60] * 30)
    begun = time.process_time()
    assert matching("*a" * 30 + "b", [name]) == []
    assert matching("**/" * 40 + "b", [name]) == []
    assert matching("**/*a*/" * 4 + "b", [name]) == []
    with pytest.raises(BadGlob, match="more than 4 times"):
        matching("**/*a*/" * 20 + "b", [name])
    assert time.process_time() - begun < 2
