"""Put drafts into a suite: each finds its place, or is refused with the reason."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import (
    Dimension,
    Document,
    Eval,
    Evals,
    Expectation,
    Faults,
    NotJSON,
    QualityRubric,
    StructuralExpectation,
    dump,
    parse,
    to_json,
)
from skill_eval_nb.documents.base import Origin, attach_origin, fields_of, origin_of, plain_key
from skill_eval_nb.documents.dialects import kind_of, read_as_shared, recognise
from skill_eval_nb.running.protocol import Refused, no_such, refuse
from skill_eval_nb.running.stored_runs import top_of, with_suite
from skill_eval_nb.running.suite import SUITE, USUAL
from skill_eval_nb.skill_md import SKILL_FILE, read_skill_md
from skill_eval_nb.text import clip
from skill_eval_nb.workspace import (
    EvalKey,
    NothingToLoad,
    PathLike,
    catalogue_files,
    find,
    natural_key,
    read_files,
)
from skill_eval_nb.workspace.folders import is_iteration
from skill_eval_nb.workspace.jobs import STARTED, read_events
from skill_eval_nb.workspace.writing import NotPlain, is_same, plain_value

from .values import Draft, SuiteItem, root_of, take_inputs

PLACES = (*USUAL, "eval/evals.json", "eval/eval_metadata.json", "eval_metadata.json")
"""The places to look for a suite in a folder, in this order."""


@dataclass(frozen=True, slots=True)
class Text:
    """The content of an eval suite's text.

    Attributes:
        value: its plain value; the documents remember which part of it they were read from.
        document: what it says.
        dialect: how it is written.
    """

    value: Any
    document: Evals
    dialect: str


@dataclass(frozen=True, slots=True)
class OpenSuite:
    """A suite to change.

    Attributes:
        path: its file.
        data: its bytes; empty if it does not exist yet.
        text: what it says.
        keys: the id and name of each eval as the tables have them.
        described: ids of evals whose checks are in their eval_metadata.json.
    """

    path: Path
    data: bytes
    text: Text
    keys: Sequence[EvalKey]
    described: Mapping[str, str] = field(default_factory=dict)

    def eval_of(self, name: str) -> int:
        """The place of an eval, by its id, else by its name in the tables.

        Raises:
            Refused: there is none; the message names the nearest one.
        """
        for names in ([key.id for key in self.keys], [key.name for key in self.keys]):
            if name in names:
                return names.index(name)
        raise refuse(no_such("eval", name, [key.id for key in self.keys]))


def open_suite(evals: PathLike, workspace: PathLike | None = None) -> OpenSuite:
    """Open a suite.

    Args:
        evals: its file, or the folder of a skill or of a workspace with one. A skill without one
            gets a new file.
        workspace: the workspace whose tables name its evals; if not given, the one that contains
            the suite or is next to it.

    Raises:
        Refused: there is none, or its text cannot be changed in place.
        OSError: it cannot be read.
    """
    path = suite_file(evals)
    if not path.exists():
        name = read_skill_md(path.parent.parent / SKILL_FILE).name
        begun = to_json({"skill_name": name, "evals": []})
        return OpenSuite(path, b"", text_of(path.name, begun), ())
    data = read_bytes(path)
    text = text_of(path.name, data)
    home = _home_of(path) if workspace is None else Path(workspace).expanduser().resolve()
    if home is not None and not home.is_dir():
        raise refuse(f"workspace {home} does not exist, or is not a folder")
    index = catalogue_files(find([path] if home is None else [home, path]))
    suites = index.files.suites
    mine = next((one for one in suites if os.path.realpath(one.path) == str(path)), None)
    if mine is None:
        raise refuse(f"{path} is not where a suite is searched for: move it, or give another file")
    above, keys = mine.workspace, mine.keys
    described = {
        index.keys[folder].id: f"{folder.iteration}/{folder.folder}"
        for folder, metadata in index.files.metadata.items()
        if folder.workspace == above and metadata.assertions and folder in index.keys
    }
    if len(keys) != len(text.document.evals):
        raise refuse(f"{path} changed while it was read: try again")
    return OpenSuite(path, data, text, keys, described)


def suite_file(evals: PathLike) -> Path:
    """The file of a suite, given the file, its folder, or its skill's workspace.

    For a skill without one, it is the file to create. The copy that runs keep of the skill's suite
    in the workspace next to it is not the one to change: the next runs overwrite it.

    Raises:
        Refused: there is none, or there are several.
    """
    path = Path(evals).expanduser().resolve()
    if not path.is_dir():
        if not path.is_file():
            raise refuse(f"{path} does not exist; `evals` is an evals.json, or a folder with one")
        return path
    for name in PLACES:
        if (path / name).is_file() and _is_suite(path / name):
            return _find_source(path / name, path)
    suites: list[Path] = []
    with suppress(NothingToLoad):
        suites = [Path(suite.path) for suite in read_files(find(path)).suites]
    if len(suites) == 1:
        return suites[0]
    if suites:
        names = ", ".join(str(suite.relative_to(path)) for suite in suites)
        raise refuse(f"{path} has several suites ({names}): say which")
    if beside := with_suite(path, None)[1:]:
        return Path(beside[0])
    if (path / SKILL_FILE).is_file():
        return path / USUAL[0]
    raise refuse(
        f"{path} has no evals; searched for {', '.join(PLACES)}: give the suite's file, or the "
        "skill's folder"
    )


def _find_source(suite: Path, workspace: Path) -> Path:
    """The skill's suite if this is the copy that its runs keep in a workspace; else the suite.

    The journal of the last runs says which suite they were given.
    """
    if suite != workspace / SUITE:
        return suite
    iterations = sorted(workspace.glob("iteration-*"), key=lambda folder: natural_key(folder.name))
    starts = [start for folder in iterations for start in read_events(folder, STARTED, "asked")]
    given = Path(str(starts[-1].get("suite"))).as_posix() if starts else ""
    skill = workspace.with_name(workspace.name.removesuffix("-workspace"))
    for source in (skill / name for name in USUAL):
        place = f"/{source.relative_to(skill.parent).as_posix()}"  # wherever both lay then
        if source.is_file() and given.endswith(place):
            return source
    return suite


def text_of(name: str, data: bytes) -> Text:
    """What the text of a suite says.

    Args:
        name: its file's name.
        data: its bytes.

    Raises:
        Refused: it is not a suite, or not strict JSON in UTF-8, so it cannot be changed in place.
    """
    try:
        value = plain_value(data.decode("utf-8-sig"))
    except (NotPlain, UnicodeDecodeError) as error:
        raise refuse(
            f"{name} cannot be changed in place ({error}): correct it, and try again"
        ) from None
    kind = kind_of(name, value)
    if kind != "evals":
        what = f"a `{kind}` document" if kind else "none of the known documents"
        raise refuse(f"{name} is {what}, not an eval suite")
    document, _ = read_as_shared("evals", value)
    return Text(value, document, recognise("evals", value))


def _home_of(suite: Path) -> Path | None:
    """The workspace that contains a suite, or the one next to its skill."""
    skill = suite.parent.parent if suite.parent.name in ("evals", "eval") else suite.parent
    for folder in (top_of(suite.parent), skill, skill.with_name(f"{skill.name}-workspace")):
        below = folder.iterdir() if folder.is_dir() else ()
        if any(is_iteration(child.name) for child in below if child.is_dir()):
            return folder
    return None


def _is_suite(path: Path) -> bool:
    try:
        return kind_of(path.name, parse(read_bytes(path), Faults())) == "evals"
    except NotJSON:
        return True  # opening it says what is wrong


KINDS: dict[str, type[Document]] = {
    "expectations": Expectation,
    "structural_expectations": StructuralExpectation,
    "dimensions": Dimension,
    "evals": Eval,
}
"""What the items of each part are."""
DIALECTS: dict[str, dict[str, str]] = {
    "iterations": {"expectations": "assertions", "text": "description"},
    "test-cases": {"expectations": "assertions", "evals": "test_cases"},
}
"""Fields that a dialect calls differently from `skill-evaluator`."""
FIRST: dict[str, str | int] = {"structural_expectations": "S1", "dimensions": "Q1", "evals": 1}
"""The first id of a list if the file has none to follow; expectations have none."""
LETTERS = {"structural_expectations": "S", "dimensions": "Q", "expectations": "E", "evals": "eval-"}
"""The beginning of a new id if the others have no numbers."""
KEPT = dict.fromkeys(KINDS, frozenset(("id",))) | {
    "expectations": frozenset(("id", "name")),
    "evals": frozenset(fields_of(Eval)),
}
"""Fields that an item's replacement keeps if it does not have them itself."""
LOOKS = frozenset(fields_of(StructuralExpectation)) - {"id", "type", "description"}
"""Fields that say what a check looks for, and how much it matters."""
OTHER = {"expectations": "structural_expectations", "structural_expectations": "expectations"}
"""Checks are in one list or in two: an item that is not in its own list is looked up in the
other.
"""
_NUMBERED = re.compile(r"(.*?)(\d{1,9})", re.DOTALL)


