"""Where a human says what is to be said of a run: in words, and in scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skill_eval_nb.widgets.panel import Child, Node, h
from skill_eval_nb.widgets.panel.parts import Act, button, pill, tick, typing
from skill_eval_nb.widgets.showing.saying import between, line, plain
from skill_eval_nb.workspace.feedback import Entry, Said

from .dimensions import POINTS, Dimension


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is said of a run, and what could be.

    Attributes:
        token: the run, without saying which.
        keep: a name for its text in the page: no other run's, and no other file's.
        of: what the run is called here.
        said: what is said of it; None where nothing is.
        others: what others said of it.
        dimensions: what can be scored.
        saved: whether all of it is in the file.
        since: when it was said, where that was before.
    """

    token: str
    keep: str
    of: str
    said: Said | None
    others: Sequence[Entry]
    dimensions: Sequence[Dimension]
    saved: bool
    since: str | None


def form(sheet: Sheet) -> Node:
    """The human's part of the review of a run."""
    said = sheet.said or Said()
    return h(
        "div",
        h("div", h("h5", "Your feedback"), _state(sheet), cls="sen-row sen-middle sen-spread"),
        [_said_by_others(one) for one in sheet.others],
        typing(
            f"What is to be said of {sheet.of}",
            said.text,
            ("say", sheet.token),
            keep=sheet.keep,
            key=f"{sheet.token}-text",
            rows=3,
        ),
        h("div", [_scored(sheet, one) for one in sheet.dimensions], cls="sen-rv-scores"),
        None if said else tick("Nothing to say: it is fine", sheet.said is not None, _fine(sheet)),
        cls="sen-rv-form",
        key=f"{sheet.token}-form",
    )


def _fine(sheet: Sheet) -> tuple[str, str]:
    return "call_fine", sheet.token


def _state(sheet: Sheet) -> Child:
    if not sheet.saved:
        return pill("not saved", "bad")
    if sheet.said is None:
        return pill("not reviewed")
    when = f" {sheet.since[:10]}" if sheet.since else ""
    return pill(f"reviewed{when}", "good")


def _said_by_others(entry: Entry) -> Node:
    scores = between(
        [f"{line(name)} {_number(score)}" for name, score in entry.said.scores.items()]
    )
    when = f" ({line(entry.timestamp)[:10]})" if entry.timestamp else ""
    return h(
        "blockquote",
        h("p", f"Also said of it{when}:", cls="sen-soft sen-small"),
        h("p", plain(entry.said.text) or "nothing: it is fine", dir="auto"),
        h("p", scores, cls="sen-small") if scores else None,
        cls="sen-rv-also",
    )


def _number(score: float) -> str:
    return f"{score:g}"


def _scored(sheet: Sheet, dimension: Dimension) -> Node:
    score = sheet.said.scores.get(dimension.name) if sheet.said else None
    act = ("score", sheet.token, dimension.name)
    clear = (*act, None)
    keys = {str(point): (*act, point) for point in POINTS}
    keys |= dict.fromkeys(("0", "Delete", "Backspace"), clear)
    label = f"{line(dimension.name)}, {sheet.of}"
    return h(
        "div",
        h("span", line(dimension.name), cls="sen-rv-dimension", dir="auto"),
        h(
            "div",
            [_point(sheet, dimension, point, score) for point in POINTS],
            role="radiogroup",
            aria_label=f"Score for {label}",
            keys=keys,
            cls="sen-rv-points",
        ),
        h("span", [] if score is None else [_odd(score), _clear(clear, label)]),
        cls="sen-rv-scored",
        key=f"{sheet.token}-{dimension.name}",
    )


def _point(sheet: Sheet, dimension: Dimension, point: int, score: float | None) -> Node:
    meaning = dict(dimension.anchors).get(str(point))
    box = h(
        "input",
        type="radio",
        name=f"{sheet.token}-{dimension.name}",
        value=str(point),
        checked=score == point,
        on={"change": ("score", sheet.token, dimension.name)},
    )
    return h("label", box, h("span", str(point)), title=meaning, cls="sen-rv-point")


def _odd(score: float) -> Child:
    """A score that none of the points stands for, as somebody else has written it."""
    return None if score in POINTS else _number(score)


def _clear(act: Act, label: str) -> Node:
    return button("clear", act, kind="quiet", aria_label=f"Clear the score for {label}")
