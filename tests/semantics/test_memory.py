"""Views, loads and stores, groups, atomics, and errors of memory instructions."""

from __future__ import annotations

import numpy as np
import pytest

from xtile.semantics.arguments import GroupArgument, MemrefArgument
from xtile.text.diagnostics import DiagnosticError

ATTRIBUTES = "attributes {subgroup_size=16, work_group_size=[32,2]}"
ID = """
    %lane = subgroup_local_id : i32
    %sg = subgroup_linear_id : i32
    %size = subgroup_size : i32
    %base = mul %sg, %size : i32
    %id32 = add %base, %lane : i32
    %id = cast %id32 : index
"""
COPY = """
    %zero = constant 0.0 : f32
    %one = constant 1.0 : f32
    axpby %one, {source}, %zero, {target}
"""


def column_major(rng, *shape: int) -> np.ndarray:
    return np.asfortranarray(rng.standard_normal(shape).astype(np.float32))


def test_subview_takes_offsets_and_sizes(run, rng) -> None:
    a, b = column_major(rng, 9, 8, 5), np.full((3, 4), np.nan, np.float32, order="F")
    run(
        "func @f(%A: memref<f32x9x8x5>, %i: index, %n: index, %B: memref<f32x3x4>) {"
        " %v = subview %A[2:3,%i:%n,%i] : memref<f32x3x?,strided<1,9>>"
        + COPY.format(source="%v", target="%B")
        + "}",
        a, 3, 4, b,
    )  # fmt: skip
    np.testing.assert_array_equal(b, a[2:5, 3:7, 3])


def test_subview_of_subview_keeps_modes_of_size_one(run, rng) -> None:
    a, b = column_major(rng, 9, 8, 5), np.full((2, 1), np.nan, np.float32, order="F")
    run(
        "func @f(%A: memref<f32x9x8x5>, %i: index, %B: memref<f32x2x1>) {"
        " %v = subview %A[2:6,1:7,%i:1] : memref<f32x6x7x1,strided<1,9,?>>"
        " %w = subview %v[3:2,%i,0:1] : memref<f32x2x1,strided<1,?>>"
        + COPY.format(source="%w", target="%B")
        + "}",
        a, 2, b,
    )  # fmt: skip
    np.testing.assert_array_equal(b, a[5:7, 3, 2:3])


def test_expand_and_fuse(run, rng) -> None:
    a = column_major(rng, 4, 12, 3)
    b = np.full((4, 2, 6, 3), np.nan, np.float32, order="F")
    c = np.full((4, 36), np.nan, np.float32, order="F")
    sizes = np.zeros(6, np.int64)
    run(
        "func @f(%A: memref<f32x4x12x3>, %n: index, %B: memref<f32x4x2x6x3>,"
        " %C: memref<f32x4x36>, %sizes: memref<index x6>) {"
        " %c0 = constant 0 : index %c1 = constant 1 : index %c2 = constant 2 : index"
        " %c3 = constant 3 : index %c4 = constant 4 : index %c5 = constant 5 : index"
        " %v = expand %A[1 -> %n x 6] : memref<f32x4x?x6x3,strided<1,4,?,48>>"
        " foreach (%i,%j,%k,%l)=(%c0,%c0,%c0,%c0),(%c4,%c2,%n,%c3) {"
        "   %x = load %v[%i,%j,%k,%l] : f32 store %x, %B[%i,%j,%k,%l] }"
        " %six = constant 6 : index"
        " foreach (%i,%j,%k,%l)=(%c0,%c0,%c2,%c0),(%c4,%c2,%six,%c3) {"
        "   %x = load %v[%i,%j,%k,%l] : f32 store %x, %B[%i,%j,%k,%l] }"
        " %w = fuse %A[1,2] : memref<f32x4x36>"
        + COPY.format(source="%w", target="%C")
        + " %s0 = size %v[0] : index  %s1 = size %v[1] : index  %s2 = size %v[2] : index"
        " %s3 = size %v[3] : index  %s4 = size %w[0] : index  %s5 = size %w[1] : index"
        " store %s0, %sizes[%c0] store %s1, %sizes[%c1] store %s2, %sizes[%c2]"
        " store %s3, %sizes[%c3] store %s4, %sizes[%c4] store %s5, %sizes[%c5] }",
        a, 2, b, c, sizes,
    )  # fmt: skip
    np.testing.assert_array_equal(b, a.reshape((4, 2, 6, 3), order="F"))
    np.testing.assert_array_equal(c, a.reshape((4, 36), order="F"))
    assert sizes.tolist() == [4, 2, 6, 3, 4, 36]


