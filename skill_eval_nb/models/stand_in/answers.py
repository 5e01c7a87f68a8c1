"""Compose the content of an answer to a request, without side effects.

As judge, comparator, analyst and merger, the stand-in counts features of what it is sent. They are
meant for notes with entries (lines that begin with a dash) and have the scale 1 to 5. They are
rough, which does not matter, since the same text always has the same features. They are used for
the outputs of the demo skill's evals; every other output states its quality (`stand-in quality:
3.42`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from . import Role, StandIn, agent, normal, reading, writers
from .agent import OPENLY, stated_quality
from .reading import as_score, minimal

PASSES_AT = 3.0
"""The quality at which an expectation of average difficulty is met half of the time."""


def passing_quality(stand_in: StandIn, expectation: str) -> float:
    """The quality that an expectation asks for."""
    return PASSES_AT + stand_in.check_sd * normal(stand_in.seed, "expectation", expectation)


ENTRY = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.*)$")
CODE = re.compile(
    r"\b(?:feat|fix|chore|refactor|perf|docs|style|build|ci|test|revert|wip)(?:\([\w./-]*\))?!?:"
    r"|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\b[0-9a-f]{7,40}\b|\w\(\)",
)
CHORE = re.compile(
    r"\b(?:refactor\w*|helper functions?|test runner|test coverage|tests|lint\w*|reformat\w*"
    r"|packages between builds|build times?|readme|typing mistake|typo|dependenc\w+"
    r"|smaller images|ci\b|searchindex|reverted?|internal)",
    re.IGNORECASE,
)
PRAISE = re.compile(
    r"\b(?:exciting|greatly|amazing|seamless\w*|powerful|robust|better than ever|delighted"
    r"|blazing\w*|effortless\w*|thrilled|improved?|enhanc\w+|stability|performance|smoother"
    r"|modern|polish\w*|reliab\w+)\b|!",
    re.IGNORECASE,
)
ISSUE = re.compile(r"#\d+")
LONG = 16
"""An entry with more words counts as long."""
TOPICS: tuple[tuple[str, str], ...] = (
    ("brevity", r"brev|concis|short|length|one line|one sentence"),
    ("faithfulness", r"faith|accura|correct|truth|invent|guess|made up|claims?\b|said"),
    ("selection", r"select|complet|cover|left out|not mentioned|neither|one entry|nothing changed"),
    ("reader_view", r"reader|user|audience|clar|told|described|understand"),
)
"""The topics of dimensions and expectations, by their words; the first match counts."""


@dataclass(frozen=True, slots=True)
class Features:
    """Qualities by topic, and the lines that they are based on: (file, line)."""

    qualities: dict[str, float]
    lines: tuple[tuple[str, str], ...]

    def quality(self, about: str) -> float:
        """The quality that a dimension's or expectation's text asks about."""
        return self.qualities[topic_of(about)]

    def decisive(self, about: str, *, good: bool) -> tuple[str, str] | None:
        """The line that speaks most for a good verdict, or against it; None without lines."""
        if not self.lines:
            return None
        faults = _FAULTS[topic_of(about)]
        pick: Callable[..., tuple[str, str]] = min if good else max
        return pick(self.lines, key=lambda line: faults(line[1]))


def topic_of(about: str) -> str:
    """The topic of a dimension or expectation: by its name or first line, else by the rest.

    >>> topic_of("### brevity (weight 1.0)"), topic_of("It is pretty")
    ('brevity', 'overall')
    """
    first, _, rest = about.partition("\n")
    for text in (first, rest):
        for name, words in TOPICS:
            if re.search(words, text, re.IGNORECASE):
                return name
    return "overall"


def measure(outputs: Sequence[tuple[str, str]]) -> Features:
    r"""The features of all outputs together; without outputs, the lowest qualities.

    >>> good = measure([("n.md", "# 1.0.0\n\n## Fixed\n\n- Photos open again. (#3)")])
    >>> bad = measure([("n.md", "- 8f1c2aa fix(io): PhotoReader again (#3)")])
    >>> good.quality("reader") > bad.quality("reader")
    True
    """
    lines = tuple(
        (name, line.strip())
        for name, text in outputs
        for line in text.splitlines()
        if line.strip() and not line.startswith(("#", "<!--"))
    )
    if not lines:
        return Features(dict.fromkeys([*_FAULTS, "overall"], 1.0), ())
    rows = [line for _, line in lines]
    qualities = {
        "reader_view": 5 - 4 * _mean_fault(rows, _count_code),
        "selection": 5 - 1.3 * sum(map(_chores, rows)) - 1.5 * _twice(rows) - 1.5 * _bare(outputs),
        "faithfulness": 5 - 1.3 * sum(map(_praises, rows)),
        "brevity": 5 - 4 * _mean_fault(rows, _long) - 0.4 * sum(map(_praises, rows)),
    }
    held = {name: max(1.0, min(5.0, value)) for name, value in qualities.items()}
    return Features({**held, "overall": fmean(held.values())}, lines)


def _count_code(line: str) -> float:
    return float(bool(CODE.search(line)))


def _chores(line: str) -> float:
    return float(bool(CHORE.search(line)))


def _praises(line: str) -> float:
    return float(len(PRAISE.findall(line)))


def _long(line: str) -> float:
    return min(1.0, max(0.0, (len(line.split()) - LONG) / LONG))


def _sum_faults(line: str) -> float:
    return _count_code(line) + _chores(line) + _praises(line) + _long(line)


def _mean_fault(lines: Sequence[str], fault: Callable[[str], float]) -> float:
    return fmean(map(fault, lines))


def _twice(lines: Sequence[str]) -> int:
    """How often an entry repeats an issue of another one."""
    named = [issue for line in lines for issue in set(ISSUE.findall(line))]
    return len(named) - len(set(named))


def _bare(outputs: Sequence[tuple[str, str]]) -> bool:
    """Whether there are entries, but no headings of the second level."""
    whole = [line for _, text in outputs for line in text.splitlines()]
    entries = sum(bool(ENTRY.match(line)) for line in whole)
    return entries > 1 and not any(line.startswith("## ") for line in whole)


_FAULTS: dict[str, Callable[[str], float]] = {
    "reader_view": _count_code,
    "selection": _chores,
    "faithfulness": _praises,
    "brevity": _long,
    "overall": _sum_faults,
}


OUTPUT = reading.fences("output")
DIMENSION = re.compile(r"^### (?P<name>.+?)(?: \(weight [^)\n]*\))?[ \t]*$", re.MULTILINE)
EXPECTATION = re.compile(r"^\[(?P<id>E[\w.-]*)\] (?P<text>.+)$", re.MULTILINE)
QUOTED = 160
"""Characters of a line that evidence quotes."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What a judge was sent: outputs (name, text), dimensions and expectations by id."""

    outputs: tuple[tuple[str, str], ...]
    dimensions: Mapping[str, str]
    expectations: Mapping[str, str]


