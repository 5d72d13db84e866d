"""A kernel of Triton that multiplies two matrices, for many types and sizes."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

import xtile

_POINTER = "{tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}"
_NUMBER = "{tt.divisibility = 16 : i32}"


def product(
    a: str = "f16",
    b: str = "f16",
    sums: str = "f32",
    rows: int = 64,
    columns: int = 64,
    depth: int = 32,
    precision: str = "",
    promises: str = _POINTER,
    inside: str = "",
) -> ModuleOp:
    """C = A B in one program, a loop with `depth` along K in each turn.

    The kernel takes A (rows x K), B (K x columns) and C, all row-major, and K. `inside` is in the
    loop, too, where %x and %y are loaded through %ax and %bx.
    """
    zero = "0" if sums.startswith("i") else "0.0"
    text = f"""
    tt.func public @product(%a: !tt.ptr<{a}> {promises}, %b: !tt.ptr<{b}> {promises},
        %c: !tt.ptr<{sums}> {promises}, %k: i32 {_NUMBER}) {{
      %c0 = arith.constant 0 : i32
      %step = arith.constant {depth} : i32
      %zero = arith.constant dense<{zero}> : tensor<{rows}x{columns}x{sums}>
      %m1 = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32>
      %m = tt.expand_dims %m1 {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{rows}x1xi32>
      %n1 = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32>
      %n = tt.expand_dims %n1 {{axis = 0 : i32}} : tensor<{columns}xi32> -> tensor<1x{columns}xi32>
      %d1 = tt.make_range {{end = {depth} : i32, start = 0 : i32}} : tensor<{depth}xi32>
      %dr = tt.expand_dims %d1 {{axis = 0 : i32}} : tensor<{depth}xi32> -> tensor<1x{depth}xi32>
      %dc = tt.expand_dims %d1 {{axis = 1 : i32}} : tensor<{depth}xi32> -> tensor<{depth}x1xi32>
      %ks = tt.splat %k : i32 -> tensor<{rows}x1xi32>
      %am = arith.muli %m, %ks : tensor<{rows}x1xi32>
      %amw = tt.broadcast %am : tensor<{rows}x1xi32> -> tensor<{rows}x{depth}xi32>
      %drw = tt.broadcast %dr : tensor<1x{depth}xi32> -> tensor<{rows}x{depth}xi32>
      %ao = arith.addi %amw, %drw : tensor<{rows}x{depth}xi32>
      %ap = tt.splat %a : !tt.ptr<{a}> -> tensor<{rows}x{depth}x!tt.ptr<{a}>>
      %at = tt.addptr %ap, %ao : tensor<{rows}x{depth}x!tt.ptr<{a}>>, tensor<{rows}x{depth}xi32>
      %ns = arith.constant dense<{columns}> : tensor<{depth}x1xi32>
      %bd = arith.muli %dc, %ns : tensor<{depth}x1xi32>
      %bdw = tt.broadcast %bd : tensor<{depth}x1xi32> -> tensor<{depth}x{columns}xi32>
      %nw = tt.broadcast %n : tensor<1x{columns}xi32> -> tensor<{depth}x{columns}xi32>
      %bo = arith.addi %bdw, %nw : tensor<{depth}x{columns}xi32>
      %bp = tt.splat %b : !tt.ptr<{b}> -> tensor<{depth}x{columns}x!tt.ptr<{b}>>
      %bt = tt.addptr %bp, %bo
        : tensor<{depth}x{columns}x!tt.ptr<{b}>>, tensor<{depth}x{columns}xi32>
      %am2 = arith.constant dense<{depth}> : tensor<{rows}x{depth}xi32>
      %bm2 = arith.constant dense<{depth * columns}> : tensor<{depth}x{columns}xi32>
      %sum, %ae, %be = scf.for %i = %c0 to %k step %step
          iter_args(%s = %zero, %ax = %at, %bx = %bt)
          -> (tensor<{rows}x{columns}x{sums}>, tensor<{rows}x{depth}x!tt.ptr<{a}>>,
              tensor<{depth}x{columns}x!tt.ptr<{b}>>) : i32 {{
        %x = tt.load %ax : tensor<{rows}x{depth}x!tt.ptr<{a}>>
        %y = tt.load %bx : tensor<{depth}x{columns}x!tt.ptr<{b}>>
        %t = tt.dot %x, %y, %s{precision}
          : tensor<{rows}x{depth}x{a}> * tensor<{depth}x{columns}x{b}>
          -> tensor<{rows}x{columns}x{sums}>
        {inside}
        %an = tt.addptr %ax, %am2
          : tensor<{rows}x{depth}x!tt.ptr<{a}>>, tensor<{rows}x{depth}xi32>
        %bn = tt.addptr %bx, %bm2
          : tensor<{depth}x{columns}x!tt.ptr<{b}>>, tensor<{depth}x{columns}xi32>
        scf.yield %t, %an, %bn : tensor<{rows}x{columns}x{sums}>,
          tensor<{rows}x{depth}x!tt.ptr<{a}>>, tensor<{depth}x{columns}x!tt.ptr<{b}>>
      }}
      %cs = arith.constant dense<{columns}> : tensor<{rows}x1xi32>
      %cm = arith.muli %m, %cs : tensor<{rows}x1xi32>
      %cmw = tt.broadcast %cm : tensor<{rows}x1xi32> -> tensor<{rows}x{columns}xi32>
      %cnw = tt.broadcast %n : tensor<1x{columns}xi32> -> tensor<{rows}x{columns}xi32>
      %co = arith.addi %cmw, %cnw : tensor<{rows}x{columns}xi32>
      %cp = tt.splat %c : !tt.ptr<{sums}> -> tensor<{rows}x{columns}x!tt.ptr<{sums}>>
      %ct = tt.addptr %cp, %co
        : tensor<{rows}x{columns}x!tt.ptr<{sums}>>, tensor<{rows}x{columns}xi32>
      tt.store %ct, %sum : tensor<{rows}x{columns}x!tt.ptr<{sums}>>
      tt.return
    }}
    """
    return xtile.parse(text, language="ttir")
