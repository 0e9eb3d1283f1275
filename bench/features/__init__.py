"""Choosing inputs: what it costs, whether the right ones are found, and whether it helps."""
