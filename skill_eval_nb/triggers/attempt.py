"""One attempt: a query put to an agent in its own folder, and the outcome."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import time
import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults, NotJSON, TriggerSet, dump, parse, to_json
from skill_eval_nb.documents.transcript import Step, read_steps, skill_asked_for
from skill_eval_nb.models import Connection
from skill_eval_nb.running.files import read_document, remove
from skill_eval_nb.running.protocol import (
    Execution,
    Executor,
    Limits,
    Refused,
    SandboxKind,
    Skill,
    Task,
    gather_refusals,
    refuse,
)
from skill_eval_nb.running.skill import SKILL_FILE, SkillSource, contents, digest, read_skill, stage
from skill_eval_nb.running.spec import plain
from skill_eval_nb.running.steps import as_lines, execute_bounded, price_execution
from skill_eval_nb.running.threads import finish_work
from skill_eval_nb.share import share
from skill_eval_nb.text import clip
from skill_eval_nb.workspace import PathLike, write_atomic

from .describe import with_description

if TYPE_CHECKING:
    from skill_eval_nb.models import Client
    from skill_eval_nb.running.budget import Budget


Outcome = Literal["triggered", "not triggered", "errored", "not run"]
"""Four, not two: a run that broke or was never made says nothing about the description."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a user might say.

    Attributes:
        query: the words.
        should_trigger: whether the skill should be picked up for it.
        tags: what kind of query it is, such as `near miss`.
        split: what an optimisation uses it for; None otherwise.
    """

    query: str
    should_trigger: bool
    tags: tuple[str, ...] = ()
    split: Literal["train", "test"] | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of one query.

    Attributes:
        query: what was asked.
        run: 1, 2, …
        outcome: how it ended.
        reason: why it errored or was not run; None otherwise.
        instead: what the model did if it did not open the skill, in a few words, such as
            `opened the skill tidy-tables`; None if it was opened, or nothing is known.
        opened: the names of all skills that were opened, in order.
        seconds: how long it took; None if it was not run.
        cost_usd: what it cost in US dollars; None if no price is known.
    """

    query: Query
    run: int
    outcome: Outcome
    reason: str | None = None
    instead: str | None = None
    opened: tuple[str, ...] = ()
    seconds: float | None = None
    cost_usd: float | None = None

    @property
    def key(self) -> str:
        """Its name in the journal; the same for the same words and run."""
        return f"{short_hash(self.query.query)}-{self.run}"


Others = Literal["bundled", "none"] | PathLike | Iterable[PathLike]


SKILLS = "skills-"
"""The beginning of the name of the folder with the staged skills."""


@dataclass(frozen=True, slots=True)
class SkillSet:
    """The skills to offer, as they are on disk.

    Attributes:
        skill: the measured skill.
        others: the skills next to it.
        description: measured instead of the one in SKILL.md; None for that one.
    """

    skill: SkillSource
    others: tuple[SkillSource, ...]
    description: str | None


@dataclass(frozen=True, slots=True)
class StagedSkills:
    """The skills on offer, copied into folders with the skills' names.

    Attributes:
        skill: the measured skill, with the measured description.
        others: the skills next to it.
        digests: for each name, a hash of everything that an agent can read of the skill.
    """

    skill: Skill
    others: tuple[Skill, ...]
    digests: dict[str, str]


