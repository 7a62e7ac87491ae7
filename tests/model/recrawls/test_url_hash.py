"""The identity of a submitted URL."""

import hashlib

import pytest

from longline.model.recrawls.url_hash import normal_form, submitted_hash


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("HTTPS://Shop.Example/p?b=2&a=1#x", "https://shop.example/p?a=1&b=2"),
        ("  https://shop.example/p ", "https://shop.example/p"),
        ("https://shop.example/p/", "https://shop.example/p/"),
        ("https://shop.example/P;q=1?", "https://shop.example/P;q=1"),
        ("https://shop.example:443/%7e?utm_source=x&&a", "https://shop.example:443/%7e?&a&utm_source=x"),
        ("https://shop.example/a/../b//c", "https://shop.example/a/../b//c"),
        ("https://shop.example/p?b&&a=%2f&a=%2F", "https://shop.example/p?&a=%2F&a=%2f&b"),
        ("https://shop.example", "https://shop.example"),
    ],
)
def test_the_normal_form_keeps_port_and_path(text: str, form: str):
    assert normal_form(text) == form
    assert submitted_hash(text) == hashlib.sha256(form.encode()).hexdigest()


def test_slashes_and_letters_of_the_path_make_another_url():
    urls = ("https://shop.example/p", "https://shop.example/p/", "https://shop.example/P")
    assert len(set(map(submitted_hash, urls))) == 3
