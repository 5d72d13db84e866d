"""Kernels of one operation each of CUDA Tile IR, to compare its numbers on different devices.

Each kernel loads a tile of each operand, applies the operation, and stores the results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

COUNT = 16384
"""The elements of each operand."""

TILE = 256
"""The elements of a tile; each tile block has one of each operand."""

GRID = COUNT // TILE

_FLOATS = ("f16", "bf16", "f32", "f64")
_INTEGERS = ("i8", "i16", "i32", "i64")
_SIGNS = ("signed", "unsigned")
_MODES = ("nearest_even", "zero", "negative_inf", "positive_inf")


@dataclass(frozen=True)
class Case:
    """An operation.

    Attributes:
        family: What kind of operation it is, for the report.
        name: Its name, by which its operands are drawn.
        operands: The element types of the operands, `%x0`, `%x1`, ...
        results: The element types of the results, `%y0`, `%y1`, ...
        body: The text.
        is_exact: Whether there is only one right result.
    """

    family: str
    name: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    body: str
    is_exact: bool = True

    @property
    def text(self) -> str:
        """The kernel."""
        return _kernel(self)


def cases() -> list[Case]:
    """All operations that are compared."""
    families = (
        _conversions, _integers, _rounded, _flushed, _approximations, _functions, _chosen, _scans,
        _products, _packing,
    )  # fmt: skip
    return [case for family in families for case in family()]


def tile(element: str, count: int = TILE) -> str:
    """The type of a row of elements."""
    return f"tile<{count}x{element}>"


def _of(
    family: str, name: str, text: str, element: str, count: int = 1, exact: bool = True
) -> Case:
    """An operation on tiles of one type, given without its operands' names and its type."""
    operation, _, flags = text.partition(" ")
    operands = ", ".join(f"%x{i}" for i in range(count))
    body = f"%y0 = {operation} {operands} {flags} : {tile(element)}"
    return Case(family, name, (element,) * count, (element,), body, exact)


_FLOAT_PAIRS = (
    "f32 f8E4M3FN", "f32 f8E5M2", "f16 f8E4M3FN", "bf16 f8E5M2", "f64 f8E4M3FN", "f64 bf16",
    "f64 f16", "f32 f16", "f32 bf16", "f32 tf32", "f8E4M3FN f32", "f8E5M2 f32", "f8E4M3FN f16",
    "f8E4M3FN f8E5M2", "f16 bf16", "bf16 f16", "f64 f32", "f64 tf32",
)  # fmt: skip

_TO_FLOAT = (
    "i32 f8E4M3FN", "i64 f8E5M2", "i64 f16", "i64 bf16", "i64 f32", "i32 f16", "i8 bf16",
    "i16 tf32",
)  # fmt: skip

_TO_INTEGER = (
    "f32 i8", "f32 i32", "f32 i64", "f64 i32", "f64 i64", "f16 i16", "bf16 i32", "f8E4M3FN i8",
    "f32 i1", "f16 i1", "f64 i1",
)  # fmt: skip


def _conversions() -> Iterator[Case]:
    for pair in _FLOAT_PAIRS:
        yield _converted("floats to floats", f"ftof_{pair.replace(' ', '_')}", "ftof %x0", pair)
    for pair, sign in product(_TO_FLOAT, _SIGNS):
        name = f"itof_{pair.replace(' ', '_')}_{sign}"
        yield _converted("integers to floats", name, f"itof %x0 {sign}", pair)
    for pair, sign in product(_TO_INTEGER, _SIGNS):
        name = f"ftoi_{pair.replace(' ', '_')}_{sign}"
        yield _converted("floats to integers", name, f"ftoi %x0 {sign}", pair)


def _converted(family: str, name: str, text: str, pair: str) -> Case:
    source, target = pair.split()
    body = f"%y0 = {text} : {tile(source)} -> {tile(target)}"
    return Case(family, name, (source,), (target,), body)


def _integers() -> Iterator[Case]:
    family = "integers"
    for type in _INTEGERS:
        yield _of(family, f"shli_{type}", "shli", type, 2)
        for sign in _SIGNS:
            for name in ("shri", "divi", "remi", "maxi"):
                yield _of(family, f"{name}_{type}_{sign}", f"{name} {sign}", type, 2)
            ceiling = f"divi {sign} rounding<positive_inf>"
            yield _of(family, f"ceildiv_{type}_{sign}", ceiling, type, 2)
        yield _of(family, f"floordiv_{type}", "divi signed rounding<negative_inf>", type, 2)
        yield _of(family, f"mulhii_{type}", "mulhii", type, 2)
        yield _of(family, f"absi_{type}", "absi", type)


