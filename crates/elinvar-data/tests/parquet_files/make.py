"""Writes the parquet files of this folder: python make.py (pyarrow 26.0, polars 2.1, duckdb 2.0, fastparquet 2026.9)."""

import datetime
from decimal import Decimal

import duckdb
import fastparquet
import numpy
import polars
import pyarrow
import pyarrow.parquet

DECIMALS = [Decimal("1.50"), Decimal("-0.25"), None, Decimal("3.00"), Decimal("4.00"), Decimal("5.00")]
TABLE = pyarrow.table({
    "f64": pyarrow.array([1.5, -2.0, None, 4.25, float("nan"), 6.0], pyarrow.float64()),
    "f32": pyarrow.array([0.5, 3.0, None, -1.25, 2.0, 8.0], pyarrow.float32()),
    "f16": pyarrow.array(numpy.array([1.0, -2.5, 65504.0, 0.0, 6e-8, 3.0], dtype=numpy.float16)),
    "i64": pyarrow.array([7, -8, None, 9007199254740993, 1, 2], pyarrow.int64()),
    "i32": pyarrow.array([9, 10, None, -(2**31), 1, 2], pyarrow.int32()),
    "i16": pyarrow.array([-11, 12, None, -(2**15), 1, 2], pyarrow.int16()),
    "i8": pyarrow.array([-11, 12, None, -128, 1, 2], pyarrow.int8()),
    "u8": pyarrow.array([13, 255, None, 0, 1, 2], pyarrow.uint8()),
    "u16": pyarrow.array([13, 2**16 - 1, None, 0, 1, 2], pyarrow.uint16()),
    "u32": pyarrow.array([13, 2**32 - 1, None, 0, 1, 2], pyarrow.uint32()),
    "u64": pyarrow.array([13, 2**64 - 1, None, 0, 1, 2], pyarrow.uint64()),
    "bool": pyarrow.array([True, False, None, True, True, False]),
    "decimal": pyarrow.array(DECIMALS, pyarrow.decimal128(9, 2)),
    "long decimal": pyarrow.array(DECIMALS, pyarrow.decimal128(30, 2)),
    "nothing": pyarrow.nulls(6),
    "text": pyarrow.array(["Oslo", "Bergen", None, "Tromsø", "Oslo", " NA "]),
    "large text": pyarrow.array(["a", "b", None, "c", "a", "b"], pyarrow.large_string()),
    # The dictionary has a value that no row has.
    "factor": pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([2, None, 1, 2, 2, 1], pyarrow.int8()), ["unused", "blue", "red"]),
    "date": pyarrow.array([datetime.date(2020, 1, 1)] * 6),
    "time": pyarrow.array([datetime.datetime(2020, 1, 1)] * 6, pyarrow.timestamp("us")),
    "list": pyarrow.array([[1.0, 2.0]] * 6),
    "bytes": pyarrow.array([b"\x00"] * 6),
})


def pyarrow_file(name, table=TABLE, **how):
    pyarrow.parquet.write_table(table, f"pyarrow-{name}.parquet", row_group_size=4, write_statistics=False, **how)


pyarrow_file("plain", compression="none", use_dictionary=False)
pyarrow_file("snappy", compression="snappy")
pyarrow_file("gzip", compression="gzip", data_page_version="2.0", store_schema=False)
pyarrow_file("zstd", compression="zstd", store_schema=False)
pyarrow_file("zstd-pages-2", compression="zstd", data_page_version="2.0", store_schema=False)
pyarrow_file("decimals-as-integers", TABLE.select(["decimal"]), compression="snappy", store_decimal_as_integer=True)
pyarrow_file("lz4", TABLE.select(["f64"]), compression="lz4")
pyarrow_file("brotli", TABLE.select(["f64"]), compression="brotli")
encodings = {
    "f64": "BYTE_STREAM_SPLIT",
    "i64": "DELTA_BINARY_PACKED",
    "i32": "DELTA_BINARY_PACKED",
    "text": "DELTA_BYTE_ARRAY",
    "large text": "DELTA_LENGTH_BYTE_ARRAY",
    "bool": "RLE",
}
pyarrow_file("encodings", TABLE.select(list(encodings)), compression="zstd", use_dictionary=False,
             data_page_version="2.0", column_encoding=encodings)
polars.from_arrow(TABLE.drop_columns(["f16", "bytes"])).write_parquet("polars.parquet")
in_duckdb = ["f64", "f32", "i64", "i32", "i16", "i8", "u8", "u16", "u32", "u64", "bool", "decimal", "long decimal", "text", "date"]
duckdb.from_arrow(TABLE.select(in_duckdb)).write_parquet("duckdb.parquet", compression="zstd")
fastparquet.write("fastparquet.parquet", TABLE.select(["f64", "f32", "text"]).to_pandas(), compression="GZIP")