def test_expand_with_another_product_is_located(run, rng) -> None:
    with pytest.raises(DiagnosticError, match="product of the expand shape is 15"):
        run(
            "func @f(%A: memref<f32x?>, %n: index) {"
            " %v = expand %A[0 -> 5 x %n] : memref<f32x5x?> }",
            column_major(rng, 12), 3,
        )  # fmt: skip


def test_fuse_across_a_gap_is_located(run, rng) -> None:
    with pytest.raises(DiagnosticError, match="mode 1 cannot be fused with its neighbours"):
        run(
            "func @f(%A: memref<f32x4x3,strided<1,?>>) {"
            " %v = fuse %A[0,1] : memref<f32x12,strided<1>> }",
            column_major(rng, 5, 3)[:4],
        )


EXPAND = "%e = expand %A[1 -> 2 x %q] : memref<f32x64x2x?,strided<1,64,128>>"
FUSE = """%v = subview %A[0:%n,0:2] : memref<f32x?x2,strided<1,64>>
    %w = fuse %v[0,1] : memref<f32x?>"""


def only_where(condition: str, body: str) -> str:
    """Executes `body` where a condition holds; %q is 0 to 4 and %n 57 to 88."""
    return f"""func @f(%A: memref<f32x64x6>, %done: memref<i32x32>)
        attributes {{subgroup_size=16, work_group_size=[32,1]}} {{ parallel {{ {ID}
            %c5 = constant 5 : index  %c7 = constant 7 : index  %c57 = constant 57 : index
            %q = rem %id, %c5 : index
            %n = add %id, %c57 : index
            %c3 = constant 3 : index  %c1 = constant 1 : index
            %is = {condition} : bool
            if %is {{
                {body}
                store %lane, %done[%id]
            }}
        }} }}"""


@pytest.mark.parametrize(
    ("condition", "body", "active"),
    [("equal %q, %c3", EXPAND, range(3, 32, 5)), ("equal %id, %c7", FUSE, [7])],
)
def test_views_of_inactive_work_items_are_not_checked(condition, body, active, run, rng) -> None:
    done = np.full(32, -1, np.int32)
    run(only_where(condition, body), column_major(rng, 64, 6), done)
    assert np.flatnonzero(done >= 0).tolist() == list(active)


@pytest.mark.parametrize(
    ("condition", "body", "message"),
    [
        (
            "greater_than %q, %c1",
            EXPAND,
            "the product of the expand shape is 4, but mode 1 has size 6",
        ),
        (
            "greater_than %id, %c5",
            FUSE,
            (
                "mode 1 cannot be fused with its neighbours: its stride is 64, but must be 63, "
                "so that the elements follow each other without gaps"
            ),
        ),
    ],
)
def test_messages_name_one_work_items_numbers(condition, body, message, run, rng) -> None:
    with pytest.raises(DiagnosticError) as error:
        run(only_where(condition, body), column_major(rng, 64, 6), np.zeros(32, np.int32))
    assert [d.message for d in error.value.diagnostics] == [message]


def test_a_choice_of_views_is_checked_where_it_is_active(run, rng) -> None:
    text = f"""func @f(%g: group<memref<f32x?>x2>, %done: memref<i32x32>)
        attributes {{subgroup_size=16, work_group_size=[32,1]}} {{ parallel {{ {ID}
            %c0 = constant 0 : index  %c2 = constant 2 : index  %c3 = constant 3 : index
            %i = rem %id, %c2 : index
            %v = load %g[%i] : memref<f32x?>
            %is = equal %i, %c0 : bool
            if %is {{
                %e = expand %v[0 -> 2 x %c3] : memref<f32x2x?>
                store %lane, %done[%id]
            }}
        }} }}"""
    done = np.full(32, -1, np.int32)
    run(text, [column_major(rng, 6), column_major(rng, 5)], done)
    assert np.flatnonzero(done >= 0).tolist() == list(range(0, 32, 2))
    with pytest.raises(DiagnosticError, match="is 6, but mode 0 has size 5\n"):
        run(text, [column_major(rng, 5), column_major(rng, 6)], done)


def test_views_that_differ_between_work_items(run, rng) -> None:
    a, out = column_major(rng, 64, 10), np.full(64, np.nan, np.float32)
    size = np.zeros(64, np.int64)
    run(
        f"""func @f(%A: memref<f32x64x10>, %out: memref<f32x64>, %sizes: memref<index x64>)
        {ATTRIBUTES} {{ parallel {{ {ID}
            %ten = constant 10 : index
            %n = rem %id, %ten : index
            %one = constant 1 : index
            %m = add %n, %one : index
            %v = subview %A[%id:1,0:%m] : memref<f32x1x?,strided<1,64>>
            %w = expand %v[1 -> %m x 1] : memref<f32x1x?x1,strided<1,64,?>>
            %zero = constant 0 : index
            %x = load %w[%zero,%n,%zero] : f32
            store %x, %out[%id]
            %s = size %w[1] : index
            store %s, %sizes[%id]
        }} }}""",
        a, out, size,
    )  # fmt: skip
    item = np.arange(64)
    np.testing.assert_array_equal(out, a[item, item % 10])
    np.testing.assert_array_equal(size, item % 10 + 1)


