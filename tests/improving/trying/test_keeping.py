"""Judgings of drafts are kept where the loader does not look."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.documents import Judging, RubricScore
from skill_eval_nb.improving.trying.keeping import folder_of, keep, kept, name_of


@given(st.text())
def test_no_key_leads_out_of_the_workspace(key):
    folder = folder_of(Path("/ws"), key)
    assert folder.parts[:4] == ("/", "ws", ".skill-eval-nb", "tries")
    assert (len(folder.parts), folder.name) == (6, "judgings")
    assert folder.parts[4] not in ("..", ".")


def test_what_was_kept_comes_back(tmp_path):
    judging = Judging(judging=1, rubric_scores={"rigour": RubricScore(4.0, "seen")})
    keep(tmp_path / "new", "name", judging)
    assert kept(tmp_path / "new", "name") == judging


def test_what_cannot_be_read_is_none(tmp_path):
    (tmp_path / "name.json").write_text("no JSON")
    assert kept(tmp_path, "name") is kept(tmp_path, "other") is None


def test_the_name_changes_with_model_and_material():
    body = {"model": "a", "messages": [{"role": "user", "content": "x"}], "max_tokens": 1}
    assert name_of(body) == name_of(body | {"max_tokens": 2})
    others = [body | {"model": "b"}, body | {"messages": [{"role": "user", "content": "y"}]}]
    assert len({name_of(one) for one in (body, *others)}) == 3
