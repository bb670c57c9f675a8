"""Divides English prose into sentences and into words as treebanks have them (`Words`), and joins
words to text again. All this is done by rules, without a model.

A sentence ends after . ! ? if the next text can begin a sentence. It does not end after an
abbreviation that comes before names (*Mr.*) or an initial, nor before a lower-case letter. Closing
brackets and quotation marks belong to the sentence before them. Blank lines separate paragraphs; other
line ends count as spaces.

Words are split as in the English Web Treebank (EWT) of Universal Dependencies. Contractions and
possessives are separate words (`do` `n't`, `John` `'s`, `can` `not`). Together with the word before
it, such a word is one *surface token*: `don't` is a surface token that covers the words `do` and
`n't`. Punctuation, hyphens and currency signs are words. Web addresses, file names, numbers, dates,
words with a prefix (`co-worker`), abbreviations and emoticons stay whole. Only white space is lost.
`detokenize` joins such words into ordinary text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# A period after one of these abbreviations, or after an initial other than I, hardly ever ends a
# sentence.
ABBREVIATION_BEFORE_NAME = re.compile(
    r"(?:^|[\s(\[\"'“‘-])(?:Mr|Mrs|Ms|Dr|Drs|Prof|Rev|Fr|Hon|Messrs|Mme|Mlle|St|Ste|Gen|Col|Maj|Capt|Lt|"
    r"Sgt|Adm|Gov|Sen|Rep|Pres|Mt|Ft|vs|No|Nos|Vol|Fig|pp|cf|[A-HJ-Z])\.$"
)
SENTENCE_END = re.compile(r"(?<![.!?])[.!?]+[\"'”’)\]]* (?=[\"'“‘(\[]*[^\W_a-z])")
MAX_ABBREVIATION_CHARACTERS = 8
"""The length of the longest abbreviation before names, with its period and the character before it."""
PARAGRAPH_BREAK = re.compile(r"\n\s*\n")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, with single spaces.

    >>> list(sentences("Mr. Ng left. “Why?” she\\nasked. e.g. so.\\n\\nA heading\\n\\nThe end."))
    ['Mr. Ng left.', '“Why?” she asked. e.g. so.', 'A heading', 'The end.']
    """
    for paragraph in PARAGRAPH_BREAK.split(text):
        line = " ".join(paragraph.split())
        start = 0
        for match in SENTENCE_END.finditer(line):
            last_characters = line[
                max(start, match.start() - MAX_ABBREVIATION_CHARACTERS) : match.end() - 1
            ]
            if not ABBREVIATION_BEFORE_NAME.search(last_characters):
                yield line[start : match.end() - 1]
                start = match.end()
        if start < len(line):
            yield line[start:]


