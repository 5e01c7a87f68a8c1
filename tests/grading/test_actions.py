"""Checks of what was done: the same verdicts from every form of transcript, each with its step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.grading.actions import is_error
from skill_eval_nb.grading.structural import OF_TRANSCRIPT
from tests.cli.calls import run
from tests.corpus.build import lay
from tests.documents.generated import ANY_JSON
from tests.grading.made import called, checked, said

CALLS = [
    [("Skill", {"skill": "tidy"})],
    [("Read", {"file_path": "a.ts"}), ("Bash", {"command": "npm test"})],
    [("Edit", {"file_path": "a.ts", "new_string": "b"})],
    [("Bash", {"command": "npm test\nnpm run lint"})],
]
"""The calls of each turn; in a fifth the agent says that it is done."""
USAGE = {"input_tokens": 90, "output_tokens": 10}
SPENT = 500
"""Tokens of five answers."""


def stream() -> list[dict[str, Any]]:
    """As Claude Code and our executors write it: an answer's blocks come as events of their own."""
    events: list[dict[str, Any]] = [{"type": "system", "subtype": "init", "skills": ["my:tidy"]}]
    for turn, calls in enumerate(CALLS):
        pairs = [called(name, "done", **given) for name, given in calls]
        for use, _ in pairs:
            use["message"] |= {"id": f"m{turn}", "usage": USAGE}
        events += [event for events_of in zip(*pairs, strict=True) for event in events_of]
    spent = {**USAGE, "input_tokens": SPENT - USAGE["output_tokens"]}
    return [*events, said("Done."), {"type": "result", "subtype": "success", "usage": spent}]


def trajectory() -> dict[str, Any]:
    data = [
        {"toolName": name.lower(), "toolCallId": f"c{turn}{n}", "arguments": given}
        for turn, calls in enumerate(CALLS)
        for n, (name, given) in enumerate(calls)
    ]
    events = [{"type": "tool_call", "data": one} for one in data]
    return {"type": "trial-result", "trajectory": {"events": events, "output": "Done."}}


