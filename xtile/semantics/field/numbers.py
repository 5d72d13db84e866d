"""Numbers of the field: arrays of cells, and arithmetic on them.

A cell holds the residues of a number and a key, which is computed beside them in f64. Numbers are
ordered by their keys, and rounded to integers by them:

- A number that comes from integers, literals and scalar arguments alone is known. Its key is its
  value, and functions of the value follow it.
- Any other number is unknown. The key of an input is between -4 and 4; half of all are negative.
  Keys have rounding errors, so whether numbers are equal, or 0, is a question to the residues.
- Infinities and NaN are known numbers without residues. They come of what the keys would give in
  IEEE 754's arithmetic, so inf - inf, 0 / 0 and 0 inf are NaN.

Residues that an exponential or a logarithm makes up at an end of the chain obey no laws. They are
used, but not compared where another residue can be (`LAWFUL`). A number that is positive by its key
need not have a root, or a logarithm, modulo each prime; where it has none modulo any, what is
computed of it is not compared in this draw (`IMAGINARY`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import ml_dtypes
import numpy as np
import numpy.typing as npt

from xtile.semantics.errors import UnlocatedError
from xtile.semantics.field.algebra import CHAIN, Residues, algebra_of
from xtile.semantics.field.literals import Literals
from xtile.semantics.upstream.numbers import FLOATS

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

TYPES: tuple[np.dtype[Any], ...] = tuple(dict.fromkeys(each.dtype for each in FLOATS.values()))
"""The floating types by their numbers in cells."""

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

IMAGINARY = 32
"""The state of what comes of a root or a logarithm that the number has not modulo some prime."""

ROUNDED = 64
"""The state of the bytes of a known number that their type would round, as a large integer."""

_LARGEST_KEY = 1e30
"""Keys of unknown numbers end here, and begin at the reciprocal: all are normal numbers of f32.

