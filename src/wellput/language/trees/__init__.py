"""Dependency trees at work: laid over a tokenization, cut into treelets."""
