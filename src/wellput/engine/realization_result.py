"""The noun `RealizationResult`: what realizers made of trees, and how near it comes to the trees' own
order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet
from wellput.core.result import Result
from wellput.core.tree import Tree
from wellput.engine.result import ScoreResult
from wellput.io.files import PathLike
from wellput.io.output import write_text
from wellput.language.realize.systems import Realized

if TYPE_CHECKING:
    from wellput.io.nbest import Candidates


@dataclass(frozen=True, repr=False)
class RealizationResult(Result):
    """`realized` has the realizations of each tree, best first; `trees` those that came with an order,
    none where the input had none."""

    presented_by: ClassVar[str] = "wellput.reporting.realize:realize_report"

    model: str
    realized: tuple[Realized, ...]
    trees: tuple[Tree, ...] = ()
    evaluation: ScoreResult | None = None
    explanations: tuple[str, ...] = ()
    shows_all: bool = False
    """Whether it is shown as a table of all realizations; else the best, a line a tree."""
    path: PathLike | None = None

    @property
    def sentences(self) -> list[str]:
        """The best sentence of each tree, its tokens separated by one space."""
        return [one.best[0].text for one in self.realized]

    @property
    def orders(self) -> list[str]:
        """The trees' own sentences, where they came with an order."""
        return [" ".join(word.form for word in tree.words) for tree in self.trees]

    @property
    def nbest(self) -> list[Candidates]:
        """All sentences of each tree, for `rerank`; the tree's own order is the reference."""
        from wellput.io.nbest import Candidates

        orders = self.orders
        return [
            Candidates(
                id=str(place + 1),
                texts=tuple(own.text for own in one.best),
                references=tuple(orders[place : place + 1]),
            )
            for place, one in enumerate(self.realized)
        ]

    @property
    def evalset(self) -> EvalSet:
        """The best sentences as the outputs of a system, with the trees' own order as reference."""
        if not self.trees:
            raise InputError("These trees have no order to compare with, so they make no evalset.")
        plain = [Tree(tree.words) for tree in self.trees]
        return EvalSet.of({self.model: self.sentences}, self.orders, trees=plain)

    def save(self, path: PathLike) -> None:
        """Writes the best sentences, one a line; to a `.jsonl` all of them, for `rerank`."""
        from wellput.io import check_text
        from wellput.io.nbest import nbest_line

        check_text(path, allowed=[".jsonl"])
        is_list = str(path).endswith(".jsonl")
        lines = map(nbest_line, self.nbest) if is_list else self.sentences
        write_text("".join(f"{line}\n" for line in lines), path)

    def records(self) -> list[dict[str, Any]]:
        """The scores where the order was evaluated, else a record for each sentence."""
        return self._sentences() if self.evaluation is None else self.evaluation.records()

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput realize`; after an evaluation it has the keys of `score`, too."""
        scores = {} if self.evaluation is None else self.evaluation.values()
        own = {
            "model": self.model,
            "trees": len(self.realized),
            "sentences": self._sentences(),
        }
        return {**own, **scores}

    def _sentences(self) -> list[dict[str, Any]]:
        return [
            {
                "tree": place,
                "rank": rank,
                "sentence": one.text,
                "score": one.score,
                "log_prob": one.log_prob,
                "is_exact": realized.is_exact,
            }
            for place, realized in enumerate(self.realized, 1)
            for rank, one in enumerate(realized.best, 1)
        ]
