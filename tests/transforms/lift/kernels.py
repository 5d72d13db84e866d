"""Kernels of the tensor language whose work-items and subgroups do different things."""

from __future__ import annotations

from collections.abc import Mapping

Shape = tuple[int, ...]

_HEAD = "attributes {subgroup_size=16, work_group_size=[32,3]}"

KERNELS: Mapping[str, tuple[str, list[Shape]]] = {
    "bounds as far apart as their type reaches": (
        f"""func @k(%y: memref<i32x96>) {_HEAD} {{
            parallel {{
                %c16 = constant 16 : index
                %lane32 = subgroup_local_id : i32
                %sg32 = subgroup_linear_id : i32
                %lane = cast %lane32 : index
                %sg = cast %sg32 : index
                %first = mul %sg, %c16 : index
                %i = add %first, %lane : index
                %small = cast %lane32 : i8
                %scale = constant 37 : i8
                %from = mul %small, %scale : i8
                %last = constant 127 : i8
                %nothing = constant 0 : i32
                %one = constant 1 : i32
                %count = for %k=%from,%last init(%s=%nothing) -> (i32) {{
                    %t = add %s, %one : i32
                    yield (%t)
                }}
                store %count, %y[%i]
            }}
        }}""",
        [(96,)],
    ),
    "parts of memory that end early": (
        """func @k(%x: memref<f32x32x64>, %y: memref<f32x32x64>)
                attributes {subgroup_size=16, work_group_size=[64,1]} {
            %c0 = constant 0 : index
            %c5 = constant 5 : index
            %c16 = constant 16 : index
            parallel {
                %s = subgroup_id.x : i32
                %i = cast %s : index
                %j = mul %i, %c16 : index
                %a = subview %x[0:32,%j:%c5] : memref<f32x32x?,strided<1,32>>
                %b = subview %y[0:32,%j:%c5] : memref<f32x32x?,strided<1,32>>
                %m = cooperative_matrix_load.n.both_checked %a[%c0,%c0]
                    : coopmatrix<f32x32x16,matrix_acc>
                cooperative_matrix_store.n.both_checked %m, %b[%c0,%c0]
            }
        }""",
        [(32, 64), (32, 64)],
    ),
    "numbers": (
        f"""func @k(%x: memref<i32x96>, %y: memref<i32x4x96>) {_HEAD} {{
            parallel {{
                %c0 = constant 0 : index
                %c1 = constant 1 : index
                %c2 = constant 2 : index
                %c3 = constant 3 : index
                %lanes = subgroup_size : i32
                %lane = subgroup_local_id : i32
                %number = subgroup_linear_id : i32
                %column = subgroup_id.x : i32
                %row = subgroup_id.y : i32
                %before = mul %number, %lanes : i32
                %item = add %before, %lane : i32
                %i = cast %item : index
                %a = load %x[%i] : i32
                store %a, %y[%c0,%i]
                store %column, %y[%c1,%i]
                store %row, %y[%c2,%i]
                %along_x = num_subgroups.x : i32
                %along_y = num_subgroups.y : i32
                %both = mul %along_x, %along_y : i32
                store %both, %y[%c3,%i]
            }}
        }}""",
        [(96,), (4, 96)],
    ),
    "branches": (
        f"""func @k(%x: memref<f32x96>, %y: memref<f32x96>, %n: index) {_HEAD} {{
            parallel {{
                %c1 = constant 1 : index
                %c5 = constant 5 : index
                %c16 = constant 16 : index
                %lane32 = subgroup_local_id : i32
                %sg32 = subgroup_linear_id : i32
                %lane = cast %lane32 : index
                %sg = cast %sg32 : index
                %first = mul %sg, %c16 : index
                %i = add %first, %lane : index
                %is_low = less_than %lane, %c5 : bool
                %v = if %is_low -> (f32) {{
                    %a = load %x[%i] : f32
                    %is_first = less_than %sg, %c1 : bool
                    %b = if %is_first -> (f32) {{
                        %zero = constant 0 : index
                        %c = load %x[%zero] : f32
                        %d = add %a, %c : f32
                        yield (%d)
                    }} else {{
                        yield (%a)
                    }}
                    yield (%b)
                }} else {{
                    %q = div %i, %lane : index
                    %q2 = cast %q : f32
                    yield (%q2)
                }}
                store %v, %y[%i]
            }}
        }}""",
        [(96,), (96,)],
    ),
    "loops": (
        f"""func @k(%x: memref<f32x?>, %y: memref<f32x96>) {_HEAD} {{
            parallel {{
                %c0 = constant 0 : index
                %c96 = constant 96 : index
                %c16 = constant 16 : index
                %n = size %x[0] : index
                %lane32 = subgroup_local_id : i32
                %sg32 = subgroup_linear_id : i32
                %lane = cast %lane32 : index
                %sg = cast %sg32 : index
                %first = mul %sg, %c16 : index
                %i = add %first, %lane : index
                %nothing = constant 0.0 : f32
                %sum = for %k=%i,%n,%c96 init(%s=%nothing) -> (f32) {{
                    %a = load %x[%k] : f32
                    %t = for %j=%c0,%lane init(%u=%a) -> (f32) {{
                        %half = constant 0.5 : f32
                        %w = mul %u, %half : f32
                        yield (%w)
                    }}
                    %next = add %s, %t : f32
                    yield (%next)
                }}
                %whole = subgroup_reduce_add %sum : f32
                store %whole, %y[%i]
            }}
        }}""",
        [(250,), (96,)],
    ),
    "exchanges": (
        f"""func @k(%x: memref<f32x96>, %y: memref<f32x96x6>) {_HEAD} {{
            parallel {{
                %c0 = constant 0 : index
                %c1 = constant 1 : index
                %c2 = constant 2 : index
                %c3 = constant 3 : index
                %c4 = constant 4 : index
                %c5 = constant 5 : index
                %c16 = constant 16 : index
                %lane32 = subgroup_local_id : i32
                %sg32 = subgroup_linear_id : i32
                %lane = cast %lane32 : index
                %sg = cast %sg32 : index
                %first = mul %sg, %c16 : index
                %i = add %first, %lane : index
                %a = load %x[%i] : f32
                %three = constant 3 : i32
                %b = subgroup_broadcast %a, %three : f32
                store %b, %y[%i,%c0]
                %c = subgroup_broadcast %a, %sg32 : f32
                store %c, %y[%i,%c1]
                %d = subgroup_reduce_max %a : f32
                store %d, %y[%i,%c2]
                %e = subgroup_inclusive_scan_add %a : f32
                store %e, %y[%i,%c3]
                %f = subgroup_exclusive_scan_min %a : f32
                store %f, %y[%i,%c4]
                %is_low = less_than %sg, %c2 : bool
                if %is_low {{
                    %g = subgroup_reduce_add %a : f32
                    store %g, %y[%i,%c5]
                }} else {{
                    %g = subgroup_exclusive_scan_add %a : f32
                    store %g, %y[%i,%c5]
                }}
            }}
        }}""",
        [(96,), (96, 6)],
    ),
    "local memory": (
        f"""func @k(%x: memref<f32x96>, %y: memref<f32x96>) {_HEAD} {{
            %t = alloca : memref<f32x16x6,local>
            parallel {{
                %lane32 = subgroup_local_id : i32
                %sg32 = subgroup_linear_id : i32
                %lane = cast %lane32 : index
                %sg = cast %sg32 : index
                %c16 = constant 16 : index
                %c5 = constant 5 : index
                %first = mul %sg, %c16 : index
                %i = add %first, %lane : index
                %a = load %x[%i] : f32
                store %a, %t[%lane,%sg]
                barrier.local
                %other = sub %c5, %sg : index
                %b = load %t[%lane,%other] : f32
                store %b, %y[%i]
            }}
        }}""",
        [(96,), (96,)],
    ),
    "updates": (
        f"""func @k(%x: memref<i32x96>, %y: memref<i32x8>) {_HEAD} {{
            parallel {{
                %c0 = constant 0 : index
                %c1 = constant 1 : index
                %c2 = constant 2 : index
                %one = constant 1 : i32
                %lane32 = subgroup_local_id : i32
                %sg32 = subgroup_linear_id : i32
                %sg = cast %sg32 : index
                %a = atomic_add.device.relaxed %one, %y[%c0] : i32
                %b = atomic_add.device.relaxed %lane32, %y[%c1] : i32
                %is_low = less_than %sg, %c2 : bool
                if %is_low {{
                    %c = atomic_max.device.relaxed %lane32, %y[%c2] : i32
                }}
            }}
        }}""",
        [(96,), (8,)],
    ),
    "views": (
        f"""func @k(%x: memref<f32x16x?>, %y: memref<f32x16x?>) {_HEAD} {{
            parallel {{
                %c0 = constant 0 : index
                %one = constant 1.0 : f32
                %lane32 = subgroup_local_id : i32
                %sg32 = subgroup_linear_id : i32
                %lane = cast %lane32 : index
                %sg = cast %sg32 : index
                %n = size %x[1] : index
                %is_inside = less_than %sg, %n : bool
                if %is_inside {{
                    %column = subview %x[0:16,%sg] : memref<f32x16>
                    %a = load %column[%lane] : f32
                    %rest = sub %n, %sg : index
                    %part = subview %y[0:16,%sg:%rest] : memref<f32x16x?>
                    %left = size %part[1] : index
                    %left32 = cast %left : f32
                    %b = add %a, %left32 : f32
                    store %b, %part[%lane,%c0]
                }}
            }}
        }}""",
        [(16, 5), (16, 5)],
    ),
    "complex numbers": (
        f"""func @k(%x: memref<c32x96>, %y: memref<c32x96>) {_HEAD} {{
            parallel {{
                %c16 = constant 16 : index
                %lane32 = subgroup_local_id : i32
                %sg32 = subgroup_linear_id : i32
                %lane = cast %lane32 : index
                %sg = cast %sg32 : index
                %first = mul %sg, %c16 : index
                %i = add %first, %lane : index
                %a = load %x[%i] : c32
                %c3 = constant 3 : index
                %is_low = less_than %sg, %c3 : bool
                %b = if %is_low -> (c32) {{
                    %c = mul %a, %a : c32
                    yield (%c)
                }} else {{
                    %d = subgroup_reduce_add %a : c32
                    yield (%d)
                }}
                store %b, %y[%i]
            }}
        }}""",
        [(96,), (96,)],
    ),
    "matrices": (
        f"""func @k(%a: memref<f16x?x?>, %b: memref<f16x?x?>, %c: memref<f32x?x?>) {_HEAD} {{
            parallel {{
                %c0 = constant 0 : index
                %c8 = constant 8 : index
                %c16 = constant 16 : index
                %depth = size %a[1] : index
                %x32 = subgroup_id.x : i32
                %y32 = subgroup_id.y : i32
                %x = cast %x32 : index
                %y = cast %y32 : index
                %row = mul %x, %c16 : index
                %column = mul %y, %c8 : index
                %nothing = constant 0.0 : coopmatrix<f32x16x8,matrix_acc>
                %sum = for %k=%c0,%depth,%c16 init(%s=%nothing)
                        -> (coopmatrix<f32x16x8,matrix_acc>) {{
                    %l = cooperative_matrix_load.both_checked %a[%row,%k]
                        : coopmatrix<f16x16x16,matrix_a>
                    %r = cooperative_matrix_load.both_checked %b[%k,%column]
                        : coopmatrix<f16x16x8,matrix_b>
                    %t = cooperative_matrix_mul_add %l, %r, %s : coopmatrix<f32x16x8,matrix_acc>
                    yield (%t)
                }}
                %is_left = less_than %x, %y : bool
                %result = if %is_left -> (coopmatrix<f32x16x8,matrix_acc>) {{
                    %two = constant 2.0 : f32
                    %u = cooperative_matrix_scale %two, %sum : coopmatrix<f32x16x8,matrix_acc>
                    yield (%u)
                }} else {{
                    yield (%sum)
                }}
                cooperative_matrix_store.both_checked %result, %c[%row,%column]
            }}
        }}""",
        [(27, 40), (40, 21), (27, 21)],
    ),
    "batches of matrices": (
        f"""func @k(%a: memref<f32x16x16x6>, %b: memref<f32x16x16x6>, %c: memref<f32x16x16x6>)
                {_HEAD} {{
            parallel {{
                %c0 = constant 0 : index
                %number32 = subgroup_linear_id : i32
                %n = cast %number32 : index
                %x = subview %a[0:16,0:16,%n] : memref<f32x16x16>
                %y = subview %b[0:16,0:16,%n] : memref<f32x16x16>
                %z = subview %c[0:16,0:16,%n] : memref<f32x16x16>
                %l = cooperative_matrix_load %x[%c0,%c0] : coopmatrix<f32x16x16,matrix_a>
                %r = cooperative_matrix_load %y[%c0,%c0] : coopmatrix<f32x16x16,matrix_b>
                %t = cooperative_matrix_load %z[%c0,%c0] : coopmatrix<f32x16x16,matrix_acc>
                %s = cooperative_matrix_mul_add %l, %r, %t : coopmatrix<f32x16x16,matrix_acc>
                cooperative_matrix_store %s, %z[%c0,%c0]
            }}
        }}""",
        [(16, 16, 6)] * 3,
    ),
    "components": (
        f"""func @k(%a: memref<f32x32x96>, %b: memref<f32x32x96>, %r: memref<f32x1x96>) {_HEAD} {{
            parallel {{
                %c0 = constant 0 : index
                %c16 = constant 16 : index
                %number32 = subgroup_linear_id : i32
                %lane = subgroup_local_id : i32
                %n = cast %number32 : index
                %column = mul %n, %c16 : index
                %x = cooperative_matrix_load %a[%c0,%column] : coopmatrix<f32x32x16,matrix_acc>
                %y = cooperative_matrix_apply (%i,%j,%v)=%x -> coopmatrix<f32x32x16,matrix_acc> {{
                    %sum = add %i, %j : i32
                    %more = add %sum, %lane : i32
                    %w = cast %more : f32
                    %u = add %v, %w : f32
                    yield (%u)
                }}
                %e = cooperative_matrix_extract %y[3] : f32
                %two = constant 2.0 : f32
                %f = mul %e, %two : f32
                %z = cooperative_matrix_insert %f, %y[5] : coopmatrix<f32x32x16,matrix_acc>
                cooperative_matrix_store %z, %b[%c0,%column]
                %m = cooperative_matrix_reduce_max.column %z : coopmatrix<f32x1x16,matrix_acc>
                cooperative_matrix_store %m, %r[%c0,%column]
            }}
        }}""",
        [(32, 96), (32, 96), (1, 96)],
    ),
}
"""For each kernel its text, and the shapes of its memrefs."""

