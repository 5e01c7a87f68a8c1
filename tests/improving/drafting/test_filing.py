"""drafts.json, written and read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.improving.drafting import key_of, read_drafts, write_drafts
from skill_eval_nb.improving.drafting.keys import made
from skill_eval_nb.improving.values import RunRef
from skill_eval_nb.running.refused import Refused

RUN = RunRef("ws", "skill", "none", "1", "a", "with_skill", 2)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(st.lists(st.tuples(WORDS, WORDS, st.lists(WORDS, max_size=2)), max_size=3))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, several: list[tuple[str, str, list[str]]]
) -> None:
    drafts = tuple(
        made("add", "expectations", ["1"], None, new, why, runs=[RUN], suggestions=[key], by="m")
        for why, key, new in several
    )
    path = tmp_path_factory.mktemp("drafts") / "drafts.json"
    assert read_drafts(write_drafts(path, drafts)) == drafts


def test_a_file_that_a_person_edited_has_the_keys_of_what_it_says_now(tmp_path: Path) -> None:
    draft = made("reword", "expectations", ["1"], "It is good", [""], "Vague.")
    path = write_drafts(tmp_path / "drafts.json", [draft])
    raw = json.loads(path.read_text())
    raw["drafts"][0]["new"] = ["It names its author"]
    path.write_text(json.dumps(raw))
    (read,) = read_drafts(path)
    assert read.missing == ()
    assert read.key == key_of("expectations", ["1"], "It is good", ["It names its author"])


def test_every_draft_that_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "drafts.json"
    good = {"kind": "drop", "part": "expectations", "evals": ["1"], "target": "a", "new": []}
    path.write_text(json.dumps({"drafts": [{}, good | {"why": ""}, good | {"kind": "burn"}]}))
    with pytest.raises(Refused) as raised:
        read_drafts(path)
    assert [one.split("$.")[1].split(" ")[0] for one in raised.value.faults] == [
        "drafts[0]",
        "drafts[2]",
    ]


@pytest.mark.parametrize("text", ["[]", "{}", "no JSON", '{"drafts": 1}'])
def test_a_file_without_drafts_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "drafts.json"
    path.write_text(text)
    with pytest.raises(Refused, match=r"drafts\.json"):
        read_drafts(path)
