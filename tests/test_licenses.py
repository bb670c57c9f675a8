"""The metadata name the license of everything that the wheel holds, and their texts are inside; what
builds a release is pinned."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.licenses import canonicalize_license_expression

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SPDX = {
    "Apache-2.0": "Apache-2.0",
    "CC BY 3.0 US": "CC-BY-3.0-US",
    "CC BY-SA 3.0": "CC-BY-SA-3.0",
    "CC BY-SA 4.0": "CC-BY-SA-4.0",
}


def test_every_models_license_is_named_and_there() -> None:
    named = set(canonicalize_license_expression(PROJECT["license"]).split(" AND "))
    texts = {path.stem for pattern in PROJECT["license-files"] for path in ROOT.glob(pattern)}
    for path in (ROOT / "src/wellput/language/english").glob("*.card.json"):
        card = json.loads(path.read_text(encoding="utf-8"))
        for licence in card["licence"].split(", "):
            if licence == "public domain":
                continue
            assert SPDX[licence] in named, card["file"]
            is_ours = licence == "Apache-2.0"  # its text is LICENSE
            assert SPDX[licence] in texts or is_ours, card["file"]
    assert {"Apache-2.0", "0BSD", "BSD-3-Clause", "MIT"} <= named


def test_every_file_of_a_license_exists() -> None:
    for pattern in PROJECT["license-files"]:
        assert list(ROOT.glob(pattern)), pattern


@pytest.mark.parametrize("name", ["tests.yml", "wheels.yml"])
def test_actions_are_pinned_by_the_hash_of_their_commit(name: str) -> None:
    """A tag can be moved to other code."""
    workflow = (ROOT / ".github/workflows" / name).read_text(encoding="utf-8")
    actions = re.findall(r"uses: (\S+)", workflow)
    assert actions
    assert [one for one in actions if not re.search(r"@[0-9a-f]{40}$", one)] == []