_OPERANDS = {"addf": 2, "subf": 2, "mulf": 2, "divf": 2, "fma": 3, "sqrt": 1}


def _rounded() -> Iterator[Case]:
    for (name, count), type, mode in product(_OPERANDS.items(), _FLOATS, _MODES):
        text = f"{name} rounding<{mode}>"
        yield _of("floats in all rounding modes", f"{name}_{type}_{mode}", text, type, count)


def _flushed() -> Iterator[Case]:
    family = "floats with flush_to_zero"
    for name, mode in product(("addf", "mulf", "divf"), ("nearest_even", "zero")):
        text = f"{name} rounding<{mode}> flush_to_zero"
        yield _of(family, f"{name}_ftz_{mode}", text, "f32", 2)
    yield _of(family, "fma_ftz", "fma rounding<nearest_even> flush_to_zero", "f32", 3)
    yield _of(family, "sqrt_ftz", "sqrt rounding<nearest_even> flush_to_zero", "f32")
    yield _of(family, "maxf_ftz", "maxf flush_to_zero", "f32", 2)


def _approximations() -> Iterator[Case]:
    for mode in ("approx", "full"):
        family = f"rounding<{mode}>, f32"
        for suffix, flag in (("", ""), ("_ftz", " flush_to_zero")):
            text = f"divf rounding<{mode}>{flag}"
            yield _of(family, f"divf_{mode}{suffix}", text, "f32", 2, exact=False)
        for name in ("exp", "tanh"):
            yield _of(family, f"{name}_{mode}", f"{name} rounding<{mode}>", "f32", exact=False)
    family = "rounding<approx>, f32"
    yield _of(family, "sqrt_approx", "sqrt rounding<approx>", "f32", exact=False)
    for name in ("rsqrt", "exp2"):
        family = "functions, f32"
        yield _of(family, f"{name}_ftz", f"{name} flush_to_zero", "f32", exact=False)


_UNARY = (
    *("cos", "cosh", "exp", "exp2", "log", "log2"),
    *("rsqrt", "sin", "sinh", "tan", "tanh"),
)


def _functions() -> Iterator[Case]:
    counts = {**dict.fromkeys(_UNARY, 1), **dict.fromkeys(("atan2", "pow"), 2)}
    for type, (name, count) in product(_FLOATS, counts.items()):
        yield _of(f"functions, {type}", f"{name}_{type}", name, type, count, exact=False)


def _chosen() -> Iterator[Case]:
    family = "signs, whole numbers, remainders, extrema, comparisons"
    for name, type in product(("ceil", "floor", "absf", "negf"), _FLOATS):
        yield _of(family, f"{name}_{type}", name, type)
    for type in _FLOATS:
        yield _of(family, f"remf_{type}", "remf", type, 2)
    for name, type, flag in product(("maxf", "minf"), _FLOATS, ("", "propagate_nan")):
        yield _of(family, f"{name}_{type}_{flag}", f"{name} {flag}", type, 2)
    predicates = ("equal", "not_equal", "less_than", "greater_than_or_equal")
    for predicate, ordering in product(predicates, ("ordered", "unordered")):
        name = f"cmpf_{predicate}_{ordering}"
        body = f"%y0 = cmpf {predicate} {ordering} %x0, %x1 : {tile('f32')} -> {tile('i1')}"
        yield Case(family, name, ("f32", "f32"), ("i1",), body)


def _scans() -> Iterator[Case]:
    types = f"{tile('i32')}, {tile('i32')}"
    body = f"""%y0, %y1 = scan %x0, %x1 dim=0 reverse=false identities=[1 : i32, 0 : i32]
          : {types} -> {types}
        (%a: tile<i32>, %b: tile<i32>, %c: tile<i32>, %d: tile<i32>) {{
          %p = muli %a, %b : tile<i32>
          %q = muli %c, %b : tile<i32>
          %r = addi %q, %d : tile<i32>
          yield %p, %r : tile<i32>, tile<i32>
        }}"""
    yield Case("scans", "scan_affine", ("i32", "i32"), ("i32", "i32"), body)


