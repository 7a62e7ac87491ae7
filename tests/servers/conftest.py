import pytest


@pytest.fixture
def no_server_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what the environment says about PostgreSQL."""
    monkeypatch.delenv("LONGLINE_TEST_POSTGRES", raising=False)
    monkeypatch.delenv("PG_BIN", raising=False)
