"""Finds the prose in text with markdown, HTML or LaTeX: `prose_in` removes code, formulas and markup.

Text without markup is not changed. Headings, cells of tables and captions are not sentences: they
become `asides`, which callers use only if a text has no other prose. The rules are for ordinary text
and are no complete parser: whatever is not clearly markup stays.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

HTML_NAMES = (
    "a|abbr|article|aside|b|blockquote|body|br|button|caption|center|cite|code|col|colgroup|dd|del|"
    "details|div|dl|dt|em|fieldset|figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|"
    "iframe|img|input|ins|kbd|label|legend|li|link|main|mark|meta|nav|ol|option|p|pre|q|s|samp|"
    "script|section|select|small|span|strike|strong|style|sub|summary|sup|table|tbody|td|textarea|"
    "tfoot|th|thead|title|tr|tt|u|ul|var|video|svg|path"
)
TAG = re.compile(rf"</?(?:{HTML_NAMES})(?:\s[^<>]{{0,2000}})?/?>", re.IGNORECASE)
HTML_UNREAD = re.compile(
    r"<!--.*?(?:-->|\Z)|<!DOCTYPE[^>]*>|<(script|style|pre|svg|head)\b[^>]*>.*?(?:</\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
BLOCK_TAG = re.compile(
    r"</?(?:article|aside|blockquote|body|br|caption|dd|div|dl|dt|figure|footer|form|header|hr|html|li|"
    r"main|nav|ol|p|section|summary|table|tbody|td|tfoot|th|thead|title|tr|ul)(?:\s[^<>]{0,2000})?/?>",
    re.IGNORECASE,
)
HTML_HEADING = re.compile(r"<(h[1-6]|td|th|caption|title)\b[^>]*>(.*?)</\1\s*>", re.I | re.S)

# `LATEX_UNREAD` and `LATEX_NO_TEXT` are removed with their contents; of `LATEX_WRAP` and other commands
# (`LATEX_WORD`), only the command is removed.
LATEX = re.compile(
    r"\\(?:begin|end|section|subsection|documentclass|usepackage|item|textbf|textit|emph|cite|ref|frac|"
    r"label|caption|title|chapter|paragraph|footnote|mathbf|mathrm|sum|int|sqrt|left|right|text)\b"
)
LATEX_UNREAD = re.compile(
    r"\\begin\{(equation|align|gather|multline|eqnarray|math|displaymath|verbatim|lstlisting|minted|"
    r"tabular|array|tikzpicture|algorithmic)(\*?)\}.*?(?:\\end\{\1\2\}|\Z)",
    re.DOTALL,
)
LATEX_COMMENT = re.compile(r"(?<!\\)%.*")
LATEX_HEADING = re.compile(
    r"\\(?:title|chapter|(?:sub)*section|paragraph|caption)\*?(?:\[[^\]]*\])?\{([^{}]*)\}"
)
LATEX_NO_TEXT = re.compile(
    r"\\(?:begin|end|label|ref|eqref|cite[a-z]*|documentclass|usepackage|includegraphics|input|include|"
    r"bibliography[a-z]*|pagestyle|vspace|hspace|setlength|newcommand|url)\*?(?:\[[^\]]*\])*(?:\{[^{}]*\})*"
)
LATEX_ITEM = re.compile(r"\\item\b(?:\[[^\]]*\])?")
LATEX_WRAP = re.compile(r"\\[a-zA-Z]+\*?\{([^{}]*)\}")
LATEX_WORD = re.compile(r"\\[a-zA-Z]+\*?\s?")
DISPLAY_FORMULA = re.compile(r"\$\$.+?\$\$|\\\[.+?\\\]", re.DOTALL)
FORMULA = re.compile(
    r"\$(?=[^$\n]*[\\^_=+{}<>])(?!\s)[^$\n]{1,300}(?<!\s)\$(?!\d)|\\\(.{1,300}?\\\)"
)
IN_PLACE_OF_FORMULA = "x"
"""The word that replaces formulas, and code that is not plain words, inside a sentence."""

FENCE = re.compile(r"^\s{0,8}(?:>\s*)*(`{3,}|~{3,})")
FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?:[\w-]+[ \t]*:.*\n|[ \t-].*\n)+---[ \t]*(?:\n|\Z)")
HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
UNDERLINE = re.compile(r"^\s{0,3}(?:=+|-{2,})\s*$")
RULE = re.compile(r"^\s{0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|(?:=\s*){3,})$")
TABLE_ROW = re.compile(r"^\s*\|.*\||^.*\S\s\|\s\S.*\s\|\s")
TABLE_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
LIST_ITEM = re.compile(r"^\s*(?:[-*+•–]|\(?\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(?=\S)")
QUOTE = re.compile(r"^\s{0,3}(?:>\s?)+")
LINK_DEFINITION = re.compile(r"^\s{0,3}\[[^\]^][^\]]*\]:\s*\S+")
IMAGE = re.compile(r"!\[[^\]\n]{0,500}\](?:\([^)\s]{0,2000}(?:\s+\"[^\"]*\")?\)|\[[^\]]{0,200}\])")
LINK = re.compile(
    r"\[([^\[\]\n]{1,500})\](?:\([^)\s]{0,2000}(?:\s+\"[^\"]*\")?\)|\[[^\]\n]{0,200}\])"
)
FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:?")
AUTOLINK = re.compile(r"<((?:https?|mailto):[^<>\s]+)>")
INLINE_CODE = re.compile(r"(`{1,2})(?!`)(.{1,500}?)(?<!`)\1(?!`)")
PLAIN_WORDS = re.compile(r"[^\W_]+(?:[ .'’-][^\W_]+)*")
STRONG = re.compile(r"(\*\*\*|\*\*|___|__)(?=\S)([^\n]{1,1000}?)(?<=\S)\1")
EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,500}?)(?<=[^\s*])\*(?![\w*])")
UNDERSCORED = re.compile(r"(?<!\w)_(?=[^\s_])([^_\n]{1,500}?)(?<=[^\s_])_(?!\w)")
STRUCK = re.compile(r"~~(?=\S)(.{1,500}?)(?<=\S)~~")

# Every text with markup contains a match of this pattern. Most texts contain none and need no more
# work.
TRIGGER = re.compile(
    r"```|~~~|`[^`\n]+`|</?[a-zA-Z!][^<>\n]*>|\]\(|\]\[|\[\^|\*\*\S|__\S|~~\S|(?<!\w)[*_](?=\w)|\\[a-zA-Z\[(]"
    r"|\$[^$\n]+\$|^\s{0,3}(?:#{1,6}\s|>|\|)|^\s*(?:[-*+•–]|\(?\d{1,3}[.)])\s+\S|^\s{0,3}(?:-{3,}|={3,}|\*{3,})\s*$"
    r"|\s\|\s.*\s\|\s|^\s{0,3}\[[^\]\n]+\]:",
    re.MULTILINE,
)


# Every match of `TRIGGER` contains one of these marks; they are searched first, because this is
# quicker.
MARK = re.compile(r"[`<\[*_~\\$|#>=•]|^\s*(?:[-+–]|\(?\d)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text without its markup. `paragraphs` are its prose, with the original line breaks; `asides`
    are headings, cells of tables and captions. `has_code` says whether code or formulas were
    removed."""

    paragraphs: tuple[str, ...]
    asides: tuple[str, ...] = ()
    has_code: bool = False


