import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.drivers.blobs.key_rules import as_chunks, check_range, checked_key, checked_prefix
from longline.model.errors import BadInput


@given(st.text(st.sampled_from("ab./\\\0\n%"), max_size=12))
def test_no_valid_key_leads_out_of_a_folder(key):
    try:
        checked_key(key)
    except BadInput:
        return
    assert not key.startswith("/")
    assert all(segment not in ("", ".", "..") for segment in key.split("/"))
    assert not set(key) & set("\\\0\n")


@pytest.mark.parametrize("key", ["a", "a/b", "a.b/..c/d..", "...", " ", "a/.staging/b", ".stagings/x", "é" * 127])
def test_a_valid_key_is_returned_unchanged(key):
    assert checked_key(key) == key


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("a//b", "has an empty, '.' or '..' segment"),
        (".staging", "reserved"),
        ("a\tb", "control character"),
        ("a\\b", "backslash"),
        ("\udfff", "not valid Unicode"),
        ("é" * 128, "key of 256 bytes is too long"),
        ("/".join(["x" * 100] * 11), "key of 1110 bytes is too long"),
    ],
)
def test_a_bad_key_is_refused_with_the_fault(key, said):
    with pytest.raises(BadInput, match=said) as caught:
        checked_key(key)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(("prefix", "folder"), [("", ""), ("a", "a"), ("a/", "a"), ("a/b/", "a/b")])
def test_a_trailing_slash_of_a_prefix_is_removed(prefix, folder):
    assert checked_prefix(prefix) == folder


@pytest.mark.parametrize("prefix", ["/", "a//", "../", "/a"])
def test_a_bad_prefix_is_refused(prefix):
    with pytest.raises(BadInput):
        checked_prefix(prefix)


def test_chunks_are_never_single_bytes():
    assert list(as_chunks(b"abc")) == [b"abc"]
    assert list(as_chunks([b"a", b"bc"])) == [b"a", b"bc"]


def test_a_range_is_not_negative():
    check_range("a", 0, 0)
    for offset, length in ((-1, 0), (0, -1)):
        with pytest.raises(BadInput, match="'a'"):
            check_range("a", offset, length)
