"""Names of a package that are imported when first used.

The stub beside a package's `__init__.py` is the one list of its names: type checkers read it, and so
does the package itself.
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
    """`__all__`, `__getattr__` and `__dir__` of the package whose `__init__.py` is `file`."""
    with open(f"{file}i", encoding="utf-8") as stub:  # noqa: PTH123, pathlib takes long to import
        homes = names_in(stub.read())
    names = sorted(homes)

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = _found(*homes[name], package)
        setattr(import_module(package), name, value)
        return value

    return names, get, lambda: names


def _found(module: str, attribute: str, package: str) -> Any:
    """`from wellput.api import train` names a module, which is there once it is imported."""
    home = import_module(module)
    if module == package or not hasattr(home, attribute):
        return import_module(f"{module}.{attribute}")
    return getattr(home, attribute)


def names_in(stub: str) -> dict[str, tuple[str, str]]:
    """Each name to its module and its name there.

    >>> names_in("from wellput.core.tree import Tree as Tree")
    {'Tree': ('wellput.core.tree', 'Tree')}
    """
    homes = {}
    for module, inside, after in STUB_IMPORT.findall(stub):
        for entry in (inside or after).split(","):
            attribute, _, name = (part.strip() for part in entry.partition(" as "))
            if name:
                homes[name] = (module, attribute)
    return homes
