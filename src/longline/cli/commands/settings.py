"""`longline settings`: the settings in force, and their origins."""

import typer

from longline.cli.data_folder import archive_settings
from longline.cli.flags import takes
from longline.cli.listing import Column, Listing
from longline.settings import KEYS, Loaded

_COLUMNS = ("setting", "value", "origin")


@takes(*(name for name, key in KEYS.items() if not key.secret))
def settings(loaded: Loaded) -> None:
    """List the settings with values and origins; secrets are masked."""
    in_force, listing = archive_settings(loaded), Listing(*(Column(title, copied=True) for title in _COLUMNS))
    for name in KEYS:
        listing.add(name, in_force.display(name), loaded.origins[name])
    for name, text in loaded.table_texts.items():
        listing.add(name, text, loaded.origins[name])
    listing.print()
    for note in loaded.notes:
        typer.echo(f"warning: {note}", err=True)
