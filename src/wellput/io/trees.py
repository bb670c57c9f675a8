"""Reads and writes trees: dependency trees in CoNLL-U (universaldependencies.org/format.html), and
constituent trees in the brackets of the Penn Treebank.

`format_tree(parse_tree(...))` gives a well-formed CoNLL-U sentence back byte for byte, with one
exception: empty nodes (`8.1`) are left out, because they belong to the enhanced graph of Universal
Dependencies, not to the tree. The DEPS column is kept unchanged. Only this module checks that the heads
make a tree.

A tree in brackets looks like `( (S (NP (DT the) (NN cat)) (VP (VBD sat))))`. White space only separates
tokens; a file has one tree after another. The outermost bracket may have no label; its label is then
empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from wellput.core.errors import InputError, Problems, counted
from wellput.core.tree import Constituent, Multiword, Tree, Word
from wellput.io.files import TABLE_FORMATS, InputFile, PathLike, check_readable
from wellput.io.output import replacing

TREES_SUFFIX = ".conllu"
CONLLU_COLUMNS = 10
EMPTY_NODE = re.compile(r"\d+\.[1-9]\d*")
MULTIWORD_RANGE = re.compile(r"([1-9]\d{0,8})-([1-9]\d{0,8})")
HEAD_NUMBER = re.compile(r"0|[1-9]\d{0,8}", re.ASCII)


def read_trees(path: PathLike) -> Iterator[Tree]:
    """The trees of a file in order, one sentence in memory at a time.

    Raises InputError after the last sentence, for all bad lines.
    """
    file = InputFile(path)
    check_readable(file)
    return trees_in(file)


def trees_in(file: InputFile) -> Iterator[Tree]:
    """The trees of a file, as `read_trees` gives them, without the check that the file exists."""
    problems = Problems(file.name)
    is_empty = True
    for first, lines in _sentences(file.lines()):
        is_empty = False
        tree = _tree(lines, first, problems)
        if tree is not None and not problems:
            yield tree
    problems.raise_if_any(
        advice="The format is described at universaldependencies.org/format.html."
    )
    if is_empty:
        raise InputError(f"{file.name} holds no sentence.")


def check_is_corpus(file: InputFile) -> None:
    """Raises InputError if the file is a table or JSON, whose quotes and commas would be read as
    words."""
    if file.suffix in (".json", *TABLE_FORMATS):
        raise InputError(
            f"{file.name} is not text: a corpus has a sentence on each line, or is "
            f"CoNLL-U ({TREES_SUFFIX})."
        )


def parse_tree(text: str) -> Tree:
    """The tree of one sentence.

    >>> parse_tree("1\\tHi\\t_\\t_\\t_\\t_\\t0\\troot\\t_\\t_").words[0].form
    'Hi'
    """
    problems = Problems("The tree")
    sentences = list(_sentences(iter(text.split("\n"))))
    if len(sentences) != 1:
        raise InputError(f"One tree is needed here, in CoNLL-U; this text holds {len(sentences)}.")
    first, lines = sentences[0]
    tree = _tree(lines, first, problems)
    problems.raise_if_any()
    assert tree is not None
    return tree


def format_tree(tree: Tree) -> str:
    """The tree as CoNLL-U, including the empty line that ends a sentence."""
    lines = [comment if comment.startswith("#") else f"# {comment}" for comment in tree.comments]
    multiword_from = {multiword.first: multiword for multiword in tree.multiwords}
    for number, word in enumerate(tree.words, start=1):
        if (multiword := multiword_from.get(number)) is not None:
            lines.append(
                f"{multiword.first}-{multiword.last}\t{multiword.form}\t_\t_\t_\t{multiword.feats}\t_\t_\t_\t{multiword.misc}"
            )
        lines.append(
            f"{number}\t{word.form}\t{word.lemma}\t{word.upos}\t{word.xpos}\t{word.feats}\t{word.head}"
            f"\t{word.relation}\t{word.deps}\t{word.misc}"
        )
    return "\n".join(lines) + "\n\n"


def write_trees(trees: Iterable[Tree], path: PathLike) -> None:
    """Writes the trees one by one; the file appears only when it is complete. `-` is standard
    output."""
    with replacing(path) as file:
        for tree in trees:
            file.write(format_tree(tree).encode(errors="backslashreplace"))


def _sentences(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """Each sentence's first line number and its lines; sentences end at an empty line."""
    sentence: list[str] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        line = line.removesuffix("\r")
        if line.strip():
            sentence.append(line)
        elif sentence:
            yield number - len(sentence), sentence
            sentence = []
    if sentence:
        yield number - len(sentence) + 1, sentence


