"""`Realizer`: unordered dependency trees in, sentences out.

The models to choose from are `learned` (`learned_realizer.py`), `fergus` and `fergus+` (`fergus.py`),
and the baseline `lr` (`baselines.py`).

>>> realizer = Realizer.load("english")                                        # doctest: +SKIP
>>> realizer.realize({"word": "barks", "children": [{"word": "dog", "children": [{"word": "a"}]}]}).text
... # doctest: +SKIP
'a dog barks'
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from wellput.core.errors import InputError, did_you_mean
from wellput.core.evalset import EvalSet
from wellput.core.tree import Tree
from wellput.language import shipped
from wellput.language.models.ngram_files import load_model
from wellput.language.models.ngrams import NgramModel
from wellput.language.models.tree_model import ChoosingMethod, TreeModel
from wellput.language.realize.completer import Completer, CompletingModel
from wellput.language.realize.fergus import Fergus, LeftRightModel, grammar_named
from wellput.language.realize.inputs import (
    InputKind,
    InputTree,
    Realization,
    RealizationModel,
    Realized,
    SynsetMembers,
    check_lemmas,
    input_tree,
    parse_input,
    unordered,
)
from wellput.language.realize.inserter import Insertion
from wellput.language.realize.learned_realizer import LearnedRealizer
from wellput.language.realize.order_network import OrderNetwork
from wellput.language.realize.parameters import (
    Capitals,
    FergusParts,
    RealizerParameters,
    with_first_capital,
)
from wellput.language.shipped import (
    COMPLETER_FILE,
    LEARNED_REALIZER_FILE,
    NGRAMS_FILE,
    ORDER_NETWORK_FILE,
    REALIZER_FILE,
    TREE_MODEL_FILE,
    model_file,
)
from wellput.language.trees.supertags import NAME_TAGS

RealizerModelName = Literal["learned", "fergus+", "fergus", "lr"]
REALIZER_MODELS: tuple[str, ...] = get_args(RealizerModelName)
DEFAULT_MODEL: RealizerModelName = "learned"
TREES_A_BLOCK = 256

RealizerInput: TypeAlias = Tree | InputTree | Mapping[str, Any]
"""A tree with an order, which is ignored; a tree without an order; or a tree as JSON."""


@dataclass(frozen=True, eq=False)
class Realizer:
    """A model, and the capitals that are taken off its inputs and put back on its outputs."""

    model: RealizationModel
    capitals: Capitals

    @classmethod
    def load(
        cls,
        language: str | Path = "english",
        *,
        model: str = DEFAULT_MODEL,
        grammar: str = "induced",
        chooser: ChoosingMethod = "exact",
        insert: Collection[Insertion] = (),
        inflects: bool = False,
    ) -> Realizer:
        """A realizer with the shipped models of a language, or with the models in a folder, whose
        files must have the same names. `grammar` is `induced`, or `xtag:` and the folder of the XTAG
        grammar. `chooser` is how fergus chooses supertags. `insert` says which words to add where the
        input leaves them out; `inflects` says that inputs have lemmas. For these two, fergus and lr
        also need a completer: that of the folder, or that of the learned realizer."""
        _check_model(model, grammar, chooser)
        parameters = RealizerParameters.load(_model_path(language, REALIZER_FILE))
        ngrams = load_model(_model_path(language, NGRAMS_FILE))
        if model == "learned":
            return cls(_learned(language, ngrams, insert), parameters.capitals)
        tree_model = (
            None if model == "lr" else TreeModel.load(_model_path(language, TREE_MODEL_FILE))
        )
        ordering = ordering_model(
            parameters, tree_model, ngrams, model=model, grammar=grammar, chooser=chooser
        )
        if insert or inflects:
            return cls(CompletingModel(ordering, _completer(language, insert)), parameters.capitals)
        return cls(ordering, parameters.capitals)

    @classmethod
    def of_parts(
        cls,
        parts: FergusParts,
        *,
        model: str,
        grammar: str = "induced",
        chooser: ChoosingMethod = "exact",
        insert: Collection[Insertion] = (),
        inflects: bool = False,
    ) -> Realizer:
        """fergus, fergus+ or lr from trained parts in memory; options as for `load`."""
        _check_model(model, grammar, chooser)
        if model == "learned":
            raise InputError("These parts are for model='fergus', 'fergus+' and 'lr'.")
        tree_model = None if model == "lr" else parts.tree_model
        ordering = ordering_model(
            parts.parameters,
            tree_model,
            parts.ngrams,
            model=model,
            grammar=grammar,
            chooser=chooser,
        )
        if insert or inflects:
            completer = replace(parts.completer, insert=frozenset(insert))
            return cls(CompletingModel(ordering, completer), parts.parameters.capitals)
        return cls(ordering, parts.parameters.capitals)

    def realize(
        self,
        tree: RealizerInput,
        *,
        kind: InputKind = "words",
        members: SynsetMembers | None = None,
    ) -> Realization:
        """The best sentence for a tree. `members` looks up the words of a WordNet synset."""
        (realized,) = self.realize_all([tree], kind=kind, members=members)
        return realized.best[0]

    def realize_all(
        self,
        trees: Iterable[RealizerInput],
        *,
        kind: InputKind = "words",
        n_best: int = 1,
        threads: int = 1,
        members: SynsetMembers | None = None,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> list[Realized]:
        """The realizations of each tree, at most `n_best`."""
        if n_best < 1 or threads < 1:
            raise InputError(f"n_best={n_best} and threads={threads} must be 1 or more.")
        results: list[Realized] = []
        inputs = (_input(tree, kind, members) for tree in trees)
        while block := list(islice(inputs, TREES_A_BLOCK)):
            lowered = [self._lowered(tree) for tree in block]
            realized = self.model.realize(lowered, n_best=n_best, threads=threads)
            results += [
                # `tree is low` says that no capital was taken off.
                result if tree is low else _with_capitals(result, tree, low)
                for tree, low, result in zip(block, lowered, realized, strict=True)
            ]
            on_progress(len(block))
        return results

    def add_to(self, evalset: EvalSet, name: str | None = None, *, threads: int = 1) -> EvalSet:
        """The evalset with one more system, whose outputs are the realizations of the items' trees (of
        each item the first tree). An item whose references have no tree gets no output."""
        system = self.model.name if name is None else name
        trees = [next((tree for tree in item.trees if tree), None) for item in evalset]
        realized = iter(self.realize_all([tree for tree in trees if tree], threads=threads))
        items = [
            item._replace(outputs={**item.outputs, system: next(realized).best[0].text})
            if tree
            else item
            for item, tree in zip(evalset, trees, strict=True)
        ]
        return EvalSet(items, systems=[*evalset.systems, system])

    def _lowered(self, tree: InputTree) -> InputTree:
        nodes = tuple(
            replace(node, forms=tuple(map(self.capitals.lowered, node.forms)))
            for node in tree.nodes
        )
        # The nodes are sorted again: their order must not show which of two equal words had the
        # capital.
        return tree if nodes == tree.nodes else input_tree(nodes, tree.heads)


def ordering_model(
    parameters: RealizerParameters,
    tree_model: TreeModel | None,
    ngrams: NgramModel,
    *,
    model: str,
    grammar: str = "induced",
    chooser: ChoosingMethod = "exact",
) -> Fergus | LeftRightModel:
    """fergus, fergus+ or lr from its trained parts; lr has no tree model."""
    if tree_model is None:
        return LeftRightModel(parameters.left_right, ngrams)
    has_weights = model == "fergus+"
    return Fergus(
        model,
        tree_model,
        ngrams,
        grammar_named(grammar),
        precedence=parameters.precedence if has_weights else None,
        lm_weight=parameters.lm_weight if has_weights else 1.0,
        method=chooser,
    )


def _check_model(model: str, grammar: str, chooser: str) -> None:
    """Raises InputError for an unknown model, and for a grammar or chooser that the model does not
    use."""
    if model not in REALIZER_MODELS:
        raise InputError(
            f"There is no realizer {model!r}.{did_you_mean(model, REALIZER_MODELS)} The realizers are "
            f"{', '.join(REALIZER_MODELS)}."
        )
    if model.startswith("fergus"):
        return
    if grammar != "induced":
        raise InputError(
            f"model={model!r} takes no grammar; pass model='fergus' or model='fergus+'."
        )
    if chooser != "exact":
        raise InputError(
            f"model={model!r} chooses no supertags, so it takes no chooser; pass model='fergus' or "
            "model='fergus+'."
        )


def _learned(
    language: str | Path, ngrams: NgramModel, insert: Collection[Insertion]
) -> LearnedRealizer:
    """The learned realizer in the folder of a language, with its order network if there is one."""
    if not _has_file(language, LEARNED_REALIZER_FILE):
        raise InputError(
            f"{language} has no {LEARNED_REALIZER_FILE}, which the model 'learned' needs. wellput "
            "train realizer makes it; train fergus makes models for 'fergus', 'fergus+' and 'lr'."
        )
    network = None
    if _has_file(language, ORDER_NETWORK_FILE):
        network = OrderNetwork.load(_model_path(language, ORDER_NETWORK_FILE))
    learned = LearnedRealizer.load(_model_path(language, LEARNED_REALIZER_FILE), ngrams, network)
    return replace(learned, insert=frozenset(insert))


def _completer(language: str | Path, insert: Collection[Insertion]) -> Completer:
    """The completer of the folder that `wellput train fergus` made, or of the learned realizer."""
    if _has_file(language, COMPLETER_FILE):
        completer = Completer.load(_model_path(language, COMPLETER_FILE))
    elif _has_file(language, LEARNED_REALIZER_FILE):
        completer = LearnedRealizer.load(
            _model_path(language, LEARNED_REALIZER_FILE), None
        ).completer
    else:
        raise InputError(
            f"{language} has no {COMPLETER_FILE}, which insert= and input='lemmas' need. wellput train "
            "fergus makes it."
        )
    return replace(completer, insert=frozenset(insert))


def _has_file(language: str | Path, name: str) -> bool:
    folder = shipped.ENGLISH_FOLDER if language == "english" else Path(language)
    return (folder / name).is_file()


def _input(tree: RealizerInput, kind: InputKind, members: SynsetMembers | None) -> InputTree:
    if isinstance(tree, InputTree):
        return tree
    if isinstance(tree, Tree):
        if kind == "lemmas":
            check_lemmas(tree)
        return unordered(tree, kind=kind)
    return parse_input(tree, members, kind=kind)


def _with_capitals(realized: Realized, original: InputTree, lowered: InputTree) -> Realized:
    """The realizations of the `lowered` tree with the capitals that the words of the original tree
    had."""
    lowered_forms = {node.form for node in lowered.nodes}
    lost_capitals = Counter(
        node.form.lower() for node in original.nodes if node.form not in lowered_forms
    )
    names = {
        node
        for node, supertag in enumerate(realized.supertags)
        if supertag.partition("/")[0] in NAME_TAGS
    }
    best = tuple(
        replace(
            realization,
            words=with_first_capital(
                realization.words, lost_capitals, [node in names for node in realization.nodes]
            ),
        )
        for realization in realized.best
    )
    return replace(realized, best=best)


def _model_path(language: str | Path, name: str) -> Path:
    return model_file(name, None if language == "english" else Path(language))
