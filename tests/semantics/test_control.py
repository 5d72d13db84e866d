"""Uniform and divergent control flow, trip counts, and where a work-item stands."""

from __future__ import annotations

import numpy as np
import pytest

from xtile.text.diagnostics import DiagnosticError

# Defines %id, a different number in each work-item of the 2 x 3 subgroups of 16.
ATTRIBUTES = "attributes {subgroup_size=16, work_group_size=[32,3]}"
ID = """
    %lane = subgroup_local_id : i32
    %sg = subgroup_linear_id : i32
    %size = subgroup_size : i32
    %base = mul %sg, %size : i32
    %id32 = add %base, %lane : i32
    %id = cast %id32 : index
"""


def per_work_item(body: str, parameters: str = "%out: memref<i32x96>") -> str:
    return f"func @f({parameters}) {ATTRIBUTES} {{ parallel {{ {ID} {body} }} }}"


def unset(*shape: int) -> np.ndarray:
    return np.full(shape, -1, np.int32, order="F")


def test_builtins(run) -> None:
    out = unset(10, 96, 3)
    run(
        f"""func @f(%out: memref<i32x10x96x3>) {ATTRIBUTES} {{
        %g = group_id.y : index
        %gx = group_id.x : index
        %gy = num_groups.y : index
        %gz = num_groups.z : index
        %nx = num_subgroups.x : i32
        %ny = num_subgroups.y : i32
        %nz = num_subgroups.z : i32
        %gx32 = cast %gx : i32
        %gy32 = cast %gy : i32
        %gz32 = cast %gz : i32
        parallel {{ {ID}
            %x = subgroup_id.x : i32
            %y = subgroup_id.y : i32
            %z = subgroup_id.z : i32
            %c0 = constant 0 : index %c1 = constant 1 : index %c2 = constant 2 : index
            %c3 = constant 3 : index %c4 = constant 4 : index %c5 = constant 5 : index
            %c6 = constant 6 : index %c7 = constant 7 : index %c8 = constant 8 : index
            %c9 = constant 9 : index
            store %x, %out[%c0,%id,%g]
            store %y, %out[%c1,%id,%g]
            store %z, %out[%c2,%id,%g]
            store %sg, %out[%c3,%id,%g]
            store %lane, %out[%c4,%id,%g]
            store %nx, %out[%c5,%id,%g]
            store %ny, %out[%c6,%id,%g]
            store %nz, %out[%c7,%id,%g]
            store %gy32, %out[%c8,%id,%g]
            store %gz32, %out[%c9,%id,%g]
        }} }}""",
        out,
        grid=(1, 3, 1),
    )
    item = np.arange(96)
    subgroup = item // 16
    for group in range(3):
        expected = [subgroup % 2, subgroup // 2, 0 * item, subgroup, item % 16]
        for row, values in enumerate(expected):
            np.testing.assert_array_equal(out[row, :, group], values)
        for row, number in ((5, 2), (6, 3), (7, 1), (8, 3), (9, 1)):
            assert (out[row, :, group] == number).all()


def test_divergent_if_returns_values(run, rng) -> None:
    out = unset(96)
    values = rng.integers(-100, 100, 96).astype(np.int32)
    run(
        per_work_item(
            """
            %v = load %in[%id] : i32
            %zero = constant 0 : i32
            %neg = less_than %v, %zero : bool
            %a, %b = if %neg -> (i32, i32) {
                %n = neg %v : i32
                yield (%n, %zero)
            } else {
                yield (%zero, %v)
            }
            %d = sub %b, %a : i32
            %two = constant 2 : i32
            %r = rem %id32, %two : i32
            %odd = not_equal %r, %zero : bool
            %e = if %odd -> (i32) {
                %f = if %neg -> (i32) { %m = constant -7 : i32 yield (%m) } else { yield (%d) }
                yield (%f)
            } else { %seven = constant 7 : i32 yield (%seven) }
            store %e, %out[%id]
            """,
            "%in: memref<i32x96>, %out: memref<i32x96>",
        ),
        values, out,
    )  # fmt: skip
    odd = np.arange(96) % 2 == 1
    np.testing.assert_array_equal(out, np.where(odd, np.where(values < 0, -7, values), 7))


def test_inactive_work_items_do_nothing(run) -> None:
    # Inactive work-items would divide by zero and access what lies outside.
    out = unset(40)
    run(
        per_work_item(
            """
            %c40 = constant 40 : index
            %inside = less_than %id, %c40 : bool
            if %inside {
                %c39 = constant 39 : i32
                %d = sub %c39, %id32 : i32
                %zero = constant 0 : i32
                %some = greater_than %d, %zero : bool
                if %some {
                    %old = load %out[%id] : i32
                    %q = div %c39, %d : i32
                    %r = add %q, %old : i32
                    store %r, %out[%id]
                }
            }
            """,
            "%out: memref<i32x40>",
        ),
        out,
    )
    item = np.arange(39)
    np.testing.assert_array_equal(out[:39], 39 // (39 - item) - 1)
    assert out[39] == -1


def test_loops_with_different_bounds(run, rng) -> None:
    out = unset(96)
    to = rng.integers(-5, 40, 96).astype(np.int32)
    run(
        per_work_item(
            """
            %to = load %in[%id] : i32
            %zero = constant 0 : i32
            %three = constant 3 : i32
            %sum, %count = for %i=%lane,%to,%three init(%s=%zero,%c=%zero) -> (i32,i32) {
                %one = constant 1 : i32
                %s1 = add %s, %i : i32
                %c1 = add %c, %one : i32
                yield (%s1, %c1)
            }
            %hundred = constant 1000 : i32
            %h = mul %count, %hundred : i32
            %r = add %h, %sum : i32
            store %r, %out[%id]
            """,
            "%in: memref<i32x96>, %out: memref<i32x96>",
        ),
        to, out,
    )  # fmt: skip
    ranges = [range(item % 16, int(to[item]), 3) for item in range(96)]
    assert out.tolist() == [1000 * len(r) + sum(r) for r in ranges]


def test_fibonacci_of_the_reference(run) -> None:
    out = np.zeros(2, np.int64)
    run(
        """func @f(%out: memref<i64x2>) {
            %from = constant 2 : i32
            %to = constant 6 : i32
            %f0 = constant 0 : i64
            %f1 = constant 1 : i64
            %a, %b = for %n=%from,%to init(%fn_2=%f0,%fn_1=%f1) -> (i64,i64) {
                %fn = add %fn_2, %fn_1 : i64
                yield (%fn_1, %fn)
            }
            %c0 = constant 0 : index  %c1 = constant 1 : index
            store %a, %out[%c0]  store %b, %out[%c1]
        }""",
        out,
    )
    assert out.tolist() == [3, 5]


def test_a_loop_ends_before_its_variable_wraps_around(run) -> None:
    out = unset(97)
    run(
        """func @f(%out: memref<i32x97>) attributes {subgroup_size=16, work_group_size=[32,3]} {
            %from = constant 120 : i8  %to = constant 127 : i8  %step = constant 5 : i8
            %zero = constant 0 : i32  %one = constant 1 : i32
            %n = for %i=%from,%to,%step init(%c=%zero) -> (i32) {
                %d = add %c, %one : i32 yield (%d)
            }
            %c96 = constant 96 : index
            store %n, %out[%c96]
            parallel {
                %lane = subgroup_local_id : i32
                %sg = subgroup_linear_id : i32
                %c16 = constant 16 : i32
                %b = mul %sg, %c16 : i32
                %id32 = add %b, %lane : i32
                %id = cast %id32 : index
                %lane8 = cast %lane : i8
                %from2 = add %from, %lane8 : i8
                %m = for %i=%from2,%to,%step init(%c=%zero) -> (i32) {
                    %d = add %c, %one : i32 yield (%d)
                }
                store %m, %out[%id]
            }
        }""",
        out,
    )
    assert out[96] == 2
    lanes = [len(range((120 + lane + 128) % 256 - 128, 127, 5)) for lane in range(16)]
    assert out[:96].tolist() == lanes * 6


def test_a_step_of_zero_is_an_error(run) -> None:
    with pytest.raises(DiagnosticError, match="step of a for loop must be at least 1"):
        run(
            "func @f(%n: i32) { %zero = constant 0 : i32 %one = constant 1 : i32"
            " for %i=%zero,%one,%n { } }",
            0,
        )


@pytest.mark.parametrize("is_varying", [False, True])
@pytest.mark.parametrize(
    ("first", "last", "step", "count"),
    [(5, 0, -1, 0), (5, 0, 0, 0), (5, 5, 0, 0), (5, 5, -1, 0), (5, 0, 1, 0), (0, 5, 2, 3)],
)
def test_a_loop_never_descends(is_varying, first, last, step, count, run) -> None:
    out = unset(96)
    to = "%to = load %in[%id] : i32" if is_varying else "%to = add %last, %zero : i32"
    run(
        per_work_item(
            f"""%zero = constant 0 : i32 %one = constant 1 : i32 {to}
            %n = for %i=%first,%to,%step init(%c=%zero) -> (i32) {{
                %d = add %c, %one : i32 yield (%d)
            }}
            store %n, %out[%id]""",
            "%in: memref<i32x96>, %out: memref<i32x96>, %first: i32, %last: i32, %step: i32",
        ),
        np.full(96, last, np.int32), out, first, last, step,
    )  # fmt: skip
    assert out.tolist() == [count] * 96


@pytest.mark.parametrize(("subtracted", "wrong"), [(0, None), (3, -2)])
def test_the_step_of_inactive_work_items_does_not_matter(subtracted, wrong, run) -> None:
    # Work-item 0 of each subgroup would loop with a step of 0 or -3.
    out = unset(96)
    text = per_work_item(
        f"""%zero = constant 0 : i32 %ten = constant 10 : i32 %one = constant 1 : i32
        %k = constant {subtracted} : i32
        %step = sub %lane, %k : i32
        %nz = not_equal %lane, %zero : bool
        if %nz {{
            %n = for %i=%zero,%ten,%step init(%c=%zero) -> (i32) {{
                %d = add %c, %one : i32 yield (%d)
            }}
            store %n, %out[%id]
        }}"""
    )
    if wrong is None:
        run(text, out)
        assert out.tolist() == [-1, *(len(range(0, 10, lane)) for lane in range(1, 16))] * 6
    else:
        with pytest.raises(DiagnosticError, match=f"must be at least 1, but is {wrong}\n"):
            run(text, out)


def test_division_by_zero_is_located(run) -> None:
    with pytest.raises(DiagnosticError) as error:
        run("func @f(%n: i32) {\n  %one = constant 1 : i32\n  %q = div %one, %n : i32\n}", 0)
    assert str(error.value).startswith("<text>:3.8-25")
    assert "division by zero" in str(error.value)


@pytest.mark.parametrize("uses_id", [False, True])
def test_foreach_visits_every_trip_once(uses_id, run) -> None:
    out = np.zeros((5, 7, 40), np.int32, order="F")
    use = "%lane = subgroup_local_id : i32" if uses_id else ""
    run(
        f"""func @f(%out: memref<i32x5x7x40>) {ATTRIBUTES} {{
            %a = constant -2 : i32  %b = constant 3 : i32
            %c0 = constant 0 : index  %c7 = constant 7 : index
            %d = constant 1 : i16  %e = constant 41 : i16
            foreach (%i,%j,%k)=(%a,%c0,%d),(%b,%c7,%e) {{
                {use}
                %two = constant 2 : i32  %one = constant 1 : i16
                %i2 = add %i, %two : i32  %k1 = sub %k, %one : i16
                %x = cast %i2 : index  %z = cast %k1 : index
                %ten = constant 10 : i32  %hundred = constant 100 : i32
                %j32 = cast %j : i32  %k32 = cast %k : i32
                %p = mul %j32, %ten : i32  %q = mul %k32, %hundred : i32
                %r = add %i, %p : i32  %s = add %r, %q : i32
                %old = load %out[%x,%j,%z] : i32
                %t = add %old, %s : i32
                store %t, %out[%x,%j,%z]
            }} }}""",
        out,
    )
    i, j, k = np.meshgrid(range(-2, 3), range(7), range(1, 41), indexing="ij")
    np.testing.assert_array_equal(out, i + 10 * j + 100 * k)


def test_an_empty_foreach_does_nothing(run) -> None:
    out = unset(4)
    run(
        "func @f(%out: memref<i32x4>, %n: index) { %c1 = constant 1 : index"
        " foreach (%i,%j)=(%c1,%c1),(%n,%c1) { %v = constant 9 : i32  store %v, %out[%i] } }",
        out, 4,
    )  # fmt: skip
    assert (out == -1).all()


@pytest.mark.parametrize("uses_id", [False, True])
def test_foreach_tile_covers_the_range(uses_id, run) -> None:
    count = np.zeros((70, 50, 3), np.int32, order="F")
    use = "%sg = subgroup_id.x : i32" if uses_id else ""
    run(
        f"""func @f(%out: memref<i32x70x50x3>) {ATTRIBUTES} {{
            %c0 = constant 0 : index  %c70 = constant 70 : index
            %c50 = constant 50 : index  %c3 = constant 3 : index
            foreach_tile (%i,%j,%k)=(%c0,%c0,%c0),(%c70,%c50,%c3) as (%ti,%tj,%tk)<=(16,12,1) {{
                {use}
                %lane = subgroup_local_id : i32
                %l = cast %lane : index
                %inside = less_than %l, %ti : bool
                if %inside {{
                    %x = add %i, %l : index
                    %zero = constant 0 : index
                    for %c=%zero,%tj {{
                        %y = add %j, %c : index
                        for %d=%zero,%tk {{
                            %z = add %k, %d : index
                            %one = constant 1 : i32
                            %r = atomic_add %one, %out[%x,%y,%z] : i32
                        }}
                    }}
                }}
            }} }}""",
        count,
    )
    assert (count == 1).all()


def test_values_that_differ_between_subgroups(run) -> None:
    out = unset(96)
    run(
        per_work_item(
            """
            %three = constant 3 : i32
            %small = less_than %sg, %three : bool
            %zero = constant 0 : i32
            %n = for %i=%sg,%three init(%c=%zero) -> (i32) {
                %d = add %c, %lane : i32
                yield (%d)
            }
            %r = if %small -> (i32) { yield (%n) } else { %m = neg %sg : i32 yield (%m) }
            store %r, %out[%id]
            """
        ),
        out,
    )
    item = np.arange(96)
    sg, lane = item // 16, item % 16
    np.testing.assert_array_equal(out, np.where(sg < 3, (3 - sg) * lane, -sg))
