"""`LanguageCheck`: whether a text is English prose, which the models of English can judge.

`read` finds the prose of a text and, if there is none that is English, the reason why:

- *no words*: there are no letters;
- *code or markup*: no prose is left without code, tags and formulas;
- *not English*: most letters are not Latin, or the words are those of another language.

Words are judged by a linear model. Its features are the word itself and its character n-grams, whose
weights are in a table of small integers, at places given by a hash. The weight of a word is at most
`word_limit`, so that a few strange names do not decide about a text. A text of fewer than `MIN_WORDS`
words, such as a name, a title or a greeting, says too little: it counts as English unless its script is
not Latin. Lines of code are found by a second linear model with a few features of a line.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import compress
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wellput.core.errors import counted
from wellput.core.metric import Floats
from wellput.io.files import PathLike
from wellput.io.model_files import load_model_file, noticing_damage, save_model_file
from wellput.language.models.linear_model import LinearModel
from wellput.language.shipped import LANGUAGE_FILE, shipped
from wellput.text.english import PARAGRAPH_BREAK
from wellput.text.markup import prose_in
from wellput.text.scripts import share_of_other_scripts

Reason: TypeAlias = Literal["no words", "code or markup", "not English"]

MIN_WORDS = 5
"""A text with fewer words says too little about its language."""
MAX_WORDS = 400
"""A longer text is judged by its beginning."""
MAX_WORD_LETTERS = 24
"""The features of a word come from this many letters at most."""
MAX_NGRAM = 4
"""The most characters of the n-grams that are features of a word."""
MAX_CACHED_WORDS = 1 << 18
LETTER = re.compile(r"[^\W\d_]")
PROSE_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# What `not_english_sentence` says about the tree of one text that is not English, and about the trees
# of several.
TREE_CONSEQUENCES = (", and its tree means little", ", and their trees mean little")
ADDRESS_IN_TEXT = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\S+")
"""A web or e-mail address anywhere in a text; it is removed before words are looked at."""


@dataclass(frozen=True, slots=True)
class ReadText:
    """The prose of a text, empty if there is a `reason` not to score it."""

    prose: str
    reason: Reason | None = None


def checked_words(text: str) -> list[str]:
    """The words that the check looks at, in lower case, without web addresses."""
    if "@" in text or "www." in text or "://" in text:
        text = ADDRESS_IN_TEXT.sub(" ", text)
    return PROSE_WORD.findall(text.lower())[:MAX_WORDS]


def word_features(word: str, size: int) -> list[int]:
    """The places of a word's features in a table of `size` weights."""
    letters = word.replace("’", "'")[:MAX_WORD_LETTERS]
    bounded = f"<{letters}>"  # so an n-gram shows whether it begins or ends the word
    places = [zlib.crc32(bounded.encode(errors="replace")) % size]
    for n in range(1, MAX_NGRAM + 1):
        # The single characters (n = 1) are the letters only, without < and >.
        for start in range(n == 1, len(bounded) - n + (n > 1)):
            ngram = bounded[start : start + n]
            if n < len(bounded):
                # The start value 1 makes another hash than that of a whole word.
                places.append(zlib.crc32(ngram.encode(errors="replace"), 1) % size)
    return places


