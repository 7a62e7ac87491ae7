from longline import __version__
from tests.cli.conftest import Command


def test_the_version_is_printed(longline: Command):
    assert longline("version").stdout == f"longline {__version__}\n"
