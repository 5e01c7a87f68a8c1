"""The skill and those beside it, as each run finds them: staged under their own names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from skill_eval_nb.running.executors import Skill
from skill_eval_nb.running.given.front_matter import SKILL_FILE
from skill_eval_nb.running.given.skill import SkillSource, read_skill, stage
from skill_eval_nb.running.given.skill_files import contents, digest
from skill_eval_nb.running.refused import Refused, gathered
from skill_eval_nb.share import share

from ..front_matter import with_description

PathLike = str | os.PathLike[str]
Others = Literal["bundled", "none"] | PathLike | Iterable[PathLike]


SKILLS = "skills-"
"""What the folder of the staged skills begins with."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What is to be offered, as it lies on disk.

    Attributes:
        skill: the skill that is measured.
        others: those beside it.
        description: what is measured in place of the one in SKILL.md; None for that one.
    """

    skill: SkillSource
    others: tuple[SkillSource, ...]
    description: str | None

    @property
    def measured(self) -> str:
        """The description that is measured."""
        return self.skill.description if self.description is None else self.description


@dataclass(frozen=True, slots=True)
class Offered:
    """What is offered, staged: copies in folders of the skills' own names.

    Attributes:
        skill: the skill that is measured, with the description that is measured.
        others: those beside it.
        digests: by the name of each, a hash of all that an agent can read of it.
    """

    skill: Skill
    others: tuple[Skill, ...]
    digests: dict[str, str]


def read_offer(skill: PathLike, others: Others, description: str | None) -> Offer:
    """Read a skill and those beside it.

    Args:
        skill: the skill's folder, or its SKILL.md.
        others: `"bundled"`, `"none"`, or paths of skills' folders, or of folders that hold such;
            the skill itself is passed over there, and a bundled one of its name.
        description: as for `measure`.

    Raises:
        Refused: a skill cannot be read, or lacks its name or description; or two of them have
            the same name. All faults at once.
    """
    faults: list[str] = []
    if description is not None and not description.strip():
        faults.append("description is empty: a skill without one is never picked up")
    main: SkillSource | None = None
    with gathered(faults):
        main = read_skill(skill)
    beside: list[SkillSource] = []
    for folder in _folders(others, faults):
        if main is None or folder.resolve() != main.folder:
            with gathered(faults):
                beside.append(read_skill(folder))
    if main is not None and others == "bundled":
        beside = [one for one in beside if one.name.casefold() != main.name.casefold()]
    faults += _twice(main, beside)
    if faults or main is None:
        raise Refused(dict.fromkeys(faults))
    own = None if description is None or description.strip() == main.description else description
    return Offer(main, tuple(beside), own)


@contextmanager
def staged(offer: Offer) -> Iterator[Offered]:
    """Copy what is offered, for as long as the block lasts.

    Raises:
        Refused: a skill has changed since it was read, or its description cannot be replaced.
        OSError: it cannot be copied.
    """
    with TemporaryDirectory(prefix=SKILLS) as root:
        main = _copy(offer.skill, Path(root))
        if offer.description is not None:
            file = main.folder / SKILL_FILE
            file.write_bytes(with_description(file.read_bytes(), offer.description))
            main = replace(main, description=offer.description.strip())
        others = tuple(_copy(one, Path(root)) for one in offer.others)
        every = (main, *others)
        marks = {one.name: digest(one.folder, contents(one.folder)) for one in every}
        yield Offered(main, others, marks)


def _copy(source: SkillSource, root: Path) -> Skill:
    return stage(source.folder, None, root / source.name, expected=source.digest)


def _folders(others: Others, faults: list[str]) -> list[Path]:
    """The folders of the skills that `others` names, in order of their paths."""
    if others == "none":
        return []
    if others == "bundled":
        return _skills_in(share() / "data" / "distractors")
    given = [others] if isinstance(others, (str, os.PathLike)) else list(others)
    found: list[Path] = []
    for one in given:
        path = Path(one).expanduser()
        if path.is_dir() and not (path / SKILL_FILE).is_file() and (inside := _skills_in(path)):
            found += inside
        elif path.exists():
            found.append(path)
        else:
            faults.append(
                f'others names {one}, which does not exist; it is "bundled", "none", or paths of '
                "skills' folders"
            )
    return found


def _skills_in(folder: Path) -> list[Path]:
    return sorted(one for one in folder.iterdir() if (one / SKILL_FILE).is_file())


def _twice(main: SkillSource | None, beside: Sequence[SkillSource]) -> Iterator[str]:
    """What to say of skills that have a name in common, however it is written."""
    known = {} if main is None else {main.name.casefold(): main}
    for one in beside:
        other = known.setdefault(one.name.casefold(), one)
        if other is not one:
            what = "the skill that is measured" if other is main else "another of `others`"
            yield (
                f"{one.folder} has the same name as {what}, `{other.name}`, and one would stand in "
                "the other's place: leave it out of `others`, or rename it"
            )
