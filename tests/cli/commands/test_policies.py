import json
from pathlib import Path

from tests.cli.conftest import Command, assert_one_line


def test_policies_from_flags_and_files_and_the_jobs_they_make(longline: Command, tmp_path: Path):
    longline("migrate")
    one = longline("policies", "add", "--url", "https://example.com/1", "--every", "6", "--priority", "20")
    assert len(one.stdout.strip()) == 36, one.stderr
    (tmp_path / "urls.txt").write_text("https://example.com/2\n\nhttps://example.com/3\nhttps://example.com/1\n")
    several = longline("policies", "import", "urls.txt").stdout.splitlines()
    assert [len(line) for line in several[:2]] == [36, 36]
    assert several[2] == "already exists: https://example.com/1"
    (tmp_path / "all.json").write_text(json.dumps([{"domain": "example.com", "name": "all", "url_pattern": "/[12]$"}]))
    assert len(longline("policies", "import", "all.json").stdout.strip()) == 36
    assert longline("policies", "disable", "--id", several[0]).stdout == f"{several[0]}: disabled\n"
    listed = [line.split("\t") for line in longline("policies", "list").stdout.splitlines()]
    assert [row[1:4] for row in listed if row[0] in (one.stdout.strip(), several[0])] == [
        ["https://example.com/2", "", "no"],
        ["https://example.com/1", "", "yes"],
    ]
    assert len(listed) == 4
    assert [row[4:7] for row in listed if row[0] == one.stdout.strip()] == [["6 h", "20", "0"]]
    assert longline("policies", "create-jobs", "--dry-run").stdout == "created 4, skipped 0\n"
    assert longline("create_jobs_from_policies", "--limit", "100").stdout == "created 4, skipped 0\n"
    assert longline("policies", "create-jobs").stdout == "created 0, skipped 4\n"
    assert longline("policies", "enable", "--id", several[0]).returncode == 0
    assert longline("policies", "create-jobs").stdout == "created 1, skipped 4\n"


def test_a_file_that_is_no_text_is_one_line(longline: Command, tmp_path: Path):
    longline("migrate")
    for content in (b"\xff\xfe", b"[" * 100_000):
        (tmp_path / "odd").write_bytes(content)
        assert_one_line(longline("policies", "import", "odd"), 2, "odd")


def test_invalid_policies_are_refused_before_any_is_made(longline: Command, tmp_path: Path):
    longline("migrate")
    assert_one_line(longline("policies", "add"), 2, "Exactly one of url and domain must be set.")
    (tmp_path / "urls.txt").write_text("https://example.com/2\nnonsense\n")
    assert_one_line(longline("policies", "import", "urls.txt"), 2, "Enter a valid URL.")
    (tmp_path / "bad.json").write_text("[{")
    assert_one_line(longline("policies", "import", "bad.json"), 2, "bad.json")
    assert longline("policies", "create-jobs").stdout == "created 0, skipped 0\n"
