"""Text to learn from: files with a sentence on each line, or sentences in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from wellput.core.errors import InputError
from wellput.core.progress import OnPhase
from wellput.io.files import STANDARD_INPUT, InputFile, PathLike, check_readable

if TYPE_CHECKING:
    from wellput.core.mapping import MapParts
    from wellput.language.paraphrase.corpus_index import CorpusIndex

Text: TypeAlias = PathLike | Sequence[str]
"""A file with a sentence on each line, or a list of sentences."""
Texts: TypeAlias = PathLike | Sequence[Text]
"""One file, or several texts. Sentences in memory are one text among others: `[sentences]`."""

BLOCK_LINES = 1 << 14
INDEX_SUFFIX = ".wpm"


def text_list(corpus: Texts) -> list[str | Sequence[str]]:
    """Every text, files by their name.

    >>> text_list("a.txt"), text_list([["It rains ."], Path("b.txt")])
    (['a.txt'], [['It rains .'], 'b.txt'])
    """
    texts = [corpus] if isinstance(corpus, str | Path) else corpus
    return [str(text) if isinstance(text, Path) else text for text in texts]


def file_names(texts: Sequence[str | Sequence[str]], why: str) -> list[str]:
    """The texts, all of which must be files that can be opened anew; `why` begins the message."""
    names = [text for text in texts if isinstance(text, str)]
    if len(names) < len(texts) or STANDARD_INPUT in names:
        raise InputError(f"{why} reads files, not standard input or sentences in memory.")
    return names


def sentence_blocks(texts: Sequence[str | Sequence[str]]) -> Iterator[Sequence[str]]:
    """All sentences in lists. What cannot be read is refused at once."""
    sources = [InputFile(text) if isinstance(text, str) else text for text in texts]
    check_readable(*(source for source in sources if isinstance(source, InputFile)))
    return (
        block
        for source in sources
        for block in (
            source.line_blocks(BLOCK_LINES) if isinstance(source, InputFile) else [source]
        )
    )


def corpus_index(
    texts: Sequence[str | Sequence[str]], on_phase: OnPhase, map_parts: MapParts | None = None
) -> CorpusIndex:
    """The index of texts, or the one that a single .wpm file holds. With `map_parts` parts of the files
    are read by whoever it gives them to."""
    from wellput.language.paraphrase.corpus_index import CorpusIndex, index_corpus, index_parts

    [first, *others] = texts
    if isinstance(first, str) and first.endswith(INDEX_SUFFIX) and not others:
        return CorpusIndex.load(first)
    blocks = sentence_blocks(texts)
    on_progress = on_phase("indexing sentences")
    if map_parts is None:
        return index_corpus(blocks, on_progress=on_progress)
    from wellput.io.text_parts import text_parts

    parts = text_parts(file_names(texts, "engine='ray'"))
    return index_parts(parts, map_parts=map_parts, on_progress=on_progress)
