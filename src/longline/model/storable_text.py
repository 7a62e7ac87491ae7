"""Text that every database stores."""


def storable(text: str, nul: str = "") -> str:
    """Return text with `nul` for NUL, which PostgreSQL refuses, and `?` for lone surrogates, which none stores."""
    return storable_utf8(text, nul)[0]


def storable_utf8(text: str, nul: str = "") -> tuple[str, bytes]:
    """Return the text of `storable` with its UTF-8, which is made to check the text."""
    text = text.replace("\0", nul)
    try:
        return text, text.encode()
    except UnicodeEncodeError:
        encoded = text.encode(errors="replace")
        return encoded.decode(), encoded
