"""Kernels get the arguments of the calling convention, whatever the caller passes.

The kernels are SPIR-V that stores what it is given (`probe`), so that no translation of ours is
part of what is tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, byref, c_int32, c_size_t, c_uint32, c_void_p
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute

import xtile
from tests.backends.intel.opencl.spirv_kernels import WORDS, probe
from tests.seeds import fresh_generator
from xtile.arguments.binding import bind
from xtile.arguments.signature import Parameter, Signature
from xtile.backends.intel.opencl import native
from xtile.backends.intel.opencl.device import OpenclDevice, find_devices
from xtile.backends.intel.opencl.launching import launch
from xtile.backends.intel.opencl.session import Session, own_context, own_queue
from xtile.launch import ArgumentError, DeviceArray, DeviceError, Group

DEVICE = next(device for device in find_devices() if device.is_cpu)


def without_system_memory() -> OpenclDevice:
    """The same device, taken for one whose kernels do not see the memory of the host."""
    device = OpenclDevice(DEVICE.handle, DEVICE.target)
    device.__dict__["shares_system_memory"] = False
    return device


DEVICES = {"shared": DEVICE, "copied": without_system_memory()}


@pytest.fixture(name="device", params=list(DEVICES))
def choose_device(request: pytest.FixtureRequest) -> OpenclDevice:
    return DEVICES[request.param]


def type_of(text: str) -> Attribute:
    """A type of the tensor language, or of MLIR if the text begins with `mlir `."""
    if text.startswith("mlir "):
        module = xtile.parse(f"func.func private @f({text[5:]})\n", language="mlir")
        (function,) = module.body.block.ops
        return function.properties["function_type"].inputs.data[0]  # type: ignore[attr-defined]
    module = xtile.parse(f"func @f(%a: {text}) {{\n}}\n")
    (function,) = module.body.block.ops
    return function.regions[0].block.args[0].type


def launch_probe(
    device: OpenclDevice,
    type: Attribute,
    value: Any,
    entries: int = 0,
    attributes: dict[str, Attribute] | None = None,
    *,
    may_be_address: bool = False,
) -> list[int]:
    """What a kernel is given for an argument, as words of 64 bits."""
    program = probe(type, entries)
    parameter = Parameter("a", type, attributes or {}, may_be_address=may_be_address)
    signature = Signature("probe", (Parameter("out", WORDS, {}), parameter), frozenset({0}))
    out = np.full(64, -1, np.int64)
    kernel = Session(device, own_context(DEVICE)).kernel("", program, "probe")
    bound = bind(signature, [out, value])
    launch(kernel, device, own_queue(DEVICE), signature, bound, (1, 1, 1), None)
    words = out.tolist()
    while words and words[-1] == -1:
        words.pop()
    return words


def bits(value: Any) -> int:
    """A number's bytes as an unsigned integer."""
    return int.from_bytes(value.tobytes(), "little")


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("i8", np.int8(77)),
        ("i16", np.int16(30_000)),
        ("i32", np.int32(2_000_000_000)),
        ("i64", np.int64(2**62 + 1)),
        ("index", np.int64(2**62 + 3)),
        ("bf16", ml_dtypes.bfloat16(1.5)),
        ("f16", np.float16(0.1)),
        ("f32", np.float32(0.1)),
        ("f64", np.float64(0.1)),
        ("c32", np.complex64(0.1 + 0.2j)),
    ],
)
def test_scalars(device: OpenclDevice, type: str, value: Any) -> None:
    assert launch_probe(device, type_of(type), value) == [bits(value)]


def test_a_complex_number_is_two_numbers(device: OpenclDevice) -> None:
    words = launch_probe(device, type_of("c64"), 0.1 + 0.2j)
    assert words == [bits(np.float64(0.1)), bits(np.float64(0.2))]


def test_negative_numbers(device: OpenclDevice) -> None:
    assert launch_probe(device, type_of("index"), -5) == [-5]
    assert launch_probe(device, type_of("i8"), -5) == [251]


