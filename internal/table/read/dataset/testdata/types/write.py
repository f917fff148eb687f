# Writes the files in this folder: one table, with a column of each type, by two writers.
#   pip install pyarrow duckdb; python write.py
# same.csv is the table as text, whose cells are NULL where they are empty.
import csv
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

import duckdb
import numpy
import pyarrow as pa
import pyarrow.parquet as pq

with open("same.csv") as f:
    names, *rows = csv.reader(f)
utc = pa.timestamp("us", "UTC")
types = {  # of a column by its name, for Arrow and for DuckDB
    "dec9": (pa.decimal128(9, 2), "DECIMAL(9,2)"),
    "dec18": (pa.decimal128(18, 2), "DECIMAL(18,2)"),
    "dec38": (pa.decimal128(38, 2), "DECIMAL(38,2)"),
    "code": (pa.decimal128(20, 2), "DECIMAL(20,2)"),
    "huge": (pa.decimal256(60, 30), None),
    "day": (pa.date32(), "DATE"),
    "ms": (pa.timestamp("ms"), "TIMESTAMP_MS"),
    "us": (pa.timestamp("us"), "TIMESTAMP"),
    "ns": (pa.timestamp("ns"), "TIMESTAMP_NS"),
    "utc": (utc, "TIMESTAMPTZ"),
    "f16": (pa.float16(), None),
    "f32": (pa.float32(), "FLOAT"),
    "u8": (pa.uint8(), "UTINYINT"),
    "u64": (pa.uint64(), "UBIGINT"),
    "id": (pa.uuid(), "UUID"),
    "none": (pa.null(), "INTEGER"),
    "truth": (pa.bool_(), "BOOLEAN"),
}


def value(name, cell):
    if cell == "":
        return None
    if name in ("dec9", "dec18", "dec38", "code", "huge"):
        return Decimal(cell)
    if name == "day":
        return date.fromisoformat(cell)
    if name in ("ms", "us", "ns", "utc"):
        return datetime.fromisoformat(cell)
    if name == "f16":
        return numpy.float16(cell)
    if name == "id":
        return UUID(cell)
    return {"f32": float, "truth": "true".__eq__}.get(name, int)(cell)


columns = {n: pa.array([value(n, row[i]) for row in rows], types[n][0]) for i, n in enumerate(names) if n != "label"}
columns["label"] = pa.array([row[names.index("label")] for row in rows])
table = pa.table(columns)
pq.write_table(table, "pyarrow.parquet", store_schema=False, store_decimal_as_integer=True, write_statistics=False)
# The times of old writers, decimals in bytes, and another encoding.
old = table.select(["dec9", "dec18", "code", "us", "utc", "label"])
pq.write_table(old, "old.parquet", store_schema=False, use_deprecated_int96_timestamps=True, use_dictionary=False,
               column_encoding={"dec9": "DELTA_BYTE_ARRAY", "dec18": "BYTE_STREAM_SPLIT"}, write_statistics=False)

d = duckdb.connect()
d.execute("SET TimeZone = 'UTC'")
picked = ", ".join(f'CAST("{n}" AS {types[n][1]}) AS "{n}"' for n in names if n != "label" and types[n][1])
d.execute(f"COPY (SELECT {picked}, label FROM read_csv('same.csv', all_varchar=true)) TO 'duckdb.parquet'")
