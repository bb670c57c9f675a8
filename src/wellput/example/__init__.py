"""Example data: that of `wellput demo` (announcements of a harbor town, with simulated judges), and
that of the docs' help desk."""
