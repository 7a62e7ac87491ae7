"""Names of fields in the order of the parser."""

from datetime import UTC, date, datetime

from longline.model.search.item_columns import DATE, LOCAL_TIMESTAMP, TIMESTAMP, decode_columns, encode_columns


def test_names_keep_their_order_and_types_that_json_lacks():
    noon = datetime(2026, 1, 2, 12)
    fields = {"b": 1, "a": None, "at": noon.replace(tzinfo=UTC), "local": noon, "day": date(2026, 1, 2)}
    assert decode_columns(encode_columns(fields)) == (
        ("b", None),
        ("a", None),
        ("at", TIMESTAMP),
        ("local", LOCAL_TIMESTAMP),
        ("day", DATE),
    )


def test_half_a_character_in_a_name_is_replaced():
    assert decode_columns(encode_columns({"a\ud800": 1})) == (("a?", None),)