def has_markup(text: str) -> bool:
    """Whether a text may contain markup; `prose_in` does not change other texts."""
    return MARK.search(text) is not None and TRIGGER.search(text) is not None


def prose_in(text: str) -> MarkedText:
    """The prose of a text with markup.

    >>> prose_in("# Ferries\\n\\n- **Two** leave [today](x.html).\\n- Run `go`.\\n\\n```\\ngo()\\n```")
    MarkedText(paragraphs=('Two leave today.', 'Run go.'), asides=('Ferries',), has_code=True)
    """
    if not has_markup(text):
        return MarkedText((text,))
    reader = _Reader()
    text = FRONT_MATTER.sub("", text.replace("\r\n", "\n"))
    if LATEX.search(text):
        text = reader.without_latex(text)
    text = reader.without(DISPLAY_FORMULA, text)
    text = FORMULA.sub(IN_PLACE_OF_FORMULA, text)
    reader.read(text)
    paragraphs = tuple(filter(None, map(_plain, reader.paragraphs)))
    asides = tuple(filter(None, map(_plain, reader.asides)))
    return MarkedText(paragraphs, asides, reader.has_code)


class _Reader:
    """Collects the paragraphs and asides of a text line by line."""

    def __init__(self) -> None:
        self.paragraphs: list[str] = []
        self.asides: list[str] = []
        self.has_code = False
        self._paragraph: list[str] = []

    def without(self, pattern: re.Pattern[str], text: str) -> str:
        """The text without the matches of the pattern, which count as code or formulas."""
        remaining, n = pattern.subn("\n\n", text)
        self.has_code |= n > 0
        return remaining

    def without_latex(self, text: str) -> str:
        """The text without LaTeX commands; headings and captions become asides."""
        text = LATEX_COMMENT.sub("", self.without(LATEX_UNREAD, text))
        self.asides += LATEX_HEADING.findall(text)
        text = LATEX_HEADING.sub("\n\n", text)
        text = LATEX_NO_TEXT.sub(" ", LATEX_ITEM.sub("\n\n", text))
        for _ in range(3):  # commands within commands
            text = LATEX_WRAP.sub(r"\1", text)
        text = re.sub(r"\\([%&#$_{}])", r"\1", LATEX_WORD.sub(" ", text))
        text = text.replace("~", " ").replace("\\\\", "\n")
        return re.sub(r"[ \t]+(?=[.,;:!?)])", "", text)

    def without_html(self, text: str) -> str:
        """The text without HTML tags; headings, cells and captions become asides."""
        text = self.without(HTML_UNREAD, text)
        self.asides += [_untagged(inner) for _, inner in HTML_HEADING.findall(text)]
        text = BLOCK_TAG.sub("\n\n", HTML_HEADING.sub("\n\n", text))
        return _untagged(text)

    def read(self, text: str) -> None:
        """Reads all lines of a text."""
        lines = list(_outside_fences(text))
        self.has_code |= len(lines) < text.count("\n") + 1
        without_code = "\n".join(lines)
        if TAG.search(without_code) or "<!--" in without_code or "<!DOCTYPE" in without_code:
            lines = self.without_html(without_code).split("\n")
        for line in lines:
            self._line(line)
        self._end_paragraph()

    def _line(self, line: str) -> None:
        """Reads a line: it continues a paragraph, begins one, or is an aside (a heading, a cell of a
        table)."""
        line = QUOTE.sub("", line)
        if self._paragraph and UNDERLINE.match(line):
            self.asides.append(self._paragraph.pop())
            self._end_paragraph()
        elif not line.strip() or RULE.match(line) or LINK_DEFINITION.match(line):
            self._end_paragraph()
        elif (heading := HEADING.match(line)) is not None:
            self._end_paragraph()
            self.asides.append(heading[1])
        elif TABLE_RULE.match(line) or TABLE_ROW.match(line):
            self._end_paragraph()
            if not TABLE_RULE.match(line):
                self.asides += [cell.strip() for cell in line.strip().strip("|").split("|")]
        else:
            if (item := LIST_ITEM.match(line)) is not None:
                self._end_paragraph()
                line = line[item.end() :]
            self._paragraph.append(line)

    def _end_paragraph(self) -> None:
        if self._paragraph:
            self.paragraphs.append("\n".join(self._paragraph))
            self._paragraph = []


