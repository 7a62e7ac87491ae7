"""The commands of the how-to page log in at the console."""

import asyncio
import shlex
import subprocess
import sys
from pathlib import Path

from longline.settings import Settings
from tests.console.visiting import stranger
from tests.surfaces.intervals.platform import open_door

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "console.md"


async def test_the_output_of_both_commands_logs_in(tmp_path: Path):
    lines = PAGE.read_text(encoding="utf-8").split("```sh\n")[1].split("```")[0].splitlines()
    assert len(lines) == 2
    assert PAGE.name == "console.md"
    data = tmp_path / "data"
    async with open_door(Settings(data=data, database=f"sqlite:///{data}/longline.db", port=0)) as door:
        for line in lines:
            program, *words = shlex.split(line)
            command = [str(Path(sys.executable).parent / program), *words, "--data", str(data)]
            done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            async with stranger(door) as client:
                logged = await client.post("/console/login", data={"credentials": done.stdout})
                assert logged.status_code == 303, line
