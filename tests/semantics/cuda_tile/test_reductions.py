"""Reductions and scans of CUDA Tile IR with any function, of one tile or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tests.seeds import fresh_generator
from tests.semantics.cuda_tile.tiles import (
    ELEMENTS,
    FRACTION_BITS,
    NUMBERS,
    evaluate,
    random_floats,
    random_integers,
    same,
    tile,
)
from xtile.dialects.cuda_tile.constants import constant_attribute
from xtile.dialects.cuda_tile.enumerations import (
    ComparisonOrdering,
    ComparisonPredicate,
    IntegerOverflow,
    Signedness,
)
from xtile.dialects.cuda_tile.ops import core, floating_point, integer
from xtile.dialects.cuda_tile.ops.control_flow import YieldOp
from xtile.dialects.cuda_tile.ops.reductions import ReduceOp, ScanOp
from xtile.semantics.errors import ExecutionError
from xtile.semantics.sanitizer.sanitizer import Sanitizer

Body = Callable[..., tuple[list[Operation], list[SSAValue]]]
"""Makes the operations of a region from its arguments, and what they yield."""


def region(types: Sequence[str], body: Body) -> Region:
    """The region of a reduction or scan: a pair of arguments for each tile."""
    arguments = [tile((), type) for type in types for _ in range(2)]
    block = Block(arg_types=arguments)
    operations, yielded = body(*block.args)
    block.add_ops([*operations, YieldOp(yielded)])
    return Region(block)


def identity(value: float, type: str) -> Attribute:
    element: Any = ELEMENTS[type]
    return IntegerAttr(int(value), element) if type[0] == "i" else FloatAttr(value, element)


def reduce_of(dim: int, types: list[str], identities: list[float], body: Body) -> Any:
    """A function that makes a reduction of tiles."""
    named = [identity(*each) for each in zip(identities, types, strict=True)]
    return lambda *tiles: ReduceOp(tiles, dim, named, region(types, body))


def scan_of(
    dim: int, types: list[str], identities: list[float], body: Body, *, reverse: bool = False
) -> Any:
    """A function that makes a scan of tiles."""
    named = [identity(*each) for each in zip(identities, types, strict=True)]
    return lambda *tiles: ScanOp(tiles, dim, named, region(types, body), reverse=reverse)


def one(make: Any) -> Body:
    """A body of one operation."""

    def body(element: SSAValue, accumulated: SSAValue) -> tuple[list[Operation], list[SSAValue]]:
        operation = make(element, accumulated)
        return [operation], [operation.result]

    return body


def max_signed(a: SSAValue, b: SSAValue) -> Operation:
    return integer.MaxIOp(a, b, signedness=Signedness.SIGNED)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("type", ["i8", "i32", "i64"])
def test_integers_are_reduced_exactly(type: str, dim: int) -> None:
    values = random_integers(type, (4, 8, 16))
    total = evaluate(reduce_of(dim, [type], [0], one(integer.AddIOp)), (values, type))
    assert np.array_equal(total, values.sum(dim, dtype=values.dtype))
    least = int(np.iinfo(values.dtype).min)
    largest = evaluate(reduce_of(dim, [type], [least], one(max_signed)), (values, type))
    assert np.array_equal(largest, values.max(dim))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_integers_are_scanned_exactly(dim: int, reverse: bool) -> None:
    values = random_integers("i32", (4, 8, 16))
    scan = scan_of(dim, ["i32"], [0], one(integer.AddIOp), reverse=reverse)
    found = evaluate(scan, (values, "i32"))
    order = np.flip(values, dim) if reverse else values
    sums = np.cumsum(order, dim, dtype=np.int32)
    assert np.array_equal(found, np.flip(sums, dim) if reverse else sums)


@pytest.mark.parametrize("type", ["f16", "bf16", "f32", "f64"])
def test_floats_are_rounded_at_each_step(type: str) -> None:
    """The error of 16 sums in any order: each is off by half a unit at most."""
    values = np.abs(random_floats(type, (8, 16)))
    bound = 15 * 2.0 ** -FRACTION_BITS[type]
    exact = values.astype(np.float64)
    total = evaluate(reduce_of(1, [type], [0.0], one(floating_point.AddFOp)), (values, type))
    assert np.allclose(total.astype(np.float64), exact.sum(1), rtol=bound, atol=0)
    sums = evaluate(scan_of(1, [type], [0.0], one(floating_point.AddFOp)), (values, type))
    assert np.allclose(sums.astype(np.float64), exact.cumsum(1), rtol=bound, atol=0)


def test_a_tile_of_one_element_is_combined_with_the_identity() -> None:
    values = np.array([[5], [7]], np.int32)
    add = one(integer.AddIOp)
    assert evaluate(reduce_of(1, ["i32"], [100], add), (values, "i32")).tolist() == [105, 107]
    assert evaluate(scan_of(1, ["i32"], [100], add), (values, "i32")).tolist() == [[105], [107]]
    number = evaluate(reduce_of(0, ["i32"], [0], add), (values[:, 0], "i32"))
    assert np.shape(number) == ()
    assert number == 12


def affine(
    a_before: SSAValue, a: SSAValue, b_before: SSAValue, b: SSAValue
) -> tuple[list[Operation], list[SSAValue]]:
    """First x -> a' x + b', then x -> a x + b: associative, but not commutative."""
    scale = integer.MulIOp(a, a_before)
    moved = integer.MulIOp(a, b_before)
    offset = integer.AddIOp(moved.result, b)
    return [scale, moved, offset], [scale.result, offset.result]


@pytest.mark.parametrize("reverse", [False, True])
def test_several_tiles_are_scanned_in_order(reverse: bool) -> None:
    """The first of each pair of arguments is what came before, as on devices."""
    a, b = random_integers("i32", (2, 32)), random_integers("i32", (2, 32))
    scan = scan_of(1, ["i32", "i32"], [1, 0], affine, reverse=reverse)
    scales, offsets = evaluate(scan, (a, "i32"), (b, "i32"))
    for row in range(2):
        scale, offset = 1, 0
        for i in reversed(range(32)) if reverse else range(32):
            scale, offset = int(a[row, i]) * scale, int(a[row, i]) * offset + int(b[row, i])
            assert (scale - int(scales[row, i])) % 2**32 == 0
            assert (offset - int(offsets[row, i])) % 2**32 == 0


def largest_with_position(
    x: SSAValue, x_before: SSAValue, i: SSAValue, i_before: SSAValue
) -> tuple[list[Operation], list[SSAValue]]:
    """The larger number and its place; of equal ones the first, as it came before."""
    compare = floating_point.CmpFOp(
        ComparisonPredicate.GREATER_THAN, ComparisonOrdering.ORDERED, x, x_before
    )
    value = core.SelectOp(compare.result, x, x_before)
    position = core.SelectOp(compare.result, i, i_before)
    return [compare, value, position], [value.result, position.result]


def test_the_place_of_the_largest_number() -> None:
    values = fresh_generator().integers(0, 6, (16, 32)).astype(np.float32)
    positions = np.broadcast_to(np.arange(32, dtype=np.int32), values.shape)
    reduction = reduce_of(1, ["f32", "i32"], [-np.inf, -1], largest_with_position)
    largest, position = evaluate(reduction, (values, "f32"), (positions, "i32"))
    assert np.array_equal(largest, values.max(1))
    assert np.array_equal(position, values.argmax(1))


def test_a_result_that_depends_on_the_order_is_reported() -> None:
    reduction = reduce_of(0, ["f32", "i32"], [-np.inf, -1], largest_with_position)

    def messages(values: list[float]) -> list[str]:
        observer = Sanitizer()
        positions = np.arange(len(values), dtype=np.int32)
        tiles = (np.array(values, np.float32), "f32"), (positions, "i32")
        evaluate(reduction, *tiles, observer=observer)
        return [report.message for report in observer.reports]

    assert messages([1, 5, 3, 2]) == []
    (message,) = messages([1, 5, 3, 5])
    assert "the result depends on the order of the elements" in message
    assert "it is 1 forwards and 3 backwards" in message


def identity_messages(operation: Any, *tiles: tuple[Any, str]) -> list[str]:
    """What the sanitizer says of an aggregate, all of which is about its identities."""
    observer = Sanitizer()
    evaluate(operation, *tiles, observer=observer)
    names = {report.operation.name for report in observer.reports}
    assert names <= {"cuda_tile.reduce", "cuda_tile.scan"}
    return [report.message for report in observer.reports]


CHANGES = "combining an identity with the elements changes the result: it is "


@pytest.mark.parametrize(
    ("type", "make", "right", "wrong", "said"),
    [
        ("i32", integer.AddIOp, 0, 1, "8 without and 12 with one for each element"),
        ("i32", max_signed, -(2**31), 7, "3 without and 7 with one for each element"),
        ("f32", floating_point.AddFOp, 0, 0.5, "8.0 without and 10.0 with one for each element"),
        ("f32", floating_point.MulFOp, 1, 0, "12.0 without and 0.0 with one for each element"),
        ("f16", floating_point.MaxFOp, -np.inf, 4, "3.0 without and 4.0 with one for each element"),
        ("bf16", floating_point.AddFOp, 0, 1, "8.0 without and 12.0 with one for each element"),
    ],
)
def test_an_identity_that_is_none_is_reported(
    type: str, make: Any, right: float, wrong: float, said: str
) -> None:
    values = np.array([1, 2, 3, 2], NUMBERS[type].dtype)

    def messages(number: float) -> list[str]:
        return identity_messages(reduce_of(0, [type], [number], one(make)), (values, type))

    assert messages(right) == []
    (message,) = messages(wrong)
    assert message == f"{CHANGES}{said}, in the value; in work-group (0,0,0)"


@pytest.mark.parametrize(("reverse", "place"), [(False, "[1, 0]"), (True, "[1, 3]")])
def test_the_identity_of_a_scan_is_checked(reverse: bool, place: str) -> None:
    """Only the second row is below the identity; the element is that of the tile."""
    values = np.array([[5, 6, 7, 8], [-1, 3, 4, -1]], np.float32)
    scan = scan_of(1, ["f32"], [0.0], one(floating_point.MaxFOp), reverse=reverse)
    (message,) = identity_messages(scan, (values, "f32"))
    said = f"it is -1.0 without and 0.0 with one for each element, in element {place}"
    assert message.startswith(CHANGES.removesuffix("it is ") + said)
    assert identity_messages(scan, (np.abs(values), "f32")) == []


def test_an_identity_on_the_other_side_is_checked() -> None:
    """0 - x is no x, but x - 0 is: the function gets what came before second."""

    def difference(element: SSAValue, accumulated: SSAValue) -> Operation:
        return floating_point.SubFOp(element, accumulated)

    for values in ([1, 2], [2, 1]):
        tile = (np.array(values, np.float32), "f32")
        assert identity_messages(reduce_of(0, ["f32"], [0.0], one(difference)), tile)


def test_identities_of_several_tiles_are_checked() -> None:
    """-inf that fills up a row has another place than the identity, but a result never has it."""
    reduction = reduce_of(0, ["f32", "i32"], [-np.inf, -1], largest_with_position)
    places = (np.arange(4, dtype=np.int32), "i32")
    filled_up = (np.array([4, -np.inf, -np.inf, -np.inf], np.float32), "f32")
    assert identity_messages(reduction, filled_up, places) == []
    wrong = reduce_of(0, ["f32", "i32"], [5.0, -1], largest_with_position)
    (message,) = identity_messages(wrong, filled_up, places)
    assert message.startswith(f"{CHANGES}4.0 without and 5.0 with one for each element")


def test_zeros_and_nan_are_no_wrong_identities() -> None:
    for values in ([-0.0, -0.0], [np.nan, 1.0], [np.nan, np.nan], [np.inf, -np.inf]):
        tile = (np.array(values, np.float32), "f32")
        for make, number in ((floating_point.AddFOp, 0.0), (floating_point.MaxFOp, -np.inf)):
            assert identity_messages(reduce_of(0, ["f32"], [number], one(make)), tile) == []
            assert identity_messages(scan_of(0, ["f32"], [number], one(make)), tile) == []


def squares_with_constant(
    element: SSAValue, accumulated: SSAValue
) -> tuple[list[Operation], list[SSAValue]]:
    """The sum modulo 1000, which takes constants that are the same for all elements."""
    total = integer.AddIOp(element, accumulated)
    thousand = core.ConstantOp(constant_attribute(tile((), "i64"), [1000]))
    rest = integer.RemIOp(total.result, thousand.result, signedness=Signedness.UNSIGNED)
    return [total, thousand, rest], [rest.result]


def test_constants_in_the_region() -> None:
    values = fresh_generator().integers(0, 10**6, (4, 64))
    found = evaluate(reduce_of(1, ["i64"], [0], squares_with_constant), (values, "i64"))
    assert np.array_equal(found, values.sum(1) % 1000)


def constant_only(
    element: SSAValue, accumulated: SSAValue
) -> tuple[list[Operation], list[SSAValue]]:
    three = core.ConstantOp(constant_attribute(tile((), "f32"), [3.0]))
    return [three], [three.result]


def test_a_region_that_looks_at_nothing() -> None:
    values = random_floats("f32", (4, 8))
    found = evaluate(reduce_of(0, ["f32"], [0.0], constant_only), (values, "f32"))
    assert same(found, np.full(8, 3.0))


def through_other_shapes(
    element: SSAValue, accumulated: SSAValue
) -> tuple[list[Operation], list[SSAValue]]:
    """The sum of the two parts of a tile of both: not one operation for each element."""
    rows = [core.ReshapeOp(value, (1,)) for value in (element, accumulated)]
    both = core.CatOp(rows[0].result, rows[1].result, 0)
    positions = [core.ConstantOp(constant_attribute(tile((), "i32"), [i])) for i in range(2)]
    parts = [core.ExtractOp(both.result, [position.result], (1,)) for position in positions]
    numbers = [core.ReshapeOp(part.result, ()) for part in parts]
    total = floating_point.AddFOp(numbers[0].result, numbers[1].result)
    return [*rows, both, *positions, *parts, *numbers, total], [total.result]


def test_a_region_that_changes_shapes() -> None:
    values = fresh_generator().integers(-8, 8, (4, 8)).astype(np.float16)
    found = evaluate(reduce_of(1, ["f16"], [0.0], through_other_shapes), (values, "f16"))
    assert np.array_equal(found, values.sum(1))
    sums = evaluate(scan_of(0, ["f16"], [0.0], through_other_shapes), (values, "f16"))
    assert np.array_equal(sums, np.cumsum(values, 0))


def test_errors_and_broken_promises_have_their_place() -> None:
    values = np.array([[1, 2], [0, 3]], np.int32)

    def divide(element: SSAValue, accumulated: SSAValue) -> Operation:
        return integer.RemIOp(accumulated, element, signedness=Signedness.SIGNED)

    with pytest.raises(ExecutionError, match="division by zero") as caught:
        evaluate(reduce_of(0, ["i32"], [1], one(divide)), (values, "i32"))
    assert caught.value.operation.name == "cuda_tile.remi"

    def add(element: SSAValue, accumulated: SSAValue) -> Operation:
        return integer.AddIOp(element, accumulated, overflow=IntegerOverflow.NSW)

    observer = Sanitizer()
    large = np.full(4, 2**30, np.int32)
    evaluate(reduce_of(0, ["i32"], [0], one(add)), (large, "i32"), observer=observer)
    assert "2147483648 does not fit into i32" in observer.reports[0].message
    assert observer.reports[0].operation.name == "cuda_tile.addi"