def address(array: Any) -> int:
    return array.__array_interface__["data"][0]


FORTRAN = np.zeros((4, 6, 5), np.float32, order="F")


@pytest.mark.parametrize(
    ("type", "array", "numbers"),
    [
        ("memref<f32x4x6x5>", FORTRAN, []),
        ("memref<f32x?x?x?>", FORTRAN, [4, 6, 5, 4, 24]),
        ("memref<f32x?x?x?>", FORTRAN[:, :, 2:4], [4, 6, 2, 4, 24]),
        ("memref<f32x?x?,strided<?,?>>", FORTRAN[::2, 1, :], [2, 5, 2, 24]),
        ("memref<f32x4x?,strided<1,?>>", FORTRAN[:, 2, 1:], [4, 24]),
        ("memref<f32x?>", np.zeros(0, np.float32), [0]),
        # Row-major, innermost first.
        ("mlir memref<?x?x?xf32>", FORTRAN.T, [4, 6, 5, 4, 24]),
        (
            "mlir memref<?x?xf32, strided<[?, ?], offset: ?>>",
            FORTRAN.T[:, 1, ::2],
            [2, 5, 2, 24, 0],
        ),
        ("mlir memref<5x?xf32>", FORTRAN.T[:, 0, :2].copy(), [2, 2]),
    ],
)
def test_memrefs_lie_where_they_are(type: str, array: Any, numbers: list[int]) -> None:
    pointer, *given = launch_probe(DEVICE, type_of(type), array)
    assert given == numbers
    assert pointer == address(array) or array.size == 0


def test_a_static_offset_is_the_kernels() -> None:
    array = np.zeros((4, 4), np.float32)
    type = type_of("mlir memref<4x4xf32, strided<[4, 1], offset: 3>>")
    assert launch_probe(DEVICE, type, array) == [address(array) - 12]


def test_a_device_without_shared_memory() -> None:
    device = without_system_memory()
    device.__dict__["has_shared_memory"] = False
    with pytest.raises(DeviceError, match="has no shared virtual memory for arrays of the host"):
        launch_probe(device, type_of("f32"), 1.0)


def test_null_pointers(device: OpenclDevice) -> None:
    assert launch_probe(device, type_of("memref<f32x?x?>"), None) == [0, 0, 0, 1]
    assert launch_probe(device, type_of("memref<f32x4x4>"), None) == [0]


def test_groups() -> None:
    entries = [np.zeros((4, n), np.float32, order="F") for n in (2, 5)]
    pointers = [address(entry) for entry in entries]
    static = type_of("group<memref<f32x4x?>x3>")
    assert launch_probe(DEVICE, static, [*entries, None], 3) == [*pointers, 0, 2, 5, 0]
    dynamic = type_of("group<memref<f32x?x?>x?, offset: ?>")
    memory = [np.zeros(40, np.float32), np.zeros(50, np.float32)]
    words = launch_probe(DEVICE, dynamic, Group(memory, 3, [(2, 7), (3, 4)]), 2)
    assert words == [*map(address, memory), 2, 3, 7, 4, 2, 3, 2, 3]


def test_a_group_of_copies() -> None:
    device = without_system_memory()
    entries = [np.zeros((4, n), np.float32, order="F") for n in (2, 5)]
    words = launch_probe(device, type_of("group<memref<f32x4x?>x?>"), [*entries, None], 3)
    assert words[2:] == [0, 2, 5, 0, 3]
    assert len({*words[:2], *map(address, entries), 0}) == 5


def test_a_null_group(device: OpenclDevice) -> None:
    # Neither the pointers nor the sizes may be followed.
    words = launch_probe(device, type_of("group<memref<f32x4x?>x?, offset: ?>"), None, 0)
    assert words == [0, 0]


def test_an_empty_group(device: OpenclDevice) -> None:
    assert launch_probe(device, type_of("group<memref<f32x4x?>x?>"), [], 0) == [0]


