"""Each operation of CUDA Tile IR gives the same when it is raised, on numbers with random bits."""

from __future__ import annotations

import math
from random import Random
from typing import Any, cast

import ml_dtypes
import numpy as np
import pytest
from typing_extensions import override
from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    IntegerType,
    ModuleOp,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

import xtile
from tests.generators.cuda_tile_operations import OPERATIONS, random_operation
from tests.seeds import fresh_generator, fresh_random, share_of
from tests.semantics.cuda_tile.tiles import NUMBERS, random_bits, random_integers, same
from tests.translate.cuda_tile_to_core.raised import WAYS, results
from xtile.dialects.cuda_tile.dialect import CudaTile
from xtile.dialects.cuda_tile.enumerations import Signedness
from xtile.dialects.cuda_tile.ops import conversions, core, memory, packing
from xtile.dialects.cuda_tile.ops.control_flow import ReturnOp
from xtile.dialects.cuda_tile.ops.module import EntryOp
from xtile.dialects.cuda_tile.ops.module import ModuleOp as TileModuleOp
from xtile.dialects.cuda_tile.types import PointerType, TileType
from xtile.translate.cuda_tile_to_core import RULES

Array = Any

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

OF_OTHERS = {
    "cuda_tile.break",
    "cuda_tile.continue",
    "cuda_tile.return",
    "cuda_tile.yield",
}
"""What is around them says where control goes."""

TRIES = 2
"""How many random operations of each kind are run."""


KINDS = [kind for kind in OPERATIONS if kind is not core.OffsetOp]
"""The operations that are tried; every entry has offsets."""

FUNCTIONS = frozenset(
    {
        "atan2",
        "cos",
        "cosh",
        "exp",
        "exp2",
        "log",
        "log2",
        "pow",
        "rsqrt",
        "sin",
        "sinh",
        "tan",
        "tanh",
    }
)
"""Operations that numpy may round to either side, differently for arrays and for numbers."""


def test_every_operation_has_a_rule() -> None:
    names = {operation.name for operation in CudaTile.operations}
    assert {name for name in names if RULES.get(name) is None} == OF_OTHERS