def read_offer(skill: PathLike, others: Others, description: str | None) -> SkillSet:
    """Read a skill and the skills next to it.

    Args:
        skill: the skill's folder, or its SKILL.md.
        others: `"bundled"`, `"none"`, or paths of skills' folders or of folders that contain some;
            the skill itself and a bundled one with its name are skipped.
        description: as for `measure`.

    Raises:
        Refused: a skill cannot be read or has no name or description, or two have the same name.
            The message lists all faults.
    """
    faults: list[str] = []
    if description is not None and not description.strip():
        faults.append("the description is empty: a skill without one is never picked up")
    main: SkillSource | None = None
    with gather_refusals(faults):
        main = read_skill(skill)
    beside: list[SkillSource] = []
    for folder in _find_folders(others, faults):
        if main is None or folder.resolve() != main.folder:
            with gather_refusals(faults):
                beside.append(read_skill(folder))
    if main is not None and others == "bundled":
        beside = [skill for skill in beside if skill.name.casefold() != main.name.casefold()]
    known = {} if main is None else {main.name.casefold(): main}
    for source in beside:
        other = known.setdefault(source.name.casefold(), source)
        if other is not source:
            faults.append(
                f"{source.folder} and {other.folder} are both called `{other.name}`: leave one out "
                "of `others`, or rename it"
            )
    if faults or main is None:
        raise Refused(dict.fromkeys(faults))
    own = None if description is None or description.strip() == main.description else description
    return SkillSet(main, tuple(beside), own)


@contextmanager
def stage_skills(offer: SkillSet) -> Iterator[StagedSkills]:
    """Copy the skills on offer, for as long as the block lasts.

    Raises:
        Refused: a skill has changed since it was read, or its description cannot be replaced.
        OSError: it cannot be copied.
    """
    with TemporaryDirectory(prefix=SKILLS) as root:
        main, *others = (
            stage(source.folder, None, Path(root, source.name), expected=source.digest)
            for source in (offer.skill, *offer.others)
        )
        if offer.description is not None:
            file = main.folder / SKILL_FILE
            file.write_bytes(with_description(read_bytes(file), offer.description))
            main = replace(main, description=offer.description.strip())
        folders = {skill.name: skill.folder for skill in (main, *others)}
        marks = {name: digest(folder, contents(folder)) for name, folder in folders.items()}
        yield StagedSkills(main, tuple(others), marks)


def _find_folders(others: Others, faults: list[str]) -> list[Path]:
    """The folders of the skills that `others` names, in order of their paths."""
    if others == "none":
        return []
    if others == "bundled":
        return _skills_in(share() / "data" / "distractors")
    given = [others] if isinstance(others, (str, os.PathLike)) else list(others)
    found: list[Path] = []
    for folder in given:
        path = Path(folder).expanduser()
        if path.is_dir() and not (path / SKILL_FILE).is_file() and (inside := _skills_in(path)):
            found += inside
        elif path.exists():
            found.append(path)
        else:
            faults.append(
                f'others names {folder}, which does not exist; give "bundled", "none", or the '
                "folders of skills"
            )
    return found


def _skills_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if (path / SKILL_FILE).is_file())


@dataclass(frozen=True, slots=True)
class MeasureConfig:
    """The conditions under which queries are asked.

    Attributes:
        offered: the skills on offer.
        executor: what works on the query.
        model: the model that decides.
        limits: what one run may use.
        sandbox: how an agent's commands are kept in.
        connection: how the model is reached.
        series: a name that tells this measurement from an earlier one with the same settings.
    """

    offered: StagedSkills
    executor: Executor
    model: str
    limits: Limits
    sandbox: SandboxKind
    connection: Connection
    series: str

    @property
    def conditions(self) -> dict[str, Any]:
        """The conditions of attempts that can be compared with each other, as plain JSON."""
        own = self.offered.skill.name
        return {
            "skill": {own: self.offered.digests[own]},
            "others": {name: mark for name, mark in self.offered.digests.items() if name != own},
            "executor": {"name": self.executor.name, "options": plain(self.executor)},
            "model": self.model,
            "limits": plain(replace(self.limits, usd=None)),
            "sandbox": self.sandbox,
            "stand_in": plain(self.connection.stand_in),
            "series": self.series,
        }

    @property
    def fingerprint(self) -> str:
        """A short hash of it: the same if attempts are interchangeable."""
        return short_hash(self.conditions)


