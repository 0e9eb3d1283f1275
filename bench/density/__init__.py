"""Densities of one and two variables against kernel density estimates."""
