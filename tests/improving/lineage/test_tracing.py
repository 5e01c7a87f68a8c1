"""What a history says of versions: against the statistics themselves, and planted truths."""

from __future__ import annotations

from statistics import fmean

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving import history
from skill_eval_nb.running.refused import Refused
from tests.checkout import ROOT
from tests.corpus.build import lay
from tests.improving.lineage.made import iteration, skill, snapshot
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

    def test_the_means_in_the_reason_are_of_the_evals_that_both_have(self, tmp_path):
        files = iteration(1, 0.5, evals=2) | iteration(2, 0.75, evals=1)
        hard = {name: files[name] for name in iteration(1, 0, evals=2) if "eval-2" in name}
        assert hard
        files |= {
            name: content for name, content in iteration(1, 0.05, evals=2).items() if name in hard
        }
        one = history(sen.load(lay(tmp_path / "made-workspace", files))).versions[1]
        assert one.estimate == pytest.approx(0.25)
        assert "pass rate 0.5 → 0.75;" in one.reason
        assert "1 eval in one of them only" in one.reason

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

    def test_of_costs_less_is_better(self, planted):
        runs = planted.polars("runs").with_columns(
            tokens=(planted.polars("runs")["pass_rate"] * 1e4)
        )
        ws = sen.Workspace.from_tables({"runs": runs.cast({"tokens": int})})
        found = history(ws, metric="tokens")
        assert [one.grading_result for one in found.versions][1::2] == ["lost", "lost"]
        assert found.versions[1].expectation_pass_rate == pytest.approx(0.8)
        assert found.versions[1].mean == pytest.approx(8000)

    def test_a_version_without_figures_is_not_compared(self, planted):
        bare = planted.polars("runs").with_columns(
            pass_rate=planted.polars("runs")["pass_rate"].set(
                planted.polars("runs")["iteration"] == "iteration-2", None
            )
        )
        found = history(sen.Workspace.from_tables({"runs": bare}))
        assert results(found)[1] == ("v1", "v0", None)
        assert found.versions[1].expectation_pass_rate is None
        assert "Nothing to compare" in found.versions[1].reason
        assert results(found)[2] == ("v2", "v0", "won")

    def test_a_version_without_a_figure_is_not_the_best_for_long(self, planted):
        runs = planted.polars("runs")
        first = runs["iteration"] == "iteration-1"
        bare = runs.with_columns(pass_rate=runs["pass_rate"].set(first, None))
        found = history(sen.Workspace.from_tables({"runs": bare}))
        assert results(found) == [
            ("v0", None, "baseline"),
            ("v1", "v0", None),
            ("v2", "v1", "won"),
            ("v3", "v2", "lost"),
        ]
        assert found.current_best == "v2"

    def test_a_dimension_that_one_version_was_not_scored_on(self):
        ws = sen.load(DATA / "tdd-workspace")
        scores = ws.polars("rubric_scores")
        some = {"runs": ws.polars("runs"), "rubric_scores": scores.filter(iteration="iteration-2")}
        for name, result in (("behaviour_focus", None), ("rubric:behaviour_focus", None)):
            found = history(sen.Workspace.from_tables(some), metric=name)
            assert [one.grading_result for one in found.versions] == ["baseline", result]
            assert "has no behaviour focus" in found.versions[1].reason
        whole = history(ws, metric="behaviour_focus").versions[1]
        assert 1 <= whole.mean <= 5
        assert whole.grading_result in ("won", "tie")


