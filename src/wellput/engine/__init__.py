"""Computes the statistics of all metrics on this machine or a cluster, and makes results of them:
scores, comparisons, stored runs."""
