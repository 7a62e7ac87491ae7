from pathlib import Path

from tests.cli.conftest import Command, assert_one_line


def test_a_bot_from_its_making_to_its_new_token(longline: Command, tmp_path: Path):
    longline("migrate")
    made = longline("bots", "create", "--bot-id", "shop", "--name", "Shop")
    assert made.stdout.startswith("bot_shop_"), made.stderr
    assert made.stdout.count("\n") == 1
    assert_one_line(longline("bots", "create", "--bot-id", "shop"), 2, "bot shop is already registered")
    assert_one_line(longline("bots", "create", "--bot-id", "x" * 101), 2, "1 to 100 characters")
    assert longline("bots", "disable", "--bot-id", "shop").stdout == "shop: disabled\n"
    listed = longline("bots", "list").stdout
    assert listed.startswith("shop\tShop\tno\tbot_shop_")
    assert listed.count("\n") == 1
    assert made.stdout.strip() not in listed
    assert longline("bots", "enable", "--bot-id", "shop").stdout == "shop: enabled\n"
    again = longline("bots", "rotate-token", "--bot-id", "shop")
    assert again.stdout.startswith("bot_shop_")
    assert again.stdout != made.stdout
    assert_one_line(longline("bots", "enable", "--bot-id", "nobody"), 1, "no such bot: nobody")


def test_a_bots_limits_are_flags(longline: Command):
    longline("migrate")
    longline("bots", "create", "--bot-id", "a/b", "--rate-limit", "600", "--lock-seconds", "30")
    assert "\t600\t" in longline("bots", "list").stdout
    for flags, shown in ((("--rate-limit", "1200"), "\t1200\t"), (("--rate-limit", "0", "--max-jobs", "5"), "\tany\t")):
        assert longline("bots", "change", "--bot-id", "a/b", *flags).stdout == "a/b: changed\n"
        assert shown in longline("bots", "list").stdout
    assert_one_line(longline("bots", "change", "--bot-id", "a/b"), 2, "nothing to change")
    assert_one_line(longline("bots", "change", "--bot-id", "x", "--rate-limit", "1"), 1, "no such bot: x")
    assert longline("bots", "change", "--bot-id", "a/b", "--rate-limit", "-1").returncode == 2


def test_the_sweep_by_either_name(longline: Command):
    longline("migrate")
    for words in (("bots", "expire-locks"), ("expire_locks",)):
        swept = longline(*words, "--auto-retry", "--limit", "5", "--dry-run")
        assert swept.stdout == "expired 0, requeued 0, failed 0\n", swept.stderr
