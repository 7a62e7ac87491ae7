"""`longline version`."""

import typer

from longline import __version__


def version() -> None:
    """Print the version."""
    typer.echo(f"longline {__version__}")
