"""Files <-> nouns. Reading streams and raises one `InputError` for all that is wrong with a file;
writing replaces files whole or not at all."""

from wellput.io.brackets import format_constituent, parse_constituent, read_constituents
from wellput.io.conllu import format_tree, parse_tree, read_trees
from wellput.io.evalset_writer import write_evalset
from wellput.io.evalsets import open_evalset, read_evalset
from wellput.io.judgments import read_judgments, write_judgments
from wellput.io.lines import open_lines
from wellput.io.mqm import read_mqm
from wellput.io.mt_metrics_eval import read_human_scores
from wellput.io.output import check_distinct, check_writable, replacing, replacing_text
from wellput.io.segments import SegmentScore, SegmentWriter, read_segments, writing_segments
from wellput.io.tables import check_table, check_text

__all__ = [
    "SegmentScore",
    "SegmentWriter",
    "check_distinct",
    "check_table",
    "check_text",
    "check_writable",
    "format_constituent",
    "format_tree",
    "open_evalset",
    "open_lines",
    "parse_constituent",
    "parse_tree",
    "read_constituents",
    "read_evalset",
    "read_human_scores",
    "read_judgments",
    "read_mqm",
    "read_segments",
    "read_trees",
    "replacing",
    "replacing_text",
    "write_evalset",
    "write_judgments",
    "writing_segments",
]
