"""Files <-> nouns. Reading streams and raises one `InputError` for all that is wrong with a file;
writing replaces files whole or not at all."""

from wellput.io.conllu import format_tree, parse_tree, read_trees
from wellput.io.evalsets import open_evalset, read_evalset
from wellput.io.lines import open_lines
from wellput.io.output import check_writable, replacing, replacing_text

__all__ = [
    "check_writable",
    "format_tree",
    "open_evalset",
    "open_lines",
    "parse_tree",
    "read_evalset",
    "read_trees",
    "replacing",
    "replacing_text",
]
