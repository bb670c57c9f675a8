"""The categories of errors that judges choose from, and the weights of errors in a score.

Categories form a tree, written as nested tables of a TOML file. Its leaves are the categories that
judges choose: a name with an explanation for judges (perhaps ""), or a name in a list. A *path* names
a leaf: `accuracy/omission`. A weight belongs to a severity (`minor`), or to a severity within a
category (`fluency/punctuation:minor`).
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from wellput.core.errors import InputError, did_you_mean
from wellput.io.files import PathLike, read_toml

Categories: TypeAlias = tuple[tuple[str, str], ...]
"""Each path with its explanation, in the order of the file."""
Weights: TypeAlias = tuple[tuple[str, float], ...]
"""Each severity, or path and severity, with its weight."""

FILE_TABLES = ("categories", "severities", "weights")
MAX_CATEGORIES = 500


@cache
def default_record() -> Mapping[str, Any]:
    """The tables of wellput's own file, which the design mqm uses unless the owner gives another."""
    file = files("wellput.studies.designs") / "mqm_categories.toml"
    record: Mapping[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    return record


def read_categories(path: PathLike) -> dict[str, Any]:
    """The tables of a file: `categories`, and perhaps `severities` and `weights`."""
    record = read_toml(path)
    unknown = [name for name in record if name not in FILE_TABLES]
    if unknown or not isinstance(record.get("categories"), dict):
        raise InputError(
            f"{path} needs a table [categories], and may have severities and [weights]"
            + (f"; it has {unknown[0]!r}." if unknown else ".")
        )
    return record


def flat_categories(tree: object, above: str = "") -> Categories:
    """The leaves of a tree of categories. `above` is the path of the tree in a larger one. A list of
    (path, explanation) is taken as the leaves.

    >>> flat_categories({"accuracy": ["addition", "omission"], "other": ""})
    (('accuracy/addition', ''), ('accuracy/omission', ''), ('other', ''))
    """
    leaves: list[tuple[str, str]] = []
    if isinstance(tree, Mapping):
        entries = list(tree.items())
    elif isinstance(tree, Sequence) and not isinstance(tree, str):
        entries = [(entry, "") if isinstance(entry, str) else tuple(entry) for entry in tree]
    else:
        raise InputError(f"{above or 'categories'} must be a table or a list of names.")
    for name, below in entries:
        # At the top, a name with / is the path of a leaf.
        if not isinstance(name, str) or not name.strip() or (above and "/" in name):
            raise InputError(f"{name!r} is not a name of a category: write text without /.")
        path = f"{above}/{name}" if above else name
        if isinstance(below, str):
            leaves.append((path, below))
        else:
            leaves += flat_categories(below, path)
    twice = sorted({path for path, _ in leaves if [p for p, _ in leaves].count(path) > 1})
    if twice:
        raise InputError(f"The category {twice[0]} comes twice.")
    if not above and not 0 < len(leaves) <= MAX_CATEGORIES:
        raise InputError(f"There must be 1 to {MAX_CATEGORIES} categories, not {len(leaves)}.")
    return tuple(leaves)


def severity_names(names: object) -> tuple[str, ...]:
    """The names of severities, checked."""
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise InputError("severities must be a list of names.")
    given = tuple(map(str, names))
    if not given or len(set(given)) < len(given) or not all(name.strip() for name in given):
        raise InputError("severities must be different names, at least one.")
    return given


def parse_weights(text: str) -> dict[str, float]:
    """The weights in `minor=1,major=5,fluency/punctuation:minor=0.1`."""
    weights: dict[str, float] = {}
    for piece in filter(None, (part.strip() for part in text.split(","))):
        name, equals, number = piece.rpartition("=")
        try:
            weights[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise InputError(f"weights={piece}: write SEVERITY=NUMBER or CATEGORY:SEVERITY=NUMBER.")
    return weights


def checked_weights(weights: object, severities: Sequence[str], categories: Categories) -> Weights:
    """The weights as pairs. Every severity needs one, and every name must be known."""
    if isinstance(weights, str):
        weights = parse_weights(weights)
    pairs = (
        list(weights.items()) if isinstance(weights, Mapping) else [*map(tuple, _listed(weights))]
    )
    known = {*severities, *(f"{path}:{s}" for path in _nodes(categories) for s in severities)}
    for name, value in pairs:
        if name not in known:
            raise InputError(
                f"The weight of {name!r} is for no severity of this study."
                f"{did_you_mean(name, list(known))} Write one of {', '.join(severities)}, or "
                "CATEGORY:SEVERITY."
            )
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or value < 0:
            raise InputError(f"The weight of {name} must be a number from 0 on, not {value!r}.")
    if lacking := [name for name in severities if name not in dict(pairs)]:
        raise InputError(
            f"The severity {lacking[0]} has no weight: give weights={lacking[0]}=NUMBER."
        )
    return tuple((name, float(value)) for name, value in pairs)


def cost(span: Mapping[str, Any], weights: Mapping[str, float]) -> float:
    """The weight of one error: that of its severity in its category, or in the nearest category above
    that has one; else that of its severity.

    >>> weights = {"minor": 1, "fluency/punctuation:minor": 0.1}
    >>> cost({"severity": "minor", "category": "fluency/punctuation"}, weights)
    0.1
    >>> cost({"severity": "minor", "category": "fluency/grammar"}, weights)
    1
    """
    severity, path = span["severity"], span["category"]
    while path:
        if (weight := weights.get(f"{path}:{severity}")) is not None:
            return weight
        path = path.rpartition("/")[0]
    return weights[severity]


def _nodes(categories: Categories) -> set[str]:
    """The paths of all nodes of the tree, not only of its leaves."""
    nodes: set[str] = set()
    for path, _ in categories:
        while path:
            nodes.add(path)
            path = path.rpartition("/")[0]
    return nodes


def _listed(weights: object) -> Sequence[Any]:
    if isinstance(weights, Sequence):
        return weights
    raise InputError("weights must be a table of severities and numbers.")
