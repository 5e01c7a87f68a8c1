"""Drafts: sound, in order, each change once; their keys, and their files; what rules find."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.improving import draft
from skill_eval_nb.improving.aggregation import aggregate
from skill_eval_nb.improving.rules import (
    Evidence,
    add_missed,
    drop_useless,
    evidence_of,
    of_evals,
    of_rubric,
    reword_unsteady,
)
from skill_eval_nb.improving.values import (
    REMARK,
    RunRef,
    key_of,
    new_draft,
    read_drafts,
    write_drafts,
)
from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.stats import plan
from skill_eval_nb.tables import Workspace, load
from tests.checkout import ROOT
from tests.improving.made import CHECKS, EXISTS, NEW, always, drafted, look, said, world

BUNDLED = sorted(path for path in (ROOT / "data").glob("*-workspace"))
LISTS = ("structural_expectations", "expectations", "dimensions")
GATE = EXISTS | {"critical": True}


def names_in(seen: Evidence, eval_id: str, part: str) -> set[str | None]:
    """What the items of a list of an eval can be called."""
    one = seen.suite[eval_id]
    dimensions = one.quality_rubric.dimensions if one.quality_rubric else []
    items = dimensions if part == "dimensions" else getattr(one, part)
    names = ("id", "name", "text", "description")
    return {getattr(item, name, None) for item in items for name in names}


def assert_sound(ws: Workspace) -> None:
    """Drafts name evals and targets that exist, know their own key, and stand in order."""
    found = aggregate(ws)
    seen = evidence_of(ws, found, None)
    drafts = draft(ws, found)
    for one in drafts:
        assert one.key == key_of(one.part, one.evals, one.target, one.new)
        assert set(one.found_on) <= set(one.evals) <= set(seen.suite)
        assert one.why.strip()
        assert one.runs
        if one.part in LISTS and one.target is not None:
            assert all(one.target in names_in(seen, name, one.part) for name in one.evals)
        if one.part == "evals":
            assert one.target in (None, *seen.suite)
        assert set(one.suggestions) <= {suggestion.key for suggestion in found.suggestions}
    assert len({one.key for one in drafts}) == len(drafts)
    counts = [len(one.runs) for one in drafts]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.name)
def test_bundled_workspaces_give_sound_drafts(path: Path) -> None:
    assert_sound(load(path))


def test_other_peoples_workspaces_are_aggregated_and_give_sound_drafts(
    corpus_loaded: list[Workspace],
) -> None:
    with_some = 0
    for ws in corpus_loaded:
        found = aggregate(ws)
        written = ws.polars("suggestions").filter(ws.polars("suggestions")["kind"] != "overall")
        assert bool(found.suggestions) == bool(written.height)
        assert sum(len(one.sources) for one in found.suggestions) <= written.height
        if found.suggestions:
            with_some += 1
            names = sorted(set(ws.polars("suggestions")["workspace"]))
            for name in names[::10]:
                assert_sound(ws.select(workspace=name))
    assert with_some >= 5


RUN = RunRef("ws", "skill", "none", "1", "a", "with_skill", 2)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(st.lists(st.tuples(WORDS, WORDS, st.lists(WORDS, max_size=2)), max_size=3))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, several: list[tuple[str, str, list[str]]]
) -> None:
    more: dict[str, Any] = {"runs": [RUN], "by": "m"}
    drafts = tuple(
        new_draft("add", "expectations", ["1"], None, new, why, suggestions=[key], **more)
        for why, key, new in several
    )
    path = tmp_path_factory.mktemp("drafts") / "drafts.json"
    assert read_drafts(write_drafts(path, drafts)) == drafts


@pytest.mark.parametrize("text", ["[]", "no JSON", '{"drafts": 1}', '{"drafts": [{"part": "x"}]}'])
def test_a_file_without_drafts_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "drafts.json"
    path.write_text(text)
    with pytest.raises(Refused, match=r"drafts\.json"):
        read_drafts(path)


# ── rules ──────────────────────────────────────────────────────────────────────────────────────


def never(*_: Any) -> bool:
    """A check that never passes."""
    return False


def by_chance(name: str, side: str, run: int) -> bool:
    """A check whose verdict hangs on the run alone."""
    return run % 2 == 0


def but_once(*at: Any) -> bool:
    """A check that misses one run alone."""
    return at != ("1", NEW, 1)


@pytest.mark.parametrize(
    ("critical", "verdict", "kind"),
    [
        (False, always, None),
        (False, never, "drop"),
        (False, by_chance, None),
        (True, always, None),
        (True, never, "demote"),
        (True, by_chance, "demote"),
        (True, but_once, None),
    ],
)
def test_what_becomes_of_a_check(tmp_path: Path, critical: bool, verdict: Any, kind: Any) -> None:
    checks = [(EXISTS | {"critical": critical}, verdict)]
    found = [*drop_useless(look(world(tmp_path, checks, runs=4)))]
    assert [one.kind for one in found] == ([kind] if kind else [])
    for one in found:
        assert (one.target, one.evals, len(one.runs)) == ("S1", tuple("123456"), 48)
        assert "24 runs of without_skill" in one.why
        assert one.new == (() if kind == "drop" else (EXISTS | {"critical": False},))
    if verdict is never:  # for which it takes as many runs as the notes ask for
        few = drafted(world(tmp_path / "few", checks, runs=1))
        waits = "1 check always passed or always failed in fewer than 10 runs a side"
        assert [one.kind for one in few if one.target == "S1"] == []
        assert few.waiting.startswith(waits)
        enough = drafted(world(tmp_path / "enough", checks, runs=2))
        assert [one.kind for one in enough if one.target == "S1"] == [kind]
        assert not enough.waiting.startswith(waits)
        tiny = drafted(world(tmp_path / "tiny", checks, evals=1, runs=1))
        assert (len(tiny), tiny.waiting) == (0, "Too little is known of 1 check: run more first.")


def test_a_critical_check_goes_where_another_one_stands_in_for_it(tmp_path: Path) -> None:
    second = {**GATE, "id": "S2", "type": "file_contains", "match": "# ", "description": "A head"}
    checks = [(GATE, always), (second, always), ("It is short", by_chance)]
    (draft,) = drop_useless(look(world(tmp_path, checks)))
    assert (draft.kind, draft.target) == ("drop", "S1")
    assert "S2 (‘A head’) is critical as well" in draft.why


def test_what_is_flaky_or_vague_is_worded_anew(tmp_path: Path) -> None:
    checks = [
        ("The total is right", lambda name, side, run: (int(name) + run) % 2 == 0),
        ("The report is good", always),
        ("The tax is listed", always),
    ]
    vague = said("Nobody can say.", "1", assertion="The report is good", kind="vague")
    flaky, unclear = reword_unsteady(look(world(tmp_path, checks, runs=4), vague))
    assert [flaky.kind, flaky.target, flaky.missing] == ["reword", checks[0][0], ("text",)]
    assert "differ more than the two sides do" in flaky.why
    assert (unclear.target, unclear.missing) == ("The report is good", ("text",))
    assert unclear.suggestions == (vague.key,)


def scored(**scores: Any):
    """Each dimension's score as a function of eval, side and run."""

    def scores_of(*at: Any) -> dict[str, Any]:
        given = {each: of(*at) for each, of in scores.items()}
        return {
            "rubric_scores": {
                each: {"score": score, "evidence": f"It is a {score}, as {each} goes"}
                for each, score in given.items()
            }
        }

    return scores_of


