"""Sphinx configuration."""

project = "wellput"
author = "The wellput authors"
copyright = "The wellput authors, Apache-2.0"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "wellput"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# Output that begins with "#" looks like a prompt to the highlighter; it shows it plainly then.
suppress_warnings = ["misc.highlighting_failure"]
