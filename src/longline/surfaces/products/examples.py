"""Examples of the product-tasks contract for the OpenAPI document."""

from typing import Any

AT = "2025-11-29T10:00:00.000Z"

HEALTH = {
    "status": "healthy",
    "timestamp": AT,
    "version": "0.1.0",
    "services": {
        "database": {"status": "healthy", "response_time_ms": 5.1, "engine": "SQLite 3.45.1"},
        "rabbitmq": {"status": "healthy", "response_time_ms": 5.1, "engine": "SQLite 3.45.1"},
        "elasticsearch": {"status": "healthy", "response_time_ms": 5.1, "engine": "SQLite 3.45.1"},
    },
}

NO_HEALTH = HEALTH | {"status": "unhealthy"}


def _written(data: Any, message: str) -> dict[str, Any]:
    return {"success": True, "data": data, "message": message}


def _listed(item: Any) -> dict[str, Any]:
    pages = {"page": 1, "per_page": 20, "total": 1, "total_pages": 1}
    return {"success": True, "data": [item], "pagination": pages}


NEW_PROXY = {
    "proxy_url": "10.0.0.1",
    "proxy_port": 8080,
    "proxy_protocol": "http",
    "proxy_username": "user",
    "proxy_password": "pass",
    "country_code": "DE",
    "city": "Berlin",
    "provider": "Example Proxies",
    "monthly_cost": 9.99,
    "max_requests_per_hour": 1000,
}
_PROXY = {
    "id": 7,
    "proxy_url": "10.0.0.1",
    "proxy_port": 8080,
    "proxy_protocol": "http",
    "proxy_username": "user",
    "has_password": True,
    "is_active": True,
    "disabled_reason": None,
    "failure_count": 0,
    "success_count": 98,
    "total_failures": 2,
    "success_rate": 98.0,
    "last_used_at": AT,
    "last_success_at": AT,
    "last_failure_at": None,
    "avg_response_time_ms": 450,
    "country_code": "DE",
    "city": "Berlin",
    "provider": "Example Proxies",
    "monthly_cost": 9.99,
    "max_requests_per_hour": 1000,
    "created_at": AT,
    "updated_at": AT,
}
PROXY_CREATED = _written(_PROXY, "Proxy created successfully")
PROXIES = _listed(_PROXY)
PROXY_DETAIL = _PROXY | {"stats": {"success_rate": 98.0, "total_requests": 100, "domains_using": 2}}
PROXY_CHANGE = {"monthly_cost": 12.5, "max_requests_per_hour": 500}
PROXY_CHANGED = _written(_PROXY, "Proxy updated successfully")
PROXY_ENABLED = _written({"proxy_id": 7, "is_active": True, "failure_count": 0}, "Proxy enabled successfully")
PROXY_DISABLED = _written({"proxy_id": 7, "is_active": False, "failure_count": 3}, "Proxy disabled successfully")
PROXY_DELETED = _written({"proxy_id": 7}, "Proxy deleted successfully")

ASSIGNMENT = {"proxy_ids": [7, 8], "priority": 5}
ASSIGNED = _written({"domain_id": 100001, "proxies_assigned": 2, "total_proxies": 5}, "2 proxies assigned successfully")
_MAPPING = {
    "id": 1,
    "domain_id": 100001,
    "proxy_id": 7,
    "proxy_url": "10.0.0.1",
    "proxy_port": 8080,
    "proxy_protocol": "http",
    "country_code": "DE",
    "provider": "Example Proxies",
    "is_active": True,
    "proxy_is_active": True,
    "priority": 5,
    "last_used_at": AT,
    "success_count": 98,
    "failure_count": 0,
    "total_failures": 2,
    "success_rate_percent": 98.0,
    "avg_response_time_ms": 450,
    "created_at": AT,
    "updated_at": AT,
}
MAPPINGS = _listed(_MAPPING)
POOL_STATS = {
    "domain_id": 100001,
    "total_proxies": 5,
    "active_proxies": 4,
    "failing_proxies": 1,
    "overall_success_rate": 97.5,
    "avg_response_time_ms": 520,
    "total_requests": 400,
    "total_success": 390,
    "total_failures": 10,
    "proxy_distribution": {"DE": 3, "US": 2},
}
SIZING = {
    "domain_id": 100001,
    "urls_per_hour": 100,
    "per_proxy": 20,
    "buffer_percent": 20,
    "minimum_proxies": 5,
    "recommended_proxies": 6,
    "active_proxies": 4,
    "missing_proxies": 2,
}
UNASSIGNED = _written(
    {"domain_id": 100001, "proxy_id": 7, "remaining_proxies": 4}, "Proxy removed from domain successfully"
)
_SWITCHED = {"domain_id": 100001, "proxy_id": 7, "is_active": True, "failure_count": 0}
MAPPING_ENABLED = _written(_SWITCHED, "Proxy enabled for domain successfully")
MAPPING_DISABLED = _written(_SWITCHED | {"is_active": False}, "Proxy disabled for domain successfully")

