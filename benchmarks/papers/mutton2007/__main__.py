"""`python -m benchmarks.papers.mutton2007`."""

from benchmarks.papers.mutton2007.page import main

main()
