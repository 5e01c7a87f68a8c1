"""How a widget is made: a tree of plain values, the actions it names, and one script to draw it.

`Panel` is a widget whose view is a tree, and whose every change is an action by name.
"""

from __future__ import annotations

import gc
import json
import logging
import re
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import anywidget
import traitlets

from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.view import NO_FORMULAS

from .parts import button
from .source import Recent
from .tree import Child, Node, encode_tree, flatten, h, html

__all__ = ["Child", "Node", "Panel", "action", "h", "offer", "quiet_action", "style"]

HERE = Path(__file__).parent

SCRIPT_PARTS = ("tree frames place asking controls files drawing finding focus acting view").split()
"""Each after those that it takes something from."""


def page_script() -> str:
    """All parts as one module.

    The parts are modules of one idea each, and name what they take from each other; a widget has
    one module, so they are joined. No two may name the same thing outside of their functions.
    """
    parts = [(HERE / f"{name}.js").read_text("utf-8") for name in SCRIPT_PARTS]
    return "\n".join(
        re.sub(r"(?m)^import [^;]*;\n|^export (?!default)", "", part) for part in parts
    )


Bytes = tuple[bytes, str]
"""The bytes, and their media type."""

OFFERED_MOST = 5_000
"""Names that are remembered; those not offered for the longest time go first."""

_OFFERED: Recent[Callable[[], Bytes]] = Recent(OFFERED_MOST)


def offer(name: str, get: Callable[[], Bytes]) -> str:
    """Let pages ask for bytes by this name; they are read when one does.

    Args:
        name: another one for other bytes: a page keeps the bytes that it has of a name.
        get: gives the bytes and their media type.

    Returns:
        the name, for the attribute `blob` of an element.

    >>> read_blob(offer("greeting", lambda: (b"hello", "text/plain")))
    (b'hello', 'text/plain')
    """
    _OFFERED.put(name, get)
    return name


def read_blob(name: str) -> Bytes:
    """The bytes of that name, and their media type.

    Raises:
        LookupError: where nothing of that name is offered.
        OSError: where they cannot be read.
    """
    get = _OFFERED.get(name)
    if get is None:
        raise LookupError("it is no longer shown; draw it again")
    return get()


log = logging.getLogger(__name__)

STILL = 10.0
"""Seconds for which a saved notebook is worth waiting, so that it has figures and no promises."""

_NUMBERS = count(1)

REDRAWS = "_redraws"
"""What an action is known by: whether all is drawn again after it."""

F = TypeVar("F", bound=Callable[..., Any])


