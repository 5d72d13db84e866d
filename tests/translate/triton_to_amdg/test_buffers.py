"""Which accesses are buffer operations, and which are not and why."""

from __future__ import annotations

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.translate.triton_to_amdg.laid_out import laid_out, said_of
from tests.triton_releases.judges import NEWEST
from xtile.text.diagnostics import Diagnostics, Severity

SMALL = "{tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}"


def kernel(body: str, promises: str = SMALL) -> str:
    """A kernel that stores a tensor %x of 256 floats at %q after `body` has made it."""
    return f"""
    tt.func public @k(%p: !tt.ptr<f32> {promises}, %q: !tt.ptr<f32> {promises}, %n: i32) {{
      %r = tt.make_range {{end = 256 : i32, start = 0 : i32}} : tensor<256xi32>
      %pp = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
      %pid = tt.get_program_id x : i32
      %nn = tt.splat %n : i32 -> tensor<256xi32>
      {body}
      %qq = tt.splat %q : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
      %to = tt.addptr %qq, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
      tt.store %to, %x : tensor<256x!tt.ptr<f32>>
      tt.return
    }}
    """


def load(offsets: str, width: int = 32) -> str:
    """A load of %x at %o, which some operations make."""
    return f"""{offsets}
      %at = tt.addptr %pp, %o : tensor<256x!tt.ptr<f32>>, tensor<256xi{width}>
      %x = tt.load %at : tensor<256x!tt.ptr<f32>>"""


FAR = load(
    "%c = arith.constant dense<4194304> : tensor<256xi32>\n%o = arith.muli %r, %c : tensor<256xi32>"
)
"""Offsets of up to 255 * 2^22 elements, which are 4 GB."""

BACKWARDS = load(
    "%last = arith.constant dense<255> : tensor<256xi32>\n%o = arith.subi %last, %r "
    ": tensor<256xi32>"
)

MOVED = load(
    "%size = arith.constant 256 : i32\n%first = arith.muli %pid, %size : i32\n"
    "%firsts = tt.splat %first : i32 -> tensor<256xi32>\n"
    "%o = arith.addi %firsts, %r : tensor<256xi32>"
)

STRIDED = load("%o = arith.muli %r, %nn : tensor<256xi32>")

WIDE = load("%o = arith.extsi %r : tensor<256xi32> to tensor<256xi64>", 64)

SQUARES = load("%o = arith.muli %r, %r : tensor<256xi32>")


def made(text: str, chip: str = "gfx942") -> tuple[str, list[str]]:
    """The text of a kernel with layouts, and the remarks on it."""
    found = Diagnostics()
    module = laid_out(xtile.parse(text, language="ttir"), chip, 4, found)
    assert not said_of(module, NEWEST, chip)
    remarks = [each.message for each in found if each.severity is Severity.REMARK]
    return xtile.to_text(module, "mlir"), remarks


@pytest.mark.parametrize("body", [MOVED, BACKWARDS, STRIDED, WIDE, SQUARES])
def test_memory_that_is_promised_to_be_small(body: str) -> None:
    text, remarks = made(kernel(body))
    assert text.count("amdg.buffer_load") == 1
    assert text.count("amdg.buffer_store") == 1
    assert remarks == []


@pytest.mark.parametrize("body", [MOVED, BACKWARDS, WIDE, SQUARES])
def test_offsets_that_are_known_to_be_small(body: str) -> None:
    text, _ = made(kernel(body, ""))
    assert text.count("amdg.buffer_load") == 1
    assert text.count("amdg.buffer_store") == 1


def test_offsets_beyond_2_gb_make_no_buffer() -> None:
    text, remarks = made(kernel(FAR, ""))
    assert "amdg.buffer_load" not in text
    assert "tt.load" in text
    (remark,) = remarks
    assert "tt.load is no buffer operation: its offsets are only known to be" in remark
    assert "tt.pointer_range = 32" in remark


def test_a_promise_that_offsets_contradict() -> None:
    text, remarks = made(kernel(FAR))
    assert "amdg.buffer_load" not in text
    assert remarks == ["tt.load is no buffer operation: its offsets reach beyond 2 GB"]


def test_offsets_of_unknown_size_make_no_buffer() -> None:
    text, remarks = made(kernel(STRIDED, ""))
    assert "amdg.buffer_load" not in text
    assert len(remarks) == 1


@pytest.mark.parametrize(
    ("offsets", "is_buffer"), [(2**21 - 1, True), (2**21, True), (2**21 + 1, False)]
)
def test_the_last_byte_below_2_gb(offsets: int, is_buffer: bool) -> None:
    """255 * s + 2^21 - 1 elements lie below 2^29, those of 2 GB, if s is 2^21."""
    factor = f"%c = arith.constant dense<{offsets}> : tensor<256xi32>\n"
    more = "%d = arith.constant dense<2097151> : tensor<256xi32>\n"
    body = load(
        factor + more + "%m = arith.muli %r, %c : tensor<256xi32>\n"
        "%s = arith.muli %r, %r : tensor<256xi32>\n%z = arith.minsi %s, %d : tensor<256xi32>\n"
        "%big = arith.maxsi %z, %d : tensor<256xi32>\n%o = arith.addi %m, %big : tensor<256xi32>"
    )
    text, _ = made(kernel(body, ""))
    assert ("amdg.buffer_load" in text) == is_buffer