def short_hash(value: Any) -> str:
    """A short hash of plain JSON.

    >>> short_hash("a query") == short_hash("a query") != short_hash("another")
    True
    """
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


LONGEST = 80
"""Characters of a tool's input that are shown."""
AT_ONCE = "answered at once"


def outcome_of(execution: Execution) -> tuple[Outcome, str | None]:
    """The outcome of a run, and why it errored if it did.

    Once the skill was opened, nothing later changes that. A run that reached its limit of turns
    without opening it counts as not triggered.
    """
    if execution.skill_used:
        return "triggered", None
    if execution.status == "done" or execution.out_of_turns:
        if execution.skill_used is None:
            return "errored", "the executor cannot tell whether the skill was opened"
        return "not triggered", None
    return "errored", execution.reason or "the executor gave no reason"


def opened_in(execution: Execution, skill: str, offered: Container[str]) -> tuple[str, ...]:
    """The skills that a run opened, each once, in order.

    A skill is opened if the tool Skill returned it or another tool read its SKILL.md; a name in a
    path or a command is not enough.

    Args:
        execution: the run.
        skill: the measured one; the executor says whether it was opened.
        offered: the names of all skills on offer.
    """
    steps = (step for told in read_steps(execution.events) for step in told.steps)
    given = (step.call for step in steps if step.who == "result" and not step.failed)
    names = (_wanted_skill(call) for call in given if call)
    found = dict.fromkeys(name for name in names if name is not None and name in offered)
    if execution.skill_used:
        found[skill] = None
    else:
        found.pop(skill, None)
    return tuple(found)


def instead_of(execution: Execution, opened: Sequence[str]) -> str:
    """What a run did instead of opening the skill, in a few words."""
    if opened:
        return f"opened the skill {opened[0]}"
    steps = (step for told in read_steps(execution.events) for step in told.steps)
    call = next((step for step in steps if step.who == "call"), None)
    if call is None:
        return AT_ONCE
    values = call.given.values() if isinstance(call.given, Mapping) else ()
    argument = clip(next((value for value in values if isinstance(value, str)), ""), LONGEST)
    return f"used {call.text}: {argument}" if argument else f"used {call.text}"


def _wanted_skill(call: Step) -> str | None:
    """The skill that a call of a tool would open; None if it would open none."""
    path = call.given.get("file_path") if isinstance(call.given, Mapping) else None
    if call.text != "Read" or not isinstance(path, str):
        return skill_asked_for(call)
    file = PurePosixPath(path)
    return file.parent.name if file.name == "SKILL.md" else None


SUMMARY = "trigger_eval.json"
KEPT = ("outcome", "reason", "instead", "opened", "seconds", "cost_usd")
"""The fields of an attempt that its file holds, apart from the query and the run number."""


def attempt_path(home: Path, attempt: Attempt) -> Path:
    """The file of an attempt below the folder of its measurement."""
    words = unicodedata.normalize("NFKD", attempt.query.query).encode("ascii", "ignore").decode()
    slug = "-".join(re.findall(r"[a-z0-9]+", words.lower()))[:40].strip("-")
    folder = "-".join(filter(None, ["query", slug, short_hash(attempt.query.query)[:8]]))
    return home / folder / f"run-{attempt.run}.json"


def read_attempt(home: Path, planned: Attempt) -> Attempt | None:
    """The stored attempt of a planned one; None if there is none.

    Raises:
        Refused: its file was changed.
    """
    path = attempt_path(home, planned)
    try:
        return replace(planned, **_kept_fields(parse(read_bytes(path), Faults()), planned))
    except FileNotFoundError:
        return None
    except (NotJSON, KeyError, TypeError, ValueError) as error:
        raise refuse(
            f"{path} was changed or damaged ({type(error).__name__}: {error}): restore it, "
            "or move it away to repeat the run"
        ) from error


