"""The sanitizer looks for conflicts in memory, whatever arguments it is reached through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.arguments.binding import bind
from xtile.launch import ArgumentError, DeviceArray, Output, SanitizerError, opencl
from xtile.launch.executable import Kernel

COPY = """
func @copy(%A: memref<f32x?,strided<?>>, %B: memref<f32x?,strided<?>>) {
    %zero = constant 0 : index
    %n = size %A[0] : index
    foreach (%i)=(%zero),(%n) {
        %x = load %A[%i] : f32
        store %x, %B[%i]
    }
}
"""

COLLECTIVE = """
func @copy(%A: memref<f32x?,strided<?>>, %B: memref<f32x?,strided<?>>) {
    %zero = constant 0.0 : f32
    %one = constant 1.0 : f32
    axpby %one, %A, %zero, %B
}
"""

XEGPU = """
gpu.module @m {
  gpu.func @copy(%A: memref<?xf32, strided<[?]>>, %B: memref<?xf32, strided<[?]>>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %i = gpu.thread_id x
    %x = memref.load %A[%i] : memref<?xf32, strided<[?]>>
    memref.store %x, %B[%i] : memref<?xf32, strided<[?]>>
    gpu.return
  }
}
"""

GROUP = """
func @copy(%G: group<memref<f32x?,strided<?>>x2>) {
    %zero = constant 0 : index
    %one = constant 1 : index
    %A = load %G[%zero] : memref<f32x?,strided<?>>
    %B = load %G[%one] : memref<f32x?,strided<?>>
    %n = size %A[0] : index
    foreach (%i)=(%zero),(%n) {
        %x = load %A[%i] : f32
        store %x, %B[%i]
    }
}
"""

MIXED = """
gpu.module @m {
  gpu.func @copy(%A: memref<16xi8>, %B: memref<16xi32>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %i = gpu.thread_id x
    %x = memref.load %A[%i] : memref<16xi8>
    %y = arith.extsi %x : i8 to i32
    memref.store %y, %B[%i] : memref<16xi32>
    gpu.return
  }
}
"""

TILE = """
cuda_tile.module @m {
  entry @copy(%A: tile<ptr<f32>>, %B: tile<ptr<f32>>) {
    %i = iota : tile<16xi32>
    %a0 = reshape %A : tile<ptr<f32>> -> tile<1xptr<f32>>
    %a1 = broadcast %a0 : tile<1xptr<f32>> -> tile<16xptr<f32>>
    %a = offset %a1, %i : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
    %b0 = reshape %B : tile<ptr<f32>> -> tile<1xptr<f32>>
    %b1 = broadcast %b0 : tile<1xptr<f32>> -> tile<16xptr<f32>>
    %b = offset %b1, %i : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
    %x, %t = load_ptr_tko weak %a : tile<16xptr<f32>> -> tile<16xf32>, token
    %s = store_ptr_tko weak %b, %x : tile<16xptr<f32>>, tile<16xf32> -> token
    return
  }
}
"""


def values() -> Any:
    return fresh_generator().standard_normal(33).astype(np.float32)


def found(kernel: str, *arguments: Any) -> list[str]:
    try:
        xtile.run(kernel, list(arguments), sanitize=True)
    except SanitizerError as error:
        return [diagnostic.message for diagnostic in error.diagnostics]
    return []


KERNELS = {"work-items": COPY, "collective": COLLECTIVE, "gpu": XEGPU}

OVERLAPS = {
    "from the left": lambda x: (x[:16], x[1:17]),
    "from the right": lambda x: (x[1:17], x[:16]),
    "by the last element": lambda x: (x[:16], x[15:31]),
    "interleaved": lambda x: (x[0:32:2], x[2:34:2][:16]),
}

SEPARATE = {
    "side by side": lambda x: (x[:16], x[16:32]),
    "between each other": lambda x: (x[0:32:2], x[1:33:2]),
    "different arrays": lambda x: (x[:16], x[:16].copy()),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("cut", OVERLAPS.values(), ids=OVERLAPS)
def test_arguments_that_overlap(kernel: str, cut: Any) -> None:
    (message,) = found(kernel, *cut(values()))
    assert "of memory %B is accessed (write)" in message


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("cut", SEPARATE.values(), ids=SEPARATE)
def test_arguments_that_do_not(kernel: str, cut: Any) -> None:
    assert not found(kernel, *cut(values()))


def test_the_same_memref_twice_is_no_mistake() -> None:
    x = values()
    for kernel in (COPY, COLLECTIVE, XEGPU):
        assert not found(kernel, x[:16], x[:16])


def test_entries_of_a_group() -> None:
    x = values()
    (message,) = found(GROUP, [x[:16], x[1:17]])
    assert "while another work-item accesses it with load" in message
    assert not found(GROUP, [x[:16], x[16:32]])


def test_elements_of_several_sizes() -> None:
    memory = np.arange(80, dtype=np.int8)
    assert len(found(MIXED, memory[:16], memory[:64].view(np.int32))) == 1
    assert not found(MIXED, memory[64:], memory[:64].view(np.int32))


def test_tokens_order_memory_and_not_parameters() -> None:
    x = values()
    (message,) = found(TILE, x[:16], x[1:17])
    assert "no token orders the two" in message
    assert not found(TILE, x[:16], x[16:32])


def test_what_one_argument_holds_another_may_read() -> None:
    whole = values()[:32]
    assert not found(COPY, Output(whole[:16]), whole[:16])
    (message,) = found(COPY, Output(whole[:16]), whole[16:])
    assert "element [0] of memory %A is read, but nothing was written to it" in message


MEMREF = "%{}: memref<?xf32, strided<[?]>> {{core.noalias}}"


@pytest.mark.parametrize("name", ["A", "B"])
def test_arguments_that_a_kernel_says_do_not_overlap(name: str) -> None:
    kernel = XEGPU.replace(f"%{name}: memref<?xf32, strided<[?]>>", f"{MEMREF.format(name)}")
    x = values()
    (message,) = found(kernel, x[:16], x[:16])
    assert message.startswith("element [0] of memory %A is accessed (write) through %B and was ")
    assert f"accessed through %A, which core.noalias of %{name} excludes" in message
    for cut in SEPARATE.values():
        assert not found(kernel, *cut(x))
    # Nothing else tells the launch what to do: it is that of the text.
    before = x.copy()
    xtile.run(kernel, [x[:16], x[8:24]])
    assert np.array_equal(x[8:24], before[:16])


def test_where_the_promise_is_broken() -> None:
    kernel = XEGPU.replace("%A: memref<?xf32, strided<[?]>>", MEMREF.format("A"))
    x = values()
    with pytest.raises(SanitizerError) as raised:
        xtile.run(kernel, [x[:16], x[:16]], sanitize=True)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.span is not None
    assert diagnostic.source is not None
    position = diagnostic.source.text[diagnostic.span.start : diagnostic.span.end]
    assert position.startswith("memref.store %x, %B")


def test_arguments_that_are_only_read() -> None:
    line = "    memref.store %x, %B[%i] : memref<?xf32, strided<[?]>>\n"
    read = line.replace("memref.store %x, %B", "%y = memref.load %B")
    kernel = XEGPU.replace(line, read).replace(
        "%A: memref<?xf32, strided<[?]>>", MEMREF.format("A")
    )
    x = values()
    assert not found(kernel, x[:16], x[:16])


CHAIN = """
func @chain(%A: memref<f32x32x32>, %B: memref<f32x32x32>, %C: memref<f32x32x32>,
            %D: memref<f32x32x32>) attributes { subgroup_size=16, work_group_size=[64,1] } {
    %zero = constant 0.0 : f32
    %one = constant 1.0 : f32
    axpby.n %one, %A, %zero, %B
    gemm.t.n %one, %C, %A, %zero, %D
}
"""


@pytest.mark.parametrize("overlaps", [False, True])
def test_opencl_compiles_the_variant_that_a_launch_needs(overlaps: bool) -> None:
    """By the tensor language's rule there is no barrier between the two instructions."""
    a, b, c, d = (
        np.asfortranarray(fresh_generator().standard_normal((32, 32)).astype(np.float32))
        for _ in range(4)
    )
    given = [a, b, b if overlaps else c, Output(d)]
    kernel = Kernel(CHAIN, None)
    executable = opencl.load(kernel, None)
    suited = executable.suited(bind(executable.signature, given))
    assert (suited is executable) == (not overlaps)
    assert (suited.key == executable.key) == (not overlaps)
    d[...] = np.nan
    xtile.run(CHAIN, given, device="opencl")
    second = a if overlaps else c
    assert np.array_equal(b, a)
    assert np.allclose(d, second.T @ a, rtol=1e-4, atol=1e-4)


