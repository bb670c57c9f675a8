"""Arrays in, Estimates out: how far a score can be trusted, whether a difference is real."""