CODE_MARKS = re.compile(r"[{}<>=;_\\|&*+$#@^~\[\]`]")
# A text in which this does not match has no code.
CODE_TRIGGER = re.compile(
    r"[{}<>=;_\\|*+^~\[\]`]|\w\(|^\s*(?:import|from|def|class|select)\s", re.I | re.M
)
CALL_PATTERN = re.compile(r"\w\(")
# Sequences of characters that are frequent in code and rare in prose (the feature "pairs").
CODE_SEQUENCE = re.compile(
    r"[a-z][A-Z]|\w_\w|[a-z]\.[a-z_]+(?=[\s(\[=,;)]|$)|::|->|=>|==|!=|<=|>=|&&|\|\||\+\+|\+=|</|/>|=\"|\":|"
    r"\s[-+*/%|:<]?=\s|\sdo(?:\s*$|\s\|)|(?<!\w)@\w+\b(?!\s+[A-Za-z])|#\{|<<\s|:\w+\s=>"
)
PLAIN_TOKEN = re.compile(
    r"[\"'(“‘]*(?:[^\W\d_][^\W\d_A-Z]*(?:['’-][^\W\d_]+)*|[A-Z]+|\d[\d.,:%]*)[\"')”’.,;:!?…]*$"
)
CODE_LINE_END = re.compile(r"[;{}\[(,\\>]\s*$|\)\s*:?\s*$|\w:\s*$")
CODE_KEYWORD = re.compile(
    r"\s*(?:def \w|class \w+[\s({:]|import [\w{*]+|from \S+ import|return\b|if\s*\(|for\s*\(|"
    r"while\s*\(|else\b|elif |#include|#define|#!|public |private |protected |static |const |let |"
    r"var |func(?:tion)? |fn |void |int |float |double |char |bool |string |package \w|using |"
    r"namespace |struct |enum |try\b|except\b|catch\b|print\w*\(|@\w+|puts |require |module \w|"
    r"until |unless |elsif |rescue\b|begin$|then$|attr_|SELECT |INSERT |UPDATE \w|CREATE |FROM \w|"
    r"WHERE |DROP |\$ |end$)"
)
COMMENT = re.compile(r"\s*(?:#|//|/\*|\*/?|--|;|%|<!--|\"\"\"|''')")
SMALL_WORDS = frozenset([
    "the", "a", "an", "of", "to", "in", "on", "at", "by", "with", "and", "or", "but", "is",
    "are", "was", "were", "be", "been", "has", "have", "had", "it", "its", "he", "she", "they",
    "we", "you", "i", "this", "that", "these", "those", "not", "as", "from", "which", "who",
    "when", "there", "their", "his", "her", "our", "your", "my", "will", "would", "can",
    "could", "should", "may", "than", "then", "so", "if", "for", "into", "over", "about",
    "after",
])  # fmt: skip
"""Frequent function words."""
MIN_LINES, MIN_MEAN_OF_PROGRAM = 3, -1.0
"""A paragraph of at least 3 lines is a program if the mean score of its lines, limited to −4 to 4, is
above −1. For prose that is broken into lines the mean is below −2."""
MIN_SHARE_OF_PROGRAM = 0.5
"""If at least this share of a text's lines is code, its other lines are kept only if `is_like_prose`
is true of them."""
DATA_BRACKETS = re.compile(r"^\s*[\[{].*[\]}]\s*$", re.DOTALL)
"""A whole text between the brackets of a JSON object or list."""
ADDRESS_TOKEN = re.compile(r"(?:https?://|www\.)\S+|[^\s@]+@[^\s@]+\.[^\s@]+", re.IGNORECASE)
"""A token that is, as a whole, a web or e-mail address. A text that consists of such tokens has no
prose."""
DATA_KEY_OR_LIST = re.compile(r"\"[^\"\n]*\"\s*:|^\s*\[\s*[\"{\[\d]")
"""A key of a JSON object, or the beginning of a JSON list."""
CODE_FEATURES = (
    "marks", "calls", "pairs", "plain", "small words", "line end", "keyword", "length",
)  # fmt: skip


def line_features(line: str) -> tuple[float, ...]:
    """The features of a line, in the order of `CODE_FEATURES`; the line must not be empty."""
    tokens = line.split()
    n = len(tokens)
    return (
        len(CODE_MARKS.findall(line)) / sum(map(len, tokens)),
        min(1.0, len(CALL_PATTERN.findall(line)) / n),
        min(1.0, len(CODE_SEQUENCE.findall(line)) / n),
        sum(PLAIN_TOKEN.match(token) is not None for token in tokens) / n,
        sum(token.lower() in SMALL_WORDS for token in tokens) / n,
        float(CODE_LINE_END.search(line) is not None),
        float(CODE_KEYWORD.match(line) is not None),
        min(3.0, math.log(n)),
    )


