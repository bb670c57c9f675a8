"""Nasty bytes and nasty arguments, made from good ones.

A good file changed in a few places reaches further into a reader than random bytes do, and a good call
with one bad argument further into a kernel. Everything is drawn from one `random.Random`, so that a
seed is enough to see a failure again.
"""

from __future__ import annotations

import codecs
import gzip
import lzma
from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Mutation: TypeAlias = Callable[[Random, bytes], bytes]

NUMBERS = [
    b"0", b"-1", b"1e400", b"-0.0", b"NaN", b"Infinity", b"-inf", b"1_0", b"0x10", b"9" * 25, b"1e-320",
    b"4294967296", b"-2147483649", b"18446744073709551616", b"0.5", b"9" * 5000,
]  # fmt: skip
PIECES = [
    *NUMBERS, b"", b"\n", b"\r", b"\r\n", b"\t", b" ", b'"', b'""', b"'", b",", b";", b"\\", b"\x00",
    b"null", b"true", b"{}", b"[]", b'{"', b"}", b"[", b"]", b"(", b")", b"()", b"<", b"/>", b"&amp;",
    b"&#0;", b"]]>", b"<!--", b"%s", b"=", b"|", b"_", b"-", b"#", b"\\u0000", b"\\ud800", b'"\\ud800"',
    "é".encode(), "😀".encode(), "\u2028".encode(), "\u202e".encode(), "٣".encode(), "²".encode(),
    b"\xff", b"\xc0\x80", b"\xed\xa0\x80", codecs.BOM_UTF8, codecs.BOM_UTF16_LE,
]  # fmt: skip
NESTED = [b"(", b"[", b'{"a":', b"<a>", b"(S ", b"[[", b'[{"children":', b"((((a . b))"]


def mutated(rng: Random, data: bytes) -> bytes:
    """The bytes with a few changes of different kinds."""
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        data = rng.choices(MUTATIONS, WEIGHTS)[0](rng, data)
    return data


def _span(rng: Random, data: bytes, longest: int = 40) -> tuple[int, int]:
    start = rng.randint(0, len(data))
    return start, min(len(data), start + rng.randint(0, longest))


def _replace(rng: Random, data: bytes) -> bytes:
    start, end = _span(rng, data, rng.choice([0, 1, 4, 40]))
    return data[:start] + rng.choice(PIECES) + data[end:]


