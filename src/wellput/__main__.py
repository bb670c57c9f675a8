"""`python -m wellput`: the command line."""

from wellput.cli import main

main()
