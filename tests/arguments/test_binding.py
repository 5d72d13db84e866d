"""Checks of a launch's arguments against the signature, message by message."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.dlpack_producer import Producer, alive_count
from xtile.arguments.arrays import Output, as_array
from xtile.arguments.binding import bind
from xtile.arguments.errors import ArgumentError, describe_type
from xtile.arguments.groups import Group, GroupView
from xtile.arguments.kernel import find_function, signature_of
from xtile.arguments.views import View


def bind_one(type: str, value: Any, body: str = "") -> Any:
    """Binds `value` to the only parameter, %A, of a function."""
    return bind(
        signature_of(find_function(f"func @f(%A: {type}) {{\n{body}\n}}\n", None)), [value]
    )[0]


def message_of(type: str, value: Any, body: str = "") -> str:
    with pytest.raises(ArgumentError) as raised:
        bind_one(type, value, body)
    return str(raised.value)


def column_major(*shape: int, dtype: Any = np.float32) -> Any:
    return np.zeros(shape, dtype, order="F")


STORE = "%c0 = constant 0 : index\n%x = constant 1.0 : f32\nstore %x, %A[%c0]"


class TestScalars:
    @pytest.mark.parametrize(
        ("type", "value", "expected"),
        [
            ("f32", 2, np.float32(2)),
            ("f32", 0.1, np.float32(0.1)),
            ("f32", np.float64(0.5), np.float32(0.5)),
            ("f32", np.array(0.5), np.float32(0.5)),
            ("f32", float("inf"), np.float32("inf")),
            ("f16", np.float16(3.5), np.float16(3.5)),
            ("bf16", 1.5, ml_dtypes.bfloat16(1.5)),
            ("f32", ml_dtypes.bfloat16(1.5), np.float32(1.5)),
            ("f64", 0.1, np.float64(0.1)),
            ("i8", -128, np.int8(-128)),
            ("i64", np.uint8(7), np.int64(7)),
            ("index", 2**62, np.int64(2**62)),
            ("c32", 1 + 2j, np.complex64(1 + 2j)),
            ("bool", True, np.True_),
            ("c64", 3, np.complex128(3)),
        ],
    )
    def test_values_are_converted(self, type: str, value: Any, expected: Any) -> None:
        bound = bind_one(type, value)
        assert bound == expected
        assert bound.dtype == expected.dtype

    @pytest.mark.parametrize(
        ("type", "value", "problem"),
        [
            ("f32", "2", "expected a number, given a str"),
            ("f32", None, "expected a number, given None"),
            ("f32", np.zeros(1), "expected a number, given an ndarray"),
            ("bool", 1, "expected True or False, given an int"),
            ("i32", True, "expected a number, given the bool True"),
            ("i32", 1.0, "expected an integer, given the float 1.0"),
            ("i32", 1j, "expected an integer, given the complex number 1j"),
            ("i8", 128, "expected an integer from -128 to 127, given 128"),
            ("f32", 1j, "expected a real number, given the complex 1j"),
            ("f16", 1e6, "1000000.0 is out of the type's range"),
            ("c32", 1e300j, "1e+300j is out of the type's range"),
            (
                "f32",
                2**24 + 1,
                (
                    "the integer 16777217 is not exact in this type; it would become 16777216; "
                    "pass a float if that is meant"
                ),
            ),
        ],
    )
    def test_wrong_values(self, type: str, value: Any, problem: str) -> None:
        assert message_of(type, value) == f"argument 'A' ({type}): {problem}"


class TestMemrefs:
    def test_a_packed_array_is_passed_as_it_is(self) -> None:
        array = column_major(4, 8)
        bound = bind_one("memref<f32x4x8>", array)
        assert bound.memory.shape == (32,)
        assert np.shares_memory(bound.memory, array)
        assert (bound.shape, bound.strides) == ((4, 8), (1, 4))

    def test_a_view_gives_dynamic_strides(self) -> None:
        array = column_major(10, 8)[2:6]
        bound = bind_one("memref<f32x?x?>", array)
        assert (bound.shape, bound.strides) == ((4, 8), (1, 10))

    @pytest.mark.parametrize("shape", [(1, 8), (8, 1), (1, 1), (0, 3)])
    def test_strides_of_small_modes_do_not_matter(self, shape: tuple[int, int]) -> None:
        row_major = np.zeros(shape, np.float32)
        bound = bind_one("memref<f32x?x?>", row_major)
        assert bound.strides[0] == 1
        if 0 not in shape:
            bind_one(f"memref<f32x{shape[0]}x{shape[1]}>", row_major)

    def test_order_zero(self) -> None:
        assert bind_one("memref<f64>", np.zeros(())).shape == ()

    def test_null(self) -> None:
        assert bind_one("memref<f32x?>", None) is None

    def test_a_declared_output(self) -> None:
        assert bind_one("memref<i32x4>", Output(np.zeros(4, np.int32))).is_output
        assert not bind_one("memref<i32x4>", np.zeros(4, np.int32)).is_output

    def test_integers_have_no_sign(self) -> None:
        array = np.array([2**32 - 1], np.uint32)
        bound = bind_one("memref<i32x1>", array)
        assert bound.memory[0] == -1
        bound.memory[0] = 5
        assert array[0] == 5

    @pytest.mark.parametrize(
        ("type", "value", "problem"),
        [
            (
                "memref<f32x4x8>",
                column_major(4, 7),
                "expected shape (4, 8), given shape (4, 7)",
            ),
            (
                "memref<f32x4x?>",
                column_major(8, 4),
                (
                    "expected shape (4, ?), given shape (8, 4); the given array looks transposed, "
                    "the first mode is the one of the rows"
                ),
            ),
            ("memref<f32x4x8>", column_major(4), "expected shape (4, 8), given shape (4,)"),
            (
                "memref<f32x4x8>",
                np.zeros((4, 8), np.float32),
                (
                    "expected strides (1, 4), given strides (8, 1) for shape (4, 8), counted in "
                    "elements; numpy.asfortranarray makes a column-major copy"
                ),
            ),
            (
                "memref<f32x4x8,strided<1,6>>",
                column_major(4, 8),
                (
                    "expected strides (1, 6), given strides (1, 4) for shape (4, 8), counted in "
                    "elements"
                ),
            ),
            (
                "memref<f32x?x?,strided<?,?>>",
                np.zeros((4, 8), np.float32),
                (
                    "expected strides of at least 1 in which each mode lies outside the one before "
                    "(S_1 s_1 <= S_2), given strides (8, 1) for shape (4, 8), counted in elements; "
                    "numpy.asfortranarray makes a column-major copy"
                ),
            ),
            (
                "memref<f32x4>",
                np.zeros(4),
                (
                    "expected elements of type float32, given float64; pass a converted copy, "
                    "e.g. array.astype(numpy.float32, order='F')"
                ),
            ),
            (
                "memref<bf16x4>",
                column_major(4),
                (
                    "expected elements of type bfloat16, given float32; pass a converted copy, "
                    "e.g. array.astype(ml_dtypes.bfloat16, order='F')"
                ),
            ),
            (
                "memref<f32x4>",
                np.zeros(4, ">f4"),
                (
                    "expected elements of type float32, given >f4; pass a converted copy, "
                    "e.g. array.astype(numpy.float32, order='F')"
                ),
            ),
            (
                "memref<f32x2>",
                [1.0, 2.0],
                (
                    "expected a numpy array or an object with __dlpack__, given a list; "
                    "a list is the argument of a group"
                ),
            ),
            (
                "memref<f32>",
                1.0,
                (
                    "expected a numpy array or an object with __dlpack__, given a float; "
                    "a kernel writes through a memref, so even one number must be in an array"
                ),
            ),
            (
                "memref<f32x?>",
                np.zeros(5, "f4,u1")["f0"],
                (
                    "expected strides that are multiples of the element size (4 bytes), "
                    "given strides (5,) in bytes"
                ),
            ),
        ],
    )
    def test_wrong_arrays(self, type: str, value: Any, problem: str) -> None:
        assert message_of(type, value) == f"argument 'A' ({type}): {problem}"

    def test_a_negative_stride(self) -> None:
        message = message_of("memref<f32x?,strided<?>>", np.zeros(4, np.float32)[::-1])
        assert "given strides (-1,) for shape (4,)" in message

    def test_read_only_arrays_may_be_read_but_not_written(self) -> None:
        array = np.zeros(4, np.float32)
        array.flags.writeable = False
        bind_one("memref<f32x4>", array)
        assert message_of("memref<f32x4>", array, STORE) == (
            "argument 'A' (memref<f32x4>): the kernel writes to it, but the given array is "
            "read-only"
        )

    def test_a_write_through_a_view_is_a_write(self) -> None:
        array = np.zeros(16, np.float32)
        array.flags.writeable = False
        body = """
            %v = subview %A[4:8] : memref<f32x8>
            %e = expand %v[0->2x4] : memref<f32x2x4>
            %one = constant 1.0 : f32
            axpby %one, %e, %one, %e
        """
        assert "the kernel writes to it" in message_of("memref<f32x16>", array, body)

    def test_divisors(self) -> None:
        type = "memref<f32x?x?> {shape_gcd=[4], stride_gcd=[1,8]}"
        bind_one(type, column_major(8, 3))
        assert message_of(type, column_major(6, 3)) == (
            "argument 'A' (memref<f32x?x?>): expected sizes divisible by "
            "shape_gcd=[4], as the kernel promises, given sizes (6, 3)"
        )
        assert message_of(type, column_major(4, 3)) == (
            "argument 'A' (memref<f32x?x?>): expected strides divisible by "
            "stride_gcd=[1, 8], as the kernel promises, given strides (1, 4)"
        )


class DlpackOnly:
    """Has nothing but the protocol."""

    def __init__(self, array: Any, device: tuple[int, int] = (1, 0)) -> None:
        self.array = array
        self.device = device

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class TestDlpack:
    def test_memory_is_shared(self) -> None:
        array = column_major(4, 8)
        bound = bind_one("memref<f32x4x8>", DlpackOnly(array))
        assert bound.strides == (1, 4)
        assert np.shares_memory(bound.memory, array)

    def test_another_device(self) -> None:
        value = DlpackOnly(column_major(4), device=(8, 1))
        assert message_of("memref<f32x4>", value) == (
            "argument 'A' (memref<f32x4>): expected memory of the CPU, but it lies on the device "
            "of DLPack type 8, number 1; copy it to the CPU first"
        )

    def test_an_exporter_that_refuses(self) -> None:
        class Refusing(DlpackOnly):
            def __dlpack__(self, **options: Any) -> Any:
                raise BufferError("no way")

        assert message_of("memref<f32x4>", Refusing(None)) == (
            "argument 'A' (memref<f32x4>): a Refusing does not share its memory: no way"
        )


class Unversioned(DlpackOnly):
    """Knows the protocol of before version 1.0 only, which cannot say what is read-only."""

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.array.__dlpack__()


class IgnoresTheVersion(DlpackOnly):
    """Takes every option, and answers as before version 1.0."""

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__()


@pytest.mark.parametrize("exporter", [Unversioned, IgnoresTheVersion])
class TestUnversionedDlpack:
    @pytest.mark.parametrize("shape", [(4, 8), (1, 1), (0, 3)])
    @pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint16, np.complex64])
    def test_memory_is_shared_and_written(
        self, exporter: type, shape: tuple[int, int], dtype: Any
    ) -> None:
        array = column_major(*shape, dtype=dtype)
        given = as_array("A", exporter(array))
        assert (given.dtype, given.shape) == (array.dtype, shape)
        assert array.size == 0 or given.strides == array.strides
        assert given.flags.writeable
        given[...] = 3
        assert (array == 3).all()

    def test_a_kernel_writes_to_it(self, exporter: type) -> None:
        array = column_major(4)
        bound = bind_one("memref<f32x4>", exporter(array), STORE)
        bound.memory[2] = 7
        assert array.tolist() == [0, 0, 7, 0]

    @pytest.mark.slow
    def test_the_exporters_memory_stays_alive(self, exporter: type) -> None:
        array = np.arange(100_000, dtype=np.float32)
        alive = weakref.ref(array)
        given = as_array("A", exporter(array))
        del array
        gc.collect()
        assert alive() is not None
        assert given[99_999] == 99_999
        del given
        gc.collect()
        assert alive() is None

    def test_read_only_memory_is_refused(self, exporter: type) -> None:
        array = column_major(4)
        array.flags.writeable = False
        assert message_of("memref<f32x4>", exporter(array)).startswith(
            f"argument 'A' (memref<f32x4>): {describe_type(exporter(array))} does not share its "
            "memory: Cannot export readonly array"
        )


class TestReadOnlyDlpack:
    def test_read_only_memory_stays_read_only(self) -> None:
        array = column_major(4)
        array.flags.writeable = False
        assert not as_array("A", DlpackOnly(array)).flags.writeable
        assert "the given array is read-only" in message_of(
            "memref<f32x4>", DlpackOnly(array), STORE
        )


@pytest.mark.parametrize("is_versioned", [True, False])
class TestProducer:
    """A producer that is no array library, as PyTorch in `test_torch.py` is one."""

    def test_memory_is_shared(self, is_versioned: bool) -> None:
        array = np.zeros((8, 4), np.float32).T
        bound = bind_one("memref<f32x4x8>", Producer(array, is_versioned=is_versioned))
        bound.memory[1 + 4 * 2] = 3
        assert array[1, 2] == 3

    def test_bf16(self, is_versioned: bool) -> None:
        array = np.zeros((2, 4), ml_dtypes.bfloat16)[:, 1:].T
        given = as_array("A", Producer(array, is_versioned=is_versioned))
        assert (given.dtype, given.strides) == (array.dtype, array.strides)
        bound = bind_one("memref<bf16x3x2,strided<1,?>>", given)
        bound.memory[4 + 1] = 1.5
        assert float(array[1, 1]) == 1.5

    @pytest.mark.slow
    def test_memory_is_given_back(self, is_versioned: bool) -> None:
        gc.collect()
        before = alive_count()
        producer = Producer(column_major(4, dtype=ml_dtypes.bfloat16), is_versioned=is_versioned)
        given = as_array("A", producer)
        assert alive_count() == before + 1
        del given
        gc.collect()
        assert alive_count() == before


def test_read_only_bf16_stays_read_only() -> None:
    array = column_major(4, dtype=ml_dtypes.bfloat16)
    array.flags.writeable = False
    assert not as_array("A", Producer(array)).flags.writeable
    assert "the given array is read-only" in message_of(
        "memref<bf16x4>", Producer(array), STORE.replace("f32", "bf16")
    )


class TestGroups:
    TYPE = "group<memref<f32x?x?>x?>"

    def test_entries_may_differ_and_be_null(self) -> None:
        bound = bind_one(self.TYPE, [column_major(2, 3), None, column_major(9, 5)[1:5]])
        assert isinstance(bound, GroupView)
        assert [entry and (entry.shape, entry.strides) for entry in bound.entries] == [
            ((2, 3), (1, 2)),
            None,
            ((4, 5), (1, 9)),
        ]

    @pytest.mark.parametrize(("offset", "expected"), [("0", 0), ("?", 0), ("5", 5)])
    @pytest.mark.parametrize("size", ["?", "3", "4000000000000"])
    def test_a_null_group(self, offset: str, expected: int, size: str) -> None:
        bound = bind_one(f"group<memref<f32x?>x{size}, offset: {offset}>", None)
        assert bound == GroupView((), expected, is_associated=False)

    def test_memory_behind_an_offset(self) -> None:
        memory = np.zeros(10, np.float32)
        group = Group([memory], offset=4)
        bound = bind_one("group<memref<f32x2x3>x?, offset: ?>", group)
        assert bound.offset == 4
        entry = bound.entries[0]
        assert (entry.shape, entry.strides) == ((2, 3), (1, 2))
        assert entry.memory is memory

    def test_a_static_offset_need_not_be_given(self) -> None:
        bound = bind_one("group<memref<f32x2x3>x1, offset: 3>", [np.zeros(10, np.float32)])
        assert bound.offset == 3

    def test_memory_with_shapes(self) -> None:
        memory = [np.zeros(20, np.float32), None, np.zeros(7, np.float32)]
        bound = bind_one(self.TYPE, Group(memory, shapes=[(4, 5), None, (7, 1)]))
        assert bound.entries[0].strides == (1, 4)
        assert bound.entries[2].shape == (7, 1)

    @pytest.mark.parametrize(
        ("type", "value", "problem"),
        [
            (
                TYPE,
                7,
                ": expected a list of arrays or an xtile.launch.Group, given an int",
            ),
            (
                TYPE,
                column_major(2, 2),
                (
                    ": expected a list of arrays, an xtile.launch.Group, or an array of order 3 "
                    "whose last mode counts the entries, given shape (2, 2)"
                ),
            ),
            (
                "group<memref<f32x4>x?, offset: 2>",
                column_major(4, 3),
                ": expected a list of arrays or an xtile.launch.Group, given an ndarray",
            ),
            (
                "group<memref<f32x4>x3>",
                column_major(4, 2),
                ": expected 3 entries, given 2",
            ),
            (
                "group<memref<f32x4>x?>",
                column_major(5, 2),
                ": entry 0: expected shape (4,), given shape (5,)",
            ),
            (
                "group<memref<f32x4>x?>",
                column_major(4, 2).astype(float),
                (
                    ": expected elements of type float32, given float64; pass a converted copy, "
                    "e.g. array.astype(numpy.float32, order='F')"
                ),
            ),
            (
                "group<memref<f32x4>x3>",
                [column_major(4)],
                ": expected 3 entries, given 1",
            ),
            (
                "group<memref<f32x4>x?>",
                [column_major(4), column_major(5)],
                ": entry 1: expected shape (4,), given shape (5,)",
            ),
            (
                "group<memref<f32x4>x?>",
                Group([column_major(4)], offset=2),
                ": expected offset 0, given offset 2",
            ),
            (
                "group<memref<f32x4>x?, offset: ?>",
                Group([column_major(4)], offset=2),
                (
                    ": entry 0: expected memory of at least 6 elements for offset 2 and "
                    "shape (4,), given 4"
                ),
            ),
            (
                "group<memref<f32x?>x?, offset: ?>",
                Group([column_major(4)], offset=2),
                ": entry 0: its shape (?,) is dynamic; pass Group(entries, offset, shapes)",
            ),
            (
                "group<memref<f32x2x2>x?, offset: ?>",
                Group([column_major(4, 2)], offset=2),
                (
                    ": entry 0: expected memory, a contiguous array of order 1, because the group "
                    "has an offset or shapes; given shape (4, 2)"
                ),
            ),
            (
                "group<memref<f32x4>x?>",
                Group([column_major(4)], shapes=[]),
                ": expected a shape for each of the 1 entries, given 0 shapes",
            ),
        ],
    )
    def test_wrong_groups(self, type: str, value: Any, problem: str) -> None:
        assert message_of(type, value) == f"argument 'A' ({type}){problem}"

    def test_a_write_through_a_group(self) -> None:
        array = column_major(4)
        array.flags.writeable = False
        body = """
            %c0 = constant 0 : index
            %one = constant 1.0 : f32
            %a = load %A[%c0] : memref<f32x4>
            axpby %one, %a, %one, %a
        """
        assert message_of("group<memref<f32x4>x1>", [array], body) == (
            "argument 'A' (group<memref<f32x4>x1>): entry 0: the kernel writes to it, but the "
            "given array is read-only"
        )


class TestSignature:
    KERNEL = "func @g(%alpha: f32, %A: memref<f32x4>) {\n}\n"

    def error(self, arguments: Any) -> str:
        with pytest.raises(ArgumentError) as raised:
            bind(signature_of(find_function(self.KERNEL, None)), arguments)
        return str(raised.value)

    def test_by_name_in_any_order(self) -> None:
        array = column_major(4)
        bound = bind(signature_of(find_function(self.KERNEL, None)), {"A": array, "alpha": 1})
        assert bound[0] == 1
        assert isinstance(bound[1], View)

    def test_too_few(self) -> None:
        assert self.error([1.0]) == "@g takes 2 arguments (alpha, A), given 1"

    def test_unknown_name(self) -> None:
        assert self.error({"alpha": 1, "B": None}) == (
            "@g has no parameter 'B'; its parameters are alpha, A"
        )

    def test_missing_name(self) -> None:
        assert self.error({"alpha": 1}) == "argument 'A' (memref<f32x4>): no value is given"

    def test_neither_list_nor_dict(self) -> None:
        assert self.error(3) == "expected the arguments as a list or a dict, given an int"


class TestEntry:
    KERNEL = "func @f() {\n}\nfunc @g() {\n}\n"

    def test_chosen(self) -> None:
        assert find_function(self.KERNEL, "g").sym_name.data == "g"

    def test_ambiguous(self) -> None:
        with pytest.raises(ArgumentError) as raised:
            find_function(self.KERNEL, None)
        assert str(raised.value) == ("the kernel has several functions; choose entry from 'f', 'g'")

    def test_unknown(self) -> None:
        with pytest.raises(ArgumentError) as raised:
            find_function(self.KERNEL, "h")
        assert str(raised.value) == "the kernel has no function 'h'; it has 'f', 'g'"

    def test_none(self) -> None:
        with pytest.raises(ArgumentError, match="the kernel has no function to launch"):
            find_function("; nothing\n", None)


@pytest.mark.parametrize("type_", ["vector<4xf32>", "tensor<4xf32>"])
def test_a_number_is_no_vector_and_no_tensor(type_: str) -> None:
    kernel = f"gpu.module @m {{ gpu.func @k(%a: {type_}) kernel {{ gpu.return }} }}"
    with pytest.raises(ArgumentError, match="a value of this type cannot be passed to a kernel"):
        xtile.run(kernel, [1.0])
