"""Texts that people search for, as patterns of SQL."""


def literal(text: str) -> str:
    """The pattern that fits this text and nothing else; statements bring both sides to lower case, in one way."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def contains(text: str | None) -> str | None:
    """The pattern for whatever has this text in it."""
    return f"%{literal(text)}%" if text is not None else None
