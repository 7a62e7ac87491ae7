"""A scrape of a platform under load, with worker processes, read by the client library of Prometheus."""

import re
from collections import defaultdict

import httpx
from prometheus_client.parser import text_string_to_metric_families

from longline.cli.generated_files.grafana_dashboard import PANELS
from longline.surfaces.platform.metric_reference import METRIC_TABLE
from tests.house.tree import ROOT
from tests.journeys.place import PATIENCE, Place, wait_until
from tests.journeys.test_serve import up, workers
from tests.web import running_site

PAGES = 120

Scrape = dict[str, dict[tuple[tuple[str, str], ...], float]]


def scrape(where: str) -> tuple[Scrape, dict[str, tuple[str, str]]]:
    """Return every series by name and labels, and the kind and the help text of every family."""
    answer = httpx.get(f"{where}/metrics", timeout=PATIENCE)
    assert answer.status_code == 200
    found: Scrape = defaultdict(dict)
    families = {}
    for family in text_string_to_metric_families(answer.text):
        families[family.name] = (family.type, family.documentation)
        for sample in family.samples:
            found[sample.name][tuple(sorted(sample.labels.items()))] = sample.value
    return found, families


def total(found: Scrape, name: str) -> float:
    return sum(found[name].values())


def assert_documented(families: dict[str, tuple[str, str]]) -> None:
    """Assert that every family of a scrape is in the table and in the reference, with its kind and its help text."""
    page = (ROOT / "docs/reference/metrics.md").read_text()
    table = {metric.name: metric for metrics in METRIC_TABLE.values() for metric in metrics}
    shown = {
        name if name == "python_info" else name.removesuffix("_info"): said
        for name, said in families.items()
        if name.removesuffix("_created") not in families or not name.endswith("_created")
    }
    for name, (kind, text) in shown.items():
        metric = table[name]
        assert metric.text == text, name
        assert metric.kind == kind, name
        assert f"| `{name}{'_total' if kind == 'counter' else ''}` | {kind} |" in page
    assert set(table) - set(shown) == set(), "documented and not exported"


def test_a_scrape_under_load_shows_the_work_of_all_processes(place: Place):
    with running_site(pages=PAGES, delay=0.01) as site, up(place, "--workers", "2", "--log-format", "json") as it:
        wait_until(lambda: len(workers(place)) == 2, "two workers")
        place.give_work(site)
        wait_until(lambda: total(scrape(it.where)[0], "longline_archived_pages_total") > 0, "counts under load")
        wait_until(lambda: place.value("SELECT state FROM runs") == "completed", "the end of the crawl")
        wait_until(lambda: total(scrape(it.where)[0], "longline_archived_pages_total") == PAGES, "all counts")
        found, families = scrape(it.where)
        wait_until(lambda: '"run ended"' in it.log.read_text(), "the line of the end")
        logged = it.stop()
    assert_documented(families)
    names = {name for panel in PANELS for query, _ in panel.queries for name in re.findall(r"\blongline_\w+", query)}
    without = {name for name in names if not found[name]}
    unused = ("longline_sink_", "longline_webhook_", "longline_download_failures_", "longline_proxy_failures_")
    assert without == {name for name in names if name.startswith(unused)}, "no sink, webhook, download or proxy"
    requests = place.value("SELECT CAST(SUM(count) AS BIGINT) FROM requests")
    assert total(found, "longline_fetches_total") == requests
    assert found["longline_fetch_seconds_count"][()] == requests
    assert total(found, "longline_fetch_bytes_total") == place.value("SELECT CAST(SUM(bytes) AS BIGINT) FROM requests")
    assert found["longline_parse_seconds_count"][()] >= PAGES
    assert found["longline_workers"] == {
        (("role", role),): n for role, n in (("fetch", 2), ("parse", 2), ("upkeep", 1))
    }
    assert found["longline_free_disk_bytes"][()] > 0
    assert '"run started"' in logged
    assert f'"pages": {PAGES}' in logged or f'"pages":{PAGES}' in logged
