"""Poison in the core form: the sanitizer follows it, and every lowering takes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.semantics.cuda_tile.entries import marked
from tests.transforms.distribute.kernels import arguments_of, function_of, printed, read, run
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    entry_of,
    launch_entry,
    lowered,
    tile_kernel,
)
from xtile.semantics.sanitizer import sanitize
from xtile.text.diagnostics import Severity
from xtile.transforms.pad import pad
from xtile.translate.route import Options, translate

PARAMETERS = "%m: memref<7xf32>, %o: memref<8xf32>, %q: memref<7xf32>, %s: memref<1xf32>"

LOAD = """
%c0 = arith.constant 0 : index
%p = ub.poison : f32
%x = vector.transfer_read %m[%c0], %p : memref<7xf32>, vector<8xf32>
"""
MASK = "%seven = vector.constant_mask [7] : vector<8xi1>\n"
ZERO = "%z = arith.constant dense<0.0> : vector<8xf32>\n"
WHOLE = "vector.transfer_write %x, %o[%c0] : vector<8xf32>, memref<8xf32>"
INSIDE = "vector.transfer_write %x, %q[%c0] : vector<8xf32>, memref<7xf32>"

CAST = (
    "%n = arith.fptosi %y : vector<7xf32> to vector<7xi{bits}>\n"
    "%f = arith.sitofp %n : vector<7xi{bits}> to vector<7xf32>\n"
    "vector.transfer_write %f, %q[%c0] : vector<7xf32>, memref<7xf32>"
)
SCALED = (
    "%l = vector.load %m[%c0] : memref<7xf32>, vector<7xf32>\n"
    "%by = arith.constant dense<{by}> : vector<7xf32>\n"
    "%y = arith.mulf %l, %by : vector<7xf32>\n"
)
"""The numbers from 0 to 6, times a number."""

UNDER_SANITIZER = {
    "a cast in range": (SCALED.format(by="21.0") + CAST.format(bits=8), None, ""),
    "a cast out of range": (
        SCALED.format(by="-22.0") + CAST.format(bits=8),
        "element [6] of what is stored",
        "%n =",
    ),
    "a cast out of range of a wider type": (
        SCALED.format(by="1.0e9") + CAST.format(bits=32),
        "element [3] of what is stored",
        "%n =",
    ),
    "a cast of what is no number": (
        SCALED.format(by="0x7FC00000") + CAST.format(bits=32),
        "element [0] of what is stored",
        "%n =",
    ),
    "a store of the whole tile": (WHOLE, "element [7] of what is stored", "%x ="),
    "a store beyond the edge": (INSIDE, None, ""),
    "a masked store": (
        (
            f"{MASK}vector.maskedstore %o[%c0], %seven, %x "
            ": memref<8xf32>, vector<8xi1>, vector<8xf32>"
        ),
        None,
        "",
    ),
    "a scatter": (
        (
            f"{MASK}%i = vector.step : vector<8xindex>\nvector.scatter %o[%c0] [%i], %seven, %x "
            ": memref<8xf32>, vector<8xindex>, vector<8xi1>, vector<8xf32>"
        ),
        None,
        "",
    ),
    "a reduction": (
        (
            "%r = vector.reduction <add>, %x : vector<8xf32> into f32\n"
            "memref.store %r, %s[%c0] : memref<1xf32>"
        ),
        "what is stored",
        "%x =",
    ),
    "a masked reduction": (
        (
            f"{MASK}{ZERO}%y = arith.select %seven, %x, %z : vector<8xi1>, vector<8xf32>\n"
            "%r = vector.reduction <add>, %y : vector<8xf32> into f32\n"
            "memref.store %r, %s[%c0] : memref<1xf32>"
        ),
        None,
        "",
    ),
    "a branch": (
        "%e = vector.extract %x[7] : f32 from vector<8xf32>\n"
        "%one = arith.constant 1.0 : f32\n%c = arith.cmpf ogt, %e, %one : f32\nscf.if %c {\n"
        + INSIDE
        + "\n}",
        "the condition",
        "%x =",
    ),
    "an address": (
        (
            "%i = ub.poison : index\n%r = memref.load %m[%i] : memref<7xf32>\n"
            "memref.store %r, %s[%c0] : memref<1xf32>"
        ),
        "an index",
        "%i =",
    ),
    "a mask": (
        (
            "%k = ub.poison : vector<8xi1>\nvector.maskedstore %o[%c0], %k, %z "
            ": memref<8xf32>, vector<8xi1>, vector<8xf32>"
        ),
        "element [0] of the mask",
        "%k =",
    ),
    "a bound of a loop": (
        (
            "%n = ub.poison : index\n%c1 = arith.constant 1 : index\n"
            "scf.for %i = %c0 to %n step %c1 {\n}"
        ),
        "a bound of the loop",
        "%n =",
    ),
    "the size of a view": (
        (
            "%n = ub.poison : index\n"
            "%v = memref.subview %m[0] [%n] [1] : memref<7xf32> to memref<?xf32>"
        ),
        "an offset, size or stride of the memref",
        "%n =",
    ),
    "what is printed": ('core.print "%f", %x : vector<8xf32>', "of what is printed", "%x ="),
    "an atomic update": (
        (
            "%b = core.atomic_update addf %x, %o[%c0] checked [] "
            ": vector<8xf32>, memref<8xf32> -> vector<8xf32>"
        ),
        "element [7] of what is stored",
        "%x =",
    ),
    "an atomic update beyond the edge": (
        (
            "%b = core.atomic_update addf %x, %q[%c0] checked [0] "
            ": vector<8xf32>, memref<7xf32> -> vector<8xf32>"
        ),
        None,
        "",
    ),
    "a gather without padding": (
        (
            f"{MASK}%i = vector.step : vector<8xindex>\n%g = core.gather_load %m[%i], %seven "
            ": memref<7xf32>[vector<8xindex>], vector<8xi1> -> vector<8xf32>\n"
            "vector.transfer_write %g, %o[%c0] : vector<8xf32>, memref<8xf32>"
        ),
        "element [7] of what is stored",
        "%g =",
    ),
    "through a loop": (
        (
            "%c1 = arith.constant 1 : index\n%c2 = arith.constant 2 : index\n"
            "%w = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %z) -> (vector<8xf32>) {\n"
            "%d = arith.addf %a, %x : vector<8xf32>\nscf.yield %d : vector<8xf32>\n}\n"
            "vector.transfer_write %w, %o[%c0] : vector<8xf32>, memref<8xf32>"
        ),
        "element [7] of what is stored",
        "%x =",
    ),
    "through a while loop": (
        (
            "%t = arith.constant true\n%f = arith.constant false\n"
            "%w:2 = scf.while (%a = %z, %b = %t) : (vector<8xf32>, i1) -> (vector<8xf32>, i1) {\n"
            "scf.condition(%b) %a, %b : vector<8xf32>, i1\n} do {\n"
            "^bb0(%d: vector<8xf32>, %e: i1):\n"
            "scf.yield %x, %f : vector<8xf32>, i1\n}\n"
            "vector.transfer_write %w#0, %o[%c0] : vector<8xf32>, memref<8xf32>"
        ),
        "element [7] of what is stored",
        "%x =",
    ),
}


def text_of(body: str) -> str:
    needs_zero = "%z" in body and ZERO not in body
    return tile_kernel(PARAMETERS, LOAD + (ZERO if needs_zero else "") + body)


def arrays() -> list[Any]:
    return [
        np.arange(7, dtype=np.float32),
        np.ones(8, np.float32),
        np.ones(7, np.float32),
        np.ones(1, np.float32),
    ]


@pytest.mark.parametrize("name", UNDER_SANITIZER)
def test_the_sanitizer_follows_it(name: str) -> None:
    body, message, origin = UNDER_SANITIZER[name]
    reports = sanitize(function_of(read(text_of(body))), arguments_of(arrays()), (1, 1, 1))
    found = [each.diagnostic() for each in reports]
    if message is None:
        assert found == []
        return
    (warning,) = found[:1]
    assert warning.severity is Severity.WARNING
    assert f"{message} depends on an element that is unspecified" in warning.message
    (note,) = warning.notes
    assert marked(note).startswith(origin)


@pytest.mark.parametrize("level", ["subgroup", None])
def test_other_levels(level: str | None) -> None:
    """Of work-items that diverge, only those count that store it."""
    attributes = "" if level is None else f'attributes {{core.level = "{level}"}}'
    text = f"""gpu.module @m {{
    gpu.func @k(%o: memref<16xf32>, %b: memref<16xf32>) kernel {attributes} {{
      %c0 = arith.constant 0 : index
      %c9 = arith.constant 9 : index
      %i = gpu.thread_id x
      %p = ub.poison : f32
      %one = arith.constant 1.0 : f32
      %c = arith.cmpi slt, %i, %c9 : index
      %x = scf.if %c -> (f32) {{ scf.yield %one : f32 }} else {{ scf.yield %p : f32 }}
      scf.if %c {{ memref.store %x, %o[%i] : memref<16xf32> }}
      memref.store %x, %b[%i] : memref<16xf32>
      gpu.return
    }}
    }}"""
    arguments = arguments_of([np.zeros(16, np.float32), np.zeros(16, np.float32)])
    reports = sanitize(function_of(read(text)), arguments, (1, 1, 1), block=(16, 1, 1))
    (warning,) = [each.diagnostic() for each in reports]
    assert warning.message.startswith("what is stored depends on an element")
    assert marked(warning).startswith("memref.store %x, %b")


# --- lowering ---


def view_lines(module: ModuleOp) -> list[str]:
    return [line for line in printed(module).splitlines() if "make_partition_view" in line]


def test_a_view_without_padding(rng: np.random.Generator) -> None:
    text = tile_kernel(PARAMETERS, LOAD + INSIDE)
    module = lowered(text)
    assert not any("padding_value" in line for line in view_lines(module))
    values = arrays()
    values[0][:] = rng.random(7)
    expected = values[0].copy()
    launch_entry(function_of(read(text)), entry_of(module), arguments_of(values))
    np.testing.assert_array_equal(values[2], expected)
    assemble_for_all(module, ["sm_90"])


@pytest.mark.parametrize("way", ["a reduction", "through a loop"])
def test_products_reductions_and_loops_get_zeros(way: str) -> None:
    module = lowered(text_of(UNDER_SANITIZER[way][0]))
    assert any("padding_value = zero" in line for line in view_lines(module))
    values = arrays()
    text = text_of(UNDER_SANITIZER[way][0])
    launch_entry(function_of(read(text)), entry_of(module), arguments_of(values))
    if way == "a reduction":
        assert values[3].tolist() == [21]
    else:
        assert values[1].tolist() == [*(2.0 * np.arange(7)), 0]


@pytest.mark.slow
def test_pointers_without_padding() -> None:
    body = (
        f"{MASK}%i = vector.step : vector<8xindex>\n%u = ub.poison : vector<8xf32>\n"
        "%g = vector.gather %m[%c0] [%i], %seven, %u "
        ": memref<7xf32>, vector<8xindex>, vector<8xi1>, vector<8xf32> into vector<8xf32>\n"
    )
    stored = "vector.transfer_write %g, %q[%c0] : vector<8xf32>, memref<7xf32>"
    text = printed(lowered(tile_kernel(PARAMETERS, LOAD + body + stored)))
    (line,) = [each for each in text.splitlines() if "load_ptr_tko" in each]
    assert line.count("tile<8xf32>") == 1, line
    summed = (
        "%r = vector.reduction <add>, %g : vector<8xf32> into f32\n"
        "memref.store %r, %s[%c0] : memref<1xf32>"
    )
    text = tile_kernel(PARAMETERS, LOAD + body + summed)
    values = arrays()
    launch_entry(function_of(read(text)), entry_of(lowered(text)), arguments_of(values))
    assert values[3].tolist() == [21]


def test_padded_sizes() -> None:
    """A reduction of 7 elements, of which 5 are in memory, in a tile of 8."""
    text = tile_kernel(
        "%m: memref<5xf32>, %s: memref<1xf32>",
        """%c0 = arith.constant 0 : index
        %p = ub.poison : f32
        %z = arith.constant dense<0.0> : vector<7xf32>
        %five = vector.constant_mask [5] : vector<7xi1>
        %x = vector.transfer_read %m[%c0], %p : memref<5xf32>, vector<7xf32>
        %y = arith.select %five, %x, %z : vector<7xi1>, vector<7xf32>
        %r = vector.reduction <add>, %y : vector<7xf32> into f32
        memref.store %r, %s[%c0] : memref<1xf32>""",
    )
    module = pad(read(text))
    assert "vector<7x" not in printed(module)
    values = [np.arange(5, dtype=np.float32), np.ones(1, np.float32)]
    assert sanitize(function_of(module), arguments_of(values), (1, 1, 1)) == []
    assert values[1].tolist() == [10]


SUBGROUP = """gpu.module @m {
gpu.func @k(%m: memref<7x16xf32>, %o: memref<7x16xf32>) kernel
    attributes {core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32,
                known_block_size = array<i32: 16, 1, 1>} {
  %c0 = arith.constant 0 : index
  %p = ub.poison : f32
  %q = ub.poison : vector<8x16xf32>
  %one = arith.constant dense<1.0> : vector<8x16xf32>
  %t = arith.constant true
  %r = arith.select %t, %one, %q : vector<8x16xf32>
  %x = vector.transfer_read %m[%c0, %c0], %p : memref<7x16xf32>, vector<8x16xf32>
  %y = arith.addf %x, %r : vector<8x16xf32>
  vector.transfer_write %y, %o[%c0, %c0] : vector<8x16xf32>, memref<7x16xf32>
  gpu.return
}
}"""


@pytest.mark.parametrize(
    ("route", "chip"),
    [("core-to-xegpu", "pvc"), ("core-to-lane", "pvc"), ("core-to-lane", "cpu")],
)
def test_subgroups(route: str, chip: str, rng: np.random.Generator) -> None:
    """What LLVM gets has no poison, and computes the same inside of the edge."""
    module = translate(read(SUBGROUP), route, Options(chip))
    assert "poison" not in printed(module)
    a = rng.random((7, 16), np.float32)
    out = np.full((7, 16), np.nan, np.float32)
    run(module, a, out)
    np.testing.assert_array_equal(out, a + 1)


def test_cleanup_keeps_it() -> None:
    """A number that is not known is no reason to fold what uses it."""
    text = tile_kernel(PARAMETERS, LOAD + "%y = arith.addf %p, %p : f32\n" + WHOLE)
    module = read(text)
    cleaned = translate(module, "core-cleanup", Options("sm_90"))
    assert "ub.poison" in printed(cleaned)
    assert "vector.transfer_read" in printed(cleaned)
