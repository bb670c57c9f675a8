"""`EvalSet` (an evaluation set), `Item` and `Batch`: the data to evaluate.

Data is always grouped by item: each item holds its references. A missing output is absent from
`Item.outputs` (or None in the lists given to `EvalSet.of`). The empty string is an output and is
scored. An output may be a tuple of *samples*: several answers of one system to one item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar

from wellput.core.errors import InputError, counted
from wellput.core.source import EvalSource
from wellput.core.tree import Tree
from wellput.core.work import OnProgress, ignore_progress

T = TypeVar("T")

Output: TypeAlias = str | tuple[str, ...] | Mapping[str, Any]
"""A text, the texts of two or more samples, or a JSON object. `wellput.core.output_kinds` says which
objects are understood."""

ORIGINAL = "original"
"""The name of the system whose outputs were made by people. If outputs are JSON objects, the outputs of
the other systems are compared with those of this system."""

NO_REFERENCES: Mapping[str, tuple[str, ...]] = MappingProxyType({})
NO_SCORES: Mapping[str, Mapping[str, float]] = MappingProxyType({})
NO_TREES: Mapping[str, tuple[Tree | None, ...]] = MappingProxyType({})
NO_TAGS: Mapping[str, str] = MappingProxyType({})

BLOCK_ITEMS = 4096
"""The number of items in a block. Statistics are summed within each block, and the sums are then added
in file order, so that one core, all cores and a cluster give exactly the same scores."""


class Item(NamedTuple):
    """One input with its references and each system's output.

    `trees` is parallel to `references` (None where a reference has no tree) or empty. `context` is the
    text before the source, such as earlier turns of a dialogue. `derivation` is a tree of phrases to
    which facial displays are attached. For the systems in `references_by_system` and
    `trees_by_system`, these replace `references` and `trees`. `logged` has for each system the scores
    that an evaluation log gave to its output. Items of the same `document` are not independent.
    `tags` say what kind of item it is: {"domain": "news"}. `Item` is a named tuple, which is quicker
    to make than a dataclass, because there may be millions of items.
    """

    id: str
    outputs: Mapping[str, Output]
    references: tuple[str, ...] = ()
    trees: tuple[Tree | None, ...] = ()
    source: str | None = None
    context: str | None = None
    derivation: Mapping[str, Any] | None = None
    references_by_system: Mapping[str, tuple[str, ...]] = NO_REFERENCES
    trees_by_system: Mapping[str, tuple[Tree | None, ...]] = NO_TREES
    logged: Mapping[str, Mapping[str, float]] = NO_SCORES
    document: str | None = None
    tags: Mapping[str, str] = NO_TAGS

    def references_for(self, system: str) -> tuple[str, ...]:
        return self.references_by_system.get(system, self.references)

    def trees_for(self, system: str) -> tuple[Tree | None, ...]:
        if system in self.trees_by_system:
            return self.trees_by_system[system]
        return () if system in self.references_by_system else self.trees


@dataclass(frozen=True)
class Batch:
    """The input of a metric: one system's outputs, without missing ones, and the data of their items.

    Rows are items; their numbers of references may differ. `originals` are the outputs of the system
    `original`. `memo` lets metrics of one family share work on the same batch (`ssa` and `gsa` share
    an alignment). Slow metrics call `on_rows` with the number of rows that they have just finished.
    Metrics get one text for each row: if outputs have several samples, `samples_apart` makes a row
    for each sample, and `samples` has the number (from 0) of each row's sample; otherwise `samples`
    is empty.
    """

    system: str
    ids: Sequence[str]
    outputs: Sequence[Output]
    references: Sequence[Sequence[str]]
    trees: Sequence[Sequence[Tree | None]]
    sources: Sequence[str | None]
    derivations: Sequence[Mapping[str, Any] | None]
    threads: int = 1
    originals: Sequence[Output | None] = ()
    logged: Sequence[Mapping[str, float]] = ()
    samples: Sequence[int] = ()
    memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    on_rows: OnProgress = field(default=ignore_progress, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def texts(self) -> Sequence[str]:
        """The outputs, where all of them are text."""
        return self.outputs  # type: ignore[return-value]

    def shared(self, key: object, compute: Callable[[], T]) -> T:
        """The result of `compute()`, which is called once per batch and key."""
        if key not in self.memo:
            self.memo[key] = compute()
        result: T = self.memo[key]
        return result

    def with_references(self) -> Batch:
        """The rows that have a reference; this batch itself if all have one."""
        has_references = list(map(bool, self.references))
        if all(has_references):
            return self
        return self._of_rows(compress(range(len(self)), has_references))

    def samples_apart(self) -> tuple[Batch, list[int] | None]:
        """A batch with a row for each sample, and how many rows each output has; or this batch itself
        and None if no output has several samples."""
        if tuple not in set(map(type, self.outputs)):
            return self, None
        counts = [len(output) if type(output) is tuple else 1 for output in self.outputs]
        rows = [row for row, count in enumerate(counts) for _ in range(count)]
        samples = [sample for count in counts for sample in range(count)]
        apart = replace(self._of_rows(rows), samples=samples)
        texts = [
            output[sample] if type(output) is tuple else output
            for output, sample in zip(apart.outputs, samples, strict=True)
        ]
        return replace(apart, outputs=texts), counts

    def _of_rows(self, rows: Iterable[int]) -> Batch:
        """A batch of these rows, in this order."""
        places = list(rows)

        def chosen(column: Sequence[T]) -> list[T]:
            return [column[place] for place in places] if column else []

        return replace(
            self,
            ids=chosen(self.ids),
            outputs=chosen(self.outputs),
            references=chosen(self.references),
            trees=chosen(self.trees),
            sources=chosen(self.sources),
            derivations=chosen(self.derivations),
            originals=chosen(self.originals),
            logged=chosen(self.logged),
            samples=chosen(self.samples),
            memo={},
        )

    @classmethod
    def of(cls, system: str, items: Sequence[Item], *, threads: int = 1) -> Batch:
        """The rows of `items` for which `system` has an output."""
        rows = [item for item in items if system in item.outputs]
        have_own_references = any(map(attrgetter("references_by_system"), rows))
        if have_own_references or any(map(attrgetter("trees_by_system"), rows)):
            references = [item.references_for(system) for item in rows]
            trees = [item.trees_for(system) for item in rows]
        else:
            references = [item.references for item in rows]
            trees = [item.trees for item in rows]
        return cls(
            system=system,
            ids=[item.id for item in rows],
            outputs=[item.outputs[system] for item in rows],
            references=references,
            trees=trees,
            sources=[item.source for item in rows],
            derivations=[item.derivation for item in rows],
            threads=threads,
            originals=[item.outputs.get(ORIGINAL) for item in rows],
            logged=[item.logged.get(system, {}) for item in rows]
            if any(item.logged for item in rows)
            else (),
        )

    @classmethod
    def from_texts(
        cls,
        hypotheses: Sequence[str],
        references: Sequence[Sequence[str]],
        *,
        sources: Sequence[str | None] | None = None,
        threads: int = 1,
    ) -> Batch:
        """A batch of text alone, for calling one metric directly."""
        n = len(hypotheses)
        return cls(
            system="",
            ids=list(map(str, range(1, n + 1))),
            outputs=hypotheses,
            references=references,
            trees=[()] * n,
            sources=[None] * n if sources is None else sources,
            derivations=[None] * n,
            threads=threads,
        )


class EvalSet(EvalSource):
    """Items in order, and the systems that have at least one output."""

    def __init__(self, items: Iterable[Item], *, systems: Sequence[str] | None = None) -> None:
        self.items: tuple[Item, ...] = tuple(items)
        ids: set[str] = set()
        repeated_ids: list[str] = []
        for item in self.items:
            if item.id in ids:
                repeated_ids.append(item.id)
            ids.add(item.id)
        if repeated_ids:
            raise InputError.collect("Item ids must be unique; these are not:", repeated_ids)
        names = dict.fromkeys(system for item in self.items for system in item.outputs)
        self.systems: tuple[str, ...] = tuple(names) if systems is None else tuple(systems)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __repr__(self) -> str:
        n_items = counted(len(self.items), "item")
        return f"EvalSet({n_items}, systems: {', '.join(self.systems) or 'none'})"

    def blocks(self) -> Iterator[Sequence[Item]]:
        """The items in blocks of `BLOCK_ITEMS`."""
        for start in range(0, len(self.items), BLOCK_ITEMS):
            yield self.items[start : start + BLOCK_ITEMS]

    @classmethod
    def of(
        cls,
        outputs: Mapping[str, Sequence[str | Sequence[str] | None]],
        references: Sequence[str | Sequence[str]] | None = None,
        *,
        ids: Sequence[str] | None = None,
        sources: Sequence[str] | None = None,
        trees: Sequence[Tree | None] | None = None,
        documents: Sequence[str | None] | None = None,
        tags: Mapping[str, Sequence[str | None]] | None = None,
    ) -> EvalSet:
        """Makes an evalset from lists that have one entry for each item.

        `references[i]` is item i's reference, or the list of its references. (sacreBLEU instead takes
        one list with the first reference of every item, one with the second, and so on.) An entry of
        `outputs` may be a list of samples. `trees[i]` is the tree of item i's first reference; without
        `references`, the text of the tree is the reference. `tags` has a list for each tag:
        `{"domain": ["news", "chat"]}`.

        >>> EvalSet.of({"A": ["a cat"]}, [["the cat", "a cat"]])
        EvalSet(1 item, systems: A)
        """
        _refuse_other_than_text(outputs, references)
        lengths = {f"the outputs of {system}": len(column) for system, column in outputs.items()}
        if not lengths:
            raise InputError("Nothing to score: no system was given.")
        n = next(iter(lengths.values()))
        lists: dict[str, Sequence[object] | None] = {
            "ids": ids,
            "sources": sources,
            "trees": trees,
            "documents": documents,
            **{f"the tag {tag}": values for tag, values in (tags or {}).items()},
        }
        lengths |= {what: len(column) for what, column in lists.items() if column is not None}
        if references is not None:
            _refuse_transposed(references, n)
            lengths["references"] = len(references)
        if len(set(lengths.values())) > 1:
            raise InputError.collect(
                "These lists have one entry for each item and must be equally long:",
                [f"{what}: {length}" for what, length in lengths.items()],
            )
        rows = []
        for i in range(n):
            tree = None if trees is None else trees[i]
            if references is not None:
                item_references = _as_references(references[i])
            else:
                item_references = () if tree is None else (tree.text,)
            rows.append(
                Item(
                    str(i + 1) if ids is None else str(ids[i]),
                    {
                        system: _as_output(text)
                        for system, texts in outputs.items()
                        if (text := texts[i]) is not None
                    },
                    item_references,
                    () if tree is None else _trees_parallel_to(item_references, tree, i),
                    None if sources is None else sources[i],
                    document=None if documents is None else documents[i],
                    tags={
                        tag: value
                        for tag, values in (tags or {}).items()
                        if (value := values[i]) is not None
                    }
                    or NO_TAGS,
                )
            )
        return cls(rows, systems=tuple(outputs))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        outputs: str | Sequence[str] | Mapping[str, str],
        references: str | Sequence[str] | None = None,
        id: str | None = None,
        source: str | None = None,
        context: str | None = None,
        document: str | None = None,
        tags: str | Sequence[str] | Mapping[str, str] = (),
        system: str | None = None,
    ) -> EvalSet:
        """Makes an evalset from a data frame with a row for each item. The frame is a pandas or Polars
        data frame, a PyArrow table, or a mapping from names to columns. Keywords name its columns.

        `outputs` is a list of columns (each system gets its column's name) or a mapping from systems
        to columns; a cell may be a list of samples. `references` is one column or several; a cell may
        be a list. `tags` is a list of columns or a mapping from tags to columns. None and NaN are
        missing outputs, references, documents and tags. Without `id`, items are numbered from 1.

        With `system`, each row is one answer: the column `system` has the name of its system, and
        `outputs` is one column. Rows with the same `id` are one item (without `id`: rows with the same
        `source`). Several rows of one system and item are samples.

        >>> frame = {"prompt": ["a", "b"], "gold": ["x", ["y", "z"]], "gpt": ["x", None]}
        >>> evalset = EvalSet.from_frame(frame, source="prompt", references="gold", outputs=["gpt"])
        >>> evalset.items[1].references, evalset.items[1].outputs
        (('y', 'z'), {})
        """
        from wellput.core.frames import evalset_of_frame

        return evalset_of_frame(
            frame,
            outputs=outputs,
            references=() if references is None else references,
            id=id,
            source=source,
            context=context,
            document=document,
            tags=tags,
            system=system,
        )


def _as_output(entry: str | Sequence[str]) -> Output:
    return entry if isinstance(entry, str) else entry[0] if len(entry) == 1 else tuple(entry)


def _as_references(entry: str | Sequence[str]) -> tuple[str, ...]:
    return (entry,) if isinstance(entry, str) else tuple(entry)


def _trees_parallel_to(references: tuple[str, ...], tree: Tree, i: int) -> tuple[Tree | None, ...]:
    """The trees of item i's references: `tree` for the first, None for the others."""
    if not references:
        raise InputError(f"trees[{i}] has no reference to belong to.")
    if mismatch := tree.mismatch(references[0]):
        raise InputError(f"trees[{i}] {mismatch}.")
    return (tree, *[None] * (len(references) - 1))


def _refuse_other_than_text(
    outputs: Mapping[str, Sequence[str | Sequence[str] | None]],
    references: Sequence[str | Sequence[str]] | None,
) -> None:
    """Raises InputError for outputs and references that are not lists of texts, or of lists of
    texts."""
    lists: dict[str, object] = {f"outputs of {name}": column for name, column in outputs.items()}
    for list_name, value in {**lists, "references": references}.items():
        if isinstance(value, str):
            raise InputError(
                f"The {list_name} must be a list with an entry per item, not one text."
            )
    wrong = [
        f"output {i} of {system} is {type(text).__name__}"
        for system, column in outputs.items()
        for i, entry in enumerate(column)
        if entry is not None
        # An empty list of samples is wrong, too.
        for text in ([entry] if isinstance(entry, str) else _entries(entry) or [entry])
        if not isinstance(text, str)
    ]
    wrong += [
        f"references[{i}] {'is' if text is entry else 'contains'} {type(text).__name__}"
        for i, entry in enumerate(() if references is None else references)
        for text in (() if isinstance(entry, str) else _entries(entry))
        if not isinstance(text, str)
    ]
    if wrong:
        raise InputError.collect("Outputs and references must be text (str):", wrong)


def _entries(entry: object) -> Sequence[object]:
    """The texts of an entry that is a list of samples or references, or the entry as the only text."""
    return entry if isinstance(entry, Sequence) else [entry]


def _refuse_transposed(references: Sequence[str | Sequence[str]], n: int) -> None:
    """Raises InputError for references as sacreBLEU has them: one list per reference set."""
    if len(references) == n or not references:
        return
    if all(not isinstance(entry, str) and len(entry) == n for entry in references):
        raise InputError(
            f"The references look transposed: {len(references)} lists of {n} texts for {n} items. "
            "wellput wants one list of references per item, not one list per reference set as "
            "sacreBLEU does. Pass list(zip(*references))."
        )
