from tests.cli.conftest import Command


def test_pending_migrations_are_applied_once(longline: Command, database_url: str):
    before = longline("migrate", "--check", "--database", database_url)
    assert before.returncode == 1
    pending = [line.removeprefix("pending: ") for line in before.stdout.splitlines()]
    assert pending
    assert all(line.startswith("pending: ") for line in before.stdout.splitlines())

    first = longline("migrate", "--database", database_url)
    assert first.returncode == 0, first.stderr
    head, *applied = first.stdout.splitlines()
    assert head.endswith(f": {len(pending)} applied")
    assert [line.strip() for line in applied] == pending

    assert longline("migrate", "--database", database_url).stdout.endswith(": up to date\n")
    after = longline("migrate", "--check", "--database", database_url)
    assert (after.returncode, after.stdout) == (0, "up to date\n")
