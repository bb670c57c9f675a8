"""The report for browsers: one HTML file that needs no other. Python computes what the page shows."""
