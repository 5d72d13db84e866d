"""Inline assembly on elements: PTX and GCN instructions that compute each element on its own.

A register is an array with the bits of as many elements as are computed at once. Approximations
are as exact as everywhere here.

Source: NVIDIA, "Parallel Thread Execution ISA"; AMD, "CDNA3 Instruction Set Architecture"; Triton
3.9, `TritonOps.td` (`elementwise_inline_asm`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import IntegerType

from xtile.semantics.upstream import casts, floats, integers
from xtile.semantics.upstream.math import MEANINGS
from xtile.semantics.upstream.numbers import FLOATS, Kind, Number, number_of
from xtile.semantics.values import Array, Value, choose

Registers: TypeAlias = "dict[str, Array]"

_REGISTER_BITS = 32
_WORD = np.dtype(np.uint64)


def _integer(bits: int) -> Number:
    return number_of(IntegerType(bits))


_TYPES: Mapping[str, Number] = {
    **{f"{kind}{bits}": _integer(bits) for kind in "bsu" for bits in (8, 16, 32, 64)},
    **{name: FLOATS[name] for name in ("f16", "bf16", "f32", "f64")},
    "e4m3": FLOATS["f8E4M3FN"],
    "e5m2": FLOATS["f8E5M2"],
    "pred": _integer(1),
}
"""The types in the names of PTX's instructions."""


def _value(bits: Array, number: Number) -> Value:
    """What a register's bits stand for."""
    if number.bits == 1:
        return bits != 0
    return bits.astype(f"u{number.dtype.itemsize}").view(number.dtype)


def _bits(value: Value, number: Number) -> Array:
    if number.bits == 1:
        return np.asarray(value).astype(_WORD)
    held = np.ascontiguousarray(value)
    return held.view(f"u{number.dtype.itemsize}").astype(_WORD)


def _select(number: Number) -> floats.Ternary:
    return lambda a, b, which: choose(which != 0, a, b)


def _copy(number: Number) -> floats.Unary:
    return lambda a: a


def _inverse(number: Number) -> floats.Unary:
    return lambda a: ~a


def _reciprocal(number: Number) -> floats.Unary:
    return lambda a: number.rounded(1.0 / a.astype(np.float64))


def _negated(number: Number) -> floats.Unary:
    return floats.NEGATE(number) if number.kind is Kind.FLOAT else (lambda a: number.wrapped(-a))


def _by_kind(of_float: str, of_signed: str, of_unsigned: str) -> Callable[[str, Number], Any]:
    def meaning(type: str, number: Number) -> Any:
        if number.kind is Kind.FLOAT:
            return floats.BINARY[of_float](number)
        name = of_unsigned if type.startswith("u") else of_signed
        tables = (integers.BINARY, integers.DIVISIONS)
        return next(table[name] for table in tables if name in table)(number)

    return meaning


def _multiply_add(type: str, number: Number) -> floats.Ternary:
    if number.kind is Kind.FLOAT:
        return floats.fused_multiply_add(number)
    return lambda a, b, c: number.wrapped(a * b + c)


def _any(meaning: Callable[[Number], Any]) -> Callable[[str, Number], Any]:
    return lambda type, number: meaning(number)


def _shift(left: bool) -> Callable[[str, Number], Any]:
    """Shifts by more than the width leave no bit, or only the sign."""

    def meaning(type: str, number: Number) -> Any:
        is_signed = type.startswith("s")

        def function(a: Value, distance: Value) -> Value:
            count = np.minimum(number.unsigned(distance).astype(np.int64), number.bits)
            near = np.minimum(count, number.bits - 1)
            wide = (number.signed(a) if is_signed else number.unsigned(a)).astype(
                np.int64 if is_signed else np.uint64
            )
            near = near.astype(wide.dtype)
            moved = np.left_shift(wide, near) if left else np.right_shift(wide, near)
            lost = choose(wide < 0, -1, 0) if is_signed and not left else 0
            past = np.asarray(lost).astype(np.int64)
            return number.wrapped(choose(count >= number.bits, past, moved.astype(np.int64)))

        return function

    return meaning


