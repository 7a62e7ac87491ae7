from pathlib import Path
from typing import Any

import pytest

from longline.model.errors import BadInput
from longline.settings import values


@pytest.mark.parametrize(
    ("kind", "raw", "value"),
    [
        (values.SWITCH, "Yes", True),
        (values.SWITCH, "1", True),
        (values.SWITCH, False, False),
        (values.SWITCH, "no", False),
        (values.SIZE, "5MB", 5 * 1024**2),
        (values.SIZE, "10485760", 10485760),
        (values.SIZE, "1.5 KiB", 1536),
        (values.SIZE, 7, 7),
        (values.DURATION, "0s", 0.0),
        (values.DURATION, 2, 2.0),
        (values.POSITIVE_DURATION, "30s", 30.0),
        (values.NETWORKS, "10.0.0.0/8, 192.168.1.7,", ("10.0.0.0/8", "192.168.1.7/32")),
        (values.NETWORKS, ["fd00::/8"], ("fd00::/8",)),
        (values.URLS, "http://a:9200,https://b", ("http://a:9200", "https://b")),
        (values.FOLDER, "a/b", Path("a/b")),
        (values.HEADER_VALUE, " Böt/1.0 (+https://a.example/) ", "Böt/1.0 (+https://a.example/)"),
        (values.integer(1, 5), "5", 5),
        (values.integer(1), 9, 9),
        (values.one_of("a", "b", c="b"), "C", "b"),
        (values.url("redis"), "redis://h:1/0", "redis://h:1/0"),
        (values.url("redis"), "", ""),
        (values.url("s3", folder=True), "./objects", "./objects"),
    ],
)
def test_values_are_read(kind: values.Kind, raw: Any, value: Any):
    assert kind.read(raw) == value


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        (values.SWITCH, "maybe"),
        (values.SWITCH, 2),
        (values.SIZE, "5 parsecs"),
        (values.SIZE, "-1"),
        (values.SIZE, -1),
        (values.SIZE, True),
        (values.POSITIVE_DURATION, "0s"),
        (values.POSITIVE_DURATION, True),
        (values.DURATION, "soon"),
        (values.DURATION, ["1s"]),
        (values.DURATION, float("inf")),
        (values.DURATION, float("nan")),
        (values.DURATION, "36501d"),
        (values.SIZE, "9" * 400),
        (values.SIZE, 2**53 + 1),
        (values.integer(1), 2**53 + 1),
        (values.NETWORKS, "10.0.0.0/99"),
        (values.NETWORKS, "localhost"),
        (values.URLS, "ftp://a"),
        (values.FOLDER, ""),
        (values.TEXT, 5),
        (values.HEADER_VALUE, "bot/1.0\nX-Own: 1"),
        (values.HEADER_VALUE, "bot\x00"),
        (values.integer(1, 5), "6"),
        (values.integer(1, 5), 0),
        (values.integer(1, 5), "2.0"),
        (values.integer(0), True),
        (values.one_of("a", "b"), "c"),
        (values.url("redis"), "http://h"),
        (values.url("sqlite"), "just/a/path"),
    ],
)
def test_what_cannot_be_read_is_refused(kind: values.Kind, raw: Any):
    with pytest.raises(ValueError):  # noqa: PT011 - the reader's own text is never shown; `wanted` is
        kind.read(raw)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("postgresql://me:hunter2@db:5432/x", "postgresql://me:***@db:5432/x"),
        ("postgresql://me:p/w?d@db/x", "postgresql://me:***@db/x"),
        ("redis://:hunter2@h:1/0", "redis://:***@h:1/0"),
        ("redis://me:hun@ter@2@h:1/0", "redis://me:***@h:1/0"),
        ("https://a:pw@x,https://b:p,w@y", "https://a:***@x,https://b:***@y"),
        ("https://h/?api_key=pw&passwd=pw&a=b", "https://h/?api_key=***&passwd=***&a=b"),
        (
            "s3://b?access_key_id=me&secret_access_key=hunter2&region=x",
            "s3://b?access_key_id=me&secret_access_key=***&region=x",
        ),
        ("sqlite:////var/x.db", "sqlite:////var/x.db"),
    ],
)
def test_passwords_in_urls_are_masked(text: str, masked: str):
    assert values.mask(text) == masked
    assert values.url("any").show(text) == masked


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        (values.url("postgresql"), "postgresql//me:hunter2@db/x"),
        (values.url("http"), "me:hunter2@h"),
        (values.url("redis"), {"x": "redis//me:hun:ter2@h"}),
        (values.URLS, ["https://a:hunter2@x", "b:hunter2@y"]),
        (values.JSON_OBJECT, '{"password": "hunter2"'),
    ],
)
def test_passwords_of_misspelt_values_are_masked(kind: values.Kind, raw: Any):
    with pytest.raises(BadInput) as caught:
        kind.take(raw, "longline.toml", "key")
    assert "***" in str(caught.value)
    assert "hun" not in str(caught.value)


def test_passwords_in_the_config_of_a_parser_are_not_shown():
    given = values.JSON_OBJECT.take({"password": "hunter2", "depth": 2}, "longline.toml")
    assert values.JSON_OBJECT.show(given) == '{"depth":2,"password":"***"}'
    assert values.JSON_OBJECT.show("") == ""