class Edits(NamedTuple):
    """A suite with drafts applied.

    Attributes:
        value: its new plain value.
        applied: keys of the drafts that were applied.
        refused: why a draft was not applied, by its key.
        inputs: the input files of new evals, with their content.
    """

    value: Any
    applied: tuple[str, ...]
    refused: dict[str, str]
    inputs: dict[Path, bytes]


def edits_of(drafts: Iterable[Draft], suite: OpenSuite) -> Edits:
    """Apply drafts to a suite; an earlier draft takes precedence.

    A draft is applied completely or not at all, so each is tried on a copy: if one of its evals
    cannot be changed, none is.
    """
    now = _State(suite.text.value, list(range(len(suite.keys))))
    style = _Style(suite.text)
    applied: list[tuple[Draft, set[int]]] = []
    refused: dict[str, str] = {}
    for draft in drafts:
        editor = _Editor(suite, style, copy.deepcopy(now))
        try:
            evals = draft.evals if draft.part != "evals" else filter(None, [draft.target])
            places = {suite.eval_of(name) for name in evals}
            _refuse_again(draft, places, applied)
            editor.apply_draft(draft, sorted(places))
        except Refused as error:
            refused.setdefault(draft.key, "; ".join(error.faults))
            continue
        applied.append((draft, places))
        now = editor.now
    return Edits(now.value, tuple(draft.key for draft, _ in applied), refused, now.inputs)


