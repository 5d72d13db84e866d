// MLIR's parser stops at the first mistake of an operation's types.
//
// RUN: xtile-opt %s 2>&1 | filecheck %s
func.func @f(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  %w = arith.addi %x, %x : i32
  return %y : f32
}

// CHECK:      mlir_types.mlir:6.19-20: error: operand is used with type i32, but has been previously used or defined with type f32
// CHECK-NEXT:   %w = arith.addi %x, %x : i32
// CHECK-NEXT: {{^ {18}~~$}}
