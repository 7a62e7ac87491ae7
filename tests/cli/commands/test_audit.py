import getpass
import json

from tests.cli.conftest import Command, assert_one_line


def test_changes_by_commands_are_listed(longline: Command):
    longline("migrate")
    assert longline("audit").stderr == "no changes are audited for this choice\n"
    key = longline("keys", "create", "shop", "--door", "bots").stdout.strip()
    token = longline("bots", "create", "--bot-id", "b").stdout.strip()
    longline("bots", "disable", "--bot-id", "b")
    assert longline("bots", "create", "--bot-id", "b").returncode == 2
    longline("proxies", "add", "http://me:hunter2@192.0.2.1:8080")
    lines = [line.split("\t")[1:6] for line in longline("audit").stdout.splitlines()]
    user = getpass.getuser()
    assert [line[3] for line in lines] == ["proxy.create", "bot.disable", "bot.register", "key.create"]
    assert [line[:3] for line in lines] == [[user, "admin", "cli"]] * 4
    shown = longline("audit", "--json").stdout
    assert not [secret for secret in (key.split("_", 2)[2], token, "hunter2") if secret in shown]
    [row] = map(json.loads, longline("audit", "--json", "--action", "bot.", "--limit", "1").stdout.splitlines())
    assert (row["before"]["enabled"], row["after"]["enabled"], row["after"]["secret"]) == (1, 0, "***")
    assert longline("audit", "--by", "eve", "--since", "1h", "--thing", "b").stdout == ""
    assert_one_line(longline("audit", "--since", "soon"), 2, '"soon" is not a duration')
