"""Cooperative matrix instructions."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from xtile.dialects.tensorlang import types
from xtile.dialects.tensorlang.attributes import MatrixUse
from xtile.dialects.tensorlang.types import CoopmatrixType
from xtile.semantics.layout import layout_of
from xtile.semantics.numeric_types import NUMPY_TYPES
from xtile.text.diagnostics import DiagnosticError

ATTRIBUTES = "attributes {subgroup_size=16, work_group_size=[32,2]}"


def on_one_subgroup(parameters: str, body: str) -> str:
    return (
        f"func @f({parameters}) attributes {{subgroup_size=16, work_group_size=[16,1]}} {{"
        f" %c0 = constant 0 : index  parallel {{ {body} }} }}"
    )


def column_major(rng, *shape: int, dtype=np.float32) -> np.ndarray:
    return np.asfortranarray(rng.standard_normal(shape).astype(dtype))


def unset(*shape: int, dtype=np.float32) -> np.ndarray:
    return np.full(shape, np.nan, dtype, order="F")


CHECKS = {"": (False, False), ".rows_checked": (True, False), ".cols_checked": (False, True),
          ".both_checked": (True, True)}  # fmt: skip


@pytest.mark.parametrize("x", [0, 3])
@pytest.mark.parametrize("t", ["", ".t"])
@pytest.mark.parametrize("check", CHECKS)
def test_load(check, t, x, run, rng) -> None:
    """A 16 x 8 matrix at x, y = 2 from a memref that is too small where it is checked."""
    rows_checked, columns_checked = CHECKS[check]
    rows, columns = (13 if rows_checked else 16 + 3, 7 if columns_checked else 8 + 2)
    y = 2
    if t:
        x, y = y, x
        shape = (columns, rows)
    else:
        shape = (rows, columns)
    a, b = column_major(rng, *shape), unset(16, 8)
    run(
        on_one_subgroup(
            "%A: memref<f32x?x?>, %x: index, %y: index, %B: memref<f32x16x8>",
            f"%m = cooperative_matrix_load{t}{check} %A[%x,%y] : coopmatrix<f32x16x8,matrix_acc>"
            " cooperative_matrix_store %m, %B[%c0,%c0]",
        ),
        a, x, y, b,
    )  # fmt: skip
    expected = np.zeros((16, 8))
    for i, j in itertools.product(range(16), range(8)):
        r, c = (x + j, y + i) if t else (x + i, y + j)
        if r < shape[0] and c < shape[1]:
            expected[i, j] = a[r, c]
    np.testing.assert_array_equal(b, expected)


@pytest.mark.parametrize("t", ["", ".t"])
@pytest.mark.parametrize("position", [-5, 4])
def test_checked_store_leaves_the_rest_alone(position, t, run, rng) -> None:
    a = column_major(rng, 16, 8)
    b = unset(20, 18)
    view = b[2:12, 3:9] if not t else b[2:8, 3:13]
    run(
        on_one_subgroup(
            "%A: memref<f32x16x8>, %x: index, %B: memref<f32x?x?>",
            "%m = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<f32x16x8,matrix_acc>"
            f" cooperative_matrix_store{t}.both_checked %m, %B[%x,%x]",
        ),
        a, position, view,
    )  # fmt: skip
    expected = np.full((20, 18), np.nan)
    block = expected[2:12, 3:9] if not t else expected[2:8, 3:13].T
    for i, j in itertools.product(range(16), range(8)):
        if 0 <= position + i < 10 and 0 <= position + j < 6:
            block[position + i, position + j] = a[i, j]
    np.testing.assert_array_equal(b, expected)


def test_each_subgroup_has_a_matrix_of_its_own(run, rng) -> None:
    a, b = column_major(rng, 64, 8), unset(64, 8)
    run(
        f"""func @f(%A: memref<f32x64x8>, %B: memref<f32x64x8>) {ATTRIBUTES} {{ parallel {{
            %zero = constant 0 : index  %c16 = constant 16 : index
            %sg = subgroup_linear_id : i32
            %s = cast %sg : index
            %x = mul %s, %c16 : index
            %m = cooperative_matrix_load %A[%x,%zero] : coopmatrix<f32x16x8,matrix_acc>
            %one = constant 1 : i32
            %odd = and %sg, %one : i32
            %is = equal %odd, %one : bool
            %n = if %is -> (coopmatrix<f32x16x8,matrix_acc>) {{
                %k = neg %m : coopmatrix<f32x16x8,matrix_acc>
                yield (%k)
            }} else {{ yield (%m) }}
            %f = cast %sg : f32
            %o = cooperative_matrix_scale %f, %n : coopmatrix<f32x16x8,matrix_acc>
            cooperative_matrix_store %o, %B[%x,%zero]
        }} }}""",
        a, b,
    )  # fmt: skip
    subgroup = (np.arange(64) // 16)[:, np.newaxis]
    sign = np.where(subgroup % 2, -1, 1)
    np.testing.assert_array_equal(b, a * (subgroup * sign).astype(np.float32))


@pytest.mark.parametrize(
    ("a_name", "b_name", "c_name", "d_name"),
    [
        ("f32", "f32", "f32", "f32"),
        ("f16", "f16", "f32", "f32"),
        ("bf16", "bf16", "f32", "bf16"),
        ("f16", "f16", "f16", "f32"),
        ("i8", "i8", "i32", "i32"),
        ("c32", "f32", "c32", "c64"),
        ("f64", "f64", "f64", "f64"),
    ],
)
def test_mul_add(a_name, b_name, c_name, d_name, run, rng) -> None:
    def values(name: str, *shape: int) -> np.ndarray:
        dtype = NUMPY_TYPES[types.SCALAR_TYPES[name]]
        if name.startswith("i"):
            return np.asfortranarray(rng.integers(-100, 100, shape).astype(dtype))
        imaginary = 1j * rng.standard_normal(shape) if name.startswith("c") else 0
        return np.asfortranarray((rng.standard_normal(shape) + imaginary).astype(dtype))

    a, b, c = values(a_name, 32, 24), values(b_name, 24, 20), values(c_name, 32, 20)
    d = np.zeros((32, 20), NUMPY_TYPES[types.SCALAR_TYPES[d_name]], order="F")
    run(
        on_one_subgroup(
            f"%A: memref<{a_name}x32x24>, %B: memref<{b_name}x24x20>,"
            f" %C: memref<{c_name}x32x20>, %D: memref<{d_name}x32x20>",
            f"%a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<{a_name}x32x24,matrix_a>"
            f" %b = cooperative_matrix_load %B[%c0,%c0] : coopmatrix<{b_name}x24x20,matrix_b>"
            f" %c = cooperative_matrix_load %C[%c0,%c0] : coopmatrix<{c_name}x32x20,matrix_acc>"
            f" %d = cooperative_matrix_mul_add %a, %b, %c : coopmatrix<{d_name}x32x20,matrix_acc>"
            " cooperative_matrix_store %d, %D[%c0,%c0]",
        ),
        a, b, c, d,
    )  # fmt: skip
    wide = [x.astype(complex) for x in (a, b, c)]
    expected = wide[0] @ wide[1] + wide[2]
    if c_name.startswith("i"):
        np.testing.assert_array_equal(d, expected.real)
        return
    # 25 terms in at least f32 (complex: four products each), and a rounding to the types of C
    # and of D.
    size = np.abs(wide[0]) @ np.abs(wide[1]) + np.abs(wide[2])
    last = max(float(ml_dtypes.finfo(x.dtype).eps) for x in (c, d))
    inner = 0.0 if c_name == "f64" else 100 * 2.0**-23
    inner = inner or 100 * 2.0**-52
    assert np.all(np.abs(d.astype(complex) - expected) <= last * np.abs(expected) + inner * size)


@pytest.mark.parametrize("name", ["i8", "bf16", "f32"])
@pytest.mark.parametrize("operation", ["add", "max", "min"])
def test_reduce(operation, name, run, rng) -> None:
    dtype = NUMPY_TYPES[types.SCALAR_TYPES[name]]
    a = np.asfortranarray((rng.standard_normal((32, 12)) * 20).astype(dtype))
    if name != "i8":
        a[3, 4] = np.nan
    rows, columns = np.zeros((32, 1), dtype, order="F"), np.zeros((1, 12), dtype, order="F")
    run(
        on_one_subgroup(
            f"%A: memref<{name}x32x12>, %R: memref<{name}x32x1>, %C: memref<{name}x1x12>",
            f"%a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<{name}x32x12,matrix_acc>"
            f" %r = cooperative_matrix_reduce_{operation}.row %a"
            f"   : coopmatrix<{name}x32x1,matrix_acc>"
            f" %c = cooperative_matrix_reduce_{operation}.column %a"
            f"   : coopmatrix<{name}x1x12,matrix_acc>"
            " cooperative_matrix_store %r, %R[%c0,%c0]"
            " cooperative_matrix_store %c, %C[%c0,%c0]",
        ),
        a, rows, columns,
    )  # fmt: skip
    wide = a.astype(np.int64 if name == "i8" else float)
    for actual, axis in ((rows, 1), (columns, 0)):
        if operation == "add":
            expected = wide.sum(axis=axis, keepdims=True)
        else:
            function = np.nanmax if operation == "max" else np.nanmin
            expected = function(wide, axis=axis, keepdims=True)
        if name == "i8" or operation != "add":
            np.testing.assert_array_equal(actual, expected.astype(dtype))
            continue
        # At most 32 terms in f32, and one rounding.
        size = np.abs(wide).sum(axis=axis, keepdims=True)
        tolerance = float(ml_dtypes.finfo(dtype).eps) * np.abs(expected) + 32 * 2.0**-24 * size
        np.testing.assert_array_equal(np.isnan(actual.astype(float)), np.isnan(expected))
        error = np.abs(actual.astype(float) - expected)
        assert np.all((error <= tolerance) | np.isnan(expected))


def test_elementwise_arithmetic_construct_and_cast(run, rng) -> None:
    a, b = column_major(rng, 16, 6), column_major(rng, 16, 6)
    out = unset(16, 6, dtype=np.float16)
    run(
        on_one_subgroup(
            "%A: memref<f32x16x6>, %B: memref<f32x16x6>, %x: f32, %D: memref<f16x16x6>",
            "%a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<f32x16x6,matrix_acc>"
            " %b = cooperative_matrix_load %B[%c0,%c0] : coopmatrix<f32x16x6,matrix_acc>"
            " %c = cooperative_matrix_construct %x : coopmatrix<f32x16x6,matrix_acc>"
            " %k = constant 1.5 : coopmatrix<f32x16x6,matrix_acc>"
            " %d = mul %a, %b : coopmatrix<f32x16x6,matrix_acc>"
            " %e = add %d, %c : coopmatrix<f32x16x6,matrix_acc>"
            " %f = max %e, %k : coopmatrix<f32x16x6,matrix_acc>"
            " %g = cast %f : coopmatrix<f16x16x6,matrix_acc>"
            " cooperative_matrix_store %g, %D[%c0,%c0]"
            " cooperative_matrix_prefetch 0, %A[%c0,%c0], 32, 32",
        ),
        a, b, 0.25, out,
    )  # fmt: skip
    expected = np.maximum(a * b + np.float32(0.25), np.float32(1.5)).astype(np.float16)
    np.testing.assert_array_equal(out, expected)


APPLY = """
    %m = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<f32x16x16,matrix_acc>
    %two = constant 2 : i32
    {before}
    %n = cooperative_matrix_apply (%i,%j,%v)=%m -> coopmatrix<f32x16x16,matrix_acc> {{
        %mask = less_than_equal %i, %j : bool
        %w = if %mask -> (f32) {{
            %e = native_exp %v : f32
            yield (%e)
        }} else {{
            %s = mul %i, %two : i32
            %t = add %s, %j : i32
            %u = cast %t : f32
            yield (%u)
        }}
        if %mask {{ }}
        {inside}
        yield (%w)
    }}
    cooperative_matrix_store %n, %B[%c0,%c0]