def _refuse_again(
    draft: Draft, places: set[int], applied: Iterable[tuple[Draft, set[int]]]
) -> None:
    """Refuse to change what an earlier draft has changed.

    Raises:
        Refused: one of those that were applied has.
    """
    for other, theirs in applied:
        if other.key == draft.key:
            raise refuse("the same draft was given twice")
        if not places & theirs:
            continue
        if "evals" in (draft.part, other.part):
            raise refuse(f"{other.key} already changes this eval")
        if draft.target is not None and draft.target == other.target:
            raise refuse(f"{other.key} already changes `{draft.target}`")


def raw_of(document: Document) -> Any:
    """The plain value that a document was read from."""
    origin = origin_of(document)
    return None if origin is None else origin.raw


def keys_of(document: Document) -> dict[str, str]:
    """The names that the fields of a document have in its file; none if it is a text."""
    origin = origin_of(document)
    if origin is None or not isinstance(origin.raw, dict):
        return {}
    return {field: key for key, field in origin.keys.items()}


def _own_ids(documents: Iterable[Document]) -> list[Any]:
    """The ids that items have, as their file has them."""
    found = ((raw_of(document), keys_of(document).get("id")) for document in documents)
    return [raw[key] for raw, key in found if key is not None and raw[key] is not None]


def _names(document: Document) -> tuple[str | None, str | None, str | None]:
    """The id, the name and the text of an item."""
    ids = _own_ids([document])
    texts = {Expectation: "text", StructuralExpectation: "description", Eval: "prompt"}
    text = getattr(document, texts.get(type(document), ""), None)
    return (
        str(ids[0]).strip() if ids else None,
        getattr(document, "name", None),
        text and text.strip(),
    )


def _call_item(document: Document) -> str:
    """What to call an item: its id, else its name, else its text."""
    return next(filter(None, _names(document)), "an item")


