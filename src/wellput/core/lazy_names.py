"""Names that are imported when they are first used: a package's public names, and tables of
`"module:name"`.

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
    """The attribute, or the submodule of that name, as in `from wellput.api import train`."""
    home = import_module(module)
    if module == package or not hasattr(home, attribute):
        return import_module(f"{module}.{attribute}")
    return getattr(home, attribute)


def import_object(path: str) -> Any:
    """The object at `"module:name"`.

    >>> import_object("operator:add")(1, 2)
    3
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def names_in(stub: str) -> dict[str, tuple[str, str]]:
    """Each name with its module, and its name in that module.

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
