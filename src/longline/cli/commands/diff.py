"""`longline diff`: the items that changed between two runs."""

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

import orjson
import typer
from rich.text import Text

from longline.cli import log_setup as logs
from longline.cli.data_folder import READ_KEYS, archive_settings
from longline.cli.event_loop import run as run_loop
from longline.cli.exit_codes import DIFFERENT
from longline.cli.flags import takes
from longline.cli.listing import Column, Listing, OutputConsole
from longline.model.errors import BadInput, NotFound
from longline.model.search.item import own_fields
from longline.services.search.item_changes import ItemDifference
from longline.settings import Loaded
from longline.wiring import diff as compare

_COLOURS = {"added": "green", "changed": "yellow", "gone": "red", "unseen": "dim"}
_MAX_CHARACTERS = 60


@takes(*READ_KEYS)
def diff(
    loaded: Loaded,
    before: Annotated[int, typer.Argument(help="Number of the earlier run.", show_default=False)],
    after: Annotated[int, typer.Argument(help="Number of the later run.", show_default=False)],
) -> None:
    """Show the items that changed between two runs; the exit code is 1 if any was added, changed or is gone.

    On a terminal the command prints a table, elsewhere JSON lines.
    """
    logs.set_up(loaded.settings.log_level, loaded.settings.log_format)
    console = OutputConsole()
    counts: Counter[str] = Counter()
    columns = ("change", "kind", Column("key", copied=True), "field", "before", "after")
    listing = Listing(*columns, console=console)

    def show(difference: ItemDifference) -> None:
        counts[difference.change] += 1
        for line in lines(difference):
            if listing.is_table:
                listing.add(*_cells(line))
            else:
                sys.stdout.buffer.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    try:
        run_loop(compare(archive_settings(loaded), before, after, show))
    except NotFound as error:
        # As with diff(1), an exit code of 1 says that there are differences.
        raise BadInput(str(error)) from error
    listing.print()
    listing.note(summary(counts))
    if counts.keys() - {"unseen"}:
        raise typer.Exit(DIFFERENT)


def lines(difference: ItemDifference) -> Iterator[dict[str, Any]]:
    """Yield the lines of an item: one for each changed field, or one with all fields."""
    item = difference.item
    known = {
        "change": difference.change,
        "kind": item.kind,
        "key": item.name or item.url,
        "url": item.url,
        "item": item.id,
    }
    for change in difference.fields:
        yield known | {"field": change.field, "before": change.before, "after": change.after}
    if difference.change == "changed" and not difference.fields:
        yield known | {"field": "content_hash"}
    elif difference.change == "added":
        yield known | {"after": own_fields(item)}
    elif difference.change != "changed":
        yield known | {"before": own_fields(item)}


def summary(counts: Counter[str]) -> str:
    """Return the numbers of differing items as text."""
    if not counts:
        return "no item differs"
    known = ", ".join(f"{counts[change]:,} {change}" for change in ("changed", "added", "gone"))
    return known + unseen_items(counts["unseen"])


def unseen_items(count: int) -> str:
    """Return the end of a sentence about items whose pages were not read; an empty text if there are none."""
    if not count:
        return ""
    return f"; {count:,} not seen: {'its page was' if count == 1 else 'their pages were'} not read"


def _cells(line: dict[str, Any]) -> list[Text]:
    """Return the cells of a line; of an item that one run lacks, the title stands for all fields."""
    values = [line.get("before"), line.get("after")]
    if "field" not in line:
        values = [_title(value) for value in values]
    change = Text(line["change"], _COLOURS[line["change"]])
    return [change, Text(line["kind"]), Text(line["key"]), *(Text(_short(v)) for v in (line.get("field", ""), *values))]


def _title(fields: dict[str, Any] | None) -> str:
    return "" if fields is None else str(next((fields[n] for n in ("title", "name") if fields.get(n)), ""))


def _short(value: object) -> str:
    text = value if isinstance(value, str) else "" if value is None else orjson.dumps(value, default=str).decode()
    line = " ".join(text.split())
    return line if len(line) <= _MAX_CHARACTERS else line[: _MAX_CHARACTERS - 1] + "…"
