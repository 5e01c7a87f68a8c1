"""`python -m bench.grouping`: how well suggestions that say the same are grouped.

Every two suggestions of a scene in `suggestions.yaml` are a pair, the same or not. Precision is
the share of the pairs put into one group that are the same, recall the share of the same that
were put into one group, and F1 their harmonic mean. Beside it stands what plainer ways give.
Weights, phrases and threshold were chosen on the scenes marked `tune` and on what graders wrote in
other people's workspaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from rapidfuzz import fuzz

from skill_eval_nb.improving.aggregation import THRESHOLD, aggregate
from skill_eval_nb.tables import Workspace

SCENES = Path(__file__).with_name("suggestions.yaml")
PARTS = ("tune", "held out")
WANTED = 0.85
OTHERS = (0.7, 0.75, 0.85)
"""Thresholds beside the one that was chosen."""
RUN = {"workspace": "made-up", "iteration": "iteration-1", "eval_id": "1", "eval_name": "made up"}

Scene = dict[str, Any]
Ways = dict[str, Callable[[Scene], list[Any]]]


class Score(NamedTuple):
    """Pairs that are the same and were grouped, that only were grouped, that only are the same."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right else 0.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.right / (2 * self.right + self.wrong + self.missed)


def scenes(part: str) -> list[Scene]:
    """The scenes of a part."""
    return [one for one in yaml.safe_load(SCENES.read_text("utf-8")) if one["part"] == part]


def workspace(scene: Scene) -> Workspace:
    """A scene as a workspace: a run a suggestion, each with all of the expectations."""
    runs = [
        RUN | {"skill": scene["scene"], "configuration": "with_skill", "run_number": number}
        for number, _ in enumerate(scene["said"], 1)
    ]
    expectations = [
        run | {"layer": "judged", "expectation_id": own, "text": text, "passed": True}
        for run in runs
        for own, text in scene["expectations"].items()
    ]
    suggestions = [
        run | {"expectation": expectation, "kind": "critique", "reason": reason}
        for run, (_, expectation, reason) in zip(runs, scene["said"], strict=True)
    ]
    import polars as pl

    tables = {"runs": runs, "expectations": expectations, "suggestions": suggestions}
    return Workspace.from_tables({name: pl.DataFrame(rows) for name, rows in tables.items()})


def grouped(scene: Scene, threshold: float = THRESHOLD) -> list[Any]:
    """The key of the group that each suggestion of a scene was put into."""
    found = aggregate(workspace(scene), threshold=threshold)
    keys = {
        source.run.run_number: suggestion.key
        for suggestion in found.suggestions
        for source in suggestion.sources
    }
    return [keys[number] for number, _ in enumerate(scene["said"], 1)]


def same_expectation(scene: Scene) -> list[Any]:
    """A plain way: all that is about one expectation is one, what is missing stays apart."""
    texts = {text: own for own, text in scene["expectations"].items()}
    return [
        number if said is None else texts.get(said, said.split(":")[0])
        for number, (_, said, _) in enumerate(scene["said"])
    ]


def same_words(scene: Scene, cut: float) -> list[Any]:
    """A plain way: one goes to the first group whose first text is as near by rapidfuzz."""
    labels: list[int] = []
    for number, (_, _, reason) in enumerate(scene["said"]):
        near = (
            label
            for label in dict.fromkeys(labels)
            if fuzz.token_set_ratio(reason, scene["said"][label][2]) >= cut
        )
        labels.append(next(near, number))
    return labels


def score(part: str, way: Callable[[Scene], list[Any]] = grouped) -> Score:
    """The counts of pairs over all scenes of a part."""
    right = wrong = missed = 0
    for same, joined in pairs(part, way):
        right += same and joined
        wrong += joined and not same
        missed += same and not joined
    return Score(right, wrong, missed)


def pairs(part: str, way: Callable[[Scene], list[Any]]) -> Iterator[tuple[bool, bool]]:
    """For every two suggestions of a scene: whether they are the same, and were grouped."""
    for scene in scenes(part):
        both = zip((group for group, *_ in scene["said"]), way(scene), strict=True)
        for (group, label), (other, its) in combinations(both, 2):
            yield group == other, label == its


def main() -> None:
    """Print how well it works, and whether what is wanted holds."""
    best = max(range(30, 100, 5), key=lambda cut: score("tune", partial(same_words, cut=cut)).f1)
    ways: Ways = {
        f"`aggregate`, threshold {THRESHOLD:g}": grouped,
        "the same expectation": same_expectation,
        f"`token_set_ratio` from {best} on": partial(same_words, cut=best),
        **{f"threshold {one:g}": partial(grouped, threshold=one) for one in OTHERS},
    }
    print("## Suggestions that say the same\n")
    print("| pairs | way | the same | precision | recall | F1 |\n|---|---|--:|--:|--:|--:|")
    for part in PARTS:
        number = sum(1 for _ in pairs(part, same_expectation))
        for name, way in ways.items():
            one = score(part, way)
            print(
                f"| {part}, {number:,} | {name} | {one.right + one.missed} | "
                f"{one.precision:.2f} | {one.recall:.2f} | {one.f1:.2f} |"
            )
    reached = score("held out").f1
    holds = "holds" if reached >= WANTED else "**does not hold**"
    print(f"\n- {holds}: F1 on held-out pairs {reached:.2f}, wanted {WANTED}")


if __name__ == "__main__":
    main()
