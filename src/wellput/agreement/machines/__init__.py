"""Whether a machine judge or a metric may judge in place of people (`vet`), and how many judgments by
people it saves (`estimate`)."""
