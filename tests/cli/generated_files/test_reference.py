import re
from pathlib import Path

from longline.cli.generated_files.reference import render, write
from longline.engine.fetch.fetcher import Fetched
from longline.engine.frontier.standing_runs import StandingRules, standing_plan
from longline.engine.sources.crawl_plan import CrawlRules, plan_of
from longline.engine.worker.finished_task import Finished
from longline.model.frontier import reasons
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.sources.source import CrawlSource
from longline.model.states import MOVES, STATES, TaskState
from longline.plugins.registry import Registry
from longline.settings import KEYS
from longline.settings.aliases import ALIASES, IGNORED_VARIABLES
from tests.engine import fakes


def test_pages_are_written_as_they_are_rendered(tmp_path: Path):
    write(tmp_path / "reference")
    pages = {path.name: path.read_text() for path in (tmp_path / "reference").iterdir()}
    assert pages == render() == render()
    assert set(pages) == {"cli.md", "loops.md", "metrics.md", "reasons.md", "settings.md", "states.md"}


def test_every_setting_and_every_variable_is_in_the_manual():
    page = render()["settings.md"]
    for name, key in KEYS.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert f"`LONGLINE_{name.upper()}`" in row
        assert key.doc in row
    for name in (*(name for alias in ALIASES for name in alias.names), *IGNORED_VARIABLES):
        assert f"`{name}`" in page


def test_every_move_is_in_the_manual():
    parts = re.split(r"^## ", render()["states.md"], flags=re.M)[1:]
    assert [part.split("\n")[0] for part in parts] == list(STATES)
    for part, noun in zip(parts, STATES, strict=True):
        rows = re.findall(r"^\| (\w+) \| .* \| (\w+) \| .* \| .* \|$", part, re.M)[0:]
        assert rows == [("move", "to"), *((move.name, str(move.became)) for move in MOVES if move.noun == noun)]
        for move in (m for m in MOVES if m.noun == noun):
            drawn = re.search(rf"--> {move.became}: .*\b{move.name}\b", part)
            told = re.search(rf"^Not drawn.*\b{move.name}\b", part, re.M)
            assert bool(drawn) is not bool(told), move.name


def test_every_reason_is_in_the_manual():
    ended, refused, without_item = render()["reasons.md"].split("\n## ")
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (\S+) \|.* \|$", ended, re.M)
    assert {reason: (fate_, again) for reason, fate_, again in rows} == {
        reasons.OK: ("completed", "–"),
        **dict.fromkeys(reasons.RETRYABLE, ("failed", "yes")),
        **dict.fromkeys(reasons.FINAL, ("failed", "no")),
        **dict.fromkeys(reasons.SKIPPED, ("skipped", "no")),
    }
    assert dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", refused, re.M)) == reasons.REFUSED
    assert dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", without_item, re.M)) == reasons.WITHOUT_ITEM


def again(reason: str, plan: CrawlPlan) -> str:
    """Return the word for the next step after a first attempt with this end in a run with this plan."""
    finished = Finished(fakes.part(None), fakes.claimed(), plan, Fetched(reason, 0), parsed=None, page=None)
    return "yes" if finished.rest == TaskState.PENDING else "no"


def test_the_manual_lists_the_retries_of_each_kind_of_run():
    ended = render()["reasons.md"].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| \w+ \| (\S+) \| (\S+) \| (\S+)(?:, but not 404 and 410)? \|", ended, re.M)
    source = CrawlSource(ref="1", name="s", url="https://s.example/")
    scheduled = plan_of(source, source.url, CrawlRules(max_attempts=3), Registry())
    plans = (CrawlPlan(()), scheduled, standing_plan(None, StandingRules(attempts=3), Registry()))
    assert len(rows) == len(reasons.RETRYABLE | reasons.FINAL | reasons.SKIPPED) + 1
    for reason, *told in rows[1:]:
        assert told == [again(reason, plan) for plan in plans], reason


def test_settings_that_a_reason_names_exist():
    named = re.findall(
        r"`(\w+)`", " ".join([*reasons.RETRYABLE.values(), *reasons.FINAL.values(), *reasons.SKIPPED.values()])
    )
    assert named
    assert not set(named) - set(KEYS)


def test_every_command_is_in_the_manual():
    page = render()["cli.md"]
    for command in ("up", "crawl", "api", "worker", "token", "migrate", "doctor", "settings", "version"):
        assert f"## `longline {command}`" in page
    assert "`--roles ROLES`" in page


def test_pages_do_not_depend_on_the_terminal(monkeypatch):
    wide = render()
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "dumb")
    assert render() == wide
