"""Comparisons on disk: numbered, whole, and found again by what was asked."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from skill_eval_nb.documents import Comparison
from skill_eval_nb.improving.comparing import compare
from skill_eval_nb.improving.comparing.filing import stored, write
from tests.improving.comparing.made import offline, workspace


def names(folder) -> set[str]:
    return {path.name for path in (folder / "comparisons").iterdir()}


def test_numbers_go_on_and_many_at_once_do_not_take_the_same(tmp_path) -> None:
    write(tmp_path, Comparison(winner="A"))
    (tmp_path / "comparisons" / "comparison-7.json").write_text("{}")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: write(tmp_path, Comparison(winner="B", pair=f"{n}")), range(20)))
    assert names(tmp_path) == {"comparison-1.json"} | {f"comparison-{n}.json" for n in range(7, 28)}


def test_what_cannot_be_read_is_left_as_it_is_and_is_no_comparison(tmp_path) -> None:
    write(tmp_path, Comparison(winner="A", fingerprint="f1"))
    write(tmp_path, Comparison(winner="A"))
    for name, text in (("3", '{"winner": "A", '), ("4", "[1]"), ("5", "\0")):
        (tmp_path / "comparisons" / f"comparison-{name}.json").write_text(text)
    assert list(stored([tmp_path, tmp_path / "nowhere"])) == ["f1"]
    assert write(tmp_path, Comparison(winner="B")).name == "comparison-6.json"
    assert (tmp_path / "comparisons" / "comparison-3.json").read_text() == '{"winner": "A", '


def test_what_somebody_added_to_does_no_harm(tmp_path) -> None:
    path = write(tmp_path, Comparison(winner="A", fingerprint="f1"))
    path.write_text(json.dumps({"note": "mine", **json.loads(path.read_text()), "seconds": "3"}))
    found = stored([tmp_path])["f1"]
    assert (found.winner, found.seconds) == ("A", 3.0)


def test_a_comparison_that_was_cut_in_half_is_asked_for_again(tmp_path) -> None:
    made = workspace(tmp_path, evals=1, runs=1)
    whole = compare(made, "with_skill", "without_skill", connection=offline(), repeat=0)
    assert len(whole.comparisons) == 2
    first = made / "comparisons" / "comparison-1.json"
    first.write_bytes(first.read_bytes()[:100])
    again = compare(made, "with_skill", "without_skill", connection=offline(), repeat=0)
    assert (again.n_before, len(again.comparisons)) == (1, 2)


def test_it_tells_what_stands_behind_its_sides(tmp_path) -> None:
    made = workspace(tmp_path, evals=1, runs=1)
    compare(made, "iteration-1", "iteration-2/without_skill", connection=offline(), repeat=0)
    told = [json.loads(path.read_text()) for path in sorted((made / "comparisons").iterdir())]
    assert {one["order"] for one in told} == {1, 2}
    for one in told:
        assert one["comparison_id"].startswith(f"{one['pair']}-{one['order']}-1-")
        assert len(one["fingerprint"]) == 64
        assert one["eval_id"] == "1"
        assert [own["weaknesses"] for own in one["output_quality"].values()] == [[], []]
        for side in ("a", "b"):
            run = one["runs"][side.upper()]
            assert run["configuration"] == one[f"configuration_{side}"]
            assert run["iteration"] == one[f"version_{side}"]
            assert run["workspace"] == made.name
            assert (made / run["path"] / "outputs").is_dir()
        assert {one["runs"]["A"]["iteration"], one["runs"]["B"]["iteration"]} == {
            "iteration-1",
            "iteration-2",
        }
