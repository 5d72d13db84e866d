"""The instructions of inline assembly that are known.

Source: NVIDIA, "Parallel Thread Execution ISA"; AMD, "CDNA3 Instruction Set Architecture"; Triton
3.9, `TritonOps.td` (`elementwise_inline_asm`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import (
    AnyFloat,
    Float8E4M3FNType,
    Float8E5M2Type,
    IntegerType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i32,
)
from xdsl.ir import Attribute

from xtile.dialects.shapes import bits_of
from xtile.semantics.triton.assembly_registers import Arithmetic, Machine

Numbers: TypeAlias = "Arithmetic[Any]"
Meaning: TypeAlias = "Callable[[Numbers, Attribute, list[Any]], Any]"
"""Computes an instruction from what computes, the type in its name, and its operands."""

_TYPES: Mapping[str, Attribute] = {
    **{f"{kind}{bits}": IntegerType(bits) for kind in "bsu" for bits in (8, 16, 32, 64)},
    "bf16": bf16,
    "e4m3": Float8E4M3FNType(),
    "e5m2": Float8E5M2Type(),
    "f16": f16,
    "f32": f32,
    "f64": f64,
    "pred": i1,
}
"""The types in the names of PTX's instructions; two of them in a register end in `x2`."""

_PAIR = "x2"

# --- instructions that are one operation ---

_SAME: Mapping[str, tuple[str, str, str]] = {
    "abs": ("absf", "absi", ""),
    "add": ("addf", "addi", "addi"),
    "and": ("", "andi", "andi"),
    "clz": ("", "ctlz", "ctlz"),
    "cos": ("cos", "", ""),
    "div": ("divf", "divsi", "divui"),
    "ex2": ("exp2", "", ""),
    "fma": ("fma", "", ""),
    "lg2": ("log2", "", ""),
    "max": ("maxnumf", "maxsi", "maxui"),
    "min": ("minnumf", "minsi", "minui"),
    "mul": ("mulf", "muli", "muli"),
    "or": ("", "ori", "ori"),
    "popc": ("", "ctpop", "ctpop"),
    "rem": ("", "remsi", "remui"),
    "rsqrt": ("rsqrt", "", ""),
    "sin": ("sin", "", ""),
    "sqrt": ("sqrt", "", ""),
    "sub": ("subf", "subi", "subi"),
    "tanh": ("tanh", "", ""),
    "xor": ("", "xori", "xori"),
}
"""PTX's instructions as operations on floats, on signed and on unsigned integers; "" if none is."""

# --- instructions that are several ---


def _multiply_add(numbers: Numbers, type: Attribute, operands: list[Any]) -> Any:
    if isinstance(type, AnyFloat):
        return numbers.compute("fma", operands, type)
    return numbers.compute("addi", [numbers.compute("muli", operands[:2], type), operands[2]], type)


def _move(numbers: Numbers, type: Attribute, operands: list[Any]) -> Any:
    return operands[0]


def _negated(numbers: Numbers, type: Attribute, operands: list[Any]) -> Any:
    if isinstance(type, AnyFloat):
        return numbers.compute("negf", operands, type)
    return numbers.compute("subi", [numbers.constant(0, type), *operands], type)


def _inverted(numbers: Numbers, type: Attribute, operands: list[Any]) -> Any:
    return numbers.compute("xori", [*operands, numbers.constant(-1, type)], type)


def _reciprocal(numbers: Numbers, type: Attribute, operands: list[Any]) -> Any:
    return numbers.compute("divf", [numbers.constant(1, type), *operands], type)


def _of_turns(name: str) -> Meaning:
    """A function of an angle in whole turns, as AMD's are."""

    def meaning(numbers: Numbers, type: Attribute, operands: list[Any]) -> Any:
        whole = numbers.compute("floor", operands, type)
        rest = numbers.compute("subf", [*operands, whole], type)
        angle = numbers.compute("mulf", [rest, numbers.constant(2 * math.pi, type)], type)
        return numbers.compute(name, [angle], type)

    return meaning


