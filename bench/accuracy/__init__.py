"""Models of relvec as they come beside tuned peers: errors, densities, probabilities, CPU."""
