"""Stored outputs are judged anew, and nothing that was there is lost."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import skill_eval_nb as sen
from skill_eval_nb.models import Connection, StandIn, Usage, load_prices
from skill_eval_nb.running import batch, judge_again, judge_tasks
from skill_eval_nb.running.asking import AskingProgress
from skill_eval_nb.running.judge_tasks import JudgedAgain
from skill_eval_nb.running.stored_runs import stored_runs
from skill_eval_nb.tables import check
from skill_eval_nb.workspace import Problems
from tests.checkout import ROOT
from tests.corpus.build import graded, lay
from tests.stand_in import Fault, RiggedStandIn, logged

DIMENSIONS = [
    {"id": "Q1", "name": "clarity", "weight": 2, "description": "Is it clear?"},
    {"id": "Q2", "name": "depth", "weight": 1, "description": "Is it deep?"},
]
EVALS: list[dict[str, Any]] = [
    {
        "id": 1,
        "name": "sum",
        "prompt": "Add up the invoices",
        "expectations": ["check 1", "check 2"],
        "quality_rubric": {"dimensions": DIMENSIONS},
    },
    {"id": 2, "name": "bare", "prompt": "Say hello"},
]
SCORES = {"clarity": (2, "muddled"), "depth": (3, "so so")}
GRADING = graded(
    "pf",
    summary={"passed": 1, "failed": 1, "total": 2, "pass_rate": 0.5},
    rubric_scores={name: {"score": n, "evidence": why} for name, (n, why) in SCORES.items()},
    rubric_summary={"weighted_mean": 2.3333, "max_possible": 5.0, "normalized": 0.4667},
    timing={"executor_duration_seconds": 7.0, "total_tokens": 900},
    judge_model="judge-before",
    mine={"kept": True},
)
GRADING["expectations"][0]["mine"] = 1
OFFLINE = Connection(stand_in=StandIn(seed=1))


def run_of(
    workspace: Path, side: str = "with_skill", number: int = 1, eval_: str = "1-sum", **more: Any
) -> Path:
    files = {
        "outputs/table.md": f"| May | {number} |\nTotal: 12\n",
        "transcript.md": "I wrote table.md",
        "timing.json": {"total_duration_seconds": 7.0},
        **{f"{name}.json": content for name, content in more.items()},
    }
    return lay(workspace / "iteration-1" / f"eval-{eval_}" / side / f"run-{number}", files)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    suite = {"skill_name": "canary-adder", "evals": EVALS}
    folder = lay(tmp_path / "adder-workspace", {"evals.json": suite})
    for side in ("with_skill", "without_skill"):
        for number in (1, 2):
            run_of(folder, side, number, grading=GRADING)
    return folder


def load(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def runs(workspace: Path) -> list[Path]:
    return sorted(workspace.glob("iteration-1/eval-1-sum/*/run-*"))


def judgings(run: Path) -> list[Any]:
    """The judgings of a run, whose grading states their mean and their majority."""
    files = sorted((run / "judgings").iterdir())
    assert [one.name for one in files] == [f"{n}.json" for n in range(1, len(files) + 1)]
    every, grading = [load(one) for one in files], load(run / "grading.json")
    for dimension in ("clarity", "depth"):
        scores = [one["rubric_scores"][dimension]["score"] for one in every]
        stated = grading["rubric_scores"][dimension]["score"]
        assert stated == pytest.approx(sum(scores) / len(scores), abs=1e-3)
    votes = [one["expectations"][0]["passed"] for one in every]
    assert len(grading["expectations"]) == 2
    if len(votes) % 2:
        assert grading["expectations"][0]["passed"] == (sum(votes) > len(votes) / 2)
    return every


def test_new_judgings_stand_beside_what_was_there_and_once_more_counts_on(workspace: Path) -> None:
    looks: list[AskingProgress] = []
    done = judge_again(workspace, again=2, connection=OFFLINE, progress=looks.append)
    assert (done.status, len(done.judged), done.usage.calls, done.cost_usd) == ("done", 8, 8, 0.0)
    assert [one.done for one in looks] == list(range(1, 9))
    assert looks[-1].total == 8
    for run in runs(workspace):
        first, *new = judgings(run)
        assert first["rubric_scores"] == GRADING["rubric_scores"]
        assert first["expectations"] == GRADING["expectations"]  # with its unknown field
        assert (first["judge_model"], first["judging"]) == ("judge-before", 1)
        assert [one["judge_model"] for one in new] == ["stand-in-judge"] * 2
        grading = load(run / "grading.json")
        assert grading["mine"] == {"kept": True}
        assert grading["timing"]["total_tokens"] == 900
        assert grading["timing"]["grader_duration_seconds"] > 0
        assert grading["expectations"][0]["notes"].endswith("of 3 judgings pass it")
    assert [one for one in check(workspace) if one.severity == "error"] == []
    ws = sen.load(workspace)
    assert len(ws.rubric_scores) == 4 * 3 * 2
    assert set(ws.runs["status"]) == {"graded"}
    assert "disagree" not in ws.problems["code"].to_list()

    run = runs(workspace)[0]
    before = (run / "grading.json").read_bytes()
    judge_again(run, connection=OFFLINE)
    assert len(judgings(run)) == 4
    (run / "grading.json").write_bytes(before)  # as if it was killed before it was graded
    assert not judge_again(run, connection=OFFLINE).kept
    assert len(judgings(run)) == 5


def test_what_cannot_be_judged_is_said(workspace: Path) -> None:
    run_of(workspace, eval_="2-bare")
    run_of(workspace, eval_="9-unknown")
    gated = run_of(workspace, number=3, structural={"expectations": [], "gate_passed": False})
    run_of(workspace, number=4, timing={"status": "errored", "reason": "the executor was refused"})
    shutil.rmtree(run_of(workspace, number=5) / "outputs")
    run_of(workspace, number=6, grading="{ not JSON")
    done = judge_again(workspace, connection=OFFLINE)
    assert len(done.judged) == 4
    folders = {Path(one.what): one.reason for one in done.left_out}
    reasons = {one.parts[-3][5:] + one.name: folders[one] for one in folders}
    wanted = {
        "2-barerun-1": "neither expectations for a judge nor a rubric",
        "9-unknownrun-1": "not defined",
        "1-sumrun-3": "gated",
        "1-sumrun-4": "the executor was refused",
        "1-sumrun-5": "no outputs",
        "1-sumrun-6": "cannot be read",
    }
    assert reasons.keys() == wanted.keys()
    assert [name for name, words in wanted.items() if words not in reasons[name]] == []
    assert not {"grading.json", "judgings"} & {one.name for one in gated.iterdir()}
    assert "gated" in repr(done)


def test_a_grading_of_two_sides_stays(workspace: Path) -> None:
    run = run_of(workspace, grading={"with_skill": GRADING, "without_skill": GRADING})
    before = (run / "grading.json").read_bytes()
    done = judge_again(workspace, connection=OFFLINE)
    assert (run / "grading.json").read_bytes() == before
    assert run.resolve() in [Path(one.what).resolve() for one in (*done.kept, *done.left_out)]


MODEL = "claude-haiku-4-5"


def cost_of_all(workspace: Path) -> float:
    every = [load(path) for path in workspace.rglob("judgings/*.json")]
    return sum(one.get("cost_usd") or 0.0 for one in every)


def test_the_budget_holds_and_what_does_not_fit_is_said(workspace: Path) -> None:
    whole = judge_again(workspace, judge_model=MODEL, connection=OFFLINE)
    assert whole.cost_usd == pytest.approx(cost_of_all(workspace))
    each = (whole.cost_usd or 0.0) / 4
    assert each > 0
    before = {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()}
    plan = judge_again(workspace, judge_model=MODEL, connection=OFFLINE, again=2, dry_run=True)
    assert (plan.status, plan.n_missing, plan.judged, plan.cost_usd) == ("dry run", 8, (), 0.0)
    assert (plan.worst_usd or 0.0) > 8 * each
    assert f"8 judgings by {MODEL}" in repr(plan)
    now = {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()}
    assert now == before
    done = judge_again(workspace, judge_model=MODEL, connection=OFFLINE, budget_usd=0.001)
    assert (done.status, done.judged, done.usage) == ("partial", (), Usage())
    assert "budget" in done.failed[0].reason
    # One judging can cost some 0.15 $ at its worst, and costs far less: they follow each other.
    one_worst = 0.25
    done = judge_again(workspace, judge_model=MODEL, connection=OFFLINE, budget_usd=one_worst)
    assert done.status == "done"
    assert (done.cost_usd or 0.0) <= one_worst


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RiggedStandIn:
    """One that keeps a log."""
    monkeypatch.setattr(batch, "EVERY", 0.05)
    return RiggedStandIn(seed=1, log=str(tmp_path / "log.jsonl"))


def again(workspace: Path, model: RiggedStandIn, **more: Any) -> JudgedAgain:
    given = {"judge_model": MODEL, "batch": True, **more}
    return judge_again(workspace, connection=Connection(stand_in=model), **given)


def submitted(model: RiggedStandIn) -> int:
    sent = [(one["method"], one["path"]) for one in logged(Path(str(model.log)))]
    return sent.count(("POST", "/v1/messages/batches"))


def test_an_answer_of_a_batch_that_cannot_be_used_is_asked_for_alone(
    workspace: Path, model: RiggedStandIn
) -> None:
    fault = Fault("no_evidence", role="judge", calls=(2,))
    done = again(workspace, replace(model, faults=(fault,)))
    assert (done.status, len(done.judged)) == ("done", 4)
    half = load_prices().cost(done.usage, MODEL, batch=True)
    assert half is not None
    assert half < (done.cost_usd or 0) < 2 * half
    assert done.cost_usd == pytest.approx(cost_of_all(workspace))


@pytest.mark.parametrize("by_batch", [True, False])
def test_what_a_kill_has_cut_off_is_taken_up_again_and_only_the_rest_is_judged(
    workspace: Path, model: RiggedStandIn, monkeypatch: pytest.MonkeyPatch, by_batch: bool
) -> None:
    class Killed(BaseException):
        pass

    def dies(*given: Any) -> None:
        if len(settled) == 2:
            raise Killed
        settled.append(given)
        settle(*given)

    settled, settle = list[Any](), judge_tasks.store_judging
    monkeypatch.setattr(judge_tasks, "store_judging", dies)
    with pytest.raises(Killed):
        again(workspace, model, batch=by_batch)
    monkeypatch.setattr(judge_tasks, "store_judging", settle)
    state = workspace / ("batch.json" if by_batch else "judging.json")
    assert state.name not in str(sen.load(workspace).problems["path"].to_list())
    if by_batch:
        assert len(load(state)["ids"]) == 1
        with pytest.raises(ValueError, match="under way with other settings"):
            again(workspace, model, judge_model="claude-opus-4-8")
    done = again(workspace, model, batch=by_batch)
    assert (len(done.judged), submitted(model)) == (2, int(by_batch))
    assert [len(judgings(run)) for run in runs(workspace)] == [2] * 4
    assert not state.exists()


def test_a_batch_whose_id_was_lost_is_not_sent_twice(workspace: Path, model: RiggedStandIn) -> None:
    lay(workspace, {"batch.json": {"ids": [], "judge": {}, "items": []}})
    with pytest.raises(ValueError, match="may have been submitted"):
        again(workspace, model)
    (workspace / "batch.json").write_text("{")
    with pytest.raises(ValueError, match="changed since it was written"):
        again(workspace, model)


def test_a_batch_within_a_budget(workspace: Path, model: RiggedStandIn) -> None:
    done = again(workspace, model, budget_usd=0.06)
    assert done.status == "partial"
    assert 0 < len(done.judged) < 4
    assert (done.cost_usd or 0) <= 0.06
    assert not again(workspace, model, budget_usd=0.0001).judged
    assert submitted(model) == 1
    assert not (workspace / "batch.json").exists()
    rest = again(workspace, model)
    assert len(rest.judged) == 4 - len(done.judged)
    assert "only what was missing was judged" in rest.message
    anew = again(workspace, model)
    assert (len(anew.judged), anew.message) == (4, "")


# ── finding ──────────────────────────────────────────────────────────────────────────────────────


PART = "iteration-2/eval-1-lend-a-book/with_skill/run-1/grading.json".split("/")


@pytest.mark.parametrize(("depth", "count"), list(enumerate([69, 36, 6, 3, 1, 1])))
def test_a_part_of_a_workspace_knows_the_suite_of_the_whole(depth, count):
    part = "/".join(PART[:depth])
    found = stored_runs(ROOT / "data" / "tdd-workspace" / part)
    assert len(found) == count
    assert all(run.eval is not None and run.eval.structural_expectations for run in found)
    one = found[0]
    iteration = "iteration-2" if part else "iteration-1"
    assert (one.iteration, one.eval_id, one.run_number) == (iteration, "1", 1)
    assert (one.outputs, one.transcript) == (one.folder / "outputs", one.folder / "transcript.md")


def test_the_suite_of_the_skill_beside_the_workspace_is_read_and_a_broken_one_is_a_problem(
    tmp_path,
):
    checks = [{"type": "file_exists", "pattern": "*.md"}]
    suite = {"evals": [{"id": 1, "prompt": "Write it", "structural_expectations": checks}]}
    run = "iteration-1/eval-1-it/with_skill/run-2/grading.json"
    ws = lay(tmp_path / "tdd-workspace", {run: graded("p")})
    lay(tmp_path / "tdd", {"evals/evals.json": suite, "SKILL.md": "x"})
    (found,) = stored_runs(ws / "iteration-1")
    assert found.eval is not None
    assert found.eval.structural_expectations[0].pattern == "*.md"
    assert found.run_number == 2
    problems = Problems()
    (found,) = stored_runs(lay(ws, {"evals.json": "{not json"}), problems=problems)
    assert found.eval is None
    assert [problem.code for problem in problems] == ["not-json"]
