"""`RealizationResult`: the sentences that a realizer (a program that makes sentences from dependency
trees) made, and their evaluation.

`evaluate_order` scores realizers on trees whose word order is known, as in the table of Bangalore,
Rambow & Whittaker 2000. The order in the file is the reference. Words are compared in lower case,
because the first word has a capital letter, and the realizer decides which word comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from wellput.core.errors import InputError
from wellput.core.evalset import EvalSet
from wellput.core.result import Result
from wellput.core.tree import Tree
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.engine.result import ScoreResult
from wellput.engine.score import score_source
from wellput.engine.scoring_plan import Inference, Resampling, ScoringPlan
from wellput.io.files import PathLike
from wellput.io.output import write_text
from wellput.language.models.language_check import TREE_CONSEQUENCES, not_english_sentence
from wellput.language.realize.inputs import Realized
from wellput.metrics.registry import create_all

if TYPE_CHECKING:
    from wellput.io.nbest import Candidates


ORDER_METRICS = ("ssa", "gsa", "sta", "gta", "understandability", "quality", "bleu", "exact")
"""The metrics of word order that `evaluate_order` computes by default."""
# Words are separated by spaces already, and are compared in lower case. `force` silences BLEU's warning
# about text that looks tokenized.
METRIC_OPTIONS = {"bleu": ":tokenize=none,lowercase=true,force=true", "exact": ":lowercase=true"}
DEFAULT_METRIC_OPTIONS = ":tokenize=none,lowercase=true"


def evaluate_order(
    outputs: Mapping[str, Sequence[str]],
    trees: Sequence[Tree],
    *,
    baseline: str | None = None,
    metrics: Sequence[str] = ORDER_METRICS,
    n_resamples: int = 1000,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> ScoreResult:
    """Scores each system's sentences (words separated by spaces) against the order of the trees. With a
    baseline, tests each difference from it."""
    evalset = _order_evalset(outputs, trees)
    full_names = dict.fromkeys(
        f"{metric}{METRIC_OPTIONS.get(metric, DEFAULT_METRIC_OPTIONS)}" for metric in metrics
    )
    cores = threads or available_cores()
    result = score_source(
        evalset,
        create_all(list(full_names)),
        inference=Inference(
            baseline=baseline, resampling=Resampling(n_resamples, seed, threads=cores)
        ),
        plan=ScoringPlan(threads=cores, keep_rows=True),
        on_phase=on_phase,
    )
    return _with_short_names(result)


def _order_evalset(outputs: Mapping[str, Sequence[str]], trees: Sequence[Tree]) -> EvalSet:
    """The evalset of these outputs; the reference of an item is its tree's words in their order."""
    plain = [Tree(tree.words) for tree in trees]  # without multiword tokens
    return EvalSet.of(outputs, [_words_in_order(tree) for tree in trees], trees=plain)


def _words_in_order(tree: Tree) -> str:
    return " ".join(word.form for word in tree.words)


def _with_short_names(result: ScoreResult) -> ScoreResult:
    """The result with the options removed from the names of metrics; signatures still have them."""

    def short(name: str) -> str:
        return name.partition(":")[0]

    return replace(
        result,
        metrics=tuple(map(short, result.metrics)),
        scores=tuple(replace(score, metric=short(score.metric)) for score in result.scores),
        differences=tuple(
            replace(difference, metric=short(difference.metric))
            for difference in result.differences
        ),
        tables={short(name): table for name, table in result.tables.items()},
        higher_is_better={short(name): value for name, value in result.higher_is_better.items()},
    )


@dataclass(frozen=True, repr=False)
class RealizationResult(Result):
    """The result of `wellput realize`. `realized` has the sentences made from each tree, best first;
    `evaluation` has the scores of the sentences, if they were evaluated; `explanations` says how each
    sentence was made, if asked for; `path` is the file to which the sentences were written."""

    presented_by: ClassVar[str] = "wellput.reporting.language:realize_report"

    model: str
    realized: tuple[Realized, ...]
    trees: tuple[Tree, ...] = ()
    """The trees, if their words have an order; otherwise none."""
    evaluation: ScoreResult | None = None
    explanations: tuple[str, ...] = ()
    shows_all: bool = False
    """Whether the report is a table of all sentences; otherwise it has one line for each tree, with
    the best sentence."""
    path: PathLike | None = None
    not_english: Counter[str] = field(default_factory=Counter)
    """If sentences were given instead of trees: how many of them are not English prose, by the
    reason."""

    @property
    def warning(self) -> str:
        """A warning about given sentences that are not English prose; empty if there are none."""
        return not_english_sentence(self.not_english, "line", TREE_CONSEQUENCES)

    @property
    def sentences(self) -> list[str]:
        """The best sentence of each tree, its tokens separated by one space."""
        return [realized.best[0].text for realized in self.realized]

    @property
    def orders(self) -> list[str]:
        """The words of each tree in their order; empty if the trees have no order."""
        return [_words_in_order(tree) for tree in self.trees]

    @property
    def nbest(self) -> list[Candidates]:
        """All sentences of each tree, as candidates for `rerank`; the words in the tree's order are the
        reference."""
        from wellput.io.nbest import Candidates

        orders = self.orders
        return [
            Candidates(
                id=str(place + 1),
                texts=tuple(sentence.text for sentence in realized.best),
                references=tuple(orders[place : place + 1]),
            )
            for place, realized in enumerate(self.realized)
        ]

    @property
    def evalset(self) -> EvalSet:
        """The best sentences as the outputs of one system; the references are the words of the trees in
        their order."""
        if not self.trees:
            raise InputError(
                "The trees have no word order to compare with, so there is no evalset."
            )
        return _order_evalset({self.model: self.sentences}, self.trees)

    def save(self, path: PathLike) -> None:
        """Writes the best sentences, one a line; to a file that ends in `.jsonl`, writes all
        sentences as candidates for `rerank`."""
        from wellput.io import check_text
        from wellput.io.nbest import nbest_line

        check_text(path, allowed=[".jsonl"])
        is_jsonl = str(path).endswith(".jsonl")
        lines = map(nbest_line, self.nbest) if is_jsonl else self.sentences
        write_text("".join(f"{line}\n" for line in lines), path)

    def records(self) -> list[dict[str, Any]]:
        """The scores if the order was evaluated, otherwise a record for each sentence."""
        return self._sentences() if self.evaluation is None else self.evaluation.records()

    def values(self) -> dict[str, Any]:
        """The JSON of `wellput realize`; after an evaluation it also has the keys of `score`."""
        scores = {} if self.evaluation is None else self.evaluation.values()
        realization = {
            "model": self.model,
            "trees": len(self.realized),
            "sentences": self._sentences(),
            "not_english": dict(self.not_english),
        }
        return {**realization, **scores}

    def _sentences(self) -> list[dict[str, Any]]:
        """A record for each realization of each tree, the best first."""
        return [
            {
                "tree": place,
                "rank": rank,
                "sentence": sentence.text,
                "score": sentence.score,
                "log_prob": sentence.log_prob,
                "is_exact": realized.is_exact,
            }
            for place, realized in enumerate(self.realized, 1)
            for rank, sentence in enumerate(realized.best, 1)
        ]
