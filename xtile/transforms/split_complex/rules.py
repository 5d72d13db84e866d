"""What becomes of each operation on complex numbers.

Source: MLIR (LLVM 22), `Dialect/Complex/IR/ComplexOps.td`; docs/semantics.md, 1.11.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import arith, complex
from xdsl.dialects.builtin import AnyFloat, ArrayAttr, ComplexType, IntegerType, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.core.attributes import AtomicKind, ComplexPart
from xtile.dialects.core.complex_parts import ComplexPartOp
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.rewrite import complex_arithmetic as arithmetic
from xtile.rewrite.complex_arithmetic import Complex, Real
from xtile.rewrite.rebuilder import Rule, RuleTable, again
from xtile.transforms.split_complex import CARRYING
from xtile.transforms.split_complex.splitter import Splitter, flat_type

# --- operations that stay ---


def _copy(operation: Operation, splitter: Splitter) -> None:
    """An operation that takes and gives complex numbers as wholes, if at all."""
    new = _again(operation, splitter.values(operation.operands), operation.result_types, splitter)
    splitter.define_each(operation.results, new.results)


def _carry(operation: Operation, splitter: Splitter) -> None:
    """Control flow, which carries the parts."""
    types = splitter.flat_types(operation.results)
    new = _again(operation, splitter.flat(operation.operands), types, splitter)
    splitter.define_flat(operation.results, new.results)


def _again(
    operation: Operation,
    operands: Sequence[SSAValue],
    types: Sequence[Attribute],
    splitter: Splitter,
) -> Operation:
    """Emits an operation on other operands."""
    return splitter.emit(
        again(
            operation,
            operands,
            types,
            regions=splitter.regions(operation),
            successors=[splitter.blocks[block] for block in operation.successors],
        )
    )


# --- parts ---


def _create(operation: Operation, splitter: Splitter) -> None:
    splitter.define(operation.results[0], splitter.from_parts(*splitter.values(operation.operands)))


def _real(operation: Operation, splitter: Splitter) -> None:
    splitter.define(operation.results[0], splitter.number(operation.operands[0]).real.value)


def _imaginary(operation: Operation, splitter: Splitter) -> None:
    splitter.define(operation.results[0], splitter.number(operation.operands[0]).imaginary.value)


def _constant(operation: complex.ConstantOp, splitter: Splitter) -> None:
    entries = cast("ArrayAttr[Any]", operation.value)
    parts = (splitter.emit(arith.ConstantOp(entry)).result for entry in entries)
    splitter.define(operation.complex, splitter.from_parts(*parts))


def _select(operation: Operation, splitter: Splitter) -> None:
    condition, *choices = operation.operands
    if not isinstance(choices[0].type, ComplexType):
        _copy(operation, splitter)
        return
    a, b = map(splitter.number, choices)
    splitter.define(operation.results[0], a.where(splitter.value(condition), b))


def _poison(operation: Operation, splitter: Splitter) -> None:
    (result,) = operation.results
    parts = (_again(operation, [], [type_], splitter) for type_ in flat_type(result.type))
    splitter.define_flat([result], [part.results[0] for part in parts])


def _bitcast(operation: Operation, splitter: Splitter) -> None:
    """The bits of the real part are the low ones."""
    (given,), (result,) = operation.operands, operation.results
    if given.type == result.type:
        splitter.define(result, splitter.meaning(given))
        return
    part, *_ = {*flat_type(given.type), *flat_type(result.type)} - {given.type, result.type}
    width = cast(AnyFloat, part).bitwidth
    bits = _Bits(splitter, IntegerType(width), IntegerType(2 * width))
    if isinstance(given.type, ComplexType):
        joined = bits.joined(*splitter.flat([given]))
        splitter.define(result, bits.cast(joined, result.type))
    else:
        numbers = bits.cut(bits.cast(splitter.value(given), bits.wide))
        splitter.define_flat([result], [bits.cast(number, part) for number in numbers])


@dataclass(frozen=True)
class _Bits:
    """Bits of complex numbers and of their parts."""

    splitter: Splitter
    narrow: IntegerType
    wide: IntegerType

    def emit(self, operation: Operation) -> SSAValue:
        return self.splitter.emit(operation).results[0]

    def cast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        """The same bits in another type."""
        return value if value.type == type_ else self.emit(arith.BitcastOp(value, type_))

    def joined(self, real: SSAValue, imaginary: SSAValue) -> SSAValue:
        low, high = (
            self.emit(arith.ExtUIOp(self.cast(part, self.narrow), self.wide))
            for part in (real, imaginary)
        )
        return self.emit(arith.OrIOp(low, self.emit(arith.ShLIOp(high, self._width()))))

    def cut(self, value: SSAValue) -> Sequence[SSAValue]:
        high = self.emit(arith.ShRUIOp(value, self._width()))
        return [self.emit(arith.TruncIOp(each, self.narrow)) for each in (value, high)]

    def _width(self) -> SSAValue:
        return self.splitter.constant(self.narrow.width.data, self.wide)


# --- memory ---

_UPDATES_OF_PARTS = (AtomicKind.ADD_FLOAT, AtomicKind.ASSIGN)
"""The atomic updates that can be done part by part."""


def _update(operation: AtomicUpdateOp, splitter: Splitter) -> None:
    """An atomic update updates each part on its own, which the tensor language allows."""
    if not isinstance(operation.value.type, ComplexType):
        _copy(operation, splitter)
        return
    kind = operation.kind.data
    if kind not in _UPDATES_OF_PARTS:
        raise splitter.error(f"complex numbers have no atomic update {kind}; use addf or assign")
    memory, indices = splitter.value(operation.memory), splitter.values(operation.indices)
    old = [
        _again(operation, [part, _view(memory, each, splitter), *indices], [part.type], splitter)
        for each, part in zip(ComplexPart, splitter.flat([operation.value]), strict=True)
    ]
    splitter.define_flat([operation.result], [each.results[0] for each in old])


def _view(memory: SSAValue, part: ComplexPart, splitter: Splitter) -> SSAValue:
    def emit() -> SSAValue:
        try:
            return splitter.emit(ComplexPartOp(memory, part)).result
        except VerifyException as error:
            raise splitter.error(f"{error}, so that parts of it cannot be updated") from error

    return splitter.shared((ComplexPartOp, memory, part), (memory,), emit)


# --- arithmetic ---


def _computed(function: Callable[..., Complex | Real]) -> Rule:
    """The rule of a function of complex numbers; those of f16 and bf16 are computed in f32."""

    def rule(operation: Operation, splitter: Splitter) -> None:
        numbers = [splitter.number(operand) for operand in operation.operands]
        made = function(*map(_at_least_f32, numbers)).to(numbers[0].part)
        splitter.define(operation.results[0], made.value if isinstance(made, Real) else made)

    return rule


def _at_least_f32(number: Complex) -> Complex:
    return number.to(f32) if number.part.bitwidth < f32.bitwidth else number


def _compared(predicate: str, join: type[arith.AndIOp] | type[arith.OrIOp]) -> Rule:
    """The rule of a comparison, which compares the parts and joins the answers."""

    def rule(operation: Operation, splitter: Splitter) -> None:
        a, b = map(splitter.number, operation.operands)
        answers = a.real.holds(predicate, b.real), a.imaginary.holds(predicate, b.imaginary)
        splitter.define(operation.results[0], splitter.emit(join(*answers)).result)

    return rule


def _power_of_integer(operation: Operation, splitter: Splitter) -> None:
    given, exponent = splitter.number(operation.operands[0]), splitter.value(operation.operands[1])
    base = _at_least_f32(given)
    times = Real(splitter.emit(arith.SIToFPOp(exponent, base.part)).result, splitter)
    power = arithmetic.power(base, Complex(times, times.like(0.0)))
    splitter.define(operation.results[0], power.to(given.part))


_FUNCTIONS: Mapping[str, Callable[..., Complex | Real]] = {
    "abs": Complex.__abs__,
    "add": Complex.__add__,
    "angle": arithmetic.angle,
    "atan2": arithmetic.atan2,
    "conj": arithmetic.conjugate,
    "cos": arithmetic.cos,
    "div": Complex.__truediv__,
    "exp": arithmetic.exp,
    "expm1": arithmetic.expm1,
    "log": arithmetic.log,
    "log1p": arithmetic.log1p,
    "mul": Complex.__mul__,
    "neg": Complex.__neg__,
    "pow": arithmetic.power,
    "rsqrt": arithmetic.reciprocal_root,
    "sign": arithmetic.sign,
    "sin": arithmetic.sin,
    "sqrt": arithmetic.sqrt,
    "sub": Complex.__sub__,
    "tan": arithmetic.tan,
    "tanh": arithmetic.tanh,
}
"""Functions of complex numbers, by the names that `complex` gives them."""

_ROWS: Mapping[str, Rule] = {
    **{f"complex.{name}": _computed(function) for name, function in _FUNCTIONS.items()},
    **dict.fromkeys(CARRYING, _carry),
    AtomicUpdateOp.name: _update,
    "arith.select": _select,
    "complex.bitcast": _bitcast,
    "complex.constant": _constant,
    "complex.create": _create,
    "complex.eq": _compared("oeq", arith.AndIOp),
    "complex.im": _imaginary,
    "complex.neq": _compared("une", arith.OrIOp),
    "complex.powi": _power_of_integer,
    "complex.re": _real,
    "ub.poison": _poison,
}

RULES = RuleTable(_ROWS, otherwise=_copy, keeps_rounding=True)
"""What becomes of each operation; all others take and give complex numbers as wholes."""
