"""The denoising suite: cost, error on signals and images, noise levels, memory."""
