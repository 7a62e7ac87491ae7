"""`longline search`: full-text search of items."""

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from longline.cli import log_setup as logs
from longline.cli.data_folder import READ_KEYS, archive_settings
from longline.cli.event_loop import run as run_loop
from longline.cli.exit_codes import NOTHING_FOUND
from longline.cli.flags import takes
from longline.cli.listing import Listing, OutputConsole
from longline.model.errors import BadInput
from longline.model.search.query import Filters
from longline.services.search.item_search import Hit, SearchPage, SearchRequest
from longline.settings import Loaded
from longline.wiring import search as ask


@takes(*READ_KEYS, "search")
def search(
    loaded: Loaded,
    words: Annotated[
        list[str],
        typer.Argument(help='Words, "a phrase", -without, begin*; quote the quotes for the shell.', show_default=False),
    ],
    kind: Annotated[str | None, typer.Option(help="Only items of this kind.", show_default=False)] = None,
    run: Annotated[int | None, typer.Option(help="Only items of this run.", show_default=False)] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of items.")] = 10,
    offset: Annotated[int, typer.Option(min=0, help="Number of best items to skip.")] = 0,
) -> None:
    """Search items, the best match first.

    Off a terminal each item is a line of values between tabs: item, rank, kind, title, URL, text.
    """
    logs.set_up(loaded.settings.log_level, loaded.settings.log_format)
    if not any(character.isalnum() for character in "".join(words)):
        raise BadInput("give words to search for: there is no letter and no digit in the question")
    asked = SearchRequest(" ".join(words), Filters(kind=kind, run_id=run), limit=limit, offset=offset)
    found = run_loop(ask(archive_settings(loaded), asked))
    show(found, OutputConsole(), offset)
    if not found.total:
        raise typer.Exit(NOTHING_FOUND)


def show(found: SearchPage, console: Console, offset: int = 0) -> None:
    """Print hits, and their total: on a terminal a paragraph for each, elsewhere a line with its rank, from 1 on."""
    listing = Listing("item", "rank", "kind", "title", "URL", "text", console=console)
    if found.meant:
        listing.note(f"no item has all of these words; searched for: {found.meant}")
    for rank, hit in enumerate(found.hits, offset + 1):
        title = hit.item.title or "(no title)"
        if listing.is_table:
            console.print(Text.assemble((f"{hit.item.id} ", "dim"), (title, "bold")), soft_wrap=True)
            console.print(Text(hit.item.url, "cyan"), soft_wrap=True)
            console.print(_excerpt(hit), "")
        else:
            listing.add(str(hit.item.id), str(rank), hit.item.kind, title, hit.item.url, _excerpt(hit))
    listing.note(f"{'more than ' if found.more else ''}{found.total:,} found")


def _excerpt(hit: Hit) -> Text:
    text = Text()
    for piece in hit.excerpt:
        text.append(" ".join(piece.text.split("\n")), "yellow" if piece.wanted else "dim")
    return text
