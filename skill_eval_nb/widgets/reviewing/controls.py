"""What else could be seen: other runs, and other ways to look at them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skill_eval_nb.widgets.panel import Child, Node, h
from skill_eval_nb.widgets.panel.parts import Options, button, choose, tick
from skill_eval_nb.widgets.showing.saying import line

from .choice import SHOWN, Choice
from .items import PAIRS
from .scope import Scope


def controls(scope: Scope, choice: Choice, evals: Mapping[str, str]) -> Node:
    """What else could be seen."""
    asked = scope.asked
    return h(
        "div",
        _one_of("Workspace", scope.workspaces, asked.workspace, "workspace"),
        choose("Side by side", {**PAIRS}, asked.pair, ("put_together",)),
        _one_of("Iteration", scope.iterations, asked.iteration, "iteration"),
        [] if choice.hidden else _configurations(scope),
        choose("Show", _shown(scope, choice), choice.shown, ("show_only",)),
        choose(
            "Eval",
            {"": "all", **{id_: line(name) for id_, name in evals.items()}},
            choice.eval_id,
            ("show_eval",),
        )
        if len(evals) > 1
        else None,
        _blind(scope, choice),
        cls="sen-row sen-rv-controls",
    )


def _one_of(label: str, names: Sequence[str], chosen: str, part: str) -> Node | None:
    options: Options = {name: line(name) for name in names}
    return choose(label, options, chosen, ("ask_for", part)) if len(names) > 1 else None


def _configurations(scope: Scope) -> list[Node | None]:
    asked, names = scope.asked, scope.configurations
    if asked.pair == "single":
        options = {"": "all", **{name: line(name) for name in names}}
        act = ("ask_for", "configuration")
        several = len(names) > 1
        return [choose("Configuration", options, asked.configuration, act) if several else None]
    both = [_one_of("Configuration", names, asked.configuration, "configuration")]
    if len(scope.others) > 1 or asked.pair == "iterations":
        both.append(_one_of("Beside it", scope.others, asked.against, "against"))
    return both if len(names) > 2 or asked.pair == "iterations" else []


def _shown(scope: Scope, choice: Choice) -> Options:
    options = dict(SHOWN)
    if choice.hidden:
        del options["failed"]
    elif scope.sides:
        options["failed"] = f"failed checks of {line(scope.sides[0])}"
    return options


def _blind(scope: Scope, choice: Choice) -> Child:
    if not scope.sides:
        return None
    if choice.blind:
        return None if choice.revealed else button("End it and reveal", ("reveal",), kind="quiet")
    return tick("blind: hide which side is which", choice.blind, ("go_blind",))
