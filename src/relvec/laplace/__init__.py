"""Latent functions with any likelihood: mode, curvature, evidence, gradient."""
