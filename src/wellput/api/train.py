"""`train`: models from text and trees, a function for each kind."""

from __future__ import annotations

from wellput.api.train_english import english as english
from wellput.api.train_fluency import fluency as fluency
from wellput.api.train_lm import lm as lm
from wellput.api.train_paraphrase import paraphrase as paraphrase
from wellput.api.train_parser import parser as parser
from wellput.api.train_tree import tree as tree
