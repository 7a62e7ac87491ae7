import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.main import get_group

from longline import __version__
from longline.cli import command_table, commands
from longline.cli import main as program
from longline.model.errors import BadInput, LonglineError
from tests.cli.conftest import Command, assert_one_line, surroundings
from tests.servers.program import Program


def test_without_arguments_the_help_is_printed(longline: Command):
    outcome = longline()
    assert outcome.returncode == 0
    assert outcome.stdout.startswith("Usage: longline [OPTIONS] COMMAND")
    for command in ("up", "crawl", "api", "worker", "token", "migrate", "doctor", "settings", "version"):
        assert f"\n  {command} " in outcome.stdout


def test_the_version_is_a_command_and_a_flag(longline: Command):
    assert longline("--version").stdout == longline("version").stdout == f"longline {__version__}\n"


def test_the_overview_lists_every_command_with_its_own_help_and_imports_none():
    overview, whole = (get_group(app()) for app in (program.build_overview, program.build))
    listed = {name: one.get_short_help_str() for name, one in overview.commands.items()}
    assert listed == {name: one.get_short_help_str() for name, one in whole.commands.items() if not one.hidden}
    assert not [text for text in listed.values() if text.endswith("...")]
    lean = "import sys; import longline.cli.main as m; m.build_overview(); print('longline.wiring' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", lean], capture_output=True, text=True).stdout == "False\n"


def test_commands_that_serve_nothing_do_not_import_the_http_server():
    names = sorted({file.stem for file in Path(commands.__path__[0]).glob("[!_]*.py")} - {"serve", "fetchbox"})
    lean = (
        "import sys; from importlib import import_module as load; found = set()\n"
        f"for name in {names}:\n"
        "    load(f'longline.cli.commands.{name}')\n"
        "    new = {'litestar', 'uvicorn', 'jinja2', 'prometheus_client'} & sys.modules.keys() - found\n"
        "    found |= new\n"
        "    for server in sorted(new): print(f'{name} imports {server}')"
    )
    done = subprocess.run([sys.executable, "-c", lean], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", "")
    assert {"crawl", "sources", "keys", "manifests"} <= set(names)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("words", [("version",), ("settings",), ("--help",), ("urls", "--data", "none")])
def test_a_command_ends_quietly_after_its_reader_has_gone(words: tuple[str, ...], both: bool, tmp_path: Path):
    reader, writer = os.pipe()
    os.close(reader)
    error = writer if both else subprocess.PIPE
    process = Program(words, cwd=tmp_path, env=surroundings({}), stdout=writer, stderr=error, text=True)
    os.close(writer)
    said = process.communicate(timeout=60)[1]
    # An error is printed on standard error, which may still be read.
    assert process.returncode == (141 if both or words[0] != "urls" else 1)
    assert not said or said.startswith("error: there is no crawl"), said


@pytest.mark.parametrize("words", [("-h",), ("crawl", "-h"), ("bots", "list", "-h"), ("bots",), ("sources",)])
def test_help_has_a_short_flag_and_a_group_alone_shows_its_help(longline: Command, words: tuple[str, ...]):
    outcome = longline(*words)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout.startswith(
        f"Usage: {' '.join(['longline', *words[: len(words) - ('-h' in words)]])} [OPTIONS]"
    )


@pytest.mark.parametrize("group", sorted(command_table.GROUPS))
def test_the_help_of_a_group_has_whole_sentences(group: str):
    commands = get_group(program.build(group)).commands[group].commands  # type: ignore[attr-defined]  # of a group
    told = {name: one.get_short_help_str() for name, one in commands.items()}
    assert not {name: text for name, text in told.items() if text.endswith("...") or "\n" in text}


def test_an_unknown_command_is_one_line(longline: Command):
    assert_one_line(longline("upp"), 2, "No such command 'upp'. Did you mean 'up'?")


def test_an_unknown_flag_is_one_line(longline: Command):
    assert_one_line(longline("up", "--prot", "1"), 2, "No such option: --prot")


def test_a_missing_flag_is_one_line(longline: Command):
    assert_one_line(longline("token"), 2, "name a role with --role: admin, ")


def test_an_unknown_setting_is_one_line(longline: Command, tmp_path: Path):
    assert_one_line(longline("up", LONGLINE_DATABSE="x"), 2, "the nearest is LONGLINE_DATABASE")
    (tmp_path / "longline.toml").write_text("prot = 1")
    assert_one_line(longline("up"), 2, "longline.toml: there is no setting prot; the nearest is port")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--port", "x"), 'port "x" is not a whole number'),
        (("--database", "mysql://h/x"), "is not a URL that begins with sqlite://, postgresql://"),
        (("--redis", "h:6379"), "is not a URL that begins with redis://"),
        (("--config", "none.toml"), "settings file none.toml cannot be read: No such file or directory"),
    ],
)
def test_a_bad_value_is_one_line(longline: Command, words: tuple[str, ...], said: str):
    assert_one_line(longline("up", *words), 2, said)


