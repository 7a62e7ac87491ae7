"""Tokens of a platform: its secret, its public key, and the allowed difference of clocks."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from longline.model.errors import BadInput
from longline.services.callers.tokens import CLOCK_SKEW_SECONDS
from longline.settings import Settings
from longline.wiring.subjects.callers import access_tokens


def platform(**settings: Any) -> Any:
    clock = SimpleNamespace(wall=lambda: 1_000_000)
    return SimpleNamespace(settings=Settings(jwt_secret="s" * 64, **settings), clock=clock)


def test_tokens_apply_the_settings_of_the_api_key_and_the_skew(tmp_path: Path):
    tokens = access_tokens(platform(data=tmp_path, api_key="me:secret"))
    assert tokens.verify(tokens.issue("admin", "ann", 60)).sub == "ann"
    tokens.check("me:secret")
    assert 0 < CLOCK_SKEW_SECONDS <= 10


def test_a_public_key_that_cannot_be_used_stops_the_start(tmp_path: Path):
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        access_tokens(platform(data=tmp_path, jwt_public_key_file=str(tmp_path / "none.pem")))
    (tmp_path / "key.pem").write_text("nonsense")
    with pytest.raises(BadInput, match="not a public key in PEM format"):
        access_tokens(platform(data=tmp_path, jwt_public_key_file=str(tmp_path / "key.pem")))
