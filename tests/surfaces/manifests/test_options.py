"""Options of operators: tenants by certificates, strict URLs, and the judgement of 403 by job type."""

from pathlib import Path

from tests.journeys.place import wait_until
from tests.servers.proxies import running_proxy
from tests.surfaces.manifests.origin import Origin
from tests.surfaces.manifests.running import running_box
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