NEW_DOMAIN = {
    "domain_name": "shop.example",
    "base_url": "https://www.shop.example",
    "parser_name": "product",
    "crawl_delay_seconds": 2,
    "max_concurrent_requests": 5,
    "default_crawl_frequency": "1 day",
    "user_agent": "ProductCrawler/1.0",
}
_DOMAIN = {
    "id": 100001,
    "domain_name": "shop.example",
    "base_url": "https://www.shop.example",
    "parser_name": "product",
    "crawl_delay_seconds": 2,
    "max_concurrent_requests": 5,
    "politeness": "host",
    "default_crawl_frequency": "1 day",
    "is_active": True,
    "robots_txt_url": "https://www.shop.example/robots.txt",
    "robots_txt_last_fetched": AT,
    "user_agent": "ProductCrawler/1.0",
    "maintenance_start": None,
    "maintenance_end": None,
    "proxy_strategy": "lru",
    "proxy_country": None,
    "allow_direct": False,
    "store_images": False,
    "parse_retry": "recrawl",
    "recur_after_failure": False,
    "created_at": AT,
    "updated_at": AT,
    "total_tasks": 300,
    "active_proxies": 5,
}
DOMAIN = _DOMAIN | {
    "robots_txt_content": "User-agent: *",
    "stats": {"total_tasks": 300, "active_proxies": 5, "success_rate": 98.5},
}
DOMAINS = _listed(_DOMAIN)
DOMAIN_CREATED = _written(DOMAIN, "Domain created successfully")
DOMAIN_CHANGE = {"crawl_delay_seconds": 2, "maintenance_start": "23:00", "maintenance_end": "01:00"}
DOMAIN_CHANGED = _written(DOMAIN, "Domain updated successfully")
DOMAIN_ENABLED = _written({"domain_id": 100001, "is_active": True}, "Domain enabled successfully")
DOMAIN_DISABLED = _written({"domain_id": 100001, "is_active": False}, "Domain disabled successfully")
ROBOTS_ORDER = {"force": False}
ROBOTS = _written(
    {
        "domain_id": 100001,
        "robots_txt_url": "https://www.shop.example/robots.txt",
        "robots_txt_last_fetched": AT,
        "crawl_delay_found": 5.0,
        "updated_settings": {"crawl_delay_seconds": 5},
    },
    "robots.txt refreshed successfully",
)

_PRODUCT = {
    "id": 99,
    "domain_id": 100001,
    "crawl_task_id": 12345,
    "url": "https://www.shop.example/p/1",
    "url_hash": "4a2f61f2d9f1c0a31f0c6d7ad0cf5e9b9d2ab6a3b7c6b5d6d1b2c3d4e5f60718",
    "product_name": "Kettle",
    "description": "Boils water.",
    "price": 19.99,
    "currency": "USD",
    "availability": "in_stock",
    "rating": 4.5,
    "review_count": 120,
    "brand": "Acme",
    "category": "Kitchen",
    "sku": "K-1",
    "content_hash": "0c6d7ad0cf5e9b9d2ab6a3b7c6b5d6d1b2c3d4e5f607184a2f61f2d9f1c0a31f",
    "created_at": AT,
    "updated_at": AT,
}
PRODUCTS = _listed(_PRODUCT)
PRODUCT = _PRODUCT | {
    "images": [
        {
            "id": 990000,
            "product_id": 99,
            "image_url": "https://www.shop.example/p/1.jpg",
            "image_path": None,
            "alt_text": None,
            "image_type": "primary",
            "position": 0,
            "width": None,
            "height": None,
            "file_size": None,
            "created_at": AT,
        }
    ],
    "metadata": {"gtin": "0123456789012"},
    "price_history": [
        {"price": 19.99, "currency": "USD", "availability": "in_stock", "changed_at": AT},
        {"price": 24.99, "currency": "USD", "availability": "in_stock", "changed_at": AT},
    ],
}

ALERTS = {
    "total": 1,
    "alerts": [
        {
            "type": "low_pool",
            "message": "shop.example has 0 active proxies, fewer than 3",
            "domain_id": 100001,
            "proxy_id": None,
            "value": 0.0,
            "threshold": 3.0,
            "since": AT,
        }
    ],
}
PROXY_HEALTH = {
    "domains": [
        {
            "domain_id": 100001,
            "domain_name": "shop.example",
            "total_proxies": 5,
            "active_proxies": 4,
            "failing_proxies": 1,
            "avg_response_time": 520,
            "total_success": 390,
            "total_failures": 10,
        }
    ]
}

DELIVERIES = _listed(
    {
        "id": "0198f6a2-5d3c-7000-8000-000000000000",
        "event": "task.completed",
        "task_id": 12345,
        "webhook_url": "https://hooks.example/tasks",
        "status": "delivered",
        "attempts": [
            {
                "number": 1,
                "attempted_at": AT,
                "response_time_ms": 80,
                "http_status_code": 204,
                "error_message": None,
            }
        ],
        "created_at": AT,
        "updated_at": AT,
    }
)

SYSTEM_STATS = {
    "tasks": {"total": 300, "by_status": {"pending": 10, "completed": 280, "failed": 10}},
    "domains": {"total": 3, "active": 2},
    "proxies": {"total": 5, "active": 4},
    "products": {"total": 280},
    "performance": {
        "running": 5,
        "success_rate": 96.55,
        "avg_response_time_ms": 450.0,
        "tasks_last_24_hours": 300,
    },
}
QUEUES = {
    "queues": [
        {"name": "crawl_queue", "messages_ready": 10, "messages_unacked": 5, "consumers": 2},
        {"name": "parse_queue", "messages_ready": 0, "messages_unacked": 1, "consumers": 2},
        {"name": "priority_queue", "messages_ready": 0, "messages_unacked": 0, "consumers": 2},
    ]
}
