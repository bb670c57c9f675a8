"""JSON lines: one object a line, empty lines skipped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from wellput.core.errors import Problems
from wellput.io.files import InputFile

MAX_KEYS_NAMED = 10


def read_json_lines(file: InputFile, problems: Problems) -> Iterator[tuple[int, Any]]:
    """Each line's number (from 1) and value. Lines that are not JSON are left out and added to
    `problems`."""
    return json_values(enumerate(file.lines(), start=1), problems)


def json_values(
    numbered_lines: Iterable[tuple[int, str]], problems: Problems
) -> Iterator[tuple[int, Any]]:
    """Like `read_json_lines`, for pairs of a line's number and its text."""
    decode = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number).decode
    for number, line in numbered_lines:
        try:
            value = decode(line)
        except json.JSONDecodeError as error:
            if line and not line.isspace():
                place = "" if error.colno > len(line) else f" at character {error.colno}"
                problems.add(f"line {number}", f"not JSON{place}: {_lowered(error.msg)}")
            continue
        except ValueError as error:
            problems.add(f"line {number}", str(error))
            continue
        except RecursionError:
            problems.add(f"line {number}", "nested too deeply")
            continue
        yield number, value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object of these keys and values; raises ValueError for a key that is given twice."""
    result = dict(pairs)
    if len(result) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        repeated = [f'"{key}"' for key, n in counts.items() if n > 1]
        raise ValueError(
            f"the key {', '.join(repeated[:MAX_KEYS_NAMED])} is given twice in one object"
        )
    return result


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON; write null for a missing value")


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
