"""`longline demo`: a small website that comes with the package, crawled from start to end."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from longline.cli import log_setup as logs
from longline.cli.commands import crawl
from longline.cli.crawl_scope import ScopeArguments
from longline.cli.demo_site import running_site
from longline.cli.flags import takes
from longline.cli.hints.command_lines import command
from longline.cli.item_outputs import Outputs
from longline.cli.listing import OutputConsole
from longline.settings import Loaded


@takes("log_level")
def demo(
    loaded: Loaded,
    out: Annotated[Path | None, typer.Option(help="Folder for all results; if not given, a temporary folder.")] = None,
) -> None:
    """Crawl a small website on this machine and show the result."""
    logs.set_up("error", loaded.settings.log_format)
    folder = out or Path(tempfile.mkdtemp(prefix="longline-demo-"))
    console = OutputConsole()
    with running_site() as site:
        console.print(f"website of {site.pages} pages at {site.url}")
        console.print(Text(f"$ {command('crawl', site.url, '--out', str(folder))}", "dim"), soft_wrap=True)
        crawl.run(loaded, crawl.CrawlArguments(ScopeArguments((site.url,)), Outputs(folder)))
    next_steps = f"next: {command('crawl', 'URL')} on a site of your own, or {command('up')} for the whole platform"
    console.print(Text(next_steps), soft_wrap=True)
