"""Hyper-parameters of bases with a prior spectrum."""

from relvec.learning.prior_spectra.learn import has_unset_parameters, learn_prior_spectra

__all__ = ["has_unset_parameters", "learn_prior_spectra"]
