"""Numbers of the field: arrays of cells, and arithmetic on them.

A cell holds the residues of a number and a key, by which numbers are ordered and which is also its
value as far as that is known:

- A number that comes from integers, literals and scalar arguments alone is known. Its key is its
  value, and functions of the value follow it.
- Any other number is unknown. Its key follows from the residue modulo the largest prime. It is
  between -4 and 4; half of all numbers are negative, a square never is.
- Infinities and NaN are known numbers without residues. They come of what the keys would give in
  IEEE 754's arithmetic, so inf - inf, 0 / 0 and 0 inf are NaN.

Residues that an exponential or a logarithm makes up at an end of the chain obey no laws. They are
used, but not compared where another residue can be (`LAWFUL`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from xtile.semantics.errors import UnlocatedError
from xtile.semantics.field.algebra import CHAIN, Residues, algebra_of
from xtile.semantics.field.literals import Literals

if TYPE_CHECKING:
    from collections.abc import Generator

Cells: TypeAlias = Any
"""An array of `CELL`, whose fields no type checker knows."""

CELL = np.dtype(
    [
        ("key", np.float64),
        ("residues", np.int32, (CHAIN,)),
        ("state", np.uint8),
        ("byte", np.uint8),
        ("type", np.uint8),
    ],
    align=True,
)
"""A number, or in memory one byte of it: which byte, and the number of its type."""

LOST = 0b1100101
"""The first bits of the fraction of the NaN that stands for numbers in the bytes of their arrays.

Where one is read as a float, something took the bytes and not the numbers.
"""

where: Any = np.where
"""Numpy's function, which the type checker cannot follow on cells."""

HELD = 1
"""The state of what holds a number; memory that was not written since holds none."""

UNKNOWN = 2

LAWFUL = 4, 8, 16
"""The states of numbers whose residues, from the first on, obey all laws."""

_ALL_LAWFUL = sum(LAWFUL)


class RefusedError(UnlocatedError):
    """What is computed has no meaning in the field, such as arithmetic on the bits of a number."""


class Field:
    """One draw: the algebra and the literals in it."""

    def __init__(self, seed: int) -> None:
        self.algebra = algebra_of(seed)
        self.literals = Literals(self.algebra)


_FIELD: ContextVar[Field] = ContextVar("field")


@contextmanager
def computing_in(field: Field) -> Generator[None]:
    """Numbers that are made meanwhile belong to a draw."""
    token = _FIELD.set(field)
    try:
        yield
    finally:
        _FIELD.reset(token)


def field() -> Field:
    """The draw that numbers belong to."""
    return _FIELD.get()


def known(values: Any) -> Cells:
    """Floats or integers as numbers that are known."""
    wide = np.asarray(values)
    keys = wide.astype(np.float64)
    if (np.isnan(keys) & (keys.view(np.uint64) >> 45 & 0x7F == LOST)).any():
        raise RefusedError("numbers went through a function that the field does not follow")
    cells = np.zeros(keys.shape, CELL)
    cells["key"] = keys
    if wide.dtype.kind in "iu":
        cells["residues"] = wide.astype(np.int64)[..., np.newaxis] % field().algebra.primes
    else:
        cells["residues"] = field().literals.residues(keys)
    cells["state"] = HELD | _ALL_LAWFUL
    return cells


def unknown(residues: Residues) -> Cells:
    """Residues as numbers that are not known."""
    return _made(residues, np.asarray(HELD | UNKNOWN | _ALL_LAWFUL, np.uint8), np.float64(0))


def _made(residues: Residues, state: Any, ieee: Any) -> Cells:
    """Numbers with residues, a state, and what IEEE 754's arithmetic gives for the keys.

    Where that is not finite, it is the number. Where it is, it is the number's value, if known.
    """
    algebra = field().algebra
    cells = np.zeros(
        np.broadcast_shapes(residues.shape[:-1], np.shape(state), np.shape(ieee)), CELL
    )
    is_finite = np.isfinite(ieee)
    cells["residues"] = where(is_finite[..., np.newaxis], residues, 0)
    cells["state"] = where(is_finite, state, HELD | _ALL_LAWFUL)
    is_unknown = cells["state"] & UNKNOWN != 0
    cells["key"] = where(is_unknown, algebra.order(residues), ieee)
    return cells


def residues_of(cells: Cells) -> Residues:
    """The residues of numbers."""
    return cells["residues"].astype(np.int64)


def is_unknown(cells: Cells) -> Any:
    """Whether each number is not known."""
    return cells["state"] & UNKNOWN != 0


def _state(*operands: Cells) -> Any:
    """The state of what is computed of numbers: lawful where all are, unknown where one is."""
    lawful: Any = _ALL_LAWFUL
    hidden: Any = 0
    for operand in operands:
        lawful = lawful & operand["state"]
        hidden = hidden | (operand["state"] & UNKNOWN)
    return (np.uint8(HELD) | lawful | hidden).astype(np.uint8)


