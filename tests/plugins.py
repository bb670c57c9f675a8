"""Packages that add to wellput, installed without pip."""

from __future__ import annotations

import tomllib
from pathlib import Path


def install(folder: Path) -> None:
    """Does for the project in a folder what pip would: puts its entry points beside its modules. They
    are there once the folder is on Python's path."""
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    about = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
        for group, entries in project["entry-points"].items()
    )
    (about / "entry_points.txt").write_text(points)


def project_text(group: str, *entries: str) -> str:
    """The pyproject.toml of a package with these entry points, such as `says = "says:Says"`."""
    head = '[project]\nname = "wellput-test"\nversion = "1.0"\n'
    return "\n".join([head, f'[project.entry-points."{group}"]', *entries])