def test_many_entries(device: OpenclDevice) -> None:
    memory = np.zeros((2, 30), np.float32, order="F")
    entries = [memory[:, n : n + 1] for n in range(30)]
    words = launch_probe(device, type_of("group<memref<f32x2x1>x30>"), entries, 30)
    # Views of one array keep their places in it.
    assert [word - words[0] for word in words] == [8 * n for n in range(30)]


ALIGNED: dict[str, Attribute] = {"alignment": IntegerAttr(256, i64)}


def test_promised_alignment_is_kept_by_a_copy(device: OpenclDevice) -> None:
    storage = np.zeros(1024, np.float32)
    start = -(address(storage) // 4) % 64
    for first in (start, start + 1):
        array = storage[first : first + 100]
        (pointer,) = launch_probe(device, type_of("memref<f32x100>"), array, 0, ALIGNED)
        assert pointer % 256 == 0
        is_in_place = first == start and device is DEVICE
        assert (pointer == address(array)) == is_in_place


def test_promised_alignment_of_memory_that_cannot_be_copied() -> None:
    allocation = cl.SVMAllocation(own_context(DEVICE), 4096, 0, cl.svm_mem_flags.READ_WRITE)
    array = DeviceArray(allocation, offset=-allocation.svm_ptr % 256 + 4)
    with pytest.raises(ArgumentError) as caught:
        launch_probe(DEVICE, type_of("memref<f32x4>"), array, 0, ALIGNED)
    assert str(caught.value) == (
        "argument 'a' (memref<f32x4>): expected an address that is a multiple of alignment=256, "
        f"as the kernel promises, given {allocation.svm_ptr + array.offset:#x}"
    )


def test_an_address_as_an_integer() -> None:
    array = np.zeros(8)
    assert launch_probe(DEVICE, i64, array, may_be_address=True) == [address(array)]
    assert launch_probe(DEVICE, i64, 2**40, may_be_address=True) == [2**40]
    allocation = cl.SVMAllocation(own_context(DEVICE), 64, 0, cl.svm_mem_flags.READ_WRITE)
    (word,) = launch_probe(DEVICE, i64, DeviceArray(allocation, offset=8), may_be_address=True)
    assert word == allocation.svm_ptr + 8


@pytest.mark.parametrize("wrap", [cl.SVM, lambda array: array])
def test_svm_of_arrays(wrap: Any) -> None:
    array = np.zeros((4, 6), np.float32, order="F")
    words = launch_probe(DEVICE, type_of("memref<f32x?x?>"), wrap(array))
    assert words == [address(array), 4, 6, 4]


def test_svm_allocations() -> None:
    allocation = cl.SVMAllocation(own_context(DEVICE), 96, 0, cl.svm_mem_flags.READ_WRITE)
    matrix = type_of("memref<f32x4x?>")
    assert launch_probe(DEVICE, matrix, allocation) == [allocation.svm_ptr, 6]
    part = DeviceArray(allocation, shape=(4, 2), offset=32)
    assert launch_probe(DEVICE, matrix, part) == [allocation.svm_ptr + 32, 2]
    group = [part, None, np.zeros((4, 3), np.float32, order="F")]
    words = launch_probe(DEVICE, type_of("group<memref<f32x4x?>x?>"), group, 3)
    assert words == [allocation.svm_ptr + 32, 0, address(group[2]), 2, 0, 3, 3]


def test_buffers() -> None:
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    storage = np.zeros(4096, np.uint8)
    start = -address(storage) % 1024
    buffer = cl.Buffer(own_context(DEVICE), flags, hostbuf=storage[start : start + 2048])
    # With the host's own memory, the runtime for CPUs has no other address.
    where = address(storage) + start
    assert launch_probe(DEVICE, type_of("memref<f32x512>"), buffer) == [where]
    assert launch_probe(DEVICE, type_of("memref<f32x4x?>"), buffer) == [where, 128]
    part = DeviceArray(buffer, shape=(3,), offset=1024)
    assert launch_probe(DEVICE, type_of("memref<f32x?>"), part) == [where + 1024, 3]
    with pytest.raises(ArgumentError, match="the driver lets no pointer begin 4 bytes behind"):
        launch_probe(DEVICE, type_of("memref<f32x?>"), replace(part, offset=4))
    with pytest.raises(ArgumentError, match="a pyopencl buffer has no address"):
        launch_probe(DEVICE, type_of("group<memref<f32x512>x1>"), [buffer], 1)


def test_arrays_of_pyopencl() -> None:
    host = np.asfortranarray(fresh_generator().random((4, 6), np.float32))
    array = cl.array.to_device(own_queue(DEVICE), host)
    _, *numbers = launch_probe(DEVICE, type_of("memref<f32x?x?>"), array)
    assert numbers == [4, 6, 4]
    _, *numbers = launch_probe(DEVICE, type_of("memref<f32x?x?,strided<1,?>>"), array[:2])
    assert numbers == [2, 6, 4]


@pytest.mark.parametrize(
    ("type", "value", "message"),
    [
        (
            "memref<f32x?x?>",
            lambda buffer: buffer,
            "its shape is not known; pass xtile.launch.DeviceArray(memory, shape)",
        ),
        (
            "memref<f32x4x4>",
            lambda buffer: DeviceArray(buffer, (4, 5)),
            "expected shape (4, 4), given shape (4, 5)",
        ),
        (
            "memref<f32x8x8>",
            lambda buffer: buffer,
            "expected memory of at least 256 bytes, given 128",
        ),
        (
            "memref<f32x16>",
            lambda buffer: DeviceArray(buffer, offset=100),
            "expected memory of at least 64 bytes, given 28",
        ),
        (
            "memref<f32x?x2>",
            lambda buffer: DeviceArray(buffer, (4, 2), (2, 1)),
            "expected strides (1, ?), given strides (2, 1) for shape (4, 2)",
        ),
        (
            "memref<f32x?>",
            lambda buffer: cl.array.to_device(own_queue(DEVICE), np.zeros(4)),
            "expected elements of type float32, given float64",
        ),
        (
            "memref<f32x?>",
            lambda buffer: DeviceArray(2**20),
            "its shape is not known; pass xtile.launch.DeviceArray(memory, shape)",
        ),
    ],
)
def test_memory_of_the_device_that_does_not_fit(type: str, value: Any, message: str) -> None:
    buffer = cl.Buffer(own_context(DEVICE), cl.mem_flags.READ_WRITE, 128)
    with pytest.raises(ArgumentError) as caught:
        launch_probe(DEVICE, type_of(type), value(buffer))
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"argument 'a' ({type}): ")


