"""Examples of the product-tasks contract for the OpenAPI document."""

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
