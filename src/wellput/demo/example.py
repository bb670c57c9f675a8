"""The example's evalset: what was written for it, and what two realizers make of its trees.

`evalset.jsonl` holds four systems written by hand: one that writes well, one that fills in templates,
and two that were spoiled on purpose. The realizers run when the example is asked for.
"""

from __future__ import annotations

from importlib.resources import as_file, files

from wellput.core.evalset import EvalSet
from wellput.io import read_evalset
from wellput.realize.inputs import InputKind
from wellput.realize.realizer import Realizer
from wellput.text.detokenizer import detokenize

BASELINE = "careful"
REALIZERS: dict[str, tuple[str, InputKind]] = {
    "realizer": ("learned", "labels"),
    "lr": ("lr", "words"),
}
"""The name of the system to its model and to what the model may know of the first reference's tree."""


def harbor_example(*, threads: int = 1) -> EvalSet:
    """60 items, each with two references and their trees, and six systems."""
    with as_file(files("wellput") / "demo" / "evalset.jsonl") as path:
        written = read_evalset(path)
    trees = [item.trees[0] for item in written]
    sources = [tree for tree in trees if tree is not None]
    assert len(sources) == len(trees)  # every reference of the example has its tree
    made: dict[str, list[str]] = {}
    for system, (model, kind) in REALIZERS.items():
        realized = Realizer.load(model=model).realize_all(sources, kind=kind, threads=threads)
        made[system] = [detokenize(one.best[0].words) for one in realized]
    items = [
        item._replace(outputs={**item.outputs, **{s: texts[place] for s, texts in made.items()}})
        for place, item in enumerate(written)
    ]
    return EvalSet(items)
