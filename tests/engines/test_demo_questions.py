"""Every question of the demonstration has the same integers, before noise, on every engine; see test_spark too."""

import psycopg

from tacit.demo.purchases import SCHEMA, put, write
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.postgres.engine import Postgres
from tacit.query.python.table import Table

from ._demo import PEOPLE, ROWS, the_same


def test_the_reference_duckdb_and_postgres_agree(server, tmp_path):
    file = write(tmp_path / "purchases.parquet", ROWS, PEOPLE)
    address = put(file, server.url())
    try:
        the_same(file, (DuckDB, Table(file, SCHEMA)), (Postgres, Table(address, SCHEMA)))
    finally:
        with psycopg.connect(server.url()) as connection:
            connection.execute("DROP TABLE purchases")
