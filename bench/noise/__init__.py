"""Noise that varies: heteroscedastic regression against its peers."""
