from pathlib import Path

from longline.settings import KEYS
from tests.cli.conftest import Command


def test_every_setting_is_shown_with_its_origin(longline: Command, tmp_path: Path):
    (tmp_path / "longline.toml").write_text('host = "::1"')
    given = {"AUTH_JWT_SECRET": "hunter2" * 8, "LONGLINE_DATABASE": "postgresql://me:hunter2@db/x"}
    outcome = longline("settings", "--port", "7", **given)
    rows = {line.split("\t")[0]: line.split("\t")[1:] for line in outcome.stdout.splitlines()}
    assert list(rows) == list(KEYS)
    assert rows["port"] == ["7", "--port"]
    assert rows["host"] == ["::1", "longline.toml"]
    assert rows["delay"] == ["1s", "default"]
    assert rows["jwt_secret"] == ["***", "AUTH_JWT_SECRET"]
    assert rows["database"] == ["postgresql://me:***@db/x", "LONGLINE_DATABASE"]
    assert "hunter2" not in outcome.stdout
    assert outcome.stderr == ""


def test_the_archive_of_a_crawl_is_shown_where_it_is(longline: Command, tmp_path: Path):
    (tmp_path / "site" / "warc").mkdir(parents=True)
    assert f"objects\t{(tmp_path / 'site').as_uri()}\tdefault\n" in longline("settings", "--data", "site").stdout
    assert "\nredis\t\tdefault\n" in longline("settings").stdout


def test_a_variable_without_effect_gets_a_warning(longline: Command):
    outcome = longline("settings", CRAWLER_VALIDATE_URLS="true")
    assert outcome.returncode == 0
    assert outcome.stderr == "warning: CRAWLER_VALIDATE_URLS has no effect: every URL is validated\n"
