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
from typing import Any

from . import StandIn, digest, normal, reading, uniform
from .reading import as_score

OPENLY = "No model wrote this: it comes from the stand-in, which follows rules and a seed."
STATED = re.compile(r"stand-in quality:\s*(-?\d+(?:\.\d+)?)")
NAMED = re.compile(r"\b(?:to|as|into|called|named)\s+[`\"']?([\w-][\w.-]*\.(?:md|txt))\b")


REACH = 2.4
"""What an opened skill with every needed instruction adds to a text written by hand, in effects."""


@dataclass(frozen=True, slots=True)
class AgentDraft:
    """Files to write (relative path: text without a final line end), and what they are."""

    files: Mapping[str, str]
    what: str


def guidance(task: str, read: str, body: str) -> tuple[float, str]:
    """How many times the effect an opened skill adds to the quality, and why.

    1 if there are no texts written by hand for the task. For the demo skill's evals: `REACH` times
    the share of the needed instructions that the body has, each found by a phrase.

    >>> commits = 'commits: "dark mode (#12)", "empty photos (#15)"'
    >>> share, why = guidance(commits, "", "Write `RELEASE_NOTES.md`, the version as its title.")
    >>> round(share, 2), why
    (1.2, "the skill told 2 of the 4 things that help here (not: the headings, the reader's side)")
    """
    written = _texts_by_hand(task, read)
    if written is None:
        return 1.0, ""
    phrases, needs = _by_hand()["instructions"], written["needs"]
    missing = [name for name in needs if not re.search(phrases[name], body)]
    held = len(needs) - len(missing)
    lacking = f" (not: {', '.join(missing)})" if missing else ""
    why = f"the skill told {held} of the {len(needs)} things that help here{lacking}"
    return REACH * held / len(needs), why


def draft_run(task: str, read: str, quality: float) -> AgentDraft:
    """What a run of this quality writes.

    If the task or the input has the commits of one of the demo skill's evals, it is the text for
    the level that the quality rounds to. Else it is a file that states the quality: `answer.md`,
    or the Markdown or text file that the task names.

    >>> draft_run("Write it to plan.md", "", 3.416).files["plan.md"].splitlines()[-1]
    'stand-in quality: 3.42'
    """
    written = _texts_by_hand(task, read)
    if written is not None:
        level = as_score(quality)
        files = {name: text.strip("\n") for name, text in written[f"level-{level}"].items()}
        return AgentDraft(files, f"the text of level {level} of 5, written by hand for this eval")
    named = NAMED.search(task)
    stated = f"stand-in quality: {quality:.2f}"
    text = f"# Answer\n\n{OPENLY}\n{len(read)} characters were read first.\n\n{stated}"
    return AgentDraft(
        {named[1] if named else "answer.md": text}, "it states the quality that was drawn"
    )


def stated_quality(text: str) -> float | None:
    """The quality that a text states; None if it states none."""
    found = STATED.search(text)
    return float(found[1]) if found else None


def _texts_by_hand(task: str, read: str) -> dict | None:
    """The texts by hand for the commits in the task or the input; None if there are none."""
    known = f"{task}\n{read}"
    evals = _by_hand()["eval"]
    return next(
        (eval_ for eval_ in evals if all(commit in known for commit in eval_["commits"])), None
    )


@cache
def _by_hand() -> dict:
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
        return {name.lower(): tool for name, tool in reading.tools_of(self.request).items()}

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
        body = self._body
        if body is not None:
            stated = STATED_EFFECT.search(body)
            share, _ = guidance(self.task, self._text_read, body)
            quality += float(stated[1]) if stated else share * chance.effect
            quality += chance.effect_sd * normal(seed, "effect", eval_name)
        return quality

    @cached_property
    def draft(self) -> AgentDraft:
        """What it writes."""
        return draft_run(self.task, self._text_read, self.quality)

    @cached_property
    def guided(self) -> str:
        """How far the opened skill helps, in words; empty if it does not matter for the task."""
        return guidance(self.task, self._text_read, self._body)[1] if self._body else ""

    @cached_property
    def _body(self) -> str | None:
        return reading.after_skill(self.request)

    @cached_property
    def _text_read(self) -> str:
        """The content of the input files, without other results, which would change the answer."""
        ways = [{"command": c} for _, c in inputs(self.task)]
        ways += [{"file_path": path} for path, _ in inputs(self.task)]
        return "\n".join(use.result for use in self.uses if dict(use.input) in ways)


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


LISTED = (
    re.compile(r"^\s*[-*]\s+\W{0,2}([a-z0-9][\w:.-]*)\W{0,2}\s*(?::|—|–)\s+(\S.*)$", re.MULTILINE),
    re.compile(
        r"<name>\s*([\w:.-]+)\s*</name>\s*<description>\s*(.*?)\s*</description>", re.DOTALL
    ),
)
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
    for name, description in listed_skills(listed, but=but):
        barred = words(" ".join(NOT_FOR.findall(description)))
        shared = len(task_words & (words(name) | (words(description) - barred)))
        if shared > most:
            best, most = name, shared
    return best