def _outside_fences(text: str) -> Iterator[str]:
    """The lines that are not in fenced blocks of code. A block without a closing fence goes on to the
    end of the text. If a line has an opening and a closing fence, only the text after them is
    given."""
    fence = ""
    for line in text.split("\n"):
        fence_match = FENCE.match(line)
        if fence:
            if (
                fence_match is not None
                and fence_match[1].startswith(fence)
                and not line.strip(" >`~")
            ):
                fence = ""
        elif fence_match is not None:
            after_fence = line[fence_match.end() :]
            closing = after_fence.find(fence_match[1])
            fence = "" if closing >= 0 else fence_match[1]
            if closing >= 0 and (after := after_fence[closing + len(fence_match[1]) :].strip()):
                yield after
        else:
            yield line


def _untagged(text: str) -> str:
    return html.unescape(TAG.sub("", text))


def _code_word(code: re.Match[str]) -> str:
    return code[2] if PLAIN_WORDS.fullmatch(code[2]) else IN_PLACE_OF_FORMULA


def _plain(text: str) -> str:
    """A paragraph without the markup inside its lines, such as links and emphasis."""
    text = LINK.sub(r"\1", IMAGE.sub("", text))
    text = FOOTNOTE.sub("", AUTOLINK.sub(r"\1", text))
    text = INLINE_CODE.sub(_code_word, text)
    for _ in range(2):  # strong text within strong text
        text = STRONG.sub(r"\2", text)
    for pattern in (EMPHASIS, UNDERSCORED, STRUCK):
        text = pattern.sub(r"\1", text)
    return text.strip()
