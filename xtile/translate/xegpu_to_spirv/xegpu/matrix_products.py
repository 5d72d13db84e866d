"""Products of matrices, in the spelling that the device's driver takes.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `dpas`; the OpenCL extension
cl_intel_subgroup_matrix_multiply_accumulate; SPV_INTEL_subgroup_matrix_multiply_accumulate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import BFloat16Type, IntegerType, Signedness, bf16, f16, f32, i8, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.shared_attributes import integer_type
from xtile.dialects.xegpu.ops.product import DpasOp
from xtile.rewrite.rebuilder import Rule
from xtile.targets.lanes import LaneTarget
from xtile.targets.products import unit_for
from xtile.targets.spellings import Means
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import bit_width, element_type, length_of
from xtile.translate.xegpu_to_spirv.words import as_words
from xtile.translate.xegpu_to_spirv.xegpu import inline_visa
from xtile.translate.xegpu_to_spirv.xegpu.function_names import product_name
from xtile.translate.xegpu_to_spirv.xegpu.imports import call
from xtile.translate.xegpu_to_spirv.xegpu.plain_products import multiply_by_exchanges
from xtile.translate.xegpu_to_spirv.xegpu.products import Product, product_of

SI8, UI8 = IntegerType(8, Signedness.SIGNED), IntegerType(8, Signedness.UNSIGNED)


@dataclass(frozen=True)
class _Names:
    """How a type of factors is called.

    Attributes:
        in_functions: In the names of functions.
        in_visa: In the virtual ISA.
        in_masks: In the operands of the instruction of SPIR-V.
    """

    in_functions: str
    in_visa: str
    in_masks: tuple[str, ...]


_NAMES: Mapping[Attribute, _Names] = {
    f16: _Names("f16", "hf", ("PackedFloat16",)),
    bf16: _Names("bf16", "bf", ("PackedBFloat16",)),
    f32: _Names("tf32", "tf32", ("TF32",)),
    i8: _Names("i8", "s8", ("SignedComponents", "PackedInt8")),
    SI8: _Names("i8", "s8", ("SignedComponents", "PackedInt8")),
    UI8: _Names("u8", "u8", ("PackedInt8",)),
}

_Multiply = Callable[[Lowering, Product, Sequence[SSAValue]], SSAValue]
"""Emits a product of a lane's parts of A, B and C, in the types that the matrix unit has."""


def _by_function(lowering: Lowering, product: Product, parts: Sequence[SSAValue]) -> SSAValue:
    parts = _with_integers(lowering, product, parts)
    words = "u" if product.factor == UI8 else "i"
    parameters = [
        (_name_of(part, kind), length_of(part.type))
        for part, kind in zip(parts, (words, words, "i"), strict=True)
    ]
    name = product_name(_NAMES[product.factor].in_functions, product.depth, parameters)
    (result,) = call(lowering, name, product.sum_type, parts, control="Pure")
    return result


def _with_integers(
    lowering: Lowering, product: Product, parts: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """The parts with the bits of A in integers, unless it is of f32."""
    left, right, before = parts
    if product.factor != f32:
        (left,) = as_words(lowering, [left], integer_type(bit_width(product.left_word)))
    return left, right, before


def _name_of(part: SSAValue, integers: str) -> str:
    """The type of a part's elements, as `function_names` calls it; integers are `i` or `u`."""
    kind = integers if isa(element_type(part.type), IntegerType) else "f"
    return f"{kind}{bit_width(element_type(part.type))}"


def _in_visa(lowering: Lowering, product: Product, parts: Sequence[SSAValue]) -> SSAValue:
    return inline_visa.multiply_add(
        lowering,
        _NAMES[product.factor].in_visa,
        product.lanes,
        parts,
        is_bfloat16=isinstance(product.sum, BFloat16Type),
    )


def _by_instruction(lowering: Lowering, product: Product, parts: Sequence[SSAValue]) -> SSAValue:
    masks = [f"Matrix{m}{n}INTEL" for n in _NAMES[product.factor].in_masks for m in "AB"]
    if isinstance(product.sum, BFloat16Type):
        masks += ["MatrixCBFloat16INTEL", "MatrixResultBFloat16INTEL"]
    depth = lowering.integer(product.depth, i32)
    parts = _with_integers(lowering, product, parts)
    return lowering.compute(
        "SubgroupMatrixMultiplyAccumulateINTEL", product.sum_type, depth, *parts, "|".join(masks)
    )


_MEANS: Mapping[Means, _Multiply] = {
    Means.EXTENSION: _by_instruction,
    Means.FUNCTION: _by_function,
    Means.VISA: _in_visa,
}


def to_tf32(lowering: Lowering, value: SSAValue) -> SSAValue:
    """Numbers of f32 rounded to tf32, in a f32 each."""
    if lowering.target.spelling.products_of("tf32") is Means.VISA:
        return inline_visa.round_to_tf32(lowering, value, lowering.kernel.lanes_together)
    return lowering.compute("RoundFToTF32INTEL", value.type, value)


def _unit_type(product: Product) -> str:
    """What the matrix unit calls a product's factors: it rounds those of f32 to tf32."""
    return "tf32" if product.factor == f32 else _text(product.factor)


@cache
def _text(type_: Attribute) -> str:
    return str(type_)


def _misfit(product: Product, target: LaneTarget) -> str | None:
    """Why the matrix unit does not compute a product; None if it does."""
    if target.matrix_units and target.spelling.products is None:
        return f"the spelling '{target.spelling.name}' does not use it"
    factor = _unit_type(product)
    unit = unit_for(
        target,
        target.matrix_units,
        (factor, factor),
        product.sum,
        lanes=product.lanes,
        shape=(product.rows, product.lanes, product.depth),
        rounds=True,
    )
    return unit if isinstance(unit, str) else None


def _dpas(operation: DpasOp, lowering: Lowering) -> None:
    product = product_of(operation, lowering)
    left, right = (lowering.pieces(value) for value in (operation.lhs, operation.rhs))
    before = _accumulator(operation, lowering, product)
    misfit = _misfit(product, lowering.target)
    if misfit is not None:
        lowering.remark(f"multiplies without the matrix unit: {misfit}")
        result = multiply_by_exchanges(lowering, product, left, right, before)
        lowering.define_pieces(operation.result, result)
        return
    (a,) = as_words(lowering, left, product.left_word)
    (b,) = as_words(lowering, right, product.right_word)
    means = lowering.target.spelling.products_of(_unit_type(product))
    assert means is not None
    total = _MEANS[means](lowering, product, (a, b, *before))
    lowering.define_pieces(operation.result, [total])


def _accumulator(operation: DpasOp, lowering: Lowering, product: Product) -> Sequence[SSAValue]:
    """The pieces of C; zeros if there is none."""
    if operation.acc is not None:
        return lowering.pieces(operation.acc)
    return [lowering.constants.of_bits(0, type_) for type_ in product.sum_types]


RULES: dict[str, Rule] = {DpasOp.name: _dpas}
"""The rule of each operation, by name."""
