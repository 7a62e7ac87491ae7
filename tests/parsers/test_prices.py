"""Prices of many places, and what they are in."""

import pytest

from longline.parsers.prices import currency_of, price_of


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        (19.99, 19.99),
        (20, 20.0),
        ("19.99", 19.99),
        ("19,99", 19.99),
        ("$1,234.56", 1234.56),
        ("1.234,56 €", 1234.56),
        ("1 234,56 €", 1234.56),
        ("1\u00a0234,56\u00a0€", 1234.56),
        ("1\u202f234,56", 1234.56),
        ("CHF 1'234.50", 1234.5),
        ("1’234.50", 1234.5),
        ("₹1,23,456.00", 123456.0),
        ("₹ 12,34,567", 1234567.0),
        ("1.234.567", 1234567.0),
        ("1,234,567.8", 1234567.8),
        ("1.299", 1299.0),
        ("1,299", 1299.0),
        ("$19.990", 19990.0),
        ("12,5", 12.5),
        ("0.999", 1.0),
        ("0,50", 0.5),
        ("1234,5678", 1234.57),
        ("12345.678", 12345.68),
        ("49,-", 49.0),
        ("49,– €", 49.0),
        ("1.299,00 zł", 1299.0),
        ("R$ 2.499,90", 2499.9),
        ("12 990 ₽", 12990.0),
        ("12 990,50 руб.", 12990.5),
        ("¥12,800", 12800.0),
        ("١٬٢٣٤٫٥٦", 1234.56),
        ("۱۲۳۴", 1234.0),
        ("１，２３４．５", 1234.5),
        ("from $10.99", 10.99),
        ("$10 - $20", 10.0),
        ("10.00 20.00", 10.0),
        ("2 for 10", 2.0),
        ("free", None),
        ("", None),
        (None, None),
        (True, None),
        (-1, None),
        (float("inf"), None),
        ({"value": 1}, None),
    ],
)
def test_amounts(written, amount):
    assert price_of(written) == amount


def test_some_currencies_have_three_decimals():
    assert price_of("12.500", "KWD") == 12.5
    assert price_of("12.345", "KWD") == 12.345
    assert price_of("12.500", "EUR") == 12500.0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("EUR", "EUR"),
        ("eur", "EUR"),
        ("19.99 USD", "USD"),
        ("US$ 20", "USD"),
        ("$20", "USD"),
        ("C$20", "CAD"),
        ("A$20", "AUD"),
        ("R$ 20", "BRL"),
        ("€20", "EUR"),
        ("20 zł", "PLN"),
        ("20 Kč", "CZK"),
        ("₹20", "INR"),
        ("¥20", "JPY"),
        ("20元", "CNY"),
        ("20 руб.", "RUB"),
        ("20", ""),
        ("SALE 20", ""),
        ("XYZ", ""),
        ("", ""),
        (None, ""),
        (20, ""),
    ],
)
def test_currencies(text, code):
    assert currency_of(text) == code