_FACTORS = ("f16 f32", "f16 f16", "bf16 f32", "f32 f32", "f64 f64", "f8E4M3FN f32", "f8E5M2 f16")


def _products() -> Iterator[Case]:
    for pair in _FACTORS:
        factor, accumulator = pair.split()
        name = f"mmaf_{factor}_{accumulator}"
        yield _product("products of matrices of floats", name, "mmaf", "", factor, accumulator)
    for lhs, rhs in product(_SIGNS, _SIGNS):
        flags = f"{lhs} {rhs} "
        name = f"mmai_{lhs}_{rhs}"
        yield _product("products of matrices of integers", name, "mmai", flags, "i8", "i32")


def _product(
    family: str, name: str, operation: str, flags: str, factor: str, accumulator: str
) -> Case:
    shaped = [f"tile<16x16x{type}>" for type in (factor, factor, accumulator)]
    body = "".join(
        f"%m{i} = reshape %x{i} : {tile(type)} -> {shaped[i]}\n"
        for i, type in enumerate((factor, factor, accumulator))
    )
    body += f"""%p = {operation} %m0, %m1, %m2 {flags}: {", ".join(shaped)}
        %y0 = reshape %p : {shaped[2]} -> {tile(accumulator)}"""
    operands = factor, factor, accumulator
    return Case(family, name, operands, (accumulator,), body, is_exact=operation == "mmai")


_HALVES = """
    %c0 = constant <i32: 0> : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>"""


def _packing() -> Iterator[Case]:
    whole, part = tile("i8", 2 * TILE), tile("i8")
    extract = f"extract %w[{{}}] : {whole} -> {part}"
    halves = "".join(f"\n%y{i} = {extract.format(f'%c{i}')}" for i in range(2))
    yield Case(
        "packed tiles",
        "pack_f16",
        ("f16",),
        ("i8", "i8"),
        f"%w = pack %x0 : {tile('f16')} -> {whole}{_HALVES}{halves}",
    )
    yield Case(
        "packed tiles",
        "unpack_i4",
        ("i8",),
        ("i8", "i8"),
        f"""%u = unpack %x0 : {part} -> {tile("i4", 2 * TILE)}
        %w = exti %u signed : {tile("i4", 2 * TILE)} -> {whole}{_HALVES}{halves}""",
    )


def _kernel(case: Case) -> str:
    parameters = [f"%in{i}: tile<ptr<{type}>>" for i, type in enumerate(case.operands)]
    parameters += [f"%out{i}: tile<ptr<{type}>>" for i, type in enumerate(case.results)]
    lines = [
        f"""%block, %by, %bz = get_tile_block_id : tile<i32>
        %size = constant <i32: {TILE}> : tile<i32>
        %start = muli %block, %size : tile<i32>
        %start_1 = reshape %start : tile<i32> -> tile<1xi32>
        %starts = broadcast %start_1 : tile<1xi32> -> {tile("i32")}
        %step = iota : {tile("i32")}
        %index = addi %starts, %step : {tile("i32")}"""
    ]
    for i, type in enumerate(case.operands):
        pointers = tile(f"ptr<{type}>")
        lines += _pointers(f"in{i}", type)
        lines.append(
            f"%x{i}, %tx{i} = load_ptr_tko weak %in{i}_p : {pointers} -> {tile(type)}, token"
        )
    lines.append(case.body)
    for i, type in enumerate(case.results):
        types = f"{tile(f'ptr<{type}>')}, {tile(type)}"
        lines += _pointers(f"out{i}", type)
        lines.append(f"%ty{i} = store_ptr_tko weak %out{i}_p, %y{i} : {types} -> token")
    return _module(parameters, lines)


def _pointers(name: str, type: str) -> list[str]:
    single, one, many = (f"tile<{count}ptr<{type}>>" for count in ("", "1x", f"{TILE}x"))
    return [
        f"%{name}_1 = reshape %{name} : {single} -> {one}",
        f"%{name}_b = broadcast %{name}_1 : {one} -> {many}",
        f"%{name}_p = offset %{name}_b, %index : {many}, {tile('i32')} -> {many}",
    ]


def _module(parameters: Sequence[str], lines: Sequence[str]) -> str:
    body = "\n".join(lines)
    return f"cuda_tile.module @m {{\nentry @k({', '.join(parameters)}) {{\n{body}\nreturn\n}}\n}}\n"
