"""Pages as objects."""

from longline.engine.archive.page_objects import object_key


def test_a_plain_url_is_its_key():
    assert object_key("series/1", "https://cdn.example/7/001.jpg") == "series/1/cdn.example/7/001.jpg"


def test_urls_that_look_alike_have_other_keys():
    urls = [
        *("https://a.example/p?n=1", "https://a.example/p?n=2", "https://a.example/p", "https://a.example/p%20"),
        *("https://a.example/p_", f"https://a.example/{'x' * 900}", f"https://a.example/{'x' * 901}"),
        *("https://a.example//p", "https://a.example/", "https://a.example/_/p"),
    ]
    keys = [object_key("series/1", url) for url in urls]
    assert len(set(keys)) == len(urls)
    assert all(".." not in key and "//" not in key and len(key) < 500 for key in keys)
