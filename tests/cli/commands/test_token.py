import time
from pathlib import Path

import jwt
import pytest

from tests.cli.conftest import Command, assert_one_line


def test_a_token_and_nothing_else_is_printed(longline: Command, tmp_path: Path):
    outcome = longline("token", "--role", "admin", "--sub", "ann", "--ttl", "15m", "--data", "d")
    assert outcome.returncode == 0
    secret = (tmp_path / "d" / "auth.secret").read_text().strip()
    claims = jwt.decode(outcome.stdout.strip(), secret, algorithms=["HS256"])
    assert (claims["role"], claims["sub"], claims["username"]) == ("admin", "ann", "ann")
    assert claims["exp"] - claims["iat"] == 900
    assert abs(claims["iat"] - time.time()) < 600


def test_the_given_secret_signs(longline: Command, tmp_path: Path):
    outcome = longline("token", "--role", "member", AUTH_JWT_SECRET="x" * 32)
    assert jwt.decode(outcome.stdout.strip(), "x" * 32, algorithms=["HS256"])["sub"] == "cli"
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_role_is_refused(longline: Command, tmp_path: Path):
    assert_one_line(longline("token", "--role", "king"), 2, 'there is no role "king"; there are admin, ')
    assert list(tmp_path.iterdir()) == []


def test_a_new_secret_is_pointed_out_once(longline: Command, tmp_path: Path):
    first, second = (longline("token", "--role", "admin", "--data", str(tmp_path / "d")) for _ in range(2))
    assert "auth.secret is new; a server with another data folder or secret refuses this token" in first.stderr
    assert second.stderr == ""


@pytest.mark.parametrize("ttl", ["soon", "0s", "-1h", "500ms"])
def test_a_token_for_no_time_is_refused(longline: Command, ttl: str):
    assert_one_line(longline("token", "--role", "admin", f"--ttl={ttl}"), 2, "is not a duration of at least 1s")


def test_a_data_folder_that_cannot_keep_the_secret_is_one_line(longline: Command, tmp_path: Path):
    (tmp_path / "file").write_text("")
    assert_one_line(longline("token", "--role", "admin", "--data", "file/d"), 1, "cannot be written: Not a directory")
