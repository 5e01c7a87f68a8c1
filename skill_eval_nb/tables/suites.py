"""The rows of evals and rubric dimensions."""

from __future__ import annotations

import json
from collections.abc import Mapping

from skill_eval_nb.workspace import Definition, Seen

from .rows import Rows


def add_suites(
    definitions: list[Definition],
    seen: Mapping[str, list[Seen]],
    names: Mapping[str, tuple[str, str]],
    rows: Rows,
) -> None:
    """Add the rows of `evals` and `dimensions`; `names` gives each workspace's name and skill.

    An eval whose runs are of a skill of their own is of this skill.
    """
    defined: set[tuple[str, str]] = set()
    skills: dict[tuple[str, str], dict[str, None]] = {}
    for side in rows.sides():
        skills.setdefault((side.workspace, side.eval_id), {})[side.skill] = None

    def named(workspace: str, eval_id: str) -> tuple[str, str]:
        name, skill = names[workspace]
        own = skills.get((name, eval_id), {})
        return name, skill if skill in own or not own else next(iter(own))

    for workspace, key, one in definitions:
        if (workspace, key.id) in defined:
            continue
        defined.add((workspace, key.id))
        rubric = one.quality_rubric.dimensions if one.quality_rubric else []
        rows["evals"].append(
            (
                *named(workspace, key.id),
                *key,
                one.prompt,
                one.expected_output,
                one.files,
                one.tags,
                one.weight,
                len(one.expectations),
                len(one.structural_expectations),
                len(rubric),
            )
        )
        rows["dimensions"].extend(
            (
                *named(workspace, key.id),
                *key,
                dimension.name,
                dimension.id,
                dimension.weight,
                dimension.description,
                json.dumps(dimension.scoring, ensure_ascii=False) if dimension.scoring else None,
            )
            for dimension in rubric
        )
    for workspace, evals in seen.items():
        for one in evals:
            if (workspace, one.key.id) not in defined:
                defined.add((workspace, one.key.id))
                prompt = next(iter(sorted(one.prompts)), None)
                rows["evals"].append(
                    (
                        *named(workspace, one.key.id),
                        *one.key,
                        prompt,
                        None,
                        [],
                        [],
                        1.0,
                        one.n_assertions,
                        0,
                        0,
                    )
                )