def add(a: Cells, b: Cells) -> Cells:
    """The sums."""
    total = (residues_of(a) + residues_of(b)) % field().algebra.primes
    return _made(total, _state(a, b), a["key"] + b["key"])


def negative(a: Cells) -> Cells:
    """The numbers with the other sign."""
    return _made(-residues_of(a) % field().algebra.primes, _state(a), -a["key"])


def subtract(a: Cells, b: Cells) -> Cells:
    """The differences."""
    return add(a, negative(b))


def multiply(a: Cells, b: Cells) -> Cells:
    """The products."""
    product = residues_of(a) * residues_of(b) % field().algebra.primes
    return _made(product, _state(a, b), a["key"] * b["key"])


def divide(a: Cells, b: Cells) -> Cells:
    """The quotients; those by 0 are infinite or NaN."""
    algebra = field().algebra
    quotient = residues_of(a) * algebra.inverse(residues_of(b)) % algebra.primes
    # A number without a sign for its zero: 1 / -0 is 1 / 0.
    return _made(quotient, _state(a, b), a["key"] / np.abs(b["key"]) * _sign(b["key"]))


def _sign(key: Any) -> Any:
    return where(key < 0, -1.0, 1.0)


def square_root(a: Cells) -> Cells:
    """The square roots; those of negative numbers are NaN."""
    algebra = field().algebra
    residues, state = residues_of(a), _state(a)
    for bit, is_square in zip(
        LAWFUL, np.moveaxis(algebra.are_squares(residues), -1, 0), strict=True
    ):
        state = where(is_square, state, state & ~np.uint8(bit))
    return _simple(_made(algebra.root(residues), state, np.sqrt(a["key"])))


def exp(a: Cells) -> Cells:
    """The exponentials."""
    algebra = field().algebra
    state = _state(a)
    shifted = (state & ~np.uint8(_ALL_LAWFUL)) | ((state & _ALL_LAWFUL) >> 1 & (4 | 8))
    residues = algebra.exp(residues_of(a), fingerprints("exp", a))
    # That of an unknown number is finite, however large its key is.
    keys = where(is_unknown(a), 1.0, np.exp(a["key"]))
    return _simple(_zero_where(_made(residues, shifted, keys), np.isneginf(a["key"])))


def log(a: Cells) -> Cells:
    """The logarithms; those of negative numbers are NaN."""
    algebra = field().algebra
    state = _state(a)
    shifted = (state & ~np.uint8(_ALL_LAWFUL)) | ((state & (4 | 8)) << 1)
    residues = algebra.log(residues_of(a), fingerprints("log", a))
    return _simple(_made(residues, shifted, np.log(a["key"])))


def exp2(a: Cells) -> Cells:
    """Powers of 2."""
    return exp(multiply(a, ln2()))


def log2(a: Cells) -> Cells:
    """Logarithms to the base 2."""
    return divide(log(a), ln2())


def ln2() -> Cells:
    """The natural logarithm of 2."""
    cells = np.zeros((), CELL)
    cells["key"], cells["residues"] = np.log(2.0), field().algebra.ln2
    cells["state"] = HELD | _ALL_LAWFUL
    return cells


def power(a: Cells, b: Cells) -> Cells:
    """Powers: products where the exponent is a known integer, and else exp(b log(a))."""
    exponents = np.unique(b["key"]) if b.size else np.zeros(0)
    if len(exponents) == 1 and not is_unknown(b).any() and exponents[0] in _ROOTS:
        return np.broadcast_to(_ROOTS[exponents[0]](a), np.broadcast_shapes(a.shape, b.shape))
    if len(exponents) == 1 and not is_unknown(b).any() and _is_small_integer(exponents[0]):
        return _integer_power(np.broadcast_to(a, np.broadcast_shapes(a.shape, b.shape)), exponents)
    result = exp(multiply(b, log(a)))
    both = ~(is_unknown(a) | is_unknown(b))
    return where(both, function("power", np.power, a, b), result)


def _integer_power(a: Cells, exponents: Any) -> Cells:
    exponent = int(exponents[0])
    result = np.broadcast_to(known(1.0), a.shape)
    for _ in range(abs(exponent)):
        result = multiply(result, a)
    return divide(known(1.0), result) if exponent < 0 else result


_LARGEST_POWER = 64


def _is_small_integer(value: float) -> bool:
    return value == np.rint(value) and abs(value) <= _LARGEST_POWER


_ROOTS: dict[float, Callable[[Cells], Cells]] = {
    0.5: square_root,
    -0.5: lambda a: divide(known(1.0), square_root(a)),
}


def _simple(cells: Cells) -> Cells:
    """Known results of functions, taken for what literals of their value mean, if that is simple.

    So the root of 64 is 8, and the logarithm of 1 is 0.
    """
    is_known = ~is_unknown(cells) & np.isfinite(cells["key"])
    if not is_known.any():
        return cells
    result = cells.copy()
    literals = field().literals
    for value in np.unique(cells["key"][is_known]):
        residues = literals.simple(float(value))
        if residues is not None:
            chosen = is_known & (cells["key"] == value)
            result["residues"][chosen] = residues
            result["state"][chosen] = HELD | _ALL_LAWFUL
    return result