NORMALIZATION = """
func @normalize(%x: memref<f32x?x?>, %w: memref<f32x?>, %y: memref<f32x?x?>)
        attributes {subgroup_size=32, work_group_size=[32,8]} {
    %zero = constant 0 : index
    %rows = size %x[0] : index
    %column = group_id.x : index
    %from = subview %x[0:%rows,%column] : memref<f32x?>
    %to = subview %y[0:%rows,%column] : memref<f32x?>
    %sums = alloca : memref<f32x8,local>
    parallel {
        %lane32 = subgroup_local_id : i32
        %lane = cast %lane32 : index
        %subgroup32 = subgroup_id.y : i32
        %subgroup = cast %subgroup32 : index
        %lanes = constant 32 : index
        %subgroups = constant 8 : index
        %step = constant 256 : index
        %before = mul %subgroup, %lanes : index
        %item = add %before, %lane : index
        %is_first_lane = equal %lane, %zero : bool
        %is_first = equal %subgroup, %zero : bool
        %nothing = constant 0.0 : f32
        %lane_sum = for %i=%item,%rows,%step init(%s=%nothing) -> (f32) {
            %value = load %from[%i] : f32
            %square = mul %value, %value : f32
            %next = add %s, %square : f32
            yield (%next)
        }
        %own_sum = subgroup_reduce_add %lane_sum : f32
        if %is_first_lane {
            store %own_sum, %sums[%subgroup]
        }
        barrier.local
        if %is_first {
            %has_sum = less_than %lane, %subgroups : bool
            %a_sum = if %has_sum -> (f32) {
                %v = load %sums[%lane] : f32
                yield (%v)
            } else {
                yield (%nothing)
            }
            %total = subgroup_reduce_add %a_sum : f32
            if %is_first_lane {
                store %total, %sums[%zero]
            }
        }
        barrier.local
        %sum = load %sums[%zero] : f32
        for %i=%item,%rows,%step {
            %value = load %from[%i] : f32
            %weight = load %w[%i] : f32
            %weighted = mul %value, %weight : f32
            %result = div %weighted, %sum : f32
            store %result, %to[%i]
        }
    }
}
"""
"""The first subgroup of a work-group adds up what all have found, and leaves it to them."""
