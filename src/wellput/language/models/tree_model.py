"""`UnorderedTree` and `TreeModel`: probabilities of supertags for words without an order.

A supertag is a part of speech that also says how the word attaches and which arguments it has (see
`trees/supertags.py`); a lexeme is a word as it is written. A word's *mother* is the word that it
depends on, its *daughters* depend on it. The model is the tree model of Bangalore and Rambow,
P(supertag, lexeme of a daughter | supertag, lexeme of her mother), extended to whole trees: each
argument slot of a mother is filled by one daughter, and the number of her other daughters (adjuncts)
also has a probability (tree_model.h in native/, docs/language/tree-model.md). Log probabilities are
natural logarithms.

An `UnorderedTree` is a dependency tree of inflected words without their order. The order of its list
of words has no meaning, and no result may depend on it. Heads count from 1 in that list, and the
root's head is 0. The first word loses its capital, which would show that it comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from wellput import _native
from wellput.core.errors import InputError
from wellput.core.metric import Floats
from wellput.core.tree import Tree
from wellput.io.files import PathLike
from wellput.io.model_files import StoredModel, packed_strings
from wellput.language.models.word_analysis import widening_shapes
from wellput.language.trees.supertags import (
    NAME_TAGS,
    Supertag,
    SupertagInventory,
    attaching_relation,
    category_of,
    parse_supertag,
)

if TYPE_CHECKING:
    from typing import Self


PROPER_NOUN_TAGS = NAME_TAGS | {"PROPN"}


@dataclass(frozen=True, slots=True)
class UnorderedTree:
    """Words and their heads; if they are known, also the categories and relations of the words (as in
    `trees/supertags.py`), with None for a single word whose category or relation is unknown."""

    forms: tuple[str, ...]
    heads: tuple[int, ...]
    categories: tuple[str | None, ...] | None = None
    relations: tuple[str | None, ...] | None = None

    def __post_init__(self) -> None:
        if not self.forms or not all(isinstance(form, str) for form in self.forms):
            raise InputError("A tree needs words, and each must be a string.")
        for labels in (self.heads, self.categories, self.relations):
            if labels is not None and len(labels) != len(self.forms):
                raise InputError(
                    f"A tree of {len(self.forms)} words has {len(labels)} heads, categories or "
                    "relations; it needs one for each word."
                )
        check_heads(self.heads)


def check_heads(heads: Sequence[int]) -> None:
    """Raises InputError unless there is one root that all words depend on."""
    misplaced = [number for number, head in enumerate(heads, 1) if not 0 <= head <= len(heads)]
    if misplaced:
        first = misplaced[0]
        raise InputError(
            f"Word {first} of a tree has the head {heads[first - 1]}; heads are 0 (the root) "
            f"to {len(heads)}."
        )
    roots = [number for number, head in enumerate(heads, 1) if head == 0]
    if len(roots) != 1:
        which = f" ({', '.join(map(str, roots))})" if roots else ""
        raise InputError(
            f"A tree has {len(roots)} roots{which}; exactly one word must have the head 0."
        )
    below: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for number, head in enumerate(heads, 1):
        below[head].append(number)
    reached = [0]
    for number in reached:
        reached.extend(below[number])
    if missing := set(range(1, len(heads) + 1)).difference(reached):
        raise InputError(f"The heads of a tree form a circle at or above word {min(missing)}.")


def without_order(tree: Tree, *, with_labels: bool = False) -> UnorderedTree:
    """The unordered tree of a tree. Its words are listed in the order of the sentence; `with_labels`
    adds their categories and relations."""
    return UnorderedTree(
        forms_without_first_capital(tree),
        tuple(word.head for word in tree.words),
        tuple(category_of(word) for word in tree.words) if with_labels else None,
        tuple(attaching_relation(word) for word in tree.words) if with_labels else None,
    )


def forms_without_first_capital(tree: Tree) -> tuple[str, ...]:
    """The words of a tree. The first word with a letter is put in lower case if it seems to have its
    capital only from its place: it is not a proper noun, not *I*, and has no second capital."""
    forms = [word.form for word in tree.words]
    for place, word in enumerate(tree.words):
        if any(character.isalpha() for character in word.form):
            is_name = word.upos in PROPER_NOUN_TAGS or word.xpos in PROPER_NOUN_TAGS
            if not is_name and word.form != "I" and word.form[1:] == word.form[1:].lower():
                forms[place] = word.form.lower()
            break
    return tuple(forms)


# How many supertags of a word are considered.
MAX_CANDIDATES = 100
# A word that occurs this often or less is rare.
MAX_RARE_COUNT = 2
# The weights of Witten-Bell interpolation, for each distribution from the widest to the narrowest
# context: a wider context counts as much as this weight times the number of different events seen in
# the narrower one. (A role is a supertag's category, relation and side of the mother; a frame is its
# slots.) Tuned on the dev part of the treebank EWT.
ROLE_WEIGHTS = (2.0, 2.5, 2.5, 5.0)
LEXEME_WEIGHTS = (1.0, 5.0, 7.5)
FRAME_WEIGHTS = (1.0, 1.0, 2.5, 5.0)
ADJUNCT_WEIGHTS = (1.0, 1.0, 5.0)
BACKOFF_WEIGHTS = (*ROLE_WEIGHTS, *LEXEME_WEIGHTS, *FRAME_WEIGHTS, *ADJUNCT_WEIGHTS)

# The arrays of counts and weights in a model file, by the first part of their names.
COUNT_ARRAYS = frozenset(["lexicon", "adjuncts", "roles", "lexical", "pairs", "weights"])
MAX_CACHED_FORMS = 1 << 16

ChoosingMethod = Literal["exact", "top-down", "alone"]


@dataclass(frozen=True, slots=True)
class SupertagChoice:
    """A supertag for every word of a tree, in the order of its list of words, and the log probability
    of all of them together."""

    supertags: tuple[Supertag, ...]
    log_prob: float


@dataclass(frozen=True, slots=True)
class SupertagCandidate:
    """A supertag that a word may have. The score is for comparing the candidates of one word; it
    depends on the word, its number of daughters, and the probable supertags of its mother and
    daughters."""

    supertag: Supertag
    score: float


@dataclass(frozen=True, eq=False)
class TreeModel(StoredModel):
    """The model: its supertags, the known words, the shapes that stand for unknown words, and the
    counts and weights as they are saved."""

    kind: ClassVar[str] = "tree model"
    noun: ClassVar[str] = "tree model"

    supertags: tuple[Supertag, ...]
    words: tuple[str, ...]
    shapes: tuple[str, ...]
    counts: Mapping[str, NDArray[Any]]
    card: Mapping[str, Any]

    @classmethod
    def train(cls, trees: Iterable[Tree]) -> TreeModel:
        """The model of a treebank; `tree_training.py` has the options."""
        from wellput.language.models.tree_training import train_tree_model

        return train_tree_model(trees)

    @classmethod
    def load(cls, path: PathLike) -> Self:
        with cls.reading(path) as file:
            if "weights" not in file.arrays:
                raise InputError(f"{path} is a tree model of another version: train it again.")
            supertags = tuple(parse_supertag(text) for text in file.strings("supertags"))
            words, known_shapes = tuple(file.strings("words")), tuple(file.strings("shapes"))
            model = cls(supertags, words, known_shapes, file.arrays, file.card)
            if len(file.arrays["lexicon.sizes"]) != len(words) + len(known_shapes):
                raise ValueError("the lexicon has not one entry for each word and shape")
            # These cached properties are computed now, not at the first use, because they raise errors
            # for numbers that do not fit together.
            _ = model.kernel, model._is_rare
            return model

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            **packed_strings("supertags", [str(supertag) for supertag in self.supertags]),
            **packed_strings("words", self.words),
            **packed_strings("shapes", self.shapes),
            **{
                name: array
                for name, array in self.counts.items()
                if name.split(".")[0] in COUNT_ARRAYS
            },
        }

    def choose(
        self,
        trees: Sequence[UnorderedTree],
        *,
        method: ChoosingMethod = "exact",
        n_best: int = 1,
        candidates: int = MAX_CANDIDATES,
        threads: int = 1,
    ) -> list[list[SupertagChoice]]:
        """The best supertags of each tree: at most `n_best` choices, the best first.

        The method `exact` finds the most probable supertags of the whole tree, among the best
        `candidates` of each word. `top-down`, as in Bangalore and Rambow's paper, chooses the mother's
        supertag first, by her word and her daughters' words only, and then the daughters' supertags
        given hers. `alone` chooses for each word by the word and the number of its daughters.
        `top-down` and `alone` give one choice.
        """
        if n_best < 1 or candidates < 1:
            raise InputError("n_best and candidates must be at least 1.")
        if method != "exact" and n_best > 1:
            raise InputError(f"method={method!r} gives one choice; pass method='exact' for more.")
        choices = self.kernel.choose(*self._forest(trees), method, n_best, candidates, threads)
        return [
            [
                SupertagChoice(tuple(map(self.supertags.__getitem__, numbers)), log_prob)
                for log_prob, numbers in tree_choices
            ]
            for tree_choices in choices
        ]

    def log_probs(
        self,
        trees: Sequence[UnorderedTree],
        supertags: Sequence[Sequence[Supertag]],
        *,
        threads: int = 1,
    ) -> list[Floats]:
        """The parts of the log probability of trees with these supertags: an array for each tree, with
        a row for each word. A row has log P(role and lexeme of the word | its mother), and the
        log probability of the word's slots and number of adjuncts. The sum of the array is the log
        probability of the tree."""
        numbers = self.inventory.numbers
        try:
            chosen = [numbers[supertag] for row in supertags for supertag in row]
        except KeyError as unknown:
            raise InputError(f"The tree model does not know the supertag {unknown}.") from None
        if [len(row) for row in supertags] != [len(tree.forms) for tree in trees]:
            raise InputError("Each word of each tree needs one supertag.")
        forest = self._forest(trees)
        rows = self.kernel.terms(*forest, np.array(chosen, np.int32), threads)
        return np.split(rows, forest[0][1:-1])

    def candidates(
        self, tree: UnorderedTree, *, candidates: int = MAX_CANDIDATES
    ) -> list[list[SupertagCandidate]]:
        """For each word, the supertags among which `choose` chooses, the best first."""
        by_word = self.kernel.candidates(*self._forest([tree]), candidates)
        return [
            [SupertagCandidate(self.supertags[number], score) for number, score in word_candidates]
            for word_candidates in by_word
        ]

    @cached_property
    def inventory(self) -> SupertagInventory:
        """The supertags with the numbers of their parts."""
        return SupertagInventory(self.supertags)

    @cached_property
    def kernel(self) -> _native.TreeModel:
        """The model in C++. (`trees/supertags.py` explains roles, sites and stems.)"""
        counts = self.counts
        begins = np.concatenate([[0], np.cumsum(counts["lexicon.sizes"], dtype=np.int64)])
        arrays = {
            **self.inventory.arrays(),
            "words": len(self.words),
            "lexicon_begin": begins.astype(np.int32),
            "lexicon_supertag": counts["lexicon.supertags"].astype(np.int32),
            "lexicon_count": counts["lexicon.counts"].astype(np.int32),
            "role_counts": _columns(counts, "roles", "sites", "roles"),
            "lexical_counts": _columns(counts, "lexical", "sizes", "categories", "roles"),
            "bilexical_counts": _columns(counts, "pairs", "sizes", "stems", "daughters"),
            "adjunct_counts": _columns(counts, "adjuncts", "supertags", "numbers"),
        }
        return _native.TreeModel(arrays, counts["weights"].tolist())

    @cached_property
    def _lexemes(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def _shape_numbers(self) -> dict[str, int]:
        return {shape: len(self.words) + number for number, shape in enumerate(self.shapes)}

    @cached_property
    def _is_rare(self) -> NDArray[np.bool_]:
        """For each word, whether it is so rare in the treebank that it may also have the supertags of
        its shape."""
        sizes = self.counts["lexicon.sizes"].astype(np.int64)
        totals = np.add.reduceat(
            self.counts["lexicon.counts"].astype(np.int64), np.cumsum(sizes) - sizes
        )
        return np.asarray(totals[: len(self.words)] <= MAX_RARE_COUNT)

    @cached_property
    def _cached_forms(self) -> dict[str, tuple[int, int, int]]:
        """Form → the result of `_form_numbers`."""
        return {}

    def _form_numbers(self, form: str) -> tuple[int, int, int]:
        """Three numbers of a form: its lexeme (its shape's if it is unknown); the shape whose
        supertags it may also have, or -1; and its hash."""
        numbers = self._cached_forms.get(form)
        if numbers is None:
            shape = next(
                (self._shape_numbers[s] for s in widening_shapes(form) if s in self._shape_numbers),
                -1,
            )
            lexeme = self._lexemes.get(form, self._lexemes.get(form.lower(), -1))
            if lexeme < 0:
                lexeme = shape
            elif not self._is_rare[lexeme]:
                shape = -1
            data = form.encode(errors="surrogatepass")
            numbers = lexeme, shape, int.from_bytes(blake2b(data, digest_size=8).digest())
            if len(self._cached_forms) < MAX_CACHED_FORMS:
                self._cached_forms[form] = numbers
        return numbers

    def _forest(
        self, trees: Sequence[UnorderedTree]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint64]]:
        """The trees as input of the C++ code: where the words of each tree begin; a row for each word
        (lexeme, shape, head, category, relation); and the hash of each word, by which daughters are
        sorted, so that their order in the list does not matter."""
        rows: list[tuple[int, int, int, int, int]] = []
        hashes: list[int] = []
        categories, relations = self.inventory.categories, self.inventory.relations
        for tree in trees:
            unknown: tuple[None, ...] = (None,) * len(tree.forms)
            for form, head, category, relation in zip(
                tree.forms, tree.heads, tree.categories or unknown, tree.relations or unknown,
                strict=True,
            ):  # fmt: skip
                lexeme, shape, form_hash = self._form_numbers(form)
                labels = categories.get(category or "", -1), relations.get(relation or "", -1)
                rows.append((lexeme, shape, head - 1, *labels))
                hashes.append(form_hash)
        begins = np.cumsum([0, *(len(tree.forms) for tree in trees)]).astype(np.int32)
        return begins, np.array(rows, np.int32).reshape(-1, 5), np.array(hashes, np.uint64)


def _columns(counts: Mapping[str, NDArray[Any]], table: str, *columns: str) -> NDArray[np.int32]:
    """The rows of a table of counts, the count last. The column `sizes` has the number of rows of each
    lexeme; it becomes the lexeme of each row."""
    stacked = []
    for column in (*columns, "counts"):
        values = counts[f"{table}.{column}"]
        if column == "sizes":
            values = np.repeat(np.arange(len(values)), values)
        stacked.append(values.astype(np.int32))
    return np.stack(stacked, axis=1)
