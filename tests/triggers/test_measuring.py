"""`measure`: each query in a place of its own, every outcome what it is, nothing made twice."""

from __future__ import annotations

import errno
import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import skill_eval_nb as sen
from skill_eval_nb.models import Connection
from skill_eval_nb.running import Limits, Refused
from skill_eval_nb.triggers import Query, measure, measurement
from skill_eval_nb.triggers.attempt import (
    attempt_path,
    instead_of,
    opened_in,
    outcome_of,
    read_offer,
    stage_skills,
)
from tests import bubblewrap
from tests.grading.made import called
from tests.stand_in import RiggedStandIn, logged
from tests.triggers.made import (
    FLY,
    OPENED,
    QUERIES,
    ROW,
    make_skill,
    measured,
    outcomes,
    went,
)

ASTRAY = went(*called("Bash", None, command="ls"))
BROKEN = went(status="errored", reason="it fell over")


def opens_for_kites(task):
    return OPENED if "kite" in task.prompt else ASTRAY


def test_sixteen_candidates_at_once_do_not_see_each_other_nor_what_it_is_for(tmp_path):
    make_skill(tmp_path / "kites")
    candidates = [f"Candidate {n} builds kites." for n in range(16)]
    at_once = threading.Barrier(16, timeout=60)
    seen: dict[str, str] = {}
    folders: list[str] = []

    def look(task):
        at_once.wait()
        assert list(task.folder.iterdir()) == list(task.scratch.iterdir()) == []
        own = [str(one) for one in (task.folder, task.scratch, task.skill.folder, task.key)]
        assert not re.search("eval|trigger|query|kite[^s]", " ".join(own))
        folders.extend(own[:2])
        places = [task.folder.parent, task.skill.folder.parent]
        near = [path for place in places for path in place.rglob("*") if path.is_file()]
        told = [*(path.read_text() for path in near), *(one.description for one in task.skills)]
        seen[task.skill.description] = " ".join(told)
        at_once.wait()
        return OPENED

    def one(description):
        return measured(tmp_path, FLY, run=look, runs=1, description=description)

    with ThreadPoolExecutor(16) as threads:
        found = [*threads.map(one, candidates)]
    assert [outcomes(each) for each in found] == [{FLY.query: ["triggered"]}] * 16
    assert len(set(folders)) == 32, "none is shared"
    for own in candidates:
        assert [other for other in candidates if other in seen[own]] == [own]


def test_what_was_made_is_read_back_and_only_the_rest_is_made(tmp_path):
    made = []

    def look(task):
        made.append(task.prompt)
        return opens_for_kites(task)

    first = measured(tmp_path, run=look, runs=2)
    assert sorted(made) == sorted([FLY.query, ROW.query] * 2)
    assert measured(tmp_path, run=look, runs=2).attempts == first.attempts
    odd = Query("  /kites @file.txt\n<b>fly</b> ", should_trigger=True)
    grown = measured(tmp_path, FLY, ROW, odd, run=look, runs=3)
    assert sorted(made[4:]) == sorted([FLY.query, ROW.query, *[odd.query] * 3]), "word for word"
    assert set(first.attempts) <= set(grown.attempts)
    # Another measurement is made anew.
    for changed in (
        {"description": "Builds boats."},
        {"series": "second"},
        {"model": "stand-in-2"},
        {"limits": Limits(turns=2)},
        {"others": "bundled"},
        {"sandbox": "none"},
    ):
        before = len(made)
        measured(tmp_path, FLY, run=look, runs=1, **changed)
        assert made[before:] == [FLY.query], changed


def test_errored_attempts_are_made_again_where_that_is_asked_for(tmp_path):
    assert "3 runs: 3 errored" in repr(measured(tmp_path, FLY, run=lambda task: BROKEN))
    kept = measured(tmp_path, FLY, run=lambda task: OPENED)
    assert outcomes(kept) == {FLY.query: ["errored"] * 3}
    assert "retry_errored=True repeats runs that errored" in kept.message
    assert "No score is defined." in repr(kept)
    again = measured(tmp_path, FLY, run=lambda task: OPENED, retry_errored=True)
    assert outcomes(again) == {FLY.query: ["triggered"] * 3}
    found = measured(tmp_path, FLY, run=lambda task: BROKEN, retry_errored=True)
    assert found.attempts == again.attempts


def test_everything_that_is_wrong_is_told_at_once(tmp_path):
    make_skill(tmp_path / "kites")
    wrong = {"runs": 0, "concurrency": 0, "budget_usd": -1.0, "description": "", "others": "no"}
    with pytest.raises(Refused) as error:
        measured(tmp_path, FLY, FLY, **wrong)
    assert len(error.value.faults) == 7
    with pytest.raises(Refused, match="No price is known"):
        measured(tmp_path, run=opens_for_kites, model="unheard-of", budget_usd=1.0)
    with pytest.raises(Refused, match="there are no queries"):
        measure(tmp_path / "kites", [], model="stand-in")


