"""What a history says of versions, shows and writes: against the statistics, planted truths."""

from __future__ import annotations

import json

import jsonschema
import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents.schema import json_schema
from skill_eval_nb.improving import Lineage, history
from skill_eval_nb.improving.lineage import by_version
from skill_eval_nb.running.refused import Refused
from tests.checkout import ROOT
from tests.corpus.build import lay
from tests.improving.made_versions import iteration
from tests.tables.made import a_run, made

DATA = ROOT / "data"


def results(lineage):
    return [(one.version, one.parent, one.grading_result) for one in lineage.versions]


@pytest.fixture
def planted(tmp_path):
    """A large gain, then a tiny one, then a large loss."""
    shares = (0.3, 0.8, 0.85, 0.4)
    files = {}
    for number, share in enumerate(shares, 1):
        files |= iteration(number, share)
    return sen.load(lay(tmp_path / "made-workspace", files))


class TestPlanted:
    def test_only_what_is_borne_out_is_won_or_lost(self, tmp_path):
        files = iteration(1, 0.3) | iteration(2, 0.8) | iteration(3, 0.8) | iteration(4, 0.4)
        found = history(sen.load(lay(tmp_path / "made-workspace", files)))
        assert results(found) == [
            ("v0", None, "baseline"),
            ("v1", "v0", "won"),
            ("v2", "v1", "tie"),
            ("v3", "v1", "lost"),
        ]
        assert found.current_best is None  # v2 ties with v1
        assert not any(one.is_current_best for one in found.versions)
        assert {one.parent_from for one in found.versions[1:]} == {"best so far"}

    def test_a_mean_that_rises_by_chance_is_a_tie_and_says_so(self, tmp_path):
        files = iteration(1, 0.5, evals=2) | iteration(2, 0.55, evals=2)
        found = history(sen.load(lay(tmp_path / "made-workspace", files)))
        one = found.versions[1]
        assert one.mean > found.versions[0].mean
        assert (one.verdict, one.grading_result) == ("unclear", "tie")
        assert "unclear, so a tie" in one.reason
        assert found.current_best is None

    def test_the_figures_are_those_of_the_deltas(self, planted):
        found = history(planted)
        parents = {"v1": "iteration-1", "v2": "iteration-2"}
        for one in found.versions[1:3]:
            row = sen.stats.deltas(planted, versus=(one.iteration, parents[one.version])).row(
                0, named=True
            )
            assert [one.estimate, one.low, one.high, one.p, one.verdict] == [
                row[name] for name in ("estimate", "low", "high", "p", "verdict")
            ]
            assert row["reason"] in one.reason

    def test_given_parents_decide_the_result_and_the_best_stays_the_best(self, planted):
        found = history(planted, parents={"v3": "v0", "iteration-3": "iteration-1"})
        assert results(found)[2:] == [("v2", "v0", "won"), ("v3", "v0", "won")]
        assert [one.parent_from for one in found.versions[2:]] == ["given", "given"]
        # v3 beats its parent, and not the best.
        assert found.current_best != "v3"


class TestOldSkill:
    def test_an_iterations_own_old_side_is_compared(self, tmp_path):
        # Across iterations nothing changed; inside iteration 2 the new version is far better.
        files = iteration(1, 0.8) | iteration(2, 0.8) | iteration(2, 0.3, "old_skill")
        one = history(sen.load(lay(tmp_path / "made-workspace", files))).versions[1]
        assert one.grading_result == "won"
        assert one.compared == "with_skill against old_skill in iteration-2"
        assert one.estimate == pytest.approx(0.5)


class TestBundled:
    def test_what_was_stated_is_shown_beside_what_is_borne_out(self):
        found = history(sen.load(DATA / "tdd-workspace"))
        assert results(found) == [("v0", None, "baseline"), ("v1", "v0", "tie")]
        assert [one.stated_result for one in found.versions] == ["baseline", "won"]
        assert [one.stated_pass_rate for one in found.versions] == [0.8088, 0.875]
        assert found.versions[1].parent_from == "stated"
        assert "history.json says that v1 won; its runs say: tie." in found.notes
        assert found.started_at == "2026-01-12T09:00:00Z"