def _bits(rng: Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _bytes(rng: Random, data: bytes) -> bytes:
    start, end = _span(rng, data, 8)
    return (
        data[:start] + rng.choice([b"\x00", b"\xff", b"\x7f", b"\x80"]) * (end - start) + data[end:]
    )


def _number(rng: Random, data: bytes) -> bytes:
    """Another number in the place of one that is there."""
    places = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
    if not places:
        return _replace(rng, data)
    start = end = rng.choice(places)
    while end < len(data) and 48 <= data[end] <= 57:
        end += 1
    return data[:start] + rng.choice(NUMBERS) + data[end:]


def _cut(rng: Random, data: bytes) -> bytes:
    return data[: rng.randint(0, len(data))]


def _remove(rng: Random, data: bytes) -> bytes:
    start, end = _span(rng, data, rng.choice([4, 40, len(data)]))
    return data[:start] + data[end:]


def _repeat(rng: Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:end] + data[start:end] * rng.choice([1, 2, 200]) + data[end:]


def _move(rng: Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    moved, rest = data[start:end], data[:start] + data[end:]
    place = rng.randint(0, len(rest))
    return rest[:place] + moved + rest[place:]


def _lines(rng: Random, data: bytes) -> bytes:
    """Lines dropped, doubled, or put into another order."""
    lines = data.split(b"\n")
    chosen = rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[chosen]
        case 1:
            lines.insert(rng.randrange(len(lines) + 1), lines[chosen])
        case 2:
            rng.shuffle(lines)
        case _:
            lines[chosen] = rng.choice(PIECES)
    return b"\n".join(lines)


def _nest(rng: Random, data: bytes) -> bytes:
    start, _ = _span(rng, data)
    return data[:start] + rng.choice(NESTED) * rng.choice([3, 900, 20_000]) + data[start:]


def _encode(rng: Random, data: bytes) -> bytes:
    text = data.decode(errors="replace")
    match rng.randrange(6):
        case 0:
            return text.encode("utf-16")
        case 1:
            return codecs.BOM_UTF8 + data
        case 2:
            return text.encode("latin-1", errors="replace")
        case 3:
            return gzip.compress(data, mtime=0)[: -rng.randint(0, 12) or None]
        case 4:
            return lzma.compress(data)[: -rng.randint(0, 12) or None]
        case _:
            return data.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\x00", b"\x85", b""]))


MUTATIONS: list[Mutation] = [
    _replace, _bits, _bytes, _number, _cut, _remove, _repeat, _move, _lines, _nest, _encode
]  # fmt: skip
WEIGHTS = [8, 4, 2, 4, 1, 3, 2, 2, 3, 1, 1]

SMALL = [-1, 0, 1, 2, 3, 5, 7, 17, 63, 64, 65, 255, 256, 1000]
FLOATS = [0.0, -0.0, 1.0, -1.0, 1e-320, 1e308, -1e308, float("inf"), float("-inf"), float("nan")]
TEXTS = [
    "",
    " ",
    "\x00",
    "a",
    "\ud800",
    "😀",
    "é" * 70,
    "\u202e",
    "a" * 300,
    "word " * 80,
    "\n",
    "\t",
]


def mutated_value(rng: Random, value: Any) -> Any:
    """An argument of a kernel with one thing changed in it: mostly a value, sometimes its type."""
    if rng.random() < 0.02:
        return rng.choice([None, -1, "a", [], (), 2.5, np.zeros(0), np.zeros((2, 2)), b"\x80\x80"])
    if isinstance(value, np.ndarray):
        return _mutated_array(rng, value)
    if isinstance(value, bool) or callable(value):
        return value
    if isinstance(value, int):
        return rng.choice([*SMALL, value + 1, value - 1])
    if isinstance(value, float):
        return rng.choice([*FLOATS, value * 2, -value])
    if isinstance(value, str) and value.startswith("/"):
        return value  # a folder to write into
    if isinstance(value, str):
        return rng.choice([*TEXTS, value + rng.choice(TEXTS), value[:-1]])
    if isinstance(value, bytes):
        return mutated(rng, value[:20_000])
    if isinstance(value, dict):
        key = rng.choice(list(value))
        if rng.random() < 0.05:
            return {name: each for name, each in value.items() if name != key}
        return {**value, key: mutated_value(rng, value[key])}
    if isinstance(value, list | tuple):
        return _mutated_sequence(rng, value)
    return value


def _mutated_sequence(rng: Random, value: list[Any] | tuple[Any, ...]) -> Any:
    items = list(value)
    chosen = rng.randrange(len(items)) if items else -1
    match rng.randrange(8):
        case 0 if items:
            del items[chosen]
        case 1 if items:
            items.insert(chosen, items[rng.randrange(len(items))])
        case 2:
            items = []
        case _ if items:
            items[chosen] = mutated_value(rng, items[chosen])
    return type(value)(items)


def _mutated_array(rng: Random, array: NDArray[Any]) -> NDArray[Any]:
    changed = array.copy()
    match rng.randrange(8):
        case 0:
            return changed[: rng.randint(0, len(changed))]
        case 1:
            return np.concatenate([changed, changed[: rng.randint(0, len(changed))]])
        case 2:
            with np.errstate(all="ignore"):
                return changed.astype(rng.choice([np.float32, np.float64, np.int32, np.int64]))
        case 3:
            return changed[::-1]
    kind = np.iinfo(changed.dtype) if changed.dtype.kind in "iu" else np.finfo(changed.dtype)
    nasty = [0, 1, -1, 2, 1000, kind.max, kind.min, float(changed.max(initial=0)) + 1]
    if changed.dtype.kind == "f":
        nasty += FLOATS
    for _ in range(rng.choice([1, 1, 3])):
        if changed.size:
            value = np.array(rng.choice(nasty))
            with np.errstate(all="ignore"):
                changed.flat[rng.randrange(changed.size)] = value.astype(changed.dtype)
    return changed