def test_missing_anchors_quote_runs_of_that_score(tmp_path: Path) -> None:
    dimension = {"id": "Q1", "name": "tone", "description": "How it sounds", "scoring": {"3": "x"}}
    more = scored(tone=lambda name, side, run: {1: 2, 2: 4, 3: 5}[run])
    (one,) = of_rubric(look(world(tmp_path, [], dimensions=(dimension,), more=more, evals=2)))
    assert (one.kind, one.part, one.target, one.missing) == ("sharpen", "dimensions", "Q1", ())
    assert one.new[0]["scoring"] == {
        "1": "“It is a 2, as tone goes” (eval-1)",
        "3": "x",
        "5": "“It is a 5, as tone goes” (eval-1)",
    }
    assert len(one.runs) == 12


def test_a_dimension_that_never_differs_weighs_less(tmp_path: Path) -> None:
    anchors = {"1": "Poor.", "3": "Fair.", "5": "Good."}
    tone = {"name": "tone", "description": "d", "scoring": anchors, "weight": 3.0}
    more = scored(tone=lambda *_: 4, depth=lambda name, side, run: run)
    both = (tone, tone | {"name": "depth"})
    (one,) = of_rubric(look(world(tmp_path, [], dimensions=both, more=more, evals=2)))
    assert (one.target, one.new) == ("tone", (tone | {"weight": 1.5},))


def test_one_eval_is_drafted_where_the_plan_asks_for_more(tmp_path: Path) -> None:
    stated = [f"Part {n} is right" for n in range(1, 11)]

    def passes(at: int):
        """A check that passes more often with the skill, drawn for each run."""
        return lambda name, side, run: (
            random.Random(f"{name}{side}{run}{at}").random() < (0.9 if side == NEW else 0.7)
        )

    checks = [(EXISTS, always), *((one, passes(n)) for n, one in enumerate(stated))]
    seen = look(world(tmp_path, checks, evals=7))
    (chosen,) = plan(seen.ws.polars("runs")).filter("chosen").to_dicts()
    (one,) = of_evals(seen)
    assert chosen["n_evals"] > 7
    assert f"asks for {chosen['n_evals']} evals" in one.why
    (item,) = one.new
    assert (one.evals, one.target, one.missing) == ((), None, ("prompt",))
    assert [each["id"] for each in item[CHECKS]] == ["S1"]
    assert item["expectations"] == stated


def test_what_several_runs_miss_becomes_an_expectation_of_their_evals(tmp_path: Path) -> None:
    path = world(tmp_path, [("Pots fit the stove", always)], evals=2)
    stated = said("Nothing checks the onions.", "2", action="Add: Onions are halved")
    unstated = said("Nobody looks at how convincing the argument is.", "1", "2")
    there = said("Nothing checks the pots.", "1", action="Add: Pots fit the stove")
    once = said("Nothing checks that the style is even.", "1", runs=1)
    about = said("It is far too easy.", "1", assertion="Pots fit the stove")
    praise = said("The soup is good.", "1", about=REMARK)
    one, other = add_missed(look(path, stated, unstated, there, once, about, praise))
    assert (one.kind, one.part, one.evals) == ("add", "expectations", ("2",))
    assert (one.new, one.missing) == (("Onions are halved",), ())
    assert (one.suggestions, len(one.runs)) == ((stated.key,), 2)
    assert (other.evals, other.missing) == (("1", "2"), ("text",))
    assert "Write" in other.why
