"""The real harness, started for real, with no network: against the stand-in, or a script."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import socket
import struct
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.models import BudgetSpent, Connection, StandIn, Tally, Usage
from skill_eval_nb.models.stand_in import Fault
from skill_eval_nb.running.executors.claude_code import ClaudeCode
from skill_eval_nb.running.executors.harness import TOOLS
from skill_eval_nb.running.protocol import Execution, Task
from tests.checkout import ROOT
from tests.running.executors.claude_code.scripted import say, scripted, skill, task, use

pytestmark = pytest.mark.skipif(
    ClaudeCode().why_not("bubblewrap") is not None,
    reason=f"left out: {ClaudeCode().why_not('bubblewrap')}",
)

DEMO = ROOT / "data" / "release-notes"
HEAD, DOTS = struct.pack(">IIBBBBB", 9, 9, 8, 2, 0, 0, 0), zlib.compress(bytes(9 * 28))
PNG = b"\x89PNG\r\n\x1a\n" + b"".join(
    struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    for kind, data in ((b"IHDR", HEAD), (b"IDAT", DOTS), (b"IEND", b""))
)
PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj
trailer<</Size 4/Root 1 0 R>>
%%EOF"""
NAME, DESCRIPTION, BODY, FILE = "zebrafinch", "CANARY-LIST", "CANARY-BODY", "CANARY-FILE"


def run(one: Task, meter: Tally | None = None) -> Execution:
    """Execute a task as the driver does: in the loop of a thread that is not the first."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, ClaudeCode().execute(one, meter or Tally())).result()


def requests(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def processes(one: Task) -> list[str]:
    """Command lines of processes that run for a task: its model is in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            found_around = one.model.encode() in (folder / "environ").read_bytes()
        except OSError:
            continue
        if command and found_around:
            found.append(command.replace(b"\0", b" ").decode())
    return found


def gone(one: Task) -> bool:
    """Whether nothing runs for a task any more, soon."""
    until = time.monotonic() + 20
    while processes(one):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def results(execution: Execution) -> str:
    """What the agent's tools gave, one after the other."""
    blocks = [
        block
        for event in execution.events
        if event["type"] == "user"
        for block in event["message"]["content"]
        if block["type"] == "tool_result"
    ]
    return "\n".join(str(block["content"]) for block in blocks)


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> dict[str, Any]:
    """The demo skill with canaries in it: one run with it, one without, at the same time."""
    root = tmp_path_factory.mktemp("both")
    shutil.copytree(DEMO, root / "skill", ignore=shutil.ignore_patterns("evals"))
    text = (root / "skill" / "SKILL.md").read_text()
    text = text.replace("name: release-notes", f"name: {NAME}")
    text = text.replace("description: Turns", f"description: {DESCRIPTION} Turns")
    (root / "skill" / "SKILL.md").write_text(f"{text}\n{BODY}\n")
    (root / "skill" / "more.md").write_text(FILE)
    offered = skill(root, NAME, "", "")
    shutil.rmtree(offered.folder)
    shutil.copytree(root / "skill", offered.folder)
    given = {}
    for side, one in (("with", offered), ("without", None)):
        log = root / f"{side}.jsonl"
        connection = Connection(stand_in=StandIn(log=str(log)))
        made = task(root / side, connection, skill=one, model="stand-in")
        shutil.copy(DEMO / "evals" / "files" / "mixed.txt", made.folder)
        given[side] = made, log

    async def at_once() -> list[Execution]:
        runs = (ClaudeCode().execute(one, Tally()) for one, _ in given.values())
        return await asyncio.gather(*runs)

    executions = asyncio.run(at_once())
    return {
        side: (execution, one, requests(log))
        for (side, (one, log)), execution in zip(given.items(), executions, strict=True)
    }


@pytest.mark.slow
def test_both_sides_do_their_work(both):
    for execution, one, log in both.values():
        assert (execution.status, execution.reason) == ("done", None)
        assert "(#311)" in (one.folder / "RELEASE_NOTES.md").read_text()
        assert (one.folder / "mixed.txt").stat().st_uid == os.geteuid()
        assert execution.usage.calls == len(log)
        assert execution.cost_usd == 0.0
        assert "stand-in" in execution.final_text


def test_skill_used_is_true_exactly_where_it_was_opened(both):
    assert both["with"][0].skill_used is True
    assert both["without"][0].skill_used is None


def test_the_baseline_knows_nothing_of_the_skill(both):
    told = json.dumps(both["with"][2])
    assert all(canary in told for canary in (NAME, DESCRIPTION, BODY))
    baseline = json.dumps(both["without"][2])
    assert not any(canary in baseline for canary in (NAME, DESCRIPTION, BODY, FILE))


def test_both_sides_have_the_same_tools_and_limits(both):
    with_it, without = (both[side][2][0]["body"] for side in ("with", "without"))
    for name in ("tools", "max_tokens", "thinking"):
        assert with_it.get(name) == without.get(name)
    for execution, _, _ in both.values():
        assert set(execution.events[0]["tools"]) == set(TOOLS)


