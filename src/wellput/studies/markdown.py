"""Markdown as HTML that is safe to show: nothing in it runs, and nothing is fetched.

HTML inside markdown is cleaned by a list of allowed tags and attributes. Images and sounds are shown
only if they are part of the text (data URIs). Formulas in LaTeX become MathML, the language of formulas
that browsers show without a script; MathML, too, is cleaned by a list of allowed elements.
"""

from __future__ import annotations

import html
import re
import secrets
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

import nh3
from latex2mathml.converter import convert_to_element
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

if TYPE_CHECKING:
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

MAX_CHARACTERS = 50_000
MAX_MARKS = 2000
MAX_TABLE_CELLS = 10_000
"""Texts with more characters, with more of one mark ("<", "[", "$" or "\\("), or with tables that may
have more cells are shown as plain text: a page must not take seconds to make. The characters of images
and sounds do not count."""
MAX_NESTING = 60
"""The parser leaves out parts that are nested deeper, so texts with such parts are shown as plain
text."""
MAX_FORMULA_CHARACTERS = 2000
TEXTS_IN_MEMORY = 1024
MAX_CHARACTERS_IN_MEMORY = 100_000
"""The pages of longer texts are not kept in memory: large images would fill it."""

IMAGE_DATA = re.compile(r"data:image/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=\s]+", re.I)
AUDIO_DATA = re.compile(r"data:audio/[a-z0-9.+-]+;base64,[A-Za-z0-9+/=\s]+", re.I)
"""The images and sounds that are shown."""
DATA = re.compile(r"data:(?:image|audio)/[^;,\s]{1,40};base64,[A-Za-z0-9+/=]+")
"""Any image or sound that is part of a text: its characters are not counted."""
TABLE_RULE = re.compile(r"^[ \t>]*[|:-][ \t|:-]*$", re.M)
"""The line below the header of a table, which says how many columns each row has."""
LINK = re.compile(r"(?:https?://|mailto:)[^\s]+", re.I)