So none of them overflows, or is flushed to zero, however large the argument of an exponential is.
"""

_NEARLY = 1e-9
"""By how much of their size keys may miss an integer, or its half, and are taken for it."""


class RefusedError(UnlocatedError):
    """What is computed has no meaning in the field, such as arithmetic on the bits of a number."""


class Field:
    """One draw: the algebra and the literals in it.

    Attributes:
        algebra: The primes and the functions.
        literals: What literals stand for.
        without_laws: The functions without laws that were computed of unknown numbers.
    """

    def __init__(self, seed: int) -> None:
        self.algebra = algebra_of(seed)
        self.literals = Literals(self.algebra)
        self.without_laws: set[str] = set()


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
        largest = np.uint64 if wide.dtype.kind == "u" else np.int64
        primes = field().algebra.primes.astype(largest)
        cells["residues"] = wide.astype(largest)[..., np.newaxis] % primes
    else:
        cells["residues"] = field().literals.residues(keys)
    cells["state"] = HELD | _ALL_LAWFUL
    return cells


def unknown(residues: Residues) -> Cells:
    """Residues as numbers that are not known, whose keys follow from them."""
    state = np.asarray(HELD | UNKNOWN | _ALL_LAWFUL, np.uint8)
    return _made(residues, state, field().algebra.order(residues))


def _made(residues: Residues, state: Any, ieee: Any) -> Cells:
    """Numbers with residues, a state, and what IEEE 754's arithmetic gives for the keys.

    Where that is not finite, it is the number. Where it is, it is the number's key.
    """
    cells = np.zeros(
        np.broadcast_shapes(residues.shape[:-1], np.shape(state), np.shape(ieee)), CELL
    )
    is_finite = np.isfinite(ieee)
    cells["residues"] = where(is_finite[..., np.newaxis], residues, 0)
    cells["state"] = where(is_finite, state, HELD | _ALL_LAWFUL)
    cells["key"] = where(is_unknown(cells), _key(cells, ieee), ieee)
    return cells


def _key(cells: Cells, ieee: Any) -> Any:
    """The keys of unknown numbers: 0 for those that are 0 by the laws, and for no other."""
    residues, state = cells["residues"], cells["state"]
    is_lawful = np.stack([state & bit != 0 for bit in LAWFUL], axis=-1)
    is_zero = ((residues == 0) | ~is_lawful).all(-1) & is_lawful.any(-1)
    smallest = where(residues[..., 0] % 2 == 0, 1.0, -1.0) / _LARGEST_KEY
    key = where(
        np.abs(ieee) < 1 / _LARGEST_KEY,
        where(ieee == 0, smallest, _sign(ieee) / _LARGEST_KEY),
        ieee,
    )
    return where(is_zero, 0.0, np.clip(key, -_LARGEST_KEY, _LARGEST_KEY))


def residues_of(cells: Cells) -> Residues:
    """The residues of numbers."""
    return cells["residues"].astype(np.int64)


def shown(cells: Cells) -> Any:
    """A float for each number, the same for numbers that are equal: its value, if it is known."""
    return where(is_unknown(cells), field().algebra.order(residues_of(cells)), cells["key"])


def is_unknown(cells: Cells) -> Any:
    """Whether each number is not known."""
    return cells["state"] & UNKNOWN != 0


def is_hidden(cells: Cells) -> Any:
    """Whether floats do not tell which numbers their bytes are of."""
    return cells["state"] & np.uint8(UNKNOWN | ROUNDED) != 0


def in_bytes(cells: Cells, dtype: np.dtype[Any]) -> Cells:
    """Numbers as memory of a floating type has them, where those are marked that it would round."""
    cells = cells.copy()
    cells["state"] &= np.uint8(~ROUNDED & 0xFF)
    is_large: Any = ~is_unknown(cells) & (np.abs(cells["key"]) > _WHOLE[dtype])
    is_large &= np.isfinite(cells["key"])
    if is_large.any():
        large = cells[is_large]
        with np.errstate(over="ignore"):
            floats = known(large["key"].astype(dtype).astype(np.float64))
        differs = (floats["residues"] != large["residues"]).any(-1)
        cells["state"][is_large] |= where(differs, np.uint8(ROUNDED), np.uint8(0))
    return cells


_WHOLE: dict[np.dtype[Any], float] = {
    dtype: 2.0 ** (cast("Any", ml_dtypes.finfo(dtype)).nmant + 1) for dtype in TYPES
}
"""Up to where all integers are floats of a type."""


def _state(*operands: Cells) -> Any:
    """The state of what is computed of numbers: lawful where all are, unknown where one is."""
    lawful: Any = _ALL_LAWFUL
    marks: Any = HELD
    for operand in operands:
        lawful = lawful & operand["state"]
        marks = marks | (operand["state"] & _MARKS)
    return (marks | lawful).astype(np.uint8)


_MARKS = UNKNOWN | IMAGINARY
"""What is so of a result where it is so of an operand."""


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
    root = field().algebra.root(residues_of(a))
    return _simple(_made(root, _state_of_squares(a), np.sqrt(a["key"])))


def _state_of_squares(a: Cells) -> Any:
    """The state of what only squares have: lawful where a number is one."""
    state: Any = _state(a)
    are_squares = np.moveaxis(field().algebra.are_squares(residues_of(a)), -1, 0)
    for bit, is_square in zip(LAWFUL, are_squares, strict=True):
        state = where(is_square, state, (state & ~np.uint8(bit)) | IMAGINARY)
    return state


def exp(a: Cells) -> Cells:
    """The exponentials."""
    algebra = field().algebra
    state = _state(a)
    shifted = (state & ~np.uint8(_ALL_LAWFUL)) | ((state & _ALL_LAWFUL) >> 1 & (4 | 8))
    residues = algebra.exp(residues_of(a), fingerprints("exp", a))
    # That of an unknown number is finite, however large its key is.
    limit = np.log(_LARGEST_KEY)
    keys = np.exp(where(is_unknown(a), np.clip(a["key"], -limit, limit), a["key"]))
    return _simple(_zero_where(_made(residues, shifted, keys), np.isneginf(a["key"])))


def log(a: Cells) -> Cells:
    """The logarithms; those of negative numbers are NaN."""
    algebra = field().algebra
    state = _state_of_squares(a)
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
    state: Any = _state(*operands)
    hidden = state & UNKNOWN != 0
    if not hidden.any():
        return known(values)
    field().without_laws.add(name)
    random = fingerprints(name, *operands)
    # Numbers that are equal need not have the same first residue that obeys the laws, then.
    is_sure = (state & IMAGINARY == 0) | (state & LAWFUL[0] != 0)
    state = where(is_sure, state | _ALL_LAWFUL, state & ~np.uint8(_ALL_LAWFUL))
    order = field().algebra.order(random)
    made = _made(random, state.astype(np.uint8), where(np.isfinite(values), values, order))
    return where(hidden, made, known(where(hidden, 0.0, values)))


def whole(ieee: Callable[..., Any], a: Cells) -> Cells:
    """A rounding to integers, by the keys."""
    key = a["key"]
    halves = np.rint(2 * key) / 2
    is_near = is_unknown(a) & (np.abs(key - halves) <= _NEARLY * np.maximum(1.0, np.abs(key)))
    return known(ieee(where(is_near, halves, key)))


def matrix_product(a: Cells, b: Cells) -> Cells:
    """Products of matrices, or of batches of them."""
    residues = field().algebra.product(residues_of(a), residues_of(b))
    ieee = np.matmul(a["key"], b["key"])
    lawful = _all_lawful(a, -1)[..., :, np.newaxis] & _all_lawful(b, -2)[..., np.newaxis, :]
    marks = _any_mark(a, -1)[..., :, np.newaxis] | _any_mark(b, -2)[..., np.newaxis, :]
    return _made(residues, np.uint8(HELD) | lawful | marks, ieee)


def total(a: Cells, axis: int) -> Cells:
    """The sums along an axis."""
    axis %= a.ndim
    residues = residues_of(a).sum(axis=axis) % field().algebra.primes
    state = np.uint8(HELD) | _all_lawful(a, axis) | _any_mark(a, axis)
    return _made(residues, state, a["key"].sum(axis=axis))


def _all_lawful(a: Cells, axis: int) -> npt.NDArray[np.uint8]:
    """The residues that obey the laws in all numbers along an axis."""
    return np.bitwise_and.reduce(a["state"], axis=axis) & np.uint8(_ALL_LAWFUL)


def _any_mark(a: Cells, axis: int) -> npt.NDArray[np.uint8]:
    """The marks that any number along an axis has."""
    return np.bitwise_or.reduce(a["state"], axis=axis) & np.uint8(_MARKS)


def is_unseen(a: Cells) -> npt.NDArray[np.bool_]:
    """Whether numbers cannot be compared in this draw: NaN, and what no residue tells."""
    state = a["state"]
    return (state & IMAGINARY != 0) & (state & _ALL_LAWFUL == 0) | np.isnan(a["key"])


def agree(a: Cells, b: Cells) -> npt.NDArray[np.bool_]:
    """Whether numbers are equal by the laws, or cannot be told apart; NaN is equal to NaN."""
    equal = residues_of(a) == residues_of(b)
    lawful = a["state"] & b["state"]
    checked = np.stack([lawful & bit != 0 for bit in LAWFUL], axis=-1)
    # After too many exponentials numbers are the same where the formulas are.
    is_made_up = ~checked.any(-1) & ((a["state"] | b["state"]) & IMAGINARY == 0)
    checked[..., 0] |= is_made_up
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
