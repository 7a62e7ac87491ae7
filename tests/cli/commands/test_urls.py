"""`longline urls` in a folder."""

from pathlib import Path

from longline.cli.commands.urls import urls_command
from longline.settings import Settings
from tests.cli.commands.test_crawl import a_run
from tests.cli.conftest import Command, assert_one_line


def test_where_nothing_was_crawled_there_is_no_url(longline: Command):
    assert_one_line(longline("urls"), 1, "there is no crawl in")
    assert_one_line(longline("urls", "--fate", "lost"), 2, "no such fate: lost")
    assert_one_line(longline("urls", "-o", "urls.xml"), 2, "cannot tell the format")


def test_no_url_is_the_same_exit_code_in_a_pipe_as_at_a_terminal(longline: Command, tmp_path: Path):
    (tmp_path / "answers").mkdir()
    assert longline("crawl", "https://shop.example/", "--fixtures", "answers", "--out", "shop").returncode == 1
    for form in ("table", "jsonl", "csv"):
        assert longline("urls", "--data", "shop", "--fate", "completed", "--format", form).returncode == 0


def test_the_command_names_the_place_of_the_run(tmp_path: Path):
    own = Settings(data=tmp_path / "my data")
    line = urls_command(a_run(id=3, failed=2), own)
    assert line.startswith("to list failed URLs: ")
    assert line.endswith(f"longline urls --run 3 --fate failed --data '{tmp_path}/my data'")
    away = Settings(data=tmp_path, database="postgresql://me:secret@db.example/x")
    line = urls_command(a_run(id=3), away)
    assert line.startswith("to list all URLs: ")
    assert "longline urls --run 3 --data " in line
    assert "db.example" in line
    assert "secret" not in line
