"""The `gpu` dialect against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function


def in_module(function: str) -> str:
    return f"gpu.module @m {{\n{function}\n}}\n"


def in_kernel(arguments: str, body: str) -> str:
    return in_module(f"gpu.func @k({arguments}) kernel {{\n{body}\ngpu.return\n}}")


def with_kernel(arguments: str, body: str, kernel: str = "%a: f32, %b: memref<4xf32>") -> str:
    """A container module with a kernel `@m::@k`, and a function of the host."""
    return (
        "module attributes {gpu.container_module} {\n"
        f"gpu.module @m {{ gpu.func @k({kernel}) kernel {{ gpu.return }} }}\n"
        f"{in_function(arguments, body)}}}\n"
    )


SIZES = "%n: index, %s: i32, %f: f32, %d: memref<4xf32>"
BLOCKS = "blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)"
THREADS = "threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n)"
CLUSTERS = "clusters(%cx, %cy, %cz) in (%kx = %n, %ky = %n, %kz = %n)"
IN_INDEX = "blocks in (%n, %n, %n) threads in (%n, %n, %n)"
IN_I32 = "blocks in (%s, %s, %s) threads in (%s, %s, %s) : i32"

RIGHT = {
    "empty module": "gpu.module @m {}",
    "module with attributes": "gpu.module @m attributes {a = 1 : i32} {}",
    "module with targets": 'gpu.module @m [#xevm.target<chip = "pvc">, #nvvm.target] {}',
    "module with offloading handler": "gpu.module @m <#gpu.select_object<1 : i64>> {}",
    "kernel": in_module("gpu.func @k(%a: f32, %b: index) kernel { gpu.return }"),
    "function with results": in_module(
        "gpu.func @f(%a: f32) -> (f32, f32) { gpu.return %a, %a : f32, f32 }"
    ),
    "function with one result": in_module(
        "gpu.func @f(%a: f32) -> f32 { gpu.return {x} %a : f32 }"
    ),
    "arguments and results with attributes": in_module(
        "gpu.func @f(%a: f32 {t.a = 1 : i32}, %b: f32) -> (f32 {t.b}, f32) "
        "{ gpu.return %a, %b : f32, f32 }"
    ),
    "attributions": in_module(
        "gpu.func @k(%a: f32) workgroup(%w: memref<4xf32, #gpu.address_space<workgroup>>, "
        "%v: memref<8xi8, #gpu.address_space<workgroup>> {t.align = 16 : i64}) "
        "private(%p: memref<1xf32, #gpu.address_space<private>> {t.x}) kernel { gpu.return }"
    ),
    "workgroup attribution only": in_module(
        "gpu.func @k() workgroup(%w: memref<4xf32, #gpu.address_space<workgroup>>) kernel "
        "{ gpu.return }"
    ),
    "known sizes": in_module(
        "gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 1, 1>, "
        "known_grid_size = array<i32: 4, 4, 1>, known_cluster_size = array<i32: 2, 1, 1>, "
        "a, z = 1 : i32} { gpu.return }"
    ),
    "labelled first block": in_module("gpu.func @k() kernel {\n^a:\ngpu.return\n}"),
    "control flow": in_module(
        "gpu.func @k(%c: i1) kernel { cf.cond_br %c, ^a, ^b\n^a: gpu.return\n^b: gpu.return }"
    ),
    "binary": (
        'gpu.binary @b [#gpu.object<#xevm.target, "aa">, #gpu.object<#nvvm.target, bin = "b">]'
    ),
    "binary with handler": (
        "gpu.binary @b <#gpu.select_object<0 : i64>> {a} "
        '[#gpu.object<#rocdl.target, offload = "a">]'
    ),
    "objects with kernels": (
        "gpu.binary @b [#gpu.object<#xevm.target, properties = {O = 3 : i32}, kernels = "
        '<[#gpu.kernel_metadata<"k", (i32) -> (), metadata = {r = 1 : i32}>, '
        '#gpu.kernel_metadata<"l", () -> (), arg_attrs = [{x}], metadata = {r = 1 : i32}>]>, '
        'assembly = "xx">, #gpu.object<#nvvm.target, kernels = <>, "yy">]'
    ),
    "attributes": (
        "func.func private @f() attributes {t.m = [#gpu.loop_dim_map<processor = block_x, "
        "map = (d0) -> (d0), bound = (d0) -> (d0)>, #gpu<dim x>, #gpu<all_reduce_op add>]}"
    ),
    "barrier": in_kernel("", "gpu.barrier"),
    "lane id": in_kernel("", "%0 = gpu.lane_id"),
    "bounded lane id": in_kernel("", "%0 = gpu.lane_id upper_bound 16 {a}"),
    **{
        name: in_kernel("", f"%0 = gpu.{name} : index\n%1 = gpu.{name} upper_bound 8 : index")
        for name in ("subgroup_id", "num_subgroups", "subgroup_size")
    },
    **{
        name: in_kernel(
            "",
            f"%0 = gpu.{name} x\n%1 = gpu.{name} y\n%2 = gpu.{name} z upper_bound 64 {{a}}",
        )
        for name in (
            "thread_id",
            "block_id",
            "block_dim",
            "grid_dim",
            "global_id",
            "cluster_dim",
            "cluster_dim_blocks",
            "cluster_id",
            "cluster_block_id",
        )
    },
    **{
        f"shuffle {mode}": in_kernel(
            "%a: f32, %s: i32", f"%0, %1 = gpu.shuffle {mode} %a, %s, %s : f32"
        )
        for mode in ("xor", "up", "down", "idx")
    },
    "shuffle of a vector": in_kernel(
        "%a: vector<4xf16>, %s: i32", "%0, %1 = gpu.shuffle xor %a, %s, %s {x} : vector<4xf16>"
    ),
    "rotate": in_kernel("%a: i32", "%0, %1 = gpu.rotate %a, 3, 16 : i32"),
    "broadcast from the first lane": in_kernel(
        "%a: f32", "%0 = gpu.subgroup_broadcast %a, first_active_lane : f32"
    ),
    "broadcast from a lane": in_kernel(
        "%a: vector<2xf32>, %s: i32",
        "%0 = gpu.subgroup_broadcast %a, specific_lane %s : vector<2xf32>",
    ),
    "all_reduce": in_kernel("%a: f32", "%0 = gpu.all_reduce add %a {} : (f32) -> f32"),
    "uniform all_reduce": in_kernel(
        "%a: i32", "%0 = gpu.all_reduce minui %a uniform {} {a} : (i32) -> (i32)"
    ),
    "all_reduce by a region": in_kernel(
        "%a: f32",
        "%0 = gpu.all_reduce %a {\n^bb(%x: f32, %y: f32):\n"
        "%z = arith.maximumf %x, %y : f32\ngpu.yield %z : f32\n} : (f32) -> f32",
    ),
    "subgroup_reduce": in_kernel("%a: f32", "%0 = gpu.subgroup_reduce add %a : (f32) -> f32"),
    "uniform subgroup_reduce": in_kernel(
        "%a: vector<4xf32>",
        "%0 = gpu.subgroup_reduce maxnumf %a uniform {a} : (vector<4xf32>) -> vector<4xf32>",
    ),
    "subgroup_reduce of clusters": in_kernel(
        "%a: i32",
        "%0 = gpu.subgroup_reduce xor %a cluster(size = 4) : (i32) -> i32\n"
        "%1 = gpu.subgroup_reduce or %a uniform cluster(size = 4, stride = 2) : (i32) -> i32",
    ),
    "dynamic_shared_memory": in_kernel(
        "", "%0 = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>"
    ),
    "printf": in_kernel(
        "%a: i32, %b: f32", 'gpu.printf "none"\ngpu.printf "%d %f" {x}, %a, %b : i32, f32'
    ),
    "launch_func": with_kernel(
        SIZES, f"gpu.launch_func @m::@k {IN_INDEX} args(%f : f32, %d : memref<4xf32>)"
    ),
    "launch_func without operands": with_kernel(
        SIZES, f"gpu.launch_func @m::@k {IN_INDEX} {{a}}", kernel=""
    ),
    "launch_func of i32 sizes and clusters": with_kernel(
        SIZES,
        f"gpu.launch_func @m::@k clusters in (%s, %s, %s) {IN_I32} "
        "dynamic_shared_memory_size %s args(%f : f32, %d : memref<4xf32>) {x}",
    ),
    "launch_func with tokens": with_kernel(
        SIZES,
        "%0 = gpu.wait async\n"
        f"%1 = gpu.launch_func async [%0] @m::@k {IN_INDEX}\n"
        f"%2 = gpu.launch_func async @m::@k {IN_INDEX}\n"
        f"gpu.launch_func [%1, %2] @m::@k {IN_INDEX}",
        kernel="",
    ),
    "launch_func on a stream": with_kernel(
        SIZES + ", %q: !llvm.ptr",
        f"gpu.launch_func <%q : !llvm.ptr> @m::@k {IN_INDEX}",
        kernel="",
    ),
    "launch_func of a binary": (
        "module attributes {gpu.container_module} {\n"
        'gpu.binary @m [#gpu.object<#xevm.target, "aa">]\n'
        + in_function(SIZES, f"gpu.launch_func @m::@k {IN_INDEX}")
        + "}\n"
    ),
    "launch": in_function(SIZES, f"gpu.launch {BLOCKS} {THREADS} {{ gpu.terminator }} {{a}}"),
    "launch with all clauses": in_function(
        SIZES,
        f"%0 = gpu.wait async\n%1 = gpu.launch async [%0] {CLUSTERS} {BLOCKS} {THREADS} "
        "dynamic_shared_memory_size %s module(@m) function(@g) "
        "workgroup(%w: memref<4xf32, #gpu.address_space<workgroup>>) "
        "private(%p: memref<1xf32, #gpu.address_space<private>>) {\n"
        "%2 = arith.addi %bx, %kz : index\ngpu.terminator\n}",
    ),
    "wait": in_function(
        "", "%0 = gpu.wait async\n%1 = gpu.wait async [%0, %0]\ngpu.wait [%1]\ngpu.wait {a}"
    ),
    "alloc": in_function(
        "%n: index",
        "%0, %1 = gpu.alloc async (%n) : memref<?xf32>\n"
        "%2, %3 = gpu.alloc async [%1] host_shared () {a} : memref<4xf32>\n"
        "%4 = gpu.alloc (%n, %n) : memref<?x4x?xf32>\n"
        "%5 = gpu.alloc host_shared () : memref<4xf32, 1>\n"
        "%6 = gpu.dealloc async [%3] %0 : memref<?xf32>\ngpu.dealloc %5 : memref<4xf32, 1>",
    ),
    "alloc with symbols": in_function(
        "%n: index",
        "%0 = gpu.alloc (%n)[%n] : memref<?xf32, affine_map<(d0)[s0] -> (d0 + s0)>>",
    ),
    "memcpy": in_function(
        "%a: memref<4xf32>, %b: memref<?xf32, 1>",
        "%0 = gpu.wait async\n"
        "%1 = gpu.memcpy async [%0] %a, %b : memref<4xf32>, memref<?xf32, 1>\n"
        "gpu.memcpy %a, %b : memref<4xf32>, memref<?xf32, 1> {a}",
    ),
    "memset": in_function(
        "%a: memref<4xf32>, %v: f32",
        "%0 = gpu.memset async %a, %v : memref<4xf32>, f32\n"
        "gpu.memset %a, %v : memref<4xf32>, f32 {a}",
    ),
    "host_register": in_function(
        "%a: memref<*xf32>",
        "gpu.host_register %a : memref<*xf32>\ngpu.host_unregister %a : memref<*xf32>",
    ),
    "set_default_device": in_function("%a: i32", "gpu.set_default_device %a"),
}

WRONG = {
    "kernel with results": (
        in_module("gpu.func @k(%a: f32) -> f32 kernel { gpu.return %a : f32 }"),
        "a kernel must not return values",
    ),
    "function outside of a module": (
        "gpu.func @k() kernel { gpu.return }",
        "'gpu.func' expects parent op 'gpu.module'",
    ),
    "return of too few": (
        in_module("gpu.func @f(%a: f32) -> f32 { gpu.return }"),
        "expected 1 operands, as '@f' returns, got 0",
    ),
    "return of another type": (
        in_module("gpu.func @f(%a: f32) -> i32 { gpu.return %a : f32 }"),
        "expected operand 0 of type i32, got f32",
    ),
    "known size of two": (
        in_module("gpu.func @f() attributes {known_block_size = array<i32: 1, 2>} { gpu.return }"),
        "known_block_size must have 3 elements, got 2",
    ),
    "attribution that is no memref": (
        in_module("gpu.func @f() workgroup(%w: f32) { gpu.return }"),
        "a workgroup attribution must be a memref, got f32",
    ),
    "attribution elsewhere": (
        in_module(
            "gpu.func @f() private(%w: memref<4xf32, #gpu.address_space<workgroup>>) { gpu.return }"
        ),
        "expected memory space private in a private attribution, got workgroup",
    ),
    "unknown dimension": (in_kernel("", "%0 = gpu.thread_id w"), "Expected `x`, `y`, or `z`"),
    "unknown address space": (
        in_kernel("%a: memref<4xf32, #gpu.address_space<shared>>", ""),
        "Expected `global`, `workgroup`, or `private`",
    ),
    "shuffle of an index": (
        in_kernel("%a: index, %s: i32", "%0, %1 = gpu.shuffle xor %a, %s, %s : index"),
        "expected a signless integer, a float, or a one-dimensional vector of them, got index",
    ),
    "shuffle of a scalable vector": (
        in_kernel(
            "%a: vector<[4]xf32>, %s: i32",
            "%0, %1 = gpu.shuffle xor %a, %s, %s : vector<[4]xf32>",
        ),
        "or a one-dimensional vector of them, got vector<[4]xf32>",
    ),
    "stride without a size": (
        in_kernel(
            "%a: i32",
            '%0 = "gpu.subgroup_reduce"(%a) <{op = #gpu<all_reduce_op add>, '
            "cluster_stride = 2 : i32}> : (i32) -> i32",
        ),
        "a cluster stride needs a cluster size",
    ),
    "target that is none": (
        "gpu.module @m [1 : i32] {}",
        "expected targets such as #xevm.target, got 1 : i32",
    ),
    "rotate too far": (
        in_kernel("%a: i32", "%0, %1 = gpu.rotate %a, 16, 16 : i32"),
        "the offset must be in the range [0, 16), got 16",
    ),
    "rotate by groups of 12": (
        in_kernel("%a: i32", "%0, %1 = gpu.rotate %a, 1, 12 : i32"),
        "the width must be a power of two, got 12",
    ),
    "broadcast without a lane": (
        in_kernel("%a: f32", "%0 = gpu.subgroup_broadcast %a, specific_lane : f32"),
        "a `specific_lane` broadcast needs a lane",
    ),
    "broadcast with a lane too many": (
        in_kernel("%a: f32, %s: i32", "%0 = gpu.subgroup_broadcast %a, first_active_lane %s : f32"),
        "only a `specific_lane` broadcast has a lane",
    ),
    "all_reduce without a combiner": (
        in_kernel("%a: f32", "%0 = gpu.all_reduce %a {} : (f32) -> f32"),
        "expected either a combiner or a body that is not empty",
    ),
    "all_reduce of floats by integers": (
        in_kernel("%a: f32", "%0 = gpu.all_reduce and %a {} : (f32) -> f32"),
        "the reduction `and` is for integers, got f32",
    ),
    "all_reduce with one argument": (
        in_kernel(
            "%a: f32",
            "%0 = gpu.all_reduce %a { ^bb(%x: f32): gpu.yield %x : f32 } : (f32) -> f32",
        ),
        "expected two arguments of the body of type f32, got f32",
    ),
    "all_reduce with a wrong yield": (
        in_kernel(
            "%a: f32",
            "%0 = gpu.all_reduce %a { ^bb(%x: f32, %y: f32): gpu.yield } : (f32) -> f32",
        ),
        "expected a gpu.yield of one f32, got none",
    ),
    "subgroup_reduce of integers by floats": (
        in_kernel("%a: i32", "%0 = gpu.subgroup_reduce maximumf %a : (i32) -> i32"),
        "the reduction `maximumf` is for floats, got i32",
    ),
    "clusters of three": (
        in_kernel("%a: i32", "%0 = gpu.subgroup_reduce add %a cluster(size = 3) : (i32) -> i32"),
        "the cluster size must be a power of two, got 3",
    ),
    "stride of three": (
        in_kernel(
            "%a: i32",
            "%0 = gpu.subgroup_reduce add %a cluster(size = 4, stride = 3) : (i32) -> i32",
        ),
        "the cluster stride must be a power of two, got 3",
    ),
    "dynamic memory of floats": (
        in_kernel(
            "", "%0 = gpu.dynamic_shared_memory : memref<?xf32, #gpu.address_space<workgroup>>"
        ),
        "expected the type memref<?xi8, #gpu.address_space<workgroup>>, got memref<?xf32",
    ),
    "launch_func outside of a container": (
        "module {\n" + in_function(SIZES, f"gpu.launch_func @m::@k {IN_INDEX}") + "}",
        "expected the closest module around it to have the 'gpu.container_module' attribute",
    ),
    "launch_func of nothing": (
        with_kernel(SIZES, f"gpu.launch_func @n::@k {IN_INDEX}"),
        "kernel container '@n' is undefined",
    ),
    "launch_func of an unknown kernel": (
        with_kernel(SIZES, f"gpu.launch_func @m::@l {IN_INDEX}"),
        "kernel function @m::@l is undefined",
    ),
    "launch_func of a function": (
        "module attributes {gpu.container_module} {\n"
        "gpu.module @m { gpu.func @k() { gpu.return } }\n"
        + in_function(SIZES, f"gpu.launch_func @m::@k {IN_INDEX}")
        + "}",
        "function @m::@k is missing the 'gpu.kernel' attribute",
    ),
    "launch_func with too few operands": (
        with_kernel(SIZES, f"gpu.launch_func @m::@k {IN_INDEX} args(%f : f32)"),
        "expected 2 kernel operands, got 1",
    ),
    "launch_func with other operands": (
        with_kernel(SIZES, f"gpu.launch_func @m::@k {IN_INDEX} args(%f : f32, %f : f32)"),
        "expected kernel operand 1 of type memref<4xf32>, got f32",
    ),
    "launch_func of f32 sizes": (
        with_kernel(
            SIZES,
            "gpu.launch_func @m::@k blocks in (%f, %f, %f) threads in (%f, %f, %f) : f32",
            kernel="",
        ),
        "expected an index, an i32 or an i64, got f32",
    ),
    "launch that returns": (
        in_function(SIZES, f"gpu.launch {BLOCKS} {THREADS} {{ gpu.yield }}"),
        "expected 'gpu.terminator' or a terminator with successors, got 'gpu.yield'",
    ),
    "terminator elsewhere": (
        in_module("gpu.func @f() { gpu.terminator }"),
        "'gpu.terminator' expects parent op 'gpu.launch'",
    ),
    "alloc without its size": (
        in_function("", "%0 = gpu.alloc () : memref<?xf32>"),
        "expected 1 sizes for memref<?xf32>, got 0",
    ),
    "memcpy of another type": (
        in_function(
            "%a: memref<4xf32>, %b: memref<4xi32>",
            "gpu.memcpy %a, %b : memref<4xf32>, memref<4xi32>",
        ),
        "expected equal element types, got f32 and i32",
    ),
    "memcpy of another shape": (
        in_function(
            "%a: memref<4xf32>, %b: memref<8xf32>",
            "gpu.memcpy %a, %b : memref<4xf32>, memref<8xf32>",
        ),
        "expected compatible shapes, got memref<4xf32> and memref<8xf32>",
    ),
    "memset of another type": (
        in_function("%a: memref<4xf32>, %v: i32", "gpu.memset %a, %v : memref<4xf32>, i32"),
        "expected a value of type f32, got i32",
    ),
    "two kernels of one name": (
        (
            "gpu.binary @b [#gpu.object<#xevm.target, kernels = "
            '<[#gpu.kernel_metadata<"k", () -> ()>, #gpu.kernel_metadata<"k", () -> ()>]>, "x">]'
        ),
        "all kernels of a table must have different names",
    ),
    "binary without objects": ("gpu.binary @b []", "a gpu.binary holds at least one object"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    check_refusal(WRONG, name)
