"""The metadata name the license of everything that the wheel holds, and their texts are inside."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

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