_OPERATIONS: Mapping[str, Callable[[str, Number], Any]] = {
    "abs": lambda type, number: (
        floats.UNARY_MATH["absf"] if number.kind is Kind.FLOAT else MEANINGS["absi"]
    )(number),
    "add": _by_kind("addf", "addi", "addi"),
    "and": _any(integers.BINARY["andi"]),
    "clz": _any(MEANINGS["ctlz"]),
    "cos": _any(floats.UNARY_MATH["cos"]),
    "div": _by_kind("divf", "divsi", "divui"),
    "ex2": _any(floats.UNARY_MATH["exp2"]),
    "fma": _multiply_add,
    "lg2": _any(floats.UNARY_MATH["log2"]),
    "mad": _multiply_add,
    "max": _by_kind("maxnumf", "maxsi", "maxui"),
    "min": _by_kind("minnumf", "minsi", "minui"),
    "mov": _any(_copy),
    "mul": _by_kind("mulf", "muli", "muli"),
    "neg": _any(_negated),
    "not": _any(_inverse),
    "or": _any(integers.BINARY["ori"]),
    "popc": _any(MEANINGS["ctpop"]),
    "rcp": _any(_reciprocal),
    "rem": _by_kind("remf", "remsi", "remui"),
    "rsqrt": _any(floats.UNARY_MATH["rsqrt"]),
    "selp": _any(_select),
    "shl": _shift(left=True),
    "shr": _shift(left=False),
    "sin": _any(floats.UNARY_MATH["sin"]),
    "sqrt": _any(floats.UNARY_MATH["sqrt"]),
    "sub": _by_kind("subf", "subi", "subi"),
    "tanh": _any(floats.UNARY_MATH["tanh"]),
    "xor": _any(integers.BINARY["xori"]),
}
"""PTX's instructions by the first part of their names; the last one is their type."""

_MODIFIERS = frozenset({"approx", "ftz", "full", "lo", "rn", "sat", "satfinite", "to"})
"""Parts of names that say nothing that matters, or what is understood."""

_GCN: Mapping[str, tuple[str, str, int]] = {
    "v_add_f32": ("add", "f32", 1),
    "v_add_u32": ("add", "u32", 1),
    "v_and_b32": ("and", "b32", 1),
    "v_cos_f32": ("cos", "f32", 1),
    "v_exp_f32": ("ex2", "f32", 1),
    "v_fma_f32": ("fma", "f32", 1),
    "v_log_f32": ("lg2", "f32", 1),
    "v_ashrrev_i32": ("shr", "s32", -1),
    "v_lshlrev_b32": ("shl", "b32", -1),
    "v_lshrrev_b32": ("shr", "u32", -1),
    "v_max_f32": ("max", "f32", 1),
    "v_min_f32": ("min", "f32", 1),
    "v_mov_b32": ("mov", "b32", 1),
    "v_mul_f32": ("mul", "f32", 1),
    "v_or_b32": ("or", "b32", 1),
    "v_rcp_f32": ("rcp", "f32", 1),
    "v_rsq_f32": ("rsqrt", "f32", 1),
    "v_sqrt_f32": ("sqrt", "f32", 1),
    "v_sub_f32": ("sub", "f32", 1),
    "v_xor_b32": ("xor", "b32", 1),
}
"""Those of AMD's GPUs as PTX's and their type, and -1 where the operands are reversed."""

