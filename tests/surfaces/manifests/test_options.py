"""Options of operators: tenants by certificates, strict URLs, and the judgement of 403 by job type."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.journeys.place import wait_until
from tests.servers import PostgresServer
from tests.servers.program import run
from tests.servers.proxies import running_proxy
from tests.surfaces.manifests.origin import Origin
from tests.surfaces.manifests.running import config, environment, running_box
from tests.surfaces.manifests.test_metrics import scraped

SUBJECTS = """
[server]
client_subject_header = "X-Client-Subject"
strict_urls = true
[tenants.acme]
subjects = ["CN=acme,O=Acme"]
"""


def test_a_verified_subject_is_its_tenant_alone(tmp_path: Path, origin: Origin):
    with running_box(tmp_path, origin, more=SUBJECTS) as box:
        body, subject = box.manifest("/subject"), {"X_Client_Subject": "CN=acme,O=Acme"}
        assert box.post(body, X_Fetchbox_Tenant="acme").status_code == 401
        assert box.post(body, X_Fetchbox_Tenant="acme", X_Client_Subject="CN=stranger").status_code == 401
        assert box.post(body, X_Fetchbox_Tenant="other", **subject).status_code == 401
        assert box.post(body, X_Fetchbox_Tenant="acme", **subject).status_code == 202
        accepted = box.post(body, **subject)
        assert box.job(accepted.json()["job_id"])["tenant"] == "acme"


def test_other_schemes_are_refused_where_urls_are_strict(tmp_path: Path, origin: Origin):
    with running_box(tmp_path, origin, more=SUBJECTS) as box:
        refused = box.post(box.manifest("/strict", "ftp://a.invalid/x"))
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "INVALID_PAYLOAD")
        assert refused.json()["error"]["message"].startswith("resources[1].url ")
        assert box.post(box.manifest("HTTP://a.invalid/x")).status_code == 202


def test_403_counts_against_a_proxy_only_where_the_job_type_says_so(tmp_path: Path, origin: Origin):
    with running_proxy() as one, running_proxy() as other:
        more = f"""
[job_types.forgiving.proxy]
primary = "forgiven"
[job_types.blaming.proxy]
primary = "blamed"
[job_types.blaming.options]
forbidden_blames_proxy = true
[proxy.pools.forgiven]
primary = ["{one.uri}"]
[proxy.pools.blamed]
primary = ["{other.uri}"]
"""
        with running_box(tmp_path, origin, more=more) as box:
            paths = [f"/status/403/proxied/{n}" for n in range(6)]
            jobs = [box.submit(*paths, kind=kind) for kind in ("forgiving", "blaming")]
            assert box.ended(jobs[0])["last_error"]["code"] == "HTTP_403"
            box.until(jobs[1], lambda job: job["resource_failed"] > 0)
            url = f"{box.client.base_url}/metrics"
            wait_until(lambda: scraped(url).get(("fetchbox_proxy_failures_total", "blamed"), 0) >= 5, "failures")
            assert ("fetchbox_proxy_failures_total", "forgiven") not in scraped(url)


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_pool_without_proxies_sends_no_request_of_its_own(
    tmp_path: Path, origin: Origin, engine: str, request: pytest.FixtureRequest
):
    more = """
[job_types.hidden.proxy]
primary = "bare"
[proxy.pools.bare]
primary = []
max_retries = 0
"""
    with ExitStack() as stack:
        database = ""
        if engine == "postgres":
            postgres: PostgresServer = request.getfixturevalue("postgres_server")
            database = stack.enter_context(postgres.fresh_database())
        box = stack.enter_context(running_box(tmp_path, origin, more=more, LONGLINE_DATABASE=database))
        job = box.ended(box.submit("/hidden", kind="hidden"))
        assert (job["status"], job["last_error"]["code"]) == ("failed", "DOWNLOAD_PROXY_EXHAUSTED")
        assert not origin.asked("/hidden")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("[server]\nmax_manifest_bytes = 0", "server.max_manifest_bytes"),
        ("[server]\nmax_manifest_bytes = -1", "server.max_manifest_bytes"),
        ("[server]\nmax_upload_bytes = -1", "server.max_upload_bytes"),
        ('[retention]\nledger_max_bytes = "0MB"', "retention.ledger_max_bytes"),
        ("[retention]\nledger_max_bytes = -1", "retention.ledger_max_bytes"),
        ("[job_types.few.options]\ndownload_retry_limit = 0", "job_types.few: download_retry_limit"),
        ("[job_types.few.options]\nstorage_retry_limit = 0", "job_types.few: storage_retry_limit"),
        ('[tenants.one]\nsubjects = ["CN=a"]\n[tenants.two]\nsubjects = ["CN=a"]', "tenants.two.subjects"),
        ('[job_types.up.storage]\nkey_prefix = "../"', "job_types.up: storage.key_prefix"),
        ('[job_types.up.storage]\nkey_prefix = "/lead/"', "job_types.up: storage.key_prefix"),
        ('[job_types.up.storage]\nbucket = "../x"', "job_types.up: storage.bucket"),
    ],
)
def test_settings_under_which_every_job_fails_refuse_to_start(tmp_path: Path, more: str, said: str):
    ended = run("up", env=environment(tmp_path, config(tmp_path, more=more)))
    assert (ended.returncode, said in ended.stderr) == (2, True), ended.stderr