def is_like_prose(line: str) -> bool:
    """Whether a line looks like prose although it may have marks of code: it has at least four words,
    four in five are plain words or numbers, and one is among `SMALL_WORDS`."""
    tokens = line.split()
    plain = sum(PLAIN_TOKEN.match(token) is not None for token in tokens)
    return (
        len(tokens) >= 4
        and 5 * plain >= 4 * len(tokens)
        and any(
            token in SMALL_WORDS or (token.istitle() and token.lower() in SMALL_WORDS)
            for token in tokens
        )
    )


def is_data(text: str) -> bool:
    """Whether a text looks like a JSON object or list, by its beginning and end."""
    return DATA_BRACKETS.match(text) is not None and DATA_KEY_OR_LIST.search(text) is not None


@dataclass(frozen=True, eq=False)
class LanguageCheck:
    """The trained check. `table` has the weights of features (of words), which are multiplied by
    `scale`; `code` is the linear model for lines of code."""

    kind: ClassVar[str] = "language check"

    table: NDArray[np.int8]
    scale: float
    bias: float
    word_limit: float
    code: LinearModel
    fingerprint: str = ""
    _weights: dict[str, float] = field(default_factory=dict, repr=False)

    def read(self, text: str) -> ReadText:
        """The prose of a text if it is English; otherwise no prose, and the reason."""
        if LETTER.search(text) is None:
            return ReadText("", "no words")
        if is_data(text) or all(ADDRESS_TOKEN.fullmatch(token) for token in text.split()):
            return ReadText("", "code or markup")
        marked = prose_in(text)  # its `asides` are headings, cells of tables and captions
        if _is_in_other_script(marked.paragraphs or marked.asides):
            return ReadText("", "not English")
        paragraphs = self._without_code(marked.paragraphs) or self._without_code(marked.asides)
        if paragraphs == (text,):
            prose = text
        elif not any(map(LETTER.search, paragraphs)):
            return ReadText("", "code or markup")
        else:
            prose = "\n\n".join(paragraphs)
        if not self.is_english(prose):
            return ReadText("", "not English")
        return ReadText(prose)

    def read_all(self, texts: Sequence[str]) -> list[ReadText]:
        return [self.read(text) for text in texts]

    def is_english(self, text: str) -> bool:
        """Whether a text without markup is English; true for a text that is too short to judge."""
        if _is_in_other_script([text]):
            return False
        words = checked_words(text)
        return len(words) < MIN_WORDS or self.score(words) > 0

    def score(self, words: Sequence[str]) -> float:
        """A score of words that is above 0 for English, and about 5 to 20 for most English
        sentences: the sum of the words' weights over the square root of their number, plus a bias."""
        weights = self._weights
        if len(weights) > MAX_CACHED_WORDS:
            weights.clear()
        total = 0.0
        for word in words:
            weight = weights.get(word)
            if weight is None:
                weight = weights[word] = self._weight(word)
            total += weight
        return total / math.sqrt(len(words) or 1) + self.bias

    def _weight(self, word: str) -> float:
        places = word_features(word, len(self.table))
        unlimited = float(self.table[places].sum(dtype=np.int64)) * self.scale
        return self.word_limit * math.tanh(unlimited / self.word_limit)

    def _without_code(self, paragraphs: Sequence[str]) -> tuple[str, ...]:
        """The paragraphs without their lines of code; none if most of the text is code."""
        if not any(map(CODE_TRIGGER.search, paragraphs)):
            return tuple(paragraphs)
        lines_by_paragraph = [
            [line for line in part.split("\n") if line.strip()]
            for paragraph in paragraphs
            for part in PARAGRAPH_BREAK.split(paragraph)
        ]
        all_lines = [line for lines in lines_by_paragraph for line in lines]
        if not all_lines:
            return ()
        scores = self.code_scores(all_lines)
        are_code = (scores > 0) & ~np.array([is_like_prose(line) for line in all_lines])
        end = 0
        for lines in lines_by_paragraph:
            start, end = end, end + len(lines)
            if (
                len(lines) >= MIN_LINES
                and np.clip(scores[start:end], -4, 4).mean() > MIN_MEAN_OF_PROGRAM
            ):
                are_code[start:end] = True
        if not are_code.any():
            return tuple(paragraphs)
        are_left_out = are_code | np.array([COMMENT.match(line) is not None for line in all_lines])
        if are_left_out.mean() >= MIN_SHARE_OF_PROGRAM:
            are_left_out |= ~np.array([is_like_prose(line) for line in all_lines])
        lengths = np.array([len(line.strip()) for line in all_lines])
        if 2 * lengths[are_left_out].sum() > lengths.sum():
            return ()
        are_kept = iter(~are_left_out)
        kept = [
            "\n".join(compress(lines, [next(are_kept) for _ in lines]))
            for lines in lines_by_paragraph
        ]
        return tuple(filter(None, kept))

    def code_scores(self, lines: Sequence[str]) -> Floats:
        """A score for each line, above 0 for code; no line must be empty."""
        return self.code.scores(np.array([line_features(line) for line in lines]))

    def save(self, path: PathLike, card: Mapping[str, Any]) -> None:
        numbers = np.array([self.scale, self.bias, self.word_limit])
        arrays = {"table": self.table, "numbers": numbers}
        code = {f"code {name}": array for name, array in self.code.arrays().items()}
        save_model_file(path, self.kind, card, {**arrays, **code})

    @classmethod
    def load(cls, path: PathLike) -> LanguageCheck:
        file = load_model_file(path, cls.kind)
        with noticing_damage(path):
            arrays = file.arrays
            scale, bias, word_limit = map(float, arrays["numbers"])
            code = LinearModel.of_file(file, "code ")
            check = cls(arrays["table"], scale, bias, word_limit, code, file.fingerprint)
            # A model of the wrong size, or with a number that is not finite, gives no finite score.
            with np.errstate(all="ignore"):
                score = check.score(["the"]) + float(check.code_scores(["x = 1;"])[0])
            if not math.isfinite(score):
                raise ValueError
            return check


