"""The commands of the guide for bots work as printed."""

import json
import re
from pathlib import Path
from typing import Any

from tests.cli.conftest import surroundings
from tests.journeys.place import Place, wait_until
from tests.journeys.test_serve import Up, up
from tests.servers.shell import type_command

GUIDE = Path(__file__).parents[2] / "docs/how-to/write-a-bot.md"
TOKEN, SERVER, SHOP = "bot_price-bot_…", "http://127.0.0.1:8060", "https://example.com/product/123"


class Reader:
    """A user who types the commands of the guide into a shell, in order, with its server replaced by the test's."""

    def __init__(self, it: Up, place: Place, home: Path) -> None:
        self._home, self.called = home, {SERVER: it.where}
        self._given = {"LONGLINE_DATA": str(place.data)}
        if database := place.engines.get("database"):
            self._given["LONGLINE_DATABASE"] = database
        self._text = GUIDE.read_text(encoding="utf-8")
        blocks = re.findall(r"^ *```sh\n(.*?)```", self._text, re.DOTALL | re.MULTILINE)
        lines = re.sub(r"^ +(?=curl |longline |python )", "", "".join(blocks), flags=re.MULTILINE)
        self.commands = re.split(r"^(?=curl |longline |python )", lines, flags=re.MULTILINE)[1:]

    def write_bot(self) -> None:
        """Write the bot of the guide as `my_bot.py`."""
        [bot] = re.findall(r"^   ```python\n(.*?)   ```", self._text, re.DOTALL | re.MULTILINE)
        text = re.sub(r"^   ", "", bot, flags=re.MULTILINE)
        (self._home / "my_bot.py").write_text(self._ours(text), encoding="utf-8")

    def type(self) -> str:
        """Return the output of the next command, which must succeed."""
        command = self._ours(self.commands.pop(0))
        done = type_command(command, surroundings(self._given), self._home)
        assert done.returncode == 0, (command, done)
        return done.stdout

    def _ours(self, text: str) -> str:
        for word, ours in self.called.items():
            text = text.replace(word, ours)
        return text


def jobs(place: Place) -> list[Any]:
    return place.ask("SELECT task_id FROM bot_tasks")


def test_a_bot_by_the_guide(place: Place, tmp_path: Path) -> None:
    with up(place) as it:
        reader = Reader(it, place, tmp_path)
        assert reader.commands.pop(0) == "longline up\n"
        assert len(reader.type().strip()) == 36, "a policy"
        reader.called[TOKEN] = reader.type().strip()
        assert reader.type() == "price-bot: changed\n"
        reader.write_bot()
        wait_until(lambda: len(jobs(place)) == 1, "the job of the policy")
        assert reader.type() == "pulled 1, done 1, failed 0, lost 0\n"
        reader.called[SHOP] = "https://example.com/other"
        reader.commands.insert(0, f"longline policies add --url {SHOP}\n")
        reader.type()
        wait_until(lambda: len(jobs(place)) == 2, "the job of the other policy")
        [job] = json.loads(reader.type())["data"]["jobs"]
        reader.called["{job}"] = job["job_id"]
        told = json.loads(reader.type())["data"]
        assert (told["status"], told["price"]) == ("done", 99.99)
        assert reader.commands == []
        it.stop()
