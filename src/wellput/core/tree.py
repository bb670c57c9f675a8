"""`Tree`, a dependency tree over the words of one sentence, and `Constituent`.

Words are numbered from 1 as in CoNLL-U; the root has head 0. A tree has one root, no cycles, and
may be non-projective. `io.trees` reads and writes trees, `language.trees` works with them.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_QUOTED_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Word:
    """One syntactic word of a tree, with the columns of CoNLL-U; the root has `head` 0."""

    form: str
    head: int
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: str = "_"
    relation: str = "_"
    deps: str = "_"
    misc: str = "_"


@dataclass(frozen=True, slots=True)
class Multiword:
    """A surface token (`don't`) that covers the words `first` to `last`, both inclusive."""

    first: int
    last: int
    form: str
    misc: str = "_"
    feats: str = "_"


@dataclass(frozen=True, slots=True)
class Tree:
    """A dependency tree: its words in order, the surface tokens that cover several of them, and the
    comment lines (without the sign `#`)."""

    words: tuple[Word, ...]
    multiwords: tuple[Multiword, ...] = ()
    comments: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The sentence: the `text` comment; without it, the surface tokens, with a space after each
        token whose column MISC does not have SpaceAfter=No."""
        for comment in self.comments:
            key, separator, value = comment.partition("=")
            if separator and key.strip() == "text":
                return value.strip()
        pieces: list[str] = []
        for form, misc in self.surface():
            pieces.append(form)
            if "SpaceAfter=No" not in misc.split("|"):
                pieces.append(" ")
        return "".join(pieces).strip()

    def surface(self) -> list[tuple[str, str]]:
        """The surface tokens with their MISC column: a multiword token instead of its words."""
        covering = {multiword.first: multiword for multiword in self.multiwords}
        tokens: list[tuple[str, str]] = []
        number = 1
        while number <= len(self.words):
            if (multiword := covering.get(number)) is not None:
                tokens.append((multiword.form, multiword.misc))
                number = multiword.last + 1
            else:
                word = self.words[number - 1]
                tokens.append((word.form, word.misc))
                number += 1
        return tokens

    def mismatch(self, reference: str) -> str:
        """How the tree and a reference differ; empty if the tree fits the reference.

        A tree fits if its text, its surface tokens or its words have the characters of the reference,
        apart from white space.
        """
        characters = _without_space(reference)
        if (
            characters == _without_space(self.text)
            or characters == _without_space("".join(form for form, _ in self.surface()))
            or characters == _without_space("".join(word.form for word in self.words))
        ):
            return ""
        return f"is the tree of {_quoted(self.text)}, the reference is {_quoted(reference)}"


@dataclass(frozen=True, slots=True)
class Constituent:
    """A phrase: its label and its parts, the children. A constituent with a `word` is this single word:
    its label is the part of speech, and it has no children."""

    label: str
    children: tuple[Constituent, ...] = ()
    word: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The words from left to right, empty elements included."""
        words: list[str] = []
        nodes_to_visit = [self]
        while nodes_to_visit:
            node = nodes_to_visit.pop()
            if node.word is not None:
                words.append(node.word)
            nodes_to_visit.extend(reversed(node.children))
        return tuple(words)


def _without_space(text: str) -> str:
    return "".join(text.split())


def _quoted(text: str) -> str:
    short = text if len(text) <= MAX_QUOTED_CHARACTERS else text[: MAX_QUOTED_CHARACTERS - 1] + "…"
    return f"“{short}”"
