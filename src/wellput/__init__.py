"""wellput: how well a generated text is put, whether a difference is real, and whether the number
agrees with people.

>>> import wellput
>>> evalset = wellput.EvalSet.of({"A": ["the cat sat"]}, [["a cat sat", "the cat sat"]])
>>> wellput.score(evalset, "bleu,ssa")["A", "ssa"].score
1.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from wellput.core.errors import InputError, OutputError, WellputError
    from wellput.core.evalset import Batch, EvalSet, Item
    from wellput.core.metric import Metric
    from wellput.core.run import Run
    from wellput.core.table import Estimate, ScoreTable
    from wellput.core.tree import Tree, Word
    from wellput.engine.result import Comparison, ScoreResult
    from wellput.engine.run_changes import run_changes
    from wellput.engine.runs import save_run
    from wellput.engine.score import score
    from wellput.io import open_evalset, open_lines, read_evalset, write_evalset
    from wellput.io.run_files import read_runs
    from wellput.metrics.registry import create as metric
    from wellput.realize.realizer import Realizer
    from wellput.realize.systems import Realization

_HOMES = {
    "Batch": "wellput.core.evalset:Batch",
    "Comparison": "wellput.engine.result:Comparison",
    "Estimate": "wellput.core.table:Estimate",
    "EvalSet": "wellput.core.evalset:EvalSet",
    "InputError": "wellput.core.errors:InputError",
    "Item": "wellput.core.evalset:Item",
    "Metric": "wellput.core.metric:Metric",
    "OutputError": "wellput.core.errors:OutputError",
    "Realization": "wellput.realize.systems:Realization",
    "Realizer": "wellput.realize.realizer:Realizer",
    "Run": "wellput.core.run:Run",
    "Score": "wellput.core.score:Score",
    "ScoreResult": "wellput.engine.result:ScoreResult",
    "ScoreTable": "wellput.core.table:ScoreTable",
    "Tree": "wellput.core.tree:Tree",
    "WellputError": "wellput.core.errors:WellputError",
    "Word": "wellput.core.tree:Word",
    "metric": "wellput.metrics.registry:create",
    "open_evalset": "wellput.io:open_evalset",
    "open_lines": "wellput.io:open_lines",
    "read_evalset": "wellput.io:read_evalset",
    "read_runs": "wellput.io.run_files:read_runs",
    "run_changes": "wellput.engine.run_changes:run_changes",
    "save_run": "wellput.engine.runs:save_run",
    "score": "wellput.engine.score:score",
    "write_evalset": "wellput.io:write_evalset",
}

__all__ = [
    "Batch",
    "Comparison",
    "Estimate",
    "EvalSet",
    "InputError",
    "Item",
    "Metric",
    "OutputError",
    "Realization",
    "Realizer",
    "Run",
    "Score",
    "ScoreResult",
    "ScoreTable",
    "Tree",
    "WellputError",
    "Word",
    "__version__",
    "metric",
    "open_evalset",
    "open_lines",
    "read_evalset",
    "read_runs",
    "run_changes",
    "save_run",
    "score",
    "write_evalset",
]


def __getattr__(name: str) -> Any:
    """Names are imported when first used, so that `import wellput` costs next to nothing."""
    if name in _HOMES:
        module, _, attribute = _HOMES[name].partition(":")
        return globals().setdefault(name, getattr(import_module(module), attribute))
    raise AttributeError(f"module 'wellput' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
