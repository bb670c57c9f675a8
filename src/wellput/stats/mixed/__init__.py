"""Mixed models of judgments: systems are fixed, judges, items and documents are random.

`linear` is for ratings, `laplace` for yes or no, grades and choices."""
