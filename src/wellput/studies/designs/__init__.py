"""Ways of asking judges: one module per design, found by name in `registry`."""