def _shifted(name: str) -> Meaning:
    """A shift, by a distance of the same type, which has no result past the width."""

    def meaning(numbers: Numbers, type: Attribute, operands: list[Any]) -> Any:
        value, distance = operands
        width = bits_of(type)
        last = numbers.constant(width - 1, type)
        near = numbers.compute("minui", [distance, last], type)
        moved = numbers.compute(name, [value, near], type)
        if name == "shrsi":
            return moved
        is_past = numbers.compare("ugt", [distance, last], type)
        return numbers.select(is_past, [numbers.constant(0, type), moved], type)

    return meaning


def _shifted_within(name: str) -> Meaning:
    """A shift of AMD's, of whose distance only the lowest bits count."""

    def meaning(numbers: Numbers, type: Attribute, operands: list[Any]) -> Any:
        value, distance = operands
        mask = numbers.constant(bits_of(type) - 1, type)
        return numbers.compute(name, [value, numbers.compute("andi", [distance, mask], type)], type)

    return meaning


_COMPOSED: Mapping[str, Meaning] = {
    "mad": _multiply_add,
    "mov": _move,
    "neg": _negated,
    "not": _inverted,
    "rcp": _reciprocal,
}
"""Others by the first part of their names."""

_SHIFTS: Mapping[str, Meaning] = {"shl": _shifted("shli"), "shr": _shifted("shrui")}
"""Shifts of any numbers but signed ones to the right."""

_MODIFIERS = frozenset({"approx", "ftz", "full", "lo", "rn", "to"})
"""Parts of names that say nothing that matters here."""

_GCN: Mapping[str, tuple[str | Meaning, str]] = {
    "v_add_f32": ("add", "f32"),
    "v_add_u32": ("add", "u32"),
    "v_and_b32": ("and", "b32"),
    "v_ashrrev_i32": (_shifted_within("shrsi"), "s32"),
    "v_cos_f32": (_of_turns("cos"), "f32"),
    "v_exp_f32": ("ex2", "f32"),
    "v_fma_f32": ("fma", "f32"),
    "v_log_f32": ("lg2", "f32"),
    "v_lshlrev_b32": (_shifted_within("shli"), "b32"),
    "v_lshrrev_b32": (_shifted_within("shrui"), "u32"),
    "v_max_f32": ("max", "f32"),
    "v_min_f32": ("min", "f32"),
    "v_mov_b32": ("mov", "b32"),
    "v_mul_f32": ("mul", "f32"),
    "v_not_b32": ("not", "b32"),
    "v_or_b32": ("or", "b32"),
    "v_rcp_f32": ("rcp", "f32"),
    "v_rsq_f32": ("rsqrt", "f32"),
    "v_sin_f32": (_of_turns("sin"), "f32"),
    "v_sqrt_f32": ("sqrt", "f32"),
    "v_sub_f32": ("sub", "f32"),
    "v_sub_u32": ("sub", "u32"),
    "v_xor_b32": ("xor", "b32"),
}
"""Those of AMD's GPUs as PTX's, and their type; `rev` in a name says that operands are reversed."""

Step: TypeAlias = "Callable[[Machine[Any]], None]"
"""Does an instruction."""


def instruction(mnemonic: str, operands: Sequence[str]) -> Step | None:
    """What an instruction does; None if it is not known.

    Args:
        mnemonic: Its name, with types and modifiers.
        operands: What it has behind its name, the target first.
    """
    return (_of_gcn if mnemonic in _GCN else _of_ptx)(mnemonic, operands)


def _of_gcn(mnemonic: str, operands: Sequence[str]) -> Step | None:
    name, type = _GCN[mnemonic]
    meaning = _meaning(name, type) if isinstance(name, str) else name
    target, *sources = operands
    if "rev_" in mnemonic:
        sources.reverse()
    return None if meaning is None else _step(meaning, _TYPES[type], target, sources)


