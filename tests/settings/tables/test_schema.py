"""The schema names every key once, with a sentence and a valid default."""

from longline.settings.tables import ROOT, Tables
from longline.settings.tables.schema import default_of, dotted, is_secret, leaves


def test_every_key_of_a_table_has_one_sentence_and_a_readable_default():
    found = list(leaves(ROOT))
    assert len({path for path, _, _ in found}) == len(found)
    for path, key, _ in found:
        assert key.doc.endswith("."), path
        assert key.doc[0].isupper(), path
        default = default_of(ROOT, path)
        if default not in (None, "", ()):
            assert key.kind.read(key.kind.show(default)) == default, path


def test_paths_are_full_names():
    names = [dotted(path) for path, _, _ in leaves(ROOT)]
    assert {"job_types.<name>.proxy.primary", "proxy.pools.<name>.max_retries", "operator.token"} <= set(names)


def test_every_key_has_an_effect():
    late = [dotted(path) for path, _, later in leaves(ROOT) if later]
    assert late == []


def test_the_text_of_tables_names_each_table():
    assert repr(Tables()).startswith("Tables(job_types={}, proxy=ProxyTable(pools={}), server=ServerTable(")


def test_names_of_secrets_are_known():
    secrets = ["X-Auth-Token", "Authorization", "Cookie", "db_password", "apikey", "client_secret"]
    assert all(map(is_secret, secrets))
    assert not is_secret("max_parallel_downloads")
