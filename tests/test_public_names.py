"""The stubs beside `__init__.py` list the public names; each exists and is loaded when first used."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from wellput.core.lazy_names import names_in

PACKAGES = ["wellput", "wellput.displays", "wellput.io", "wellput.stats"]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_is_there(package: str) -> None:
    module = import_module(package)
    names = module.__all__
    assert names == sorted(set(names))
    assert set(names) <= set(dir(module))
    for name in names:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = module.nothing


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_hides_a_public_name(package: str) -> None:
    """Importing the module `wellput.x` would replace the function `wellput.x` by it."""
    module = import_module(package)
    inside = {found.name for found in pkgutil.iter_modules(module.__path__)}
    hidden = [name for name in module.__all__ if name in inside]
    assert all(isinstance(getattr(module, name), ModuleType) for name in hidden)


def test_a_stub_in_several_lines_is_read() -> None:
    stub = """from a.b import (
    one as one,
    two as second,
)
from c import three as three
import os
"""
    assert names_in(stub) == {
        "one": ("a.b", "one"),
        "second": ("a.b", "two"),
        "three": ("c", "three"),
    }


def test_a_name_may_be_a_module_that_nobody_has_imported(tmp_path: Path) -> None:
    """A module of the package itself, and one of another package."""
    inner = tmp_path / "lazy_house" / "room"
    inner.mkdir(parents=True)
    (inner / "__init__.py").touch()
    (inner / "chair.py").write_text("legs = 4\n")
    (inner.parent / "__init__.py").write_text(
        "from wellput.core.lazy_names import lazy_names\n"
        "__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)\n"
    )
    (inner.parent / "__init__.pyi").write_text(
        "from lazy_house import room as room\nfrom lazy_house.room import chair as seat\n"
    )
    program = "import lazy_house; print(lazy_house.seat.legs, lazy_house.room.__name__)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "4 lazy_house.room\n"


def test_importing_the_package_loads_next_to_nothing() -> None:
    program = "import sys, wellput; print([m for m in sys.modules if m.startswith('wellput.')])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['wellput.core', 'wellput.core.lazy_names']"
