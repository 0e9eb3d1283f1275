"""Denoising: shift-averaged transforms, shared precisions, blends of transforms."""
