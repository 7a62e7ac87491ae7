"""Reference pages, written from the code by `make docs`."""

import sys
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.cli import get_docs_for_click

from longline.cli.main import build
from longline.model.duration import show_duration
from longline.model.frontier import reasons, retries
from longline.model.metrics.metric import Metric
from longline.model.states import MOVES, STATES, Move, Noun
from longline.settings import KEYS, Key
from longline.settings.aliases import IGNORED_VARIABLES, environment_names
from longline.settings.keys import SUBJECTS, default_text, keys_of
from longline.settings.tables import ROOT
from longline.settings.tables.schema import default_of, dotted, leaves
from longline.settings.values import mask
from longline.surfaces.platform.metric_reference import METRIC_TABLE
from longline.wiring.loops.loop_row import LoopRow
from longline.wiring.loops.loop_table import LOOPS

_GENERATED = "<!-- Written by `make docs`; do not edit. -->\n"

_MAX_ARROWS = 6

_SETTINGS_INTRODUCTION = """\
Settings come from a file (`longline.toml` in the working folder, or the file of `--config` or `LONGLINE_CONFIG`),
then the environment, then flags; the later layer wins. Unknown keys and invalid values are errors. An empty variable
counts as not set. Of several environment names of a key the first one that is set wins.

Durations are written `500ms`, `30s`, `5m`, `1h30m`; sizes `500KB`, `10MB`; switches `true`, `1`, `yes` or `false`, `0`,
`no`; lists with commas. In the file they may also be TOML numbers, booleans and arrays.
"""


_TABLES_INTRODUCTION = """\
The settings file also has tables. A variable spells the key of a table with two underscores between the parts:
`LONGLINE__JOB_TYPES__IMAGES__STORAGE__BUCKET=pictures` sets `job_types.images.storage.bucket` and wins over the file. A
name with other characters than letters, digits and underscores can only be introduced by a file; a variable spells it
with an underscore for each of them. The file and the variables of the manifest contract (`FETCHBOX_CONFIG`,
`FETCHBOX__SECTION__KEY`) have the same tables; ours win.
"""


_LOOPS_INTRODUCTION = """\
The loops of a process, from `wiring/loops/loop_table.py`. A process runs the loops of its roles: `longline up` has all
of them, `longline api` the role api, `longline worker` the others or those that `--roles` names. A setting
in the column *interval* has the pause between two rounds; a loop without an interval waits for its work by itself. A
loop with a *setting* runs while the setting is on. A loop that fails is started again.
"""


_REASONS_INTRODUCTION = """\
Every admitted URL of a run ends once, for one of these reasons unless it is cancelled, and the run's summary counts
them: admitted = open + completed + failed + cancelled + skipped.

Temporary failures are retried. `longline crawl` retries `max_retries` times at most, after a pause of a second that
doubles each time. A scheduled run retries `page_retries` times, each time after `page_retry_delay`, and never after a
timeout. A single URL of the frontier has `frontier_attempts` attempts, with pauses from one minute that double each
time, unless its failure is permanent. A pause is never shorter than a Retry-After of up to an hour. A poll of a feed or
a sitemap is not retried: the next poll follows.

A request that fails on a reused connection before the response's headers came is repeated at once on a new connection.
The repetition does not count as an attempt.
"""


_METRICS_INTRODUCTION = """\
`GET /metrics` exports these metrics for Prometheus; `deploy/grafana.json` is a dashboard of them. Work is counted by
every process, added to the database every few seconds, and shown by each server for all processes: in a query over
several servers, take the maximum. A histogram has the suffixes `_bucket`, `_count` and `_sum`; metrics of one process
also have `_created`, the time at which counting began. `longline_build` is exported as `longline_build_info`. The
setting `metrics_hosts` names the domains that are host groups.
"""


_WITHOUT_ITEM_INTRODUCTION = """\
These pages are completed, and counted once more here: their parser makes no item of them. Custom parsers may have
further reasons."""


def render() -> dict[str, str]:
    """Return every page by its file name; the same code always gives the same text."""
    return {"cli.md": _commands(), "settings.md": _settings(), "states.md": _states(), "reasons.md": _reasons()} | {
        "loops.md": _loops(),
        "metrics.md": _metrics(),
    }


