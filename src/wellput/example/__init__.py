"""The embedded example of `wellput demo`: announcements of a harbor town, and simulated judges."""