# ── offering ─────────────────────────────────────────────────────────────────────────────────────


def test_each_is_staged_in_a_folder_of_its_name_wherever_it_lies(tmp_path):
    skill, other = make_skill(tmp_path / "v2", "kites"), make_skill(tmp_path / "x", "boats")
    (skill / "evals").mkdir()
    (skill / "evals" / "evals.json").write_text("{}")
    (skill / "trigger-eval-set.json").write_text("[]")
    with stage_skills(read_offer(skill, [other], None)) as offered:
        assert offered.skill.folder.name == "kites"
        assert [one.folder.name for one in offered.others] == ["boats"]
        assert [one.name for one in offered.skill.folder.iterdir()] == ["SKILL.md"]
    assert not offered.skill.folder.exists()
    with pytest.raises(Refused, match="are both called"):
        read_offer(skill, [make_skill(tmp_path / "kites")], None)


def test_a_description_is_replaced_in_the_copy_alone(tmp_path):
    skill = make_skill(tmp_path / "kites")
    file, new, digests = skill / "SKILL.md", 'Folds: "paper"', []
    before = file.read_bytes(), file.stat().st_mtime_ns
    for description in (new, "Builds kites.", None):
        with stage_skills(read_offer(skill, "none", description)) as offered:
            assert offered.skill.description == (description or "Builds kites.")
            copy = (offered.skill.folder / "SKILL.md").read_text()
            assert ("Folds" in copy) != ("Builds kites." in copy) == (description != new)
            digests.append(offered.digests["kites"])
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert digests[0] != digests[1] == digests[2]
    for field in ("name", "description"):
        file.write_bytes(re.sub(rf"{field}:.*\n".encode(), b"", before[0]))
        with pytest.raises(Refused, match=f"`{field}` is missing"):
            read_offer(skill, "none", None)


# ── outcome ──────────────────────────────────────────────────────────────────────────────────────

OFFERED = {"kites", "boats", "pdf"}


TOOL = called("Bash", "a", command="ls")
READ = called("Read", "---", file_path="/skills/boats/SKILL.md")
BOATS = called("Skill", "Launching skill: boats", skill="boats")
BEFORE = called("Skill", "Launching", skill="x:boats")
LONG = called("Bash", "a", command="ls  -l\n" + "x" * 200) + called("Read", None)
LIMIT = "The run did not finish within its limit of 180 seconds."


@pytest.mark.parametrize(
    ("run", "outcome", "opened", "instead"),
    [
        (replace(OPENED, events=(*TOOL, *OPENED.events)), "triggered", ("kites",), None),
        (went(*TOOL, *BOATS), "not triggered", ("boats",), "opened the skill boats"),
        (went(*READ), "not triggered", ("boats",), "opened the skill boats"),
        (went(*TOOL, status="errored", reason=LIMIT), "errored", (), "used Bash: ls"),
        (went(skill_used=None), "errored", (), "answered at once"),
        (went(*BEFORE), "not triggered", (), "used Skill: x:boats"),
        (went(), "not triggered", (), "answered at once"),
        (went(*LONG), "not triggered", (), f"used Bash: ls -l {'x' * 200}"),
    ],
)
def test_what_a_run_did_is_told_and_a_broken_one_is_never_one_that_did_not_trigger(
    run, outcome, opened, instead
):
    found, reason = outcome_of(run)
    assert (found, opened_in(run, "kites", OFFERED)) == (outcome, opened)
    if instead is not None:
        begin, cut, _ = instead_of(run, opened).partition("…")
        assert instead == begin or (cut and instead.startswith(begin) and len(begin) < 100)
    if outcome == "errored":
        assert reason == LIMIT or "cannot tell" in (reason or "")


def test_a_short_name_inside_a_path_is_no_trigger():
    for name, given in (
        ("Bash", {"command": "cat /a/pdf/b"}),
        ("Read", {"file_path": "/a/pdf/notes.md"}),
        ("Read", {"file_path": "/skills/pdf"}),
        ("Write", {"file_path": "/skills/pdf/SKILL.md", "content": "pdf"}),
        ("Bash", {"command": "ls /skills/pdf/SKILL.md"}),
    ):
        run = went(*called(name, "done", **given))
        assert (outcome_of(run)[0], opened_in(run, "pdf", OFFERED)) == ("not triggered", ())


