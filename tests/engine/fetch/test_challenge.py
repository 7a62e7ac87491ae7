"""Challenge pages, and ordinary pages of the same platform."""

import gzip

import pytest

from longline.engine.fetch.challenge import MAX_BYTES, is_challenge
from tests.engine.fakes import response

RAY, SERVER = ("CF-Ray", "1-FRA"), ("Server", "cloudflare")
MITIGATED = ("Cf-Mitigated", "challenge")
WORDS = b"<title>Just a moment...</title>"


@pytest.mark.parametrize(
    ("headers", "body", "is_one"),
    [
        ((RAY, MITIGATED), b"", True),
        ((MITIGATED,), b"", False),
        ((RAY,), WORDS, True),
        ((SERVER,), WORDS, True),
        ((), WORDS, False),
        ((RAY, SERVER), b"<p>a story", False),
        ((RAY,), WORDS + b" " * MAX_BYTES, False),
        ((RAY, ("Content-Encoding", "gzip")), gzip.compress(WORDS), True),
        ((RAY, ("Content-Encoding", "gzip")), WORDS, False),
    ],
)
def test_a_challenge(headers: tuple[tuple[str, str], ...], body: bytes, is_one: bool) -> None:
    assert is_challenge(response("https://a.example/", 200, body, headers), 10**6) is is_one
