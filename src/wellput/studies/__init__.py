"""Studies: designs, assignment, store, web app. Needs the extra `judge`."""
