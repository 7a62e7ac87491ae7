from longline.model.bounded_dict import BoundedDict


def test_the_entry_that_was_set_longest_ago_is_removed():
    known: BoundedDict[str, int] = BoundedDict(2)
    known["a"], known["b"] = 1, 2
    known["a"] = 3
    known["c"] = 4
    assert dict(known) == {"a": 3, "c": 4}
    assert known.setdefault("d", 5) == 5
    assert list(known) == ["c", "d"]
