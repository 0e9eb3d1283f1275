"""Amounts in units of the target: differences on a transformed scale as text."""

from __future__ import annotations

import math
from dataclasses import dataclass

from relvec.describing.input_units import format_number

__all__ = ["Amounts", "format_with_std"]

LEAST_FACTOR = 3.0
"""After a logarithm, rises to this factor or a larger one are given as factors, not percentages."""


def format_with_std(value: float, std: float, unit: str = "") -> str:
    """Format a number with its standard deviation, to the digits that this supports.

    Examples
    --------
    >>> format_with_std(34.2137, 1.234), format_with_std(0.71, 0.04, " %")
    ('34.2 ± 1.2', '0.71 ± 0.04 %')
    """
    if not (std > 0.0 and math.isfinite(std)):
        return f"{format_number(value)}{unit}"
    exponent = math.floor(math.log10(std))
    # Two digits of a standard deviation if the first is 1 or 2, else one.
    n_digits = 2 if std < 3.0 * 10.0**exponent else 1
    decimals = n_digits - 1 - exponent
    if decimals > 5:
        return f"{value:.3g} ± {std:.1g}{unit}"
    decimals = max(decimals, 0)
    return f"{value:.{decimals}f} ± {std:.{decimals}f}{unit}"


@dataclass(frozen=True)
class Amounts:
    """Amounts of one transform.

    Parameters
    ----------
    transform : {"identity", "log", "sqrt"}
        Transform of the target. After a logarithm amounts are percentages; after a square root they
        are converted to units of the target at `level`.
    level : float
        Value of the transformed target to which amounts refer.
    """

    transform: str
    level: float = 0.0

    def format_change(self, change: float, std: float = 0.0) -> str:
        """Return the size of a change that leads to `level`, without its sign.

        Examples
        --------
        >>> Amounts("log").format_change(math.log(0.8)), Amounts("log").format_change(math.log(4.0))
        ('20 %', 'a factor of 4')
        >>> Amounts("sqrt", 10.0).format_change(1.0)  # from 9^2 to 10^2
        '19'
        """
        if self.transform == "log":
            factor = math.exp(change)
            if factor >= LEAST_FACTOR:
                return f"a factor of {format_with_std(factor, factor * std)}"
            percent = format_with_std(100.0 * abs(factor - 1.0), 100.0 * factor * std, " %")
            return percent
        if self.transform == "sqrt":
            before = self.level - change
            size = abs(self.level**2 - max(before, 0.0) ** 2)
            return format_with_std(size, 2.0 * abs(before) * std)
        return format_with_std(abs(change), std)

    def format_signed(self, change: float, std: float) -> str:
        """Return a change that leads to `level`, with its sign.

        Examples
        --------
        >>> Amounts("identity").format_signed(-0.81, 2.7)
        '−0.8 ± 2.7'
        """
        text = self.format_change(change, std)
        return text if text.startswith("a factor") else f"{'−' if change < 0.0 else '+'}{text}"

    def format_swing(self, swing: float, std: float = 0.0) -> str:
        """Return the difference of a highest and a lowest value around `level`."""
        if self.transform == "sqrt":
            slope = 2.0 * abs(self.level)  # (z + s/2)^2 - (z - s/2)^2 = 2 z s
            return format_with_std(slope * swing, slope * std)
        return self.format_change(swing, std)

    def format_spread(self, std: float) -> str:
        """Return a standard deviation."""
        if self.transform == "log":
            return f"{format_number(100.0 * math.expm1(std))} %"
        slope = 2.0 * abs(self.level) if self.transform == "sqrt" else 1.0
        return format_number(slope * std)
