import time
from pathlib import Path

import jwt
import pytest

from tests.cli.conftest import Command, assert_one_line


def test_a_token_and_nothing_else_is_printed(longline: Command, tmp_path: Path):
    outcome = longline("token", "--role", "admin", "--sub", "ann", "--ttl", "15m", "--data", "d")
    assert (outcome.returncode, outcome.stderr) == (0, "")
    secret = (tmp_path / "d" / "auth.secret").read_text().strip()
    claims = jwt.decode(outcome.stdout.strip(), secret, algorithms=["HS256"])
    assert (claims["role"], claims["sub"], claims["username"]) == ("admin", "ann", "ann")
    assert claims["exp"] - claims["iat"] == 900
    assert abs(claims["iat"] - time.time()) < 600


def test_the_given_secret_signs(longline: Command, tmp_path: Path):
    outcome = longline("token", "--role", "user", AUTH_JWT_SECRET="x" * 32)
    assert jwt.decode(outcome.stdout.strip(), "x" * 32, algorithms=["HS256"])["sub"] == "cli"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ttl", ["soon", "0s", "-1h", "500ms"])
def test_a_token_for_no_time_is_refused(longline: Command, ttl: str):
    assert_one_line(longline("token", "--role", "admin", f"--ttl={ttl}"), 2, "is not a duration of at least 1s")


def test_a_data_folder_that_cannot_keep_the_secret_is_one_line(longline: Command, tmp_path: Path):
    (tmp_path / "file").write_text("")
    assert_one_line(longline("token", "--role", "admin", "--data", "file/d"), 1, "cannot be written: Not a directory")
