"""What a widget shows, as plain values: built in Python, drawn by one small script.

A node is a text or `[tag, attributes, children]`. Text is always text: neither side has a way
to read it as HTML, so nothing that a file says can become a part of the page. What may stand
in a tree is listed here, and the script keeps to the same rules. What a saved or converted
notebook shows is the same tree as HTML that does nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any, TypeAlias

import msgspec

Node: TypeAlias = "str | list[Any]"
"""A text, or [tag, attributes, children]."""

Child: TypeAlias = "Node | Iterable[Child] | None"
"""What may be given for a child: None is left out, and many are put in one after another."""

TAGS = frozenset(
    "a b blockquote br button caption code dd del details div dl dt em fieldset h3 h4 h5 h6 "
    "hr i iframe img input ins kbd label legend li mark ol optgroup option p pre progress s "
    "section select small span strong summary table tbody td textarea th thead time tr ul".split()
)
"""Elements that a tree may have. None of them runs or fetches anything of its own accord."""

EMPTY = frozenset("br hr iframe img input textarea".split())
"""Those of them with nothing inside: the text of a textarea is its `value`."""

ATTRIBUTES = frozenset(
    "alt checked class colspan dir disabled for href id label lang max min name open "
    "placeholder role rows scope selected spellcheck start step tabindex title type value "
    "width height".split()
)
"""Attributes that a tree may have, beside `aria-…`."""

SPECIAL = frozenset(
    "blob by copies download finds has keep key keys leads on order pops pressed "
    "sorts style".split()
)
"""Attributes that the script gives a meaning of its own: see `h`."""

EVENTS = frozenset("change click input toggle".split())
"""What an action can be tied to with `on`."""

SAFE_LINKS = ("https://", "http://", "mailto:", "#")

SAFE_STYLE = re.compile(
    r"(?!.*(?:url|image|src))[\w\s.,%#()+*/-]*", re.IGNORECASE | re.DOTALL | re.ASCII
)
"""What the value of a `style` is made of: nothing that could fetch anything."""


def h(tag: str, /, *children: Child, **attributes: Any) -> Node:
    """An element.

    Args:
        tag: one of TAGS.
        children: texts, elements, None, or iterables of them.
        attributes: ATTRIBUTES and `aria_…`; `cls` stands for class, `for_` for for. None and
            False are left out, True stands alone; but to `aria_…` they are "false" and "true".
            Those with a meaning of their own are

            - `on`: by kind of event the action that it is, with what is handed to it:
              `on={"click": ("choose", "eval", "1")}`. To `change`, `input` and `toggle`, the
              value that the element then has is handed as well;
            - `keys`: by key the action that pressing it is, anywhere inside but in text;
            - `key`: what the element is about, so that it stays the same one (with its focus
              and what is typed in it) when others come or go beside it;
            - `keep`: a name under which what is typed here is kept in the page until the
              kernel has said that it took it;
            - `blob`: the name of bytes that the kernel has, for an `img`, an `iframe` or,
              with `download` as the file's name, a `button`;
            - `leads`: of a `button` whose action makes room to type in: the focus goes there;
            - `pressed`: the key that clicks the element, wherever in the widget one is but in text;
            - `pops`: of `details` that lie over the page: Escape or a click elsewhere closes them;
            - `sorts`: of a `button` in the head of a table, the column that its rows are sorted by,
              at once and with no kernel; to its action "up", "down" or "" is handed as well;
            - `by`: of a row, by column its place among the others, where it has one; rows without
              it stay below the one above them;
            - `finds`: of a control with which rows are looked for, what of them it asks for: words
              where it is empty, else a kind of thing;
            - `has`: of a row that can be found, by kind what it has; the rows below it without one
              come and go with it;
            - `copies`: of a `button`, the text that it puts on the clipboard; True for that of its
              `blob`;
            - `order`: of a table, the column that Python has its rows sorted by, and whether the
              largest is first;
            - `style`: by property a value.

    Raises:
        ValueError: for what no tree may have.
        TypeError: for a value that is none a page could have.

    >>> h("p", "5 < 6, ", h("b", "surely"), cls="sen-note", aria_live="polite", title=None)
    ['p', {'class': 'sen-note', 'aria-live': 'polite'}, ['5 < 6, ', ['b', {}, ['surely']]]]
    >>> h("script")
    Traceback (most recent call last):
    ...
    ValueError: No tree has a <script>.
    """
    if tag not in TAGS:
        raise ValueError(f"No tree has a <{tag}>.")
    given = _given_attributes(attributes) if attributes else {}
    inside: list[Node] = []
    for child in children:
        if type(child) is str or is_node(child):
            inside.append(child)  # type: ignore[arg-type]
        elif child is not None:
            inside.extend(flatten(child))
    if inside and tag in EMPTY:
        raise ValueError(f"Nothing goes into <{tag}>.")
    return [tag, given, inside]


def flatten(children: Child) -> Iterator[Node]:
    """The nodes among children, in order.

    >>> list(flatten(["a", None, (str(n) for n in range(2))]))
    ['a', '0', '1']
    """
    if children is None:
        return
    if isinstance(children, str) or is_node(children):
        yield children  # type: ignore[misc]
        return
    if isinstance(children, dict | bytes) or not isinstance(children, Iterable):
        raise TypeError(
            "A child is a text, an element, None or several of them, not "
            f"{type(children).__name__}: {children!r:.80}"
        )
    for child in children:
        if type(child) is str:
            yield child
        else:
            yield from flatten(child)


def is_node(value: Any) -> bool:
    """Whether this is an element, and not a list of children."""
    return (
        isinstance(value, list)
        and len(value) == 3
        and isinstance(value[0], str)
        and value[0] in TAGS
        and isinstance(value[1], dict)
        and isinstance(value[2], list)
    )


def forward_actions(node: Node, action: str) -> Node:
    """The same where every action is `action`, with the one that it was: of a view inside another.

    >>> forward_actions(h("p", h("button", "Go", on={"click": ("go", 1)})), "inner")
    ['p', {}, [['button', {'on': {'click': ('inner', 'go', 1)}}, ['Go']]]]
    """
    if isinstance(node, str):
        return node
    tag, given, inside = node
    acts = {
        name: {kind: (action, *act) for kind, act in given[name].items()}
        for name in ("on", "keys")
        if name in given
    }
    return [tag, given | acts, [forward_actions(child, action) for child in inside]]


_NAMES = {name: name for name in ATTRIBUTES | SPECIAL} | {"cls": "class", "for_": "for"}


def _given_attributes(attributes: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for written, value in attributes.items():
        name = _NAMES.get(written) or _aria_name(written)
        kept = value if type(value) is str else _plain_value(name, value)
        if kept is not None:
            given[name] = kept
    _refuse_unsafe(given)
    return given


def _aria_name(name: str) -> str:
    plain = name.replace("_", "-")
    if re.fullmatch("aria-[a-z]+", plain):
        return plain
    raise ValueError(f"No tree has the attribute `{plain}`.")


def _plain_value(name: str, value: Any) -> Any:
    """The value as the page has it; None where the attribute is to be left out."""
    if hasattr(value, "item"):
        value = _as_builtin(value)
    if isinstance(value, bool):
        return str(value).lower() if name.startswith("aria-") else value or None
    if isinstance(value, float):
        return None if value != value else value  # noqa: PLR0124 -- not a number
    if value is None or isinstance(value, str | int | list | tuple | dict):
        return value
    raise TypeError(f"The attribute `{name}` is a {type(value).__name__}, which no page has.")


def _refuse_unsafe(given: dict[str, Any]) -> None:
    if "href" in given and not str(given["href"]).lower().startswith(SAFE_LINKS):
        del given["href"]
    for kind, act in given.get("on", {}).items():
        if kind not in EVENTS:
            raise ValueError(f"No tree has an action on `{kind}`.")
        if isinstance(act, str) or not act:
            raise ValueError(f"An action is a tuple, its name first, not {act!r}.")
    for name, value in given.get("style", {}).items():
        if not SAFE_STYLE.fullmatch(str(value)):
            raise ValueError(f"No tree has the style `{name}: {value}`.")


def encode_tree(tree: list[Any]) -> bytes:
    r"""The tree as JSON on its way to the page: as bytes, which nothing on the way looks into.

    ipywidgets walks through every list of a message in search of binary values; for a table of
    6,000 rows that takes ten times as long as writing it down.

    Raises:
        TypeError: for a value that JSON has not.

    >>> encode_tree([["p", {}, ["5 < 6"]]])
    b'[["p",{},["5 < 6"]]]'
    >>> encode_tree(["half a pair: \ud83d"])
    b'["half a pair: \\ud83d"]'
    """
    try:
        return msgspec.json.encode(tree, enc_hook=_as_builtin)
    except UnicodeEncodeError:  # a name of a file that is not text; JavaScript can have it
        return json.dumps(tree, separators=(",", ":"), default=_as_builtin).encode("ascii")


def _as_builtin(value: Any) -> Any:
    if hasattr(value, "item"):  # numpy's own
        return value.item()
    raise TypeError(f"A page can have no {type(value).__name__}: {value!r:.80}")


MOST = 200_000
"""Characters; what is beyond is left out, and that is said."""

CUT = "There is more: run the notebook to see everything."

_CONTROLS = frozenset("button input select textarea".split())

_LIVE = frozenset("disabled for href id list name tabindex".split())
"""What means something among the elements of a live page only."""

_SHOWN = ATTRIBUTES - _LIVE | frozenset("aria-hidden aria-label aria-pressed aria-selected".split())

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def html(tree: Child, most: int = MOST) -> str:
    """The tree as HTML: all text escaped, and controls that show their value and do nothing.

    >>> html(h("p", "5 < 6 ", h("button", "Go", on={"click": ("go",)})))
    '<p>5 &lt; 6 <button disabled>Go</button></p>'
    >>> html(h("p", "a long text"), most=8)
    '<p>a lon</p><p>There is more: run the notebook to see everything.</p>'
    """
    parts: list[str] = []
    inside: list[str] = []  # elements that are open
    left = most
    for tag, markup in (piece for node in flatten(tree) for piece in _pieces(node, most)):
        if tag == CLOSED:
            parts.append(f"</{inside.pop()}>")
            continue
        if len(markup) > left:
            rest = [re.sub(r"&[^;]*$", "", markup[:left])] if tag is None else []
            parts += [*rest, *(f"</{tag}>" for tag in reversed(inside)), f"<p>{CUT}</p>"]
            break
        left -= len(markup)
        parts.append(markup)
        if tag is not None and (tag not in EMPTY or tag == "textarea"):
            inside.append(tag)
    return "".join(parts)


CLOSED = "/"


def _pieces(node: Node, most: int) -> Iterator[tuple[str | None, str]]:
    """The markup of a node, piece by piece: with its tag where one opens, None for a text."""
    if isinstance(node, str):
        yield None, _escape_markup(node[: most + 1])
        return
    tag, given, inside = node
    if tag in ("iframe", "img"):
        instead = h("em", given.get("alt") or given.get("title") or "not shown here")
        yield from _pieces(instead, most)
        return
    yield tag, f"<{tag}{''.join(_attribute_markup(tag, given))}>"
    if tag == "textarea":  # a parser drops the first line break, be it ours
        yield None, "\n" + _escape_markup(str(given.get("value", ""))[: most + 1])
    for child in inside:
        yield from _pieces(child, most)
    if tag not in EMPTY or tag == "textarea":
        yield CLOSED, ""


def _attribute_markup(tag: str, given: dict[str, Any]) -> Iterator[str]:
    for name, value in given.items():
        if name == "style":
            rules = "; ".join(f"{rule}: {what}" for rule, what in value.items())
            yield f' style="{_escape_markup(rules)}"'
        elif name == "href" and not str(value).startswith("#"):
            yield f' href="{_escape_markup(str(value))}" rel="noopener noreferrer"'
        elif name in _SHOWN and not (name == "value" and tag in ("select", "textarea")):
            yield f" {name}" if value is True else f' {name}="{_escape_markup(str(value))}"'
    if tag in _CONTROLS:
        yield " disabled"


def _escape_markup(words: str) -> str:
    return escape(_UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", words))