def _tree(lines: Sequence[str], first: int, problems: Problems) -> Tree | None:
    """The tree of a sentence's lines, or None if a problem was added. `first` is the number of the
    first line."""
    problems_before = problems.total
    words: list[Word] = []
    multiwords: list[Multiword] = []
    comments: list[str] = []
    line_numbers: list[int] = []
    for number, line in enumerate(lines, start=first):
        if line.startswith("#"):
            if words or multiwords:
                problems.add(f"line {number}", "a comment after the sentence's first word")
            # "# #x" keeps its whole line, so that it is written back exactly.
            comments.append(line[2:] if line.startswith("# ") and line[2:3] != "#" else line)
            continue
        columns = line.split("\t")
        if len(columns) != CONLLU_COLUMNS:
            problems.add(f"line {number}", _wrong_columns(line, len(columns)))
        elif columns[0].isdecimal():
            word = _word(columns, len(words) + 1, number, problems)
            words.append(word)
            line_numbers.append(number)
        elif MULTIWORD_RANGE.fullmatch(columns[0]) is not None:
            multiwords.append(_multiword(columns, len(words), multiwords, number, problems))
        elif EMPTY_NODE.fullmatch(columns[0]) is None:
            problems.add(
                f"line {number}", f"the id {columns[0]!r} is not a number, range or empty node"
            )
    if problems.total == problems_before:
        _check_tree(words, multiwords, line_numbers, first, problems)
    if problems.total > problems_before:
        return None
    return Tree(tuple(words), tuple(multiwords), tuple(comments))


def _wrong_columns(line: str, n_columns: int) -> str:
    spaces = (
        " separated by tabs, not spaces"
        if n_columns == 1 and len(line.split()) == CONLLU_COLUMNS
        else ""
    )
    return f"{counted(n_columns, 'column')}; a word has {CONLLU_COLUMNS}{spaces}"


def _word(columns: list[str], expected: int, line: int, problems: Problems) -> Word:
    """The word in a line of CoNLL-U; `expected` is its number in the sentence."""
    if columns[0] != str(expected):
        problems.add(f"line {line}", f"the id is {columns[0]}, {expected} was expected")
    if not all(columns):
        problems.add(f"line {line}", "an empty column (an unknown value is written _)")
    _, form, lemma, upos, xpos, feats, head, relation, deps, misc = columns
    if HEAD_NUMBER.fullmatch(head) is None:
        problems.add(f"line {line}", f"the head of {form!r} is {head!r}, not a number")
        head = "0"
    return Word(form, int(head), lemma, upos, xpos, feats, relation, deps, misc)


def _multiword(
    columns: list[str], n_words: int, earlier: Sequence[Multiword], line: int, problems: Problems
) -> Multiword:
    """The multiword token in a line of CoNLL-U, after `n_words` words and the `earlier` multiword
    tokens."""
    number_range, form, _, _, _, feats, _, _, _, misc = columns
    first, last = (int(number) for number in number_range.split("-"))
    if first != n_words + 1:
        problems.add(f"line {line}", f"the range {number_range} must come before word {first}")
    if last <= first:
        problems.add(f"line {line}", f"the range {number_range} has fewer than two words")
    if earlier and first <= earlier[-1].last:
        problems.add(f"line {line}", f"the range {number_range} overlaps the one before it")
    return Multiword(first, last, form, misc, feats)


def _check_tree(
    words: Sequence[Word],
    multiwords: Sequence[Multiword],
    line_numbers: Sequence[int],
    first: int,
    problems: Problems,
) -> None:
    """Adds a problem for everything that prevents the words from being a tree. `line_numbers` are the
    words' lines in the file, `first` is the sentence's first line."""
    n = len(words)
    if n == 0:
        problems.add(f"line {first}", "a sentence without words")
        return
    if multiwords and multiwords[-1].last > n:
        problems.add(f"line {first}", f"a range ends at {multiwords[-1].last}; there are {n} words")
    outside = [
        (word, line) for word, line in zip(words, line_numbers, strict=True) if word.head > n
    ]
    for word, line in outside:
        problems.add(
            f"line {line}", f"the head of {word.form!r} is {word.head}; there are {n} words"
        )
    roots = [line for word, line in zip(words, line_numbers, strict=True) if word.head == 0]
    if not roots:
        problems.add(f"line {first}", "the sentence has no root: one word must have head 0")
    for line in roots[1:]:
        problems.add(f"line {line}", f"a second root; the first is on line {roots[0]}")
    if roots and not outside and (loop := _cycle([word.head for word in words])):
        shown = " → ".join(f"{number} {words[number - 1].form}" for number in [*loop, loop[0]])
        problems.add(f"line {line_numbers[loop[0] - 1]}", f"the heads form a circle: {shown}")