def test_pyopencl_buffers_overlap_by_their_places() -> None:
    import pyopencl as cl

    queue = opencl.load(Kernel(COPY, None), None).queue
    whole, other = (cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 1024) for _ in range(2))
    part = whole.get_sub_region(512, 256)
    executable = opencl.load(Kernel(COPY, None), None)

    def overlap(a: DeviceArray, b: DeviceArray) -> bool:
        return executable.suited(bind(executable.signature, [a, b])) is not executable

    assert overlap(DeviceArray(whole, (16,)), DeviceArray(whole, (16,), offset=60))
    assert not overlap(DeviceArray(whole, (16,)), DeviceArray(whole, (16,), offset=64))
    assert not overlap(DeviceArray(whole, (16,)), DeviceArray(other, (16,)))
    assert overlap(DeviceArray(whole, (16,), offset=512), DeviceArray(part, (16,)))
    assert not overlap(DeviceArray(whole, (16,)), DeviceArray(part, (16,)))


def test_another_compilers_code_may_not_expect_it(tmp_path: Path) -> None:
    path = tmp_path / "k.spv"
    executable = opencl.load(Kernel(COPY, None), None)
    path.write_bytes(executable.compiled.program.spirv)
    x = values()
    xtile.run(COPY, [x[:16], x[16:32]], device="opencl", binary=path)
    assert np.array_equal(x[:16], x[16:32])
    with pytest.raises(ArgumentError, match="writes to 'B', which overlaps 'A', but nothing says"):
        xtile.run(COPY, [x[:16], x[8:24]], device="opencl", binary=path)
