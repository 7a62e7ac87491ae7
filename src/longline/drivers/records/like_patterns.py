"""Search texts as patterns of SQL's LIKE."""


def literal(text: str) -> str:
    """Return the LIKE pattern that matches this text alone; statements convert both sides to lower case."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def contains(text: str | None) -> str | None:
    """Return the LIKE pattern for texts that contain this text."""
    return f"%{literal(text)}%" if text is not None else None
