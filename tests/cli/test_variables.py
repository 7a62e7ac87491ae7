"""A variable that cannot be read keeps every command from starting, in one line that names it."""

import os
import sys
from pathlib import Path

import pytest

from longline.cli import main as program
from tests.cli.conftest import Command, assert_one_line
from tests.settings.aliases.test_intervals import CONTRACT

FREE = """
AUTH_JWT_SECRET AUTH_INTERNAL_SECRET APP_ENV LOG_OUTPUT_PATHS POSTGRES_CRAWLER_HOST POSTGRES_CRAWLER_USER
POSTGRES_CRAWLER_PASSWORD POSTGRES_CRAWLER_DB REDIS_PASSWORD CRAWLER_USER_AGENT CRAWLER_ALLOWED_DOMAINS
CRAWLER_DISALLOWED_DOMAINS CRAWLER_MINIO_ACCESS_KEY CRAWLER_MINIO_SECRET_KEY CRAWLER_MINIO_BUCKET
CRAWLER_MINIO_METADATA_BUCKET ELASTICSEARCH_USERNAME ELASTICSEARCH_INDEX_NAME ELASTICSEARCH_INDEX_PREFIX
ELASTICSEARCH_TLS_CERT_FILE ELASTICSEARCH_TLS_KEY_FILE ELASTICSEARCH_TLS_CA_FILE CRAWLER_DISCOVERY_ALLOWLIST
CRAWLER_DISCOVERY_BLOCKLIST FETCHER_USER_AGENT JOB_LOGS_REDIS_KEY_PREFIX JOB_LOGS_MINIO_BUCKET CONFIG_PATH
"""
"""Variables that may be set to any text."""

STRICT = sorted(set(CONTRACT.split()) - set(FREE.split()))
NO_VALUE = "?"
"""Neither a number, a duration, a switch, a word, a place, a password nor a URL."""


@pytest.mark.parametrize("name", STRICT)
def test_a_value_that_cannot_be_read_is_one_line_with_the_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for other in CONTRACT.split():
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, NO_VALUE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["longline", "settings"])
    with pytest.raises(SystemExit) as ended:
        program.main()
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith(f"error: {name}: "), said.err
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("command", ["up", "api", "worker"])
def test_no_service_starts_with_an_invalid_variable(longline: Command, command: str):
    assert_one_line(longline(command, PPROF_PORT="six"), 2, 'PPROF_PORT: "six" is not a whole number')


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CRAWLER_SERVER_API_KEY", "hunter2"),
        ("ELASTICSEARCH_API_KEY", "hunter2"),
        ("ELASTICSEARCH_PASSWORD", "hunter2"),
        ("CRAWLER_PROXY_URLS", "ftp://me:hunter2@h:1"),
    ],
)
def test_a_secret_variable_is_not_shown(longline: Command, name: str, value: str):
    outcome = longline("settings", **{name: value})
    assert_one_line(outcome, 2, f"{name}: ")
    assert "hunter2" not in outcome.stderr
