"""How much a file may hold before it is refused with a sentence: a file of a few megabytes can unpack
to more than the memory of the machine.

Environment variables change the limits: `WELLPUT_MAX_LINE_MIB` (64) and `WELLPUT_MAX_UNPACKED_MIB`
(1024).
"""

from __future__ import annotations

import os

from wellput.core.errors import InputError

MIB = 1 << 20
MAX_LINE_MIB = 64
"""A line is an item. A metric takes up to 25 times the memory of the longest line."""
MAX_UNPACKED_MIB = 1024
"""An archive is read as a whole, and its contents take several times their size in memory."""


def max_line_bytes() -> int:
    return _mebibytes("WELLPUT_MAX_LINE_MIB", MAX_LINE_MIB)


def max_unpacked_bytes() -> int:
    return _mebibytes("WELLPUT_MAX_UNPACKED_MIB", MAX_UNPACKED_MIB)


def line_too_long(name: str, maximum: int) -> InputError:
    return InputError(
        f"{name} has a line of more than {maximum // MIB:,} MiB. A line is one item: is the file text "
        "with line ends? WELLPUT_MAX_LINE_MIB in the environment sets another limit."
    )


def too_much_unpacked(name: str, n_bytes: int, maximum: int) -> InputError:
    return InputError(
        f"{name} unpacks to {n_bytes / MIB:,.0f} MiB; at most {maximum // MIB:,} MiB are read. "
        "WELLPUT_MAX_UNPACKED_MIB in the environment sets another limit."
    )


def too_large_a_whole(name: str, maximum: int) -> InputError:
    return InputError(
        f"{name} holds more than {maximum // MIB:,} MiB, and it can only be read as a whole. "
        "WELLPUT_MAX_UNPACKED_MIB in the environment sets another limit."
    )


def _mebibytes(variable: str, default: int) -> int:
    text = os.environ.get(variable, "")
    if not text:
        return default * MIB
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise InputError(f"{variable}={text!r} is not a whole number of mebibytes above 0.")
    return int(text) * MIB
