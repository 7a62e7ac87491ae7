"""Offers, and the choice of one among several."""

import pytest

from longline.parsers.product.offers import availability_of, offer_fields

SUM = {"@type": "AggregateOffer", "lowPrice": "10", "highPrice": "20", "priceCurrency": "USD"}
SALE = {"price": "7", "priceCurrency": "EUR", "priceType": "https://schema.org/SalePrice"}


@pytest.mark.parametrize(
    ("offers", "price", "currency", "availability"),
    [
        ([], None, "", ""),
        (["free"], None, "", ""),
        ([SUM], 10.0, "USD", ""),
        (
            [SUM | {"offers": [{"price": 10, "availability": "SoldOut"}, {"price": 12, "availability": "InStock"}]}],
            *(12.0, "USD", "in_stock"),
        ),
        ([SUM | {"offers": [{"availability": "InStock"}]}], 10.0, "USD", "in_stock"),
        ([{"price": {"@value": "12.50"}, "priceCurrency": "EUR"}], 12.5, "EUR", ""),
        ([{"price": ["9", "8"], "priceCurrency": "€"}], 9.0, "EUR", ""),
        ([{"priceSpecification": [{"price": "2.5", "referenceQuantity": {"value": 100}}, SALE]}], 7.0, "EUR", ""),
        ([{"price": "", "priceSpecification": SALE}], 7.0, "EUR", ""),
        ([{"price": 1, "availability": {"@id": "https://schema.org/InStock"}}], 1.0, "", "in_stock"),
    ],
)
def test_offers(offers, price, currency, availability):
    assert offer_fields(offers) == {"price": price, "currency": currency, "availability": availability}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("https://schema.org/InStock", "in_stock"),
        ("http://schema.org/LimitedAvailability", "in_stock"),
        ("in stock", "in_stock"),
        ("OutOfStock", "out_of_stock"),
        ("Currently unavailable", "out_of_stock"),
        ("oos", "out_of_stock"),
        ("BackOrder", "preorder"),
        ("preorder", "preorder"),
        ("available for order", "preorder"),
        ("Discontinued", "discontinued"),
        ("https://schema.org/InStock/", "in_stock"),
        ("Not available", "out_of_stock"),
        ("https://schema.org/Reserved", "out_of_stock"),
        ("Nicht auf Lager", "out_of_stock"),
        ("auf Lager", "in_stock"),
        ("En stock", "in_stock"),
        ("Rupture de stock", "out_of_stock"),
        ("нет в наличии", "out_of_stock"),
        ("在庫あり", "in_stock"),
        ("ask us", ""),
        ("", ""),
    ],
)
def test_availability(text, word):
    assert availability_of(text) == word
