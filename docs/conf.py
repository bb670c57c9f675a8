"""Sphinx configuration."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

project = "wellput"
author = "The wellput authors"
copyright = "The wellput authors, Apache-2.0"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"exclude-members": "presented_by"}
html_theme = "furo"
html_title = "wellput"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_math_renderer = "mathml"
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# Output that begins with "#" looks like a prompt to the highlighter; it shows it plainly then.
suppress_warnings = ["misc.highlighting_failure"]


def inline_math(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block_math(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(f"<div class='math'>{convert(node.astext(), display='block')}</div>\n")
    raise nodes.SkipNode


CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)(?=(\w?))")


def as_rst(_: Sphinx, __: str, ___: str, ____: object, _____: object, lines: list[str]) -> None:
    """Docstrings write code in single backquotes and absolute values in bars."""
    text = CODE.sub(lambda m: f"``{m[1]}``" + ("\\ " if m[2] else ""), "\n".join(lines))
    lines[:] = [
        line if line.lstrip().startswith((">>>", "...")) else _without_bars(line)
        for line in text.split("\n")
    ]


def _without_bars(line: str) -> str:
    pieces = line.split("``")
    return "``".join(
        piece if place % 2 else piece.replace("|", r"\|") for place, piece in enumerate(pieces)
    )


def setup(app: Sphinx) -> None:
    """Formulas as MathML, which browsers know themselves: MathJax would come from the network."""
    app.connect("autodoc-process-docstring", as_rst, priority=400)  # before napoleon
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
