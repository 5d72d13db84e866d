"""Memory of the host: allocations, copies, global variables, and what comes after the end."""

from __future__ import annotations

import pytest

from tests.host.programs import PRINT_F32, print_f32, printed
from xtile.semantics.errors import ExecutionError


def test_new_memory(capsys: pytest.CaptureFixture[str]) -> None:
    """A device's is zero, as drivers give it; the host's is anything, and shown as NaN."""
    body = """
      %A = memref.alloc() : memref<2xf32>
      %G = gpu.alloc () : memref<2xf32>
      %H = gpu.alloc (%c2) : memref<?xf32>
    """
    prints = (
        print_f32("A", "memref<2xf32>")
        + print_f32("G", "memref<2xf32>")
        + print_f32("H", "memref<?xf32>")
    )
    lines = printed(body + prints, capsys, PRINT_F32).splitlines()
    assert lines[1::2] == ["[-nan,  -nan]", "[0,  0]", "[0,  0]"]
    # Each has an address of its own.
    assert len(set(lines[::2])) == 3


def test_copies_between_strided_memory(capsys: pytest.CaptureFixture[str]) -> None:
    around = (
        PRINT_F32
        + """
      memref.global "private" constant @table : memref<2x4xf32> =
        dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]>
    """
    )
    body = """
      %T = memref.get_global @table : memref<2x4xf32>
      %C = memref.alloc() : memref<2x2xf32>
      %odd = memref.subview %T[0, 1] [2, 2] [1, 2] : memref<2x4xf32>
        to memref<2x2xf32, strided<[4, 2], offset: 1>>
      memref.copy %odd, %C : memref<2x2xf32, strided<[4, 2], offset: 1>> to memref<2x2xf32>
      gpu.memcpy %C, %C : memref<2x2xf32>, memref<2x2xf32>
    """
    text = printed(body + print_f32("C", "memref<2x2xf32>"), capsys, around)
    assert text.endswith("[[2,   4], \n [6,   8]]\n")


def test_global_memory_lives_as_long_as_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    around = (
        PRINT_F32
        + """
      memref.global "private" @sum : memref<1xf32> = dense<1.0>
      func.func @double() {
        %zero = arith.constant 0 : index
        %S = memref.get_global @sum : memref<1xf32>
        %x = memref.load %S[%zero] : memref<1xf32>
        %y = arith.addf %x, %x : f32
        memref.store %y, %S[%zero] : memref<1xf32>
        return
      }
    """
    )
    body = """
      call @double() : () -> ()
      call @double() : () -> ()
      %S = memref.get_global @sum : memref<1xf32>
    """
    assert printed(body + print_f32("S", "memref<1xf32>"), capsys, around).endswith("\n[4]\n")


ALLOCATED = "%A = memref.alloc() : memref<4xf32>\n%one = arith.constant 1.0 : f32\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "memref.dealloc %A : memref<4xf32>\nmemref.dealloc %A : memref<4xf32>",
            "%A was deallocated before",
        ),
        (
            "memref.dealloc %A : memref<4xf32>\n%x = memref.load %A[%c0] : memref<4xf32>",
            "%A is accessed after its deallocation",
        ),
        (
            "gpu.dealloc %A : memref<4xf32>\ngpu.memset %A, %one : memref<4xf32>, f32",
            "%A is accessed after its deallocation",
        ),
        (
            "%n = arith.constant -1 : index\n%B = gpu.alloc (%n) : memref<?xf32>",
            "memory cannot have the negative size -1",
        ),
        (
            (
                "%T = memref.get_global @table : memref<4xf32>\n"
                "gpu.memcpy %T, %A : memref<4xf32>, memref<4xf32>"
            ),
            "@table is constant: it cannot be written to",
        ),
        (
            (
                "%B = memref.alloc(%c3) : memref<?xf32>\n"
                "memref.copy %A, %B : memref<4xf32> to memref<?xf32>"
            ),
            "a copy needs memrefs of the same shape, but these have (4,) and (3,)",
        ),
        (
            (
                "%s = memref.reinterpret_cast %A to offset: [2], sizes: [4], strides: [1] : "
                "memref<4xf32> to memref<4xf32, strided<[1], offset: 2>>\n"
                "memref.copy %s, %A : memref<4xf32, strided<[1], offset: 2>> to memref<4xf32>"
            ),
            "the access to element 5 lies outside of the memory of %A, which has 4 elements",
        ),
    ],
)
def test_mistakes(body: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    around = 'memref.global "private" constant @table : memref<4xf32> = dense<0.0>'
    with pytest.raises(ExecutionError) as error:
        printed(ALLOCATED + body, capsys, around)
    assert error.value.message == message
