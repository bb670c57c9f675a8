"""The folder that `wellput train fluency` writes, as the option `model` of a metric names it."""

from __future__ import annotations

from pathlib import Path

from wellput.core.errors import InputError


def model_in(folder: str, file: str, *, option: str) -> Path:
    """The file in the folder; `option` is the one of `wellput train fluency` that has it written."""
    place = Path(folder)
    if (place / file).is_file():
        return place / file
    if place.is_file():
        raise InputError(f"model={folder} is a file; give the folder that has {file} in it.")
    missing = f"There is no {file} in {folder}" if place.is_dir() else f"No such folder: {folder}"
    raise InputError(
        f"{missing}. To make it: wellput train fluency --text TEXT {option} -o {folder}"
    )