HEADINGS = ("h2", "h3", "h4", "h5")
ALLOWED_TAGS = {
    "a", "abbr", "audio", "b", "blockquote", "br", "cite", "code", "dd", "del", "details", "div", "dl",
    "dt", "em", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "samp",
    "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead",
    "tr", "u", "ul", "var", *HEADINGS,
}  # fmt: skip
ALLOWED_ATTRIBUTES = {
    "a": {"href", "title"},
    "abbr": {"title"},
    "audio": {"src"},
    "img": {"src", "alt", "title"},
    "li": {"value"},
    "ol": {"start"},
    "span": {"data-formula"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
}
ALIGNMENTS = {"text-align:right": "end", "text-align:center": "center"}
AUTO_DIRECTION = ("p", "li", "blockquote", "td", "th", "dt", "dd", "summary", *HEADINGS)
"""Elements that are laid out from left to right, or from right to left, as their first letter is."""


def _allowed_value(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "href":
        return value if LINK.fullmatch(value) else None
    if attribute == "src":
        pattern = AUDIO_DATA if tag == "audio" else IMAGE_DATA
        return value if pattern.fullmatch(value) else None
    return value


CLEANER = nh3.Cleaner(
    tags=ALLOWED_TAGS,
    attributes=ALLOWED_ATTRIBUTES,
    attribute_filter=_allowed_value,
    allowed_classes={"td": set(ALIGNMENTS.values()), "th": set(ALIGNMENTS.values())},
    set_tag_attribute_values={
        "a": {"target": "_blank"},
        "audio": {"controls": "controls", "preload": "none"},
        "pre": {"dir": "ltr"},
        "code": {"dir": "ltr"},
        **{tag: {"dir": "auto"} for tag in AUTO_DIRECTION},
    },
    url_schemes={"http", "https", "mailto", "data"},
    link_rel="noopener noreferrer nofollow",
)


def rendered(text: str) -> Markup:
    """Markdown as HTML. The result is kept in memory, so a text is not rendered again for every
    judge."""
    return _remembered(text) if len(text) <= MAX_CHARACTERS_IN_MEMORY else _rendered(text)


def _rendered(text: str) -> Markup:
    """The text as safe HTML; as plain text if it would take too long to make."""
    plain = Markup('<p dir="auto" class="as-it-is">{}</p>').format(text)
    if _is_too_much(text):
        return plain
    env = _new_env()
    formulas: dict[str, str] = env["formulas"]
    tokens = PARSER.parse(text, env)
    if _is_too_deep(tokens) or _repeats_too_much(tokens, text):
        return plain
    _rank_headings(tokens)
    unsafe_html = PARSER.renderer.render(tokens, PARSER.options, env)
    safe_html = CLEANER.clean(unsafe_html)
    # In text and in attributes the cleaner escapes < or ", so only elements can match.
    placeholder = re.compile(rf'<span data-formula="({env["formula_key"]}-\d+)"></span>')
    return Markup(placeholder.sub(lambda match: formulas[match[1]], safe_html))


_remembered = lru_cache(TEXTS_IN_MEMORY)(_rendered)


def image_addresses(text: str) -> set[str]:
    """The addresses of the images of a text. Something that only looks like an image, as in a piece of
    code, does not count."""
    tokens = [] if _is_too_much(text) else PARSER.parse(text, _new_env())
    inside = (child for token in tokens for child in token.children or ())
    return {str(child.attrGet("src")) for child in inside if child.type == "image"}


def _new_env() -> dict[str, Any]:
    """What the parser notes of one text: its formulas as MathML, by placeholder."""
    # The key is random, so a text cannot forge the placeholder of a formula.
    return {"formulas": {}, "formula_key": secrets.token_hex(8)}


def _is_too_much(text: str) -> bool:
    """Whether a text is over the limits for characters, marks or table cells."""
    words = DATA.sub("", text) if len(text) > MAX_CHARACTERS else text
    if len(words) > MAX_CHARACTERS or max(map(words.count, ("<", "[", "$", "\\("))) > MAX_MARKS:
        return True
    # Each row gets as many cells as the line below the header has columns, even if it is shorter.
    columns = max((rule.count("|") for rule in TABLE_RULE.findall(words)), default=0)
    return columns * words.count("\n") > MAX_TABLE_CELLS


def _is_too_deep(tokens: Sequence[Token]) -> bool:
    return any(token.level >= MAX_NESTING - 1 for token in tokens)


def _repeats_too_much(tokens: Sequence[Token], text: str) -> bool:
    """Whether the addresses of links and images would make the page much longer than the text: markdown
    can give an address once and use it a thousand times."""
    inside = [child for token in tokens for child in token.children or ()]
    addresses = sum(len(str(value)) for token in inside for value in token.attrs.values())
    return addresses > 2 * len(text) + MAX_CHARACTERS


def _rank_headings(tokens: Sequence[Token]) -> None:
    """Changes the levels of the headings: below the headings of the page, without skipping a level."""
    used = sorted({token.tag for token in tokens if token.type == "heading_open"})
    names = {tag: HEADINGS[min(rank, len(HEADINGS) - 1)] for rank, tag in enumerate(used)}
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = names[token.tag]


# Two rules for formulas, in the form that the parser prescribes. A rule returns whether a formula
# begins at the current place, and moves the place behind it. If `silent`, nothing is added to the
# result.

DELIMITERS = {"\\(": "\\)", "\\[": "\\]", "$$": "$$"}
ENVIRONMENT = re.compile(r"\\begin\{((?:equation|align|gather|multline|eqnarray)\*?)\}")


def _inline_formula(state: StateInline, silent: bool) -> bool:
    """The rule for a formula in a line, between $ and $ or \\( and \\)."""
    text, begin = state.src, state.pos
    opening = text[begin : begin + 2]
    closing = DELIMITERS.get(opening)
    if closing is None and opening[:1] == "$" and not opening[1:].isspace():
        opening = closing = "$"
    if closing is None:
        return False
    inner = begin + len(opening)
    end = text.find(closing, inner, min(inner + MAX_FORMULA_CHARACTERS, state.posMax))
    latex = text[inner : max(end, inner)]
    after = text[end + len(closing) : end + len(closing) + 1]
    # What stands between two $ may also be prices: a formula has no line break, no blank before the
    # second $, and no digit after it.
    if not latex.strip() or (
        closing == "$" and ("\n" in latex or latex[-1].isspace() or after.isdecimal())
    ):
        return False
    if not silent:
        _add_formula(state, latex, is_block=opening in ("\\[", "$$"))
    state.pos = end + len(closing)
    return True


def _block_formula(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """The rule for a formula on lines of its own."""
    text = state.src
    begin = state.bMarks[start_line] + state.tShift[start_line]  # after the indentation
    opening = text[begin : begin + 2]
    if environment := ENVIRONMENT.match(text, begin):
        inner, closing = begin, f"\\end{{{environment[1]}}}"
    elif opening in ("$$", "\\["):
        inner, closing = begin + 2, DELIMITERS[opening]
    else:
        return False
    limit = min(begin + MAX_FORMULA_CHARACTERS, state.eMarks[end_line - 1])
    end = text.find(closing, begin + 2, limit)
    rest = text[end + len(closing) : limit].partition("\n")[0]
    latex = text[inner : max(end, inner)]
    if not latex.strip() or rest.strip():
        return False
    if not silent:
        _add_formula(state, f"{latex}{closing}" if environment else latex, is_block=True)
    state.line = start_line + text.count("\n", begin, end) + 1
    return True


def _add_formula(state: StateBlock | StateInline, latex: str, *, is_block: bool) -> None:
    """Adds a placeholder to the result, and notes the formula that will replace it."""
    formulas: dict[str, str] = state.env["formulas"]
    key = f"{state.env['formula_key']}-{len(formulas)}"
    token = state.push("formula", "", 0)
    token.content = f'<span data-formula="{key}"></span>'
    formulas[key] = mathml(latex, is_block=is_block)


MATHML_TAGS = {
    "math", "menclose", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom",
    "mprescripts", "mroot", "mrow", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable",
    "mtd", "mtext", "mtr", "munder", "munderover", "none",
}  # fmt: skip
MATHML_ATTRIBUTES = {
    "accent", "accentunder", "columnalign", "columnlines", "columnspacing", "depth", "displaystyle",
    "fence", "form", "height", "largeop", "linethickness", "lspace", "mathcolor", "mathvariant",
    "maxsize", "minsize", "movablelimits", "notation", "rowlines", "rowspacing", "rspace",
    "scriptlevel", "separator", "stretchy", "symmetric", "voffset", "width",
}  # fmt: skip
MATHML_VALUE = re.compile(r"[\w.#% +-]{1,60}")
MATHML_LENGTHS = {
    "columnspacing", "depth", "height", "linethickness", "lspace", "maxsize", "minsize", "rowspacing",
    "rspace", "voffset", "width",
}  # fmt: skip
LENGTH = re.compile(r"([+-]?(?:[0-9]{1,6}(?:\.[0-9]{0,6})?|\.[0-9]{1,6}))(em|ex|mu|pt|px|mm|cm|in)")
EM_OF_UNIT = {
    "em": 1, "ex": 0.5, "mu": 1 / 18, "pt": 1 / 12, "px": 1 / 16, "mm": 0.24, "cm": 2.4, "in": 6,
}  # fmt: skip
MAX_LENGTH_EM = 10
"""Longer lengths are left out of formulas: they would make the page too large to use, or move words far
from their place."""


@lru_cache(4 * TEXTS_IN_MEMORY)
def mathml(latex: str, *, is_block: bool = False) -> str:
    """A formula as MathML; as the LaTeX code where the converter cannot read it."""
    if len(latex) <= MAX_FORMULA_CHARACTERS:
        try:
            root = convert_to_element(latex.strip(), display="block" if is_block else "inline")
            inner = "".join(map(_safe_mathml, root))
        except Exception:  # the converter raises many kinds of errors; the formula is shown as code
            inner = ""
        if inner:
            display = 'display="block" tabindex="0"' if is_block else 'display="inline"'
            return f'<math dir="ltr" {display} alttext="{escape(latex.strip())}">{inner}</math>'
    return f'<code dir="ltr">{escape(latex)}</code>'


def _safe_mathml(element: Element) -> str:
    """An element with its allowed attributes; of an element that is not allowed, only its contents."""
    # The converter writes some characters as references such as &#x002B;.
    text = escape(html.unescape(element.text or ""))
    inside = f"{text}{''.join(_safe_mathml(part) for part in element)}"
    if element.tag not in MATHML_TAGS or element.tag == "math":
        return f"<mrow>{inside}</mrow>" if element.tag == "math" else inside
    attributes = "".join(
        f' {name}="{escape(value)}"'
        for name, value in element.attrib.items()
        if name in MATHML_ATTRIBUTES and MATHML_VALUE.fullmatch(value)
        if name not in MATHML_LENGTHS or all(map(_is_short, value.split()))
    )
    return f"<{element.tag}{attributes}>{inside}</{element.tag}>"


def _is_short(length: str) -> bool:
    """Whether a text is a length within the limit.

    >>> _is_short("-.2em"), _is_short("0"), _is_short("99cm"), _is_short("5 parsec")
    (True, True, False, False)
    """
    found = LENGTH.fullmatch(length)
    if found is None:
        return length == "0"
    return abs(float(found[1])) * EM_OF_UNIT[found[2]] <= MAX_LENGTH_EM


# Images and tables.


def _image(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType
) -> str:
    """An image or a sound that is part of the text; for an image at an address, only its
    description."""
    token = tokens[place]
    source = str(token.attrGet("src") or "")
    words = renderer.renderInlineAsText(token.children, options, env)
    if AUDIO_DATA.fullmatch(source):
        label = f"<br><small>{escape(words)}</small>" if words else ""
        return f'<audio src="{escape(source)}"></audio>{label}'
    if IMAGE_DATA.fullmatch(source):
        return f'<img src="{escape(source)}" alt="{escape(words)}">'
    return f"<em>[{escape(words or source)}]</em>"


def _cell(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType
) -> str:
    """A cell of a table, aligned by a class, since the cleaner removes styles."""
    token = tokens[place]
    alignment = ALIGNMENTS.get(str(token.attrs.pop("style", "")))
    if alignment:
        token.attrSet("class", alignment)
    return renderer.renderToken(tokens, place, options, env)


def _formula(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType
) -> str:
    """The placeholder of a formula."""
    return tokens[place].content


def _parser() -> MarkdownIt:
    """The markdown parser with the rules of this module."""
    parser = MarkdownIt("commonmark", {"html": True, "breaks": True, "maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # the cleaner decides
    parser.inline.ruler.before("escape", "formula", _inline_formula)
    parser.block.ruler.before(
        "fence", "formula", _block_formula, {"alt": ["paragraph", "blockquote", "list"]}
    )
    rules: dict[str, Callable[..., str]] = {
        "image": _image,
        "formula": _formula,
        "td_open": _cell,
        "th_open": _cell,
    }
    for name, rule in rules.items():
        parser.add_render_rule(name, rule)
    return parser


PARSER = _parser()
