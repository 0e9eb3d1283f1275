"""Classifiers side by side: cost, memory, errors and how far their probabilities can be trusted."""
