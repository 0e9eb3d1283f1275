"""Linear maps from atoms' weights to samples."""

from relvec.dictionaries.base import BLOCK_BYTES, Dictionary
from relvec.dictionaries.kernel import KernelDictionary, LazyDictionary
from relvec.dictionaries.matrix import DenseDictionary, SparseDictionary
from relvec.dictionaries.union import UnionDictionary

__all__ = [
    "BLOCK_BYTES",
    "DenseDictionary",
    "Dictionary",
    "KernelDictionary",
    "LazyDictionary",
    "SparseDictionary",
    "UnionDictionary",
]
