import json
import re
from pathlib import Path

from longline.cli.generated_files.grafana_dashboard import COLUMNS, PANELS, dashboard, write
from longline.surfaces.platform.metric_reference import METRIC_TABLE
from tests.house.tree import ROOT

METRICS = {metric.name: metric for metrics in METRIC_TABLE.values() for metric in metrics}
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_count", "_sum")}


def test_the_kept_dashboard_is_the_one_that_is_made(tmp_path: Path):
    write(tmp_path / "deploy" / "grafana.json")
    made = (tmp_path / "deploy" / "grafana.json").read_text()
    assert made == (ROOT / "deploy" / "grafana.json").read_text(), "run: make dashboard"
    assert json.loads(made) == dashboard()


def test_panels_do_not_overlap_and_have_ids():
    panels = dashboard()["panels"]
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert len(places) == len({panel["id"] for panel in panels}) == len(PANELS)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= COLUMNS for panel in panels)


def test_queries_use_metrics_and_labels_that_exist():
    series = {metric.name + suffix: metric for metric in METRICS.values() for suffix in SUFFIXES[metric.kind]}
    for panel in PANELS:
        for query, legend in panel.queries:
            [name] = re.findall(r"\blongline_\w+", query)
            labels = {*series[name].labels, "instance", "le"}
            used = {word for by in re.findall(r"by \(([^)]*)\)", query) for word in by.split(", ")}
            assert used | set(re.findall(r"{{(\w+)}}", legend)) <= labels, panel.title


def test_work_of_all_processes_and_every_gauge_of_the_queue_is_shown():
    queries = " ".join(query for panel in PANELS for query, _ in panel.queries)
    subjects = ("Work of all processes", "Queue, workers, disk and database")
    assert [m.name for subject in subjects for m in METRIC_TABLE[subject] if m.name not in queries] == []
