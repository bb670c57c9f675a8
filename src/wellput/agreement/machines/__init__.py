"""Whether a machine or a metric may stand in for people (`vet`), and what it saves (`estimate`)."""
