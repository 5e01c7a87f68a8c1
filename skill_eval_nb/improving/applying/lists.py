"""The lists of a suite that drafts change: where they stand, and where their items do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from skill_eval_nb.documents import Document, Eval, Evals, QualityRubric
from skill_eval_nb.running.refused import refuse
from skill_eval_nb.stats.phrases import brief

from .positions import Node
from .wording import Words, id_of, keys_of, raw_of

PLACES = {"expectations": "E", "structural_expectations": "S", "dimensions": "Q"}
"""By letter and place a run names the items that have no id."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of a suite.

    Attributes:
        part: which one.
        node: where it stands; None where it is not there yet.
        items: what can be read of it, each with its place in the list.
        above: the object that it is, or is to be, a member of, with the path from there.
        path: the names that lead from `above` to it.
    """

    part: str
    node: Node | None
    items: tuple[tuple[int, Document], ...]
    above: Node
    path: tuple[str, ...] = ()

    @property
    def documents(self) -> list[Document]:
        """Its items."""
        return [one for _, one in self.items]

    def find(self, target: str) -> tuple[int, Document] | None:
        """An item by its id, else its name, else its text, else the id that a run gives it.

        Raises:
            Refused: several fit equally well.
        """
        for by in (_id, _name, _text):
            found = [(at, one) for at, one in self.items if by(one) == target.strip()]
            if len(found) == 1:
                return found[0]
            if found:
                raise refuse(f"`{target}` stands {len(found)} times in `{self.part}`")
        names = [f"{PLACES.get(self.part, '')}{place}" for place, _ in enumerate(self.items, 1)]
        unnamed = (one for one in zip(names, self.items, strict=True) if _id(one[1][1]) is None)
        return next((one for name, one in unnamed if name == target), None)


def the_evals(root: Node, document: Evals, words: Words) -> Listed:
    """The suite's own list.

    Raises:
        Refused: the evals are no list.
    """
    if isinstance(root.value, list):
        return _listed("evals", root, document.evals, root)
    name = keys_of(document).get("evals", words.name(Evals, "evals"))
    return _listed("evals", root.member(name), document.evals, root, name)


def of_eval(part: str, node: Node, one: Eval, words: Words) -> Listed:
    """A list of an eval.

    Raises:
        Refused: it is there, and is no list.
    """
    if part != "dimensions":
        name = keys_of(one).get(part, words.name(Eval, part))
        return _listed(part, node.member(name), getattr(one, part), node, name)
    outer = keys_of(one).get("quality_rubric", words.name(Eval, "quality_rubric"))
    rubric, above = one.quality_rubric, node.member(outer)
    inner = words.name(QualityRubric, "dimensions")
    if rubric is None or above is None or above.value is None:
        if above is not None and above.value is not None:
            raise refuse(f"`{outer}` is no rubric that can be read: mend it first")
        return Listed(part, None, (), node, (outer, inner))
    inner = keys_of(rubric).get("dimensions", inner)
    return _listed(part, above.member(inner), rubric.dimensions, above, inner)


def target_in(lists: Sequence[Listed], target: str) -> tuple[Listed, int, Document]:
    """The item that a draft is about, in the first of the lists that has it.

    Raises:
        Refused: none has it, or several of its items fit.
    """
    for one in lists:
        if (found := one.find(target)) is not None:
            return one, *found
    there = [one for listed in lists for one in listed.documents]
    near = get_close_matches(target, [name for one in there for name in _names(one)], n=1)
    hint = f"; did you mean `{brief(near[0], 80)}`? There are" if near else "; there are"
    names = ", ".join(brief(told(one)) for one in there)
    raise refuse(f"there is no item `{brief(target, 80)}`{hint} {names or 'none'}")


def told(item: Document) -> str:
    """What to call an item: by its id, else its name, else its text."""
    return _id(item) or _name(item) or _text(item) or "an item"


def _listed(
    part: str, node: Node | None, documents: Sequence[Document], above: Node, *path: str
) -> Listed:
    if node is None or node.value is None:
        return Listed(part, None, (), above, path)
    if not isinstance(node.value, list):
        raise refuse(f"`{path[-1]}` is no list: write it as one first")
    items: list[tuple[int, Document]] = []
    waiting = list(documents)
    for place, item in enumerate(node.items):  # what cannot be read is no document
        if waiting and raw_of(waiting[0]) is item.value:
            items.append((place, waiting.pop(0)))
    if waiting:
        raise refuse(f"`{part}` is not plain enough to be changed in place: mend it first")
    return Listed(part, node, tuple(items), above, path)


def _names(one: Document) -> list[str]:
    return [name for by in (_id, _name, _text) if (name := by(one))]


def _id(one: Document) -> str | None:
    found: Any = id_of(one)
    return None if found is None else str(found).strip()


def _name(one: Document) -> str | None:
    return getattr(one, "name", None)


def _text(one: Document) -> str | None:
    by: dict[str, Callable[[Any], Any]] = {
        "Expectation": lambda item: item.text,
        "StructuralExpectation": lambda item: item.description,
        "Eval": lambda item: item.prompt,
    }
    found = by.get(type(one).__name__, lambda _: None)(one)
    return found.strip() if found else None
