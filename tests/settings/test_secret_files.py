import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from longline.model.errors import LonglineError
from longline.settings import Settings, jwt_secret

NOBODY = 65534


@contextmanager
def without_rights(folder: Path) -> Iterator[None]:
    """Take away write permission: root becomes another user for the block, other users lose it on the folder."""
    mode = folder.stat().st_mode
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    else:
        folder.chmod(0o500)
    try:
        yield
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        folder.chmod(mode)


def test_a_secret_that_was_set_is_used_and_nothing_is_written(tmp_path: Path):
    assert jwt_secret(Settings(data=tmp_path, jwt_secret="given")) == "given"
    assert list(tmp_path.iterdir()) == []


def test_a_secret_is_created_once_and_readable_by_its_owner_alone(tmp_path: Path):
    settings = Settings(data=tmp_path / "data")
    secret = jwt_secret(settings)
    assert len(secret) == 64
    assert int(secret, 16) > 0
    assert jwt_secret(settings) == secret
    assert [path.name for path in settings.data.iterdir()] == ["auth.secret"]
    assert (settings.data / "auth.secret").stat().st_mode & 0o777 == 0o600
    assert jwt_secret(Settings(data=tmp_path / "other")) != secret


@pytest.mark.slow(reason="starts processes")
def test_processes_that_start_together_agree(tmp_path: Path):
    program = (
        "import sys; from pathlib import Path; from longline.settings import Settings, jwt_secret\n"
        "print('ready', flush=True); sys.stdin.read()\n"
        f"print(jwt_secret(Settings(data=Path({str(tmp_path)!r}))))"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for child in children:
        assert child.stdout
        assert child.stdout.readline() == "ready\n"
    for child in children:  # All processes are loaded and wait: start them together.
        assert child.stdin
        child.stdin.close()
        child.stdin = None
    secrets = {child.communicate()[0] for child in children}
    assert len(secrets) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["auth.secret"]


@pytest.mark.parametrize("content", [b"", b"short\n", b"\xff" * 64])
def test_a_damaged_secret_is_not_used(tmp_path: Path, content: bytes):
    (tmp_path / "auth.secret").write_bytes(content)
    with pytest.raises(LonglineError, match=r"auth\.secret (is damaged|cannot be used)"):
        jwt_secret(Settings(data=tmp_path))
