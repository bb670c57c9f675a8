"""Functions for the registries of metrics, tokenizers, readers and study designs: they parse names with
their options, and find the plugins of other packages.

Names come in a list or separated by commas (`bleu,chrf`). Options follow a name, as in
`chrf:word_order=2`: they are the fields of a dataclass, and the field's type says which values are
allowed. Other packages add names by entry points: a group (`wellput.metrics`) has names, and the
object behind a name is imported on request. The registries have tables of wellput's own names. No
registry imports `wellput.displays`, so its names are entry points, too.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from wellput.core.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


Names: TypeAlias = str | Iterable[str]
"""Names in a list, or separated by commas."""


def split_names(names: Names) -> list[str]:
    """The names in a text or in a list of texts, separated by commas.

    >>> split_names(["a, b", "c"])
    ['a', 'b', 'c']
    """
    texts = [names] if isinstance(names, str) else list(names)
    for text in texts:
        refuse_objects(text)
    return [name for text in texts for part in text.split(",") if (name := part.strip())]


def refuse_objects(given: object) -> None:
    """Raises InputError if `given` is not a name but, for example, a metric object."""
    if not isinstance(given, str):
        named = getattr(given, "name", None) or getattr(given, "__name__", None) or repr(given)
        raise InputError(
            f"{named} is an object, and a name is needed here. Write the scores of your own metric to "
            "a file, score(…, segments='own.csv'), and name that file: './own.csv'. The metric of an "
            "installed package has a name."
        )


def split_specs(text: str) -> list[str]:
    """The names with options in a comma-separated list; options may be separated by commas too.

    >>> split_specs("bleu:tokenize=char,lowercase=true,chrf")
    ['bleu:tokenize=char,lowercase=true', 'chrf']
    """
    specs: list[str] = []
    for piece in text.split(","):
        name, equals, _ = piece.partition("=")
        if equals and ":" not in name and specs:  # one more option of the name before
            specs[-1] += ("," if ":" in specs[-1] else ":") + piece.strip()
        elif piece.strip():
            specs.append(piece.strip())
    return specs


def option_names(cls: Any) -> list[str]:
    """The options of a class: its fields if it is a dataclass, without those whose metadata have
    `is_option=False`; none if it is another class."""
    if not is_dataclass(cls):
        return []
    return [
        field.name for field in fields(cls) if field.init and field.metadata.get("is_option", True)
    ]


def described_options(cls: Any) -> dict[str, str]:
    """The allowed values of each option of a class, in words."""
    hints = get_type_hints(cls)
    return {option: _describe(_allowed_types(hints[option])) for option in option_names(cls)}


def given_options(name: str, cls: Any, tail: str) -> dict[str, Any]:
    """The options in `tail` (`option=value,option=value`, or with colons between the options),
    converted to the types of the fields. `name` is what the options belong to, for messages.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Scale:
    ...     points: int = 7
    ...     is_shown: bool = True
    >>> given_options("scale", Scale, "points=5,is_shown=false")
    {'points': 5, 'is_shown': False}
    """
    types_ = get_type_hints(cls, include_extras=True)
    options = option_names(cls)
    values: dict[str, Any] = {}
    for pair in tail.replace(":", ",").split(",") if tail else []:
        key, equals, value = pair.partition("=")
        key = key.strip()
        if key not in options:
            allowed = f"It has {', '.join(options)}." if options else "It has none."
            raise InputError(f"{name} has no option {key!r}.{did_you_mean(key, options)} {allowed}")
        if not equals:
            raise InputError(f"{name}: write the option as {key}=VALUE.")
        values[key] = _parse(name, key, value.strip(), types_[key])
    return values


def _parse(name: str, key: str, value: str, hint: Any) -> Any:
    """The value of an option, converted to its type (`hint`). `name` is the name that the option
    belongs to, `key` the name of the option."""
    allowed_types = _allowed_types(hint)
    for kind in allowed_types:
        if kind is type(None) and value.lower() == "unset":
            return None
        if kind is bool and value.lower() in ("true", "false"):
            return value.lower() == "true"
        if kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
        if get_origin(kind) is Literal and value in get_args(kind):
            return value
        if kind is str:
            return value
        if get_origin(kind) is Annotated:  # a text, and a function that checks it
            kind.__metadata__[0](value)
            return value
    raise InputError(f"{name}: {key}={value} is not allowed; {key} is {_describe(allowed_types)}.")


def _allowed_types(hint: Any) -> Sequence[Any]:
    """The types in a union; or the type alone."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else [hint]


def _describe(allowed_types: Sequence[Any]) -> str:
    titles = {bool: "true or false", int: "a whole number", float: "a number", type(None): "unset"}
    words: list[str] = []
    for kind in [t for t in allowed_types if not (t is int and float in allowed_types)]:
        is_listed = get_origin(kind) is Literal
        words += map(str, get_args(kind)) if is_listed else [titles.get(kind, "text")]
    return " or ".join(words)


def plugins(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name: wellput's in their order, then those of other packages
    in the order of the names. Another package cannot replace a name of wellput's."""
    return _plugins(group, tuple(sys.path))


@lru_cache(maxsize=64)
def _plugins(group: str, path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    """Cached for each `sys.path`, because looking through all installed packages takes milliseconds."""
    from importlib.metadata import entry_points  # imported here because it is slow to import

    own_points: dict[str, EntryPoint] = {}
    other_points: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        (own_points if is_own(point) else other_points)[point.name] = point
    return own_points | {
        name: other_points[name] for name in sorted(other_points.keys() - own_points.keys())
    }


def is_own(point: EntryPoint) -> bool:
    """Whether an entry point is wellput's."""
    return point.value.startswith("wellput.")


def load_plugin(point: EntryPoint) -> Any:
    """The object of an entry point; raises InputError if it cannot be imported."""
    with _load_errors(point):
        return point.load()


def plugin_object(point: EntryPoint) -> Any:
    """The object of an entry point; a class is called without arguments."""
    loaded = load_plugin(point)
    with _load_errors(point):
        return loaded() if isinstance(loaded, type) else loaded


def plugin_in_words(point: EntryPoint) -> str:
    """The plugin with its kind and its package, to begin an error message with: `The reader subtitles
    of the package wellput-subtitles 1.0`."""
    kind = point.group.removeprefix("wellput.").removesuffix("s")
    package = f" of the package {point.dist.name} {point.dist.version}" if point.dist else ""
    return f"The {kind} {point.name}{package}"


@contextmanager
def _load_errors(point: EntryPoint) -> Iterator[None]:
    """Any error inside becomes an InputError that names the plugin."""
    try:
        yield
    except Exception as error:
        raise InputError(
            f"{plugin_in_words(point)} cannot be loaded ({type(error).__name__}: {error}). "
            "Repair the package or uninstall it."
        ) from error
