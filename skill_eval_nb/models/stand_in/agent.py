"""The stand-in as executor: the next step of a task, by what the conversation shows.

It keeps nothing between calls. The steps of a task follow from the request; the next step is the
first one that the conversation does not show yet.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import PurePosixPath
from statistics import fmean
from typing import Any

from . import StandIn, digest, normal, reading, uniform
from .reading import as_score

OPENLY = "No model wrote this: it comes from the stand-in, which follows rules and a seed."
NAMED = re.compile(r"\b(?:to|as|into|called|named)\s+[`\"']?([\w-][\w.-]*\.(?:md|txt))\b")


REACH = 2.4
"""What an opened skill with every needed instruction adds to a text written by hand, in effects."""


def guidance(task: str, read: str, body: str) -> float:
    """How many times the effect an opened skill adds to the quality.

    1 if there are no texts written by hand for the task. For the demo skill's evals: `REACH` times
    the share of the needed instructions that the body has, each found by a phrase.

    >>> commits = 'commits: "dark mode (#12)", "empty photos (#15)"'
    >>> round(guidance(commits, "", "Write `RELEASE_NOTES.md`, the version as its title."), 2)
    1.2
    """
    written = _texts_by_hand(task, read)
    if written is None:
        return 1.0
    phrases, needs = _read_outputs()["instructions"], written["needs"]
    return REACH * sum(bool(re.search(phrases[name], body)) for name in needs) / len(needs)


def draft_run(task: str, read: str, quality: float) -> tuple[dict[str, str], str]:
    """The files that a run of this quality writes, without a final line end, and what they are.

    If the task or the input has the commits of one of the demo skill's evals, it is the text for
    the level that the quality rounds to. Else it is a file that states the quality: `answer.md`,
    or the Markdown or text file that the task names.

    >>> draft_run("Write it to plan.md", "", 3.416)[0]["plan.md"].splitlines()[-1]
    'stand-in quality: 3.42'
    """
    written = _texts_by_hand(task, read)
    if written is not None:
        level = as_score(quality)
        files = {name: text.strip("\n") for name, text in written[f"level-{level}"].items()}
        return files, f"the text of level {level} of 5, written by hand for this eval"
    named = NAMED.search(task)
    stated = f"stand-in quality: {quality:.2f}"
    text = f"# Answer\n\n{OPENLY}\n{len(read)} characters were read first.\n\n{stated}"
    return {named[1] if named else "answer.md": text}, "it states the quality that was drawn"


@cache
def levels_by_hand() -> dict[str, float]:
    """Each line of the texts by hand, with the mean level of those that have it."""
    found: dict[str, list[int]] = {}
    for eval_ in _read_outputs()["eval"]:
        for level in range(1, 6):
            for line in "\n".join(eval_[f"level-{level}"].values()).splitlines():
                found.setdefault(line.strip(), []).append(level)
    return {line: fmean(levels) for line, levels in found.items()}


def _texts_by_hand(task: str, read: str) -> dict | None:
    """The texts by hand for the commits in the task or the input; None if there are none."""
    known = f"{task}\n{read}"
    evals = _read_outputs()["eval"]
    return next(
        (eval_ for eval_ in evals if all(commit in known for commit in eval_["commits"])), None
    )


@cache
def _read_outputs() -> dict:
    text = resources.files(__name__.rpartition(".")[0]).joinpath("outputs.toml").read_text("utf-8")
    return tomllib.loads(text)


STATED_EFFECT = re.compile(r"stand-in effect:\s*(-?\d+(?:\.\d+)?)")
INPUT_FILE = re.compile(
    r"(?<![\w./:@-])[\w-][\w.-]*(?:/[\w.-]+)*\.[A-Za-z][A-Za-z0-9]{0,5}(?![\w/])"
)
READ_AT_MOST = 20_000
"""The most bytes of an input file that it reads."""
FILES_AT_MOST = 4


@dataclass(frozen=True)
class Situation:
    """What a request tells an executor."""

    stand_in: StandIn
    request: Mapping[str, Any]

    @cached_property
    def task(self) -> str:
        """The user's task."""
        return reading.task_of(self.request)

    @cached_property
    def session(self) -> str:
        """The run that it belongs to."""
        return reading.session_of(self.request)

    @cached_property
    def tools(self) -> dict[str, Mapping[str, Any]]:
        """The tools by name in lower case."""
        return {tool["name"].lower(): tool for tool in self.request.get("tools", ())}

    @cached_property
    def uses(self) -> list[reading.ToolUse]:
        """The tools used so far."""
        return reading.tool_uses(self.request)

    @cached_property
    def quality(self) -> float:
        """The latent quality of what this run writes (see `StandIn`)."""
        chance, seed = self.stand_in, self.stand_in.seed
        eval_name = " ".join(self.task.split())
        quality = chance.base
        quality += chance.eval_sd * normal(seed, "eval", eval_name)
        quality += chance.run_sd * normal(seed, "run", self.session)
        body = reading.after_skill(self.request)
        if body is not None:
            stated = STATED_EFFECT.search(body)
            share = guidance(self.task, self._text_read, body)
            quality += float(stated[1]) if stated else share * chance.effect
        return quality

    @cached_property
    def draft(self) -> tuple[dict[str, str], str]:
        """The files that it writes, and what they are."""
        return draft_run(self.task, self._text_read, self.quality)

    @cached_property
    def _text_read(self) -> str:
        """The content of the input files, without other results, which would change the answer."""
        ways = [{"command": command} for _, command in inputs(self.task)]
        return "\n".join(use.result for use in self.uses if use.input in ways)