def next_id(way: str | int, taken: Iterable[str | int], letter: str = "") -> str | int:
    """The next free id of a list.

    Args:
        way: an id of the list, or one like them: the new one has its type, what it has before
            its number, and its leading zeros.
        taken: the ids that were ever given in the list.
        letter: the beginning of the new one if `way` has no number.

    >>> next_id("S2", ["S1", "S2"]), next_id(3, [1, 3]), next_id("Q07", ["Q07"])
    ('S3', 4, 'Q08')
    >>> next_id("S1", []), next_id("has-tests", ["has-tests"], "S")
    ('S1', 'S1')
    """
    found = _NUMBERED.fullmatch(str(way))
    prefix, digits = (found[1], found[2]) if found else (letter, "")
    others = filter(None, map(_NUMBERED.fullmatch, map(str, taken)))
    number = 1 + max((int(other[2]) for other in others if other[1] == prefix), default=0)
    if isinstance(way, int):
        return number
    return prefix + str(number).zfill(len(digits) if digits.startswith("0") else 1)


# ── new items as the file would have them ────────────────────────────────────────────────────


class _Style:
    """What a suite calls things, and how it writes items: its names, their order, their ids."""

    def __init__(self, text: Text) -> None:
        self.dialect = text.dialect
        self.items: dict[type[Document], list[Document]] = {}
        self.names: dict[tuple[type[Document], str], str] = {}
        for document in _walk_documents(text.document):
            self.items.setdefault(type(document), []).append(document)
            for name, key in keys_of(document).items():
                self.names.setdefault((type(document), name), key)

    def field_name(self, kind: type[Document], name: str) -> str:
        """The name of a field: as the first item of its kind spells it, else the dialect's."""
        usual = DIALECTS.get(self.dialect, {}).get(name, name)
        return self.names.get((kind, name), usual)

    def make_item(
        self, new: SuiteItem, part: str, mine: Sequence[Document], taken: list[Any]
    ) -> Any:
        """A new item of a list, with its id, which is then taken."""
        beside = mine or self.items.get(KINDS[part], [])
        item = self._word_item(new, part, beside)
        if not isinstance(item, dict):
            return item
        key = self.field_name(KINDS[part], "id")
        if item.get(key) is None:
            item.pop(key, None)
            way = next(reversed(_own_ids(beside)), None) if beside else FIRST.get(part)
            if way is None:
                return item
            item = {key: next_id(way, taken, LETTERS[part]), **item}
        taken.append(item[key])
        last = raw_of(beside[-1]) if beside else None
        order = [name for name in last if name in item] if isinstance(last, dict) else []
        return {name: item[name] for name in (*order, *item)}

    def replace_item(self, new: SuiteItem, old: Document, part: str) -> Any:
        """An item that replaces another one, with the fields to keep.

        Unknown fields and the id are kept. Known fields that the new item does not have are removed
        from checks and dimensions, and kept in evals.
        """
        raw, kind = raw_of(old), KINDS[part]
        if not isinstance(raw, dict):
            return self._word_item(new, part, [old])
        fields = {own: field for field, own in keys_of(old).items()}
        if isinstance(new, str):
            text = next((own for own, field in fields.items() if field == "text"), None)
            return {**raw, text or self.field_name(kind, "text"): new}
        if isinstance(old, Expectation) and "type" in new:
            # An expectation with a type is a check: the fields of checks are known fields, too.
            looks = ((key, _field_of(StructuralExpectation, key)) for key in raw)
            fields = {key: field for key, field in looks if field in LOOKS} | fields
        item = self._word_item(new, part, [old])
        given = {_field_of(kind, key): value for key, value in item.items()}
        out = {}
        for key, value in raw.items():
            field = fields.get(key)
            if (field or key) in given:
                out[key] = given.pop(field or key)
            elif field is None or field in KEPT[part]:
                out[key] = value
        return {**out, **{self.field_name(kind, field): value for field, value in given.items()}}

    def is_same_item(self, item: Any, other: Any, part: str) -> bool:
        """Whether two items are the same but for their ids, or share a name that must be unique."""
        if not (isinstance(item, dict) and isinstance(other, dict)):
            return is_same(item, other)
        id_, name = (self.field_name(KINDS[part], field) for field in ("id", "name"))
        by_name = part in ("dimensions", "evals") and name in item
        return is_same({**item, id_: None}, {**other, id_: None}) or (
            by_name and item[name] == other.get(name)
        )

    def _word_item(self, new: SuiteItem, part: str, beside: Sequence[Document]) -> Any:
        """An item with the file's field names; its id stays as given."""
        kind = KINDS[part]
        given = {"text": new} if isinstance(new, str) else dict(new)
        if kind is Expectation and set(given) == {"text"}:
            has = keys_of(beside[-1]) if beside else {}
            if not has and (beside or self.dialect != "iterations"):
                return given["text"]
            if "name" in has or not beside:
                given = {"name": _short_name(given["text"]), **given}
        out = {_field_of(kind, key): value for key, value in given.items()}
        if kind is Eval:
            self._rename_lists(out)
            if beside and all("files" in keys_of(eval_) for eval_ in beside):
                out.setdefault("files", [])
        return {self.field_name(kind, field): value for field, value in out.items()}

    def _rename_lists(self, eval_: dict[str, Any]) -> None:
        """Give the lists of a new eval the file's names, too."""

        def add_items(given: Sequence[Any], part: str) -> list[Any]:
            taken: list[Any] = []
            return [self.make_item(item, part, [], taken) for item in given]

        eval_ |= {part: add_items(eval_[part], part) for part in OTHER if eval_.get(part)}
        rubric = eval_.get("quality_rubric")
        if isinstance(rubric, Mapping):
            name = self.field_name(QualityRubric, "dimensions")
            dimensions = add_items(rubric.get("dimensions", []), "dimensions")
            eval_["quality_rubric"] = {**rubric, name: dimensions}


