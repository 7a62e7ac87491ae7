"""Text that every database stores."""


def storable(text: str, nul: str = "") -> str:
    """Return text with `nul` for NUL, which PostgreSQL refuses, and `?` for lone surrogates, which none stores."""
    text = text.replace("\0", nul)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text
