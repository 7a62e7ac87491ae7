"""The program `fetchbox`: the commands of the manifest contract, under its own names."""

import sys
from typing import Annotated

import msgspec
import typer

from longline.cli.commands import manifests, serve
from longline.cli.flags import ENGINES, takes
from longline.cli.main import end_with
from longline.model.errors import BadInput
from longline.model.whole_number import whole_number
from longline.settings import Loaded

MAX_PORT = 65_535
DEFAULT_ADDRESS = "0.0.0.0:8080"


def build() -> typer.Typer:
    """Return the program."""
    app = typer.Typer(
        name="fetchbox",
        help="Manifests of files to download: API, workers, ledger, streams and dead letters.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name, command in {"api": api, "worker": serve.worker}.items():
        app.command(name)(command)
    app.command("tail-logs")(manifests.tail_logs)
    app.command("tail-status")(manifests.tail_status)
    app.command("publish-task")(manifests.publish_task)
    groups = {
        "ledger": ("Export and prune snapshots.", {"export": manifests.export, "prune": manifests.prune}),
        "streams": ("Set up the streams in Redis.", {"setup": manifests.set_up_streams}),
        "config": ("Check the settings.", {"check": manifests.check}),
    }
    for name, (text, commands) in groups.items():
        group = typer.Typer(help=text, no_args_is_help=True)
        for command_name, command in commands.items():
            group.command(command_name)(command)
        # A group with one command would otherwise be that command.
        group.callback()(_group)
        app.add_typer(group, name=name)
    app.add_typer(manifests.build_dead_letters(), name="dlq")
    return app


def _group() -> None:
    """Show the commands of the group."""


@takes(*ENGINES, "parsers", "log_level", "log_format")
def api(
    loaded: Loaded,
    address: Annotated[
        str, typer.Option(help=f"Address and port; {DEFAULT_ADDRESS} unless the settings name one.", show_default=False)
    ] = "",
) -> None:
    """Run the API alone."""
    is_named = loaded.origins["port"] != "default" or loaded.origins["host"] != "default"
    given = address or ("" if is_named else DEFAULT_ADDRESS)
    host, _, port = given.rpartition(":")
    number = whole_number(port)
    if given and not (host and number is not None and number <= MAX_PORT):
        raise BadInput(f'--address "{address}" is not an address and a port like {DEFAULT_ADDRESS}')
    if number is not None:
        settings = msgspec.structs.replace(loaded.settings, host=host.strip("[]"), port=number)
        loaded = msgspec.structs.replace(loaded, settings=settings)
    serve.serve_api(loaded)


def main() -> None:
    """Run the command line."""
    end_with(lambda: build()(sys.argv[1:] or ["--help"], prog_name="fetchbox", standalone_mode=False))


if __name__ == "__main__":
    main()