def test_what_an_attempt_says_it_cost_counts_though_it_cannot_be_written(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(measurement, "write_attempt", full)
    with pytest.raises(OSError, match="No space"):
        measured(tmp_path, runs=1, run=lambda _: went(cost_usd=0.5))
    [journal] = tmp_path.rglob("journal.jsonl")
    events = map(json.loads, journal.read_text().splitlines())
    assert 0.5 in [event.get("usd") for event in events]


# ── view ─────────────────────────────────────────────────────────────────────────────────────────


def test_texts_that_no_page_table_or_terminal_holds_are_made_fit(tmp_path):
    odd = Query("<script>\ud800 fly \x1b[31mred", should_trigger=True)
    run = went(*called("Bash", None, command="<img src=x>\udfff \x1b[2J"))
    found, again = (
        measured(tmp_path, odd, run=lambda task: run, description="<b>builds</b>") for _ in "12"
    )
    assert repr(again).replace("; nothing was missing", "") == repr(found)
    shown = found._repr_html_()
    assert not any(one in shown for one in ("<script", "<img", "<b>builds"))
    assert all(one in shown for one in ("&lt;script&gt;", "\ufffd fly"))
    assert "used Bash: &lt;img src=x&gt;" in shown
    assert "\x1b" not in repr(found) + shown
    assert [one.query for one in found.attempts] == [odd] * 3


def test_the_summary_is_the_table_triggers_of_the_workspace(tmp_path):
    found = measured(tmp_path, run=opens_for_kites)
    ws = sen.load(tmp_path / "kites-workspace")
    assert ws.polars("problems").is_empty(), ws.polars("problems").to_dicts()
    rows = ws.polars("triggers").select(
        "query", "should_trigger", "triggered", "runs", "trigger_rate", "description"
    )
    assert rows.rows() == [
        (FLY.query, True, 3, 3, 1.0, "Builds kites."),
        (ROW.query, False, 0, 3, 0.0, "Builds kites."),
    ]
    assert ws.polars("runs").is_empty()
    assert sen.stats.trigger_scores(ws)["f1"].to_list() == found.scores["f1"].to_list() == [1.0]


# ── filing ───────────────────────────────────────────────────────────────────────────────────────


def test_a_damaged_attempt_is_told_and_not_taken_for_a_missing_one(tmp_path):
    found = measured(tmp_path, run=opens_for_kites)
    file = attempt_path(found.folder, found.attempts[1])
    whole = file.read_text()
    for damaged in ('{"outcome": ', "[]", "{}", whole.replace("kite", "boat")):
        file.write_text(damaged)
        with pytest.raises(Refused, match=r"run-2\.json was changed or damaged"):
            measured(tmp_path, run=opens_for_kites)


# ── figures against what is known: money below a ceiling, and the rates of a known router ────────

HAIKU = "claude-haiku-4-5"
IN, OUT = 1e-6, 5e-6
"""US dollars a token, as the bundled table has them; the stand-in caches none of these calls."""


def billed(log) -> float:
    """What the server says that its answers cost."""
    usage = [line["usage"] for line in logged(log)]
    assert not any(one["cache_creation_input_tokens"] for one in usage)
    return sum(IN * one["input_tokens"] + OUT * one["output_tokens"] for one in usage)


@pytest.fixture
def bought(tmp_path):
    """A measurement of all queries, as it is paid for."""
    stand_in = RiggedStandIn(log=str(tmp_path / "log"), latency=0.02)
    given = {"connection": Connection(stand_in=stand_in), "runs": 2, "concurrency": 8}
    given |= {"model": HAIKU, "limits": Limits(turns=2, output_tokens=1000)}
    return lambda **more: measured(tmp_path, *QUERIES, **given, **more)


@bubblewrap.needed
def test_the_ceiling_holds_and_the_rest_is_made_with_more_money(tmp_path, bought):
    ceiling = 1.1 * bought(dry_run=True).price.cap_usd
    short = bought(budget_usd=ceiling)
    counts = [one.outcome for one in short.attempts]
    assert short.status == "partial"
    assert 0 < counts.count("triggered") < 16
    assert counts.count("triggered") + counts.count("not run") == 16
    assert all("budget" in (one.reason or "") for one in short.attempts if one.reason)
    assert short.cost_usd == pytest.approx(billed(tmp_path / "log"))
    assert short.cost_usd <= ceiling
    assert f"{counts.count('not run')} more runs" in short.message
    assert bought(budget_usd=ceiling).attempts == short.attempts, "what was spent before counts"
    whole = bought(budget_usd=5.0)
    assert [one.outcome for one in whole.attempts] == ["triggered"] * 16
    assert len(logged(tmp_path / "log")) == 16, "nothing was made twice"
    assert whole.cost_usd == pytest.approx(billed(tmp_path / "log"))
    assert sum(one.cost_usd or 0 for one in whole.attempts) == pytest.approx(whole.cost_usd)