def listed_skills(listed: str, *, but: Container[str] = ()) -> Iterator[tuple[str, str]]:
    r"""The names and descriptions that a text lists.

    >>> list(listed_skills("Skills:\n- tidy: Sorts tables\n- task: What to do", but={"task"}))
    [('tidy', 'Sorts tables')]
    """
    for pattern in LISTED:
        yield from (skill for skill in pattern.findall(listed) if skill[0] not in but)


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
    done = [(use.name, dict(use.input)) for use in situation.uses]
    for plan in (_open_skill, _read_steps, _blunder_steps, _write_steps):
        for step in plan(situation):
            if (step.tool, dict(step.input)) not in done:
                return step
    return None


def act(situation: Situation) -> tuple[list[dict[str, Any]], str]:
    """The content of the next message, and why it stops."""
    step = next_step(situation)
    if step is None:
        return [{"type": "text", "text": _closing_text(situation)}], "end_turn"
    return use(situation, step), "tool_use"


def use(situation: Situation, step: AgentStep) -> list[dict[str, Any]]:
    """The content of a message that uses a tool."""
    turn = reading.turn_of(situation.request)
    block = {
        "type": "tool_use",
        "id": "toolu_" + digest(situation.session, turn, step.tool, step.input),
        "name": step.tool,
        "input": dict(step.input),
    }
    return [{"type": "text", "text": step.words}, block]


def bash(situation: Situation, words: str, command: str) -> AgentStep | None:
    """A step that runs a command, where a shell is offered."""
    tool = situation.tools.get("bash")
    return AgentStep(words, str(tool["name"]), {"command": command}) if tool else None


def _open_skill(situation: Situation) -> list[AgentStep]:
    tool = situation.tools.get("skill")
    if tool is None:
        return []
    schema = tool.get("input_schema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    names = properties if isinstance(properties, dict) else {}
    listed = reading.every_text(situation.request).replace(situation.task, "")
    skill = _choose_skill(situation, listed, names)
    if skill is None:
        return []
    name = next((name for name in ("skill", "name", "command") if name in names), "skill")
    return [AgentStep(f"The skill {skill} fits this task.", str(tool["name"]), {name: skill})]


def _choose_skill(situation: Situation, listed: str, but: Mapping[str, Any]) -> str | None:
    """The skill that this run opens: the fitting one, or a stray one, each with its chance."""
    chance, session = situation.stand_in, situation.session
    skill = best_skill(situation.task, listed, but=but)
    if skill is not None:
        return skill if uniform(chance.seed, "opens", session) < chance.opens else None
    if uniform(chance.seed, "strays", session) >= chance.strays:
        return None
    names = sorted({name for name, _ in listed_skills(listed, but=but)})
    drawn = uniform(chance.seed, "stray", session)
    return names[int(drawn * len(names))] if names else None


def _read_steps(situation: Situation) -> list[AgentStep]:
    steps: list[AgentStep] = []
    for path, command in inputs(situation.task):
        words = f"First I read {path}."
        reader = situation.tools.get("read")
        step = bash(situation, words, command)
        if step is None and reader:
            step = AgentStep(words, str(reader["name"]), {"file_path": path})
        if step:
            steps.append(step)
    return steps


def _blunder_steps(situation: Situation) -> list[AgentStep]:
    careless = situation.quality < 2.5
    drawn = uniform(situation.stand_in.seed, "blunder", situation.session)
    if not (careless and drawn < 0.5):
        return []
    step = bash(situation, "Is there an older file to go by?", BLUNDER)
    return [step] if step else []


def _write_steps(situation: Situation) -> list[AgentStep]:
    steps: list[AgentStep] = []
    writer = situation.tools.get("write")
    for name, text in situation.draft.files.items():
        words = f"Now I write {name}."
        folder = str(PurePosixPath(name).parent)
        folders = "" if folder == "." else f"mkdir -p {shlex.quote(folder)} && "
        command = f"{folders}cat > {shlex.quote(name)} <<'{END}'\n{text}\n{END}"
        step = bash(situation, words, command)
        if step is None and writer:
            step = AgentStep(
                words, str(writer["name"]), {"file_path": name, "content": text + "\n"}
            )
        if step:
            steps.append(step)
    return steps


def _closing_text(situation: Situation) -> str:
    names = ", ".join(situation.draft.files)
    offered = situation.tools.keys() & {"bash", "write"}
    if offered:
        why = f"; {situation.guided}" if situation.guided else ""
        return f"{OPENLY} It wrote {names}: {situation.draft.what}{why}."
    whole = "\n\n".join(situation.draft.files.values())
    return f"{OPENLY} It had no tool to write {names} with, so here it is:\n\n{whole}"
