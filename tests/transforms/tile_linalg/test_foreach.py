"""Loops over the points of a space become loops over tiles, with the same numbers."""

from __future__ import annotations

import pytest

import xtile
from tests.backends.intel.random_arguments import any_numbers, plain_numbers
from tests.transforms.distribute.kernels import printed
from tests.transforms.tile_linalg.from_source import Shape, check, tiled
from xtile.text.diagnostics import DiagnosticError

NEIGHBOURS = """
func @k(%x: memref<f32x?>, %y: memref<f32x?>) {
    %zero = constant 0 : index
    %one = constant 1 : index
    %n = size %x[0] : index
    %last = sub %n, %one : index
    foreach (%i)=(%zero),(%n) {
        %a = load %x[%i] : f32
        %has = greater_than %i, %zero : bool
        %b = if %has -> (f32) {
            %before = sub %i, %one : index
            %v = load %x[%before] : f32
            yield (%v)
        } else { yield (%a) }
        %is = less_than %i, %last : bool
        %c = if %is -> (f32) {
            %after = add %i, %one : index
            %v = load %x[%after] : f32
            yield (%v)
        } else { yield (%a) }
        %s = add %a, %b : f32
        %t = add %s, %c : f32
        store %t, %y[%i]
    }
}
"""

GATHER = """
func @k(%p: memref<i32x?x?>, %x: memref<f64x?x?>, %y: memref<f64x?x?>) {
    %zero = constant 0 : index
    %n = size %p[0] : index
    %m = size %p[1] : index
    foreach (%i,%j)=(%zero,%zero),(%n,%m) {
        %a = load %p[%i,%j] : i32
        %b = cast %a : index
        %v = load %x[%b,%b] : f64
        %w = load %x[%b,%zero] : f64
        %s = add %v, %w : f64
        store %s, %y[%i,%j]
    }
}
"""

LOOPS = """
func @k(%x: memref<f32x?x?>, %y: memref<f32x?>, %z: memref<i64x?>) {
    %zero = constant 0 : index
    %n = size %y[0] : index
    %c = size %x[1] : index
    foreach (%i)=(%zero),(%n) {
        %f0 = constant 0.0 : f32
        %sum = for %k=%zero,%c init(%s=%f0) -> (f32) {
            %v = load %x[%i,%k] : f32
            %t = add %s, %v : f32
            yield (%t)
        }
        store %sum, %y[%i]
        %l0 = constant 0 : i64
        %count = for %k=%zero,%i init(%s=%l0) -> (i64) {
            %kk = cast %k : i64
            %t = add %s, %kk : i64
            yield (%t)
        }
        store %count, %z[%i]
    }
}
"""

DIVISION = """
func @k(%x: memref<i32x?>, %y: memref<i32x?>, %d: i32) {
    %zero = constant 0 : index
    %z = constant 0 : i32
    %n = size %x[0] : index
    foreach (%i)=(%zero),(%n) {
        %a = load %x[%i] : i32
        %ok = not_equal %a, %z : bool
        %r = if %ok -> (i32) {
            %q = div %d, %a : i32
            %m = rem %d, %a : i32
            %t = add %q, %m : i32
            yield (%t)
        } else { yield (%z) }
        store %r, %y[%i]
    }
}
"""

ATOMICS = """
func @k(%x: memref<i32x?>, %h: memref<i32x8>, %y: memref<f32x?>, %v: memref<f32x?>,
        %c: memref<c32x?>, %d: memref<c32x?>) {
    %zero = constant 0 : index
    %z = constant 0 : i32
    %n = size %x[0] : index
    foreach (%i)=(%zero),(%n) {
        %a = load %x[%i] : i32
        %b = cast %a : index
        %one = constant 1 : i32
        %old = atomic_add.device.relaxed %one, %h[%b] : i32
        %f = load %v[%i] : f32
        %old2 = atomic_max.device.relaxed %f, %y[%i] : f32
        %e = load %c[%i] : c32
        %old3 = atomic_add.device.relaxed %e, %d[%i] : c32
        %ok = not_equal %a, %z : bool
        if %ok {
            %old4 = atomic_add.device.relaxed %f, %y[%i] : f32
            store %f, %v[%i]
        }
    }
}
"""

