"""`no_errors`: every form of transcript, and the word "error" in prose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skill_eval_nb.documents import StructuralExpectation
from skill_eval_nb.grading.structural import check
from skill_eval_nb.grading.structural.actions import is_error

ERRORS = r"""
3. Error: Cannot find module './clock'
Traceback (most recent call last):
ValueError: invalid literal for int()
TypeError: x is not a function
Uncaught TypeError: x is undefined
E   AssertionError: assert 1 == 2
java.lang.NullPointerException: Cannot invoke
error[E0308]: mismatched types
src/main.c:10:5: error: expected ';'
app.ts(3,5): error TS2304: Cannot find name 'x'.
npm ERR! code ELIFECYCLE
npm error code ENOENT
bash: line 1: foo: command not found
cat: nope.txt: No such file or directory
ls: cannot access 'x': No such file or directory
Exit code 1
Process exited with code 2
Command 'x y' returned non-zero exit status 1.
[ERROR] the build failed
ERROR: boom
- **Error:** the file is missing
thread 'main' panicked at src/main.rs:2:5:
panic: runtime error: index out of range
Segmentation fault (core dumped)
fatal: not a git repository (or any of the parent directories): .git
API Error: 529 overloaded
<tool_use_error>File has not been read yet</tool_use_error>
"is_error": true,
E: Unable to locate package foo
Error: ENOENT: no such file or directory, open 'x'
""".strip().split("\n")

PROSE = r"""
0 errors
0 errors, 0 warnings
No errors found.
error handling
## Errors
Errors: 0
errors: none
Error: none
Error: None.
error: null,
"error": null
error: 0
error: string;
error: "not found",
error: {
  error: Error | null;
the error message says so
The script prints "Error: no such user" for unknown names.
console.error('x')
} catch (error) {
throw new Error('x');
raise ValueError("x")
except ValueError:
except ValueError as error:
class MyError(Exception):
stderr:
ValueError: if the list is empty
- TypeError: when x is no number
| Error | Meaning |
Exit code 0
The script exits with code 1 if it fails
Exit code 1 means failure
I fixed the TypeError: it came from x
ERROR HANDLING
5. Ran the tests: all green.
"is_error": false
ValueError
Error messages: friendly ones
""".strip().split("\n")


def test_an_error_message_is_an_error_and_the_word_in_prose_or_code_is_none():
    assert [line for line in ERRORS if not is_error(line)] == []
    assert [line for line in ERRORS if not is_error(f"\x1b[31m{line}\x1b[0m")] == []
    assert [line for line in PROSE if is_error(line)] == []


def no_errors(path):
    return check([StructuralExpectation("no_errors")], Path("none"), path).expectations[0]


def told(folder, name, text):
    path = folder / name
    path.write_text(text)
    return no_errors(path)


def test_plain_text(tmp_path):
    good = "\n".join(PROSE)
    verdict = told(tmp_path, "transcript.md", good)
    assert (verdict.passed, verdict.evidence) == (
        True,
        f"No error in transcript.md ({len(PROSE)} lines)",
    )
    verdict = told(tmp_path, "transcript.txt", good.replace("## Errors", "Error: boom"))
    assert (verdict.passed, verdict.evidence) == (False, "transcript.txt:5: Error: boom")


def events(*, is_error: bool):
    """A session of which a call failed or not; its prose speaks of errors either way."""
    prose = "I saw this:\nError: boom\nTraceback (most recent call last):\nso I fixed it."
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "boom"}}
    done = {"type": "tool_result", "tool_use_id": "t1", "is_error": is_error}
    done["content"] = "Exit code 1\nboom: No such file or directory"
    said = {"role": "assistant", "content": [{"type": "text", "text": prose}, call]}
    return [
        {"type": "system", "subtype": "init"},
        {"type": "assistant", "message": said},
        {"type": "user", "message": {"role": "user", "content": [done]}},
        {"type": "result", "subtype": "success", "is_error": False, "result": prose},
    ]


def as_lines(events):
    return "\n".join(map(json.dumps, events)) + "\n"


@pytest.mark.parametrize("is_wrong", [True, False])
def test_a_transcript_of_messages_says_itself_which_call_failed(tmp_path, is_wrong):
    own = events(is_error=is_wrong)
    messages = [one["message"] for one in own if "message" in one]
    for name, text, place in (
        ("t.jsonl", as_lines(own), "3"),
        ("t.json", json.dumps(messages, indent=2), "message 2"),
        ("t.json", json.dumps({"messages": messages}), "message 2"),
    ):
        verdict = told(tmp_path, name, text)
        assert verdict.passed is not is_wrong
        begin = f"{name}:{place}: Bash failed: Exit code 1" if is_wrong else f"No error in {name} ("
        assert verdict.evidence.startswith(begin)


@pytest.mark.parametrize(
    "end",
    [
        {"type": "result", "subtype": "error_max_turns", "is_error": False},
        {"type": "result", "subtype": "success", "is_error": True, "result": "API Error: 400"},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ],
)
def test_a_run_that_ended_badly(tmp_path, end):
    verdict = told(tmp_path, "t.jsonl", as_lines([*events(is_error=False)[:3], end]))
    assert verdict.passed is False
    assert verdict.evidence.startswith("t.jsonl:4: ")


def test_without_a_transcript_nothing_is_scored(tmp_path):
    assert no_errors(None).passed is None
    assert no_errors(tmp_path / "transcript.md").passed is None
    assert told(tmp_path, "transcript.md", " \n").passed is None
    (tmp_path / "folder").mkdir()
    assert no_errors(tmp_path / "folder").passed is None


def test_hostile_transcripts_neither_hang_nor_raise(tmp_path):
    deep = "[" * 100_000
    assert told(tmp_path, "t.json", deep).passed is True
    for line in ("a: " * 300_000, "1" * 10**6, "Error" + ": " * 10**6, "sh: " + "x: " * 10**5):
        told(tmp_path, "t.md", line + "\nfine")
    nested = {"content": None}
    for _ in range(300):
        nested = {"content": [nested]}
    event = {"type": "tool_result", "is_error": True, **nested}
    assert told(tmp_path, "t.jsonl", json.dumps(event)).passed is False
