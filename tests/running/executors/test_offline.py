"""The offline executor: another one, with the stand-in in the model's place."""

import asyncio

import pytest

from skill_eval_nb.models import Connection, StandIn, Tally
from skill_eval_nb.running.executors.offline import Offline
from tests.bubblewrap import needed
from tests.running.executors.made_tasks import task
from tests.running.needs_harness import needs_harness


@needed
@pytest.mark.parametrize("through", ["messages-api", "claude-code"])
def test_it_needs_no_key_and_no_network_and_repeats_itself(tmp_path, monkeypatch, through):
    if through == "claude-code":
        needs_harness()
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://192.0.2.1:9")  # nowhere
    written = []
    for n in range(2):
        one = task(tmp_path / str(n), Connection(), model="stand-in", key="the-same")
        execution = asyncio.run(Offline(StandIn(seed=5), through).execute(one, Tally()))
        assert execution.status == "done", execution.reason
        assert execution.cost_usd == 0.0
        outputs = sorted(one.folder.rglob("*"))
        written.append([(path.name, path.read_bytes()) for path in outputs])
    assert written[0]
    assert written[0] == written[1]