def _walk_documents(value: Any) -> Iterator[Document]:
    if isinstance(value, Document):
        yield value
        for name in fields_of(type(value)):
            yield from _walk_documents(getattr(value, name))
    elif isinstance(value, list):
        for item in value:
            yield from _walk_documents(item)


def _field_of(kind: type[Document], key: str) -> str:
    """The field that a name means, by its own or another name; the name itself if none."""
    fields = fields_of(kind)
    if key in fields:
        return key
    other = {plain_key(one): name for name, field in fields.items() for one in (name, *field.also)}
    return other.get(plain_key(key), key)


# ── drafts to changes ────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _State:
    """A suite while drafts change it one after the other.

    Attributes:
        value: its plain value.
        places: for each of its evals, its place in the original suite; None for a new one.
        taken: the ids that were ever used in a list, by the eval's place and the part.
        inputs: the content of new input files.
    """

    value: Any
    places: list[int | None]
    taken: dict[tuple[int | None, str], list[Any]] = field(default_factory=dict)
    inputs: dict[Path, bytes] = field(default_factory=dict)


def _short_name(text: str) -> str:
    """A name made from a text, for suites whose checks have names.

    >>> _short_name("The tests pass")
    'the_tests_pass'
    """
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:48].rstrip("_") or "expectation"


