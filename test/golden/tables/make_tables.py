"""Records what pandas, pyarrow and scikit-learn make of a small table with categories and missing values.

    python3 make_tables.py        (pandas 3.1, pyarrow 26, scikit-learn 1.9)
"""

import json
import pathlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.class_weight import compute_class_weight

here = pathlib.Path(__file__).parent
rng = np.random.default_rng(13)
N = 40

table = pd.DataFrame(
    {
        "fare": np.round(rng.lognormal(3, 1, N), 3),
        "age": rng.integers(1, 80, N).astype(float),
        "port": rng.choice(["Southampton", "Cherbourg", "Queenstown", 'Cobh, "old"'], N, p=[0.5, 0.3, 0.15, 0.05]),
        "alone": rng.random(N) < 0.6,
        "boarded": pd.to_datetime("1912-04-10") + pd.to_timedelta(rng.integers(0, 72, N), unit="h"),
        "class": rng.choice(["first", "second", "third"], N, p=[0.2, 0.3, 0.5]),
    }
)
table.loc[rng.choice(N, 7, replace=False), "age"] = np.nan
table.loc[rng.choice(N, 4, replace=False), "port"] = None
table.to_csv(here / "passengers.csv", index=False, date_format="%Y-%m-%dT%H:%M:%S")
table.to_json(here / "passengers.jsonl", orient="records", lines=True, date_format="iso", date_unit="s")
arrow = pa.Table.from_pandas(table, preserve_index=False)
pq.write_table(arrow, here / "passengers.parquet")
pq.write_table(arrow, here / "passengers-zstd.parquet", compression="zstd", row_group_size=16)
pq.write_table(arrow, here / "passengers-gzip.parquet", compression="gzip", data_page_version="2.0")
pq.write_table(
    arrow, here / "passengers-plain-v2.parquet", compression="none", use_dictionary=False, data_page_version="2.0"
)

def write_arrow(table, name, compression=None, rows=None):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(str(here / name), table.schema, options=options) as file:
        file.write_table(table, max_chunksize=rows)


write_arrow(arrow, "passengers.arrow")
write_arrow(arrow, "passengers-zstd.arrow", "zstd", rows=16)
port = arrow.schema.get_field_index("port")
coded = arrow.set_column(port, "port", arrow["port"].dictionary_encode())
write_arrow(coded, "passengers-lz4.arrow", "lz4", rows=24)
text = ["", "a", "\u00e4\U0001f600", None, "a longer text than twelve bytes"] * 40
types = pa.table(
    {
        **{str(kind): pa.array([0, 1, 100, None, 7] * 40, kind) for kind in [pa.int8(), pa.uint8(), pa.int16(), pa.uint16()]},
        **{str(kind): pa.array([0, 1, 2**31 - 1, None, 7] * 40, kind) for kind in [pa.int32(), pa.uint32()]},
        **{str(kind): pa.array([0, 1, 2**53, None, 7] * 40, kind) for kind in [pa.int64(), pa.uint64()]},
        **{str(kind): pa.array([0.0, -1.5, 0.0625, None, 65504.0] * 40, kind) for kind in [pa.float32(), pa.float64()]},
        "halffloat": pa.array(np.array([0.0, -1.5, 0.0625, 2.0**-24, 65504.0] * 40, np.float16)),
        **{f"timestamp {unit}": pa.array([0, -1, 10, None, 7] * 40, pa.timestamp(unit)) for unit in ["s", "ms", "us", "ns"]},
        "day": pa.array([0, -1, 20000, None, 7] * 40, pa.date32()),
        "date": pa.array([0, -86400000, 1728000000000, None, 86400000] * 40, pa.date64()),
        "text": pa.array(text),
        "large text": pa.array(text, pa.large_string()),
        "text view": pa.array(text, pa.string_view()),
        "nothing": pa.nulls(200),
    }
)
write_arrow(types, "types.arrow", "lz4")
milliseconds = lambda column: column.cast(pa.timestamp("us"), safe=False).cast(pa.int64()).to_pylist()  # noqa: E731
(here / "types.json").write_text(
    json.dumps(
        {
            name: [None if v is None else v / 1000 for v in milliseconds(column)]
            if pa.types.is_temporal(column.type)
            else column.cast(pa.float64()).to_pylist()
            if column.type == pa.float16()
            else column.to_pylist()
            for name, column in zip(types.column_names, types.columns)
        }
    )
    + "\n"
)

train, rest = np.arange(0, N, 2), np.arange(1, N, 2)
days = (table["boarded"] - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)


def numeric(values):
    """Imputed by the median and standardized, then the indicator."""
    column = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    imputer = SimpleImputer(strategy="median", add_indicator=True).fit(column[train])
    imputed = imputer.transform(column)
    scaler = StandardScaler().fit(imputed[train, :1])
    return np.hstack([scaler.transform(imputed[:, :1]), imputed[:, 1:]])


port = table["port"].astype(object).where(table["port"].notna(), None).to_numpy().reshape(-1, 1)
most = SimpleImputer(strategy="most_frequent", missing_values=None).fit(port[train])
encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(most.transform(port[train]))
ports = np.hstack([encoder.transform(most.transform(port)), (port == None).astype(float)])  # noqa: E711

features = np.hstack(
    [
        numeric(table["fare"]),
        numeric(table["age"]),
        ports,
        table[["alone"]].to_numpy(dtype=float),
        numeric(days),
    ]
)
classes = sorted(table["class"].unique())
weights = compute_class_weight("balanced", classes=np.array(classes), y=table["class"].to_numpy()[train])
expected = {
    "columns": {
        "fare": table["fare"].tolist(),
        "age": [None if np.isnan(v) else v for v in table["age"]],
        "port": [None if v is None else v for v in port[:, 0]],
        "alone": table["alone"].astype(int).tolist(),
        "boarded": days.tolist(),
        "class": table["class"].tolist(),
    },
    "train": train.tolist(),
    "rest": rest.tolist(),
    "features": features.tolist(),
    "categories": encoder.categories_[0].tolist(),
    "classWeights": weights.tolist(),
}
(here / "expected.json").write_text(json.dumps(expected) + "\n")
