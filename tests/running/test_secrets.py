"""Whatever a server says of the key that it was sent, no file keeps it and nobody is shown it."""

from __future__ import annotations

import base64
import json
import traceback
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.models import Connection
from skill_eval_nb.running.pool import JobFailed
from skill_eval_nb.running.protocol import Limits
from tests.models.scripted import Answer, Scripted, Seen
from tests.running.made_jobs import Writer, job_plan
from tests.running.needs_harness import needs_harness

KEY = "sk-PLANTED-0123456789/abcdefghij+klmnop"
USER, PASSWORD = "PLANTED-USER", "PLANTED-PASSWORD"
PAIR = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


def echo(seen: Seen, status: int, page: bool) -> Answer:
    """A gateway that repeats what it was sent, at the place where messages are cut too."""
    before = "x" * (160 if status == 200 else 270)
    said = f"{before} {seen.headers['authorization']} of {dict(seen.headers)}"
    body = json.dumps({"error": {"type": "authentication_error", "message": said}})
    if page:
        body = f"<html><p>{said}</p><p>http://{USER}:{PASSWORD}@host/</p></html>"
    return Answer(status, body.encode(), {"request-id": seen.headers["authorization"]})


def left_by(root: Path, url: str, **options) -> tuple[str, list[str]]:
    """What a job writes and shows, and where a secret is in it."""
    given = {"evals_only": ["No log"], "configurations": ["with_skill"], **options}
    plan = job_plan(root, connection=Connection(url), **given)
    job, failed = plan.start(), ""
    try:
        job.wait(120)
    except JobFailed as fault:
        failed = "".join(traceback.format_exception(fault))
    progress, ws = job.progress, sen.load(root / "ws")
    shown = [failed, plan._repr_html_(), str(progress), str(ws.polars("runs").to_dicts())]
    shown += map(repr, (plan, plan.connection, job, progress, ws.problems, ws))
    texts = dict(enumerate(shown))
    texts |= {file: file.read_text(errors="replace") for file in root.rglob("*") if file.is_file()}
    secrets = (KEY[:14], KEY[-14:], PASSWORD, PAIR)
    leaks = [f"{at}: {one}" for at, text in texts.items() for one in secrets if one in text]
    return "\n".join(texts.values()), leaks


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


WAYS = {
    "executor": {"executor": "messages-api", "limits": Limits(seconds=4.0)},
    "harness": {"executor": "claude-code", "limits": Limits(seconds=30.0)},
    "judge": {"executor": Writer(), "judge_model": "judge"},
    "batch": {"executor": Writer(), "judge_model": "judge", "judge_batch": True},
}


@pytest.mark.parametrize(
    ("way", "status", "user", "page"),
    [
        ("executor", 400, "", True),
        ("executor", 403, f"{USER}:{PASSWORD}@", False),
        ("executor", 200, "", True),
        ("executor", None, f"{USER}:{PASSWORD}@", False),
        ("harness", 400, f"{USER}:{PASSWORD}@", True),
        ("harness", None, f"{USER}:{PASSWORD}@", False),
        ("judge", 401, "", False),
        ("batch", 400, "", False),
    ],
)
def test_a_gateway_that_repeats_the_key_or_is_not_there_is_not_quoted(
    tmp_path, way, status, user, page
):
    if way == "harness":
        needs_harness()
    with Scripted(lambda seen: echo(seen, status, page)) as server:
        url = server.base_url if status else "http://127.0.0.1:9"
        text, leaks = left_by(tmp_path, url.replace("//", f"//{user}"), **WAYS[way])
    assert bool(server.seen) is (status is not None)
    assert not leaks
    assert ("[hidden]" if status else "reached") in text
