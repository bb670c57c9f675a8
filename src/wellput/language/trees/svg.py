"""Trees as SVG pictures.

A picture needs no script, style sheet or font file, and has a title and a description for screen
readers. A position has two coordinates in pixels: `along` the sentence and `above` the words. A
sentence up to `width` pixels wide is drawn from left to right with its tree above it. A longer
sentence is drawn from top to bottom with a word on each line and its tree to the left (*upright*), so
that it fits a page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate

from wellput.core.tree import Constituent, Tree
from wellput.language.trees.constituents import fold, without_nameless_bracket
from wellput.language.trees.drawing import (
    DrawnArc,
    arcs,
    on_one_line,
    shown_relation,
    shown_tag,
    terminal_columns,
)

FONT_PIXELS = 16.0
SMALL_FONT_PIXELS = 11.5
CHARACTER_WIDTH = 0.56  # of the font size: a little over the mean of common sans-serif fonts
MARGIN_PIXELS = 16.0
WORD_GAP_PIXELS = 22.0  # between words
LEVEL_PIXELS = 30.0  # between the heights of arcs
LINE_PIXELS = 26.0  # from word to word, one below the other
ARROW_PIXELS = 6.0
CORNER_PIXELS = 10.0  # the radius of an arc's corners
SPREAD_PIXELS = 6.0  # how far beside a head's middle its arcs leave

INK_COLOR, QUIET_COLOR, LINE_COLOR, ROOT_COLOR = "#1b1f24", "#57606a", "#6e7fa3", "#b3471d"


def dependencies_svg(tree: Tree, *, width: float = 1200.0) -> str:
    """The tree as arcs with its relations, its words and their tags; the root's word is marked."""
    forms = [on_one_line(word.form) for word in tree.words]
    tags = [shown_tag(tree, place) for place in range(len(forms))]
    relations = [shown_relation(tree, place) for place in range(len(forms))]
    drawn_arcs = arcs(tree)
    widths = [
        max(_length(form, FONT_PIXELS), _length(tagged, SMALL_FONT_PIXELS))
        for form, tagged in zip(forms, tags, strict=True)
    ]
    # Neighbors are widened where the relation of the arc between them needs more room.
    for arc in drawn_arcs:
        first, last = arc.ends
        needed = (
            _length(relations[arc.word - 1], SMALL_FONT_PIXELS)
            + 3 * CORNER_PIXELS
            + 2 * SPREAD_PIXELS
        )
        missing = needed - (widths[first - 1] + widths[last - 1]) / 2 - WORD_GAP_PIXELS
        if last == first + 1 and missing > 0:
            widths[first - 1] += missing
            widths[last - 1] += missing
    is_upright = sum(widths) + WORD_GAP_PIXELS * len(widths) > width
    top = max((arc.height for arc in drawn_arcs), default=0) * LEVEL_PIXELS
    page = _Page(MARGIN_PIXELS + top + ARROW_PIXELS, is_upright=is_upright)
    places = _places(widths, is_upright=is_upright)
    for arc in drawn_arcs:
        _draw_arc(page, arc, places, relations[arc.word - 1])
    inks = [INK_COLOR if word.head else ROOT_COLOR for word in tree.words]
    # An upright tree has no room for relations on short arcs: they stand beside the words.
    page.words(places, [forms, tags, relations] if is_upright else [forms, tags], inks)
    return page.svg(f"Dependency tree: {' '.join(forms)}", _described(tree, forms, relations))


def constituent_svg(constituent: Constituent, *, width: float = 1200.0) -> str:
    """The phrases as a tree over the words, with the parts of speech below them."""
    constituent = without_nameless_bracket(constituent)
    leaves: list[Constituent] = []
    fold(constituent, lambda node, _: None if node.children else leaves.append(node))
    forms = [on_one_line(leaf.word or "") for leaf in leaves]
    tags = [on_one_line(leaf.label) for leaf in leaves]
    widths = [
        max(_length(form, FONT_PIXELS), _length(tagged, SMALL_FONT_PIXELS))
        for form, tagged in zip(forms, tags, strict=True)
    ]
    is_upright = sum(widths) + WORD_GAP_PIXELS * len(widths) > width
    nodes = _levels(constituent)
    # From level to level, in pixels; in an upright tree, labels must fit between the levels.
    step = LEVEL_PIXELS + 8
    if is_upright:
        step = (
            max(
                [_length(on_one_line(node.label), SMALL_FONT_PIXELS) for node, *_ in nodes],
                default=0,
            )
            + 18
        )
    top = max((level for _, level, _ in nodes), default=0) * step
    page = _Page(
        MARGIN_PIXELS + top + ARROW_PIXELS + (step / 2 if is_upright else 0), is_upright=is_upright
    )
    places = _places(widths, is_upright=is_upright)
    page.words(places, [forms, tags], [INK_COLOR] * len(forms))
    _draw_phrases(page, nodes, places, step)
    return page.svg(f"Constituents: {' '.join(forms)}", fold(constituent, _bracketed))


