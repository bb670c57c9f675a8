"""`realize`: makes sentences from unordered dependency trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from wellput.api.inputs import (
    Sentences,
    check_files,
    refuse_sentence,
    sentence_blocks,
)
from wellput.core.errors import InputError
from wellput.core.options import checks_options
from wellput.core.registries import Names, split_names
from wellput.core.tree import Tree
from wellput.core.work import OnPhase, available_cores, ignore_phase
from wellput.engine.realization import RealizationResult
from wellput.io.files import InputFile, PathLike
from wellput.language.models.language_check import reasons_against
from wellput.language.models.parsers import ENGLISH_PARSER
from wellput.language.models.sentence_parsing import ParseResult
from wellput.language.models.tree_model import ChoosingMethod
from wellput.language.models.wordnet import Synsets
from wellput.language.realize.inputs import InputKind, InputTree
from wellput.language.realize.inserter import INSERTION_NAMES, Insertion
from wellput.language.realize.realizer import Realizer, RealizerInput, RealizerModelName
from wellput.language.shipped import LEARNED_REALIZER_FILE, PARSER_FILE

if TYPE_CHECKING:
    from wellput.engine.result import ScoreResult

Trees: TypeAlias = PathLike | ParseResult | RealizerInput | Iterable[RealizerInput | str]
"""One or more trees in memory, the result of `parse`, the path of a file of trees, or text to parse."""

BASELINE_MODEL: RealizerModelName = "lr"
"""The model that `evaluate` compares with."""
JSON_SUFFIXES = (".json", ".jsonl")
TEXT_SUFFIX = ".txt"
LINES_PER_BLOCK = 1024


@checks_options
def realize(
    trees: Trees,
    *,
    input: InputKind = "words",
    model: RealizerModelName = "learned",
    models: PathLike | None = None,
    grammar: str = "induced",
    chooser: ChoosingMethod = "exact",
    from_text: bool = False,
    insert: Names | None = None,
    nbest: int | None = None,
    lattice: PathLike | None = None,
    evaluate: bool = False,
    explain: bool = False,
    evalset: PathLike | None = None,
    path: PathLike | None = None,
    seed: int = 12345,
    threads: int | None = None,
    on_phase: OnPhase = ignore_phase,
) -> RealizationResult:
    """Makes sentences from unordered dependency trees: chooses the order of the words. For many calls,
    load a `Realizer` once and use its methods.

    Parameters
    ----------
    trees
        `Tree` objects, whose word order is used only by `evaluate`; dictionaries such as
        `{"word": "barks", "children": [{"word": "dog"}]}`; the result of `parse`; or the path of a
        CoNLL-U, JSON or JSONL file.
    input
        What the realizer reads of each word in the tree. `"words"`: the inflected word; `"labels"`:
        also its relation and tag; `"lemmas"`: its relation, tag, lemma and features, but not the
        inflected word.
    model
        `"learned"`: the best model; `"fergus"`: the model of Bangalore, Rambow & Whittaker (2000);
        `"fergus+"`: fergus with weights on word order; `"lr"`: the baseline of that paper.
    models
        The folder of the models, made by `train.realizer`, `train.fergus` or `train.english`. Default:
        the shipped models of English.
    grammar
        The grammar of fergus: `"induced"`, learned from the treebank, or `"xtag:DIR"` with the folder
        of the XTAG English grammar.
    chooser
        How fergus chooses supertags (the grammar's descriptions of how a word takes part in a
        sentence). `"exact"`: the best for the whole tree; `"top-down"`: as in the paper of fergus;
        `"alone"`: for each word by itself.
    from_text
        `trees` are sentences, as a list or a text file; they are parsed first.
    insert
        Adds what the input leaves out: `"punctuation"`, `"function"` (words), or both.
    nbest
        Finds this many of the best sentences of each tree.
    lattice
        Writes the lattice, a graph of all sentences that fergus considers, as OpenFst text, and its
        symbols to a second file that ends in `.syms`. For several trees the names end in `.1`, `.2`, ….
    evaluate
        Compares the sentences with the word order of the trees, and scores them together with the
        sentences of the baseline lr (without the baseline for `input="lemmas"`).
    explain
        Shows for each tree the supertags, the lattice and the path of the chosen sentence in it, in
        `result.explanations`.
    evalset
        Writes an evalset with the sentences as the outputs of a system; the same as
        `result.evalset`.
    path
        Writes the sentences, one line per tree. A `.jsonl` file has all `nbest` sentences of each tree,
        for `rerank`.
    seed
        Seed of the tests of `evaluate`; realizing is not random.
    threads, on_phase
        As for `score`.

    Returns
    -------
    RealizationResult
        `sentences` has the best sentence of each tree, `nbest` all sentences, `evaluation` the scores.

    Raises
    ------
    InputError
        The input is not a tree, or an option does not fit the model.

    Examples
    --------
    >>> import wellput
    >>> tree = {"word": "barks", "children": [{"word": "dog", "children": [{"word": "the"}]}]}
    >>> wellput.realize(tree).sentences
    ['the dog barks']
    """
    _check_options(model, nbest, lattice)
    language = "english" if models is None else _folder(models)
    symbols = None if lattice is None else f"{lattice}.syms"
    check_files([path, lattice, symbols, evalset], [trees, models, grammar])
    if path is not None:
        from wellput.io import check_text

        check_text(path, allowed=[".jsonl"])
    if evalset is not None:
        from wellput.io import check_table

        check_table(evalset)
    insertions = _insertions(insert)
    cores = threads or available_cores()
    lines = _lines(cast("Sentences", trees)) if from_text else []
    ordered_trees, inputs = (
        _parsed(lines, trees, language, cores)
        if from_text
        else _ordered_trees_and_inputs(trees, input, needs_order=evaluate or evalset is not None)
    )
    on_phase("loading the realizer")
    realizer = Realizer.load(
        language,
        model=model,
        grammar=grammar,
        chooser=chooser,
        insert=insertions,
        inflects=input == "lemmas",
    )
    realized = realizer.realize_all(
        inputs,
        kind=input,
        n_best=nbest or 1,
        threads=cores,
        members=Synsets(),  # finds the words of a WordNet synset that the input has for a word
        on_progress=on_phase("realizing trees"),
    )
    result = RealizationResult(
        model,
        tuple(realized),
        tuple(ordered_trees),
        shows_all=nbest is not None,
        path=path,
        not_english=reasons_against(lines)
        if lines and _parser_of(language) == ENGLISH_PARSER
        else Counter(),
    )
    if lattice is not None:
        from wellput.language.realize.lattice import write_lattices

        write_lattices(
            [realization.lattice for realization in realized if realization.lattice is not None],
            lattice,
        )
    if path is not None:
        result.save(path)
    if evalset is not None:
        from wellput.io import write_evalset

        write_evalset(result.evalset, evalset)
    if evaluate:
        scores = _evaluation(result, input, language, seed=seed, threads=cores, on_phase=on_phase)
        result = replace(result, evaluation=scores)
    if explain:
        from wellput.reporting.language import explained

        result = replace(result, explanations=tuple(map(explained, realized)))
    return result


def _folder(models: PathLike) -> Path:
    folder = Path(models)
    if not folder.is_dir():
        raise InputError(
            f"models={str(models)!r} is not a folder. wellput train realizer makes one."
        )
    return folder


def _check_options(model: RealizerModelName, nbest: int | None, lattice: PathLike | None) -> None:
    if nbest is not None and nbest < 1:
        raise InputError(f"nbest={nbest} must be 1 or more.")
    if lattice is not None and model == "learned":
        raise InputError("The learned realizer has no lattice: use lattice= with model='fergus'.")


def _insertions(names: Names | None) -> list[Insertion]:
    insertions = [] if names is None else split_names(names)
    if wrong := [name for name in insertions if name not in INSERTION_NAMES]:
        raise InputError(
            f"insert= takes {' and '.join(INSERTION_NAMES)}, separated by a comma, not {wrong[0]!r}."
        )
    return cast("list[Insertion]", insertions)


def _ordered_trees_and_inputs(
    trees: Trees, kind: InputKind, *, needs_order: bool
) -> tuple[Sequence[Tree], Sequence[RealizerInput] | Iterator[RealizerInput]]:
    """The trees with their word order, to compare with, and the inputs to realize. If any tree has no
    word order, the list of the trees with one is empty."""
    if isinstance(trees, str | Path):
        refuse_sentence(trees, keyword="from_text=True")
        return _read(trees, kind, needs_order=needs_order)
    if isinstance(trees, ParseResult):
        return trees.trees, trees.trees
    if isinstance(trees, Tree | InputTree | Mapping):
        inputs: list[RealizerInput] = [trees]
    elif not isinstance(trees, Iterable):
        raise InputError(
            "trees: give trees, the result of parse, or the path of a file of trees, not "
            f"{type(trees).__name__}."
        )
    else:
        inputs = [_refuse_text(tree) for tree in trees]
    ordered_trees = [tree for tree in inputs if isinstance(tree, Tree)]
    if len(ordered_trees) == len(inputs):
        return ordered_trees, ordered_trees
    if needs_order:
        raise InputError(
            "These trees have no order to compare with: evaluate= and evalset= need Tree objects, "
            "CoNLL-U or text."
        )
    return [], inputs


def _read(
    path: PathLike, kind: InputKind, *, needs_order: bool
) -> tuple[Sequence[Tree], Sequence[RealizerInput] | Iterator[RealizerInput]]:
    """The trees of a file with their word order, and its inputs to realize. JSON has no word order."""
    from wellput.io import read_trees
    from wellput.language.realize.inputs import read_inputs

    suffix = InputFile(path).suffix
    if suffix in JSON_SUFFIXES:
        if needs_order:
            raise InputError(
                f"{path} has no order to compare with: evaluate= and evalset= need CoNLL-U or text."
            )
        return [], read_inputs(path, Synsets(), kind=kind)
    if suffix == TEXT_SUFFIX:
        raise InputError(f"{path} looks like text: add from_text=True to have it parsed.")
    trees = list(read_trees(path))
    return trees, trees


def _refuse_text(tree: RealizerInput | str) -> RealizerInput:
    if isinstance(tree, str):
        raise InputError(f"{tree!r:.60} is text, not a tree: add from_text=True to have it parsed.")
    return tree


def _lines(sentences: Sentences) -> list[str]:
    return [line for block in sentence_blocks(sentences, LINES_PER_BLOCK) for line in block]


def _parser_of(language: str | Path) -> str:
    """The parser in the folder of the models. A folder of `train.fergus` has none: there the parser of
    English is used. For a folder of `train.realizer` without a parser, raises InputError."""
    if isinstance(language, str):
        return ENGLISH_PARSER
    if (language / PARSER_FILE).is_file():
        return str(language)
    if (language / LEARNED_REALIZER_FILE).is_file():
        raise InputError(
            f"from_text= needs a parser, which {language} lacks. Make it with wellput train parser "
            f"--treebank TREEBANK -o {language}."
        )
    return ENGLISH_PARSER


def _parsed(
    lines: Sequence[str], given: Trees, language: str | Path, threads: int
) -> tuple[list[Tree], list[Tree]]:
    """The parsed trees of the lines, twice: as trees with a word order, and as inputs to realize."""
    from wellput.language.models.sentence_parsing import SentenceParser

    # `is_weighed` would also load the model that gives probabilities of sentences.
    parser = SentenceParser.load(_parser_of(language), is_weighed=False)
    parsed = [sentence.tree for sentence in parser.parse(lines, threads=threads)]
    if not parsed:
        name = InputFile(given).name if isinstance(given, str | Path) else "The list"
        raise InputError(f"{name} has no sentence to parse.")
    return parsed, parsed


def _evaluation(
    result: RealizationResult,
    kind: InputKind,
    language: str | Path,
    *,
    seed: int,
    threads: int,
    on_phase: OnPhase,
) -> ScoreResult:
    """Scores of the sentences and of the baseline's sentences, with the sentences of the trees as
    references. For inputs of lemmas, there is no baseline."""
    from wellput.engine.realization import evaluate_order

    outputs = {result.model: result.sentences}
    if BASELINE_MODEL not in outputs and kind != "lemmas":
        on_progress = on_phase("realizing trees with the baseline")
        baseline = Realizer.load(language, model=BASELINE_MODEL).realize_all(
            result.trees, kind=kind, threads=threads, on_progress=on_progress
        )
        outputs = {
            BASELINE_MODEL: [realization.best[0].text for realization in baseline],
            **outputs,
        }
    return evaluate_order(
        outputs,
        result.trees,
        baseline=BASELINE_MODEL if len(outputs) > 1 else None,
        seed=seed,
        threads=threads,
        on_phase=on_phase,
    )
