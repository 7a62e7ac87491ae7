"""Tables of the manifest contract that stand for our own settings."""

import pytest

from longline.settings import load

S3 = {
    "FETCHBOX__STORAGE__PROVIDER": "s3",
    "FETCHBOX__STORAGE__BUCKET": "b",
    "FETCHBOX__STORAGE__REGION": "eu-1",
    "FETCHBOX__STORAGE__ENDPOINT": "http://s3:9000",
    "FETCHBOX__STORAGE__ACCESS_KEY": "me",
    "FETCHBOX__STORAGE__SECRET_KEY": "a/b c",
}


@pytest.mark.parametrize(
    ("environ", "setting", "value"),
    [
        ({"FETCHBOX__SERVER__BIND_ADDR": "0.0.0.0:8080"}, "host", "0.0.0.0"),
        ({"FETCHBOX__SERVER__BIND_ADDR": "[::]:8080"}, "host", "::"),
        ({"FETCHBOX__SERVER__BIND_ADDR": "0.0.0.0:8080"}, "port", 8080),
        ({"FETCHBOX__SERVER__BIND_ADDR": "0.0.0.0:8080", "LONGLINE_PORT": "81"}, "port", 81),
        (
            S3,
            "objects",
            "s3://b?endpoint=http%3A%2F%2Fs3%3A9000&region=eu-1&access_key_id=me&secret_access_key=a%2Fb%20c",
        ),
        ({"FETCHBOX__STORAGE__PROVIDER": "s3", "FETCHBOX__STORAGE__BUCKET": "b"}, "objects", "s3://b"),
        (
            {
                "FETCHBOX__STORAGE__PROVIDER": "s3",
                "FETCHBOX__STORAGE__BUCKET": "b",
                "FETCHBOX__STORAGE__ENCRYPTION": "AES256",
            },
            "objects",
            "s3://b?encryption=AES256",
        ),
        ({"FETCHBOX__STORAGE__ENDPOINT": "/var/objects"}, "objects", "/var/objects"),
        ({"FETCHBOX__BROKER__ENDPOINT": "redis://r:1/2"}, "redis", "redis://r:1/2"),
        (
            {"FETCHBOX__BROKER__ENDPOINT": "redis://r:1/2", "FETCHBOX__BROKER__SECRET": "p@w"},
            "redis",
            "redis://:p%40w@r:1/2",
        ),
    ],
)
def test_a_table_sets_our_setting(environ: dict[str, str], setting: str, value: object):
    loaded = load(environ=environ)
    assert getattr(loaded.settings, setting) == value
    assert loaded.origins[setting] in environ
