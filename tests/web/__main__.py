"""The site as a process of its own: `python -m tests.web --pages 500 --port 8080`; `/__log` returns its log."""

import argparse
import asyncio
import signal

from tests.web.running import Door
from tests.web.site import Site


def main() -> None:
    """Serve until a signal; the first line printed is the URL."""
    parser = argparse.ArgumentParser(prog="python -m tests.web", description="Serve the test website on loopback.")
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each page is answered")
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    asked = parser.parse_args()
    asyncio.run(serve(Site(asked.pages, asked.delay), asked.port))


async def serve(site: Site, port: int) -> None:
    """Open the door and shut it again at SIGINT or SIGTERM."""
    door = Door(site)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, door.shut)
    await door.serve(port, lambda _: print(door.url, flush=True))


if __name__ == "__main__":
    main()
