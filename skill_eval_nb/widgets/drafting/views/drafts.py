"""The drafts: what each would change, why, what its try-out says, and what was decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...panel import Child, Node, h
from ...panel.parts import button, notice, pill, typing
from ..choice import Card, Choice
from .tried import tried_out
from .words import KINDS, MOST, aim, more, rest, said

if TYPE_CHECKING:
    from ..judging import Judging
    from ..work import Work


def drafts_list(
    work: Work, shown: Sequence[Card], choice: Choice, judgings: Mapping[str, Judging]
) -> Node:
    """All of them, those that rest on most first."""
    if not shown:
        return notice("Nothing to change was found: no suggestion and no check asks for it.")
    kept = shown if choice.all_rows else shown[:MOST]
    left = len(shown) - len(kept)
    return h(
        "div",
        h(
            "p",
            "Each draft was tried on what is stored; no model was asked. Accept what convinces "
            "you: nothing is written before the next part says so.",
            cls="sen-soft",
        ),
        [_card(work, card, choice, judgings.get(card.draft.key)) for card in kept],
        button(more(left, "draft"), ("show_all",)) if left else None,
    )


def _card(work: Work, card: Card, choice: Choice, judging: Judging | None) -> Node:
    draft = card.draft
    tried = (judging and judging.tried) or work.tried(draft)
    tags = [pill(draft.kind, KINDS[draft.kind]), h("strong", _head(card)), _decided(card)]
    return h(
        "section",
        h("div", tags, cls="sen-row sen-middle"),
        h(
            "div",
            h("div", _what(card), h("p", draft.why, cls="sen-soft", dir="auto"), _buttons(card)),
            h("div", tried_out(tried, card, judging, is_open=choice.opened == card.key)),
            cls="sen-columns",
        ),
        cls=f"sen-card sen-drafts-card sen-drafts-{card.decision or 'open'}",
        key=f"card-{card.key}",
        aria_label=aim(draft),
    )


def _head(card: Card) -> str:
    words = aim(card.draft).removeprefix(f"{card.draft.kind} ")
    return words[:1].upper() + words[1:]


def _decided(card: Card) -> Node | None:
    if card.decision is None:
        return None
    return pill(card.decision, "good" if card.decision == "accepted" else "bad")


def _what(card: Card) -> Child:
    """What would come, or a place to edit it."""
    if card.typed is not None:
        return typing(
            "What comes in its place, as JSON" if card.draft.target else "What comes, as JSON",
            card.typed,
            ("type", card.key),
            keep=f"drafts {card.key}",
            key=f"typed-{card.key}",
            rows=12,
        )
    if not card.draft.new:
        return h("p", "It goes, and nothing comes in its place.")
    return [_item(one) for one in card.draft.new]


def _item(item: Mapping[str, Any] | str) -> Node:
    fields = [
        h("div", h("dt", name), h("dd", h("code", value, dir="auto"))) for name, value in rest(item)
    ]
    return h(
        "div",
        h("p", h("b", said(item)), dir="auto"),
        h("dl", fields) if fields else None,
        cls="sen-drafts-item",
    )


def _buttons(card: Card) -> Node:
    if card.typed is not None:
        row = [
            button("Take it", ("take", card.key), kind="main"),
            button("Leave it as it was", ("leave", card.key)),
        ]
    else:
        row = [
            button(
                words,
                ("decide", card.key, decision) if possible else None,
                aria_pressed=card.decision == decision,
                aria_label=f"{words}: {aim(card.draft)}",
            )
            for words, decision, possible in (
                ("Accept", "accepted", not card.draft.missing),
                ("Reject", "rejected", True),
            )
        ]
        if card.draft.new:
            row.append(button("Edit", ("edit", card.key), aria_label=f"Edit: {aim(card.draft)}"))
    missing = card.draft.missing
    lacking = f"Still to be written: {', '.join(missing)}" if missing else None
    return h(
        "div",
        h("p", lacking, cls="sen-drafts-lacking") if lacking and card.typed is None else None,
        h("div", row, cls="sen-row"),
    )
