"""Before money is spent without a ceiling, the user is asked; nobody else is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from skill_eval_nb.cli.printing import ask_first
from skill_eval_nb.cli.shell import INTERRUPTED
from tests.cli.calls import run
from tests.cli.payers import PAYERS, Command

UNREACHABLE = "http://127.0.0.1:9"
OFFERING = ("draft_changes", "try_out", "trigger_draft", "init")
"""They say what a model would cost in place of a question, and do the rest of their work."""
WITHOUT_DRY_RUN = ("draft_changes", "try_out")


@pytest.fixture(autouse=True)
def keyed(monkeypatch) -> None:
    """A key, so that a command may go on to what comes after it; no model that would answer."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "nobody's")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", UNREACHABLE)


def unlimited(payer: str, home: Path) -> Command:
    """A command that pays, without a ceiling and without a yes."""
    command = [part for part in PAYERS[payer](home) if part != "--yes"]
    at = command.index("--budget-usd") if "--budget-usd" in command else len(command)
    return command[:at] + command[at + 2 :]


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("payer", PAYERS)
def test_without_a_ceiling_or_a_yes_nothing_is_spent(payer, tmp_path):
    command, before = unlimited(payer, tmp_path), files(tmp_path)
    result = run(*command)
    if payer in OFFERING:
        assert re.search(r"\$0\.\d+ at (worst|most)[;:].* --budget-usd", result.output)
    else:
        assert "This costs money" in result.output
        assert "and has no --budget-usd. Continue?" in result.output
        assert result.exit_code == 1
    assert files(tmp_path) == before


@pytest.mark.parametrize("payer", PAYERS)
def test_without_a_key_nobody_is_asked_for_money(payer, tmp_path, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    command, before = PAYERS[payer](tmp_path), files(tmp_path)
    result = run(*command)
    assert (result.exit_code, "There is no API key" in result.stderr) == (2, True)
    assert "Continue?" not in result.output
    assert files(tmp_path) == before


@pytest.mark.parametrize("payer", [one for one in PAYERS if one not in WITHOUT_DRY_RUN])
def test_a_dry_run_says_the_price_and_writes_nothing(payer, tmp_path, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    command, before = unlimited(payer, tmp_path), files(tmp_path)
    result = run(*command, "--dry-run")
    assert result.exit_code == 0
    assert re.search(r"\$\d*\.\d*[1-9]", result.stdout)
    assert files(tmp_path) == before


def test_the_user_decides_and_knows_what_it_may_cost(tmp_path, monkeypatch):
    asked = list[str]()

    def no(question: str) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr(typer, "confirm", no)
    assert run(*unlimited("compare_sides", tmp_path)).exit_code == 2
    assert asked == ["This costs money, $0.76 at most, and has no --budget-usd. Continue?"]
    monkeypatch.setattr(typer, "confirm", lambda _: True)
    ask_first(None, False, 0.76)


def test_ctrl_c_at_the_question(monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("typer._click.termui.visible_prompt_func", interrupted)
    with pytest.raises(typer.Exit) as ended:
        ask_first(None, False)
    assert ended.value.exit_code == INTERRUPTED
