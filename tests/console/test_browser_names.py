"""Names of browsers in the list of sessions."""

import pytest

from longline.console.browser_names import browser_name

CHROME = "(KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0", "Firefox on Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 {CHROME}", "Chrome on Windows"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 {CHROME} Edg/131.0", "Edge on Windows"),
        (f"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 {CHROME} OPR/86.0", "Opera on Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Version/18.1 Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.1 Safari/605.1.15", "Safari on macOS"),
        ("Firefox/132.0", "Firefox"),
        ("curl/8.10.1", "curl/8.10.1"),
        ("x" * 100, "x" * 60),
        ("", ""),
    ],
)
def test_the_name_of_a_browser_and_its_system(agent: str, name: str):
    assert browser_name(agent) == name