class TestRefusing:
    @pytest.mark.parametrize(
        ("asked", "says"),
        [
            ({"parents": {"v9": "v0"}}, "there is no version or iteration `v9`"),
            ({"parents": {"v0": "v1"}}, "does not come before"),
            ({"parents": {"v1": "v1"}}, "does not come before"),
            ({"configuration": "with_skil"}, "did you mean `with_skill`"),
            ({"metric": "output_chars"}, "neither more nor less"),
        ],
        ids=str,
    )
    def test_what_makes_no_sense_is_refused(self, planted, asked, says):
        with pytest.raises(Refused, match=says):
            history(planted, **asked)


@pytest.fixture(scope="module")
def found() -> Lineage:
    return history(sen.load(ROOT / "data" / "tdd-workspace"))


def test_the_text_says_result_reason_and_change(found):
    text = repr(found)
    assert text.startswith("2 versions of testing by pass rate; none is proven better\n")
    assert "v1  iteration-2, with_skill: 0.875, tie, from v0 (stated)" in text
    assert "changed: SKILL.md +9 −5 lines" in text
    assert "  ! history.json says that v1 won; its runs say: tie." in text
    assert max(map(len, text.splitlines())) < 120


def test_names_from_files_are_escaped_in_html():
    bad = "<script>alert(1)</script>"
    ws = made(
        runs=[
            a_run(bad, iteration=f"iteration-{n}{bad}", configuration="with_skill", pass_rate=0.5)
            for n in (1, 2)
        ]
    )
    html = history(ws)._repr_html_()
    assert "<script" not in html
    assert "&lt;script" in html
    assert "<style>" in html


@pytest.fixture
def place(tmp_path):
    return lay(tmp_path / "made-workspace", iteration(1, 0.3, evals=3) | iteration(2, 0.8, evals=3))


def test_it_is_the_document_that_people_know(place):
    written = json.loads(history(sen.load(place)).write(place).read_text())
    jsonschema.validate(written, json_schema("history", "skill-creator"))
    assert written["skill_name"] == "made"
    assert written["current_best"] == "v1"
    known = ("version", "parent", "expectation_pass_rate", "grading_result", "is_current_best")
    assert [[one[name] for name in known] for one in written["iterations"]] == [
        ["v0", None, 0.3, "baseline", False],
        ["v1", "v0", 0.8, "won", True],
    ]


def test_what_was_written_is_read_again_without_a_problem(place):
    before = sen.load(place)
    history(before).write(place)
    ws = sen.load(place)
    assert ws.problems.equals(before.problems)
    assert ws.table("history").select("version", "grading_result").rows() == [
        ("v0", "baseline"),
        ("v1", "won"),
    ]
    again = history(ws)
    assert [one.stated_result for one in again.versions] == ["baseline", "won"]
    assert again.notes == ()


def test_our_own_file_is_replaced_and_the_bytes_are_the_same(place):
    first = history(sen.load(place)).write(place).read_bytes()
    assert history(sen.load(place)).write(place / "history.json").read_bytes() == first
    assert not list(place.glob("*.bak*"))


def test_a_file_of_others_is_kept(place):
    theirs = '{"iterations": [{"version": "v0", "note": "mine"}]}'
    lay(place, {"history.json": theirs, "history.json.1.bak": "an older one"})
    found = history(sen.load(place))
    with pytest.raises(Refused, match=r"written by others.*history\.json\.N\.bak"):
        found.write(place)
    assert (place / "history.json").read_text() == theirs
    found.write(place, force=True)
    assert (place / "history.json.1.bak").read_text() == "an older one"
    assert (place / "history.json.2.bak").read_text() == theirs
    assert "reason" in (place / "history.json").read_text()


DATA = ROOT / "data"


def written(ws, folder, dialect):
    paths = sen.report.write_benchmark(ws, folder, dialect=dialect)
    (path,) = [one for one in paths if one.suffix == ".json"]
    return json.loads(path.read_text())


def test_a_benchmark_of_descriptions_comes_out_as_it_was_stated(tmp_path):
    ws = sen.load(DATA / "test-cases-workspace")
    ours = written(by_version(ws), tmp_path, "test-cases")["entries"]
    theirs = json.loads((DATA / "test-cases-workspace/eval/benchmark.json").read_text())["entries"]
    assert [one["description_version"] for one in ours] == [1, 2, 3]
    for one, other in zip(ours, theirs, strict=True):
        for name in ("mean", "std_dev", "min", "max"):
            assert one["scores"][name] == pytest.approx(other["scores"][name], abs=1e-4)
        scores = [
            {case["test_case_id"]: case["score"] for case in entry["per_test_case"]}
            for entry in (one, other)
        ]
        assert scores[0] == pytest.approx(scores[1], abs=1e-4)