@pytest.mark.parametrize("command", ["up", "migrate"])
def test_an_unwritable_data_folder_is_one_line(longline: Command, tmp_path: Path, command: str):
    (tmp_path / "file").write_text("")
    assert_one_line(longline(command, "--data", "file/data"), 1, "cannot be written: Not a directory")


@pytest.mark.parametrize("command", ["up", "migrate"])
def test_an_unreachable_database_is_one_line(longline: Command, command: str):
    outcome = longline(command, "--database", "postgresql://me:hunter2@127.0.0.1:1/x")
    assert_one_line(outcome, 1, "127.0.0.1:1")
    assert "hunter2" not in outcome.stderr


def test_a_debugging_user_gets_the_stack(longline: Command):
    outcome = longline("token", "--role", "admin", "--ttl", "soon", LONGLINE_DEBUG="1")
    assert outcome.returncode != 0
    assert "Traceback" in outcome.stderr


# Failures of a command made up for the purpose


def ended(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int | str | None:
    """Return the exit code of a program with a command that fails like this."""

    def build() -> typer.Typer:
        app = typer.Typer(pretty_exceptions_enable=False)

        @app.command()
        def fail() -> None:
            raise error

        @app.command()
        def other() -> None: ...

        return app

    monkeypatch.setattr(program, "build_overview", build)
    monkeypatch.setattr(sys, "argv", ["longline", "fail"])
    monkeypatch.delenv("LONGLINE_DEBUG", raising=False)
    with pytest.raises(SystemExit) as caught:
        program.main()
    return caught.value.code


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (BadInput("wrong"), 2, "error: wrong\n"),
        (LonglineError("two\nlines"), 1, "error: two lines\n"),
        (LonglineError("[red]brackets[/red]"), 1, "error: [red]brackets[/red]\n"),
        (LonglineError("long " * 50), 1, "error: " + ("long " * 50).strip() + "\n"),
        (
            ExceptionGroup("tasks", [ValueError("x"), ExceptionGroup("more", [LonglineError("inner")])]),
            1,
            "error: inner\n",
        ),
        (PermissionError(13, "Permission denied", "file"), 1, "error: Permission denied: file\n"),
    ],
)
def test_a_failure_that_is_understood_is_one_line(
    error: Exception, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert ended(monkeypatch, error) == code
    assert capsys.readouterr().err == said


def test_ctrl_c_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    assert ended(monkeypatch, KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == ""


def test_a_command_may_choose_its_code(monkeypatch: pytest.MonkeyPatch):
    assert ended(monkeypatch, typer.Exit(7)) == 7
    assert ended(monkeypatch, typer.Abort()) == 1


def test_an_internal_error_keeps_its_stack(monkeypatch: pytest.MonkeyPatch):
    fault = ZeroDivisionError("ours")
    with pytest.raises(ZeroDivisionError) as caught:
        ended(monkeypatch, fault)
    assert caught.value is fault


def test_a_command_is_read_in_alone_and_all_are_for_help():
    """The program builds a single command by its name, and all commands for the help."""
    one = typer.main.get_command(program.build("version"))
    every = typer.main.get_command(program.build())
    assert set(one.commands) == {"version"}  # type: ignore[attr-defined]
    assert set(every.commands) == {*command_table.COMMANDS, *command_table.GROUPS, *command_table.HIDDEN}  # type: ignore[attr-defined]


def test_the_help_lists_every_command_once_under_a_heading(capsys: pytest.CaptureFixture[str]):
    listed = [name for names in command_table.SECTIONS.values() for name in names]
    assert sorted(listed) == sorted({**command_table.COMMANDS, **command_table.GROUPS})
    program.build_overview()(["--help"], standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    for heading, names in command_table.SECTIONS.items():
        after = lines[lines.index(f"{heading}:") + 1 :]
        section = after[: after.index("")] if "" in after else after
        assert [line.split()[0] for line in section if line[2] != " "] == list(names)


def test_a_terminal_that_is_not_utf_8_is_no_reason_to_fail(tmp_path: Path):
    ascii_only = surroundings({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "longline.cli", *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=ascii_only, check=False)

    assert run("migrate").stderr == ""
    listed = run("maintenance", "list")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "\t?\tArchive and delete" in listed.stdout
