from __future__ import annotations

import pickle
import traceback

import pytest

from skill_eval_nb.models import Connection, ModelFault, StandIn


def test_a_connection_is_a_value_that_can_be_sent_and_holds_no_key(monkeypatch):
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


@pytest.mark.parametrize("key", ["sk-very\nsecret", "sk-very\u2026secret"])
def test_what_cannot_be_sent_as_a_key_is_told_without_it(monkeypatch: pytest.MonkeyPatch, key: str):
    monkeypatch.setenv("MY_KEY", key)
    why = Connection("https://models.example.org", "MY_KEY").why_not() or ""
    assert "MY_KEY" in why
    assert "very" not in why
    assert Connection(api_key_name="MY_KEY", stand_in=StandIn()).why_not() is None


def test_a_password_in_an_address_is_shown_nowhere():
    connection = Connection("https://me:planted@models.example.org/v1")
    assert "models.example.org/v1" in repr(connection)
    assert "planted" not in repr(connection)
    assert pickle.loads(pickle.dumps(connection)) == connection
    assert "planted" not in str(ModelFault("connection", f"{connection.base_url} is not there"))
    for url in ("ftp://me:planted@host", "me:planted@host", "http://me:planted/x@host"):
        with pytest.raises(ValueError, match="is not an address of a server") as refused:
            Connection(url)
        assert "planted" not in "".join(traceback.format_exception(refused.value))
