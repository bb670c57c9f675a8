"""`python -m benchmarks.papers.bangalore2000`."""

from benchmarks.papers.bangalore2000.page import main

main()
