"""`make bench`: the same crawl by Longline and by others. Numbers mean something only beside each other."""

import argparse
import sys

from rich.console import Console

from bench import articles, bots, downloads, frontier, growth, parsing, profile, race, report, scheduler, search
from bench.contestants import CONTESTANTS, Contestant, chosen
from bench.site import prepared

CONCURRENCY = 64
WIDTH = 110
"""The width of the table where no terminal has one."""

OTHERS = {
    "articles": articles.main,
    "bots": bots.main,
    "downloads": downloads.main,
    "frontier": frontier.main,
    "growth": growth.main,
    "parsing": parsing.main,
    "scheduler": scheduler.main,
    "profile": profile.main,
    "search": search.main,
}
"""Other measurements, by their names."""


def main() -> None:
    """Run the race, or the measurement that is named."""
    if sys.argv[1:] and (other := OTHERS.get(sys.argv[1])):
        other(sys.argv[2:])
        return
    asked = _asked()
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    with console.status("preparing the site") as status:
        site = prepared(asked.pages, lambda step: status.update(step))
    console.print(site.described())
    measured = race.run(site, _available(asked.only, console), asked.repeat, asked.concurrency, console)
    report.show(measured, console)
    for path in report.keep(measured):
        console.print(f"[dim]{path}[/]")


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        epilog="Also: python -m bench " + ", ".join(OTHERS),
    )
    parser.add_argument(
        "--only", default=",".join(each.name for each in CONTESTANTS), help="contestants, separated by commas"
    )
    parser.add_argument("--pages", type=int, default=4000, help="size of the site")
    parser.add_argument("--repeat", type=int, default=3, help="rounds")
    parser.add_argument("--concurrency", type=int, default=CONCURRENCY, help="fetches at once")
    return parser.parse_args()


def _available(names: str, console: Console) -> list[Contestant]:
    wanted = chosen(names)
    if missing := [contestant.name for contestant in wanted if not contestant.available]:
        console.print(f"[yellow]without {', '.join(missing)}:[/] `make bench` installs them beside us")
    return [contestant for contestant in wanted if contestant.available]


if __name__ == "__main__":
    main()
