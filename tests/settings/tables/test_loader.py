"""Tables of files and variables are read by the same rules, and child processes get them unchanged."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from longline.model.errors import BadInput, UnknownSetting
from longline.settings import Loaded, Settings, load
from longline.settings.child_process import settings_as_environment
from longline.settings.tables.job_types import JobProxyTable, JobStorageTable, JobTypeTable
from longline.settings.tables.loader import TABLES_NAME, decoded, encoded

FILE = """
port = 9999

[job_types.images]
handler = "shop.handlers:Images"
default_headers = { user_agent = "bot/1", authorization = "Bearer hunter2" }
[job_types.images.proxy]
primary = "homes"
fallbacks = ["offices"]
[job_types.images.storage]
bucket = "pictures"
key_prefix = "raw/"
[job_types.images.options]
max_parallel_downloads = 8
sizes = [1, 2]
name = "8.jpg"
[job_types.plain]

[proxy.pools.homes]
primary = ["http://me:hunter2@p:1", "socks5://q:2"]
fallbacks = ["offices"]
retry_backoff_ms = 250
[proxy.pools.offices]
primary = ["http://r:3"]
max_retries = 1

[server]
max_manifest_bytes = "4MB"
[retention]
job_ttl_days = 7
ledger_max_bytes = "50GB"
[idempotency]
window_hours = 2
[tenants.acme]
idempotency_window_hours = 48
api_keys = ["f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7"]
[operator]
token = "hunter2"
"""

VARIABLES = {
    "JOB_TYPES__IMAGES__HANDLER": "shop.handlers:Images",
    "JOB_TYPES__IMAGES__DEFAULT_HEADERS__USER_AGENT": "bot/1",
    "JOB_TYPES__IMAGES__DEFAULT_HEADERS__AUTHORIZATION": "Bearer hunter2",
    "JOB_TYPES__IMAGES__PROXY__PRIMARY": "homes",
    "JOB_TYPES__IMAGES__PROXY__FALLBACKS": "offices",
    "JOB_TYPES__IMAGES__STORAGE__BUCKET": "pictures",
    "JOB_TYPES__IMAGES__STORAGE__KEY_PREFIX": "raw/",
    "JOB_TYPES__IMAGES__OPTIONS__MAX_PARALLEL_DOWNLOADS": "8",
    "JOB_TYPES__IMAGES__OPTIONS__SIZES": "[1, 2]",
    "JOB_TYPES__IMAGES__OPTIONS__NAME": "8.jpg",
    "JOB_TYPES__PLAIN__HANDLER": "default",
    "PROXY__POOLS__HOMES__PRIMARY": "http://me:hunter2@p:1,socks5://q:2",
    "PROXY__POOLS__HOMES__FALLBACKS": "offices",
    "PROXY__POOLS__HOMES__RETRY_BACKOFF_MS": "250",
    "PROXY__POOLS__OFFICES__PRIMARY": "http://r:3",
    "PROXY__POOLS__OFFICES__MAX_RETRIES": "1",
    "SERVER__MAX_MANIFEST_BYTES": "4MB",
    "RETENTION__JOB_TTL_DAYS": "7",
    "RETENTION__LEDGER_MAX_BYTES": "50GB",
    "IDEMPOTENCY__WINDOW_HOURS": "2",
    "TENANTS__ACME__IDEMPOTENCY_WINDOW_HOURS": "48",
    "TENANTS__ACME__API_KEYS": "f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7",
    "OPERATOR__TOKEN": "hunter2",
}


def from_file(text: str, environ: Mapping[str, str] | None = None) -> Loaded:
    Path("longline.toml").write_text(text)
    return load(environ=environ or {})


@pytest.mark.parametrize("prefix", ["LONGLINE__", "FETCHBOX__"])
def test_a_file_and_variables_give_equal_tables(prefix: str):
    by_file = from_file(FILE.replace("[job_types.plain]", '[job_types.plain]\nhandler = "default"')).settings.tables
    Path("longline.toml").unlink()
    by_variables = load(environ={prefix + name: value for name, value in VARIABLES.items()}).settings.tables
    assert by_variables == by_file
    assert by_file.job_types["images"] == JobTypeTable(
        handler="shop.handlers:Images",
        default_headers={"user_agent": "bot/1", "authorization": "Bearer hunter2"},
        proxy=JobProxyTable(primary="homes", fallbacks=("offices",)),
        storage=JobStorageTable(bucket="pictures", key_prefix="raw/"),
        options={"max_parallel_downloads": 8, "sizes": [1, 2], "name": "8.jpg"},
    )
    assert by_file.retention.ledger_max_bytes == 50 * 1024**3
    assert by_file.retention.dlq_ttl_days == 90


def test_a_table_without_keys_is_an_entry():
    assert from_file(FILE).settings.tables.job_types["plain"] == JobTypeTable()


def test_a_child_process_reads_exactly_the_same_tables(tmp_path: Path):
    settings = from_file(FILE).settings
    assert load(environ=settings_as_environment(settings)).settings == settings
    assert load(environ=settings_as_environment(Settings()) | {"LONGLINE__OPERATOR__TOKEN": "x"}).settings == Settings()
    program = "from longline.settings import load; print(hash(repr(load().settings.tables.job_types)), end='')"
    # The child starts in the folder of the file and would read it without the variable.
    child = {**os.environ, **settings_as_environment(settings), "PYTHONHASHSEED": "0"}
    texts = [
        subprocess.check_output([sys.executable, "-c", program], env=child, cwd=folder) for folder in (tmp_path, "/")
    ]
    assert texts[0] == texts[1] != b""


def test_variables_win_over_files_and_ours_over_those_of_the_contract():
    Path("config").mkdir()
    Path("config/fetchbox.toml").write_text("[retention]\njob_ttl_days = 1\nlogs_ttl_days = 1\ntasks_ttl_days = 1\n")
    environ = {"FETCHBOX__RETENTION__JOB_TTL_DAYS": "3", "LONGLINE__RETENTION__LOGS_TTL_DAYS": "4"}
    environ["FETCHBOX__RETENTION__LOGS_TTL_DAYS"] = "5"
    loaded = from_file("[retention]\njob_ttl_days = 2\ntasks_ttl_days = 2\nlogs_ttl_days = 2\n", environ)
    retention = loaded.settings.tables.retention
    assert (retention.job_ttl_days, retention.logs_ttl_days, retention.tasks_ttl_days) == (3, 4, 2)
    assert loaded.origins["retention.job_ttl_days"] == "FETCHBOX__RETENTION__JOB_TTL_DAYS"
    assert loaded.origins["retention.logs_ttl_days"] == "LONGLINE__RETENTION__LOGS_TTL_DAYS"
    assert loaded.origins["retention.tasks_ttl_days"] == "longline.toml"


def test_the_file_of_the_contract_is_found_by_its_variable_and_must_exist_then():
    Path("other.toml").write_text("[retention]\njob_ttl_days = 5\n")
    assert load(environ={"FETCHBOX_CONFIG": "other.toml"}).settings.tables.retention.job_ttl_days == 5
    with pytest.raises(BadInput, match=r"settings file gone\.toml cannot be read"):
        load(environ={"FETCHBOX_CONFIG": "gone.toml"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[job_types.images]\nhandlr = 'x'",
            "longline.toml: there is no setting job_types.images.handlr; the nearest is job_types.images.handler",
        ),
        (
            "[job_types.images.proxy]\nprimry = 'x'",
            "longline.toml: there is no setting job_types.images.proxy.primry; "
            "the nearest is job_types.images.proxy.primary",
        ),
        ("[proxy.pols.a]\n", "longline.toml: there is no setting proxy.pols; the nearest is proxy.pools"),
        ("[job_typs.a]\n", "longline.toml: there is no setting job_typs; the nearest is job_types"),
        ("job_types = 3", "longline.toml: job_types is not a table"),
        ("[job_types]\nimages = 3", "longline.toml: job_types.images is not a table"),
        ("[retention]\njob_ttl_days = 0", 'longline.toml: retention.job_ttl_days "0" is not a whole number from 1'),
        ("[server]\nmax_manifest_bytes = '6MB'", "longline.toml: server.max_manifest_bytes is above 5MB"),
    ],
)
def test_a_fault_in_a_table_is_reported_with_its_full_name(text: str, message: str):
    with pytest.raises(BadInput) as raised:
        from_file(text)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        (
            "LONGLINE__RETENTION__JOB_TTL",
            "there is no setting retention.job_ttl; the nearest is retention.job_ttl_days",
        ),
        ("LONGLINE__RETENTION", "retention is a table; add two underscores and the name of a key"),
        ("LONGLINE__RETENTION__JOB_TTL_DAYS__X", "retention.job_ttl_days is not a table"),
        (
            "FETCHBOX__JOB_TYPES__A__HANDLR",
            "there is no setting job_types.a.handlr; the nearest is job_types.a.handler",
        ),
    ],
)
def test_a_misspelt_variable_is_refused(variable: str, message: str):
    with pytest.raises(BadInput) as raised:
        load(environ={variable: "1"})
    assert str(raised.value) == f"{variable}: {message}"


def test_a_misspelt_variable_is_an_unknown_setting():
    with pytest.raises(UnknownSetting):
        load(environ={"LONGLINE__RETENTION__NONE": "1"})


def test_a_variable_names_a_pool_by_its_letters_and_digits():
    file = '[proxy.pools."homes/EU-1"]\nprimary = ["http://p:1"]\n'
    tables = from_file(file, {"LONGLINE__PROXY__POOLS__HOMES_EU_1__MAX_RETRIES": "9"}).settings.tables
    assert list(tables.proxy.pools) == ["homes/EU-1"]
    assert tables.proxy.pools["homes/EU-1"].max_retries == 9


def test_secrets_are_shown_nowhere():
    loaded = from_file(FILE)
    shown = "\n".join(
        [repr(loaded.settings), repr(loaded.settings.tables), *loaded.table_texts.values(), *loaded.notes]
    )
    assert "hunter2" not in shown
    assert "f52fbd32b2b3b86f" not in shown
    assert loaded.table_texts["proxy.pools.homes.primary"] == "http://me:***@p:1,socks5://q:2"
    assert loaded.table_texts["operator.token"] == "***"
    assert loaded.table_texts["job_types.images.default_headers.authorization"] == "***"
    assert loaded.table_texts["job_types.images.default_headers.user_agent"] == "bot/1"


def test_a_short_key_for_manifests_is_refused():
    with pytest.raises(BadInput, match=r"^longline.toml: storage.client_side_key has fewer than 16 characters$"):
        from_file('[storage]\nclient_side_key = "hunter2"\n')


def test_the_variable_of_child_processes_is_refused_unless_it_can_be_decoded():
    assert decoded(encoded(Settings().tables)) == Settings().tables
    for text in ("x", "eJw="):
        with pytest.raises(BadInput, match=f"{TABLES_NAME} is for child processes"):
            load(environ={TABLES_NAME: text})