def test_the_system_prompt_differs_by_nothing_but_how_skills_are_invoked(both):
    with_it, without = (
        "\n".join(block["text"] for block in both[side][2][0]["body"]["system"]).splitlines()
        for side in ("with", "without")
    )
    assert set(without) <= set(with_it)
    more = set(with_it) - set(without)
    assert len(more) <= 2
    assert "invoke it via Skill" in "".join(more)


def test_the_sandbox_keeps_the_agent_in(tmp_path, monkeypatch):
    secret, host = "sk-ant-SECRET-OF-THE-HOST", tmp_path / "diary.txt"
    host.write_text("DIARY-OF-THE-USER")
    monkeypatch.setenv("ANTHROPIC_API_KEY", secret)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", secret)
    with scripted() as other, socket.create_server(("127.0.0.1", 0)) as plain:
        get = "import urllib.request as u; print('RE' + 'ACHED', u.urlopen('http://%s', timeout=9))"
        here = f"127.0.0.1:{other.port}", f"127.0.0.1:{plain.getsockname()[1]}", "192.0.2.1"
        tries = "".join(
            f'python3 -c "{get % place}" 2>&1 | tail -1\n'
            for place in (*here, "127.0.0.1:8080/other")
        )
        script = f"""
            cat /etc/shadow; cat {host}; ls -a /root/.ssh {Path.home()}/.claude
            echo "key=$ANTHROPIC_API_KEY$ANTHROPIC_AUTH_TOKEN"
            cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'
            {tries}
            sleep 600 & echo kept in > inside.txt; echo end
        """
        with scripted(use("Bash", command=script), say("done")) as server:
            one = task(tmp_path / "run", Connection(f"http://127.0.0.1:{server.port}"))
            execution = run(one)
        assert execution.reason is None
        said = results(execution)
        assert said.rstrip().endswith("end")
        assert (one.folder / "inside.txt").read_text() == "kept in\n"
        assert "REACHED" not in said
        assert not other.seen
        assert "root:" not in said
        assert "DIARY" not in said
        assert secret not in said
        assert str(tmp_path / "run") not in said  # nor where on the host it is
        assert said.count("unreachable") + said.count("refused") >= 3
        assert "404" in said
        # The key was there all the same, where the relay added it.
        assert all(secret in json.dumps(headers) for _, headers, _ in server.seen)
    assert [event["content"] for event in execution.events[-2:]] == [
        "Not passed on to the model: GET /other.",
        "1 process it left behind was ended.",
    ]
    assert gone(one)


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-haiku-4-5"])
def test_whatever_the_harness_itself_sends_goes_on(tmp_path, model):
    """What models think, pictures, papers, and files that are counted before they are shown."""
    steps = [use("Read", file_path=f"/box/{name}") for name in ("a.png", "b.pdf", "c.txt", "none")]
    more = use("Skill", skill=NAME), use("Bash", command="exit 3"), use("Nope", x={"y": [None]})
    with scripted(*steps, *more, say("done")) as server:
        connection = Connection(f"http://127.0.0.1:{server.port}")
        found = skill(tmp_path / "s", NAME, "Sings", BODY)
        one = task(tmp_path / "run", connection, model=model, skill=found)
        (one.folder / "a.png").write_bytes(PNG)
        (one.folder / "b.pdf").write_bytes(PDF)
        (one.folder / "c.txt").write_text(f"{'lorem ipsum ' * 1000}\n" * 20)
        execution = run(one)
    assert (execution.status, execution.reason) == ("done", None)
    assert "turned_away" not in {event.get("subtype") for event in execution.events}
    last = json.dumps(server.seen[-1][2]["messages"])
    for sent in ("image/png", "application/pdf", '"signature"', "tool_use_error"):
        assert sent in last
    assert {path for path, _, _ in server.seen} == {
        "/v1/messages?beta=true",
        "/v1/messages/count_tokens?beta=true",
    }


def test_the_agents_own_calls_get_no_further_than_the_harnesss(tmp_path):
    tools = [{"type": "web_search_20250305", "name": "web_search"}]
    body = {"model": "MODEL", "max_tokens": 9, "messages": [], "tools": tools}
    ask = (
        "import sys, urllib.request as u, urllib.error as e\n"
        "it = u.Request('http://127.0.0.1:8080/v1/messages', sys.argv[1].encode())\n"
        "try: print(u.urlopen(it))\n"
        "except e.HTTPError as f: print(f.read().decode())\n"
    )
    tally = Tally()
    with scripted() as server:
        one = task(tmp_path / "run", Connection(f"http://127.0.0.1:{server.port}"))
        said = json.dumps(body).replace("MODEL", one.model)
        command = f"{shlex.join(['python3', '-c', ask, said])}; echo end"
        server.steps = [use("Bash", command=command), say("done")]
        execution = run(one, tally)
    assert execution.reason is None
    assert "invalid_request_error" in results(execution)
    assert len(server.seen) == execution.usage.calls == tally.calls == 2
    assert not any(body.get("tools") == tools for _, _, body in server.seen)
    assert execution.events[-1]["content"] == (
        "Not passed on to the model: a call like this one: Invalid enum value "
        "'web_search_20250305' - at `$.tools[0].type`."
    )


