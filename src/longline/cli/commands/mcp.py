"""`longline mcp`: a Model Context Protocol server on standard input and output."""

from typing import Annotated

import typer

from longline.cli import log_setup as logs
from longline.cli.data_folder import READ_KEYS, archive_settings
from longline.cli.event_loop import run
from longline.cli.flags import takes
from longline.settings import Loaded
from longline.wiring import serve_mcp


@takes(*READ_KEYS, "delay", "egress_allow", "user_agent")
def mcp(
    loaded: Loaded,
    allow_crawl: Annotated[
        bool, typer.Option("--allow-crawl", help="Offer the tool that fetches sites; without it, nothing is fetched.")
    ] = False,
) -> None:
    """Answer language models by the Model Context Protocol, on standard input and output."""
    logs.set_up(loaded.settings.log_level if loaded.origins["log_level"] != "default" else "warning", "text")
    run(serve_mcp(archive_settings(loaded), allow_crawl=allow_crawl))
