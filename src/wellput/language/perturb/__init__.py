"""Makes one change of known kind in a text: a harmful one that a metric should notice, or a harmless
one."""