def _zero_where(cells: Cells, chosen: Any) -> Cells:
    return where(chosen, known(0.0), cells)


def fingerprints(name: str, *operands: Cells) -> Residues:
    """A random function of numbers, by its name: the residues of each result."""
    return field().algebra.random(name, [_identity(operand) for operand in operands])


def _identity(cells: Cells) -> Residues:
    """What tells numbers apart that are equal by the laws: their first lawful residue."""
    residues, state = residues_of(cells), cells["state"]
    chosen = residues[..., 0]
    for i in reversed(range(CHAIN)):
        lawful = state & LAWFUL[i] != 0
        chosen = where(lawful, residues[..., i] + (i << 32), chosen)
    symbol: Any = where(np.isfinite(cells["key"]), 0.0, cells["key"])
    return np.stack((chosen, symbol.view(np.int64)), axis=-1)


def function(name: str, ieee: Callable[..., Any], *operands: Cells) -> Cells:
    """A function without laws: a random number by its name, or its value of known numbers."""
    values = ieee(*(operand["key"] for operand in operands))
    hidden: Any = np.zeros(np.shape(values), np.bool_)
    for operand in operands:
        hidden = hidden | is_unknown(operand)
    if not hidden.any():
        return known(values)
    random = unknown(fingerprints(name, *operands))
    return where(hidden, random, known(where(hidden, 0.0, values)))


_LARGEST_WHOLE = 100


def whole(name: str, ieee: Callable[..., Any], a: Cells) -> Cells:
    """A rounding to integers: of unknown numbers a random small integer by its name."""
    span = 2 * _LARGEST_WHOLE + 1
    random = fingerprints(name, a)[..., 0] % span - _LARGEST_WHOLE
    return known(where(is_unknown(a), random, ieee(a["key"])))


def matrix_product(a: Cells, b: Cells) -> Cells:
    """Products of matrices, or of batches of them."""
    residues = field().algebra.product(residues_of(a), residues_of(b))
    ieee = np.matmul(a["key"], b["key"])
    lawful = _all_lawful(a, -1)[..., :, np.newaxis] & _all_lawful(b, -2)[..., np.newaxis, :]
    hidden = is_unknown(a).any(-1)[..., :, np.newaxis] | is_unknown(b).any(-2)[..., np.newaxis, :]
    state = np.uint8(HELD) | lawful | where(hidden, np.uint8(UNKNOWN), np.uint8(0))
    return _made(residues, state, ieee)


def total(a: Cells, axis: int) -> Cells:
    """The sums along an axis."""
    axis %= a.ndim
    residues = residues_of(a).sum(axis=axis) % field().algebra.primes
    hidden = is_unknown(a).any(axis)
    state = np.uint8(HELD) | _all_lawful(a, axis) | where(hidden, np.uint8(UNKNOWN), np.uint8(0))
    return _made(residues, state, a["key"].sum(axis=axis))


def _all_lawful(a: Cells, axis: int) -> npt.NDArray[np.uint8]:
    """The residues that obey the laws in all numbers along an axis."""
    return np.bitwise_and.reduce(a["state"], axis=axis) & np.uint8(_ALL_LAWFUL)


def agree(a: Cells, b: Cells) -> npt.NDArray[np.bool_]:
    """Whether numbers are equal by the laws; NaN is equal to NaN."""
    equal = residues_of(a) == residues_of(b)
    lawful = a["state"] & b["state"]
    checked = np.stack([lawful & bit != 0 for bit in LAWFUL], axis=-1)
    checked[..., 0] |= ~checked.any(-1)
    is_symbol = ~np.isfinite(a["key"]) | ~np.isfinite(b["key"])
    same_symbol = (a["key"] == b["key"]) | (np.isnan(a["key"]) & np.isnan(b["key"]))
    return where(is_symbol, same_symbol, (equal | ~checked).all(-1))


def reduced(combine: Callable[[Cells, Cells], Cells], a: Cells, axis: int) -> Cells:
    """What an associative function makes of the numbers along an axis, of which there are some."""
    rest = np.moveaxis(a, axis, 0)
    while len(rest) > 1:
        pairs = len(rest) // 2
        combined = combine(rest[0 : 2 * pairs : 2], rest[1 : 2 * pairs : 2])
        rest = np.concatenate((combined, rest[2 * pairs :]))
    return rest[0]


def accumulated(combine: Callable[[Cells, Cells], Cells], a: Cells, axis: int) -> Cells:
    """What an associative function makes of the numbers along an axis up to each."""
    rest = np.moveaxis(a, axis, 0)
    results: list[Cells] = []
    for each in rest:
        results.append(combine(results[-1], each) if results else each)
    return np.moveaxis(np.stack(results), 0, axis) if results else a