"""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("is_elementwise", [True, False])
def test_apply(is_elementwise, run, rng) -> None:
    """Both ways to run it: with a lane for each component, and with the work-items' vectors."""
    a, b = column_major(rng, 16, 16), unset(16, 16)
    inside = "" if is_elementwise else "%c = cast %i : index  %l = load %A[%c,%c0] : f32"
    run(
        on_one_subgroup(
            "%A: memref<f32x16x16>, %B: memref<f32x16x16>",
            APPLY.format(before="", inside=inside),
        ),
        a, b,
    )  # fmt: skip
    i, j = np.indices((16, 16))
    # exp errs by less than 4 units in the last place.
    np.testing.assert_allclose(
        b, np.where(i <= j, np.exp(a.astype(float)), 2 * i + j), rtol=4 * 2.0**-23
    )


def test_apply_sees_the_values_of_the_components_work_item(run, rng) -> None:
    b = unset(16, 5)
    run(
        on_one_subgroup(
            "%B: memref<f32x16x5>",
            "%lane = subgroup_local_id : i32  %f = cast %lane : f32"
            " %m = constant 100.0 : coopmatrix<f32x16x5,matrix_acc>"
            " %n = cooperative_matrix_apply (%i,%j,%v)=%m -> coopmatrix<f32x16x5,matrix_acc> {"
            "   %w = add %v, %f : f32  yield (%w) }"
            " cooperative_matrix_store %n, %B[%c0,%c0]",
        ),
        b,
    )
    np.testing.assert_array_equal(b, np.broadcast_to(100.0 + np.arange(16)[:, np.newaxis], (16, 5)))


