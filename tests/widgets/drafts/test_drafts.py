"""From a gate that the skill fails to a check beside it in the file, by a person's clicks."""

from __future__ import annotations

import json
from pathlib import Path

import skill_eval_nb as sen
from skill_eval_nb.improving.drafting import change_text
from skill_eval_nb.widgets.ui.source import tell_landed
from tests.running.made_jobs import until
from tests.triggers.made import make_skill
from tests.widgets.drafts.made import do, files, panel, suite, workspace
from tests.widgets.trees import find, text


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


def test_what_was_written_and_what_lands_is_in_the_next_view(tmp_path: Path) -> None:
    made = panel(folder := workspace(tmp_path), "drafts")
    assert "Suggestions (1)Drafts (3)" in text(made.view())
    do(made, "decide", made._cards()[0].key, "accepted")
    assert not find(made.view(), key="written")
    do(made, "apply")
    (notice,) = find(made.view(), key="written")
    assert "1 draft written to" in text(notice)
    assert "Suggestions (1)Drafts (2)" in text(made.view())
    grading = next(folder.rglob("grading.json"))
    said = json.loads(grading.read_text())
    said["eval_feedback"]["suggestions"].append({"assertion": "S2", "reason": "It is too strict."})
    grading.write_text(json.dumps(said))
    tell_landed(folder)
    made.view()
    made.settle()
    assert "Suggestions (2)Drafts (2)" in text(made.view())


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


def test_drafts_that_nobody_was_asked_for_say_their_price(tmp_path: Path) -> None:
    skill = make_skill(tmp_path / "kites")
    made = sen.drafts(sen.draft_evals(skill, model="claude-sonnet-4-6"))
    made.settle()
    assert "claude-sonnet-4-6 was not asked: it costs $" in text(made.view())
    assert made.drafts == ()