@dataclass
class _Position:
    """Where a node stands, in pixels along the sentence and above the words."""

    along: float
    above: float


class _Page:
    """Collects the elements of the drawing. If it `is_upright`, the sentence runs from top to bottom.
    `floor` is where the words begin, in pixels from the top, or from the left if it is upright."""

    def __init__(self, floor: float, *, is_upright: bool) -> None:
        self.floor = floor
        self.is_upright = is_upright
        self.drawn: list[str] = []
        self.right = self.bottom = 0.0

    def point(self, along: float, above: float) -> tuple[float, float]:
        """The x and y of a position on the page."""
        return (self.floor - above, along) if self.is_upright else (along, self.floor - above)

    def path(
        self, commands: Sequence[tuple[str, Sequence[tuple[float, float]]]], look: str
    ) -> None:
        """Draws an SVG path. A command is a letter (such as M for a move) with its positions; `look`
        are the attributes of color and line."""
        text = " ".join(
            letter + " ".join("{:.1f},{:.1f}".format(*self.point(*end)) for end in positions)
            for letter, positions in commands
        )
        self.drawn.append(f'<path d="{text}" {look}/>')

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        ink: str,
        *,
        anchor: str = "middle",
        halo: bool = False,
    ) -> None:
        """Draws text whose middle line is at y. A halo (a white outline) keeps text readable on a
        line."""
        if not text:
            return
        look = ' stroke="#fff" stroke-width="5" paint-order="stroke"' if halo else ""
        self.drawn.append(
            f'<text x="{x:.1f}" y="{y + size * 0.35:.1f}" font-size="{size}" fill="{ink}"'
            f' text-anchor="{anchor}"{look}>{escape(text)}</text>'
        )
        length = _length(text, size)
        edge = x + length if anchor == "start" else x + length / 2
        self.right = max(self.right, edge)
        self.bottom = max(self.bottom, y + size / 2)

    def words(
        self, places: Sequence[float], rows: Sequence[Sequence[str]], inks: Sequence[str]
    ) -> None:
        """The first row has the words; the others (tags, relations) go below or beside them."""
        offset = 10.0 if self.is_upright else 14.0
        for number, row in enumerate(rows):
            size = SMALL_FONT_PIXELS if number else FONT_PIXELS
            for along, text, ink in zip(places, row, inks, strict=True):
                x, y = self.point(along, -offset)
                anchor = "start" if self.is_upright else "middle"
                self.text(x, y, text, size, QUIET_COLOR if number else ink, anchor=anchor)
            widest = max((_length(text, size) for text in row), default=0.0)
            if any(row):
                offset += widest + 16 if self.is_upright else 19

    def svg(self, title: str, description: str) -> str:
        wide, high = self.right + MARGIN_PIXELS, self.bottom + MARGIN_PIXELS
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{wide:.0f}"'
                f' height="{high:.0f}" viewBox="0 0 {wide:.0f} {high:.0f}"'
                ' font-family="system-ui, sans-serif">',
                f"<title>{escape(title)}</title>",
                f"<desc>{escape(description)}</desc>",
                '<rect width="100%" height="100%" fill="#fff"/>',
                *self.drawn,
                "</svg>\n",
            ]
        )