@pytest.mark.parametrize(("m", "n", "length"), [(4, 15, 4), (16, 3, 3), (32, 2, 4), (1, 17, 2)])
def test_extract_and_insert(m, n, length, run, rng) -> None:
    """Each work-item copies its vector out, and puts another one in."""
    a, b = column_major(rng, m, n), unset(m, n)
    out = unset(length, 16)
    steps = "".join(
        f" %v{v} = cooperative_matrix_extract %m{v}[{v}] : f32"
        f" %i{v} = constant {v} : index  store %v{v}, %out[%i{v},%id]"
        f" %d{v} = add %v{v}, %f : f32"
        f" %m{v + 1} = cooperative_matrix_insert %d{v}, %m{v}[{v}]"
        f"   : coopmatrix<f32x{m}x{n},matrix_acc>"
        for v in range(length)
    )
    run(
        on_one_subgroup(
            f"%A: memref<f32x{m}x{n}>, %B: memref<f32x{m}x{n}>, %out: memref<f32x{length}x16>",
            "%lane = subgroup_local_id : i32  %f = cast %lane : f32  %id = cast %lane : index"
            f" %m0 = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<f32x{m}x{n},matrix_acc>"
            f"{steps} cooperative_matrix_store %m{length}, %B[%c0,%c0]",
        ),
        a, b, out,
    )  # fmt: skip
    rows = min(m, 16)
    expected, owner = np.zeros((length, 16)), np.zeros((m, n))
    for v, p in itertools.product(range(length), range(16)):
        blocks, columns = m // rows, length // (m // rows)
        i, j = p % rows + v // columns * rows, p // rows + v % columns * (16 // rows)
        assert blocks * columns == length
        if j < n:
            expected[v, p] = a[i, j]
            owner[i, j] = p
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(b, a + owner.astype(np.float32))


