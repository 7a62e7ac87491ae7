import pytest


@pytest.fixture
def no_server_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without the variables of PostgreSQL."""
    monkeypatch.delenv("LONGLINE_TEST_POSTGRES", raising=False)
    monkeypatch.delenv("PG_BIN", raising=False)
