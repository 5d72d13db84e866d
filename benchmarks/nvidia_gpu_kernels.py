"""Kernels of the tensor language for NVIDIA's GPUs, which only use collective instructions."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template

BLOCK = 256
"""Rows and columns of the blocks of a large product."""

BAND = 8
"""How many rows of blocks work-groups that run side by side share."""

_GEMM = Template("""\
; C := A B. Work-groups take blocks of $block x $block elements in turn, $band columns of blocks at
; a time, so that those that run side by side share much of A and B.
func @gemm(%A: memref<${type}x${m}x${k}> {alignment=128},
           %B: memref<${type}x${k}x${n}> {alignment=128},
           %C: memref<${type}x${m}x${n}> {alignment=128}) {
    %zero = constant 0.0 : ${type}
    %one = constant 1.0 : ${type}
    %rows = constant ${m} : index
    %columns = constant ${n} : index
    %block = constant ${block} : index
    %one_block = constant 1 : index
    %blocks = constant ${blocks} : index
    %column_blocks = constant ${column_blocks} : index
    %band = constant ${band} : index
    %band_blocks = constant ${band_blocks} : index
    %group = group_id.x : index
    %groups = num_groups.x : index
    for %b=%group,%blocks,%groups {
        %band_id = div %b, %band_blocks : index
        %in_band = rem %b, %band_blocks : index
        %first = mul %band_id, %band : index
        %left = sub %column_blocks, %first : index
        %narrow = min %left, %band : index
        %width = max %narrow, %one_block : index
        %x = div %in_band, %width : index
        %in_row = rem %in_band, %width : index
        %y = add %first, %in_row : index
        %i = mul %x, %block : index
        %j = mul %y, %block : index
        %rows_left = sub %rows, %i : index
        %columns_left = sub %columns, %j : index
        %height = min %rows_left, %block : index
        %breadth = min %columns_left, %block : index
        %a = subview %A[%i:%height,0:${k}] : memref<${type}x?x${k},strided<1,${m}>>
        %b2 = subview %B[0:${k},%j:%breadth] : memref<${type}x${k}x?,strided<1,${k}>>
        %c = subview %C[%i:%height,%j:%breadth] : memref<${type}x?x?,strided<1,${m}>>
        gemm.n.n %one, %a, %b2, %zero, %c
    }
}
""")

_BATCHED = Template("""\
; C_i := A_i B_i. Every work-group multiplies two matrices.
func @batched(%A: memref<${type}x${size}x${size}x?> {alignment=128},
              %B: memref<${type}x${size}x${size}x?> {alignment=128},
              %C: memref<${type}x${size}x${size}x?> {alignment=128}) {
    %zero = constant 0.0 : ${type}
    %one = constant 1.0 : ${type}
    %i = group_id.x : index
    %a = subview %A[0:${size},0:${size},%i] : memref<${type}x${size}x${size}>
    %b = subview %B[0:${size},0:${size},%i] : memref<${type}x${size}x${size}>
    %c = subview %C[0:${size},0:${size},%i] : memref<${type}x${size}x${size}>
    gemm.n.n %one, %a, %b, %zero, %c
}
""")

AXPBY_BLOCK = 1024
"""Elements of a work-group of `axpby`."""

AXPBY = f"""\
; Y := alpha X + beta Y. Every work-group computes {AXPBY_BLOCK} elements.
func @axpby(%alpha: f32, %X: memref<f32x?> {{alignment=128}},
            %beta: f32, %Y: memref<f32x?> {{alignment=128}}) {{
    %block = constant {AXPBY_BLOCK} : index
    %size = size %Y[0] : index
    %group = group_id.x : index
    %first = mul %group, %block : index
    %left = sub %size, %first : index
    %count = min %left, %block : index
    %x = subview %X[%first:%count] : memref<f32x?>
    %y = subview %Y[%first:%count] : memref<f32x?>
    axpby.n %alpha, %x, %beta, %y
}}
"""

ROWS = 8192
"""Elements of the columns that `sum` and `softmax` go along."""

SUM = f"""\
; y_j := sum_i X_ij. Every work-group adds up a column.
func @column_sums(%X: memref<f32x{ROWS}x?> {{alignment=128}},
                  %Y: memref<f32x?> {{alignment=128}}) {{
    %zero = constant 0.0 : f32
    %one = constant 1.0 : f32
    %j = group_id.x : index
    %x = subview %X[0:{ROWS},%j] : memref<f32x{ROWS}>
    %y = subview %Y[%j] : memref<f32>
    sum.n %one, %x, %zero, %y
}}
"""

SOFTMAX = f"""\
; Y_ij := exp(X_ij - max_i X_ij) / sum_i exp(X_ij - max_i X_ij). Every work-group has a column.
$column = coopmatrix<f32x{ROWS}x1,matrix_acc>
$ones = coopmatrix<f32x{ROWS}x1,matrix_a>
$value = coopmatrix<f32x1x1,matrix_acc>
$value_b = coopmatrix<f32x1x1,matrix_b>

func @softmax(%X: memref<f32x{ROWS}x?> {{alignment=128}},
              %Y: memref<f32x{ROWS}x?> {{alignment=128}}) {{
    %zero = constant 0 : index
    %one = constant 1 : index
    %rows = constant {ROWS} : index
    %column = group_id.x : index
    %next = add %column, %one : index
    foreach_tile (%i,%j)=(%zero,%column),(%rows,%next) as (%ti,%tj)<=({ROWS},1) {{
        %ones = constant 1.0 : $ones
        %nothing = constant 0.0 : $column
        %x = cooperative_matrix_load %X[%i,%j] : $column
        %maximum = cooperative_matrix_reduce_max.column %x : $value
        %maximum_b = cast %maximum : $value_b
        %maxima = cooperative_matrix_mul_add %ones, %maximum_b, %nothing : $column
        %shifted = sub %x, %maxima : $column
        %y = cooperative_matrix_apply (%r,%c,%value)=%shifted -> $column {{
            %power = exp %value : f32
            yield (%power)
        }}
        %sum = cooperative_matrix_reduce_add.column %y : $value
        %sum_b = cast %sum : $value_b
        %sums = cooperative_matrix_mul_add %ones, %sum_b, %nothing : $column
        %result = div %y, %sums : $column
        cooperative_matrix_store %result, %Y[%i,%j]
    }}
}}
"""


@dataclass(frozen=True)
class Kernel:
    """A kernel of a benchmark.

    Attributes:
        name: That of its file.
        text: Its source.
    """

    name: str
    text: str


def gemm(type: str, m: int, n: int, k: int) -> Kernel:
    """C := A B for matrices of m x k and k x n elements."""
    row_blocks, column_blocks = -(-m // BLOCK), -(-n // BLOCK)
    text = _GEMM.substitute(
        type=type,
        m=m,
        n=n,
        k=k,
        block=BLOCK,
        band=BAND,
        blocks=row_blocks * column_blocks,
        column_blocks=column_blocks,
        band_blocks=BAND * row_blocks,
    )
    return Kernel(f"gemm_{type}_{m}_{n}_{k}", text)


def batched(type: str, size: int) -> Kernel:
    """C_i := A_i B_i for square matrices."""
    return Kernel(f"batched_{type}_{size}", _BATCHED.substitute(type=type, size=size))
