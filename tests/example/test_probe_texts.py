"""The kept texts of a probe are those that `wellput probe` makes now."""

from __future__ import annotations

import wellput
from wellput.example.harbor import probe_example


def test_the_kept_texts_are_up_to_date() -> None:
    """`wellput probe --write src/wellput/example/probe_texts.jsonl.gz` writes them again."""
    made = wellput.probe("exact").texts
    kept = probe_example()
    assert {item.id: dict(item.outputs) for item in kept} == {
        item.id: dict(item.outputs) for item in made
    }