_IGNORED = (".reg", "nanosleep", "s_nop", "s_sleep", "s_waitcnt", "bar.sync", "membar")
"""Statements without a result."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Program:
    """Assembly that computes results from operands.

    Args:
        text: The assembly.
        results: The types of the results' elements.

    Raises:
        ValueError: An instruction is not known.
    """

    def __init__(self, text: str, results: Sequence[Number]) -> None:
        self._text = text
        self._results = results
        self._statements = [self._compiled(each) for each in _statements(text)]

    @staticmethod
    def registers(value: Array, number: Number, pack: int) -> list[Array]:
        """An operand as registers, each with the bits of one or more of `pack` elements."""
        groups = _bits(np.ravel(value), number).reshape(-1, pack)
        per_register = min(pack, max(1, _REGISTER_BITS // number.bits))
        shifts = np.arange(per_register, dtype=_WORD) * _WORD.type(number.bits)
        parts = groups.reshape(len(groups), -1, per_register) << shifts
        joined = np.bitwise_or.reduce(parts, axis=-1)
        return [joined[:, column] for column in range(joined.shape[1])]

    def run(self, operands: Sequence[Sequence[Array]], pack: int) -> Iterator[Array]:
        """The results' elements in row-major order."""
        given = [register for operand in operands for register in operand]
        counts = [-(-pack // self._per_register(number, pack)) for number in self._results]
        size = max([len(register) for register in given], default=1)
        registers: Registers = {
            f"${sum(counts) + index}": register for index, register in enumerate(given)
        }
        for statement in self._statements:
            statement(registers)
        first = 0
        for number, count in zip(self._results, counts, strict=True):
            made = [
                np.broadcast_to(registers[f"${index}"], (size,))
                for index in range(first, first + count)
            ]
            first += count
            yield self._elements(made, number, pack)

    @staticmethod
    def _per_register(number: Number, pack: int) -> int:
        return min(pack, max(1, _REGISTER_BITS // number.bits))

    def _elements(self, registers: Sequence[Array], number: Number, pack: int) -> Array:
        per_register = self._per_register(number, pack)
        shifts = np.arange(per_register, dtype=_WORD) * _WORD.type(number.bits)
        parts = np.stack(registers, axis=-1)[..., np.newaxis] >> shifts
        mask = _WORD.type(2**number.bits - 1)
        return np.ravel(_value(parts & mask, number))

    def _compiled(self, statement: str) -> Callable[[Registers], None]:
        match = re.fullmatch(r"([\w.]+)\s+(.*)", statement, re.DOTALL)
        if match is None:
            raise self._unknown(statement)
        mnemonic, rest = match.groups()
        operands = [each.strip() for each in re.split(r",(?![^{]*\})", rest)]
        if mnemonic in _GCN:
            name, type, order = _GCN[mnemonic]
            function = _OPERATIONS[name](type, _TYPES[type])
            operands = [operands[0], *operands[1:][::order]]
            return _instruction(function, type, type, operands)
        name, *parts = mnemonic.split(".")
        types = [part for part in parts if part in _TYPES]
        others = [part for part in parts if part not in _TYPES]
        if name == "cvt" and len(types) == 2:
            return _conversion(types, others, operands)
        if name == "mov" and types and "{" in rest:
            return _move_of_parts(_TYPES[types[-1]].bits, operands)
        if name == "lop3" and len(operands) == 5:
            return _truth_table(operands)
        if name == "setp" and types and others and others[0] in _COMPARISONS:
            compared = _comparison(others[0], types[-1])
            return _instruction(compared, types[-1], "pred", operands)
        if name not in _OPERATIONS or not types or not _MODIFIERS.issuperset(others):
            raise self._unknown(statement)
        type = types[-1]
        return _instruction(_OPERATIONS[name](type, _TYPES[type]), type, type, operands)

    def _unknown(self, statement: str) -> ValueError:
        text = " ".join(self._text.split())
        return ValueError(
            f"the instruction '{statement}' is not known to the reference device; the inline "
            f'assembly is "{text}"'
        )


def _statements(text: str) -> Iterator[str]:
    """The instructions of a text, without comments and blocks."""
    plain = _COMMENT.sub(" ", text)
    for each in re.split(r"[;\n]", plain):
        # A brace at the beginning or the end is a block's, one in between a group of registers.
        statement = re.sub(r"^[\s{}]+|\s+$", "", each)
        if statement and not statement.startswith(_IGNORED):
            yield " ".join(statement.split())


def _read(registers: Registers, operand: str, number: Number) -> Value:
    """A register's or a literal's value."""
    if operand in registers:
        return _value(registers[operand], number)
    literal = operand.lower()
    if re.fullmatch(r"0f[0-9a-f]{8}", literal):
        return _value(np.asarray(int(literal[2:], 16), _WORD), number)
    if re.fullmatch(r"-?(0x[0-9a-f]+|\d+)u?", literal):
        return np.asarray(number.number(int(literal.removesuffix("u"), 0)))
    if re.fullmatch(r"-?\d+\.\d*", literal):
        return np.asarray(number.number(float(literal)))
    raise ValueError(f"nothing was written to '{operand}' in the inline assembly")


def _instruction(
    function: Callable[..., Value], type: str, result: str, operands: Sequence[str]
) -> Callable[[Registers], None]:
    target, *sources = operands
    number, made = _TYPES[type], _TYPES[result]

    def statement(registers: Registers) -> None:
        values = [_read(registers, source, number) for source in sources]
        registers[target] = _bits(function(*values), made)

    return statement


def _conversion(
    types: Sequence[str], modifiers: Sequence[str], operands: Sequence[str]
) -> Callable[[Registers], None]:
    target, source = (_TYPES[type] for type in types)
    is_signed = not types[0].startswith("u") and not types[1].startswith("u")
    if source.kind is Kind.FLOAT and target.kind is Kind.FLOAT:
        convert = casts.truncation(source, target)
    elif source.kind is Kind.FLOAT:
        convert = _rounded_to_integer(source, target, modifiers, not types[0].startswith("u"))
    elif target.kind is Kind.FLOAT:
        convert = casts.from_integer(source, target, not types[1].startswith("u"))
    else:
        convert = (casts.sign_extension if is_signed else casts.zero_extension)(source, target)
    into, given = operands

    def statement(registers: Registers) -> None:
        registers[into] = _bits(convert(_read(registers, given, source)), target)

    return statement


_ROUNDINGS: Mapping[str, Callable[[Value], Value]] = {
    "rmi": np.floor,
    "rni": np.rint,
    "rpi": np.ceil,
    "rzi": np.trunc,
}


def _rounded_to_integer(
    source: Number, target: Number, modifiers: Sequence[str], is_signed: bool
) -> Callable[[Value], Value]:
    rounding = next((_ROUNDINGS[each] for each in modifiers if each in _ROUNDINGS), np.trunc)
    convert = casts.to_integer(source, target, is_signed)
    return lambda value: convert(rounding(value.astype(np.float64)))


def _move_of_parts(bits: int, operands: Sequence[str]) -> Callable[[Registers], None]:
    """Splits a register, as in `mov.b32 {a, b}, c`, or joins some."""
    into, given = operands
    is_split = into.startswith("{")
    names = [each.strip() for each in (into if is_split else given).strip("{}").split(",")]
    width = bits // len(names)
    mask = _WORD.type(2**width - 1)

    def split(registers: Registers) -> None:
        whole = registers[given]
        for index, name in enumerate(names):
            registers[name] = whole >> _WORD.type(index * width) & mask

    def join(registers: Registers) -> None:
        parts = [registers[name] << _WORD.type(index * width) for index, name in enumerate(names)]
        registers[into] = np.bitwise_or.reduce(np.broadcast_arrays(*parts), axis=0)

    return split if is_split else join


def _truth_table(operands: Sequence[str]) -> Callable[[Registers], None]:
    """`lop3`: each bit of the result is that of a table at the bits of three operands."""
    target, *sources, table = operands
    number, rows = _TYPES["b32"], int(table, 0)

    def statement(registers: Registers) -> None:
        a, b, c = (_bits(_read(registers, each, number), number) for each in sources)
        made = np.zeros_like(a | b | c)
        for row in range(8):
            if rows >> row & 1:
                chosen = [x if row >> bit & 1 else ~x for x, bit in ((a, 2), (b, 1), (c, 0))]
                made = made | (chosen[0] & chosen[1] & chosen[2])
        registers[target] = made & _WORD.type(2**32 - 1)

    return statement


_COMPARISONS = ("eq", "ge", "gt", "le", "lt", "ne")


def _comparison(relation: str, type: str) -> Callable[[Value, Value], Value]:
    number = _TYPES[type]
    if number.kind is Kind.FLOAT:
        predicates = {"eq": 1, "gt": 2, "ge": 3, "lt": 4, "le": 5, "ne": 6}
        return floats.comparison(predicates[relation], number)
    sign = "" if relation in ("eq", "ne") else "u" if type.startswith(("u", "b")) else "s"
    return integers.COMPARISONS[f"{sign}{relation}"](number)
