"""The report people open: one HTML file that needs nothing else. Python computes, the page shows."""