def write(folder: Path) -> None:
    """Write the pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in render().items():
        (folder / name).write_text(text, encoding="utf-8")


def _commands() -> str:
    command = typer.main.get_command(build(hidden=False))
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="longline", title="Commands")
    return _GENERATED + text.strip() + "\n"


def _settings() -> str:
    return "\n".join(
        [
            _GENERATED + "# Settings",
            "",
            _SETTINGS_INTRODUCTION,
            *(line for subject in SUBJECTS for line in _subject(subject)),
            *_tables(),
            "## Ignored variables",
            "",
            "Variables of the interval contract without effect. A variable that is set gives a warning at start.",
            "",
            "| variable | reason |",
            "|---|---|",
            *(f"| `{name}` | {why} |" for name, (why, _) in IGNORED_VARIABLES.items()),
            "",
        ]
    )


def _subject(subject: str) -> Iterator[str]:
    yield from (f"## {subject}", "", "| key | environment | default | meaning |", "|---|---|---|---|")
    for name in keys_of(subject):
        yield f"| `{name}` | {_names(name)} | {default_text(name) or '–'} | {_meaning(name)} |"
    yield ""


def _tables() -> Iterator[str]:
    yield from ("## Tables", "", _TABLES_INTRODUCTION, "| key | default | meaning |", "|---|---|---|")
    for path, key, later in leaves(ROOT):
        default = default_of(ROOT, path)
        text = "–" if default in (None, "", ()) else mask(key.kind.show(default))
        yield f"| `{dotted(path)}` | {text} | {_key_meaning(key, later=later)} |"
    yield ""


def _names(setting: str) -> str:
    return " ".join(f"`{name}`" for name in environment_names(setting))


def _meaning(name: str) -> str:
    return _key_meaning(KEYS[name], later=KEYS[name].later)


def _key_meaning(key: Key, *, later: bool) -> str:
    written = key.kind.word.replace("|", " \\| ")
    return f"{key.doc} ({written})" + (" *No effect yet.*" if later else "")


def _states() -> str:
    parts = [_GENERATED + "# States and moves", "", "Every legal move, from `model/states.py`.", ""]
    for noun in STATES:
        parts += [f"## {noun}", "", *_moves(noun), "", "```mermaid", "stateDiagram-v2", *_chart(noun), "```", ""]
        everywhere = [move.name for move in MOVES if move.noun == noun and not _is_drawn(move)]
        if everywhere:
            parts += [f"Not drawn, because they start in nearly every state: {', '.join(everywhere)}.", ""]
    return "\n".join(parts)


def _moves(noun: Noun) -> Iterator[str]:
    yield "| move | from | to | actors | lease |"
    yield "|---|---|---|---|---|"
    for move in MOVES:
        if move.noun == noun:
            lease = "needed" if move.fenced else "given" if move.gives else "–"
            was = ", ".join(_in_order(noun, move.was)) or "(new)"
            yield f"| {move.name} | {was} | {move.became} | {', '.join(sorted(move.actors))} | {lease} |"


def _chart(noun: Noun) -> Iterator[str]:
    """Yield one arrow for each pair of states, with the names of all moves between them."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for move in MOVES:
        if move.noun == noun and _is_drawn(move):
            for was in _in_order(noun, move.was) or ["[*]"]:
                arrows.setdefault((was, str(move.became)), []).append(move.name)
    for (was, became), names in arrows.items():
        yield f"    {was} --> {became}: {', '.join(names)}"


def _reasons() -> str:
    head = "| reason | fate | retried in a crawl | in a scheduled run | as a single URL | meaning |"
    parts = [_GENERATED + "# Reasons", "", _REASONS_INTRODUCTION, head, "|---|---|---|---|---|---|"]
    parts.append(f"| `{reasons.OK}` | completed | – | – | – | the page was fetched, parsed and archived |")
    for words, ending in ((reasons.RETRYABLE, "failed"), (reasons.FINAL, "failed"), (reasons.SKIPPED, "skipped")):
        parts += [f"| `{word}` | {ending} | {_retried(word)} | {means} |" for word, means in words.items()]
    parts += ["", "## URLs that are not admitted", "", "These URLs are counted apart from the sum.", ""]
    parts += [
        "| reason | meaning |",
        "|---|---|",
        *(f"| `{word}` | {means} |" for word, means in reasons.REFUSED.items()),
    ]
    parts += ["", "## Pages without an item", "", _WITHOUT_ITEM_INTRODUCTION, "", "| reason | meaning |", "|---|---|"]
    parts += [f"| `{word}` | {means} |" for word, means in reasons.WITHOUT_ITEM.items()]
    return "\n".join([*parts, ""])


def _loops() -> str:
    head = ["| loop | role | interval | setting | what it does |", "|---|---|---|---|---|"]
    return "\n".join([_GENERATED + "# Loops", "", _LOOPS_INTRODUCTION, *head, *(_loop(row) for row in LOOPS), ""])


def _metrics() -> str:
    parts = [_GENERATED + "# Metrics", "", _METRICS_INTRODUCTION]
    for subject, metrics in METRIC_TABLE.items():
        parts += [f"## {subject}", "", "| metric | kind | labels | meaning |", "|---|---|---|---|"]
        parts += [_metric(metric) for metric in metrics] + [""]
    return "\n".join(parts)


def _metric(metric: Metric) -> str:
    name = metric.name + ("_total" if metric.kind == "counter" else "")
    return f"| `{name}` | {metric.kind} | {', '.join(metric.labels) or '–'} | {metric.text} |"


def _loop(row: LoopRow) -> str:
    interval = f"`{row.interval}`" if isinstance(row.interval, str) else _span(row.interval)
    settings = " and ".join(f"`{name}`" for name in row.settings) or "–"
    return f"| {row.name} | {' and '.join(row.roles) or 'all'} | {interval} | {settings} | {row.purpose} |"


def _span(seconds: float | None) -> str:
    return "–" if seconds is None else show_duration(seconds)


def _retried(reason: str) -> str:
    """Return three table cells: is this reason retried in a crawl, in a scheduled run, as a single URL."""
    single = "no" if retries.is_hopeless(reason, None) else "yes"
    single += ", but not 404 and 410" if reason == "http_4xx" else ""
    may_pass = reason in reasons.RETRYABLE
    scheduled = may_pass and reason not in reasons.TIMEOUTS
    return " | ".join(("yes" if may_pass else "no", "yes" if scheduled else "no", single))


def _is_drawn(move: Move) -> bool:
    return len(move.was) <= _MAX_ARROWS


def _in_order(noun: Noun, states: frozenset[str]) -> list[str]:
    return [str(state) for state in STATES[noun] if state in states]


if __name__ == "__main__":
    write(Path(sys.argv[1]))
