"""Samplers of the posterior against the No-U-Turn sampler on the same data."""
