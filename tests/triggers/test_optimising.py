"""`optimise`, whole: through `measure`, a known router and the stand-in's proposals."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.models import Connection, Usage, load_prices
from skill_eval_nb.models.stand_in.agent import best_skill
from skill_eval_nb.running import Execution, Limits, Task
from skill_eval_nb.running.journal import read_journal
from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.running.skill import read_skill
from skill_eval_nb.triggers import Query, optimise, write_description
from tests.corpus.build import lay
from tests.golden import hold, lines_of
from tests.grading.made import called
from tests.improving.made import requests
from tests.stand_in import RiggedStandIn, logged
from tests.triggers.made import (
    FLY,
    OPENED,
    ROW,
    Told,
    about,
    make_skill,
    measured,
    outcomes,
    went,
)

PRESENT = "Helps with invoice posting."
TOPICS = {True: ("invoice posting", "bank reconciliation"), False: ("travel booking", "poem verse")}
QUERIES = about(TOPICS)


def routed(task):
    """A run that opens the skill that the stand-in's rule finds fitting."""
    listed = "\n".join(f"- {one.name}: {one.description}" for one in task.skills)
    name = best_skill(task.prompt, listed)
    if name is None:
        return went()
    events = called("Skill", f"Launching skill: {name}", skill=name)
    return went(*events, skill_used=name == task.skill.name)