@contextmanager
def _collection_paused() -> Iterator[None]:
    """No search for unreachable objects: a tree has tens of thousands, and is gone a moment later.

    Looked through while they are there, they make every tenth click take ten times as long.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def action(method: F) -> F:
    """Make a method one that the page may call by its name; then all is drawn again."""
    setattr(method, REDRAWS, True)
    return method


def quiet_action(method: F) -> F:
    """The same where nothing that is to be seen has changed, as while somebody types."""
    setattr(method, REDRAWS, False)
    return method


def style(*sheets: Path) -> str:
    """The style of all widgets, and after it these sheets."""
    return "\n".join(sheet.read_text("utf-8") for sheet in (HERE / "ui.css", *sheets))


class Panel(anywidget.AnyWidget):
    """A widget that shows `view()`, and again after every action.

    A subclass has a `view`, and methods marked `@action`. The page calls these by name with
    what the tree said; so does `do`, from Python. What an action or the view raises is shown
    at the top of the widget and written to the log: nothing is lost, and the page never waits
    for an answer that does not come.
    """

    _esm: Any = page_script()  # a path would hold every panel for ever
    _css: Any = style()
    _wire = traitlets.Bytes(encode_tree([])).tag(sync=True)
    _name = traitlets.Unicode().tag(sync=True)

    label: ClassVar[str] = "Skill evaluation"
    """What a screen reader calls the widget."""

    fault: str | None = None
    """What went wrong last, in words; None where nothing did."""

    __shown = encode_tree([])  # by the last view that did not fail
    __ready = False

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._page_id = f"sen-panel-{next(_NUMBERS)}"  # unlike that of any other in a notebook
        self.__wanted = False  # another drawing, by the thread that holds the lock
        self.__behind = False  # the page, after a quiet action: it is drawn for the next page
        self.__artist: int | None = None  # the thread that runs `view`
        self.__cannot_draw = False  # the fault is the view's own, and goes when a view succeeds
        self.__views: set[str] | None = None  # those that pages have open; None before the first
        super().__init__()
        self._name = self.label
        self.on_msg(self._answer_message)
        self.__ready = True
        self.show()

    def view(self) -> Child:
        """What is to be seen, as a tree."""
        raise NotImplementedError

    def show(self) -> None:
        """Draw it as it is now.

        Any thread may call it, and none waits here: while another one acts or draws, it is that
        one which draws once more. For a page that has closed the widget nothing is drawn until
        it is opened again.
        """
        if not self.__ready or self.__artist == threading.get_ident():
            return  # it is about to be drawn, or is being drawn by this very call
        self.__wanted = True
        if self.__views != set():
            self._draw_if_wanted()

    def settle(self, seconds: float = 60) -> bool:
        """Wait until nothing is being worked out for what is shown; whether that was reached."""
        return seconds >= 0

    def do(self, name: str, *values: Any) -> None:
        """Do what the page does at a click: the action of that name, and draw again.

        Raises nothing: what goes wrong is shown, and is in `fault`.
        """
        self._do_action(name, values)

    @action
    def dismiss(self) -> None:
        """Put away what is said of the last fault."""

    def _do_action(self, name: str, values: Sequence[Any]) -> bool:
        """The same; whether the page has been brought up to date with it."""
        with self._lock:
            redraws, self.fault, self.__cannot_draw = self.fault is not None, None, False
            try:
                method = self._find_action(name)
                method(*values)
                redraws |= getattr(method, REDRAWS)
            except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 -- shown
                self._show_fault(error)
                redraws = True
            if redraws:
                self._draw()
            else:
                self.__behind = True
        self._draw_if_wanted()
        return redraws

    def _find_action(self, name: str) -> Callable[..., Any]:
        if not hasattr(getattr(type(self), name, None), REDRAWS):
            raise ValueError(f"This widget has no action `{name}`.")
        return getattr(self, name)

    def _draw_if_wanted(self) -> None:
        # Who does not get the lock leaves the wish, and who had it looks for one after letting
        # it go: so no wish is overlooked.
        while self.__wanted and self._lock.acquire(blocking=False):
            try:
                self._draw()
            finally:
                self._lock.release()

    def _catch_up(self) -> None:
        """Draw what was left undrawn because nobody was to see it."""
        if self.__behind:
            self.__wanted = True
        self._draw_if_wanted()

    def _draw(self) -> None:
        self.__wanted = self.__behind = False
        self.__artist = threading.get_ident()
        try:
            with _collection_paused():
                self._wire = self._make_wire()
        finally:
            self.__artist = None

    def _make_wire(self) -> bytes:
        """The tree as the page gets it.

        Where the view fails it is the last one that did not, with what went wrong above it: one
        can still choose something else.
        """
        try:
            self.__shown = encode_tree(list(flatten(self.view())))
        except Exception as error:  # noqa: BLE001 -- shown
            self._show_fault(error)
            self.__cannot_draw = True
        else:
            if self.__cannot_draw:
                self.fault, self.__cannot_draw = None, False
            if self.fault is None:
                return self.__shown
        words = h("p", self.fault), button("Dismiss", ("dismiss",))
        fault = h("div", words, cls="sen-fault", role="alert", key="fault")
        return encode_tree([fault, *json.loads(self.__shown)])

    @property
    def _tree(self) -> list[Node]:
        """What is shown, as the page has it."""
        return json.loads(self._wire)

    def _show_fault(self, error: BaseException) -> None:
        if not isinstance(error, Refused):  # that is no mistake of anybody's code
            log.error("%s", "".join(traceback.format_exception(error)).rstrip())
        self.fault = str(error) or type(error).__name__
        if not isinstance(error, ValueError | OSError) and type(error) is not LookupError:
            self.fault = f"{type(error).__name__}: {self.fault}"  # not ours: say what it is

    # ── the page ──────────────────────────────────────────────────────────────────────────────

    def _answer_message(self, _: Any, content: dict[str, Any], __: Any) -> None:
        """Answer a message of the page; each has one answer, whatever happens."""
        number = content.get("number")
        if "open" in content:
            self._note_open(str(content.get("view")), bool(content["open"]))
        elif "again" in content:
            self.send_state("_wire")
        elif "blob" in content:
            self._hand_over(str(content["blob"]), number)
        elif "action" in content:
            redrew = self._do_action(str(content["action"]), content.get("values") or ())
            self.send({"answer": number, "fault": self.fault, "redrew": redrew})

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:  # noqa: FBT002
        """The state for a page that shows the widget again."""
        if key is None and self.__ready:
            self._catch_up()
        return super().get_state(key, drop_defaults)

    def _note_open(self, view: str, is_open: bool) -> None:
        others = (self.__views or set()) - {view}
        self.__views = others | {view} if is_open else others
        if is_open:
            self._catch_up()

    def _hand_over(self, name: str, number: Any) -> None:
        try:
            data, media_type = read_blob(name)
            data = memoryview(data)
        except Exception as error:  # noqa: BLE001 -- the page says it where the bytes were to be
            self.send({"answer": number, "fault": f"It could not be read: {error}"})
        else:
            self.send({"answer": number, "type": str(media_type)}, buffers=[data])

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The live widget; and what it shows once it is settled as HTML, for where no kernel is."""
        self._catch_up()
        self.settle(STILL)
        with self._lock:
            self._draw()
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            inside = f"<style>{self._css}</style>{html(self._tree)}"
            bundle[0]["text/html"] = f'<div class="sen sen-still {NO_FORMULAS}">{inside}</div>'
        return bundle

    def __repr__(self) -> str:
        return f"<{self.label}>"
