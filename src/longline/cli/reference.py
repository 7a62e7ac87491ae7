"""Reference pages written from the code: `python -m longline.cli.reference docs/reference`."""

import sys
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.cli import get_docs_for_click

from longline.cli.main import build
from longline.model.frontier import outcomes as fate
from longline.model.states import MOVES, STATES, Move, Noun
from longline.settings import KEYS
from longline.settings.env_aliases import environment_names
from longline.settings.ignored_env import NEEDLESS
from longline.settings.keys import default

_MADE = "<!-- Written by `make docs`; do not edit. -->\n"

_MOST_ARROWS = 6

_HOW = """\
Settings come from a file (`longline.toml` in the working folder, or what `--config` or `LONGLINE_CONFIG` names),
then the environment, then flags; the later one wins. An unknown key and a value that cannot be read are errors. An
empty variable counts as not set. Where a key has several environment names, the first one that is set wins.

Durations are written `500ms`, `30s`, `5m`, `1h30m`; sizes `500KB`, `10MB`; switches `true`, `1`, `yes` or `false`, `0`,
`no`; lists with commas. In the file they may also be TOML numbers, booleans and arrays.
"""


_WHY = """\
Every URL that a run admits ends once, for one of these reasons unless somebody cancels it, and the run's summary counts
them: admitted = open + completed + failed + cancelled + skipped.

A failure that may pass is tried again. `longline crawl` does so `max_retries` times at most, after a pause of a second
that doubles each time. A run of a schedule does so `page_retries` times, each time after `page_retry_delay`, and never
after a timeout. A single URL of the frontier is tried `frontier_attempts` times in all, after a minute that doubles
each time, unless its failure cannot pass. A pause is never shorter than a Retry-After of up to an hour. A poll of a
feed or a sitemap is not tried again: the next poll comes.

A request that breaks on a kept connection before the head of an answer came is sent once more at once, on a connection
of its own. That is no further attempt.
"""


def render() -> dict[str, str]:
    """Return every page by its file name; the same code always gives the same text."""
    return {"cli.md": _commands(), "settings.md": _settings(), "states.md": _states(), "reasons.md": _reasons()}


def write(folder: Path) -> None:
    """Write the pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in render().items():
        (folder / name).write_text(text, encoding="utf-8")


def _commands() -> str:
    command = typer.main.get_command(build())
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="longline", title="Commands")
    return _MADE + text.strip() + "\n"


def _settings() -> str:
    rows = [f"| `{name}` | {_names(name)} | {default(name) or '–'} | {_meaning(name)} |" for name in KEYS]
    return "\n".join(
        [
            _MADE + "# Settings",
            "",
            _HOW,
            "| key | environment | default | meaning |",
            "|---|---|---|---|",
            *rows,
            "",
            "## Variables that nothing needs",
            "",
            "The interval contract names these too; what they are for is done another way here.",
            "",
            "| variable | why it has no effect |",
            "|---|---|",
            *(f"| `{name}` | {why} |" for name, (why, _) in NEEDLESS.items()),
            "",
        ]
    )


def _names(setting: str) -> str:
    return " ".join(f"`{name}`" for name in environment_names(setting))


def _meaning(name: str) -> str:
    key = KEYS[name]
    written = key.kind.word.replace("|", " \\| ")
    return f"{key.doc} ({written})" + (" *No effect yet.*" if key.later else "")


def _states() -> str:
    parts = [_MADE + "# States and moves", "", "Every legal move, from `model/states.py`; no other is ever made.", ""]
    for noun in STATES:
        parts += [f"## {noun}", "", *_moves(noun), "", "```mermaid", "stateDiagram-v2", *_chart(noun), "```", ""]
        everywhere = [move.name for move in MOVES if move.noun == noun and not _is_drawn(move)]
        if everywhere:
            parts += [f"Not drawn, because they start nearly everywhere: {', '.join(everywhere)}.", ""]
    return "\n".join(parts)


def _moves(noun: Noun) -> Iterator[str]:
    yield "| move | from | to | who may | lease |"
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
    head = "| reason | fate | again in a crawl | in a run of a schedule | as a single URL | means |"
    parts = [_MADE + "# Reasons", "", _WHY, head, "|---|---|---|---|---|---|"]
    parts.append(f"| `{fate.OK}` | completed | – | – | – | the page came, was parsed and is kept |")
    for words, ending in ((fate.RETRYABLE, "failed"), (fate.FINAL, "failed"), (fate.SKIPPED, "skipped")):
        parts += [f"| `{word}` | {ending} | {_again(word)} | {means} |" for word, means in words.items()]
    parts += ["", "## URLs that are not admitted", "", "They are counted too, apart from the sum.", ""]
    parts += ["| reason | means |", "|---|---|", *(f"| `{word}` | {means} |" for word, means in fate.REFUSED.items())]
    return "\n".join([*parts, ""])


def _again(reason: str) -> str:
    """Return three table cells: is this reason tried again in a crawl, in a run of a schedule, as a single URL."""
    single = "no" if fate.is_hopeless(reason, None) else "yes"
    single += ", but not 404 and 410" if reason == "http_4xx" else ""
    may_pass = reason in fate.RETRYABLE
    scheduled = may_pass and reason not in fate.TIMEOUTS
    return " | ".join(("yes" if may_pass else "no", "yes" if scheduled else "no", single))


def _is_drawn(move: Move) -> bool:
    return len(move.was) <= _MOST_ARROWS


def _in_order(noun: Noun, states: frozenset[str]) -> list[str]:
    return [str(state) for state in STATES[noun] if state in states]


if __name__ == "__main__":
    write(Path(sys.argv[1]))