def test_groups(run, rng) -> None:
    sources = [column_major(rng, 4, n) for n in (3, 1, 7)]
    out = np.full((4, 3), np.nan, np.float32, order="F")
    total = np.zeros(2, np.int64)
    run(
        "func @f(%G: group<memref<f32x4x?>x?>, %out: memref<f32x4x3>, %n: memref<index x2>) {"
        " %g = group_id.x : index"
        " %a = load %G[%g] : memref<f32x4x?>"
        " %m = size %G[0] : index  %s = size %a[1] : index"
        " %c0 = constant 0 : index  %c1 = constant 1 : index"
        " %old = atomic_add %s, %n[%c0] : index"
        " store %m, %n[%c1]"
        " %o = subview %out[0:4,%g] : memref<f32x4>"
        " %zero = constant 0.0 : f32  %one = constant 1.0 : f32"
        " sum.n %one, %a, %zero, %o }",
        sources, out, total, grid=(3, 1, 1),
    )  # fmt: skip
    expected = np.stack([s.astype(float).sum(1) for s in sources], axis=1)
    magnitude = np.stack([np.abs(s).sum(1) for s in sources], axis=1)
    # At most 7 additions and one product, each with a relative error of 2^-24.
    assert np.all(np.abs(out - expected) <= 8 * 2.0**-24 * magnitude)
    # In a collective region each of the 64 work-items (2 x 2 subgroups of 16) adds.
    assert total.tolist() == [11 * 64, 3]


def test_group_with_offset_and_null_entry(run, rng) -> None:
    memory = [column_major(rng, 20), column_major(rng, 20)]
    entries = [MemrefArgument(m, (4,), (1,)) for m in memory]
    group = GroupArgument([*entries, MemrefArgument(None, (4,), (1,))], offset=5)
    out, known = np.full(3, np.nan, np.float32), np.full(3, -1, np.int32)
    text = """func @f(%G: group<memref<f32x4>x3, offset: ?>, %out: memref<f32x3>,
                      %known: memref<i32x3>) {
        %g = group_id.x : index
        %a = load %G[%g] : memref<f32x4>
        %is = associated %a : bool
        %one = constant 1 : i32  %zero = constant 0 : i32
        %k = if %is -> (i32) { yield (%one) } else { yield (%zero) }
        store %k, %known[%g]
        %two = constant 2 : index
        %x = load %a[%two] : f32
        store %x, %out[%g]
    }"""
    run(text, group, out, known, grid=(2, 1, 1))
    np.testing.assert_array_equal(out[:2], [memory[0][7], memory[1][7]])
    assert known.tolist() == [1, 1, -1]
    with pytest.raises(DiagnosticError, match="entry 2 of %G is not associated"):
        run(text, group, out, known, grid=(3, 1, 1))
    assert known.tolist() == [1, 1, 0]


def test_each_work_item_loads_another_entry(run, rng) -> None:
    sources = [column_major(rng, 5) for _ in range(4)]
    out, size = np.full(64, np.nan, np.float32), np.zeros(64, np.int64)
    run(
        f"""func @f(%G: group<memref<f32x?>x4>, %out: memref<f32x64>, %n: memref<index x64>)
        {ATTRIBUTES} {{ parallel {{ {ID}
            %four = constant 4 : index
            %e = rem %id, %four : index
            %a = load %G[%e] : memref<f32x?>
            %one = constant 1 : index
            %v = subview %a[1:%four] : memref<f32x?>
            %x = load %v[%one] : f32
            store %x, %out[%id]
            store %x, %v[%four]
            %s = size %v[0] : index
            store %s, %n[%id]
        }} }}""",
        [np.append(s, np.float32(0)) for s in sources], out, size,
    )  # fmt: skip
    np.testing.assert_array_equal(out, [sources[i % 4][2] for i in range(64)])
    assert (size == 4).all()


def test_stores_happen_in_the_order_of_work_items(run) -> None:
    out = np.full(4, -1, np.int32)
    run(
        f"""func @f(%out: memref<i32x4>) {ATTRIBUTES} {{ parallel {{ {ID}
            %four = constant 4 : index  %zero = constant 0 : index
            %i = rem %id, %four : index
            store %id32, %out[%i]
            %c40 = constant 40 : i32
            %small = less_than %id32, %c40 : bool
            if %small {{ store %id32, %out[%zero] }}
        }} }}""",
        out,
    )
    assert out.tolist() == [39, 61, 62, 63]


