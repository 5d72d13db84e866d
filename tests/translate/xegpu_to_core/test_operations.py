"""Each operation of XeGPU, by subgroups and by work-groups, against the reference device."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.samples import one_of
from tests.seeds import fresh_generator
from tests.semantics.xegpu.kernels import DTYPES, random_array, undefined
from tests.translate.xegpu_to_core.raised import check, kernel

LAYOUT = "#l = #xegpu.layout<sg_layout = [2, 2]>"
LINE = "#l = #xegpu.layout<sg_layout = [4]>"


class Level:
    """How a kernel says that its vectors belong to a subgroup or to a work-group.

    Args:
        name: The level of the core form.
        rank: The number of dimensions of its layouts.
    """

    def __init__(self, name: str, rank: int = 2) -> None:
        self.name = name
        self.is_tile = name == "tile"
        self.aliases = (LAYOUT if rank == 2 else LINE) if self.is_tile else ""
        self.of_type = ", #l" if self.is_tile else ""
        self.mark = " <{layout = #l}>" if self.is_tile else ""

    def marked(self, *properties: str) -> str:
        """Properties of an operation, with the layout."""
        given = [*properties, *(["layout = #l"] if self.is_tile else [])]
        return f" <{{{', '.join(given)}}}>" if given else ""


LEVELS = ("subgroup", "tile")

# Loads with their result's shape: of 16 x 32 elements at an offset, in a region of 37 x 50.
LOADS: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "plain": ("16x32x{t}", "", (16, 32)),
    "transpose": ("16x32x{t}", "transpose = array<i64: 1, 0>", (32, 16)),
    "blocks": ("16x16x{t}, #xegpu.block_tdesc_attr<array_length = 2 : i64>", "", (2, 16, 16)),
    "unchecked": ("8x16x{t}, #xegpu.block_tdesc_attr<boundary_check = false>", "", (8, 16)),
}
PACKED: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "packed": ("16x32x{t}", "packed", (8, 32, 2)),
    "packed blocks": (
        "16x16x{t}, #xegpu.block_tdesc_attr<array_length = 2 : i64>",
        "packed",
        (2, 8, 16, 2),
    ),
    "packed and transposed": ("32x16x{t}", "packed, transpose = array<i64: 1, 0>", (8, 32, 2)),
}


def _text(shape: tuple[int, ...], type: str) -> str:
    return "x".join([*map(str, shape), type])


def _moves(level: Level, load: tuple[str, str, tuple[int, ...]], type: str, at: str) -> str:
    block, properties, shape = load
    count = int(np.prod(shape))
    descriptor = f"!xegpu.tensor_desc<{block.format(t=type)}{level.of_type}>"
    vector = f"vector<{_text(shape, type)}>"
    return kernel(
        f"%m: memref<37x50x{type}>, %o: memref<{count}x{type}>",
        f"""%c0 = arith.constant 0 : index
        %t = xegpu.create_nd_tdesc %m : memref<37x50x{type}> -> {descriptor}
        %v = xegpu.load_nd %t[{at}]{level.marked(*([properties] if properties else []))}
          : {descriptor} -> {vector}
        %f = vector.shape_cast %v : {vector} to vector<{count}x{type}>
        vector.transfer_write %f, %o[%c0] {{in_bounds = [true]}}
          : vector<{count}x{type}>, memref<{count}x{type}>""",
        aliases=level.aliases,
        attributes="known_block_size = array<i32: 16, 1, 1>",
    )


@pytest.mark.parametrize(
    ("name", "load", "at", "type"),
    one_of(2, product(LEVELS, LOADS, ["0, 0", "30, 41", "5, 2"], ["f32", "bf16", "i8"])),
)
def test_loads_of_blocks(name: str, load: str, at: str, type: str) -> None:
    if load == "unchecked" and at != "5, 2":
        at = "0, 0"
    rng, (_, _, shape) = fresh_generator(), LOADS[load]
    matrix = random_array(rng, (37, 50), type)
    out = undefined((int(np.prod(shape)),), type)
    text = check(_moves(Level(name), LOADS[load], type, at), [matrix, out], on_opencl=True)
    assert f'core.level = "{name}"' in text
    assert "xegpu." not in text


@pytest.mark.parametrize("name", LEVELS)
def test_indices_of_affine_maps(name: str) -> None:
    """Positions that maps give; a number of a work-item that nothing uses is no hindrance."""
    level = Level(name)
    descriptor = f"!xegpu.tensor_desc<8x16xf32{level.of_type}>"
    text = kernel(
        "%m: memref<37x50xf32>, %o: memref<37x50xf32>, %n: index",
        f"""%unused = gpu.thread_id x
        %i = gpu.block_id x
        %row = affine.apply affine_map<(d0) -> ((d0 * 24 - 3) mod 19 + d0 floordiv 2)>(%i)
        %column = affine.min affine_map<(d0)[s0] -> (d0 * 16 - 5, s0 ceildiv 3)>(%i)[%n]
        %first = affine.max affine_map<()[s0] -> (0, s0)>()[%column]
        %t = xegpu.create_nd_tdesc %m : memref<37x50xf32> -> {descriptor}
        %u = xegpu.create_nd_tdesc %o : memref<37x50xf32> -> {descriptor}
        %v = xegpu.load_nd %t[%row, %first]{level.marked()} : {descriptor} -> vector<8x16xf32>
        xegpu.store_nd %v, %u[%row, %first]{level.marked()} : vector<8x16xf32>, {descriptor}""",
        aliases=level.aliases,
        attributes="known_block_size = array<i32: 16, 1, 1>",
    )
    matrix, out = random_array(fresh_generator(), (37, 50), "f32"), undefined((37, 50), "f32")
    core = check(text, [matrix, out, 40], (3, 1, 1), on_opencl=True)
    assert "affine." not in core


@pytest.mark.parametrize("type", ["f16", "bf16"])
@pytest.mark.parametrize("load", PACKED)
@pytest.mark.parametrize("name", LEVELS)
def test_loads_of_packed_blocks(name: str, load: str, type: str) -> None:
    rng, (_, _, shape) = fresh_generator(), PACKED[load]
    matrix = random_array(rng, (37, 50), type)
    out = undefined((int(np.prod(shape)),), type)
    check(_moves(Level(name), PACKED[load], type, "30, 20"), [matrix, out], on_opencl=True)


@pytest.mark.parametrize(
    ("name", "at", "type"), one_of(2, product(LEVELS, ["0, 0", "30, 41", "-3, 7"], DTYPES))
)
def test_stores_of_blocks(name: str, at: str, type: str) -> None:
    level = Level(name)
    descriptor = f"!xegpu.tensor_desc<16x32x{type}{level.of_type}>"
    moved = at.replace("-3", "%n")
    text = kernel(
        f"%m: memref<37x50x{type}>, %o: memref<37x50x{type}>",
        f"""%n = arith.constant -3 : index
        %t = xegpu.create_nd_tdesc %m[1, 2] : memref<37x50x{type}> -> {descriptor}
        %u = xegpu.create_nd_tdesc %o : memref<37x50x{type}> -> {descriptor}
        %w = xegpu.update_nd_offset %u, [{moved}] : {descriptor}
        xegpu.prefetch_nd %t{level.mark} : {descriptor}
        %v = xegpu.load_nd %t{level.mark} : {descriptor} -> vector<16x32x{type}>
        xegpu.store_nd %v, %w{level.mark} : vector<16x32x{type}>, {descriptor}""",
        aliases=level.aliases,
        attributes="known_block_size = array<i32: 16, 1, 1>",
    )
    rng = fresh_generator()
    check(
        text,
        [random_array(rng, (37, 50), type), undefined((37, 50), type)],
        on_opencl=True,
    )


@pytest.mark.parametrize("name", LEVELS)
def test_regions_with_shapes_of_their_own(name: str) -> None:
    level = Level(name)
    descriptor = f"!xegpu.tensor_desc<8x16xf32{level.of_type}>"
    text = kernel(
        "%m: memref<?xf32, strided<[1], offset: ?>>, %p: i64, %h: index, %s: index, "
        "%o: memref<16x16xf32>",
        f"""%t = xegpu.create_nd_tdesc %m, shape : [%h, 13], strides : [%s, 1]
          : memref<?xf32, strided<[1], offset: ?>> -> {descriptor}
        %u = xegpu.create_nd_tdesc %p, shape : [6, %s], strides : [%s, 1] : i64 -> {descriptor}
        %out = xegpu.create_nd_tdesc %o : memref<16x16xf32> -> {descriptor}
        %a = xegpu.load_nd %t[1, 2]{level.mark} : {descriptor} -> vector<8x16xf32>
        %b = xegpu.load_nd %u[0, 3]{level.mark} : {descriptor} -> vector<8x16xf32>
        xegpu.store_nd %a, %out[0, 0]{level.mark} : vector<8x16xf32>, {descriptor}
        xegpu.store_nd %b, %out[8, 0]{level.mark} : vector<8x16xf32>, {descriptor}""",
        aliases=level.aliases,
        attributes="known_block_size = array<i32: 16, 1, 1>",
    )
    rng = fresh_generator()
    matrix = random_array(rng, (200,), "f32")
    other = random_array(rng, (200,), "f32")
    check(text, [matrix, other, 7, 18, undefined((16, 16), "f32")], on_opencl=True)


@pytest.mark.parametrize("name", LEVELS)
def test_blocks_of_one_dimension_and_of_three(name: str) -> None:
    level, line = Level(name), Level(name, 1)
    block = f"!xegpu.tensor_desc<4x8xf32{level.of_type}>"
    row = "!xegpu.tensor_desc<24xf32>"
    text = kernel(
        "%m: memref<3x12x16xf32>, %i: index, %o: memref<4x8xf32>, %p: memref<2x24xf32>",
        f"""%t = xegpu.create_nd_tdesc %m[%i, 2, 4] : memref<3x12x16xf32> -> {block}
        %v = xegpu.load_nd %t{level.mark} : {block} -> vector<4x8xf32>
        %u = xegpu.create_nd_tdesc %o : memref<4x8xf32> -> {block}
        xegpu.store_nd %v, %u[0, 0]{level.mark} : vector<4x8xf32>, {block}
        %l = xegpu.create_nd_tdesc %m[%i, 3, 9] : memref<3x12x16xf32> -> {row}
        %w = xegpu.load_nd %l{line.mark if not line.is_tile else ""} : {row} -> vector<24xf32>
        %q = xegpu.create_nd_tdesc %p[1, 0] : memref<2x24xf32> -> {row}
        xegpu.store_nd %w, %q : vector<24xf32>, {row}""",
        aliases=level.aliases,
        attributes="known_block_size = array<i32: 16, 1, 1>",
    )
    rng = fresh_generator()
    matrix = random_array(rng, (3, 12, 16), "f32")
    check(
        text,
        [matrix, 1, undefined((4, 8), "f32"), undefined((2, 24), "f32")],
        on_opencl=True,
    )


PRODUCTS = {
    "f16 in f32": ("f16", "f32", "16x16", 1e-2),
    "packed": ("bf16", "f32", "8x16x2", 1e-2),
    "f16 in f16": ("f16", "f16", "16x16", 0.2),
    "i8": ("i8", "i32", "4x16x4", 0),
    "f32": ("f32", "f32", "16x16", 1e-4),
}


@pytest.mark.parametrize("has_sums", [False, True])
@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("name", LEVELS)
def test_products(name: str, product: str, has_sums: bool) -> None:
    level, (factor, total, right, tolerance) = Level(name), PRODUCTS[product]
    sums = f", vector<8x16x{total}>" if has_sums else ""
    layout = " {layout_cd = #l}" if level.is_tile else ""
    a, b, c = (
        f"!xegpu.tensor_desc<{shape}x{type}{level.of_type}>"
        for shape, type in (("8x16", factor), ("16x16", factor), ("8x16", total))
    )
    packed = level.marked("packed") if right.count("x") > 1 else level.mark
    text = kernel(
        f"%a: memref<8x16x{factor}>, %b: memref<16x16x{factor}>, %c: memref<8x16x{total}>",
        f"""%ta = xegpu.create_nd_tdesc %a : memref<8x16x{factor}> -> {a}
        %tb = xegpu.create_nd_tdesc %b : memref<16x16x{factor}> -> {b}
        %tc = xegpu.create_nd_tdesc %c : memref<8x16x{total}> -> {c}
        %va = xegpu.load_nd %ta[0, 0]{level.mark} : {a} -> vector<8x16x{factor}>
        %vb = xegpu.load_nd %tb[0, 0]{packed} : {b} -> vector<{right}x{factor}>
        %vc = xegpu.load_nd %tc[0, 0]{level.mark} : {c} -> vector<8x16x{total}>
        %d = xegpu.dpas %va, %vb{", %vc" if has_sums else ""}{layout}
          : vector<8x16x{factor}>, vector<{right}x{factor}>{sums} -> vector<8x16x{total}>
        xegpu.store_nd %d, %tc[0, 0]{level.mark} : vector<8x16x{total}>, {c}""",
        aliases=level.aliases,
        attributes="known_block_size = array<i32: 16, 1, 1>",
    )
    rng = fresh_generator()
    arrays = [
        random_array(rng, shape, type)
        for shape, type in (((8, 16), factor), ((16, 16), factor), ((8, 16), total))
    ]
    check(text, arrays, tolerance=tolerance, on_opencl=True)


@pytest.mark.parametrize("chunk", [1, 4])
@pytest.mark.parametrize("has_descriptor", [False, True])
@pytest.mark.parametrize("name", LEVELS)
def test_scattered_points(name: str, has_descriptor: bool, chunk: int) -> None:
    rank = 1 if chunk == 1 else 2
    level = Level(name, rank)
    shape = "16" if chunk == 1 else f"16x{chunk}"
    kind = f"#xegpu.scatter_tdesc_attr<chunk_size = {chunk} : i64>"
    descriptor = f"!xegpu.tensor_desc<{shape}xf32, {kind}{level.of_type}>"
    chunks = level.marked(*([f"chunk_size = {chunk} : i64"] if chunk > 1 else []))
    if has_descriptor:
        body = f"""
        %t = xegpu.create_tdesc %m, %at : memref<256xf32>, vector<16xindex> -> {descriptor}
        %s = xegpu.update_offset %t, %by : {descriptor}, vector<16xindex>
        xegpu.prefetch %s : {descriptor}
        %v = xegpu.load %s, %k : {descriptor}, vector<16xi1> -> vector<{shape}xf32>
        %u = xegpu.create_tdesc %o, %at : memref<256xf32>, vector<16xindex> -> {descriptor}
        xegpu.store %v, %u, %k : vector<{shape}xf32>, {descriptor}, vector<16xi1>"""
    else:
        body = f"""%w = arith.addi %at, %by : vector<16xindex>
        xegpu.prefetch %m[%w] : memref<256xf32>, vector<16xindex>
        %v = xegpu.load %m[%w], %k{chunks}
          : memref<256xf32>, vector<16xindex>, vector<16xi1> -> vector<{shape}xf32>
        xegpu.store %v, %o[%at], %k{chunks}
          : vector<{shape}xf32>, memref<256xf32>, vector<16xindex>, vector<16xi1>"""
    text = kernel(
        "%m: memref<256xf32>, %n: index, %o: memref<256xf32>",
        f"""%lines = vector.step : vector<16xindex>
        %wide = arith.constant dense<13> : vector<16xindex>
        %at = arith.muli %lines, %wide : vector<16xindex>
        %by = arith.constant dense<3> : vector<16xindex>
        %k = vector.create_mask %n : vector<16xi1>
        {body}""",
        aliases=level.aliases,
        attributes="known_block_size = array<i32: 16, 1, 1>",
    )
    rng = fresh_generator()
    for count in (0, 11, 16):
        check(
            text,
            [random_array(rng, (256,), "f32"), count, undefined((256,), "f32")],
            on_opencl=True,
        )


def test_one_point() -> None:
    """Next to vectors of a subgroup, one point is a work-item's."""
    text = kernel(
        "%m: memref<64xf32>, %n: index, %o: memref<64xf32>",
        """%x = gpu.thread_id x
        %k = arith.cmpi ult, %x, %n : index
        %v = xegpu.load %m[%x], %k : memref<64xf32>, index, i1 -> f32
        xegpu.store %v, %o[%x], %k : f32, memref<64xf32>, index, i1
        %c32 = arith.constant dense<32> : vector<16xindex>
        %step = vector.step : vector<16xindex>
        %at = arith.addi %step, %c32 : vector<16xindex>
        %all = arith.constant dense<true> : vector<16xi1>
        %w = xegpu.load %m[%at], %all
          : memref<64xf32>, vector<16xindex>, vector<16xi1> -> vector<16xf32>
        xegpu.store %w, %o[%at], %all
          : vector<16xf32>, memref<64xf32>, vector<16xindex>, vector<16xi1>""",
        attributes="known_block_size = array<i32: 16, 1, 1>",
    )
    rng = fresh_generator()
    check(text, [random_array(rng, (64,), "f32"), 9, undefined((64,), "f32")])


