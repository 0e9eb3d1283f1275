"""Dictionaries: linear maps ``Phi`` from weights to samples, with atoms as columns."""

from relvec.dictionaries.base import BLOCK_BYTES, Dictionary
from relvec.dictionaries.filter_bank import Subband
from relvec.dictionaries.lazy import LazyDictionary
from relvec.dictionaries.matrix import DenseDictionary, SparseDictionary
from relvec.dictionaries.transform import (
    CosineDictionary,
    ReorderedDictionary,
    TransformDictionary,
    WaveletDictionary,
)
from relvec.dictionaries.union import UnionDictionary

__all__ = [
    "BLOCK_BYTES",
    "CosineDictionary",
    "DenseDictionary",
    "Dictionary",
    "LazyDictionary",
    "ReorderedDictionary",
    "SparseDictionary",
    "Subband",
    "TransformDictionary",
    "UnionDictionary",
    "WaveletDictionary",
]
