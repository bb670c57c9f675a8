"""Importing names when they are first used: the public names of a package (`lazy_names`), and objects
given as `"module:name"` (`import_object`).

A package's `__init__.pyi` is the only list of its names: type checkers and the package itself read it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

STUB_IMPORT = re.compile(r"^from (\S+) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)


def lazy_names(
    package: str, file: str
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` for the package whose `__init__.py` is `file`."""
    with open(f"{file}i", encoding="utf-8") as stub:  # noqa: PTH123, pathlib takes long to import
        sources = names_in(stub.read())
    names = sorted(sources)

    def get(name: str) -> Any:
        if name not in sources:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = _imported(*sources[name], package)
        setattr(import_module(package), name, value)
        return value

    return names, get, lambda: names


def _imported(module: str, attribute: str, package: str) -> Any:
    """The attribute, or the submodule of that name, as in `from wellput.api import train`."""
    source = import_module(module)
    if module == package or not hasattr(source, attribute):
        return import_module(f"{module}.{attribute}")
    return getattr(source, attribute)


def import_object(path: str) -> Any:
    """The object at `"module:name"`.

    >>> import_object("operator:add")(1, 2)
    3
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def names_in(stub: str) -> dict[str, tuple[str, str]]:
    """For each name that the stub imports, its module and its name in that module.

    >>> names_in("from wellput.core.tree import Tree as Tree")
    {'Tree': ('wellput.core.tree', 'Tree')}
    """
    sources = {}
    for module, in_parentheses, on_one_line in STUB_IMPORT.findall(stub):
        for entry in (in_parentheses or on_one_line).split(","):
            attribute, _, name = (part.strip() for part in entry.partition(" as "))
            if name:
                sources[name] = (module, attribute)
    return sources