COMPLEX = """
func @k(%x: memref<c32x?x4>, %y: memref<c32x?x4>, %z: memref<f32x?x4>) {
    %zero = constant 0 : index
    %four = constant 4 : index
    %n = size %x[0] : index
    foreach (%i,%j)=(%zero,%zero),(%n,%four) {
        %a = load %x[%i,%j] : c32
        %b = load %y[%i,%j] : c32
        %c = mul %a, %b : c32
        %d = div %c, %a : c32
        %e = sub %d, %b : c32
        %f = neg %e : c32
        %g = conj %a : c32
        %h = exp %g : c32
        %l = add %h, %f : c32
        %m = abs %a : f32
        %r = re %b : f32
        %t = im %b : f32
        %u = add %m, %r : f32
        %w = mul %u, %t : f32
        %is = equal %a, %b : bool
        %q = if %is -> (c32) { yield (%a) } else { yield (%l) }
        store %q, %y[%i,%j]
        store %w, %z[%i,%j]
    }
}
"""

VIEWS = """
func @k(%g: group<memref<f32x?x?>x4>, %y: memref<f32x4x?x?>) {
    %zero = constant 0 : index
    %two = constant 2 : index
    %three = constant 3 : index
    %a = load %g[%two] : memref<f32x?x?>
    %n = size %a[0] : index
    %m = size %a[1] : index
    %out = subview %y[%three,0:%n,0:%m] : memref<f32x?x?,strided<?,?>>
    foreach (%i,%j)=(%zero,%zero),(%n,%m) {
        %v = load %a[%i,%j] : f32
        %w = load %a[%zero,%j] : f32
        %r = mul %v, %w : f32
        store %r, %out[%i,%j]
    }
}
"""

SPACES = """
func @three(%x: memref<f32x9x?x5>, %y: memref<f32x9x?x5>) {
    %zero = constant 0 : index
    %nine = constant 9 : index
    %five = constant 5 : index
    %n = size %x[1] : index
    foreach (%i,%j,%k)=(%zero,%zero,%zero),(%nine,%n,%five) {
        %v = load %x[%i,%j,%k] : f32
        %w = add %v, %v : f32
        store %w, %y[%i,%j,%k]
    }
}

func @parts(%x: memref<i64x?x?>, %from: i16, %to: i16) {
    %one = constant 1 : i16
    %two = constant 2 : i16
    foreach (%i,%j)=(%one,%from),(%two,%to) {
        %k = cast %i : index
        %l = cast %j : index
        %m = cast %j : i64
        store %m, %x[%k,%l]
    }
}

func @empty(%x: memref<f32x?>) {
    %zero = constant 0 : index
    %one = constant 1 : index
    %two = constant 2 : index
    foreach (%i,%j)=(%one,%one),(%zero,%two) {
        %v = constant 1.0 : f32
        store %v, %x[%i]
    }
}
"""

MOVING_VIEWS = """
func @k(%x: memref<f32x9x?>, %y: memref<f32x9x?>, %z: memref<f32x?>) {
    %zero = constant 0 : index
    %one = constant 1 : index
    %three = constant 3 : index
    %nine = constant 9 : index
    %n = size %x[1] : index
    foreach (%i,%j)=(%zero,%zero),(%n,%three) {
        %column = subview %x[0:%nine,%i] : memref<f32x?>
        %part = subview %column[%j:%three] : memref<f32x?>
        %size = size %part[0] : index
        %nothing = constant 0.0 : f32
        %sum = for %k=%zero,%size,%one init(%s=%nothing) -> (f32) {
            %v = load %part[%k] : f32
            %t = add %s, %v : f32
            yield (%t)
        }
        %out = subview %y[%j:1,%i:1] : memref<f32x1x1,strided<1,9>>
        store %sum, %out[%zero,%zero]
        %first = equal %j, %zero : bool
        if %first {
            %place = subview %z[%i:1] : memref<f32x1>
            %old = atomic_add.device.relaxed %sum, %place[%zero] : f32
        }
    }
}
"""

NESTED = """
func @k(%x: memref<f32x?>, %y: memref<f32x?>, %limit: f32, %is: i32) {
    %zero = constant 0 : index
    %three = constant 3 : index
    %n = size %x[0] : index
    %i0 = constant 0 : i32
    %some = greater_than %is, %i0 : bool
    foreach (%i)=(%zero),(%n) {
        %v = load %x[%i] : f32
        %is_low = less_than %v, %limit : bool
        if %is_low {
            %f0 = constant 0.0 : f32
            %is_negative = less_than %v, %f0 : bool
            %w = if %is_negative -> (f32) {
                %minus = neg %v : f32
                yield (%minus)
            } else {
                %s = for %k=%zero,%three init(%t=%v) -> (f32) {
                    %u = add %t, %limit : f32
                    yield (%u)
                }
                yield (%s)
            }
            store %w, %y[%i]
        } else {
            if %some {
                store %v, %y[%i]
            }
        }
    }
}
"""

