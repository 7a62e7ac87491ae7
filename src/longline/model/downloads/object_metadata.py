"""Metadata of the objects of a manifest: labels that name the origin of a stored file."""

from urllib.parse import quote

from longline.model.object_keys import begin_and_digest

MAX_LABEL_BYTES = 1024
"""Length, as a store takes them, up to which the URL of a file is an attribute of its object beside the two ids."""

MAX_RUN_LABEL_BYTES, MAX_RESOURCE_LABEL_BYTES = 256, 1536
"""Longest ids in the attributes of an object, as a store takes them; a longer one is cut, and ends with its digest."""

_PLAIN = "".join(map(chr, range(0x20, 0x7F)))


def object_labels(uid: str, resource_id: str, url: str) -> dict[str, str]:
    """Return the attributes of a stored file that name its origin; S3 takes 2 KB of them, so a long URL is left out.

    A store takes printable ASCII: other characters are percent-encoded there.
    """
    named = {"job-id": _cut(uid, MAX_RUN_LABEL_BYTES), "resource-id": _cut(resource_id, MAX_RESOURCE_LABEL_BYTES)}
    size = sum(len(quote(text, _PLAIN)) for text in (*named.values(), url))
    return named | {"source-url": url} if size <= MAX_LABEL_BYTES else named


def _cut(text: str, max_bytes: int) -> str:
    """Return a text that a store takes in so many bytes; a cut one ends with the digest of the whole."""
    return text if len(quote(text, _PLAIN)) <= max_bytes else "=".join(begin_and_digest(text, max_bytes, _PLAIN))
