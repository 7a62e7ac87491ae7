import pytest


@pytest.fixture
def no_server_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the variables of PostgreSQL from the environment."""
    monkeypatch.delenv("LONGLINE_TEST_POSTGRES", raising=False)
    monkeypatch.delenv("PG_BIN", raising=False)
