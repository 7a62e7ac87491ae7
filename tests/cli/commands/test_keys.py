from tests.cli.conftest import Command, assert_one_line


def test_a_key_is_created_listed_and_revoked(longline: Command):
    longline("migrate")
    made = longline("keys", "create", "shop", "--door", "bots", "--role", "admin", "--rate-limit", "60", "--ttl", "2d")
    key = made.stdout.strip()
    assert key.startswith("llk_"), made.stderr
    uid = key.split("_")[1]
    listed = longline("keys", "list").stdout
    assert listed.startswith(f"{uid}\tshop\tbots\tadmin\t–\t60\tnever\tuntil 2"), listed
    assert key.split("_", 2)[2] not in listed
    assert longline("keys", "revoke", uid).stdout == f"{uid} shop: revoked\n"
    assert "\trevoked 2" in longline("keys", "list").stdout


def test_wrong_options_are_told(longline: Command):
    longline("migrate")
    assert longline("keys", "list").stderr == "no API keys; create one with longline keys create\n"
    create = ("keys", "create", "shop", "--door")
    assert_one_line(
        longline(*create, "front"),
        2,
        'no API "front"; there are intervals, bots, products, catalogue, manifests, platform',
    )
    assert_one_line(longline(*create, "bots", "--role", "banned"), 2, 'cannot have the role "banned"')
    assert_one_line(longline(*create, "bots", "--ttl", "soon"), 2, '"soon" is not a duration')
    assert_one_line(longline("keys", "revoke", "none"), 1, "no such API key: none")
