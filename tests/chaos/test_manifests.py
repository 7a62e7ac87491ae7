"""A small form of clients that post while the server is killed, and of gzip bombs; the program prints large ones."""

from pathlib import Path

from tests.chaos.manifests import MB, Server, check, post_and_kill, send_bombs


async def test_answers_are_whole_after_a_kill_and_bombs_are_refused(tmp_path: Path):
    server = Server(tmp_path)
    try:
        await server.ready()
        assert await send_bombs(server, [5 * MB + 1, 200 * MB]) < 30
        posted = await post_and_kill(server, 2.0, 10, 1)
        assert await check(server, posted) == len(posted.answers) > 0
    finally:
        server.stop()
