"""`PlannedModel`: stands for a model that is not there yet, so that a dry run can show the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wellput.core.errors import InputError
from wellput.studies.machines.readings import Reply

NOWHERE = "nobody yet"
UNNAMED = "unnamed"


class PlannedModel:
    """A name, which may be missing. It cannot be asked."""

    digest = ""

    def __init__(self, model: str | None, endpoint: str | None) -> None:
        self.model = model or UNNAMED
        self.identity: Mapping[str, str] = {"model": self.model, "endpoint": endpoint or NOWHERE}

    def complete(self, request: Mapping[str, Any]) -> Reply:
        raise InputError("A dry run asks nothing.")

    def close(self) -> None:
        """Nothing is open."""
