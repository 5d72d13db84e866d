"""Kernels of Triton at the sizes that they are measured at, and what they must compute."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Arrays = dict[str, Any]


@dataclass(frozen=True)
class Workload:
    """A function with `triton.jit`, and what it is launched on.

    Attributes:
        name: What the table calls it.
        file: The name of its files.
        function: A module and a function in it, with a dot between them.
        types: Triton's names of the types of arguments, in their order.
        numbers: The arguments that are numbers.
        constants: The values of all other parameters.
        grid: The programs along each dimension.
        warps: The warps of a program.
        stages: The stages of loops that are pipelined.
        work: Floating-point operations, or the bytes that it must read and write.
        unit: A million million units of work in a second.
        arrays: Makes its arrays, by the names of arguments.
        output: Which of them is checked.
        error: How far the output is from the right one, as a part of the largest number in it.
        tolerance: What that may be.
        blank: What the output holds before.
    """

    name: str
    file: str
    function: str
    types: Mapping[str, str]
    numbers: Mapping[str, float]
    constants: Mapping[str, Any]
    grid: tuple[int, ...]
    warps: int
    stages: int
    work: float
    unit: str
    arrays: Callable[[Any], Arrays]
    output: str
    error: Callable[[Any, Arrays], float]
    tolerance: float
    blank: float = field(default=math.nan)


_DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}

_ROUNDING = {"bf16": 2**-8, "fp16": 2**-11, "fp32": 0}
"""Half of the distance of neighbouring numbers, as a part of them."""

CHECKED_ROWS = 256
"""Rows of a result that are computed in f64."""


def normal(torch: Any, type: str, *shape: int) -> Any:
    """Standard normal numbers on the GPU."""
    return torch.randn(*shape, dtype=getattr(torch, _DTYPES[type]), device="cuda")


def distance(given: Any, exact: Any) -> float:
    """The largest difference as a part of the largest number."""
    return float((given.double() - exact).abs().max() / exact.abs().max())


def _product_arrays(type: str, out: str, m: int, n: int, k: int) -> Callable[[Any], Arrays]:
    def arrays(torch: Any) -> Arrays:
        a, b = normal(torch, type, m, k), normal(torch, type, k, n)
        return {"a_ptr": a, "b_ptr": b, "c_ptr": normal(torch, out, m, n)}

    return arrays


def _product_error(torch: Any, arrays: Arrays) -> float:
    a, b, c = (arrays[name] for name in ("a_ptr", "b_ptr", "c_ptr"))
    rows = torch.randperm(a.shape[0], device="cuda")[:CHECKED_ROWS]
    return distance(c[rows], a[rows].double() @ b.double())


def product(
    name: str,
    function: str,
    type: str,
    sizes: tuple[int, int, int],
    tile: tuple[int, int, int],
    grid: Callable[[int, int], tuple[int, ...]],
    *,
    warps: int = 8,
    stages: int = 3,
    strides: bool = False,
    out: str | None = None,
    blank: float = math.nan,
    constants: Mapping[str, Any] | None = None,
) -> Workload:
    """A product of m x k and k x n matrices.

    Args:
        name: What it is called.
        function: The function.
        type: The type of the factors.
        sizes: m, n and k.
        tile: The parts of them in a block.
        grid: The programs by the number of blocks along m and n.
        warps: The warps of a program.
        stages: The stages of the loop.
        strides: Whether the function has arguments for strides.
        out: The type of the result, where it is another one.
        blank: What the result holds before.
        constants: Further constants.
    """
    m, n, k = sizes
    out = out or type
    blocks = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True))
    numbers: dict[str, float] = {"M": m, "N": n, "K": k}
    ones: dict[str, Any] = {}
    if strides:
        numbers |= {"stride_am": k, "stride_bk": n, "stride_cm": n}
        ones = {"stride_ak": 1, "stride_bn": 1, "stride_cn": 1}
    tile_text = "x".join(map(str, tile))
    return Workload(
        name=f"{name} {type} {m}x{n}x{k}, tiles {tile_text}",
        file=f"{function.replace('.', '_')}_{type}_{tile_text}",
        function=function,
        types={
            "a_ptr": f"*{type}",
            "b_ptr": f"*{type}",
            "c_ptr": f"*{out}",
            **dict.fromkeys(numbers, "i32"),
        },
        numbers=numbers,
        constants={**ones, **blocks, **(constants or {})},
        grid=grid(-(-m // tile[0]), -(-n // tile[1])),
        warps=warps,
        stages=stages,
        work=2 * m * n * k,
        unit="TFLOP/s",
        arrays=_product_arrays(type, out, m, n, k),
        output="c_ptr",
        error=_product_error,
        tolerance=_ROUNDING[out] + 4 * math.sqrt(k) * 2**-24,
        blank=blank,
    )


def _softmax_error(torch: Any, arrays: Arrays) -> float:
    rows = slice(0, CHECKED_ROWS)
    exact = torch.softmax(arrays["x_ptr"][rows].double(), 1)
    return distance(arrays["out_ptr"][rows], exact)


def softmax(rows: int, columns: int) -> Workload:
    """Softmax of rows, of which a program has one."""
    return Workload(
        name=f"softmax fp32 {rows}x{columns}",
        file="softmax",
        function="reductions.softmax",
        types={
            **dict.fromkeys(("x_ptr", "out_ptr"), "*fp32"),
            **dict.fromkeys(("x_stride", "out_stride", "columns"), "i32"),
        },
        numbers=dict.fromkeys(("x_stride", "out_stride", "columns"), columns),
        constants={"BLOCK": columns},
        grid=(rows,),
        warps=8,
        stages=2,
        work=2 * 4 * rows * columns,
        unit="TB/s",
        arrays=lambda torch: {
            name: normal(torch, "fp32", rows, columns) for name in ("x_ptr", "out_ptr")
        },
        output="out_ptr",
        error=_softmax_error,
        tolerance=1e-6,
    )


def _layer_norm_error(torch: Any, arrays: Arrays) -> float:
    rows = slice(0, CHECKED_ROWS)
    x, w, b = (arrays[name].double() for name in ("x_ptr", "w_ptr", "b_ptr"))
    exact = torch.nn.functional.layer_norm(x[rows], x.shape[1:], w, b, 1e-5)
    return distance(arrays["out_ptr"][rows], exact)


def layer_norm(rows: int, columns: int, block: int) -> Workload:
    """Layer norm of rows, of which a program has one, by blocks of columns."""

    def arrays(torch: Any) -> Arrays:
        shapes = {
            **dict.fromkeys(("x_ptr", "out_ptr"), (rows, columns)),
            **dict.fromkeys(("w_ptr", "b_ptr"), (columns,)),
            **dict.fromkeys(("mean_ptr", "rstd_ptr"), (rows,)),
        }
        return {name: normal(torch, "fp32", *shape) for name, shape in shapes.items()}

    pointers = ("x_ptr", "w_ptr", "b_ptr", "out_ptr", "mean_ptr", "rstd_ptr")
    return Workload(
        name=f"layer norm fp32 {rows}x{columns}, blocks of {block}",
        file=f"layer_norm_{block}",
        function="reductions.layer_norm",
        types={**dict.fromkeys(pointers, "*fp32"), "columns": "i32", "eps": "fp32"},
        numbers={"columns": columns, "eps": 1e-5},
        constants={"BLOCK": block},
        grid=(rows,),
        warps=8,
        stages=2,
        work=2 * 4 * rows * columns,
        unit="TB/s",
        arrays=arrays,
        output="out_ptr",
        error=_layer_norm_error,
        tolerance=1e-5,
    )


def _attention_error(causal: bool) -> Callable[[Any, Arrays], float]:
    def error(torch: Any, arrays: Arrays) -> float:
        q, k, v = (arrays[name][1].double() for name in ("q_ptr", "k_ptr", "v_ptr"))
        scores = q @ k.T * _scale(q.shape[-1])
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -math.inf)
        return distance(arrays["out_ptr"][1], torch.softmax(scores, 1) @ v)

    return error


def _scale(depth: int) -> float:
    return 1 / math.sqrt(depth)


def attention(
    type: str, heads: int, length: int, depth: int, tile: tuple[int, int], *, causal: bool,
    masked: bool,
) -> Workload:  # fmt: skip
    """Attention of heads that each have their own keys.

    Args:
        type: The type of queries, keys, values and results.
        heads: The heads of all batches.
        length: How many queries and keys there are.
        depth: The numbers of each.
        tile: Queries and keys in a block.
        causal: Whether queries see only keys before them.
        masked: Whether the function allows for any length, by masks.
    """
    pointers = ("q_ptr", "k_ptr", "v_ptr", "out_ptr")
    numbers: dict[str, float] = {"scale": _scale(depth)}
    constants: dict[str, Any] = {"D": depth, "CAUSAL": causal}
    constants |= {"BLOCK_M": tile[0], "BLOCK_N": tile[1]}
    head, row = length * depth, depth
    if masked:
        pointers = (*pointers, "lse_ptr")
        numbers |= {"stride_qh": head, "stride_qm": row, "stride_kh": head, "stride_kn": row}
        numbers |= {"H": heads, "N": length}
        constants["GROUP"] = 1
    else:
        numbers |= {"stride_h": head, "stride_n": row, "N": length}
    types = {**dict.fromkeys(pointers, f"*{type}"), **dict.fromkeys(numbers, "i32")}
    types["scale"] = "fp32"
    if masked:
        types["lse_ptr"] = "*fp32"

    def arrays(torch: Any) -> Arrays:
        made = {name: normal(torch, type, heads, length, depth) for name in pointers[:4]}
        return {**made, "lse_ptr": normal(torch, "fp32", heads, length)}

    label = ("causal attention" if causal else "attention") + (" with masks" if masked else "")
    return Workload(
        name=f"{label} {type} {heads}x{length}x{depth}, tiles {tile[0]}x{tile[1]}",
        file=f"{label.replace(' ', '_')}_{type}_{tile[0]}x{tile[1]}",
        function="attention.attention" if masked else "triton_kernels.attention",
        types=types,
        numbers=numbers,
        constants=constants,
        grid=(-(-length // tile[0]), heads),
        warps=8,
        stages=3,
        work=4 * heads * length * length * depth / (2 if causal else 1),
        unit="TFLOP/s",
        arrays=arrays,
        output="out_ptr",
        error=_attention_error(causal),
        tolerance=4 * _ROUNDING[type],
    )


def _row(rows: int, columns: int) -> tuple[int, ...]:
    return (rows * columns,)


_LARGE = (4096, 4096, 4096)
_DEEP = (1024, 1024, 16384)
_SPLITS = 8

_PROGRAMS = 132
"""One for each multiprocessor of an H100."""

_GROUPED = {"GROUP": 8, "PRECISION": "ieee", "ACTIVATION": ""}

WORKLOADS = [
    *(
        product(
            "matmul", "products.matmul", "bf16", _LARGE, tile, _row,
            warps=warps, stages=stages, strides=True, constants=_GROUPED,
        )
        for tile, warps, stages in (
            ((128, 256, 64), 8, 3), ((128, 128, 64), 4, 3), ((128, 128, 32), 4, 4),
        )
    ),
    product(
        "persistent matmul", "products.matmul_persistent", "fp16", _LARGE, (128, 256, 64),
        lambda _m, _n: (_PROGRAMS,), constants={"PROGRAMS": _PROGRAMS},
    ),
    product(
        "grouped persistent matmul", "triton_kernels.matmul_persistent_groups", "fp16", _LARGE,
        (128, 256, 64), lambda _m, _n: (_PROGRAMS,), strides=True,
        constants={"GROUP_M": 8, "PROGRAMS": _PROGRAMS},
    ),
    product(
        "matmul by descriptors", "products.matmul_descriptors", "fp16", _LARGE, (128, 256, 64),
        lambda m, n: (m, n),
    ),
    product(
        "split-k matmul", "products.matmul_split_k", "bf16", _DEEP, (128, 128, 64),
        lambda m, n: (m * n, _SPLITS), warps=4, out="fp32", blank=0.0,
        constants={"SPLIT_K": _SPLITS},
    ),
    softmax(8192, 8192),
    layer_norm(8192, 8192, 8192),
    layer_norm(8192, 8192, 1024),
    *(
        attention("bf16", 64, 4096, 128, (128, 64), causal=causal, masked=masked)
        for masked in (False, True)
        for causal in (False, True)
    ),
]  # fmt: skip
