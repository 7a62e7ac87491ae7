"""Texts of wrong command lines, with hints about options that stand in the wrong place."""

import re

import typer.core
from typer.exceptions import TyperException


def usage_text(error: TyperException) -> str:
    """Return the text of a wrong command line, with a hint if there is one."""
    return _plain(error.format_message()) + _place(error)


def _plain(text: str) -> str:
    """Return the text of a wrong argument without the words of the library that checks types."""
    text = re.sub(r"Input should be a valid (integer|number).*", r"it is no \1", text)
    return text.replace(": Value error, ", ": ")


def _place(error: TyperException) -> str:
    """Return the place of an option that a group does not take, but one of its commands; else an empty text."""
    # Typer has no public name for the error of an unknown option.
    option = getattr(error, "option_name", None)
    context = getattr(error, "ctx", None)
    group = getattr(context, "command", None)
    if option is None or context is None or not isinstance(group, typer.core.TyperGroup):
        return ""
    if any(option in own.opts for own in group.params):
        return ""
    taking = (name for name, one in group.commands.items() if any(option in own.opts for own in one.params))
    found = next(taking, None)
    return f"; it stands behind a command, as in {context.command_path} {found} {option}" if found else ""
