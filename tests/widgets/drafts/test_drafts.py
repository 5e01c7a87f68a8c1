"""From a gate that the skill fails to a check beside it in the file, by a person's clicks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving.drafting import change_text
from tests.running.made_jobs import until
from tests.triggers.made import make_skill
from tests.widgets.drafts.made import do, files, panel, suite, workspace
from tests.widgets.trees import find, text


def key_of(made, kind: str) -> str:
    """The name of the first draft of a kind."""
    return next(card.key for card in made._cards() if card.draft.kind == kind)


def test_a_draft_stands_beside_its_try_out(tmp_path: Path) -> None:
    made = panel(workspace(tmp_path), "drafts")
    (dropped, demoted, *_) = made.drafts
    assert (demoted.kind, demoted.target) == ("demote", "S2")
    assert (dropped.kind, dropped.target) == ("drop", "S1")
    (card,) = find(made.view(), tag="section", key=f"card-{demoted.key}")
    shown = text(card)
    tried = sen.improving.try_out(demoted, sen.load(made.source.path))
    assert tried.answer in shown
    rows = [[text(cell) for cell in row[2]] for row in find(find(card, tag="tbody"), tag="tr")]
    for side in tried.sides.iter_rows(named=True):  # of what it replaces, too
        wanted = (side["what"], side["where"], side["configuration"])
        (row,) = (row for row in rows if tuple(row[:3]) == wanted)
        assert str(side["passed"]) in row
    do(made, "look_at", demoted.key)
    (card,) = find(made.view(), tag="section", key=f"card-{demoted.key}")
    rows = [[text(cell) for cell in row[2]] for row in find(card, tag="tr")]
    verdicts = {row[0]: row[2] for row in rows if len(row) == 4}
    assert verdicts["tea, with_skill, run 1"] == "failed"
    assert verdicts["tea, without_skill, run 1"] == "passed"


def test_what_lacks_its_wording_is_one_card_with_a_line_for_each(tmp_path: Path) -> None:
    evals = suite()
    for one in evals["evals"]:
        one["expectations"] = ["It is brief", "It is warm"]
    changes = {"evals.json": json.dumps(evals)}
    for at, folder in enumerate(one for one in files() if one.endswith("/grading.json")):
        checks = [
            {"text": text, "passed": at % 2 == 0} for text in evals["evals"][0]["expectations"]
        ]
        changes[folder] = {"expectations": checks}
    made = panel(workspace(tmp_path, changes), "drafts")
    (card,) = find(made.view(), tag="section", aria_label="2 checks need wording")
    assert "reword ‘It is brief’ tea, coffee, cocoa and broth" in " ".join(text(card).split())
    row = next(one for one in made.drafts if one.target == "It is brief")
    assert not find(made.view(), tag="section", key=f"card-{row.key}")
    (line,) = find(card, tag="input", aria_label=f"Wording: {change_text(row)}")
    do(made, *line[1]["on"]["change"], " Under 40 words ")
    assert next(one.new for one in made.drafts if one.target == "It is brief") == (
        "Under 40 words",
    )
    (card,) = find(made.view(), tag="section", aria_label="1 check needs wording")
    shown = text(find(card, tag="li", key=f"row-{row.key}"))
    assert "Accept" in shown  # where it was written, with how it fares
    assert "Not in the figures: 1 new expectation" in shown


def test_a_draft_that_quotes_the_skill_is_marked_as_it_now_is(tmp_path: Path) -> None:
    """The skill is that in whose folder the suite lies."""
    skill = "---\nname: brewing\ndescription: d\n---\nName the water in `water_line`.\n"
    made = panel(workspace(tmp_path, {"SKILL.md": skill}), "drafts")
    key = key_of(made, "demote")

    def shown() -> str:
        return text(find(made.view(), tag="section", key=f"card-{key}"))

    assert "quotes the skill" not in shown()
    new = {**made._card(key).draft.new[0], "match": "water_line"}
    do(made, "edit", key)
    do(made, "type", key, json.dumps([new]))
    do(made, "take", key)
    assert "It quotes the skill (‘water_line’), and so may measure obedience." in shown()
    cards = [one[1]["key"] for one in find(made.view(), tag="section") if one[1].get("key")]
    assert cards[-1] == f"card-{key}"


def test_what_is_accepted_goes_into_the_file_and_nothing_else(tmp_path: Path) -> None:
    path = workspace(tmp_path)
    made = panel(path, "drafts")
    before = (path / "evals.json").read_bytes()
    key = key_of(made, "demote")
    do(made, "decide", key, "accepted")
    assert [one.key for one in made.accepted] == [key]
    assert (path / "evals.json").read_bytes() == before
    do(made, "choose_tab", "change")
    assert '"critical": false' in text(find(made.view(), tag="pre"))
    do(made, "apply")
    after = json.loads((path / "evals.json").read_bytes())
    changed = suite()
    for one in changed["evals"]:
        one["structural_expectations"][1]["critical"] = False
    assert after == changed
    assert made.written.written.kept.read_bytes() == before
    assert str(made.written.written.kept) in text(made.view())
    assert not list(tmp_path.rglob("iteration-2")), "the next plan begins it"
    assert made.accepted == ()


def test_an_edited_draft_is_tried_and_applied_as_it_was_edited(tmp_path: Path) -> None:
    path = workspace(tmp_path)
    made = panel(path, "drafts")
    key = key_of(made, "demote")
    do(made, "edit", key)
    (area,) = find(made.view(), tag="textarea")
    items = json.loads(area[1]["value"])
    items[0]["match"] = "Boil it"
    made.do("type", key, json.dumps(items))
    do(made, "take", key)
    (card,) = find(made.view(), tag="section", key=f"card-{key}")
    edited = next(one for one in made.drafts if "Boil it" in str(one.new))
    tried = sen.improving.try_out(edited, sen.load(path))
    assert tried.answer in text(card)
    do(made, "decide", key, "accepted")
    assert "Boil it" in made.change.diff
    assert made.accepted[0].new[0]["match"] == "Boil it"
    do(made, "edit", key)  # what is no JSON stays in the field
    made.do("type", key, "[{")
    made.do("take", key)
    assert "not JSON" in (made.fault or "")
    (area,) = find(made.view(), tag="textarea")
    assert area[1]["value"] == "[{"
    do(made, "leave", key)
    assert not find(made.view(), tag="textarea")


def test_what_lacks_something_is_not_accepted_nor_a_changed_file_written_over(tmp_path) -> None:
    path = workspace(tmp_path)
    made = panel(path, "drafts")
    key, whole = key_of(made, "demote"), made.drafts[1]
    made._set(key, draft=replace(whole, missing=("match",)))
    made.do("decide", key, "accepted")
    assert "match still has to be written" in (made.fault or "")
    assert made.accepted == ()
    made._set(key, draft=whole)
    made.do("dismiss")
    do(made, "decide", key, "accepted")
    do(made, "choose_tab", "change")
    other = json.dumps(suite(version="2"))
    (path / "evals.json").write_text(other)
    made.do("apply")
    assert "has changed" in (made.fault or "")
    assert (path / "evals.json").read_text() == other


def test_a_dimension_is_judged_only_within_what_was_allowed(tmp_path: Path) -> None:
    rubric = {"dimensions": [{"name": "warmth", "id": "Q1", "description": "How warm it is"}]}
    evals = suite()
    for one in evals["evals"]:
        one["quality_rubric"] = rubric
    changes = {"evals.json": json.dumps(evals, indent=2)}
    graded = {"expectations": [], "judge_model": "claude-haiku-4-5"}
    for at, folder in enumerate(one for one in files() if one.endswith("/grading.json")):
        scores = {"warmth": {"score": 2 + at % 3, "evidence": f"warm {at}"}}
        changes[folder] = graded | {"rubric_scores": scores}
    made = panel(workspace(tmp_path, changes), "drafts")
    card = next(card for card in made._cards() if card.draft.part == "dimensions")
    key = card.key
    do(made, "edit", key)
    anchors = {"1": "Cold", "3": "Lukewarm", "5": "Hot"}
    made.do("type", key, json.dumps([{**card.draft.new[0], "scoring": anchors}]))
    do(made, "take", key)
    (shown,) = find(made.view(), tag="li", key=f"row-{key}")
    assert "at most $" in text(shown)
    (button,) = [one for one in find(shown, tag="button") if text(one) == "Judge it"]
    assert button[1].get("disabled")
    made.do("judge", key)
    assert "Set a budget" in (made.fault or "")
    do(made, "judge_with", key, "stand-in-judge")
    made.do("spend", key, -1)
    assert "no amount" in (made.fault or "")
    do(made, "dismiss")
    do(made, "spend", key, 0)
    do(made, "judge", key)
    (judging,) = made._judgings.values()
    until(lambda: not judging.running)
    assert judging.message is None
    assert judging.result.status == "tried"
    assert judging.result.answer in text(made.view())


def test_nothing_suggested_and_nothing_there(tmp_path: Path) -> None:
    empty = sen.drafts(tmp_path / "none")
    empty.settle()
    assert "No grader has suggested anything" in text(empty.view())
    with pytest.raises(FileNotFoundError):
        sen.drafts(tmp_path / "none", tmp_path / "evals.json")


def test_first_evals_are_read_edited_accepted_and_written(tmp_path: Path) -> None:
    skill = make_skill(tmp_path / "kites")
    made = sen.drafts(sen.draft_evals(skill, n=3))
    made.settle()
    shown = text(made.view())
    assert "No model wrote this" in shown
    assert "A program checks: Something was written" in shown
    assert "it has to be run first" in shown
    first, second, _ = made.drafts
    for act in (
        ("edit", first.key),
        ("type", first.key, json.dumps([{**first.new[0], "prompt": "Build a kite."}])),
        ("take", first.key),
        ("decide", first.key, "accepted"),
        ("decide", second.key, "rejected"),
        ("choose_tab", "change"),
    ):
        do(made, *act)
    assert not (skill / "evals").exists()
    assert "+++ evals.json (new)" in text(made.view())
    do(made, "apply")
    (eval_,) = json.loads((skill / "evals" / "evals.json").read_text())["evals"]
    assert (eval_["id"], eval_["prompt"]) == (1, "Build a kite.")
    assert "1 draft written to" in text(made.view())


def test_drafts_that_nobody_was_asked_for_say_their_price(tmp_path: Path) -> None:
    skill = make_skill(tmp_path / "kites")
    made = sen.drafts(sen.draft_evals(skill, model="claude-sonnet-4-6"))
    made.settle()
    assert "claude-sonnet-4-6 was not asked: it costs $" in text(made.view())
    assert made.drafts == ()
