"""A parser process, and its owner."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

OWNER = """
import os
import sys
from longline.engine.parse.parser_process import ParserProcess
from longline.plugins import Page
from longline.plugins.registry import ParserSources

if __name__ == "__main__":
    child = ParserProcess(ParserSources(modules=("tests.engine.slow_parsers",)))
    if sys.argv[1] == "busy":
        child.wait_until_ready()
        child.begin(("where", Page("https://where.example/", b"")), 60.0)
        child._pipe.send(("naps", Page("https://naps.example/", b"")))
    print(child.pid, flush=True)
    os._exit(9)
"""


@pytest.mark.parametrize("when", ["not ready yet", "busy"])
def test_a_process_with_a_killed_owner_ends_without_output(tmp_path: Path, when: str):
    script = tmp_path / "owner.py"
    script.write_text(OWNER)
    surroundings = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    # All of them write to one pipe: it ends with the last of them.
    done = subprocess.run(
        [sys.executable, str(script), when], env=surroundings, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 9
    assert done.stdout.strip().isdecimal()
    assert done.stderr == ""


PATHS = """
import sys
from longline.engine.parse.parser_process import ParserProcess
from longline.plugins import Page
from longline.plugins.registry import ParserSources

sys.path.append(sys.argv[1])
raise_if_imported_again = __name__ != "__main__" and 1 / 0
child = ParserProcess(ParserSources(modules=("only_there",)))
child.wait_until_ready()
answer = child.begin(("there", Page("https://there.example/", b"")), 60.0)
print(answer.parsed.items[0].fields["path"], answer.own_seconds < 30)
child.end()
"""


def test_a_process_has_the_module_path_of_its_owner_and_does_not_import_its_program(tmp_path: Path):
    (tmp_path / "only_there.py").write_text(
        "import sys\nfrom longline.plugins import Item, parser\n"
        "@parser('there', match='https://there.example/*')\n"
        "def there(page):\n    yield Item('path', path=sys.path[-1])\n"
    )
    script = tmp_path / "elsewhere" / "owner.py"
    script.parent.mkdir()
    script.write_text(PATHS)
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == (f"{tmp_path} True\n", "")
