"""`longline settings`: the settings in force, and their origins."""

import typer

from longline.cli.flags import takes
from longline.settings import KEYS, Loaded


@takes(*(name for name, key in KEYS.items() if not key.secret))
def settings(loaded: Loaded) -> None:
    """List the settings with values and origins; secrets are masked."""
    rows = [(name, loaded.settings.display(name), loaded.origins[name]) for name in KEYS]
    rows += [(name, text, loaded.origins[name]) for name, text in loaded.table_texts.items()]
    names, values = (max(len(row[i]) for row in rows) for i in (0, 1))
    for name, value, origin in rows:
        typer.echo(f"{name:{names}}  {value:{values}}  {origin}")
    for note in loaded.notes:
        typer.echo(f"warning: {note}", err=True)