KINDS = ("addi", "andi", "assign", "maxs", "maxu", "mins", "minu", "muli", "ori", "xori")
FLOAT_KINDS = ("addf", "maximumf", "maxnumf", "minimumf", "minnumf", "mulf", "assign")


@pytest.mark.parametrize(
    ("kind", "type"), [*((kind, "i32") for kind in KINDS), *((k, "f32") for k in FLOAT_KINDS)]
)
@pytest.mark.parametrize("name", LEVELS)
def test_atomic_updates(name: str, kind: str, type: str) -> None:
    level = Level(name, 1)
    descriptor = f"!xegpu.tensor_desc<16x{type}, #xegpu.scatter_tdesc_attr<>{level.of_type}>"
    text = kernel(
        f"%m: memref<64x{type}>, %v: memref<16x{type}>, %o: memref<16x{type}>",
        f"""%c0 = arith.constant 0 : index
        %c11 = arith.constant 11 : index
        %lines = vector.step : vector<16xindex>
        %three = arith.constant dense<3> : vector<16xindex>
        %at = arith.muli %lines, %three : vector<16xindex>
        %k = vector.create_mask %c11 : vector<16xi1>
        %p = ub.poison : {type}
        %w = vector.transfer_read %v[%c0], %p {{in_bounds = [true]}}
          : memref<16x{type}>, vector<16x{type}>
        %t = xegpu.create_tdesc %m, %at : memref<64x{type}>, vector<16xindex> -> {descriptor}
        %old = xegpu.atomic_rmw {kind} %t, %k, %w
          : {descriptor}, vector<16xi1>, vector<16x{type}> -> vector<16x{type}>
        vector.transfer_write %old, %o[%c0] {{in_bounds = [true]}}
          : vector<16x{type}>, memref<16x{type}>""",
        aliases=level.aliases,
        attributes="known_block_size = array<i32: 16, 1, 1>",
    )
    rng = fresh_generator()
    arrays = [random_array(rng, (64,), type), random_array(rng, (16,), type)]
    check(text, [*arrays, undefined((16,), type)], on_opencl=True)