class _Entry:
    """An entry that loads tiles from arrays and stores others to arrays."""

    def __init__(self) -> None:
        self.block = Block()
        self.arguments: list[Any] = []

    def add(self, operation: Operation) -> SSAValue:
        self.block.add_op(operation)
        return operation.results[0]

    def _pointers(self, element: Attribute, shape: tuple[int, ...], array: Any) -> SSAValue:
        """Pointers to the elements of a new parameter."""
        base = self.block.insert_arg(TileType((), PointerType(element)), len(self.block.args))
        self.arguments.append(array)
        if not shape:
            return base
        flat = (math.prod(shape),)
        ones = self.add(core.ReshapeOp(base, [1]))
        numbers = self.add(core.IotaOp(TileType(flat, i32)))
        moved = self.add(core.OffsetOp(self.add(core.BroadcastOp(ones, flat)), numbers))
        return self.add(core.ReshapeOp(moved, shape))

    def loaded(self, type_: TileType, values: Any) -> SSAValue:
        """A tile whose elements come from memory."""
        shape, element = tuple(type_.get_shape()), type_.element_type
        if isinstance(element, PointerType):
            return self.add(
                conversions.IntToPtrOp(self.loaded(TileType(shape, i64), values), type_)
            )
        if isinstance(element, Float4E2M1FNType):
            row = self.loaded(TileType((math.prod(shape) // 2,), i8), _bytes(values))
            return self.add(core.ReshapeOp(self.add(packing.UnpackOp(row, element)), shape))
        if element == IntegerType(4):
            return self.add(conversions.TruncIOp(self.loaded(TileType(shape, i8), values), type_))
        pointers = self._pointers(element, shape, np.array(values))
        return self.add(memory.LoadPtrTkoOp(pointers))

    def store(self, value: SSAValue) -> None:
        """Stores a tile to a new array."""
        type_ = value.type
        assert isinstance(type_, TileType)
        shape, element = tuple(type_.get_shape()), type_.element_type
        if isinstance(element, PointerType):
            self.store(self.add(conversions.PtrToIntOp(value, TileType(shape, i64))))
        elif isinstance(element, Float4E2M1FNType):
            row = self.add(core.ReshapeOp(value, [math.prod(shape)]))
            self.store(self.add(packing.PackOp(row)))
        elif element == IntegerType(4):
            wide = conversions.ExtIOp(value, TileType(shape, i8), signedness=Signedness.SIGNED)
            self.store(self.add(wide))
        else:
            blank = np.full(max(1, math.prod(shape)) * 8, 0xFF, np.uint8)
            dtype = NUMBERS[str(element)].dtype
            array = blank[: max(1, math.prod(shape)) * dtype.itemsize].view(dtype)
            pointers = self._pointers(element, shape, array)
            self.block.add_op(memory.StorePtrTkoOp(pointers, value))

    def module(self) -> str:
        """The text of a module with the entry."""
        self.block.add_op(ReturnOp())
        entry = EntryOp("k", self.block.arg_types, Region(self.block))
        return xtile.to_text(ModuleOp([TileModuleOp("m", [entry])]), "mlir")


def _bytes(values: Any) -> Any:
    bits = np.asarray(values).reshape(-1, 2).view(np.uint8) & 0xF
    return (bits[:, 0] | bits[:, 1] << 4).view(np.int8)


def _values(type_: TileType) -> Array:
    """Random elements of a type, as arrays hold them."""
    shape, element = tuple(type_.get_shape()), type_.element_type
    if isinstance(element, PointerType):
        return fresh_generator().integers(0, 2**40, shape or 1) * 4
    name = str(element)
    is_integer = isinstance(element, IntegerType)
    return random_integers(name, shape or (1,)) if is_integer else random_bits(name, shape or (1,))


def _fitting(operation: Operation, number: int, values: Array) -> Array:
    """Operands for which the result is specified."""
    name = operation.name.partition(".")[2]
    if name in ("divi", "remi") and number == 1:
        one = values.dtype.type(1)
        return cast("Array", np.where((values == 0) | (values == -1), one, values))
    if name in ("extract", "insert") and values.dtype == np.int32 and values.size == 1:
        return np.zeros_like(values)
    if name == "fpowi" and number == 1:
        return (values % 7).astype(values.dtype)
    if name in ("mmaf", "mmaf_scaled", "atan2", "pow", "divf"):
        wide: Array = fresh_generator().uniform(0.25, 4, values.shape)
        return wide.astype(values.dtype)
    if name in ("addi", "subi", "muli", "negi", "shli", "trunci"):
        return (values % 5).astype(values.dtype)
    return values


class _OfOneKind(Random):
    """Random numbers with which an operation of one kind is drawn."""

    def __init__(self, kind: type[Operation]) -> None:
        super().__init__(fresh_random().random())
        self.kind = kind

    @override
    def choice(self, seq: Any) -> Any:
        return self.kind if seq is OPERATIONS else super().choice(seq)


def _valid(random: Random) -> Operation:
    """A random operation in which nothing is wrong."""
    while True:
        block = Block()
        operation = random_operation(random, block)
        if any(map(_is_odd, operation.operand_types)) or _makes_loose_bits(operation):
            continue
        try:
            operation.verify()
        except VerifyException:
            continue
        return operation


def _is_odd(type_: Attribute) -> bool:
    """Whether a tile of halves of bytes has no whole number of bytes."""
    assert isinstance(type_, TileType)
    return isinstance(type_.element_type, Float4E2M1FNType) and type_.number_of_elements % 2 == 1


def _makes_loose_bits(operation: Operation) -> bool:
    """Whether an operation makes tf32 of any bits, of which some say nothing."""
    is_cast = operation.name in ("cuda_tile.unpack", "cuda_tile.bitcast")
    return is_cast and "tf32" in str(operation.results[0].type)


def _least(dtype: Any) -> float:
    """The smallest number of a type, by which subnormal numbers differ."""
    return float(ml_dtypes.finfo(dtype).smallest_subnormal)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name.partition(".")[2])
def test_random_operands(kind: type[Operation], way: str) -> None:
    random = _OfOneKind(kind)
    for _ in range(share_of(TRIES)):
        operation, entry = _valid(random), _Entry()
        for number, operand in enumerate(operation.operands):
            assert isinstance(operand.type, TileType)
            values = _fitting(operation, number, _values(operand.type))
            operation.operands[number] = entry.loaded(operand.type, values)
        operation.detach()
        entry.store(entry.add(operation))
        text = entry.module()
        made = WAYS[way](text)
        wanted, found = results(text, entry.arguments)[-1], results(made, entry.arguments)[-1]
        if kind.name in ("cuda_tile.mmaf", "cuda_tile.mmaf_scaled"):
            wide = [each.astype(np.float64) for each in (found, wanted)]
            bound = 2.0**-6 if wanted.dtype == np.float16 else 2.0**-16
            np.testing.assert_allclose(*wide, rtol=bound, err_msg=text)
        elif kind.name.partition(".")[2] in FUNCTIONS:
            wide = [each.astype(np.float64) for each in (found, wanted)]
            bound = 2 * float(ml_dtypes.finfo(wanted.dtype).eps)
            np.testing.assert_allclose(*wide, rtol=bound, atol=_least(wanted.dtype), err_msg=text)
        else:
            assert same(found, wanted), text


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("flush", ["", " flush_to_zero"])
def test_approximate_square_roots_flush_where_the_source_does(flush: str, way: str) -> None:
    text = f"""
    cuda_tile.module @m {{
      entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {{
        %x, %t = load_ptr_tko weak %a : tile<ptr<f32>> -> tile<f32>, token
        %y = sqrt %x rounding<approx>{flush} : tile<f32>
        %s = store_ptr_tko weak %b, %y : tile<ptr<f32>>, tile<f32> -> token
        return
      }}
    }}"""
    arguments = [np.array([3e-39], np.float32), np.array([np.nan], np.float32)]
    for kernel in (text, WAYS[way](text)):
        (found,) = results(kernel, arguments)[-1]
        assert (found == 0) == bool(flush)


# --- constants ---

CONSTANTS = {
    "i1": "[true, false, true, true]",
    "i8": "[-128, 127, 0, -1]",
    "i64": "[-9223372036854775808, 9223372036854775807, 0, -1]",
    "f16": "[0x7C00, 0x7E00, -0.0, 1.0e-7]",
    "bf16": "[0xFF80, 0xFFC0, -0.0, 1.5]",
    "f32": "[0x7F800000, 0xFFC00001, -0.0, 1.0e-40]",
    "f64": "[0x7FF0000000000000, 0x7FF8000000000001, -0.0, 1.5]",
    "f8E4M3FN": "[448.0, 0x7F, -0.0, 0.001953125]",
    "f8E5M2": "[0x7C, 0x7E, -0.0, 57344.0]",
    "tf32": "[1.0, -0.0, 3.0, 0.5]",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("type_", CONSTANTS)
def test_constants_keep_their_bits(type_: str, way: str) -> None:
    dtype = NUMBERS[type_].dtype
    values = CONSTANTS[type_]
    scalar = values.strip("[]").split(", ")[0]
    text = f"""cuda_tile.module @m {{ entry @k(%p: tile<ptr<{type_}>>, %q: tile<ptr<{type_}>>) {{
      %v = constant <{type_}: {values}> : tile<4x{type_}>
      %s = constant <{type_}: {scalar}> : tile<{type_}>
      %i = iota : tile<4xi32>
      %p1 = reshape %p : tile<ptr<{type_}>> -> tile<1xptr<{type_}>>
      %pb = broadcast %p1 : tile<1xptr<{type_}>> -> tile<4xptr<{type_}>>
      %ps = offset %pb, %i : tile<4xptr<{type_}>>, tile<4xi32> -> tile<4xptr<{type_}>>
      %t = store_ptr_tko weak %ps, %v : tile<4xptr<{type_}>>, tile<4x{type_}> -> token
      %u = store_ptr_tko weak %q, %s : tile<ptr<{type_}>>, tile<{type_}> -> token
      return
    }} }}"""
    arguments = [np.zeros(4, dtype), np.zeros(1, dtype)]
    wanted, found = results(text, arguments), results(WAYS[way](text), arguments)
    assert [each.tobytes() for each in found] == [each.tobytes() for each in wanted]


@pytest.mark.parametrize("way", [*WAYS, "opencl"])
@pytest.mark.parametrize("sign", ["signed", "unsigned"])
@pytest.mark.parametrize("type_", ["f16", "f32", "f64"])
def test_as_a_truth_value_a_float_is_whether_it_is_not_0(type_: str, sign: str, way: str) -> None:
    dtype: Any = NUMBERS[type_].dtype
    numbers = [0.0, -0.0, 0.25, 1.0, -1.0, -0.5, 300.0, 2.0**-14, math.inf, -math.inf, math.nan]
    values = np.array([*numbers, *fresh_generator().standard_normal(5)], dtype)
    text = f"""cuda_tile.module @m {{ entry @k(%p: tile<ptr<{type_}>>, %q: tile<ptr<i8>>) {{
      %i = iota : tile<16xi32>
      %p1 = reshape %p : tile<ptr<{type_}>> -> tile<1xptr<{type_}>>
      %pb = broadcast %p1 : tile<1xptr<{type_}>> -> tile<16xptr<{type_}>>
      %ps = offset %pb, %i : tile<16xptr<{type_}>>, tile<16xi32> -> tile<16xptr<{type_}>>
      %q1 = reshape %q : tile<ptr<i8>> -> tile<1xptr<i8>>
      %qb = broadcast %q1 : tile<1xptr<i8>> -> tile<16xptr<i8>>
      %qs = offset %qb, %i : tile<16xptr<i8>>, tile<16xi32> -> tile<16xptr<i8>>
      %v, %t = load_ptr_tko weak %ps : tile<16xptr<{type_}>> -> tile<16x{type_}>, token
      %b = ftoi %v {sign} : tile<16x{type_}> -> tile<16xi1>
      %x = exti %b unsigned : tile<16xi1> -> tile<16xi8>
      %u = store_ptr_tko weak %qs, %x : tile<16xptr<i8>>, tile<16xi8> -> token
      return
    }} }}"""
    kernel = text if way == "opencl" else WAYS[way](text)
    device = "opencl" if way == "opencl" else "reference"
    _, found = results(kernel, [values, np.full(16, 7, np.int8)], device=device)
    assert np.array_equal(found, values != 0)
