"""The example's evalset, `evalset.jsonl`: announcements of a harbor town as seven systems put them.

- `careful` writes well, and says what the source says.
- `template` fills in templates: right, and stiff.
- `realizer` is what `wellput realize --input labels` made of the first reference's tree.
- `smooth` writes fluent English and gets most facts wrong.
- `hasty` drops words and confuses facts; two of its outputs are missing and one is empty.
- `jumbled` has nearly all words of a reference in a broken order.
- `lr` is what `wellput realize --model lr` made of the same tree without its labels.
"""

from __future__ import annotations

from importlib.resources import as_file, files

from wellput.core.evalset import EvalSet
from wellput.io import read_evalset

BASELINE = "careful"


def harbor_example() -> EvalSet:
    """60 items, each with two references and their trees, and seven systems."""
    with as_file(files("wellput.example") / "evalset.jsonl") as path:
        return read_evalset(path)
