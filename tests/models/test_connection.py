from __future__ import annotations

import pickle

import pytest

from skill_eval_nb.models import Connection


def test_a_connection_is_a_value_that_can_be_sent_and_holds_no_key(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    connection = Connection("https://models.example.org", "MY_KEY")
    assert connection.key() == "sk-very-secret"
    sent = pickle.dumps(connection)
    assert b"sk-very-secret" not in sent
    assert "sk-very-secret" not in repr(connection)
    assert pickle.loads(sent) == connection
    assert hash(pickle.loads(sent)) == hash(connection)


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_a_missing_key_is_told_with_its_name(monkeypatch: pytest.MonkeyPatch, value: str | None):
    monkeypatch.delenv("MY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    connection = Connection("https://models.example.org", "MY_KEY")
    assert "MY_KEY is not set" in (connection.why_not() or "")
    with pytest.raises(LookupError, match="MY_KEY is not set"):
        connection.key()


@pytest.mark.parametrize("url", ["http://127.0.0.1:80", "http://localhost:1/x", "http://[::1]:9"])
def test_a_server_on_this_machine_needs_none(monkeypatch: pytest.MonkeyPatch, url: str):
    monkeypatch.delenv("MY_KEY", raising=False)
    assert Connection(url, "MY_KEY").why_not() is None
    assert Connection(url, "MY_KEY").key()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    assert Connection(api_key_name="MY_KEY").local
    monkeypatch.setenv("MY_KEY", "one-for-a-gateway")
    assert Connection(url, "MY_KEY").key() == "one-for-a-gateway"


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x.org", "http://", "", "models"])
def test_an_address_that_is_none_is_refused_at_once(url: str):
    with pytest.raises(ValueError, match="no address of a server"):
        Connection(url)
