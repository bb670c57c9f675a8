"""The formats of tables, told apart by the suffixes of files: CSV, TSV, JSONL, Parquet."""

from __future__ import annotations

from wellput.core.errors import InputError
from wellput.io.files import STANDARD_INPUT, InputFile, PathLike

FORMATS = (".csv", ".tsv", ".jsonl", ".parquet")


def format_of(path: PathLike, *, on_stream: str) -> str:
    """`.csv`, `.tsv`, `.jsonl` or `.parquet`; `on_stream` is what `-` stands for."""
    suffix = on_stream if str(path) == STANDARD_INPUT else InputFile(path).suffix
    if suffix not in FORMATS:
        raise InputError(
            f"{path}: the format is not known from the name, which must end in "
            f"{', '.join(FORMATS)}; .gz or .xz may stand behind it."
        )
    return suffix