class TestOldSkill:
    def test_an_iterations_own_old_side_is_compared(self, tmp_path):
        # Across iterations nothing changed; inside iteration 2 the new version is far better.
        files = iteration(1, 0.8) | iteration(2, 0.8) | iteration(2, 0.3, "old_skill")
        one = history(sen.load(lay(tmp_path / "made-workspace", files))).versions[1]
        assert one.grading_result == "won"
        assert one.compared == "with_skill against old_skill in iteration-2"
        assert one.estimate == pytest.approx(0.5)

    def test_the_old_side_of_the_first_iteration_is_the_first_version(self, tmp_path):
        files = iteration(1, 0.8) | iteration(1, 0.3, "old_skill")
        found = history(sen.load(lay(tmp_path / "made-workspace", files)))
        assert [(one.version, one.configuration) for one in found.versions] == [
            ("v0", "old_skill"),
            ("v1", "with_skill"),
        ]
        assert found.current_best == "v1"
        assert any("v0 is old_skill of iteration-1" in note for note in found.notes)

    def test_an_old_side_that_is_of_another_version_is_not_compared(self, tmp_path):
        files = iteration(1, 0.8) | iteration(2, 0.8) | iteration(2, 0.3, "old_skill")
        files |= snapshot(1, skill("One.\n")) | snapshot(2, skill("Two.\n"))
        files |= snapshot(2, skill("Another.\n"), "old_skill")
        one = history(sen.load(lay(tmp_path / "made-workspace", files))).versions[1]
        assert one.compared == "iteration-2 against iteration-1, both with_skill"
        assert one.grading_result == "tie"

    def test_without_skill_is_no_version(self, tmp_path):
        files = iteration(1, 0.8, "without_skill") | iteration(2, 0.8)
        found = history(sen.load(lay(tmp_path / "made-workspace", files)))
        assert [one.iteration for one in found.versions] == ["iteration-2"]
        assert found.notes == ("iteration-1 is no version: it has no runs with the skill.",)


class TestBundled:
    def test_what_was_stated_is_shown_beside_what_is_borne_out(self):
        found = history(sen.load(DATA / "tdd-workspace"))
        assert results(found) == [("v0", None, "baseline"), ("v1", "v0", "tie")]
        assert [one.stated_result for one in found.versions] == ["baseline", "won"]
        assert [one.stated_pass_rate for one in found.versions] == [0.8088, 0.875]
        assert found.versions[1].parent_from == "stated"
        assert "history.json says that v1 won; its runs say: tie." in found.notes
        assert found.started_at == "2026-01-12T09:00:00Z"

    def test_pass_rates_are_means_over_evals_of_means_over_runs(self):
        ws = sen.load(DATA / "tdd-workspace")
        rows = ws.polars("runs").filter(configuration="with_skill").to_dicts()
        for one in history(ws).versions:
            by_eval: dict[str, list[float]] = {}
            for row in rows:
                if row["iteration"] == one.iteration and row["pass_rate"] is not None:
                    by_eval.setdefault(row["eval_id"], []).append(row["pass_rate"])
            assert one.expectation_pass_rate == pytest.approx(fmean(map(fmean, by_eval.values())))
            assert one.n_runs == sum(map(len, by_eval.values()))

    def test_versions_of_a_description(self):
        found = history(sen.load(DATA / "test-cases-workspace"))
        assert [one.iteration for one in found.versions] == [f"description-{n}" for n in (1, 2, 3)]
        rates = [one.expectation_pass_rate for one in found.versions]
        assert rates == pytest.approx([0.6, 2 / 3, 11 / 15])
        assert [one.verdict for one in found.versions[1:]] == ["too few runs"] * 2

    def test_more_stated_versions_than_runs_are_not_guessed_at(self):
        found = history(sen.load(DATA / "skill-creator-workspace"))
        assert found.versions[0].stated_result is None
        assert "tells of 3 versions" in found.notes[0]


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

    def test_an_unknown_metric_names_the_nearest(self, planted):
        with pytest.raises(ValueError, match="Did you mean `pass_rate`"):
            history(planted, metric="pas_rate")

    def test_several_skills_are_named(self):
        ws = made(runs=[a_run("one"), a_run("other")])
        with pytest.raises(Refused, match=r"'one'; .*'other'; choose one by ws\.select"):
            history(ws)
        assert history(ws.select(workspace="one")).workspace == "one"

    def test_no_runs_are_no_versions(self):
        found = history(sen.Workspace.from_tables({}))
        assert found.versions == ()
        assert found.current_best is None
        assert repr(found).startswith("No versions")


def test_other_expectations_are_told(tmp_path):
    files = iteration(1, 0.3) | iteration(2, 0.8)
    changed = "iteration-2/eval-1-task/with_skill/run-1/grading.json"
    checks = [{"text": "another check", "passed": True, "evidence": "line 1"}]
    files[changed] = {"expectations": checks}
    one = history(sen.load(lay(tmp_path / "made-workspace", files))).versions[1]
    assert "The expectations of 1 of 6 evals are not the same in both" in one.reason
