"""Models of the toy treebank, trained once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.language.realize.toy_treebank import save_toy_models


@pytest.fixture(scope="session")
def toy_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with a toy language's models."""
    folder = tmp_path_factory.mktemp("toy")
    save_toy_models(folder)
    return folder