def read_sent(request: Mapping[str, Any]) -> Sent:
    """What the request shows to the judge.

    The rubric is in the last text of the user that has one, in lines `### name (weight w)` and
    `[E1] text`; the outputs are in the texts before it.
    """
    texts = reading.message_texts(request)
    # Outputs could have such lines, too; text between their tags is not the rubric.
    bare = (OUTPUT.sub("", text) for text in reversed(texts))
    rubric = next(filter(_is_rubric, bare), "")
    found = list(DIMENSION.finditer(rubric))
    # The text of a dimension ends where the next one begins.
    ends = [*(match.start() for match in found[1:]), len(rubric)]
    outputs = tuple((m["name"], m["text"]) for m in OUTPUT.finditer("\n".join(texts)))
    return Sent(
        outputs,
        {m["name"].strip(): rubric[m.start() : end] for m, end in zip(found, ends, strict=False)},
        {m["id"]: m["text"] for m in EXPECTATION.finditer(rubric)},
    )


def answer_judge(stand_in: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """The judge's answer."""
    seen = read_sent(request)
    features = measure(seen.outputs)
    stated_score = stated_quality("\n".join(text for _, text in seen.outputs))
    judging = reading.mark_of(request, 32)

    def heard(about: str, name: str) -> float:
        """The quality that this judging finds for one dimension or expectation."""
        true = features.quality(about) if stated_score is None else stated_score
        return true + stand_in.judging_sd * normal(stand_in.seed, "judging", judging, name)

    dimensions = [
        {
            "name": name,
            "score": (score := as_score(heard(about, name))),
            "evidence": _quote_line(features, about, good=score > 3),
        }
        for name, about in seen.dimensions.items()
    ]
    expectations = [
        {
            "id": name,
            "passed": (passed := heard(text, name) >= passing_quality(stand_in, text)),
            "evidence": _quote_line(features, text, good=passed),
        }
        for name, text in seen.expectations.items()
    ]
    return {
        "expectations": expectations,
        "dimensions": dimensions,
        "claims": [],
        "user_notes": {"uncertainties": [], "needs_review": [], "workarounds": [OPENLY]},
        "eval_feedback": {"suggestions": [], "overall": OPENLY},
    }


def _is_rubric(text: str) -> bool:
    return bool(DIMENSION.search(text) or EXPECTATION.search(text))


WORK = reading.fences("work")
CRITERION = re.compile(r"^\[(?P<id>[CE]\d+)\] (?P<text>.+)$", re.MULTILINE)
COVERED_QUALITY = re.compile(r"(?:stand-in|\[name \d+\]) quality:\s*(-?\d+(?:\.\d+)?)")
"""A stated quality, even if the stand-in's name is covered as the executor's."""
NOTICED = 0.25
"""Works whose qualities differ by less are equally good."""
PREFERRED = {"first": (4.0, 3.0), "last": (3.0, 4.0), "tie": (3.0, 3.0)}
"""The qualities of A and B if only the position counts."""


def compare(stand_in: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """The comparator's answer, by the setting `prefers`."""
    texts = reading.message_texts(request)
    works = {work["name"]: work["text"] for work in WORK.finditer("".join(texts))}
    seen = {side: _features_of(works.get(side, "")) for side in ("A", "B")}
    mark = reading.mark_of(request, 32)
    qualities = {
        side: _work_quality(stand_in, works.get(side, ""), seen[side], mark, side) for side in seen
    }
    if stand_in.prefers in PREFERRED:
        qualities = dict(zip("AB", PREFERRED[stand_in.prefers], strict=True))
    difference = qualities["A"] - qualities["B"]
    winner = "tie" if abs(difference) < NOTICED else "A" if difference > 0 else "B"
    # If an answer is asked for again, the text added at the end has no such lines.
    last = next((text for text in reversed(texts) if CRITERION.search(text)), "")
    criteria = [(criterion["id"], criterion["text"]) for criterion in CRITERION.finditer(last)]
    return {
        "expectations": [
            {"id": name}
            | {f"evidence_{side.lower()}": _quote_line(seen[side], text) for side in seen}
            | {f"passed_{side.lower()}": qualities[side] >= PASSES_AT for side in seen}
            for name, text in criteria
            if name.startswith("E")
        ],
        "scores": [
            {"id": name}
            | {f"evidence_{side.lower()}": _quote_line(seen[side], text) for side in seen}
            | {f"score_{side.lower()}": as_score(qualities[side]) for side in seen}
            for name, text in criteria
            if name.startswith("C")
        ],
        **{
            f"quality_{side.lower()}": {
                "strengths": [_quote_line(seen[side], "overall")],
                "weaknesses": [],
                "score": max(1, min(10, round(2 * qualities[side]))),
            }
            for side in seen
        },
        "key_differentiators": [] if winner == "tie" else [f"quality, by {abs(difference):.2f}"],
        "reasoning": (
            f"{OPENLY} It finds a quality of {qualities['A']:.2f} in A and of "
            f"{qualities['B']:.2f} in B."
        ),
        "winner": winner,
    }


def _features_of(work: str) -> Features:
    return measure([(output["name"], output["text"]) for output in OUTPUT.finditer(work)])


def _work_quality(stand_in: StandIn, work: str, seen: Features, mark: str, side: str) -> float:
    """The quality of a work: the one it states, else by its features."""
    stated = COVERED_QUALITY.search(work)
    true = float(stated[1]) if stated else seen.quality("")
    if stand_in.prefers == "better":
        return true
    return true + stand_in.judging_sd * normal(stand_in.seed, "comparing", mark, side)


def _quote_line(seen: Features, about: str, *, good: bool = True) -> str:
    """A line that fits a verdict, with its file."""
    found = seen.decisive(about, good=good)
    return f"{found[0]}: “{found[1][:QUOTED]}”" if found else "No output was shown."


SIDE = reading.fences("side")
SKILL = re.compile(r"^<skill file=", re.MULTILINE)
OPENED = re.compile(r"^Calls by which it opened a skill.*: (\d+)$", re.MULTILINE)


def answer_analyst(stand_in: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """The analyst's answer; the same for the same request, whatever the stand-in's settings."""
    del stand_in
    texts = reading.message_texts(request)
    sides = {side["name"]: side["text"] for side in SIDE.finditer("".join(texts))}
    works = {side: sides.get(side, "") for side in ("winner", "loser")}
    seen = {side: _features_of(text) for side, text in works.items()}
    best = _quote_line(seen["winner"], "overall")
    worst = _quote_line(seen["loser"], "overall", good=False)
    whose = "the loser's" if SKILL.search(works["loser"]) else "the winner's"
    return {
        "transcript_insights": {
            f"{side}_execution_pattern": _pattern(text) for side, text in works.items()
        },
        "instruction_following": {
            side: {"issues": [], "score": 2 * as_score(features.quality("overall"))}
            for side, features in seen.items()
        },
        "winner_strengths": [f"{OPENLY} It likes best: {best}"],
        "loser_weaknesses": [f"It likes least: {worst}"],
        "improvement_suggestions": [
            {
                "suggestion": f"Show in {whose} skill what a good line is: {best}",
                "category": "examples",
                "priority": "high",
                "expected_impact": "More lines like that one.",
            },
            {
                "suggestion": f"Say in {whose} skill how to do without lines such as: {worst}",
                "category": "instructions",
                "priority": "medium",
                "expected_impact": "Fewer lines like that one.",
            },
        ],
    }


def _pattern(work: str) -> str:
    opened = OPENED.search(work)
    if opened is None:
        return "no transcript -> outputs"
    return f"{'opened the skill' if int(opened[1]) else 'opened no skill'} -> outputs"


FENCE = reading.fences("suggestions")
WORD = re.compile(r"\w{5,}")
SHARED = 0.5
"""The share of its longer words that the shorter of two texts must share with the other."""


def merge(stand_in: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001 -- as all answerers
    """Lists of the numbers of similar suggestions about the same expectation."""
    fence = FENCE.search(reading.last_user_text(request))
    lines = fence["text"].splitlines() if fence else []
    shown = [row for row in map(json.loads, lines) if isinstance(row, dict)]
    lists: list[list[Mapping[str, Any]]] = []
    for row in shown:
        near = next((many for many in lists if _same(many[0], row)), None)
        if near is None:
            lists.append([row])
        else:
            near.append(row)
    return {"same": [[row["number"] for row in many] for many in lists if len(many) > 1]}


def _same(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if row["expectation"] != other["expectation"]:
        return False
    both = [set(WORD.findall(str(each["reason"]).casefold())) for each in (row, other)]
    fewest = min(map(len, both))
    return fewest > 0 and len(both[0] & both[1]) >= SHARED * fewest


ANSWERERS: dict[Role, Callable[[StandIn, Mapping[str, Any]], Any]] = {
    "analyst": answer_analyst,
    "comparator": compare,
    "drafter": writers.draft,
    "eval_drafter": writers.draft_evals,
    "judge": answer_judge,
    "merger": merge,
    "proposer": writers.propose,
    "query_drafter": writers.draft_queries,
}
"""The functions that answer with JSON, by role; other roles get a minimal answer."""


@dataclass(frozen=True, slots=True)
class ComposedReply:
    """The content of an answer, its stop reason, and its number of tokens."""

    content: list[dict[str, Any]]
    stop_reason: str
    output_tokens: int


def compose(stand_in: StandIn, request: Mapping[str, Any], role: Role) -> ComposedReply:
    """The answer to a valid request."""
    if role == "executor":
        content, stop_reason = agent.act(agent.Situation(stand_in, request))
    else:
        answerer = ANSWERERS.get(role)
        answer = answerer(stand_in, request) if answerer else minimal(reading.schema_of(request))
        text, stop_reason = json.dumps(answer, ensure_ascii=False), "end_turn"
        content = [{"type": "text", "text": text}]
    return limit(content, stop_reason, request["max_tokens"])


def limit(content: list[dict[str, Any]], stop_reason: str, allowed: int) -> ComposedReply:
    """An answer that stops at `max_tokens`, like the API's.

    A tool use that does not fit is left out.
    """
    whole = sum(map(reading.count, content))
    if whole <= allowed:
        return ComposedReply(content, stop_reason, max(1, whole))
    return ComposedReply(_cut(content, allowed), "max_tokens", max(1, allowed))


def _cut(content: list[dict[str, Any]], allowed: int) -> list[dict[str, Any]]:
    """The beginning of the content that fits into the allowed tokens."""
    kept: list[dict[str, Any]] = []
    left = allowed
    for block in content:
        cost = reading.count(block)
        if cost <= left:
            kept.append(block)
            left -= cost
            continue
        room = left * reading.BYTES_A_TOKEN - len('{"type":"text","text":""}')
        if block["type"] == "text" and room > 0:
            text = block["text"].encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
            if text.strip():
                kept.append({**block, "text": text})
        break
    return kept
