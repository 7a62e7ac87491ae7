"""The real servers that tests start: PostgreSQL, an S3 store and Valkey, from wheels or from the system."""

from tests.servers.postgres import PostgresServer, running_postgres
from tests.servers.process import ServerFailed
from tests.servers.s3 import S3Bucket, S3Server, running_s3
from tests.servers.valkey import ValkeyServer, running_valkey

__all__ = [
    "PostgresServer",
    "S3Bucket",
    "S3Server",
    "ServerFailed",
    "ValkeyServer",
    "running_postgres",
    "running_s3",
    "running_valkey",
]
