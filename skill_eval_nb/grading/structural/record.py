"""The transcript of a run as checks read it: once, and with what it leaves open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents.transcript import (
    Event,
    Step,
    Told,
    calls_once,
    read_events,
    read_steps,
)
from skill_eval_nb.text import count

from .outputs import CheckVerdict, Content, shown, unscored


def bare_names(names: Iterable[Any]) -> set[str]:
    """Names of skills, without those of their plugins.

    >>> bare_names(["/tidy", "plugin:notes", None]) == {"tidy", "notes"}
    True
    """
    texts = (name for name in names if isinstance(name, str))
    return {text.strip().lstrip("/").rpartition(":")[2] for text in texts}


@dataclass(frozen=True, slots=True)
class Record:
    """A transcript that was read.

    Attributes:
        name: its file's.
        text: all of it.
        events: what happened; None where it is plain text.
        told: what each event tells.
        calls: the agent's calls of tools, each once, with what they gave.
        gap: why something may have happened that it does not tell; None where it tells all.
    """

    name: str
    text: str
    events: Sequence[Event] | None
    told: Sequence[Told]
    calls: Sequence[Step]
    gap: str | None

    @property
    def turns(self) -> int | None:
        """How many answers the agent gave; None where calls stand in none."""
        alone = any(told.event.get("type") in ("tool_use", "tool_call") for told in self.told)
        return None if alone else max((told.turn for told in self.told), default=0)

    @property
    def skills(self) -> set[str] | None:
        """The skills that were on offer; None where it does not say."""
        begun = (told.event for told in self.told if told.event.get("type") == "system")
        lists = (event["skills"] for event in begun if isinstance(event.get("skills"), list))
        return next(map(bare_names, lists), None)

    @property
    def in_short(self) -> str:
        """Its name, and which tools were called how often."""
        used = Counter(shown(call.text, 60) for call in self.calls).most_common(8)
        return f"{self.name} ({', '.join(f'{tool} {n}' for tool, n in used) or 'no calls'})"

    def unless_a_gap(self, verdict: CheckVerdict) -> CheckVerdict:
        """A verdict that rests on what did not happen; not scored where that is not known."""
        return verdict if self.gap is None else unscored(self.gap)


def read_record(transcript: Path | None) -> Record | CheckVerdict:
    """Read a transcript; a verdict where there is none to read, or nothing in it."""
    if transcript is None:
        return unscored("there is no transcript to look into")
    name = transcript.name
    try:
        data = read_bytes(transcript, transcript.parent)
    except FileNotFoundError:
        return unscored(f"there is no {name} to look into")
    except OSError as error:
        return unscored(f"{name} cannot be read: {error.strerror or error}")
    text = Content(data).text
    if not text.strip():
        return unscored(f"{name} is empty, so it shows nothing")
    read = read_events(text)
    if read is None:
        plain = f"{name} is plain text, which does not say for sure what was done"
        return Record(name, text, None, (), (), plain)
    told = [*read_steps(event.value for event in read.events)]
    steps = [step for one in told for step in one.steps]
    for step in steps:
        if step.call is not None and step.call.result is None:
            step.call.result, step.call.failed = step.text, step.failed
    calls = [call for call in calls_once(steps) if call.turn]
    return Record(name, text, read.events, told, calls, _find_gap(name, told, read.damaged))


def _find_gap(name: str, told: Sequence[Told], damaged: int) -> str | None:
    if damaged:
        return f"{count(damaged, 'line')} of {name} could not be read"
    if not any(step.turn and step.who != "other" for one in told for step in one.steps):
        return f"{name} tells nothing that the agent said or did, in a form that is known"
    kinds = [step.text for one in told for step in one.steps if step.who == "other"]
    kinds += [str(one.event.get("type")) for one in told if not one.steps]
    unread = [shown(kind, 40) for kind in kinds if kind.endswith("call")]
    return f"{name} has calls in a form that is not known: {unread[0]}" if unread else None