class World:
    """A skill on disk, a router that counts its runs, and a proposer that keeps a log."""

    def __init__(self, root, run=routed) -> None:
        self.root, self.log, self.runs, self.run = root, root / "log", 0, run
        self.skill = root / "books"
        if not self.skill.exists():
            make_skill(self.skill, description=PRESENT, body="# Books\n")
        self.connection = Connection(stand_in=RiggedStandIn(log=str(self.log)))

    def _run(self, task):
        self.runs += 1
        return self.run(task)

    def optimise(self, asked=None, **options):
        given = {"model": "stand-in", "others": "none", "runs": 2, "executor": Told(self._run)}
        return optimise(
            self.skill, asked or QUERIES, connection=self.connection, **(given | options)
        )

    def requests(self) -> list[str]:
        return requests(self.log)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A search that went to its end, and where it was made."""
    world = World(tmp_path_factory.mktemp("done"))
    return world, world.optimise()


def test_the_better_description_is_found_and_measured_afresh_on_held_out_queries_alone(done):
    world, found = done
    document = json.loads(found.write(world.root).read_text())
    hold("optimisation", [found.status, found.ended, *lines_of(document)])
    assert [one.is_best for one in found.steps] == [False, True]
    assert (found.n_train + found.n_test, found.cost_usd) == (32, 0)
    assert world.runs == 2 * (2 * 32 + found.n_test)
    written = world.root.glob("books-workspace/triggers/*/trigger_eval.json")
    sizes = sorted(len(json.loads(one.read_text())["queries"]) for one in written)
    assert sizes == [found.n_test, 32, 32]

    halves = {"train": [], "test": []}
    for one in found.steps[0].asked:
        halves[one.query.split].append(one.query.query)
    (request,) = world.requests()
    assert not any(one in request for one in halves["test"])
    assert any(one in request for one in halves["train"])

    # Called again it reads what is there, and spends nothing.
    assert world.optimise() == found
    assert (world.runs, len(world.requests())) == (2 * (2 * 32 + found.n_test), 1)
    assert f"description: {PRESENT}\n" in (world.skill / "SKILL.md").read_text()
    assert [one.name for one in world.skill.iterdir()] == ["SKILL.md"]


def test_a_dry_run_tells_the_price_and_asks_nobody(tmp_path):
    world = World(tmp_path)
    found = world.optimise(model="claude-haiku-4-5", dry_run=True, rounds=3)
    assert (found.status, found.steps, world.runs, world.requests()) == ("dry run", (), 0, [])
    assert found.n_runs == 2 * (3 * 32 + found.n_test)
    fewer = world.optimise(model="claude-haiku-4-5", dry_run=True, rounds=2)
    assert found.estimate.worst > fewer.estimate.worst
    assert world.optimise(model="nobody-knows", dry_run=True).estimate.worst is None
    assert not (tmp_path / "books-workspace").exists()


def test_killed_at_any_moment_it_goes_on_where_it_was(tmp_path, done):
    _, whole = done
    made = []

    def dying(task):
        made.append(task.key)
        if len(made) % 23 == 0:
            asyncio.current_task().add_done_callback(asyncio.Task.exception)  # asked for: not told
            raise KeyboardInterrupt
        return routed(task)

    found, starts = None, 0
    while found is None:
        starts += 1
        world = World(tmp_path, run=dying)
        with suppress(KeyboardInterrupt):
            found = world.optimise(concurrency=1)
    assert starts > 3
    assert found.steps == whole.steps
    assert (found.best, found.why, found.ended) == (whole.best, whole.why, whole.ended)
    assert len(made) == 2 * (2 * 32 + found.n_test) + starts - 1
    assert len(world.requests()) == 1


def test_a_stop_ends_it_with_what_there_is(tmp_path):
    stop = threading.Event()
    world = World(tmp_path)

    def at_the_proposal(told):
        if told.doing == "proposing":
            stop.set()

    found = world.optimise(progress=at_the_proposal, stop=stop)
    assert (found.status, len(found.steps), found.best) == ("partial", 1, None)
    assert "stopped" in found.ended
    assert world.optimise().status == "done"


@pytest.mark.parametrize(
    ("whole", "says"), [(64, "round 2 was"), (128, "the last measurement was")]
)
def test_runs_that_all_errored_are_no_score_and_no_end(tmp_path, whole, says):
    world = World(tmp_path)

    def failing(task):
        if world.runs > whole:
            raise OSError("the line is dead")
        return routed(task)

    world.run = failing
    found = world.optimise()
    assert (found.status, found.best, len(found.steps)) == ("partial", None, 2)
    assert f"{says} not finished" in found.ended
    assert "retry_errored=True repeats runs that errored" in found.ended
    world.run = routed
    assert world.optimise(retry_errored=True).status == "done"


def test_all_that_is_wrong_is_told_at_once(tmp_path):
    make_skill(tmp_path / "other", "other")
    (tmp_path / "other" / "SKILL.md").unlink()
    with pytest.raises(Refused) as caught:
        World(tmp_path).optimise(QUERIES[:1], rounds=0, competing=[tmp_path / "other"])
    told = str(caught.value)
    for one in ("no held-out query", "rounds is 0", "other has no SKILL.md"):
        assert one in told


# ── documenting ──────────────────────────────────────────────────────────────────────────────────


def test_the_document_is_seed_004s_and_views_escape_what_models_wrote(done, tmp_path):
    _, found = done
    path = found.write(tmp_path)
    assert path.name == "optimization_result.json"
    raw = json.loads(path.read_text())
    assert list(raw)[:3] == ["best_description", "iterations", "best_score"]
    evil = replace(found.steps[0], description="Sorts <script>mail</script>.")
    html = replace(found, steps=(evil, found.steps[1]))._repr_html_()
    assert "<script" not in html
    assert "Sorts &lt;script&gt;mail" in html
    assert "<td>2 (chosen)</td>" in html
    unheld = replace(found.steps[0], test=None)
    named = replace(found, best=None, steps=(unheld,)).write(tmp_path / "mine.json")
    assert "best_score" not in json.loads(named.read_text())
    assert "test_score" not in json.loads(named.read_text())["iterations"][0]


# ── describing ───────────────────────────────────────────────────────────────────────────────────

OLD = b"\xef\xbb\xbf---\r\nname: maps\r\ndescription: >\r\n  Old\r\n  words.\r\n---\r\n# Body"
NEW = b'\xef\xbb\xbf---\r\nname: maps\r\ndescription: "Draws maps."\r\n---\r\n# Body'


@pytest.fixture
def path(tmp_path):
    """The SKILL.md of a skill."""
    return lay(tmp_path / "maps", {"SKILL.md": OLD}) / "SKILL.md"


def test_the_diff_is_shown_and_written_with_the_old_file_kept_as_private_under_a_free_name(path):
    path.chmod(0o600)
    diff = write_description(path.parent, "Draws maps.")
    assert repr(diff) == diff
    changed = [line.rstrip() for line in diff.splitlines() if line[:1] in "+-"]
    assert changed[2:] == ["-description: >", "-  Old", "-  words.", '+description: "Draws maps."']
    assert path.read_bytes() == OLD
    assert [one.name for one in path.parent.iterdir()] == ["SKILL.md"]

    (path.parent / "SKILL.md.1.bak").write_text("mine")
    assert write_description(path, "Draws maps.", dry_run=False) == diff
    assert path.read_bytes() == NEW
    kept = path.parent / "SKILL.md.2.bak"
    assert kept.read_bytes() == OLD
    assert {one.stat().st_mode & 0o777 for one in (path, kept)} == {0o600}
    assert (path.parent / "SKILL.md.1.bak").read_text() == "mine"
    assert read_skill(path.parent).description == "Draws maps."


def test_a_read_only_file_stays_as_it_is(path):
    before = path.read_bytes()
    path.chmod(0o444)
    assert "-description" in write_description(path, "Another one.")
    with pytest.raises(ValueError, match=r"SKILL\.md is read-only"):
        write_description(path, "Another one.", dry_run=False)
    assert (path.read_bytes(), [one.name for one in path.parent.iterdir()]) == (before, [path.name])


# ── one ceiling for rounds, proposals and the last measurement ───────────────────────────────────

HAIKU = "claude-haiku-4-5"
LIMITS = Limits(turns=1, output_tokens=2000, usd=0.02)


@dataclass(frozen=True)
class Paying(Told):
    """An executor that pays for one call a run, so many tokens of it."""

    tokens: Callable[[Task], int] = field(default=lambda _: 1000, compare=False)
    name: str = "paying"
    paid: list[float] = field(default_factory=list, compare=False)

    async def execute(self, task: Task, meter) -> Execution:
        ticket = meter.reserve(task.model, Usage(output_tokens=2000, calls=1))
        usage = Usage(output_tokens=self.tokens(task), calls=1)
        meter.settle(ticket, usage)
        self.paid.append(load_prices().cost(usage, task.model))
        return self.run(task)


class Bank(World):
    """A search that costs something, and what everybody was paid."""

    def __init__(self, root) -> None:
        super().__init__(root)
        self.executor = Paying(routed, tokens=lambda task: 200 + 37 * len(task.prompt) % 1500)

    def optimise(self, **options):
        given = {"model": HAIKU, "limits": LIMITS, "executor": self.executor}
        return super().optimise(QUERIES[::2], **given, **options)

    @property
    def paid(self) -> float:
        """US dollars that were paid, by those who were."""
        used = (one["usage"] for one in logged(self.log))
        asked = sum(1e-6 * one["input_tokens"] + 5e-6 * one["output_tokens"] for one in used)
        return sum(self.executor.paid) + asked


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> tuple[float, float]:
    """What a search comes to that nothing limits, and the worst that it might have."""
    bank = Bank(tmp_path_factory.mktemp("whole"))
    worst = bank.optimise(dry_run=True).estimate.worst
    found = bank.optimise()
    assert (found.status, len(found.steps)) == ("done", 2)
    assert found.cost_usd == pytest.approx(bank.paid)
    return bank.paid, worst


@pytest.mark.parametrize("share", [0.02, 0.5, 0.8, 2.0])
def test_the_ceiling_holds_and_the_last_measurement_has_its_money(tmp_path, whole, share):
    paid, worst = whole
    assert paid < worst
    bank = Bank(tmp_path)
    found = bank.optimise(budget_usd=share * paid)
    assert bank.paid <= share * paid
    assert found.cost_usd == pytest.approx(bank.paid)
    again = bank.optimise(budget_usd=share * paid)
    assert (again.steps, again.best, again.why) == (found.steps, found.best, found.why)
    assert found.cost_usd == pytest.approx(bank.paid)
    first = found.steps[0]
    if share >= 0.8:
        assert sum(len(one.right) for one in first.asked) == 32
        assert found.best.n_runs == 2 * found.n_test
    if share == 2.0:
        assert found.status == "done"
    if share <= 0.5:
        assert found.status == "partial"
        assert found.best_description == PRESENT
    if share == 0.02:
        assert "too small for 32 more runs, each $0.02 at worst" in found.ended
        assert found.ended.endswith("(money is reserved for the last measurement)")


def test_with_more_money_it_goes_on_and_pays_for_nothing_twice(tmp_path, whole):
    paid, _ = whole
    bank = Bank(tmp_path)
    for share in (0.2, 0.5, 0.8):
        assert bank.optimise(budget_usd=share * paid).status == "partial"
        assert bank.paid <= share * paid
    found = bank.optimise(budget_usd=3 * paid)
    assert (found.status, len(found.steps)) == ("done", 2)
    assert found.cost_usd == pytest.approx(bank.paid)
    # The present description may have had its last measurement while the money was short.
    assert bank.paid <= paid * (1 + found.n_test / 32)


# ── folders that an earlier version has written (stored.json) ────────────────────────────────────

TASKS = [(who, topic) for who in ("Belda", "Dorka") for topic in ("invoice posting", "poem verse")]
TASKS += [(who, "bank reconciliation") for who in ("Finmi", "Garno")]
ASKED = [Query(f"For {who}: please do the {what}", what != "poem verse") for who, what in TASKS]


@pytest.fixture
def stored(tmp_path) -> Path:
    """The folders, laid beside the skills that they are of."""
    return lay(tmp_path, json.loads(Path(__file__).with_name("stored.json").read_text()))


def test_a_search_is_read_back_with_the_figures_that_it_had(stored):
    (file,) = stored.glob("books-workspace/triggers/optimisations/*/optimization_result.json")
    before = json.loads(file.read_text())
    world = World(stored, run=lambda _: pytest.fail("a run was made again"))
    world.connection = Connection(base_url="http://127.0.0.1:1")  # nobody is there
    found = world.optimise(ASKED, model=HAIKU, runs=1, rounds=1, held_out=0.5)
    assert (found.status, found.best_description) == ("done", PRESENT)
    assert (found.best.n_runs, found.selected.n_runs) == (3, 3)
    assert json.loads(file.read_text()) | {"why": before["why"]} == before  # that is a sentence
    ws = sen.load(stored / "books-workspace")
    assert ws.polars("problems").is_empty(), ws.polars("problems").to_dicts()
    assert ws.polars("triggers")["query"].len() == 6 + 3


def test_a_measurement_that_was_killed_is_gone_on_with_and_its_money_stays_counted(stored):
    """Of two queries under a ceiling; it was killed in its second run."""
    given = {"model": HAIKU, "runs": 1, "limits": Limits(turns=1, usd=0.02), "budget_usd": 1.0}
    found = measured(stored, executor=Paying(lambda _: OPENED), concurrency=1, **given)
    assert outcomes(found) == {FLY.query: ["triggered"], ROW.query: ["triggered"]}
    assert found.attempts[0].seconds == 0.0, "it is the one that was stored"
    assert found.cost_usd == pytest.approx(3 * 0.005), "the one that was cut off may be billed"
    events = [event["event"] for event in read_journal(found.folder).events]
    assert (events.count("launched"), events.count("interrupted")) == (3, 1)
