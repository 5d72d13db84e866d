"""How many operations of CUDA Tile IR are written to bytecode and read from it in a second.

python benchmarks/cuda_tile_bytecode.py

The rival is the writer of NVIDIA's Python package, whose functions are called with the arguments
that they need: the operations that it writes are nowhere but in its file.
"""

from __future__ import annotations

from measuring import Cost, conditions, cost_of_call, print_table, seconds

REPEATS = 5
COUNTS = (100, 1_000, 10_000)
"""How often the operations below are repeated."""

HEAD = """\
cuda_tile.module @kernels {
  entry @kernel(%p: tile<ptr<f32>>, %n: tile<i32>) {
    %t = make_token : token
    %tensor = make_tensor_view %p, shape = [1024, 1024], strides = [1024, 1]
      : tensor_view<1024x1024xf32, strides=[1024,1]>
    %view = make_partition_view %tensor
      : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
"""

BODY = """\
    %x{i}, %t{i} = load_view_tko weak %view[%n, %n] token = %t
      : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32>
      -> tile<64x64xf32>, token
    %c{i} = constant <f32: {i}.5> : tile<64x64xf32>
    %a{i} = addf %x{i}, %c{i} : tile<64x64xf32>
    %b{i} = mulf %a{i}, %c{i} rounding<zero> flush_to_zero : tile<64x64xf32>
    %d{i} = fma %a{i}, %b{i}, %c{i} : tile<64x64xf32>
    %e{i} = exp %d{i} : tile<64x64xf32>
    %f{i} = cmpf less_than ordered %e{i}, %d{i} : tile<64x64xf32> -> tile<64x64xi1>
    %g{i} = select %f{i}, %e{i}, %d{i} : tile<64x64xi1>, tile<64x64xf32>
    %h{i} = maxf %g{i}, %x{i} propagate_nan : tile<64x64xf32>
    %s{i} = store_view_tko weak %h{i}, %view[%n, %n] token = %t{i}
      : tile<64x64xf32>,
        partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32>
      -> token
"""
OPERATIONS = 10
"""How many operations these are."""


def text(count: int) -> str:
    """A module with the operations as often."""
    return HEAD + "".join(BODY.format(i=i) for i in range(count)) + "    return\n  }\n}\n"


def rival(count: int) -> bytes:
    """The same kernel, written by cuda-tile."""
    from cuda.tile._bytecode import encodings as e
    from cuda.tile._bytecode import write_bytecode
    from cuda.tile._bytecode.debug_info import MISSING_DEBUG_ATTR_ID
    from cuda.tile._bytecode.type import PaddingValue, PtrAttr
    from cuda.tile._bytecode.version import BytecodeVersion

    weak = e.MemoryOrderingSemantics.WEAK
    even, zero, full = e.RoundingMode.NEAREST_EVEN, e.RoundingMode.ZERO, e.RoundingMode.FULL
    less, ordered = e.ComparisonPredicate.LESS_THAN, e.ComparisonOrdering.ORDERED
    out = bytearray()
    with write_bytecode(1, out, BytecodeVersion.V_13_3) as file:
        types = file.type_table
        number, token = types.F32, types.Token
        tile, mask = types.tile(number, [64, 64]), types.tile(types.I1, [64, 64])
        scalar = types.tile(types.I32, [])
        pointer = types.tile(types.pointer(number, PtrAttr.Missing), [])
        tensor_type = types.tensor_view(number, [1024, 1024], [1024, 1], PtrAttr.Missing)
        view_type = types.partition_view([64, 64], tensor_type, [0, 1], PaddingValue.Missing)
        with file.function("kernel", [pointer, scalar], [], True, {}, MISSING_DEBUG_ATTR_ID) as (
            b,
            (p, n),
        ):
            t = e.encode_MakeTokenOp(b, token)
            tensor = e.encode_MakeTensorViewOp(b, tensor_type, p, [], [])
            view = e.encode_MakePartitionViewOp(b, view_type, tensor)
            no_bounds = [False, False]
            for i in range(count):
                x, t1 = e.encode_LoadViewTkoOp(
                    b, tile, token, view, [n, n], t, weak, None, None, no_bounds
                )
                c = e.encode_ConstantOp(b, tile, (i + 1).to_bytes(4, "little"))
                a = e.encode_AddFOp(b, tile, x, c, even, False)
                m = e.encode_MulFOp(b, tile, a, c, zero, True)
                d = e.encode_FmaOp(b, tile, a, m, c, even, False)
                f = e.encode_ExpOp(b, tile, d, full)
                g = e.encode_CmpFOp(b, mask, f, d, less, ordered)
                h = e.encode_SelectOp(b, tile, g, f, d)
                s = e.encode_MaxFOp(b, tile, h, x, True, False)
                e.encode_StoreViewTkoOp(b, token, s, view, [n, n], t1, weak, None, None, no_bounds)
            e.encode_ReturnOp(b, [])
    return bytes(out)


def rate(count: int, cost: Cost) -> str:
    """Operations in a second."""
    return f"{count * OPERATIONS / cost.cpu:,.0f}"


def main() -> None:
    from xtile.api import parse
    from xtile.dialects.cuda_tile.bytecode import decode, encode

    rows: list[list[str]] = []
    for count in COUNTS:
        module = parse(text(count), language="mlir")
        data = encode(module)
        assert len(rival(count)) > len(data) // 2
        written = cost_of_call(lambda: encode(module), REPEATS)  # noqa: B023
        read = cost_of_call(lambda: decode(data), REPEATS)  # noqa: B023
        theirs = cost_of_call(lambda: rival(count), REPEATS)  # noqa: B023
        rows.append(
            [
                f"{count * OPERATIONS:,}",
                f"{len(data):,}",
                *(seconds(written.cpu), rate(count, written)),
                *(seconds(read.cpu), rate(count, read)),
                *(seconds(theirs.cpu), rate(count, theirs)),
            ]
        )
    headings = ["operations", "bytes", "write", "a second", "read", "a second"]
    print_table(
        f"CUDA Tile bytecode, CPU time, medians of {REPEATS}\n{conditions('cuda-tile')}",
        [*headings, "cuda-tile writes", "a second"],
        rows,
    )


if __name__ == "__main__":
    main()