def lines(events: list[Any]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


STREAM, TRIAL = lines(stream()), json.dumps(trajectory())
FORMS = {"a stream": (STREAM, 5, SPENT), "a trial of Vally": (TRIAL, None, None)}
"""Transcripts, with their turns and tokens; which others are read: documents/test_transcript.py."""

P, F, N = True, False, None
CASES = [
    ("tool_called", {"tool": "Bash"}, P, "step 2: Bash `npm test` and step 4: Bash `npm test npm"),
    ("tool_called", {"tool": "bash", "count": 2}, P, "step 2: Bash"),
    ("tool_called", {"tool": "Bash", "count": 3}, F, "; 2 calls of 3"),
    ("tool_called", {"tool": "{read,view}"}, P, "step 2: Read `{"),
    ("tool_called", {"tool": "*it", "match": "b.ts"}, F, "No call of *it with 'b.ts' in "),
    ("tool_called", {"tool": "mcp__*"}, F, "(Bash 2, Skill 1, Read 1, Edit 1)"),
    ("tool_called", {"match": "a.ts"}, P, "step 3: Edit"),
    ("tool_called", {}, N, "nothing says what to look for"),
    ("tool_called", {"tool": "Bash", "count": 0}, N, "`count` is the least number of calls"),
    ("tool_called", {"tool": "../x"}, N, "Not scored: `tool`: "),
    ("tool_not_called", {"tool": "WebSearch"}, P, "No call of WebSearch in t.jsonl (Bash 2"),
    ("tool_not_called", {"tool": "BASH"}, F, "step 2: Bash `npm test`"),
    ("tool_not_called", {"tool": "Bash", "match_regex": r"\brm\b"}, P, "No call of Bash with /"),
    ("tool_not_called", {"tool": "Bash", "count": 3}, P, "; 2 calls of 3"),
    ("tool_not_called", {"match_regex": "("}, N, "Not scored: `match_regex`: "),
    ("tools_in_order", {"tools": ["Read", "Edit", "Bash"]}, P, "step 2: Read"),
    ("tools_in_order", {"tools": ["Edit", "Read"]}, F, "No call of Read after step 3: Edit"),
    ("tools_in_order", {"tools": ["Bash"] * 3}, F, "after step 4: Bash"),
    ("tools_in_order", {"tools": []}, N, "no `tools` say"),
    ("command_matches", {"match": "npm run lint"}, P, "step 4: Bash `npm test npm run lint`"),
    ("command_matches", {"match_regex": "^npm test$"}, P, "step 2: Bash"),
    ("command_matches", {"match_regex": "(a|a)*c"}, F, "No call with /(a|a)*c/ in "),
    ("command_matches", {"match": "a.ts"}, F, "No call with 'a.ts'"),
    ("command_matches", {}, N, "nothing says what to look for"),
    ("skill_opened", {"skill": "tidy"}, P, "step 1: Skill `{"),
    ("skill_opened", {}, P, "step 1: Skill"),
]


def found(folder: Any, text: str, kind: str, **fields: Any) -> tuple[bool | None, str]:
    path = folder / fields.pop("name", "t.jsonl")
    path.write_text(text)
    one = checked(folder, kind, transcript=path, **fields)
    return one.passed, one.evidence or ""


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_verdicts(form: str, tmp_path: Any) -> None:
    text, turns, tokens = FORMS[form]
    for kind, fields, passed, evidence in CASES:
        mark, said = found(tmp_path, text, kind, **fields)
        assert mark is passed, (kind, fields, said)
        # A trial does not say which calls were one answer.
        assert form != "a stream" or evidence in said, (kind, fields, said)
    for kind, number in (("max_turns", turns), ("max_tokens", tokens)):
        for most in (number or 0, (number or 1) - 1):
            mark, said = found(tmp_path, text, kind, count=most)
            expected = None if number is None else number <= most
            assert mark is expected, (kind, said)
            assert number is None or f"{number} {kind[4:]} in t.jsonl; wanted at most" in said
        assert found(tmp_path, text, kind)[0] is None


SKILL_MD = "---\nname: tidy\ndescription: Tidies.\n---\n"


def call(name: str, result: str | None, **more: Any) -> str:
    """A transcript of one call, and of what it gave."""
    return lines(called(name, result, **more))


OFFERED = lines([{"type": "system", "subtype": "init", "skills": []}])
PATH = "/skills/tidy/SKILL.md"
SKILLS = {
    "its file was read": (call("Read", SKILL_MD, file_path=PATH), True),
    "in the shell": (call("Bash", f"{SKILL_MD}# Tidy", command=f"cat {PATH}"), True),
    "only found": (call("Glob", PATH, pattern="**/tidy/SKILL.md"), None),
    "what it gave is not known": (call("Read", None, file_path=PATH), None),
    "another one": (
        call("Read", SKILL_MD.replace("tidy", "tidy-up"), file_path="x/SKILL.md"),
        False,
    ),
    "it could not be opened": (call("Skill", "no such skill", failed=True, skill="tidy"), False),
    "none was on offer": (OFFERED + call("Bash", "a", command="ls"), None),
}


@pytest.mark.parametrize("case", SKILLS)
def test_a_skill_is_opened_where_it_is_shown(case: str, tmp_path: Any) -> None:
    text, passed = SKILLS[case]
    assert found(tmp_path, text, "skill_opened", skill="tidy")[0] is passed


ABSENT = [
    ("tool_called", {"tool": "X"}),
    ("tool_not_called", {"tool": "X"}),
    ("command_matches", {"match": "X"}),
    ("tools_in_order", {"tools": ["Bash", "X"]}),
    ("skill_opened", {"skill": "x"}),
    ("max_turns", {"count": 99}),
]
GAPS = {
    "a line is cut off": call("Bash", "a", command="ls") + '{"type": "assis',
    "calls in a form that is not known": call("Bash", "a", command="ls")
    + lines([{"type": "function_call", "name": "X"}]),
    "nobody's form": lines([{"role": "model", "parts": [{"functionCall": {"name": "X"}}]}]),
    "plain text": "# Transcript\n\n1. Ran X.\n",
    "nothing": " ",
}


@pytest.mark.parametrize("gap", GAPS)
def test_what_may_have_happened_is_not_scored(gap: str, tmp_path: Any) -> None:
    for kind, fields in ABSENT:
        mark, said = found(tmp_path, GAPS[gap], kind, **fields)
        assert mark is None, (kind, said)
        assert "t.jsonl" in said
        assert checked(tmp_path, kind, transcript=None, **fields).passed is None


FIELDS: dict[str, Any] = {
    "tool": "{a,b,*}*",
    "tools": ["*", "B?sh"],
    "skill": "(",
    "match_regex": "(?i)x*",
    "count": 1,
}
KINDS = st.sampled_from(sorted(OF_TRANSCRIPT))


@given(st.lists(ANY_JSON, max_size=3), ANY_JSON, KINDS, st.sets(st.sampled_from(sorted(FIELDS))))
def test_hostile_transcripts_are_never_passed_without_evidence(
    tmp_path_factory: Any, others: list[Any], odd: Any, kind: str, asked: set[str]
) -> None:
    fields = {name: FIELDS[name] for name in asked}
    block = {"type": "tool_use", "id": odd, "name": odd, "input": odd}
    shapes = [
        {"role": "assistant", "content": odd, "usage": odd, "tool_calls": odd},
        {"role": "assistant", "content": [block, odd], "tool_calls": [{"function": odd}]},
        {"role": "tool", "tool_call_id": odd, "content": odd, "error": odd},
        {"type": "tool_call", "data": odd},
        {"type": "system", "skills": odd},
        {"type": "result", "usage": odd},
    ]
    folder = tmp_path_factory.mktemp("t")
    for text in (lines([*shapes, *others]), lines(shapes), json.dumps({"trajectory": odd})):
        mark, said = found(folder, text, kind, **fields)
        assert "please report" not in said
        assert (mark is None) == said.startswith("Not scored: "), said
        if mark and kind in ("tool_called", "command_matches", "tools_in_order", "skill_opened"):
            assert said.startswith("step "), said


RUN = "iteration-1/eval-1-it/with_skill/run-1"


def test_a_stored_run_of_somebody_s_is_graded_by_its_transcript(tmp_path: Any) -> None:
    checks = [
        {"id": "S1", "type": "command_matches", "match": "npm test", "critical": True},
        {"id": "S2", "type": "tool_not_called", "tool": "bash"},
        {"id": "S3", "type": "max_turns", "count": 5},
    ]
    evals = {"evals": [{"id": 1, "prompt": "Go", "structural_expectations": checks}]}
    files = {"evals.json": evals, f"{RUN}/transcript.jsonl": STREAM}
    lay(tmp_path, {**files, f"{RUN}/timing.json": {"duration_ms": 1}})
    assert run("grade", tmp_path, "--layer", "structural").exit_code == 0
    structural = json.loads((tmp_path / RUN / "structural.json").read_text())
    assert [one["passed"] for one in structural["expectations"]] == [True, False, True]
    assert structural["gate_passed"] is True


# ── errors ─────────────────────────────────────────────────────────────────────────────────────

ERRORS = r"""
3. Error: Cannot find module './clock'
Traceback (most recent call last):
ValueError: invalid literal for int()
Uncaught TypeError: x is undefined
E   AssertionError: assert 1 == 2
error[E0308]: mismatched types
src/main.c:10:5: error: expected ';'
app.ts(3,5): error TS2304: Cannot find name 'x'.
npm ERR! code ELIFECYCLE
bash: line 1: foo: command not found
cat: nope.txt: No such file or directory
Exit code 1
Command 'x y' returned non-zero exit status 1.
[ERROR] the build failed
- **Error:** the file is missing
thread 'main' panicked at src/main.rs:2:5:
panic: runtime error: index out of range
Segmentation fault (core dumped)
API Error: 529 overloaded
<tool_use_error>File has not been read yet</tool_use_error>
"is_error": true,
E: Unable to locate package foo
""".strip().split("\n")

PROSE = r"""
0 errors
## Errors
Error: none
error: null,
"error": null
error: string;
error: "not found",
error: {
  error: Error | null;
the error message says so
The script prints "Error: no such user" for unknown names.
except ValueError:
ValueError: if the list is empty
- TypeError: when x is no number
Exit code 0
The script exits with code 1 if it fails
Exit code 1 means failure
I fixed the TypeError: it came from x
"is_error": false
Error messages: friendly ones
""".strip().split("\n")


def test_an_error_message_is_an_error_and_the_word_in_prose_or_code_is_none() -> None:
    assert [line for line in ERRORS if not is_error(line)] == []
    assert [line for line in ERRORS if not is_error(f"\x1b[31m{line}\x1b[0m")] == []
    assert [line for line in PROSE if is_error(line)] == []


def session(*, is_wrong: bool) -> list[dict[str, Any]]:
    """One of which a call failed or not; its prose speaks of errors either way."""
    prose = "I saw this:\nError: boom\nTraceback (most recent call last):\nso I fixed it."
    result = "Exit code 1\nboom: No such file or directory"
    use, done = called("Bash", result, failed=is_wrong, command="boom")
    use["message"]["content"].insert(0, {"type": "text", "text": prose})
    end = {"type": "result", "subtype": "success", "is_error": False, "result": prose}
    return [{"type": "system", "subtype": "init"}, use, done, end]


DEEP: dict[str, Any] = {"content": None}
for _ in range(300):
    DEEP = {"content": [DEEP]}


@pytest.mark.parametrize(
    ("name", "text", "passed", "says"),
    [
        ("t.md", "\n".join(PROSE), True, f"No error in t.md ({len(PROSE)} lines)"),
        (
            "t.txt",
            "\n".join(PROSE).replace("## Errors", "Error: boom"),
            False,
            "t.txt:2: Error: boom",
        ),
        ("t.md", " \n", None, ""),
        ("t.json", "[" * 100_000, True, ""),
        ("t.jsonl", lines([{"type": "tool_result", "is_error": True, **DEEP}]), False, ""),
        # A transcript of messages says itself which call failed.
        *(
            ("t.jsonl", lines(session(is_wrong=one)), not one, "t.jsonl:3: Bash failed: Exit code")
            for one in (True, False)
        ),
        (
            "t.json",
            json.dumps([one["message"] for one in session(is_wrong=True)[1:3]]),
            False,
            "t.json:message 2: Bash failed: Exit code 1",
        ),
        # A run may end badly.
        *(
            ("t.jsonl", lines([*session(is_wrong=False)[:3], end]), False, "t.jsonl:4: ")
            for end in (
                {"type": "result", "subtype": "error_max_turns", "is_error": False},
                {"type": "result", "subtype": "success", "is_error": True, "result": "API Error"},
                {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            )
        ),
    ],
)
def test_the_errors_of_a_transcript(tmp_path: Path, name, text, passed, says) -> None:
    mark, said = found(tmp_path, text, "no_errors", name=name)
    assert mark is passed
    assert said.startswith(says if mark is False or "lines)" in says else "No")


def test_without_a_transcript_nothing_is_scored_and_long_lines_do_not_hang(tmp_path: Path) -> None:
    for path in (None, tmp_path / "transcript.md", tmp_path):
        assert checked(tmp_path, "no_errors", transcript=path).passed is None
    for line in ("a: " * 300_000, "1" * 10**6, "Error" + ": " * 10**6, "sh: " + "x: " * 10**5):
        found(tmp_path, line + "\nfine", "no_errors", name="t.md")
