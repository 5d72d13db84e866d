"""The numbers that reductions, scans and atomic updates leave out of account.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorAttributes.td`, "CombiningKind".
"""

from __future__ import annotations

import math

_FLOATS = {
    "add": -0.0,
    "maximumf": -math.inf,
    "maxnumf": math.nan,
    "minimumf": math.inf,
    "minnumf": math.nan,
    "mul": 1.0,
}


def neutral_float(kind: str) -> float:
    """The floating number that changes no other one, for a kind such as `add` or `maxnumf`.

    A positive zero would make a sum of negative zeros positive.

    Raises:
        KeyError: The kind does not combine floating numbers.
    """
    return _FLOATS[kind]


def neutral_integer(kind: str, width: int) -> int:
    """The same of integers with so many bits, for a kind such as `add`, `maxsi` or `and`.

    It is a signed number; a mask of its bits is what an unsigned one has.

    Raises:
        KeyError: The kind does not combine integers.
    """
    highest = 1 << (width - 1)
    return {
        "add": 0,
        "and": -1,
        "maxsi": -highest,
        "maxui": 0,
        "minsi": highest - 1,
        "minui": -1,
        "mul": 1,
        "or": 0,
        "xor": 0,
    }[kind]