def _is_in_other_script(paragraphs: Sequence[str]) -> bool:
    return share_of_other_scripts("\n".join(paragraphs)) > 0.5


@cache
def shipped_check() -> LanguageCheck:
    """The check that comes with wellput, loaded once."""
    return LanguageCheck.load(shipped(LANGUAGE_FILE))


def reasons_against(texts: Iterable[str]) -> Counter[str]:
    """How many texts are not English prose, by the reason; empty texts are not counted."""
    read = (shipped_check().read(text) for text in texts if text.strip())
    return Counter(text.reason for text in read if text.reason is not None)


def not_english_sentence(
    reasons: Counter[str], noun: str, consequence: tuple[str, str], *, total: int | None = None
) -> str:
    """A sentence that says how many texts are not English prose, what this means (`consequence` has
    the words for one text, and for several), and why; empty if there are no such texts. `total` is the
    number of texts that were checked.

    >>> not_english_sentence(Counter({"no words": 2}), "text", (" (1)", " (several)"), total=60)
    '2 of 60 texts are not English prose (several): no words 2.'
    """
    n = reasons.total()
    if not n:
        return ""
    one, several = consequence
    counts = ", ".join(f"{reason} {count:,}" for reason, count in sorted(reasons.items()))
    subject = counted(n, noun) if total is None else f"{n:,} of {counted(total, noun)}"
    verb, follows = ("is", one) if n == 1 else ("are", several)
    return f"{subject} {verb} not English prose{follows}: {counts}."
