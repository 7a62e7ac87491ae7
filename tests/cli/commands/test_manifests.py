"""Commands of operators of manifests, without a server."""

import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import Command, assert_one_line

NOBODY = "00000000-0000-7000-8000-000000000000"


def test_an_empty_ledger_is_listed_exported_and_pruned(longline: Command, tmp_path: Path):
    longline("migrate")
    assert longline("manifests", "list").stdout == ""
    out = tmp_path / "out.jsonl"
    assert longline("manifests", "export", "--out", str(out)).stdout == f"0 snapshots written to {out}\n"
    assert out.read_bytes() == b""
    assert longline("manifests", "prune", "--dry-run").stdout == "0 jobs would be pruned, 0 bytes remain\n"
    assert longline("manifests", "prune").stdout == "0 jobs pruned, 0 bytes remain\n"
    assert longline("manifests", "dlq", "list").stdout == ""
    assert longline("manifests", "dlq", "purge").stdout == "0 dead letters purged\n"


def test_unknown_jobs_letters_and_options_are_told_in_one_line(longline: Command, tmp_path: Path):
    longline("migrate")
    assert_one_line(longline("manifests", "show", NOBODY), 1, f"no such manifest: {NOBODY}")
    assert_one_line(longline("manifests", "logs", "--job-id", NOBODY), 1, "no such manifest")
    assert_one_line(longline("manifests", "dlq", "show", "7"), 1, "no such dead letter: 7")
    assert_one_line(longline("manifests", "dlq", "replay"), 2, "name --offset, or at least one of")
    assert_one_line(longline("manifests", "dlq", "replay", "--code", "NONSENSE"), 2, "no failure code")
    assert_one_line(longline("manifests", "dlq", "purge", "--older-than", "soon"), 2, "is not a duration")
    assert_one_line(longline("manifests", "list", "--since", "yesterday"), 2, "is not a time")
    assert_one_line(longline("manifests", "streams"), 2, "no streams without Redis")
    (tmp_path / "task.json").write_text("{}")
    assert_one_line(longline("manifests", "publish-task", "--file", str(tmp_path / "task.json")), 2, "not a task")


def test_the_settings_are_checked(longline: Command, tmp_path: Path):
    good = tmp_path / "good.toml"
    good.write_text("[job_types.gallery]\n")
    checked = longline("manifests", "check", "--config", str(good))
    assert checked.stdout == "the settings are valid; job types: default, gallery\n"
    for text, said in (
        ('[job_types.a]\nhandler = "nowhere:Class"\n', "cannot be loaded"),
        ("[job_types.a.options]\nmax_parallel_downloads = 0\n", "at least 1"),
        ("[job_types.a.options]\nretry_backoff_ms = -5\n", "retry_backoff_ms is at least 0"),
        ("[job_types.a.options]\nretry_backoff_ms = 99999999999999999999999\n", "retry_backoff_ms is at most"),
        ("[job_types.a.options]\ntotal_timeout_seconds = 0\n", "total_timeout_seconds is at least 0.001"),
        ("[job_types.a.options]\nidle_timeout_seconds = nan\n", "idle_timeout_seconds is at least 0.001"),
        ("[job_types.a.options]\nconnect_timeout_seconds = inf\n", "connect_timeout_seconds is at most"),
        ("[job_types.a.options]\nmax_body_bytes = -1\n", "max_body_bytes is at least 1"),
        ("[job_types.a.options]\nstorage_retry_limit = 99999999999999999999999\n", "storage_retry_limit is at most"),
        ('[job_types.a.proxy]\nprimary = "none"\n', 'names the proxy pool "none"'),
        ('[proxy.pools.a]\nfallbacks = ["a"]\n', "in a circle"),
        ("[retention]\njob_ttl_days = 0\n", "job_ttl_days"),
        ('[storage]\nprovider = "s3"\n', "storage.bucket is needed"),
        (
            '[storage]\nprovider = "s3"\nbucket = "b"\nendpoint = "http://127.0.0.1:1"\n',
            "needs access_key_id and secret_access_key",
        ),
        ('[server]\nmax_manifest_bytes = "6MB"\n', "above 5MB"),
        ('[tenants.a]\napi_keys = ["plain"]\n', "no SHA-256 hash"),
    ):
        bad = tmp_path / "bad.toml"
        bad.write_text(text)
        assert_one_line(longline("manifests", "check", "--config", str(bad)), 2, said)


def test_the_program_of_the_contract_has_its_commands(tmp_path: Path):
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "fetchbox.toml").write_text("[job_types.gallery]\n")

    def fetchbox(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "longline.cli.commands.fetchbox", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    told = fetchbox("--help").stdout
    for name in ("api", "worker", "ledger", "streams", "publish-task", "tail-status", "tail-logs", "dlq", "config"):
        assert name in told
    assert fetchbox("config", "check").stdout.endswith("default, gallery\n")
    for address in ("here", "127.0.0.1:99999", f"127.0.0.1:{'9' * 5_000}"):
        assert "is not an address" in fetchbox("api", "--address", address).stderr