def _of_ptx(mnemonic: str, operands: Sequence[str]) -> Step | None:
    """What an instruction does; None if it is not known."""
    name, *parts = mnemonic.split(".")
    types = [part for part in parts if part.removesuffix(_PAIR) in _TYPES]
    others = [part for part in parts if part not in types and part not in _MODIFIERS]
    target, *sources = operands
    if name == "cvt" and len(types) == 2:
        return _conversion(types, others, target, sources)
    if name == "mov" and types and "{" in f"{target}{sources[0]}":
        return _move_of_parts(_TYPES[types[0]], target, sources[0])
    if name == "lop3" and len(sources) == 4:
        return _truth_table(target, sources)
    if name == "setp" and len(types) == 1 and len(sources) == 2:
        return _comparison(types[0], others, target, sources)
    if name == "selp" and len(types) == 1 and len(sources) == 3 and not others:
        return _selection(_TYPES[types[0]], target, sources)
    if not types or others or any(type != types[-1] for type in types):
        return None
    meaning = _meaning(name, types[-1].removesuffix(_PAIR))
    if meaning is None:
        return None
    if types[-1].endswith(_PAIR):
        return _paired(meaning, _TYPES[types[-1].removesuffix(_PAIR)], target, sources)
    return _step(meaning, _TYPES[types[-1]], target, sources)


def _meaning(name: str, type: str) -> Meaning | None:
    """What an instruction computes of operands of a type; None if it is not known."""
    if name == "shr" and type.startswith("s"):
        return _shifted("shrsi")
    if name in _SHIFTS or name in _COMPOSED:
        return _SHIFTS.get(name) or _COMPOSED[name]
    of_float, of_signed, of_unsigned = _SAME.get(name, ("", "", ""))
    if isinstance(_TYPES[type], AnyFloat):
        same = of_float
    else:
        same = of_signed if type.startswith("s") else of_unsigned
    if not same:
        return None
    return lambda numbers, type, operands: numbers.compute(same, operands, type)


def _step(meaning: Meaning, type: Attribute, target: str, sources: Sequence[str]) -> Step:
    def step(machine: Machine[Any]) -> None:
        operands = [machine.read(source, type) for source in sources]
        machine.write(target, meaning(machine.numbers, type, operands), type)

    return step


def _paired(meaning: Meaning, type: Attribute, target: str, sources: Sequence[str]) -> Step:
    """An instruction on both halves of registers."""
    whole = IntegerType(2 * bits_of(type))

    def step(machine: Machine[Any]) -> None:
        halves = [machine.split(machine.read(source, whole), 2, type) for source in sources]
        made = [meaning(machine.numbers, type, list(each)) for each in zip(*halves, strict=True)]
        machine.write(target, machine.join(made, type), whole)

    return step


_RELATIONS = ("eq", "ge", "gt", "le", "lt", "ne")


def _comparison(
    type: str, relation: Sequence[str], target: str, sources: Sequence[str]
) -> Step | None:
    number = _TYPES[type]
    if len(relation) != 1:
        return None
    (name,) = relation
    if isinstance(number, AnyFloat):
        # Those that end in u hold where an operand is NaN.
        is_unordered = name.endswith("u") and name[:-1] in _RELATIONS
        predicate = f"u{name[:-1]}" if is_unordered else f"o{name}"
    else:
        sign = "" if name in ("eq", "ne") else "s" if type.startswith("s") else "u"
        predicate = f"{sign}{name}"
    if predicate.lstrip("osu") not in _RELATIONS:
        return None

    def step(machine: Machine[Any]) -> None:
        operands = [machine.read(source, number) for source in sources]
        machine.write(target, machine.numbers.compare(predicate, operands, number), i1)

    return step


def _selection(type: Attribute, target: str, sources: Sequence[str]) -> Step:
    def step(machine: Machine[Any]) -> None:
        condition = machine.read(sources[2], i1)
        operands = [machine.read(source, type) for source in sources[:2]]
        machine.write(target, machine.numbers.select(condition, operands, type), type)

    return step