def test_layout_tables_of_the_reference_implementation() -> None:
    layout = layout_of(CoopmatrixType.get(types.F32, 4, 15, MatrixUse.ACC), 16)
    assert layout is not None
    pairs = list(zip(layout.rows[1].tolist(), layout.columns[1].tolist(), strict=True))
    assert pairs[:9] == [(0, 4), (1, 4), (2, 4), (3, 4), (0, 5), (1, 5), (2, 5), (3, 5), (0, 6)]
    assert layout.is_component[3].tolist() == [True] * 12 + [False] * 4
    # matrix_b with 8-bit components interleaves two blocks of rows.
    layout = layout_of(CoopmatrixType.get(types.I8, 64, 2, MatrixUse.B), 16)
    assert layout is not None
    assert layout.rows[:, 0].tolist() == [0, 16, 0, 16, 32, 48, 32, 48]
    assert layout.columns[:, 0].tolist() == [0, 0, 1, 1, 0, 0, 1, 1]
    layout = layout_of(CoopmatrixType.get(types.F16, 64, 2, MatrixUse.B), 16)
    assert layout is not None
    assert layout.rows[:, 0].tolist() == [0, 0, 16, 16, 32, 32, 48, 48]


def test_every_component_has_one_owner() -> None:
    for m, n, size, use in itertools.product((1, 4, 16, 32, 128), (1, 7, 32), (16, 32), MatrixUse):
        layout = layout_of(CoopmatrixType.get(types.I8, m, n, use), size)
        assert layout is not None
        seen = np.zeros((m, n), int)
        np.add.at(seen, (layout.rows, layout.columns), layout.is_component.astype(int))
        assert (seen == 1).all()
        assert layout.length == -(-m * n // size) or m < size


def test_scale_by_a_value_that_differs_between_work_items(run, rng) -> None:
    a, b = column_major(rng, 32, 3), unset(32, 3)
    run(
        on_one_subgroup(
            "%A: memref<f32x32x3>, %B: memref<f32x32x3>",
            "%lane = subgroup_local_id : i32  %f = cast %lane : f32"
            " %m = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<f32x32x3,matrix_acc>"
            " %n = cooperative_matrix_scale %f, %m : coopmatrix<f32x32x3,matrix_acc>"
            " cooperative_matrix_store %n, %B[%c0,%c0]",
        ),
        a, b,
    )  # fmt: skip
    np.testing.assert_array_equal(b, a * (np.arange(32) % 16).astype(np.float32)[:, np.newaxis])


@pytest.mark.parametrize("operation", ["add", "max", "min"])
def test_atomic_updates(operation, run, rng) -> None:
    """Four subgroups update one block one after another; rows past the end are left out."""
    values, memory = column_major(rng, 64, 4), column_major(rng, 13, 4)
    old = unset(64, 4)
    before = memory.copy()
    run(
        f"""func @f(%V: memref<f32x64x4>, %M: memref<f32x13x4>, %O: memref<f32x64x4>)
        {ATTRIBUTES} {{ parallel {{
            %zero = constant 0 : index  %c16 = constant 16 : index
            %sg = subgroup_linear_id : i32
            %s = cast %sg : index
            %x = mul %s, %c16 : index
            %v = cooperative_matrix_load %V[%x,%zero] : coopmatrix<f32x16x4,matrix_acc>
            %o = cooperative_matrix_atomic_{operation}.n.rows_checked.device %v, %M[%zero,%zero]
                : coopmatrix<f32x16x4,matrix_acc>
            cooperative_matrix_atomic_store %o, %O[%x,%zero]
            %p = cooperative_matrix_atomic_load %O[%x,%zero] : coopmatrix<f32x16x4,matrix_acc>
            cooperative_matrix_store %p, %O[%x,%zero]
        }} }}""",
        values, memory, old,
    )  # fmt: skip
    function = {"add": np.add, "max": np.maximum, "min": np.minimum}[operation]
    for subgroup in range(4):
        block = slice(16 * subgroup, 16 * subgroup + 13)
        np.testing.assert_array_equal(old[block], before)
        assert (old[block.stop : block.stop + 3] == 0).all()
        before = function(before, values[block])
    np.testing.assert_array_equal(memory, before)


def test_a_block_outside_of_the_memory_is_located(run, rng) -> None:
    text = on_one_subgroup(
        "%A: memref<f32x16x8>, %x: index",
        "\n%m = cooperative_matrix_load %A[%x,%c0] : coopmatrix<f32x16x8,matrix_acc>",
    )
    with pytest.raises(DiagnosticError) as error:
        run(text, column_major(rng, 16, 8), 1)
    assert str(error.value).startswith("<text>:2.6-")
    assert "element 128 lies outside of the memory of %A" in str(error.value)


def test_rows_that_fit_no_layout_are_located_only_where_it_matters(run, rng) -> None:
    a, b = column_major(rng, 24, 3), unset(24, 3)
    load = "%m = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<f32x24x3,matrix_acc>"
    parameters = "%A: memref<f32x24x3>, %B: memref<f32x24x3>"
    run(on_one_subgroup(parameters, f"{load} cooperative_matrix_store %m, %B[%c0,%c0]"), a, b)
    np.testing.assert_array_equal(a, b)
    type_ = "coopmatrix<f32x24x3,matrix_acc>"
    lane = "%lane = subgroup_local_id : i32  %l = cast %lane : f32"
    for body in (
        "%x = cooperative_matrix_extract %m[0] : f32",
        f"{lane} %n = cooperative_matrix_scale %l, %m : {type_}",
        f"{lane} %n = cooperative_matrix_apply (%i,%j,%v)=%m -> {type_} {{ yield (%l) }}",
    ):
        with pytest.raises(DiagnosticError, match="layout") as error:
            run(on_one_subgroup(parameters, f"{load} {body}"), a, b)
        assert str(error.value).startswith("<text>:1.")


def test_each_subgroup_has_a_memref_of_a_group(run, rng) -> None:
    sources = [column_major(rng, 16, n) for n in (8, 9, 10, 11)]
    out = unset(64, 8)
    run(
        f"""func @f(%G: group<memref<f32x16x?>x?>, %O: memref<f32x64x8>) {ATTRIBUTES} {{ parallel {{
            %zero = constant 0 : index  %c16 = constant 16 : index  %c3 = constant 3 : index
            %sg = subgroup_linear_id : i32
            %s = cast %sg : index
            %x = mul %s, %c16 : index
            %r = sub %c3, %s : index
            %A = load %G[%r] : memref<f32x16x?>
            %m = cooperative_matrix_load.both_checked %A[%zero,%r]
                : coopmatrix<f32x16x8,matrix_acc>
            cooperative_matrix_store %m, %O[%x,%zero]
            cooperative_matrix_store.cols_checked %m, %A[%zero,%c3]
        }} }}""",
        sources, out,
    )  # fmt: skip
    for subgroup in range(4):
        n = 3 - subgroup
        block = out[16 * subgroup : 16 * subgroup + 16]
        # Columns from n on: the first three are as they were, those from 3 on were stored later.
        assert not np.isnan(block).any()
        np.testing.assert_array_equal(sources[n][:, 3:], block[:, : 5 + n])
        np.testing.assert_array_equal(block[:, : 3 - n], sources[n][:, n:3])
