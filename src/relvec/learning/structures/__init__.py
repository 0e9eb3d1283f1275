"""Structures of kernels: sums of products with tied precisions, their evidence and their search."""