class _Editor:
    """One draft put into a suite."""

    def __init__(self, suite: OpenSuite, style: _Style, now: _State) -> None:
        self.now = now
        self._suite, self._style = suite, style
        self._document, _ = read_as_shared("evals", now.value)

    def apply_draft(self, draft: Draft, places: Sequence[int]) -> None:
        """Apply a draft to the evals at these places of the original suite.

        Raises:
            Refused: it cannot be applied.
        """
        if draft.missing:
            raise refuse(f"still needs: {', '.join(draft.missing)}; edit the draft first")
        if draft.target is None and not draft.new:
            raise refuse("it changes nothing: it has neither a target nor anything new")
        self._name_field(self._document, "evals")
        if draft.part == "evals":
            taken = take_inputs(draft, root_of(self._suite.path), self.now.inputs)
            at = self.now.places.index(places[0]) if places else None
            self._put_items(taken, None, self._document, "evals", at)
            self.now.places[_slot(self.now.places, at)] = [None] * len(taken.new)
        elif not places:
            raise refuse("it names no eval that it changes")
        else:
            for place in places:
                self._apply_to_eval(draft, place)
        self.now.value = dump(self._document)

    def _apply_to_eval(self, draft: Draft, place: int) -> None:
        name, part, at = self._suite.keys[place].id, draft.part, None
        eval_ = self._document.evals[self.now.places.index(place)]
        where = self._suite.described.get(name)
        if part == "expectations" and not eval_.expectations and where is not None:
            raise refuse(
                f"the expectations of eval {name} are in its eval_metadata.json ({where}), and "
                f"one in {self._suite.path.name} would hide them: change them there"
            )
        owner: Document = eval_
        if part == "dimensions":
            self._name_field(eval_, "quality_rubric")
            owner = eval_.quality_rubric = eval_.quality_rubric or _new_rubric()
        if draft.target is not None:
            lists = {part: getattr(owner, part)}
            if part in OTHER:
                lists[OTHER[part]] = getattr(owner, OTHER[part])
            part, at = _find_item(lists, draft.target, name)
        self._put_items(draft, place, owner, part, at)

    def _name_field(self, owner: Document, name: str) -> None:
        """Give a field that is not in the file yet the name that the suite has for it.

        Raises:
            Refused: there is something in its place that cannot be read whole.
        """
        origin, known, keys = origin_of(owner), getattr(owner, name), keys_of(owner)
        assert origin is not None
        key = keys.get(name, self._style.field_name(type(owner), name))
        there: Any = origin.raw.get(key) if isinstance(origin.raw, dict) else origin.raw
        if isinstance(origin.raw, dict) and name not in keys:
            origin.raw, origin.keys[key] = origin.raw | {key: None}, name
        both = isinstance(there, list) and isinstance(known, list)
        if (both and len(there) != len(known)) or (there and not known):
            raise refuse(f"`{key}` cannot be read whole: correct it first")

    def _put_items(
        self, draft: Draft, place: int | None, owner: Document, part: str, at: int | None
    ) -> None:
        """Put the new items in place of one, or at the end.

        Raises:
            Refused: such an item already exists.
        """
        self._name_field(owner, part)
        items, style = getattr(owner, part), self._style
        taken = self.now.taken.setdefault((place, part), _own_ids(items))
        if at is not None and len(draft.new) == 1:
            new = [style.replace_item(draft.new[0], items[at], part)]
        else:
            new = [style.make_item(item, part, items, taken) for item in draft.new]
            for known in items:
                if any(style.is_same_item(item, raw_of(known), part) for item in new):
                    raise refuse(f"such an item already exists: {_call_item(known)}")
        items[_slot(items, at)] = new


def _new_rubric() -> QualityRubric:
    rubric = QualityRubric([])
    attach_origin(rubric, Origin({}, {}, {}, {}))
    return rubric


def _slot(items: Sequence[Any], at: int | None) -> slice:
    """The part of a list that goes: one item, or nothing at its end."""
    return slice(len(items), None) if at is None else slice(at, at + 1)


def _find_item(lists: Mapping[str, Sequence[Document]], target: str, name: str) -> tuple[str, int]:
    """The list and place of an item, by its id, else name, else text, else the id in runs.

    Raises:
        Refused: there is none, or several fit equally well; the message names the nearest one.
    """
    for part, documents in lists.items():
        named = list(map(_names, documents))
        ways = [
            [at for at, own in enumerate(named) if own[way] == target.strip()] for way in range(3)
        ]
        numbers = [f"{LETTERS[part]}{at + 1}" for at in range(len(named))]
        by_number = [at for at, own in enumerate(named) if not own[0] and target == numbers[at]]
        for found in (*ways, by_number):
            if len(found) > 1:
                raise refuse(f"eval {name}: `{target}` is {len(found)} times in `{part}`")
            if found:
                return part, found[0]
    there = [document for documents in lists.values() for document in documents]
    near = get_close_matches(target, [name for item in there for name in _names(item) if name], n=1)
    hint = f"; did you mean `{clip(near[0], 80)}`? There are" if near else "; there are"
    every = ", ".join(clip(_call_item(item)) for item in there) or "none"
    raise refuse(f"eval {name}: there is no item `{clip(target, 80)}`{hint} {every}")
