"""Programs that some tests need and that wellput itself does without: how to see whether each is there,
and the packages that have it.

A test marked `@needs("chromium")` is skipped where the program is missing. `python3 -m tests.programs`
prints the packages of Debian that are missing here; it needs nothing but Python, and CI installs what
it prints.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

WORDNET = Path("/usr/share/wordnet")
"""WordNet 3.0 of Debian: other versions have other synonyms."""

SHARED_FILES = (Path("/usr/share"), Path("/usr/local/share"), Path("/opt/homebrew/share"))


@dataclass(frozen=True)
class Program:
    """`packages` are Debian's."""

    name: str
    packages: tuple[str, ...]
    is_there: Callable[[], bool]

    @property
    def reason(self) -> str:
        """Why a test that needs the program is skipped, with the remedy."""
        return f"needs {self.name}: apt-get install {' '.join(self.packages)}"


def postgresql_folder() -> Path | None:
    """The folder of initdb and pg_ctl: where Debian puts them, or in the path."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if (found := shutil.which("initdb")) is not None:
        folders.append(Path(found).resolve().parent)
    return next((folder for folder in folders if (folder / "pg_ctl").exists()), None)


def _has_link_grammar() -> bool:
    try:
        ctypes.CDLL(ctypes.util.find_library("link-grammar") or "liblink-grammar.so.5")
    except OSError:
        return False
    return any((folder / "link-grammar" / "en").is_dir() for folder in SHARED_FILES)


def _has_booktabs() -> bool:
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        return False
    found = subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True, check=False)
    return found.returncode == 0


PROGRAMS = {
    program.name: program
    for program in (
        Program("chromium", ("chromium",), lambda: shutil.which("chromium") is not None),
        Program("PostgreSQL", ("postgresql",), lambda: postgresql_folder() is not None),
        Program(
            "link grammar",
            ("liblink-grammar5", "link-grammar-dictionaries-en"),
            _has_link_grammar,
        ),
        Program("WordNet", ("wordnet-base",), lambda: (WORDNET / "data.noun").is_file()),
        Program("espeak-ng", ("espeak-ng",), lambda: shutil.which("espeak-ng") is not None),
        Program("LaTeX", ("texlive-latex-base", "texlive-latex-recommended"), _has_booktabs),
    )
}


def needs(*names: str) -> pytest.MarkDecorator:
    """Marks a test that cannot run without these programs."""
    import pytest

    unknown = set(names) - set(PROGRAMS)
    assert not unknown, f"not in tests/programs.py: {unknown}"
    return pytest.mark.needs(*names)


def parameters(values: Iterable[str], needed: Mapping[str, str]) -> list[Any]:
    """Values for `parametrize`; some of them need a program, which `needed` names."""
    import pytest

    return [
        pytest.param(value, marks=needs(needed[value])) if value in needed else value
        for value in values
    ]


def require(*names: str) -> None:
    """Skips the test that runs now where one of the programs is missing."""
    import pytest

    missing = [PROGRAMS[name] for name in names if not PROGRAMS[name].is_there()]
    if missing:
        pytest.skip("; ".join(program.reason for program in missing))


def skipped_line(reasons: list[str]) -> str | None:
    """Says for the reasons of all skipped tests how many need which program, and how to get these.

    None where nothing was skipped.
    """
    if not reasons:
        return None
    counts = {
        program: count
        for program in PROGRAMS.values()
        if (count := sum(program.reason in reason for reason in reasons))
    }
    others = sum(not any(program.reason in reason for program in counts) for reason in reasons)
    parts = [
        f"{count} need{'s' * (count == 1)} {program.name}" for program, count in counts.items()
    ]
    if others:
        parts.append(f"{others} for other reasons (pytest -rs lists them)")
    line = f"Skipped tests: {', '.join(parts)}."
    if counts:
        packages = (package for program in counts for package in program.packages)
        line += f" To run them: apt-get install {' '.join(packages)}"
    return line


def main() -> None:
    missing = [program for program in PROGRAMS.values() if not program.is_there()]
    print(*(package for program in missing for package in program.packages))


if __name__ == "__main__":
    main()
