"""Responses about products, and their making from items."""

from decimal import Decimal
from typing import Any, Literal

import msgspec

from longline.model.downloads.download import DownloadRow
from longline.model.recrawls.url_hash import submitted_hash
from longline.model.search.item import ItemRow, own_fields
from longline.model.search.item_changes import ItemVersion
from longline.services.recrawls.images import ProductImages
from longline.surfaces.products.field_types import Timestamp, time_text

MAX_NAME_CHARS = 512

DEFAULT_CURRENCY = "USD"

IMAGE_NUMBERS = 10_000
"""Numbers of images for each product."""

ImageType = Literal["primary", "gallery", "thumbnail"]


class ProductBody(msgspec.Struct, frozen=True, kw_only=True):
    """A product as it was last crawled."""

    id: int
    domain_id: int
    crawl_task_id: int | None
    url: str
    url_hash: str
    product_name: str
    description: str | None
    price: Decimal | None
    currency: str
    availability: str | None
    rating: Decimal | None
    review_count: int | None
    brand: str | None
    category: str | None
    sku: str | None
    content_hash: str
    created_at: Timestamp
    updated_at: Timestamp


class ProductImage(msgspec.Struct, frozen=True, kw_only=True):
    """An image of a product; path, size and dimensions are known for stored images.

    An image has no row: its id is made of the product and the position.
    """

    id: int
    product_id: int
    image_url: str
    image_path: str | None
    alt_text: str | None
    image_type: ImageType
    position: int
    width: int | None
    height: int | None
    file_size: int | None
    created_at: Timestamp


class PastPrice(msgspec.Struct, frozen=True):
    """A price of a product, and the time from which it held."""

    price: Decimal | None
    currency: str
    availability: str | None
    changed_at: Timestamp


class ProductDetail(ProductBody, frozen=True, kw_only=True):
    """A product with its images, its further fields and its history of prices, the present one first."""

    images: list[ProductImage]
    metadata: dict[str, Any]
    price_history: list[PastPrice]


def product_body(item: ItemRow) -> ProductBody:
    """Return a product in the contract's format."""
    fields = own_fields(item)
    return ProductBody(
        id=item.id,
        domain_id=item.source_id,
        crawl_task_id=item.task_id or None,
        url=item.url,
        url_hash=submitted_hash(item.url),
        product_name=(item.title or _text(fields.get("name")) or "")[:MAX_NAME_CHARS],
        description=_text(fields.get("description")),
        price=_money(item.price),
        currency=_text(fields.get("currency")) or DEFAULT_CURRENCY,
        availability=item.availability,
        rating=_money(item.rating),
        review_count=fields["review_count"] if isinstance(fields.get("review_count"), int) else None,
        brand=item.brand,
        category=item.category,
        sku=_text(fields.get("sku")),
        content_hash=item.hash,
        created_at=time_text(item.created_at),
        updated_at=time_text(item.updated_at),
    )


async def product_images(images: ProductImages, item: ItemRow, fields: dict[str, Any]) -> list[ProductImage]:
    urls = fields.get("images")
    found = [url for url in urls if isinstance(url, str)] if isinstance(urls, list) else []
    stored = await images.of(item.source_id, found)
    return [_image(item, url, position, stored.get(url)) for position, url in enumerate(found)]


def _image(item: ItemRow, url: str, position: int, stored: DownloadRow | None) -> ProductImage:
    return ProductImage(
        id=item.id * IMAGE_NUMBERS + position,
        product_id=item.id,
        image_url=url,
        image_path=stored.key if stored else None,
        alt_text=None,
        image_type="gallery" if position else "primary",
        position=position,
        width=stored.width if stored else None,
        height=stored.height if stored else None,
        file_size=stored.bytes if stored else None,
        created_at=time_text(item.created_at),
    )


def past_prices(versions: list[ItemVersion]) -> list[PastPrice]:
    """Return the prices of the versions, without versions in which neither price nor availability changed."""
    found: list[PastPrice] = []
    for version in reversed(versions):
        said: dict[str, Any] = msgspec.json.decode(version.fields)
        currency = _text(said.get("currency")) or DEFAULT_CURRENCY
        now = PastPrice(_money(version.price), currency, version.availability, time_text(version.updated_at))
        if not found or _facts(found[-1]) != _facts(now):
            found.append(now)
    return found[::-1]


def _facts(price: PastPrice) -> tuple[Any, ...]:
    return price.price, price.currency, price.availability


def _money(value: float | None) -> Decimal | None:
    return None if value is None else Decimal(f"{value:.2f}")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