LAYOUTS = {
    "rows": "",
    "columns": ", #xegpu.mem_layout<stride = [1, 32]>",
    "blocks": ", #xegpu.mem_layout<block = [8, 16]>",
    "blocks by columns": ", #xegpu.mem_layout<block = [16, 8], stride = [1, 32]>",
}


@pytest.mark.parametrize("memory", ["memref<4096xi8, 3>", "memref<2048xf16, 3>"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", LEVELS)
def test_matrices_in_local_memory(name: str, layout: str, memory: str) -> None:
    level = Level(name)
    matrix = f"!xegpu.mem_desc<32x64xf16{LAYOUTS[layout]}>"
    block = f"!xegpu.tensor_desc<32x64xf16{level.of_type}>"
    small = f"!xegpu.tensor_desc<16x32xf16{level.of_type}>"
    text = kernel(
        "%m: memref<32x64xf16>, %i: index, %o: memref<16x32xf16>, %e: memref<1xf16>",
        f"""%c0 = arith.constant 0 : index
        %local = memref.alloca() : {memory}
        %d = xegpu.create_mem_desc %local : {memory} -> {matrix}
        %t = xegpu.create_nd_tdesc %m : memref<32x64xf16> -> {block}
        %v = xegpu.load_nd %t[0, 0]{level.mark} : {block} -> vector<32x64xf16>
        xegpu.store_matrix %v, %d[0, 0]{level.mark} : vector<32x64xf16>, {matrix}
        xegpu.fence memory_kind = slm, fence_scope = workgroup
        gpu.barrier
        %w = xegpu.load_matrix %d[%i, 24]{level.mark} : {matrix}, index -> vector<16x32xf16>
        %u = xegpu.create_nd_tdesc %o : memref<16x32xf16> -> {small}
        xegpu.store_nd %w, %u[0, 0]{level.mark} : vector<16x32xf16>, {small}
        %x = xegpu.load_matrix %d[%i, 17] : {matrix}, index -> f16
        memref.store %x, %e[%c0] : memref<1xf16>""",
        aliases=level.aliases,
        attributes="known_block_size = array<i32: 16, 1, 1>",
    )
    rng = fresh_generator()
    arrays: list[Any] = [random_array(rng, (32, 64), "f16"), 9]
    core = check(
        text,
        [*arrays, undefined((16, 32), "f16"), undefined((1,), "f16")],
        on_opencl=True,
    )
    assert ("gpu.barrier" in core) == (name == "subgroup")


def test_layouts_change_nothing() -> None:
    text = kernel(
        "%m: memref<32x32xf32>, %o: memref<32x32xf32>",
        """%t = xegpu.create_nd_tdesc %m : memref<32x32xf32> -> !xegpu.tensor_desc<32x32xf32, #l>
        %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<32x32xf32, #l> -> vector<32x32xf32>
        %w = xegpu.convert_layout %v <{input_layout = #l, target_layout = #m}> : vector<32x32xf32>
        %x = arith.addf %w, %w {layout_result_0 = #m} : vector<32x32xf32>
        %u = xegpu.create_nd_tdesc %o : memref<32x32xf32> -> !xegpu.tensor_desc<32x32xf32, #m>
        xegpu.store_nd %x, %u[0, 0] : vector<32x32xf32>, !xegpu.tensor_desc<32x32xf32, #m>""",
        aliases="""#l = #xegpu.layout<sg_layout = [2, 2], sg_data = [16, 16]>
        #m = #xegpu.layout<sg_layout = [4, 1], sg_data = [8, 32]>""",
    )
    rng = fresh_generator()
    core = check(
        text,
        [random_array(rng, (32, 32), "f32"), undefined((32, 32), "f32")],
        block=(64, 1, 1),
    )
    assert "#xegpu" not in core


@pytest.mark.parametrize("name", LEVELS)
def test_blocks_that_follow_each_other(name: str) -> None:
    """Values that blocks pass on are those of the branches."""
    level = Level(name)
    block = f"!xegpu.tensor_desc<8x16xf32{level.of_type}>"
    text = kernel(
        "%x: memref<8x16xf32>, %o: memref<8x16xf32>",
        f"""%c0 = arith.constant 0 : index
        %t = xegpu.create_nd_tdesc %x : memref<8x16xf32> -> {block}
        cf.br ^bb1(%c0 : index)
      ^bb1(%row: index):
        %v = xegpu.load_nd %t[%row, 0]{level.mark} : {block} -> vector<8x16xf32>
        cf.br ^bb2(%v, %row : vector<8x16xf32>, index)
      ^bb2(%w: vector<8x16xf32>, %to: index):
        %sum = arith.addf %v, %w : vector<8x16xf32>
        %u = xegpu.create_nd_tdesc %o : memref<8x16xf32> -> {block}
        xegpu.store_nd %sum, %u[%to, 0]{level.mark} : vector<8x16xf32>, {block}""",
        aliases=level.aliases,
        attributes="known_block_size = array<i32: 64, 1, 1>",
    )
    x = random_array(fresh_generator(), (8, 16), "f32")
    check(text, [x, undefined((8, 16), "f32")], on_opencl=True)


@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize(
    ("shape", "at"), [("vector<16xf32>", "5"), ("vector<2x16xf32>", "1"), ("f32", "5, 3")]
)
def test_constants_in_vectors(name: str, shape: str, at: str) -> None:
    level = Level(name)
    block = f"!xegpu.tensor_desc<8x16xf32{level.of_type}>"
    whole = "vector<4x2x16xf32>" if "2x" in shape else "vector<8x16xf32>"
    cast = f"vector.shape_cast %v : vector<8x16xf32> to {whole}"
    constant = "1.25" if shape == "f32" else "dense<1.25>"
    text = kernel(
        "%x: memref<8x16xf32>",
        f"""%t = xegpu.create_nd_tdesc %x : memref<8x16xf32> -> {block}
        %v = xegpu.load_nd %t[0, 0]{level.mark} : {block} -> vector<8x16xf32>
        %k = arith.constant {constant} : {shape}
        %whole = {cast}
        %with = vector.insert %k, %whole [{at}] : {shape} into {whole}
        %w = vector.shape_cast %with : {whole} to vector<8x16xf32>
        xegpu.store_nd %w, %t[0, 0]{level.mark} : vector<8x16xf32>, {block}""",
        aliases=level.aliases,
        attributes="known_block_size = array<i32: 64, 1, 1>",
    )
    check(text, [random_array(fresh_generator(), (8, 16), "f32")], on_opencl=True)


@pytest.mark.parametrize("name", LEVELS)
def test_hints_for_compilers(name: str) -> None:
    level = Level(name)
    block = f"!xegpu.tensor_desc<8x16xf32{level.of_type}>"
    text = kernel(
        "%x: memref<8x16xf32>, %o: memref<8x16xf32>",
        f"""%t = xegpu.create_nd_tdesc %x : memref<8x16xf32> -> {block}
        %u = xegpu.create_nd_tdesc %o : memref<8x16xf32> -> {block}
        %v = xegpu.load_nd %t[0, 0]{level.mark} : {block} -> vector<8x16xf32>
        xegpu.compile_hint {{hint = "schedule_barrier"}}
        xegpu.store_nd %v, %u[0, 0]{level.mark} : vector<8x16xf32>, {block}
        xegpu.compile_hint""",
        aliases=level.aliases,
        attributes="known_block_size = array<i32: 64, 1, 1>",
    )
    x = random_array(fresh_generator(), (8, 16), "f32")
    core = check(text, [x, undefined((8, 16), "f32")], on_opencl=True)
    assert "compile_hint" not in core