def _move_of_parts(type: Attribute, target: str, source: str) -> Step:
    """Splits a register, as in `mov.b32 {a, b}, c`, or joins some."""
    is_split = target.startswith("{")
    names = [each.strip() for each in (target if is_split else source).strip("{}").split(",")]
    part = IntegerType(bits_of(type) // len(names))

    def split(machine: Machine[Any]) -> None:
        parts = machine.split(machine.read(source, type), len(names), part)
        for name, value in zip(names, parts, strict=True):
            machine.write(name, value, part)

    def join(machine: Machine[Any]) -> None:
        parts = [machine.read(name, part) for name in names]
        machine.write(target, machine.join(parts, part), type)

    return split if is_split else join


def _truth_table(target: str, sources: Sequence[str]) -> Step:
    """`lop3`: each bit of the result is that of a table at the bits of three operands."""
    *operands, table = sources
    rows = [row for row in range(8) if int(table, 0) >> row & 1]

    def step(machine: Machine[Any]) -> None:
        numbers = machine.numbers
        bits = [machine.read(each, i32) for each in operands]
        inverse = [_inverted(numbers, i32, [each]) for each in bits]
        made = numbers.constant(0, i32)
        for row in rows:
            a, b, c = ((bits if row >> 2 - n & 1 else inverse)[n] for n in range(3))
            both = numbers.compute("andi", [a, b], i32)
            made = numbers.compute("ori", [made, numbers.compute("andi", [both, c], i32)], i32)
        machine.write(target, made, i32)

    return step


# --- conversions ---

_ROUNDINGS = {"rmi": "floor", "rni": "roundeven", "rpi": "ceil", "rzi": "trunc"}

_LARGEST: Mapping[Attribute, float] = {
    _TYPES["e4m3"]: 448.0,
    _TYPES["e5m2"]: 57344.0,
    f16: 65504.0,
}
"""What numbers that are too large become with `satfinite`."""


def _conversion(
    types: Sequence[str], modifiers: Sequence[str], target: str, sources: Sequence[str]
) -> Step | None:
    """Of two sources, the first becomes the upper half of a register."""
    target_type, source_type = (each.removesuffix(_PAIR) for each in types)
    is_pair = [each.endswith(_PAIR) for each in types]
    known = {*_ROUNDINGS, "satfinite"} if _TYPES[target_type] in _LARGEST else {*_ROUNDINGS}
    if not known.issuperset(modifiers) or len(sources) != (2 if is_pair == [True, False] else 1):
        return None
    convert = _converter(target_type, source_type, modifiers)
    into, given = _TYPES[target_type], _TYPES[source_type]

    def step(machine: Machine[Any]) -> None:
        if not is_pair[0]:
            value = convert(machine.numbers, machine.read(sources[0], given))
            machine.write(target, value, into)
            return
        if is_pair[1]:
            whole = machine.read(sources[0], IntegerType(2 * bits_of(given)))
            halves = machine.split(whole, 2, given)
        else:
            halves = [machine.read(source, given) for source in reversed(sources)]
        made = [convert(machine.numbers, half) for half in halves]
        machine.write(target, machine.join(made, into), IntegerType(2 * bits_of(into)))

    return None if is_pair == [False, True] else step


def _converter(
    target_type: str, source_type: str, modifiers: Sequence[str]
) -> Callable[[Numbers, Any], Any]:
    target, source = _TYPES[target_type], _TYPES[source_type]
    rounding = next((_ROUNDINGS[each] for each in modifiers if each in _ROUNDINGS), None)
    name = _cast_name(target_type, source_type)

    def convert(numbers: Numbers, value: Any) -> Any:
        if rounding is not None and isinstance(source, AnyFloat):
            value = numbers.compute(rounding, [value], source)
        if "satfinite" in modifiers:
            value = _limited(numbers, value, source, _LARGEST[target])
        return value if source == target else numbers.convert(name, value, source, target)

    return convert


def _limited(numbers: Numbers, value: Any, type: Attribute, largest: float) -> Any:
    least, most = (numbers.constant(each, type) for each in (-largest, largest))
    return numbers.compute(
        "maximumf", [numbers.compute("minimumf", [value, most], type), least], type
    )


def _cast_name(target_type: str, source_type: str) -> str:
    """The cast of `arith` from one of PTX's types to another."""
    target, source = _TYPES[target_type], _TYPES[source_type]
    grows = bits_of(target) > bits_of(source)
    match isinstance(source, AnyFloat), isinstance(target, AnyFloat):
        case True, True:
            return "extf" if grows else "truncf"
        case True, False:
            return "fptosi" if target_type.startswith("s") else "fptoui"
        case False, True:
            return "sitofp" if source_type.startswith("s") else "uitofp"
        case _:
            return "trunci" if not grows else "extsi" if source_type.startswith("s") else "extui"