def _draw_arc(page: _Page, arc: DrawnArc, places: Sequence[float], label: str) -> None:
    """Draws an arc with its arrow and its relation."""
    shift = SPREAD_PIXELS if arc.word > arc.head else -SPREAD_PIXELS
    start, end = places[arc.head - 1] + shift, places[arc.word - 1]
    # The lowest arcs run 20 pixels above the words.
    above = arc.height * LEVEL_PIXELS - (LEVEL_PIXELS - 20)
    bend = min(CORNER_PIXELS, abs(end - start) / 2) * (1 if end > start else -1)
    page.path(
        [
            ("M", [(start, 0)]),
            ("L", [(start, above - abs(bend))]),
            ("Q", [(start, above), (start + bend, above)]),
            ("L", [(end - bend, above)]),
            ("Q", [(end, above), (end, above - abs(bend))]),
            ("L", [(end, ARROW_PIXELS)]),
        ],
        f'fill="none" stroke="{LINE_COLOR}" stroke-width="1.4"',
    )
    page.path(
        [
            ("M", [(end, 0)]),
            ("L", [(end - 3.6, ARROW_PIXELS + 1)]),
            ("L", [(end + 3.6, ARROW_PIXELS + 1)]),
            ("Z", []),
        ],
        f'fill="{LINE_COLOR}"',
    )
    if label and not page.is_upright:
        page.text(
            *page.point((start + end) / 2, above), label, SMALL_FONT_PIXELS, QUIET_COLOR, halo=True
        )


LeveledNode = tuple[Constituent, int, int]  # node, its level above the words, its number of parts


def _levels(constituent: Constituent) -> list[LeveledNode]:
    """The nodes bottom-up and from left to right; a word is at level 0."""
    leveled_nodes: list[LeveledNode] = []

    def visit(node: Constituent, levels: list[int]) -> int:
        level = 1 + max(levels) if levels else 0
        leveled_nodes.append((node, level, len(levels)))
        return level

    fold(constituent, visit)
    return leveled_nodes


def _draw_phrases(
    page: _Page, nodes: Sequence[LeveledNode], places: Sequence[float], step: float
) -> None:
    """Draws the phrases over the words. `places` are the middles of the words along the sentence, and
    `step` is the distance between levels, in pixels."""
    positions: list[_Position] = []
    word_places = iter(places)
    for node, level, count in nodes:
        if count == 0:
            positions.append(_Position(next(word_places), 0.0))
            continue
        parts = positions[-count:]
        del positions[-count:]
        position = _Position((parts[0].along + parts[-1].along) / 2, level * step)
        # Lines at right angles never cross another phrase; slanting ones do in long sentences.
        for part in parts:
            # The line ends above the label of a phrase, or near the word.
            foot = part.above + (9 if part.above else 2)
            aside = part.along - position.along
            bend = min(CORNER_PIXELS / 2, abs(aside))
            corner = part.along - math.copysign(bend, aside)
            page.path(
                [
                    ("M", [(position.along, position.above)]),
                    ("L", [(corner, position.above)]),
                    ("Q", [(part.along, position.above), (part.along, position.above - bend)]),
                    ("L", [(part.along, foot)]),
                ],
                f'fill="none" stroke="{LINE_COLOR}" stroke-width="1.2"',
            )
        x, y = page.point(position.along, position.above)
        page.text(x, y, on_one_line(node.label), SMALL_FONT_PIXELS + 1.5, INK_COLOR, halo=True)
        positions.append(position)


def _described(tree: Tree, forms: Sequence[str], relations: Sequence[str]) -> str:
    """The tree in words, for a screen reader."""
    clauses: list[str] = []
    for form, word, name in zip(forms, tree.words, relations, strict=True):
        if word.head == 0:
            clauses.append(f"{form} is the root")
        else:
            clauses.append(
                f"{form} depends on {forms[word.head - 1]}" + (f" ({name})" if name else "")
            )
    return "; ".join(clauses)


def _bracketed(node: Constituent, parts: list[str]) -> str:
    return f"({on_one_line(node.label)} {on_one_line(node.word or '')}{' '.join(parts)})"


def _places(widths: Sequence[float], *, is_upright: bool) -> list[float]:
    """The middle of each word along the sentence, in pixels; if it `is_upright`, each word has a line
    of its own."""
    if is_upright:
        return [MARGIN_PIXELS + LINE_PIXELS * (place + 0.5) for place in range(len(widths))]
    ends = accumulate((width + WORD_GAP_PIXELS for width in widths), initial=MARGIN_PIXELS)
    return [end + width / 2 for end, width in zip(ends, widths, strict=False)]


def _length(text: str, size: float) -> float:
    """The estimated width of a text in pixels; `size` is the font size."""
    return terminal_columns(text) * size * CHARACTER_WIDTH