FAR_BOUNDS = """
func @k(%x: memref<i8x100>, %y: memref<i64x100>, %z: memref<i64x100>) {
    %zero = constant 0 : index
    %n = constant 100 : index
    foreach (%i)=(%zero),(%n) {
        %l0 = constant 0 : i64
        %l1 = constant 1 : i64
        %small = load %x[%i] : i8
        %scale = constant 37 : i8
        %from = mul %small, %scale : i8
        %last = constant 127 : i8
        %a = for %k=%from,%last init(%s=%l0) -> (i64) {
            %t = add %s, %l1 : i64
            yield (%t)
        }
        store %a, %y[%i]
        %wide = cast %from : i64
        %most = constant 9223372036854775807 : i64
        %bits = constant 61 : i64
        %low = shl %wide, %bits : i64
        %far = constant 2305843009213693952 : i64
        %b = for %k=%low,%most,%far init(%s=%l0) -> (i64) {
            %t = add %s, %l1 : i64
            yield (%t)
        }
        store %b, %z[%i]
    }
}
"""

CASES: dict[str, tuple[str, dict[str, list[Shape]]]] = {
    "atomics": (ATOMICS, {"k": [(100,), (8,), (100,), (100,), (100,), (100,)]}),
    "complex": (COMPLEX, {"k": [(35, 4)] * 3}),
    "division": (DIVISION, {"k": [(100,), (100,)]}),
    "far bounds": (FAR_BOUNDS, {"k": [(100,), (100,), (100,)]}),
    "gather": (GATHER, {"k": [(20, 9), (5, 5), (20, 9)]}),
    "loops": (LOOPS, {"k": [(35, 9), (35,), (35,)]}),
    "moving views": (MOVING_VIEWS, {"k": [(9, 35), (9, 35), (35,)]}),
    "neighbours": (NEIGHBOURS, {"k": [(5000,), (5000,)]}),
    "nested": (NESTED, {"k": [(100,), (100,)]}),
    "spaces": (SPACES, {"three": [(9, 20, 5)] * 2, "parts": [(2, 9)], "empty": [(9,)]}),
    "views": (VIEWS, {"k": [(20, 9), (4, 20, 9)]}),
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, seed: int) -> None:
    text, shapes = CASES[name]
    numbers = plain_numbers if name in ("atomics", "gather") else any_numbers
    check(text, seed, numbers=numbers, shapes=shapes)


def test_points_of_a_whole_memref_need_no_mask() -> None:
    text = """
    func @k(%x: memref<f32x?x?>) {
        %zero = constant 0 : index
        %n = size %x[0] : index
        %m = size %x[1] : index
        foreach (%i,%j)=(%zero,%zero),(%n,%m) {
            %v = load %x[%i,%j] : f32
            %w = mul %v, %v : f32
            store %w, %x[%i,%j]
        }
    }"""
    lines = printed(tiled(xtile.parse(text, language="tensorlang"))).splitlines()
    start = next(i for i, line in enumerate(lines) if "scf.for %j" in line)
    memory, tile = "memref<?x?xf32, strided<[?, 1]>>", "vector<1x1024xf32>"
    inside = "{in_bounds = [true, false]}"
    assert [line.strip() for line in lines[start + 1 : start + 4]] == [
        f"%v = vector.transfer_read %x[%i, %j], %2 {inside} : {memory}, {tile}",
        f"%w = arith.mulf %v, %v : {tile}",
        f"vector.transfer_write %w, %x[%i, %j] {inside} : {tile}, {memory}",
    ]


_GROUP = """%z = constant 0 : index
%n = constant 9 : index
foreach (%i)=(%z),(%n) { %a = load %g[%i] : memref<f32x9> }"""

REFUSED = {
    "memory of a group": (
        _GROUP,
        "3.31-59: error: memory that differs between the points of foreach is not lifted",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    body, message = REFUSED[name]
    text = f"func @k(%g: group<memref<f32x9>x9>) {{ {body}\n}}"
    with pytest.raises(DiagnosticError) as error:
        tiled(xtile.parse(text, language="tensorlang"))
    assert message in str(error.value)
