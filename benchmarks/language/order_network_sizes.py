"""What the sentences, the training and the shipped file of an order network have to agree on."""

N_PLACES = 10
"""Kinds of places that two words can have to each other in a tree."""
N_CLASSES = 7
"""Classes of numbers of daughters, of sizes, of depths."""
CHOSEN, PARSED = 1, 2
"""Numbers of `LABEL_SOURCES`."""
N_SHAPES, SHAPE_COLUMN = 6, 2
MATRIX_STEPS, TABLE_STEPS = 31, 5
"""The largest whole number that weights are rounded to."""