def _kept_fields(record: Any, planned: Attempt) -> dict[str, Any]:
    if record["query"] != planned.query.query:
        raise ValueError(f"it belongs to the query {record['query']!r}")
    fields = {name: record[name] for name in KEPT}
    return fields | {"opened": tuple(fields["opened"])}


def further_attempts(home: Path, planned: Mapping[str, Attempt]) -> Iterator[Attempt]:
    """Earlier attempts of the same queries that are not planned now.

    Raises:
        Refused: as `read_attempt`.
    """
    for query in dict.fromkeys(attempt.query for attempt in planned.values()):
        files = attempt_path(home, Attempt(query, 1, "not run")).parent.glob("run-*.json")
        for run in sorted(int(file.stem.removeprefix("run-")) for file in files):
            attempt = Attempt(query, run, "not run")
            if attempt.key not in planned and (made := read_attempt(home, attempt)) is not None:
                yield made


def write_attempt(
    home: Path, setting: MeasureConfig, attempt: Attempt, execution: Execution
) -> None:
    """Write an attempt, its transcript first: if the attempt is there, it is complete.

    Raises:
        OSError: it cannot be written.
    """
    path, usage = attempt_path(home, attempt), execution.usage
    transcript = path.with_suffix(".transcript.jsonl")
    write_atomic(transcript, as_lines(execution.events), private=True)
    record = {
        "query": attempt.query.query,
        "run": attempt.run,
        **{name: getattr(attempt, name) for name in KEPT},
        "model": setting.model,
        "executor": setting.executor.name,
        "usage": {name: getattr(usage, name) for name in usage.__slots__},
    }
    write_atomic(path, json.dumps(record, ensure_ascii=True, indent=2) + "\n")


def write_summary(home: Path, document: TriggerSet) -> None:
    """Write the summary; earlier queries that are not in it are kept.

    Raises:
        OSError: it cannot be written.
    """
    path = home / SUMMARY
    texts = {query.query for query in document.queries}
    there = read_document(path, TriggerSet).queries if path.is_file() else ()
    before = [query for query in there if query.query not in texts]
    whole = TriggerSet([*before, *document.queries], document.skill_name, document.description)
    write_atomic(path, to_json(dump(whole)))


PREFIX = "run-"
"""The beginning of an attempt's folder name; an agent may see it, so it gives nothing away."""


async def make_attempt(
    planned: Attempt,
    setting: MeasureConfig,
    root: Path,
    meter: Budget,
    client: Client | None = None,
) -> tuple[Attempt, Execution]:
    """Put a query to an agent that has its own working folder, home and configuration.

    Args:
        planned: the query and the number of the run.
        setting: the conditions under which it is asked.
        root: its own folder, which is deleted afterwards.
        meter: what each call goes through.
        client: how calls reach the model, if one is made already.

    Returns:
        The attempt, and how it went.
    """
    folder, scratch = root / "work", root / "scratch"
    folder.mkdir()
    scratch.mkdir()
    task = Task(
        prompt=planned.query.query,
        folder=folder,
        skill=setting.offered.skill,
        model=setting.model,
        limits=setting.limits,
        key=short_hash([setting.fingerprint, planned.key]),
        sandbox=setting.sandbox,
        connection=setting.connection,
        scratch=scratch,
        others=setting.offered.others,
        until_opened=True,
        client=client,
    )
    clock = time.perf_counter()
    try:
        execution, _ = await execute_bounded(setting.executor, task, meter)
        seconds = time.perf_counter() - clock
    finally:
        await finish_work(asyncio.to_thread(remove, root))
    execution = price_execution(execution, meter)
    outcome, reason = outcome_of(execution)
    opened = opened_in(execution, setting.offered.skill.name, setting.offered.digests)
    attempt = replace(
        planned,
        outcome=outcome,
        reason=reason,
        instead=instead_of(execution, opened) if outcome == "not triggered" else None,
        opened=opened,
        seconds=round(seconds, 3),
        cost_usd=execution.cost_usd,
    )
    return attempt, execution
