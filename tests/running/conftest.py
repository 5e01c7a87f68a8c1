"""What tests of running share."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.running.agents import needs_harness

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module", params=["messages-api", "claude-code"])
def agent(request: pytest.FixtureRequest) -> str:
    """The name of an executor, the real harness among them."""
    if request.param == "claude-code":
        needs_harness()
    return request.param


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Ctrl-C is heard, also where a script has started the tests in its background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
