"""A draft tried on what is stored: the answer, its figures, and how it shows itself."""

from __future__ import annotations

import os

import polars as pl
import pytest
from scipy.stats import fisher_exact

import skill_eval_nb as sen
from skill_eval_nb.improving import try_out
from skill_eval_nb.improving.tried import differences
from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.stats.pairing import sides
from tests.checkout import ROOT
from tests.improving.made import CHECKS, EVALS, JUDGED, SIDES, SOURCES, draft, planted, tried_on

ADDED = draft(CHECKS, SOURCES, evals=EVALS)
SHARPENED = draft(CHECKS, SOURCES, target="S1", evals=EVALS)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Four evals, four runs a side: all runs with the skill name their source, one without."""
    return tried_on(tmp_path_factory.mktemp("read"), planted(4, 1))


@pytest.fixture
def own(tmp_path):
    """The same for a test that changes it."""
    return tried_on(tmp_path, planted(4, 1))


def test_the_answer_says_how_the_sides_differ_and_nothing_on_disk_changes(root):
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    tried = try_out(ADDED, sen.load(root))
    assert (tried.status, tried.delta.says) == ("tried", "separates")
    figures = ("mean", "baseline_mean", "estimate", "n_evals", "n_runs", "n_runs_baseline")
    assert [getattr(tried.delta, name) for name in figures] == [1, 0.25, 0.75, 4, 16, 16]
    assert tried.answer.startswith(
        "Its pass rate is 1 in with_skill (16 runs) and 0.25 in without_skill (16 runs), +0.75 "
        "on 4 evals, exact p < 0.0001: it separates"
    )
    # Counts are those of plain reading.
    names = ("configuration", "passed", "failed", "runs", "errored", "not_scored", "pass_rate")
    expected = []
    for side in SIDES:
        texts = [path.read_text() for path in root.glob(f"*/{side}/*/outputs/*.md")]
        named = sum("Source:" in text for text in texts)
        expected.append((side, named, 16 - named, len(texts), 0, 0, named / 16))
    assert tried.sides.select(names).rows() == expected
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(("one", "other"), [(5, 0), (5, 2), (3, 3), (1, 4)])
def test_p_of_one_eval_is_fishers(tmp_path, one, other):
    root = tried_on(tmp_path, planted(one, other), evals=1, runs=5)
    tried = try_out(draft(CHECKS, SOURCES), sen.load(root))
    expected = fisher_exact([[one, 5 - one], [other, 5 - other]]).pvalue
    assert tried.delta.p == pytest.approx(expected)


def test_a_weak_check_is_beaten_and_few_runs_do_not_prove_it(root, tmp_path):
    tried = try_out(SHARPENED, sen.load(root))
    assert (tried.replaced.mean, tried.replaced.baseline_mean) == (1, 1)
    assert (tried.replaced.says, tried.separates_better) == ("always passes", True)
    assert "+0.75 against 0" in tried.why_better
    few = tried_on(tmp_path, planted(1, 0), evals=1, runs=1)
    tried = try_out(draft(CHECKS, SOURCES, target="S1"), sen.load(few))
    assert (tried.separates_better, tried.delta.says) == (None, "too little data")
    assert "even the clearest result of so few runs could be luck" in tried.answer


def test_the_evals_it_was_found_on_prove_nothing(tmp_path):
    def text(one, side, run):
        return planted(4, 0)(one, side, run) if one in ("1", "2") else "# Report\n"

    made = draft(CHECKS, SOURCES, evals=EVALS, found_on=("1", "2"))
    tried = try_out(made, sen.load(tried_on(tmp_path, text)))
    assert (tried.delta.says, tried.elsewhere.says) == ("separates", "always fails")
    assert tried.elsewhere.n_evals == 2
    assert "2 evals that it was not found on" in tried.answer
    assert "it separates" not in tried.answer


def test_each_run_that_cannot_be_looked_at_is_a_row_with_its_reason(own):
    place = own / "eval-1" / "with_skill"
    (place / "run-1" / "timing.json").write_text('{"status": "errored", "reason": "crashed"}')
    (place / "run-1" / "grading.json").unlink()
    ws = sen.load(own)
    ws.tables()
    (place / "run-2").rename(own / "gone")
    (place / "run-3" / "outputs").rename(own / "gone-too")
    tried = try_out(ADDED, ws)
    row = tried.sides.row(0, named=True)
    assert (row["runs"], row["passed"], row["errored"], row["not_scored"]) == (16, 13, 1, 2)
    evidence = tried.by_run.filter(eval_id="1", configuration="with_skill")["evidence"]
    assert evidence[0] == "Not scored: the run errored"
    assert evidence[1].startswith("Not scored: its folder is not there")
    assert evidence[2] == "Not scored: it has no stored outputs"
    assert any("no stored outputs" in note for note in tried.notes)


def test_hostile_outputs_are_looked_at_all_the_same(own):
    outputs = own / "eval-1" / "without_skill" / "run-4" / "outputs"
    os.mkfifo(outputs / "pipe.md")
    (outputs / "loop.md").symlink_to(outputs / "loop.md")
    (outputs / "out.md").symlink_to("/etc/passwd")
    (outputs / "<script>\n.md").write_bytes(b"\0Source:\xff")
    tried = try_out(ADDED, sen.load(own))
    row = tried.by_run.filter(eval_id="1", configuration="without_skill", run_number=4)
    assert row["passed"].item() is True
    assert "<script>" in row["evidence"].item()
    assert "<script>" not in tried._repr_html_()


@pytest.mark.parametrize(
    "wrong", [{"level": 1.0}, {"near": -1}, {"baseline": "without_skil"}], ids=str
)
def test_arguments_that_make_no_sense_are_refused(root, wrong):
    with pytest.raises(Refused):
        try_out(ADDED, sen.load(root), **wrong)


def test_the_weak_check_of_the_bundled_workspace_is_beaten():
    ws = sen.load(ROOT / "data" / "tdd-workspace")
    called = {"type": "file_contains", "pattern": "*.test.ts", "match_regex": r"\w+Fixture\("}
    tried = try_out(draft(CHECKS, called, target="S1", evals=[*ws.evals["eval_id"]]), ws)
    assert (tried.replaced.says, tried.delta.says) == ("always passes", "separates")
    assert tried.separates_better is True


EVIL = "<img src=x onerror=alert(1)>"


def test_text_from_files_is_escaped(tmp_path):
    root = tried_on(tmp_path, lambda *at: planted(3, 1)(*at).replace("the ledger", EVIL), evals=1)
    for path in root.rglob("grading.json"):
        path.write_text(path.read_text().replace(f"evidence on {JUDGED}", EVIL))
    new = SOURCES | {"description": "Sources are named below the table"}
    html = try_out(draft(CHECKS, new, target="S1", why=EVIL), sen.load(root))._repr_html_()
    assert EVIL not in html
    assert html.count("&lt;img src=x") >= 3


KEYS = ["workspace", "skill", "iteration", "eval_id", "eval_name", "configuration"]


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        ([1, 1, 1, 1], [0, 0, 0, 0], "separates"),
        ([0, 0, 0, 0], [1, 1, 1, 1], "hurts"),
        ([1, 1, 1, 1], [1, 1, 1, 1], "always passes"),
        ([0, 0, 0, 0], [0, 0, 0, 0], "always fails"),
        ([1, 0, 1, 0], [0, 1, 0, 0], "no more than chance"),
        ([1], [0], "too little data"),
        ([5, 5, 5, 4], [1, 1, 2, 1], "separates"),
        ([3, 3], [3, 3], "no more than chance"),
    ],
)
def test_it_says_what_the_figures_say(one, other, says):
    rows = [
        ("w", "s", "i", "1", "1", side, run, float(value))
        for side, values in zip(SIDES, (one, other), strict=True)
        for run, value in enumerate(values)
    ]
    schema = dict.fromkeys(KEYS, pl.String) | {"run_number": pl.Int64, "value": pl.Float64}
    values = pl.DataFrame(rows, schema, orient="row").with_columns(status=pl.lit("graded"))
    (found,) = differences(values, sides(values), "draft", "all", 0.95)
    assert found.says == says