@pytest.mark.parametrize(
    ("operation", "name"), [("add", "i8"), ("max", "i32"), ("min", "f32"), ("add", "f16")]
)
def test_atomics_are_one_after_another(operation, name, run, rng) -> None:
    dtype = {"i8": np.int8, "i32": np.int32, "f32": np.float32, "f16": np.float16}[name]
    values = (rng.standard_normal(64) * 40).astype(dtype)
    position = rng.integers(0, 5, 64)
    memory, old = np.ones(5, dtype), np.zeros(64, dtype)
    run(
        f"""func @f(%v: memref<{name}x64>, %p: memref<index x64>, %m: memref<{name}x5>,
                    %old: memref<{name}x64>) {ATTRIBUTES} {{ parallel {{ {ID}
            %x = load %v[%id] : {name}
            %i = load %p[%id] : index
            %c50 = constant 50 : index
            %active = less_than %id, %c50 : bool
            if %active {{
                %o = atomic_{operation}.device.relaxed %x, %m[%i] : {name}
                store %o, %old[%id]
            }}
        }} }}""",
        values, position, memory, old,
    )  # fmt: skip
    expected, before = np.ones(5, dtype), np.zeros(64, dtype)
    function = {"add": np.add, "max": np.maximum, "min": np.minimum}[operation]
    with np.errstate(over="ignore"):
        for item in range(50):
            before[item] = expected[position[item]]
            expected[position[item]] = function(expected[position[item]], values[item])
    np.testing.assert_array_equal(memory, expected)
    np.testing.assert_array_equal(old, before)


def test_atomic_load_and_store(run, rng) -> None:
    a, b = column_major(rng, 64), np.full(64, np.nan, np.float32)
    run(
        f"""func @f(%a: memref<f32x64>, %b: memref<f32x64>) {ATTRIBUTES} {{ parallel {{ {ID}
            %x = atomic_load.device.acquire %a[%id] : f32
            atomic_store.device.release %x, %b[%id]
        }} }}""",
        a, b,
    )  # fmt: skip
    np.testing.assert_array_equal(a, b)


def test_scalar_memrefs_and_collective_loads(run) -> None:
    a, b = np.array(2.5), np.array(np.nan)
    run(
        "func @f(%a: memref<f64>, %b: memref<f64>) {"
        " %x = load %a[] : f64  %y = add %x, %x : f64  store %y, %b[] }",
        a, b,
    )  # fmt: skip
    assert b == 5


def test_local_memory_is_per_work_group_and_undefined(run) -> None:
    out = np.zeros((2, 4), np.float32, order="F")
    run(
        "func @f(%out: memref<f32x2x4>) { %t = alloca : memref<f32x2,local>"
        " %g = group_id.x : index  %c0 = constant 0 : index  %c1 = constant 1 : index"
        " %x = load %t[%c0] : f32  store %x, %out[%c0,%g]"
        " %f = constant 3.0 : f32  store %f, %t[%c0]"
        " %y = load %t[%c0] : f32  store %y, %out[%c1,%g]  lifetime_stop %t }",
        out, grid=(4, 1, 1),
    )  # fmt: skip
    assert np.isnan(out[0]).all()
    assert (out[1] == 3).all()


@pytest.mark.parametrize("index", [-1, 12, 2**40])
def test_access_outside_of_the_memory_is_located(index, run, rng) -> None:
    text = """func @f(%a: memref<f32x12>, %i: index) attributes {subgroup_size=16,
    work_group_size=[16,1]} {
    parallel {
        %x = load %a[%i] : f32
        %lane = subgroup_local_id : i32
        %l = cast %lane : index
        %j = add %l, %i : index
        store %x, %a[%j]
    } }"""
    with pytest.raises(DiagnosticError) as error:
        run(text, column_major(rng, 12), index)
    assert str(error.value).startswith("<text>:4.14-")
    assert f"element {index} lies outside of the memory of %a, which has 12 elements" in str(
        error.value
    )
    with pytest.raises(DiagnosticError, match="element 15 lies outside"):
        run(text, column_major(rng, 12), 0)


def test_bf16_memory(run) -> None:
    import ml_dtypes

    a = np.asfortranarray(np.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16))
    b = np.full((3, 2), np.nan, ml_dtypes.bfloat16, order="F")
    run(
        "func @f(%A: memref<bf16x2x3>, %B: memref<bf16x3x2>) {"
        " %one = constant 1.0 : bf16  %zero = constant 0.0 : bf16"
        " axpby.t %one, %A, %zero, %B }",
        a, b,
    )  # fmt: skip
    np.testing.assert_array_equal(b, a.T)
