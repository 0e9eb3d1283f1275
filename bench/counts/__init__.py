"""Regression of counts: simulated rates with known truth, and insurance claims."""
