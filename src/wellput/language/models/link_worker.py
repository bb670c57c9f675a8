"""A process that parses sentences with the link grammar library; it reads and writes lines of JSON.

The module runs as a script (`python -I link_worker.py SETTINGS`) and imports nothing from wellput, so
it starts fast; if the library crashes, only this process ends. The first line of output is
`{"version": …}` or `{"error": …}`. Then each line of input is a sentence as a JSON string, and each
line of output is an object with the fields of a `LinkAnswer`. The process ends with its input.

The caller must keep to the limits of `link_grammar.py` on the number and length of words: beyond these
limits the C library aborts or corrupts its memory.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import locale
import os
import signal
import sys
from typing import Any, Literal, TypedDict

LIBRARIES = ("liblink-grammar.so.5", "liblink-grammar.5.dylib")
# Settings for three attempts, the slowest first: the most words that a link with a "short" connector (a
# connector is the end of a link) may span, and whether all connectors are short. The first attempt has
# the library's defaults.
PARSING_EFFORTS = ((16, False), (6, False), (6, True))
# More words than a sentence can have: any number of words may stay unlinked, so every sentence can get
# a linkage.
MAX_UNLINKED_WORDS = 300
TOO_LONG_CODE = -2  # the library's PARSE_NUM_OVERFLOW

LIBRARY_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "linkgrammar_get_version": (ctypes.c_char_p, ()),
    "dictionary_create_lang": (ctypes.c_void_p, (ctypes.c_char_p,)),
    "parse_options_create": (ctypes.c_void_p, ()),
    "parse_options_delete": (ctypes.c_int, (ctypes.c_void_p,)),
    "parse_options_reset_resources": (None, (ctypes.c_void_p,)),
    "parse_options_resources_exhausted": (ctypes.c_int, (ctypes.c_void_p,)),
    **{
        f"parse_options_set_{name}": (None, (ctypes.c_void_p, ctypes.c_int))
        for name in (
            *("verbosity", "linkage_limit", "min_null_count", "max_null_count"),
            *("max_parse_time", "short_length", "all_short_connectors"),
        )
    },
    "sentence_create": (ctypes.c_void_p, (ctypes.c_char_p, ctypes.c_void_p)),
    "sentence_delete": (None, (ctypes.c_void_p,)),
    "sentence_split": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_void_p)),
    "sentence_parse": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_void_p)),
    "sentence_null_count": (ctypes.c_int, (ctypes.c_void_p,)),
    "sentence_num_linkages_found": (ctypes.c_int, (ctypes.c_void_p,)),
    "sentence_num_linkages_post_processed": (ctypes.c_int, (ctypes.c_void_p,)),
    "sentence_num_valid_linkages": (ctypes.c_int, (ctypes.c_void_p,)),
    # A C float in version 5.12, unlike linkage_disjunct_cost.
    "sentence_disjunct_cost": (ctypes.c_float, (ctypes.c_void_p, ctypes.c_int)),
}


class LinkSettings(TypedDict):
    """The language of the dictionary, the seconds for an attempt, and the most linkages to
    post-process."""

    language: str
    timeout: int
    linkage_limit: int


class LinkAnswer(TypedDict):
    """The fields of a `LinkParse` (`link_grammar.py`) without the sentence."""

    status: Literal["parsed", "unparsed", "too-long", "timeout"]
    timeouts: int
    null_count: int | None
    found: int
    post_processed: int
    valid: int
    cost: float | None


def no_parse(status: Literal["unparsed", "too-long", "timeout"], timeouts: int) -> LinkAnswer:
    """The answer for a sentence without a parse."""
    return {
        "status": status,
        "timeouts": timeouts,
        "null_count": None,
        "found": 0,
        "post_processed": 0,
        "valid": 0,
        "cost": None,
    }


def load_library() -> ctypes.CDLL:
    """The library with its functions declared; raises OSError if it is not installed."""
    located = ctypes.util.find_library("link-grammar")
    for name in (*LIBRARIES, *([located] if located else [])):
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        for function, (result, arguments) in LIBRARY_FUNCTIONS.items():
            declared = getattr(library, function)
            declared.restype, declared.argtypes = result, arguments
        return library
    raise OSError("the link grammar library was not found")


class LinkParser:
    """Parses sentences with the library, a dictionary and the settings."""

    def __init__(self, settings: LinkSettings) -> None:
        self._library = load_library()
        self._settings = settings
        language = settings["language"]
        self._dictionary = self._library.dictionary_create_lang(language.encode())
        if not self._dictionary:
            raise OSError(f"link grammar has no dictionary for {language!r}")
        self.version = self._library.linkgrammar_get_version().decode()

    def parse(self, sentence: str) -> LinkAnswer:
        """Tries the settings of `PARSING_EFFORTS` in turn until an attempt finishes in time."""
        for timeouts, (short_length, all_short) in enumerate(PARSING_EFFORTS):
            answer = self._attempt(sentence, timeouts, short_length, all_short)
            if answer["status"] != "timeout":
                return answer
        return no_parse("timeout", len(PARSING_EFFORTS))

    def _attempt(
        self, sentence: str, timeouts: int, short_length: int, all_short: bool
    ) -> LinkAnswer:
        """Parses a sentence with links of at most `short_length` words; without `all_short`, some kinds
        of links may be longer. `timeouts` is the number of earlier attempts that took too long."""
        library = self._library
        options = library.parse_options_create()
        library.parse_options_set_verbosity(options, 0)
        library.parse_options_set_linkage_limit(options, self._settings["linkage_limit"])
        library.parse_options_set_min_null_count(options, 0)
        library.parse_options_set_max_null_count(options, MAX_UNLINKED_WORDS)
        library.parse_options_set_max_parse_time(options, self._settings["timeout"])
        library.parse_options_set_short_length(options, short_length)
        library.parse_options_set_all_short_connectors(options, int(all_short))
        library.parse_options_reset_resources(options)
        parsed = library.sentence_create(sentence.encode(), self._dictionary)
        try:
            return self._read(parsed, options, timeouts)
        finally:
            library.sentence_delete(parsed)
            library.parse_options_delete(options)

    def _read(self, parsed: int, options: int, timeouts: int) -> LinkAnswer:
        """The outcome of an attempt; `parsed` and `options` are pointers of the library."""
        library = self._library
        if library.sentence_split(parsed, options) < 0:
            return no_parse("unparsed", timeouts)
        linkages = library.sentence_parse(parsed, options)
        if linkages == TOO_LONG_CODE:
            return no_parse("too-long", timeouts)
        # Null counts mean nothing after a timeout or without a linkage.
        if library.parse_options_resources_exhausted(options):
            return no_parse("timeout", timeouts + 1)
        if linkages <= 0:
            return no_parse("unparsed", timeouts)
        return {
            "status": "parsed",
            "timeouts": timeouts,
            "null_count": library.sentence_null_count(parsed),
            "found": library.sentence_num_linkages_found(parsed),
            "post_processed": library.sentence_num_linkages_post_processed(parsed),
            "valid": library.sentence_num_valid_linkages(parsed),
            "cost": library.sentence_disjunct_cost(parsed, 0),
        }


def use_utf8_locale() -> None:
    """Sets a UTF-8 locale; without one the library treats every non-ASCII letter as a separator."""
    for name in ("C.UTF-8", "en_US.UTF-8"):
        try:
            locale.setlocale(locale.LC_ALL, name)
        except locale.Error:
            continue
        return


def main() -> None:
    # The library writes messages to both output streams, so answers use a copy of standard output, and
    # the two streams themselves are silenced.
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller handles Ctrl-C
    use_utf8_locale()
    try:
        parser = LinkParser(json.loads(sys.argv[1]))
    except OSError as error:
        print(json.dumps({"error": str(error)}), file=answers, flush=True)
        return
    print(json.dumps({"version": parser.version}), file=answers, flush=True)
    for line in sys.stdin.buffer:
        print(json.dumps(parser.parse(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
