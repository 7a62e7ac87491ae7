"""Commands that read work in folders without write permission."""

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

from tests.journeys.test_full_disk import without_root_powers
from tests.servers import program
from tests.web import running_site

LEFT_BY_A_KILL = "has changes that are not in the file yet; open it once with write permission"


def read(data: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command that may not write into the folder."""
    for path in (*data.rglob("*"), data):
        path.chmod(0o555 if path.is_dir() else 0o444)
    command = [sys.executable, "-m", "longline.cli", *words, "--data", str(data)]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=False, preexec_fn=without_root_powers
        )
    finally:
        for path in (data, *data.rglob("*")):
            path.chmod(0o755)


def test_a_folder_without_write_permission_can_be_read(tmp_path: Path):
    data = tmp_path / "data"
    with running_site(pages=10) as site:
        assert program.run("crawl", site.url, "--depth", "10", "--out", str(data)).returncode == 0
        before = sorted(data.rglob("*"))
        page = read(data, "page", site.url)
        assert (page.returncode, page.stderr) == (0, "")
        assert "<title>" in page.stdout
    for words, note in ((("search", "page"), "10 found\n"), (("export", "--out", str(tmp_path / "out")), "")):
        done = read(data, *words)
        assert (done.returncode, done.stderr) == (0, note), words
    assert sorted(data.rglob("*")) == before


def test_a_write_ahead_log_without_permission_is_one_line(tmp_path: Path):
    data = tmp_path / "data"
    assert program.run("migrate", "--data", str(tmp_path / "live")).returncode == 0
    connection = sqlite3.connect(tmp_path / "live" / "longline.db")
    connection.execute("UPDATE engine_clock SET version = version + 1")
    connection.commit()
    shutil.copytree(tmp_path / "live", data, ignore=shutil.ignore_patterns("*-shm"))
    done = read(data, "search", "page")
    connection.close()
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert LEFT_BY_A_KILL in done.stderr


LISTS = (
    ("sources", "list"),
    ("audit",),
    ("keys", "list"),
    ("proxies", "list"),
    ("proxies", "pools"),
    ("manifests", "list"),
    ("candidates", "list"),
    ("bots", "list"),
    ("policies", "list"),
    ("recrawls", "list"),
    ("recrawls", "stats"),
    ("series", "list"),
    ("batches", "list"),
    ("maintenance", "list"),
    ("migrate", "--check"),
)


def test_lists_work_in_a_folder_without_write_permission_and_changes_are_refused(tmp_path: Path):
    data = tmp_path / "data"
    assert program.run("sources", "add", "Books", "https://books.example/", "--data", str(data)).returncode == 0
    (data / "vault.secret").unlink(missing_ok=True)
    before = sorted(data.rglob("*"))
    for words in LISTS:
        done = read(data, *words)
        assert (done.returncode, "error" in done.stderr) == (0, False), (words, done.stderr)
    assert "Books" in read(data, "sources", "list").stdout
    refused = read(data, "keys", "create", "mine", "--door", "console")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "cannot be opened for writing" in refused.stderr
    assert sorted(data.rglob("*")) == before


def test_a_token_is_signed_with_a_secret_that_may_only_be_read(tmp_path: Path):
    data = tmp_path / "data"
    assert program.run("token", "--role", "admin", "--data", str(data)).returncode == 0
    done = read(data, "token", "--role", "admin")
    assert (done.returncode, done.stdout.count(".")) == (0, 2), done.stderr