_SHARED = "clSharedMemAllocINTEL"
_FREE = "clMemFreeINTEL"


@contextmanager
def unified_memory(size: int) -> Iterator[int]:
    """Intel's unified shared memory, which pyopencl does not allocate."""
    platform, context = DEVICE.handle.platform.int_ptr, own_context(DEVICE).int_ptr
    find = native._library().clGetExtensionFunctionAddressForPlatform
    find.argtypes, find.restype = (c_void_p, c_void_p), c_void_p
    allocate = CFUNCTYPE(
        *(c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_uint32, POINTER(c_int32))
    )(find(platform, _SHARED.encode()))
    free = CFUNCTYPE(c_int32, c_void_p, c_void_p)(find(platform, _FREE.encode()))
    status = c_int32(-1)
    pointer = allocate(context, DEVICE.handle.int_ptr, None, size, 0, byref(status))
    assert status.value == 0
    try:
        yield pointer
    finally:
        assert free(context, pointer) == 0


def test_unified_memory_by_its_address(device: OpenclDevice) -> None:
    with unified_memory(4096) as pointer:
        array = DeviceArray(pointer, shape=(8, 3), offset=64)
        words = launch_probe(device, type_of("memref<f32x?x?>"), array)
        assert words == [pointer + 64, 8, 3, 8]
        words = launch_probe(device, type_of("group<memref<f32x8x?>x2>"), [array, None], 2)
        assert words == [pointer + 64, 0, 3, 0]