def inputs(task: str) -> list[tuple[str, str]]:
    """The input files that a task names, each with a command that reads it.

    >>> [path for path, _ in inputs("Sum up in/a.txt; version 2.4.0, see https://x.org/b.txt")]
    ['in/a.txt']
    """
    found: list[tuple[str, str]] = []
    for path in dict.fromkeys(INPUT_FILE.findall(task)):
        whole, name = shlex.quote(path), shlex.quote(PurePosixPath(path).name)
        # The file may be elsewhere in the folder; a missing one is not an error.
        command = (
            f"{{ cat {whole} 2>/dev/null || find . -name {name} -type f -exec cat {{}} + ; }} "
            f"| head -c {READ_AT_MOST}"
        )
        found.append((path, command))
    return found[:FILES_AT_MOST]


LISTED = re.compile(r"^\s*[-*]\s+([a-z0-9][\w:.-]*):\s+(\S.*)$", re.MULTILINE)
COMMON = frozenset(
    """about after all also and any are but can did does every file files for from has have
    here how into its like make more most must need not one only other our out please
    should some than that the them then there these they this use used user users using want
    was what when where which who will with write you your""".split()
)
NOT_FOR = re.compile(r"\bNot for [^.]*")
ENOUGH = 2
"""Words that a skill must share with the task."""


def best_skill(task: str, listed: str, *, but: Container[str] = ()) -> str | None:
    r"""The name of the listed skill that fits a task best; None if none fits.

    `but`: names listed in the same form that are not skills, such as a tool's parameters. Words in
    a sentence that begins with "Not for" do not count, even if they also occur elsewhere.

    >>> listed = "- tidy: Sorts the lines of a table\n- notes: Turns commits into release notes"
    >>> best_skill("Write release notes from these commits", listed)
    'notes'
    >>> best_skill("Draw a cat", listed) is None
    True
    """
    task_words = words(task)
    best, most = None, ENOUGH - 1
    for name, description in LISTED.findall(listed):
        if name in but:
            continue
        barred = words(" ".join(NOT_FOR.findall(description)))
        shared = len(task_words & (words(name) | (words(description) - barred)))
        if shared > most:
            best, most = name, shared
    return best


def words(text: str) -> frozenset[str]:
    """The words that say what a text is about, in the singular.

    >>> sorted(words("What's new? The commits' notes"))
    ['commit', 'new', 'note']
    """
    found = re.findall(r"[^\W\d_]{3,}", text.lower())
    return frozenset(word.rstrip("s") for word in found if word not in COMMON)


END = "STAND_IN_END"
BLUNDER = "cat CHANGELOG.md"
"""A command that a careless run tries first; it fails if there is no such file."""


@dataclass(frozen=True, slots=True)
class AgentStep:
    """A tool to use, and the words before its use."""

    words: str
    tool: str
    input: Mapping[str, Any]


def next_step(situation: Situation) -> AgentStep | None:
    """The next tool to use; None if the work is done."""
    done = [(use.name, use.input) for use in situation.uses]
    plans = (_open_skill, _read_steps, _blunder_steps, _write_steps)
    steps = (step for plan in plans for step in plan(situation))
    return next((step for step in steps if (step.tool, step.input) not in done), None)


def act(situation: Situation) -> tuple[list[dict[str, Any]], str]:
    """The content of the next message, and why it stops."""
    step = next_step(situation)
    if step is None:
        return [{"type": "text", "text": _closing_text(situation)}], "end_turn"
    return use_tool(situation, step), "tool_use"


def use_tool(situation: Situation, step: AgentStep) -> list[dict[str, Any]]:
    """The content of a message that uses a tool."""
    turn = reading.turn_of(situation.request)
    block = {
        "type": "tool_use",
        "id": "toolu_" + digest(situation.session, turn, step.tool, step.input),
        "name": step.tool,
        "input": step.input,
    }
    return [{"type": "text", "text": step.words}, block]


def bash(situation: Situation, words: str, command: str) -> Iterator[AgentStep]:
    """A step that runs a command, where a shell is offered."""
    if "bash" in situation.tools:
        yield AgentStep(words, situation.tools["bash"]["name"], {"command": command})


def _open_skill(situation: Situation) -> Iterator[AgentStep]:
    if "skill" not in situation.tools:
        return
    tool = situation.tools["skill"]
    listed = reading.every_text(situation.request).replace(situation.task, "")
    skill = best_skill(situation.task, listed, but=tool["input_schema"]["properties"])
    chance = situation.stand_in
    if skill is not None and uniform(chance.seed, "opens", situation.session) < chance.opens:
        yield AgentStep(f"The skill {skill} fits this task.", tool["name"], {"skill": skill})


def _read_steps(situation: Situation) -> Iterator[AgentStep]:
    for path, command in inputs(situation.task):
        yield from bash(situation, f"First I read {path}.", command)


def _blunder_steps(situation: Situation) -> Iterator[AgentStep]:
    drawn = uniform(situation.stand_in.seed, "blunder", situation.session)
    if situation.quality < 2.5 and drawn < 0.5:
        yield from bash(situation, "Is there an older file to go by?", BLUNDER)


def _write_steps(situation: Situation) -> Iterator[AgentStep]:
    files, _ = situation.draft
    for name, text in files.items():
        command = f"cat > {shlex.quote(name)} <<'{END}'\n{text}\n{END}"
        yield from bash(situation, f"Now I write {name}.", command)


def _closing_text(situation: Situation) -> str:
    files, what = situation.draft
    names = ", ".join(files)
    if "bash" in situation.tools:
        return f"{OPENLY} It wrote {names}: {what}."
    whole = "\n\n".join(files.values())
    return f"{OPENLY} It had no tool to write {names} with, so here it is:\n\n{whole}"