def _cycle(heads: Sequence[int]) -> list[int]:
    """The numbers of the words that form a circle; empty if there is none. `heads` has the number of
    each word's head."""
    # Follows the heads from each word, and notes for each word from which start it was reached first.
    reached_from = [0] * (len(heads) + 1)
    reached_from[0] = -1
    for start in range(1, len(heads) + 1):
        number = start
        while reached_from[number] == 0:
            reached_from[number] = start
            number = heads[number - 1]
        if reached_from[number] == start:
            loop = [number]
            while (number := heads[number - 1]) != loop[0]:
                loop.append(number)
            return loop
    return []


BRACKET_TOKEN = re.compile(r"[()]|[^\s()]+")


def read_constituents(path: PathLike) -> Iterator[Constituent]:
    """The trees of a file in order, one in memory at a time.

    Raises InputError after the last tree, for all bad trees. After a bad tree, reading continues at the
    next line that begins with a bracket.
    """
    file = InputFile(path)
    check_readable(file)
    problems = Problems(file.name)
    is_empty = True
    for tree in _constituents(file.lines(), problems):
        is_empty = False
        if not problems:
            yield tree
    problems.raise_if_any()
    if is_empty:
        raise InputError(f"{file.name} holds no tree.")


def parse_constituent(text: str) -> Constituent:
    """The tree in a text that has exactly one tree.

    >>> parse_constituent("(NP (DT the) (NN cat))").words
    ('the', 'cat')
    """
    problems = Problems("The bracketed tree")
    trees = list(_constituents(iter(text.split("\n")), problems))
    problems.raise_if_any()
    if len(trees) != 1:
        raise InputError(f"One bracketed tree is needed here; this text holds {len(trees)}.")
    return trees[0]


def format_constituent(tree: Constituent) -> str:
    """The tree on one line, without a line end."""
    pieces: list[str] = []
    unwritten: list[Constituent | str] = [tree]
    while unwritten:
        node = unwritten.pop()
        if isinstance(node, str):
            pieces.append(node)
        elif node.word is not None:
            pieces.append(f"({node.label} {node.word})")
        else:
            pieces.append(f"({node.label}")
            unwritten.append(")")
            for child in reversed(node.children):
                unwritten += [child, " "]
    return "".join(pieces)


class _OpenBracket:
    """A bracket that is not closed yet."""

    def __init__(self) -> None:
        self.label: str | None = None
        self.word: str | None = None
        self.children: list[Constituent] = []


def _constituents(lines: Iterator[str], problems: Problems) -> Iterator[Constituent]:
    """The well-formed trees of these lines; what is wrong with other trees is added to `problems`."""
    stack: list[_OpenBracket] = []
    first = number = 0
    skips_to_next_tree = False
    for number, line in enumerate(lines, start=1):
        if skips_to_next_tree and not line.startswith("("):
            continue
        skips_to_next_tree = False
        for token in BRACKET_TOKEN.findall(line):
            if token == "(" and not stack:
                first = number
            wrong, tree = _take_token(stack, token)
            if wrong:
                problems.add(f"line {number}", wrong)
                stack.clear()
                skips_to_next_tree = True
                break
            if tree is not None:
                yield tree
    if stack:
        problems.add(f"line {first}", f"a tree begins here that is not closed by line {number}")


def _take_token(stack: list[_OpenBracket], token: str) -> tuple[str, Constituent | None]:
    """Adds a token to the stack of open brackets; returns what is wrong with the token ("" if nothing),
    and the tree that it completes (None if it completes none)."""
    if token == "(":
        if stack and stack[-1].word is not None:
            return f"a bracket after the word {stack[-1].word!r}", None
        stack.append(_OpenBracket())
        return "", None
    if not stack:
        return f"{token!r} outside of a tree", None
    node = stack[-1]
    if token != ")":
        if node.label is None and not node.children:
            node.label = token
        elif node.children or node.word is not None:
            return f"{token!r} where a bracket was expected", None
        else:
            node.word = token
        return "", None
    if node.word is None and not node.children:
        return f"the bracket of {node.label!r} holds no word and no bracket", None
    stack.pop()
    constituent = Constituent(node.label or "", tuple(node.children), node.word)
    if not stack:
        return "", constituent
    stack[-1].children.append(constituent)
    return "", None