def test_volatile_loads_are_none() -> None:
    body = MOVED.replace("tt.load %at", "tt.load %at {isVolatile = true}")
    text, remarks = made(kernel(body))
    assert "amdg.buffer_load" not in text
    assert remarks == ["tt.load is no buffer operation: it is volatile"]


def test_contiguity_is_what_is_known() -> None:
    text, _ = made(kernel(MOVED.replace("256 : i32", "1024 : i32")))
    assert text.count("contiguity = ") == 0  # a lane has one element of 256
    one_warp = laid_out(xtile.parse(kernel(MOVED), language="ttir"), "gfx942", 1)
    assert xtile.to_text(one_warp, "mlir").count("contiguity = 4") == 2
    nothing = laid_out(xtile.parse(kernel(MOVED, ""), language="ttir"), "gfx942", 1)
    assert "contiguity" not in xtile.to_text(nothing, "mlir")
    odd = kernel(MOVED.replace("arith.constant 256", "arith.constant 255"))
    text = xtile.to_text(laid_out(xtile.parse(odd, language="ttir"), "gfx942", 1), "mlir")
    assert text.count("contiguity = 4") == 1
    assert "contiguity = 4" not in text.partition("amdg.buffer_store")[0]


@pytest.mark.parametrize(("chip", "is_buffer"), [("gfx942", True), ("gfx1100", False)])
def test_atomic_updates(chip: str, is_buffer: bool) -> None:
    update = "%old = tt.atomic_rmw fadd, acq_rel, gpu, %at, %x : (tensor<256x!tt.ptr<f32>>, "
    body = MOVED + "\n" + update + "tensor<256xf32>) -> tensor<256xf32>"
    text, remarks = made(kernel(body), chip)
    assert ("amdg.buffer_atomic_rmw" in text) == is_buffer
    assert len(remarks) == (0 if is_buffer else 1)
    text, remarks = made(kernel(body.replace("gpu, ", "sys, ")), "gfx942")
    assert "amdg.buffer_atomic_rmw" not in text
    assert remarks == ["tt.atomic_rmw is no buffer operation: its scope is the system"]


@pytest.mark.parametrize("body", [BACKWARDS, MOVED, WIDE])
@pytest.mark.parametrize("promises", [SMALL, ""])
def test_values(body: str, promises: str) -> None:
    module = laid_out(xtile.parse(kernel(body, promises), language="ttir"), "gfx942")
    given = fresh_generator().standard_normal(256).astype(np.float32)
    out = np.full(256, np.nan, np.float32)
    xtile.run(module, [given, out, 1], (1,))
    np.testing.assert_array_equal(out, given[::-1] if body is BACKWARDS else given)


MOVING = f"""
tt.func public @k(%p: !tt.ptr<f32> {SMALL}, %q: !tt.ptr<f32> {SMALL}, %n: i32, %step: i32) {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  %r = tt.make_range {{end = 256 : i32, start = 0 : i32}} : tensor<256xi32>
  %pp = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %first = tt.addptr %pp, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %steps = tt.splat %step : i32 -> tensor<256xi32>
  %sum, %end = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %at = %first)
      -> (tensor<256xf32>, tensor<256x!tt.ptr<f32>>) : i32 {{
    %x = tt.load %at : tensor<256x!tt.ptr<f32>>
    %t = arith.addf %s, %x : tensor<256xf32>
    %next = tt.addptr %at, %steps : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    scf.yield %t, %next : tensor<256xf32>, tensor<256x!tt.ptr<f32>>
  }}
  %qq = tt.splat %q : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %to = tt.addptr %qq, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  tt.store %to, %sum : tensor<256x!tt.ptr<f32>>
  tt.return
}}
"""


def test_pointers_that_a_loop_moves() -> None:
    text, remarks = made(MOVING)
    assert remarks == []
    assert text.count("amdg.buffer_load") == 1
    (loop,) = [line for line in text.splitlines() if "scf.for" in line]
    assert "tt.ptr" not in loop
    module = laid_out(xtile.parse(MOVING, language="ttir"), "gfx942")
    given = fresh_generator().standard_normal(1024).astype(np.float32)
    out = np.full(256, np.nan, np.float32)
    xtile.run(module, [given, out, 3, 256], (1,))
    np.testing.assert_allclose(out, given[:768].reshape(3, 256).sum(0), atol=1e-5)
