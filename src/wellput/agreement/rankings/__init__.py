"""Who won, according to people."""
