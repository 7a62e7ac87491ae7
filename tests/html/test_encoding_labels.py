"""Labels of encodings in pages."""

import codecs

import pytest

from longline.html.charset import decode_as
from longline.html.encoding_labels import encoding_names, encoding_of


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("UTF8", "utf-8"),
        (" \t\n\f\rutf-8 ", "utf-8"),
        ("latin1", "windows-1252"),
        ("us-ascii", "windows-1252"),
        ("iso-8859-9", "windows-1254"),
        ("tis-620", "windows-874"),
        ("gb2312", "gbk"),
        ("x-x-big5", "big5"),
        ("ks_c_5601-1987", "euc-kr"),
        ("unicode", "utf-16le"),
        ("unicodefffe", "utf-16be"),
        ("iso-ir-127", "iso-8859-6"),
        ("visual", "iso-8859-8"),
        ("hz-gb-2312", "replacement"),
        ("utf-7", None),
        ("utf-32", None),
        ("\u00a0utf-8", None),
        ("utf 8", None),
        ("", None),
    ],
)
def test_labels(label, name):
    assert encoding_of(label) == name


def test_the_table_has_as_many_encodings_as_the_standard():
    assert len(encoding_names()) == 40
    assert all(encoding_of(name) == name for name in encoding_names())


@pytest.mark.parametrize("name", [name for name in encoding_names() if name.startswith("iso-8859")])
def test_python_decodes_encodings_of_the_same_name_alike(name):
    every = bytes(range(256))
    mine = decode_as(name, every)
    theirs = every.decode(codecs.lookup(name.removesuffix("-i")).name, "replace")
    assert mine == theirs
