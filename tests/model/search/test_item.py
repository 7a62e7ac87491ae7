"""Items that are made of the results of parsers."""

import datetime
import hashlib
from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from longline.model.search.item import NewItem, Origin, new_items, own_fields, searched_words
from longline.model.search.tokenize import MAX_CHARACTERS

PAGE = Origin(1, 2, "https://a.example/page")


def made(kind: str = "article", **fields: Any) -> NewItem:
    (item,) = new_items([(kind, fields)], PAGE)
    return item


def test_title_and_text_have_columns_and_the_rest_is_json():
    item = made(title="T", body="B", url="https://a.example/x", author="A", tags=["b", "a"])
    assert (item.title, item.body, item.url) == ("T", "B", "https://a.example/x")
    assert orjson.loads(item.fields) == {"author": "A", "tags": ["b", "a"]}
    assert (item.run_id, item.task_id, item.kind) == (1, 2, "article")


def test_an_item_is_found_by_the_texts_of_all_its_fields():
    item = made(
        "book",
        title="Rod",
        text="Body",
        author="Ann",
        tags=["Sea", ["deep"]],
        shop={"city": "Bergen", "rows": [{"colour": "red"}]},
        stock=7,
        image="https://a.example/unwanted.png",
        html="<p>unwanted</p>",
        raw='{"unwanted": 1}',
    )
    title, rest = searched_words(item)
    assert title.split() == ["rod"]
    assert rest.split() == ["body", "ann", "bergen", "red", "sea", "deep"]


def test_an_item_without_a_url_has_the_url_of_its_page():
    assert made(title="T").url == PAGE.url


def test_a_product_has_columns_for_its_searchable_fields():
    item = made(
        "product", name="Rod", description="long", price="19.90", rating=4.5, availability="in_stock", brand="Acme"
    )
    assert (item.title, item.body, item.price, item.rating) == ("Rod", "long", 19.9, 4.5)
    assert (item.availability, item.brand, item.category) == ("in_stock", "Acme", None)


@pytest.mark.parametrize("price", [None, "", "cheap", float("nan"), float("inf"), True, [1]])
def test_a_price_that_is_no_number_is_left_out(price: Any):
    assert made("product", price=price).price is None


def test_the_same_page_makes_the_same_items():
    first, other = made(title="T", b=1, a=2), made(a=2, b=1, title="T")
    assert replace(first, columns="") == replace(other, columns="")
    assert made(title="T").key == made(title="U").key
    assert made(title="T").hash != made(title="U").hash
    assert made(title="T").key != made("note", title="T").key
    assert made(title="T").key != made(title="T", url="https://a.example/x").key


@pytest.mark.parametrize(
    "fields",
    [
        {
            "price": 1.5,
            "title": "T",
            "url": "https://a.example/x",
            "stock": True,
            "body": "B",
            "tags": [1, {"a": None}],
        },
        {"title": None, "name": "N", "text": "", "url": None},
        {"url": "", "title": 7, "body": ["no text"]},
        {"headline": "H", "name": "the title", "description": "the body", "raw_text": "B"},
        {"body": "x" * (MAX_CHARACTERS + 1), "": "no name"},
        {},
    ],
)
def test_the_fields_are_read_back_as_the_parser_gave_them(fields: dict[str, Any]):
    found = own_fields(made(**fields))
    assert found == fields
    assert list(found) == list(fields)


def test_times_are_stored_with_their_types():
    day, noon = datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2, 12)
    item = made(day=day, local=noon, at=noon.replace(tzinfo=datetime.UTC), said="2026-01-02")
    assert orjson.loads(item.columns) == [["day", "date"], ["local", "local_timestamp"], ["at", "timestamp"], "said"]
    assert own_fields(item)["at"] == "2026-01-02T12:00:00+00:00"


def test_two_items_of_a_kind_on_one_page_have_two_keys():
    first, second = new_items([("row", {"title": "a"}), ("row", {"title": "b"})], PAGE)
    assert first.key != second.key


def test_only_the_fields_that_the_contract_names_change_a_product():
    rod = {"name": "Rod", "price": 5, "description": "long", "availability": "in_stock"}
    assert made("product", **rod).hash == hashlib.sha256(b"Rod5longin_stock").hexdigest()
    assert made("product", **rod, rating=4).hash == made("product", **rod, rating=5).hash
    assert made("product", **rod | {"price": 6}).hash != made("product", **rod).hash
    assert made("product", name="Rod").hash == hashlib.sha256(b"Rod").hexdigest()


def test_a_parser_may_give_the_hash_of_an_item():
    assert made(title="T", content_hash="abc").hash == "abc"


@pytest.mark.parametrize(
    "value",
    ["nul\0", "half \ud800", datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), {1, 2}, 2**80, {1: "x"}, object()],
)
def test_any_value_of_a_parser_can_be_stored(value: Any):
    item = made(title="T\0\ud800", body="B\0", odd=value)
    assert (item.title, item.body) == ("T ?", "B ")
    assert "\0" not in item.fields
    assert "odd" in orjson.loads(item.fields)


def test_the_length_of_a_text_is_bounded():
    assert len(made(body="x" * (MAX_CHARACTERS + 5)).body) == MAX_CHARACTERS
