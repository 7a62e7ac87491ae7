from pathlib import Path

import msgspec
import pytest

from longline.model.errors import BadInput
from longline.settings import load
from longline.settings.keys import KEYS, SUBJECTS, Settings, default_text, keys_of


def test_every_key_has_one_sentence():
    assert [*KEYS, "tables"] == list(Settings.__struct_fields__)
    for name, key in KEYS.items():
        assert key.doc.endswith("."), name
        assert key.doc[0].isupper(), name
        assert "\n" not in key.doc, name


def test_every_key_has_one_subject():
    assert [name for subject in SUBJECTS for name in keys_of(subject)] == list(KEYS)


@pytest.mark.parametrize("name", ["api_key", "search_key"])
def test_a_key_has_two_parts_and_is_not_shown(name: str):
    assert load({name: "me:secret"}, environ={}).settings.display(name) == "***"
    for text in ("hunter2", "hunter2:", ":hunter2"):
        with pytest.raises(BadInput, match=f'{name} "[*][*][*]" is not an id and a key'):
            load({name: text}, environ={})


def test_every_default_is_written_as_it_is_read():
    for field in msgspec.structs.fields(Settings):
        if field.name == "tables":
            continue
        kind = KEYS[field.name].kind
        assert kind.read(kind.show(field.default)) == field.default, field.name


def test_engines_are_embedded_in_the_data_folder_by_default(tmp_path: Path):
    settings = Settings(data=tmp_path / "with space")
    assert settings.database == f"sqlite:///{tmp_path}/with space/longline.db"
    assert settings.objects == f"file://{tmp_path}/with%20space/objects"


def test_the_data_folder_does_not_move_with_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    settings = Settings()
    monkeypatch.chdir("/")
    assert settings.data == tmp_path / "longline-data"


def test_named_engines_are_kept():
    settings = Settings(database="postgresql://db/x", objects="s3://bucket")
    assert (settings.database, settings.objects) == ("postgresql://db/x", "s3://bucket")


@pytest.mark.parametrize(
    ("host", "local"),
    [
        *((host, True) for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost")),
        *((host, False) for host in ("0.0.0.0", "::", "10.0.0.1", "crawler.example")),
    ],
)
def test_loopback_means_that_only_this_machine_can_connect(host: str, local: bool):
    assert Settings(host=host).loopback is local


def test_secrets_are_not_shown():
    settings = Settings(jwt_secret="hunter2", database="postgresql://me:hunter3@db/x", internal_secret="hunter4")
    assert "hunter" not in repr(settings)
    assert settings.display("jwt_secret") == "***"
    assert Settings().display("jwt_secret") == ""


def test_the_manual_names_no_path_of_this_machine():
    assert default_text("database") == "sqlite in the data folder"
    assert default_text("data") == "longline-data"
    assert default_text("max_body") == "10MB"
    assert default_text("lease") == "30s"
