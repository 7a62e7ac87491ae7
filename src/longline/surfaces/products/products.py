"""`/api/products`: products of all domains, listed, searched and shown with their history of prices."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from longline.model.downloads.download import DownloadRow
from longline.model.errors import Unavailable
from longline.model.recrawls.url_hash import submitted_hash
from longline.model.search.item import ItemRow, own_fields
from longline.model.search.item_changes import ItemVersion
from longline.model.search.query import Filters, Sort
from longline.services.recrawls.images import ProductImages
from longline.services.search.item_history import ItemHistories
from longline.services.search.item_search import Searches, SearchPage, SearchRequest
from longline.surfaces.operation import ApiFailure, operation
from longline.surfaces.products import examples
from longline.surfaces.products import statuses_and_errors as words
from longline.surfaces.products.envelope import ListSuccess, listed
from longline.surfaces.products.field_types import NO_NUL, DomainId, PagedQuery, ProductId, Timestamp, time_text

PATH = "/api/products"
KIND = "product"
MAX_PRICE = 99_999_999.99
DEFAULT_CURRENCY = "USD"
IMAGE_NUMBERS = 10_000
"""Numbers of images for each product."""

Availability = Literal["in_stock", "out_of_stock", "preorder", "discontinued"]
SortField = Literal["price", "rating", "created_at", "updated_at"]
ImageType = Literal["primary", "gallery", "thumbnail"]
_SORTS: dict[SortField, Sort] = {
    "price": "price",
    "rating": "rating",
    "created_at": "created",
    "updated_at": "updated",
}
_SHOWN = frozenset(
    ("name", "title", "description", "price", "currency", "availability", "rating", "review_count", "brand", "category")
) | {"sku", "images", "url", "content_hash"}
"""Fields with a column of their own; all others are metadata."""

Price = Annotated[float, Meta(ge=0, le=MAX_PRICE, description="An amount in the currency of the product.")]
Text = Annotated[str, Meta(max_length=500, pattern=NO_NUL)]


@dataclass(frozen=True, slots=True)
class CatalogServices:
    """Search in products, single products, and their stored images."""

    searches: Searches
    products: ItemHistories
    images: ProductImages


class ProductFilters(PagedQuery, frozen=True, kw_only=True):
    """The filter and the page of a list of products."""

    domain_id: DomainId | None = None
    price_min: Price | None = None
    price_max: Price | None = None
    availability: Annotated[Availability, Meta(description="Availability of the product.")] | None = None
    brand: Annotated[Text, Meta(description="Brand, as the shop writes it.")] | None = None

    def filters(self, **more: Any) -> Filters:
        """Return the conditions of the search."""
        return Filters(
            kind=KIND,
            source_id=self.domain_id,
            availability=self.availability,
            brand=self.brand,
            price_min=self.price_min,
            price_max=self.price_max,
            **more,
        )


class ProductSearchQuery(ProductFilters, frozen=True, kw_only=True):
    """The words of a search, its filter and its page."""

    q: Annotated[str, Meta(min_length=1, max_length=1000, pattern=NO_NUL, description="Words, or a phrase in quotes.")]


class ProductListQuery(ProductFilters, frozen=True, kw_only=True):
    """The filter, the order and the page of a list of products."""

    category: Annotated[Text, Meta(description="Category, as the shop writes it.")] | None = None
    rating_min: Annotated[float, Meta(ge=0, le=10, description="Least rating.")] | None = None
    sort_by: Annotated[SortField, Meta(description="Field of the order.")] = "created_at"
    sort_order: Annotated[Literal["asc", "desc"], Meta(description="Rising or falling.")] = "desc"


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


@operation(
    "GET",
    f"{PATH}/search",
    "Search products by their words",
    access="reader",
    errors=(words.SEARCH_ERROR,),
    response_example=examples.PRODUCTS,
)
async def search_products(services: CatalogServices, query: ProductSearchQuery) -> ListSuccess[ProductBody]:
    """Search in names, descriptions and further fields, the best match first."""
    asked = SearchRequest(query.q, query.filters(), limit=query.per_page, offset=query.offset)
    return _page(await _found(services, asked), query)


@operation(
    "GET",
    PATH,
    "List products",
    access="reader",
    errors=(words.INVALID_SORT_FIELD, words.SEARCH_ERROR),
    response_example=examples.PRODUCTS,
)
async def list_products(services: CatalogServices, query: ProductListQuery) -> ListSuccess[ProductBody]:
    filters = query.filters(category=query.category, rating_min=query.rating_min)
    descending = query.sort_order == "desc"
    asked = SearchRequest("", filters, _SORTS[query.sort_by], descending, query.per_page, query.offset)
    return _page(await _found(services, asked), query)


@operation(
    "GET",
    f"{PATH}/{{product_id}}",
    "Show a product",
    access="reader",
    errors=(words.NO_PRODUCT,),
    response_example=examples.PRODUCT,
)
async def show_product(services: CatalogServices, product_id: ProductId) -> ProductDetail:
    item = await services.products.get(product_id)
    fields = own_fields(item)
    return ProductDetail(
        **msgspec.structs.asdict(product_body(item)),
        images=await _images(services.images, item, fields),
        metadata={name: value for name, value in fields.items() if name not in _SHOWN},
        price_history=_prices(await services.products.versions(product_id)),
    )


PRODUCTS = (search_products, list_products, show_product)


async def _found(services: CatalogServices, asked: SearchRequest) -> SearchPage:
    try:
        return await services.searches.find(asked)
    except Unavailable as error:
        raise ApiFailure(words.SEARCH_ERROR) from error


def _page(found: SearchPage, query: PagedQuery) -> ListSuccess[ProductBody]:
    bodies = [product_body(hit.item) for hit in found.hits]
    return listed(bodies, query.page, query.per_page, found.total, is_bounded=found.more)


def product_body(item: ItemRow) -> ProductBody:
    """Return a product in the contract's format."""
    fields = own_fields(item)
    return ProductBody(
        id=item.id,
        domain_id=item.source_id,
        crawl_task_id=item.task_id or None,
        url=item.url,
        url_hash=submitted_hash(item.url),
        product_name=item.title or _text(fields.get("name")) or "",
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


async def _images(images: ProductImages, item: ItemRow, fields: dict[str, Any]) -> list[ProductImage]:
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


def _prices(versions: list[ItemVersion]) -> list[PastPrice]:
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
