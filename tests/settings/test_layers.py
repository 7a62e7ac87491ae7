from pathlib import Path

import pytest

from longline.model.errors import BadInput, UnknownSetting
from longline.settings import load
from longline.settings.layers import flag_name


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The settings file at its default path."""
    return tmp_path / "longline.toml"


def test_without_files_and_variables_there_are_defaults(file: Path):
    loaded = load(environ={})
    assert loaded.settings.port == 8060
    assert set(loaded.origins.values()) == {"default"}
    assert loaded.notes == ()


def test_later_layers_win(file: Path):
    file.write_text('port = 1\nhost = "h1"\ndelay = "2s"\nworkers = 2\n')
    environ = {"LONGLINE_PORT": "2", "LONGLINE_HOST": "h2", "CRAWLER_DELAY": "3s"}
    loaded = load({"port": "3", "host": None}, environ=environ)
    settings = loaded.settings
    assert (settings.workers, settings.delay, settings.host, settings.port) == (2, 3.0, "h2", 3)
    origins = [loaded.origins[key] for key in ("workers", "delay", "host", "port", "redis")]
    assert origins == ["longline.toml", "CRAWLER_DELAY", "LONGLINE_HOST", "--port", "default"]


def test_our_own_name_beats_an_alias():
    loaded = load(environ={"CRAWLER_DELAY": "9s", "LONGLINE_DELAY": "1s"})
    assert loaded.settings.delay == 1.0
    assert loaded.origins["delay"] == "LONGLINE_DELAY"


def test_a_file_holds_native_values(file: Path):
    file.write_text('respect_robots = false\negress_allow = ["10.0.0.0/8"]\nmax_body = 5\nlease = 1.5\n')
    settings = load(environ={}).settings
    assert settings.respect_robots is False
    assert settings.egress_allow == ("10.0.0.0/8",)
    assert (settings.max_body, settings.lease) == (5, 1.5)


def test_an_empty_variable_is_not_set():
    assert load(environ={"LONGLINE_PORT": "", "CRAWLER_DELAY": ""}).settings.port == 8060


@pytest.mark.parametrize("how", ["flag", "variable"])
def test_the_file_can_be_named(tmp_path: Path, how: str):
    path = tmp_path / "other.toml"
    path.write_text("port = 4")
    by_flag = how == "flag"
    loaded = load(environ={} if by_flag else {"LONGLINE_CONFIG": str(path)}, config=path if by_flag else None)
    assert loaded.settings.port == 4
    assert loaded.origins["port"] == str(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prot = 1", r"longline\.toml: there is no setting prot; the nearest is port"),
        ("[server]\nport = 1", r"longline\.toml: there is no setting server.port; the nearest is server.bind_addr"),
        ('port = "x"', r'longline\.toml: port "x" is not a whole number from 0 to 65535'),
        ("port = \n", r"settings file longline\.toml is not TOML: .*line 1"),
        ("port = true", r'longline\.toml: port "True" is not a whole number'),
    ],
)
def test_a_wrong_file_is_reported_in_one_line(file: Path, text: str, said: str):
    file.write_text(text)
    with pytest.raises(BadInput, match=said) as caught:
        load(environ={})
    assert "\n" not in str(caught.value)


def test_a_named_file_must_be_there(tmp_path: Path):
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        load(environ={}, config=tmp_path / "none.toml")
    with pytest.raises(BadInput, match="cannot be read: Is a directory"):
        load(environ={"LONGLINE_CONFIG": str(tmp_path)})


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("LONGLINE_DATABSE", "LONGLINE_DATABASE"),
        ("LONGLINE_USERAGENT", "LONGLINE_USER_AGENT"),
        ("LONGLINE_JWTSECRET", "LONGLINE_JWT_SECRET"),
        ("LONGLINE_QQQQ", "LONGLINE_"),
    ],
)
def test_an_unknown_variable_is_an_error_that_names_the_nearest(name: str, nearest: str):
    with pytest.raises(UnknownSetting, match=f"there is no setting {name}; the nearest is {nearest}"):
        load(environ={name: "x"})


def test_variables_of_the_test_suite_and_of_the_program_are_no_settings():
    environ = {"LONGLINE_TEST_POSTGRES": "x", "LONGLINE_DEBUG": "1", "PATH": "/bin"}
    assert load(environ=environ).notes == ()


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"LONGLINE_PORT": "99999"}, 'LONGLINE_PORT: port "99999" is not a whole number from 0 to 65535'),
        ({"CRAWLER_DELAY": "soon"}, 'CRAWLER_DELAY: delay "soon" is not a duration like 500ms, 30s, 5m or 1h'),
        (
            {"LONGLINE_DATABASE": "mysql://me:hunter2@h/x"},
            'LONGLINE_DATABASE: database "mysql://me:***@h/x" is not a URL that begins with sqlite://, postgresql://, '
            "postgres://",
        ),
    ],
)
def test_a_value_that_cannot_be_read_is_an_error(environ: dict[str, str], said: str):
    with pytest.raises(BadInput) as caught:
        load(environ=environ)
    assert str(caught.value) == said


def test_flags_are_checked_like_other_settings():
    with pytest.raises(BadInput, match='--host-concurrency: host_concurrency "0" is not a whole number'):
        load({"host_concurrency": "0"}, environ={})
    assert flag_name("user_agent") == "--user-agent"


def test_every_key_has_an_effect():
    assert load(environ={"AUTH_INTERNAL_SECRET": "x", "CRAWLER_SCHEDULER_ENABLED": "false"}).notes == ()


def test_a_short_secret_is_warned_of_and_not_shown():
    loaded = load(environ={"AUTH_JWT_SECRET": "hunter2"})
    assert len(loaded.notes) == 1
    assert "AUTH_JWT_SECRET is shorter than 32 bytes" in loaded.notes[0]
    assert "hunter2" not in repr(loaded)
    assert not load(environ={"AUTH_JWT_SECRET": "x" * 32}).notes


@pytest.mark.parametrize("name", ["AUTH_JWT_SECRET", "LONGLINE_JWT_SECRET"])
def test_an_empty_secret_is_refused_and_none_is_made_instead(name: str):
    with pytest.raises(BadInput, match=f"{name} is empty"):
        load(environ={name: ""})
    assert load(environ={"AUTH_INTERNAL_SECRET": ""}).settings == load(environ={}).settings