ABBREVIATIONS = (
    *("Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Jr", "Sr", "Rev", "Hon", "Gen", "Col", "Lt", "Sgt"),
    *("Capt", "Maj", "Sen", "Rep", "Gov", "Pres", "Inc", "Corp", "Co", "Ltd", "Bros", "Dept"),
    *("Univ", "Ave", "Blvd", "Rd", "vs", "etc", "al", "approx", "est", "No", "Vol", "Fig", "Jan"),
    *("Feb", "Mar", "Apr", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec", "Mon", "Tue"),
    *("Tues", "Wed", "Thu", "Thurs", "Fri", "Sat", "Sun", "e.g", "i.e", "cf", "ca"),
)
FILE_AND_DOMAIN_ENDINGS = "com|org|net|edu|gov|html?|docx?|pdf|xlsx?|txt|jpe?g|gif|png|zip"
PREFIXES = (
    *("anti", "bi", "co", "counter", "cyber", "de", "e", "ex", "inter", "macro", "mega", "micro"),
    *("mid", "mini", "multi", "neo", "non", "over", "para", "post", "pre", "pro", "pseudo"),
    *("quasi", "re", "semi", "sub", "super", "tele", "ultra", "un", "vice"),
)
# The alternatives are tried in this order at every place. Their lengths are limited, so that matching
# stays fast on long texts.
WORD_PATTERN = re.compile(
    "|".join(
        (
            r"(?P<address>(?:https?://|ftp://|www\.)[^\s<>\"”“]{0,2000}[\w/])",
            r"(?P<mail>[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8})",
            rf"(?P<file>[\w-]{{1,64}}(?:\.[\w-]{{1,64}}){{0,5}}\.(?:{FILE_AND_DOMAIN_ENDINGS})\b)",
            # Metrics' tokenizers replace such markup by other characters. Each stays one word here, so
            # that the words can be matched with the metrics' tokens.
            r"(?P<markup>&(?:amp|quot|lt|gt);|<skipped>)",
            r"(?P<face>(?<!\w)[:;=][-'^o]?[()\[\]DPp|/\\](?!\w)|<3)",
            r"(?P<initials>(?:\b[A-Za-z]\.){2,8}|\b[A-Z]\.(?=\s+[A-Z]))",
            rf"(?P<abbreviation>\b(?:{'|'.join(map(re.escape, ABBREVIATIONS))})\.(?=\S|\s+\S))",
            r"(?P<number>\d+(?:[.,:/]\d+)*(?:st|nd|rd|th|s)?(?!\w))",
            rf"(?P<prefixed>(?i:\b(?:{'|'.join(PREFIXES)})-)\w+(?!['’]))",
            r"(?P<word>\w+(?:['’]\w+)*)",
            r"(?P<run>(?P<mark>[^\w\s])(?P=mark)+)",
            r"(?P<other>\S)",
        )
    )
)
# An ending that is a word of its own but is written together with the word before it: n't, 's, 'll.
ENCLITIC = re.compile(r"(?:n['’]t|['’](?:s|m|d|ll|re|ve))$", re.IGNORECASE)
APOSTROPHES = "'’"
JOINED_WORDS = re.compile(r"(can)(not)|(gon|wan)(na)|(got)(ta)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Words:
    """The words (`forms`) in order; whether each has white space after it; and for every surface token
    that covers several words, the places (from 0) of its first and last word."""

    forms: tuple[str, ...]
    has_space_after: tuple[bool, ...]
    surface_tokens: tuple[tuple[int, int], ...] = ()
    surface_forms: tuple[str, ...] = ()
    """The surface tokens as they are written; empty if each is the same as its words without spaces."""


def treebank_words(text: str) -> Words:
    """The words of a text.

    >>> treebank_words("They don't pay $1,000.").forms
    ('They', 'do', "n't", 'pay', '$', '1,000', '.')
    """
    forms: list[str] = []
    has_space_after: list[bool] = []
    surface: list[tuple[int, int]] = []
    end = 0
    is_quoted = False
    for match in WORD_PATTERN.finditer(text):
        parts = _word_parts(match[0]) if match.lastgroup == "word" else [match[0]]
        if match[0] in APOSTROPHES:
            # "parents'": an apostrophe after a word that ends in s, unless it closes a quotation.
            if (
                not is_quoted
                and match.start() == end
                and _is_possessive(forms, text[match.end() : match.end() + 1])
            ):
                surface.append((len(forms) - 1, len(forms)))
            else:
                is_quoted = not is_quoted
        elif len(parts) > 1:
            surface.append((len(forms), len(forms) + len(parts) - 1))
        if forms and match.start() > end:
            has_space_after[-1] = True
        forms += parts
        has_space_after += [False] * len(parts)
        end = match.end()
    if has_space_after:
        has_space_after[-1] = True
    return Words(tuple(forms), tuple(has_space_after), tuple(surface))


def spaced_words(tokens: list[str]) -> Words:
    """The tokens, unchanged, as words with a space after each."""
    return Words(tuple(tokens), (True,) * len(tokens))


def _word_parts(word: str) -> list[str]:
    """The treebank's words in a word that is written without spaces: "don't" has two."""
    if (joined := JOINED_WORDS.fullmatch(word)) is not None:
        return [part for part in joined.groups() if part is not None]
    enclitic = ENCLITIC.search(word)
    if enclitic is None or enclitic.start() == 0:
        return [word]
    return [word[: enclitic.start()], word[enclitic.start() :]]


def _is_possessive(forms: list[str], following: str) -> bool:
    """Whether an apostrophe after the last of these words, before the character `following`, is a
    possessive as in "parents' house"."""
    owner = forms[-1] if forms else ""
    return owner.isalpha() and owner[-1] in "sS" and not following.strip()


CLOSING_MARKS = frozenset([*".,;:!?…%)]}”’", "''", "...", "?!", "!!", "!!!", "??"])
OPENING_MARKS = frozenset(["(", "[", "{", "“", "‘", "``", "$", "£", "€", "#"])
QUOTES = frozenset(['"', "'"])
HYPHEN = "-"
BRACKET_SIGNS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


def detokenize(tokens: Sequence[str]) -> str:
    """The ordinary text of one sentence, from its words or tokens.

    Straight quotation marks open and close quotations alternately; a quotation mark without a partner
    keeps its spaces. A hyphen between words joins them, because a dash is usually another character.

    >>> detokenize("He did n't say : \\" It 's ( almost ) a two - month job . \\"".split())
    'He didn\\'t say: "It\\'s (almost) a two-month job."'
    """
    pieces: list[str] = []
    needs_no_space = True
    open_quotes: set[str] = set()
    for place, token in enumerate(tokens):
        token = BRACKET_SIGNS.get(token, token)
        is_opening = token in OPENING_MARKS
        is_closing = token in CLOSING_MARKS or (ENCLITIC.fullmatch(token) is not None and place > 0)
        if token in QUOTES:
            is_closing = token in open_quotes
            is_opening = not is_closing and token in tokens[place + 1 :]
            open_quotes ^= {token} if is_closing or is_opening else set()
        elif token == HYPHEN and 0 < place < len(tokens) - 1:
            is_opening = is_closing = _are_words(tokens[place - 1], tokens[place + 1])
        if not (needs_no_space or is_closing):
            pieces.append(" ")
        pieces.append({"``": "“", "''": "”"}.get(token, token))
        needs_no_space = is_opening
    return "".join(pieces)


def _are_words(before: str, after: str) -> bool:
    return before[-1].isalnum() and after[0].isalnum()