class Cap(Tally):
    """A meter with room for the first call at its worst, and for little more."""

    most = 0

    def reserve(self, model, worst: Usage, *, batch=False):
        self.most = self.most or worst.total + 1000
        if (self.usage + self.assumed + self.open + worst).total > self.most:
            raise BudgetSpent("The budget is spent.")
        return super().reserve(model, worst, batch=batch)


def test_at_the_ceiling_the_run_ends_and_the_ceiling_holds(tmp_path):
    cap = Cap()
    with scripted(*[use("Bash", command="true")] * 30) as server:
        one = task(tmp_path / "run", Connection(f"http://127.0.0.1:{server.port}"))
        execution = run(one, cap)
    assert (execution.status, execution.reason) == ("errored", "The budget is spent.")
    assert 0 < len(server.seen) == cap.calls < 30
    assert execution.usage == cap.usage == sum([Usage(100, 20, calls=1)] * cap.calls, Usage())
    assert cap.usage.total <= cap.most
    assert cap.assumed == cap.open == Usage()
    assert gone(one)


def test_a_silent_model_ends_the_run_at_its_limit(tmp_path):
    stand_in = StandIn(faults=(Fault("silence"),))
    tally = Tally()
    one = task(tmp_path / "run", Connection(stand_in=stand_in), limits={"seconds": 5.0})
    execution = run(one, tally)
    assert execution.status == "errored"
    assert execution.reason == "The run had not finished after 5 seconds, its limit."
    assert tally.calls == tally.assumed.calls <= 1  # one that was begun may be billed
    assert tally.open == execution.usage == Usage()
    assert gone(one)


def test_cancelled_it_leaves_nothing_running(tmp_path):
    one = task(tmp_path / "run", Connection(stand_in=StandIn(faults=(Fault("silence"),))))

    class Asked(Tally):
        def reserve(self, model, worst, *, batch=False):
            asked.set()
            return super().reserve(model, worst, batch=batch)

    asked, tally = asyncio.Event(), Asked()

    async def cancel() -> None:
        running = asyncio.create_task(ClaudeCode().execute(one, tally))
        await asked.wait()
        assert any("/opt/harness/claude" in command for command in processes(one))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(asyncio.wait_for(cancel(), 60))
    assert tally.open == Usage()
    assert tally.assumed.calls == 1
    assert gone(one)


def test_without_a_sandbox_no_key_is_seen_and_nothing_is_left(tmp_path, monkeypatch):
    secret = "sk-ant-SECRET-OF-THE-HOST"
    monkeypatch.setenv("ANTHROPIC_API_KEY", secret)
    (tmp_path / "CLAUDE.md").write_text("MEMORY-OF-THE-USER")
    script = "env; pwd; (setsid sleep 600 > /dev/null 2>&1 &); echo end"
    with scripted(use("Bash", command=script), say("done")) as server:
        connection = Connection(f"http://127.0.0.1:{server.port}")
        one = task(tmp_path / "run", connection, sandbox="none")
        execution = run(one)
    assert execution.reason is None
    assert results(execution).rstrip().endswith("end")
    assert str(one.folder) in results(execution)
    assert secret not in results(execution)
    assert not any("MEMORY-OF-THE-USER" in json.dumps(body) for _, _, body in server.seen)
    assert gone(one)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("unauthorized_401", "refused the key with 401"),
        ("refusal", "The model refused"),
    ],
)
def test_what_the_model_will_not_do_is_the_reason(tmp_path, kind, told):
    stand_in = StandIn(faults=(Fault(kind),))
    execution = run(task(tmp_path / "run", Connection(stand_in=stand_in)))
    assert execution.status == "errored"
    assert told in (execution.reason or "")


def test_among_other_skills_it_ends_once_the_skill_was_opened(tmp_path):
    found = skill(tmp_path / "s", NAME, "Sings", f"{BODY}: sing to the end")
    other = skill(tmp_path / "o", "abacus", "Counts", "Count to the end")
    steps = (use("Bash", command="ls"), use("Skill", skill="abacus"), use("Skill", skill=NAME))
    with scripted(*steps, say("Done.")) as server:
        connection = Connection(f"http://127.0.0.1:{server.port}")
        one = task(tmp_path / "r", connection, skill=found, others=(other,), until_opened=True)
        execution = run(one)
        turns = [body for path, _, body in server.seen if body and "messages" in body]
    assert (execution.status, execution.reason, execution.skill_used) == ("done", None, True)
    assert {"abacus", NAME} <= set(execution.events[0]["skills"])
    assert "Launching skill: abacus" in results(execution)  # which was not enough
    assert max(sum(m["role"] == "assistant" for m in body["messages"]) for body in turns) <= 3
    assert gone(one)
