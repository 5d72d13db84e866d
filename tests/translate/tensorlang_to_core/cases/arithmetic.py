"""Arithmetic, comparison, math, cast and constant instructions."""

from __future__ import annotations

from tests.translate.tensorlang_to_core.case import Case

CASES = [
    Case(
        "add i32",
        "%r = add %a, %b : i32",
        "%r = arith.addi %a, %b : i32",
        parameters="%a: i32, %b: i32",
    ),
    Case(
        "add f32",
        "%r = add %a, %b : f32",
        "%r = arith.addf %a, %b : f32",
        parameters="%a: f32, %b: f32",
    ),
    Case(
        "add c32",
        "%r = add %a, %b : c32",
        "%r = complex.add %a, %b : complex<f32>",
        parameters="%a: c32, %b: c32",
    ),
    Case(
        "sub i32",
        "%r = sub %a, %b : i32",
        "%r = arith.subi %a, %b : i32",
        parameters="%a: i32, %b: i32",
    ),
    Case(
        "sub f32",
        "%r = sub %a, %b : f32",
        "%r = arith.subf %a, %b : f32",
        parameters="%a: f32, %b: f32",
    ),
    Case(
        "sub c32",
        "%r = sub %a, %b : c32",
        "%r = complex.sub %a, %b : complex<f32>",
        parameters="%a: c32, %b: c32",
    ),
    Case(
        "mul i32",
        "%r = mul %a, %b : i32",
        "%r = arith.muli %a, %b : i32",
        parameters="%a: i32, %b: i32",
    ),
    Case(
        "mul f32",
        "%r = mul %a, %b : f32",
        "%r = arith.mulf %a, %b : f32",
        parameters="%a: f32, %b: f32",
    ),
    Case(
        "mul c32",
        "%r = mul %a, %b : c32",
        "%r = complex.mul %a, %b : complex<f32>",
        parameters="%a: c32, %b: c32",
    ),
    Case(
        "div i32",
        "%r = div %a, %b : i32",
        "%r = arith.divsi %a, %b : i32",
        parameters="%a: i32, %b: i32",
    ),
    Case(
        "div f32",
        "%r = div %a, %b : f32",
        "%r = arith.divf %a, %b : f32",
        parameters="%a: f32, %b: f32",
    ),
    Case(
        "div c32",
        "%r = div %a, %b : c32",
        "%r = complex.div %a, %b : complex<f32>",
        parameters="%a: c32, %b: c32",
    ),
    Case(
        "rem index",
        "%r = rem %a, %b : index",
        "%r = arith.remsi %a, %b : index",
        parameters="%a: index, %b: index",
    ),
    Case(
        "rem bf16",
        "%r = rem %a, %b : bf16",
        "%r = arith.remf %a, %b : bf16",
        parameters="%a: bf16, %b: bf16",
    ),
    Case(
        "max index",
        "%r = max %a, %b : index",
        "%r = arith.maxsi %a, %b : index",
        parameters="%a: index, %b: index",
    ),
    Case(
        "max bf16",
        "%r = max %a, %b : bf16",
        "%r = arith.maxnumf %a, %b : bf16",
        parameters="%a: bf16, %b: bf16",
    ),
    Case(
        "min index",
        "%r = min %a, %b : index",
        "%r = arith.minsi %a, %b : index",
        parameters="%a: index, %b: index",
    ),
    Case(
        "min bf16",
        "%r = min %a, %b : bf16",
        "%r = arith.minnumf %a, %b : bf16",
        parameters="%a: bf16, %b: bf16",
    ),
    Case(
        "and i16",
        "%r = and %a, %b : i16",
        "%r = arith.andi %a, %b : i16",
        parameters="%a: i16, %b: i16",
    ),
    Case(
        "or i16",
        "%r = or %a, %b : i16",
        "%r = arith.ori %a, %b : i16",
        parameters="%a: i16, %b: i16",
    ),
    Case(
        "xor i16",
        "%r = xor %a, %b : i16",
        "%r = arith.xori %a, %b : i16",
        parameters="%a: i16, %b: i16",
    ),
    Case(
        "and bool",
        "%r = and %a, %b : bool",
        "%r = arith.andi %a, %b : i1",
        parameters="%a: bool, %b: bool",
    ),
    Case(
        "shl i8",
        "%r = shl %a, %b : i8",
        """
%0 = arith.constant 7 : i8
%1 = arith.andi %b, %0 : i8
%r = arith.shli %a, %1 : i8
""",
        parameters="%a: i8, %b: i8",
    ),
    Case(
        "shr index",
        "%r = shr %a, %b : index",
        """
%c63 = arith.constant 63 : index
%0 = arith.andi %b, %c63 : index
%r = arith.shrsi %a, %0 : index
""",
        parameters="%a: index, %b: index",
    ),
    Case(
        "abs i64",
        "%r = abs %a : i64",
        "%r = math.absi %a : i64",
        parameters="%a: i64",
    ),
    Case(
        "neg i64",
        "%r = neg %a : i64",
        """
%0 = arith.constant 0 : i64
%r = arith.subi %0, %a : i64
""",
        parameters="%a: i64",
    ),
    Case(
        "abs f64",
        "%r = abs %a : f64",
        "%r = math.absf %a : f64",
        parameters="%a: f64",
    ),
    Case(
        "neg f64",
        "%r = neg %a : f64",
        "%r = arith.negf %a : f64",
        parameters="%a: f64",
    ),
    Case(
        "abs c64",
        "%r = abs %a : f64",
        "%r = complex.abs %a : complex<f64>",
        parameters="%a: c64",
    ),
    Case(
        "neg c32",
        "%r = neg %a : c32",
        "%r = complex.neg %a : complex<f32>",
        parameters="%a: c32",
    ),
    Case(
        "not i32",
        "%r = not %a : i32",
        """
%0 = arith.constant -1 : i32
%r = arith.xori %a, %0 : i32
""",
        parameters="%a: i32",
    ),
    Case(
        "not bool",
        "%r = not %a : bool",
        """
%0 = arith.constant true
%r = arith.xori %a, %0 : i1
""",
        parameters="%a: bool",
    ),
    Case(
        "conj",
        "%r = conj %a : c32",
        "%r = complex.conj %a : complex<f32>",
        parameters="%a: c32",
    ),
    Case(
        "re",
        "%r = re %a : f32",
        "%r = complex.re %a : complex<f32>",
        parameters="%a: c32",
    ),
    Case(
        "im",
        "%r = im %a : f64",
        "%r = complex.im %a : complex<f64>",
        parameters="%a: c64",
    ),
    Case(
        "equal index",
        "%r = equal %a, %b : bool",
        "%r = arith.cmpi eq, %a, %b : index",
        parameters="%a: index, %b: index",
    ),
    Case(
        "equal f16",
        "%r = equal %a, %b : bool",
        "%r = arith.cmpf oeq, %a, %b : f16",
        parameters="%a: f16, %b: f16",
    ),
    Case(
        "not_equal index",
        "%r = not_equal %a, %b : bool",
        "%r = arith.cmpi ne, %a, %b : index",
        parameters="%a: index, %b: index",
    ),
    Case(
        "not_equal f16",
        "%r = not_equal %a, %b : bool",
        "%r = arith.cmpf une, %a, %b : f16",
        parameters="%a: f16, %b: f16",
    ),
    Case(
        "greater_than index",
        "%r = greater_than %a, %b : bool",
        "%r = arith.cmpi sgt, %a, %b : index",
        parameters="%a: index, %b: index",
    ),
    Case(
        "greater_than f16",
        "%r = greater_than %a, %b : bool",
        "%r = arith.cmpf ogt, %a, %b : f16",
        parameters="%a: f16, %b: f16",
    ),
    Case(
        "greater_than_equal index",
        "%r = greater_than_equal %a, %b : bool",
        "%r = arith.cmpi sge, %a, %b : index",
        parameters="%a: index, %b: index",
    ),
    Case(
        "greater_than_equal f16",
        "%r = greater_than_equal %a, %b : bool",
        "%r = arith.cmpf oge, %a, %b : f16",
        parameters="%a: f16, %b: f16",
    ),
    Case(
        "less_than index",
        "%r = less_than %a, %b : bool",
        "%r = arith.cmpi slt, %a, %b : index",
        parameters="%a: index, %b: index",
    ),
    Case(
        "less_than f16",
        "%r = less_than %a, %b : bool",
        "%r = arith.cmpf olt, %a, %b : f16",
        parameters="%a: f16, %b: f16",
    ),
    Case(
        "less_than_equal index",
        "%r = less_than_equal %a, %b : bool",
        "%r = arith.cmpi sle, %a, %b : index",
        parameters="%a: index, %b: index",
    ),
    Case(
        "less_than_equal f16",
        "%r = less_than_equal %a, %b : bool",
        "%r = arith.cmpf ole, %a, %b : f16",
        parameters="%a: f16, %b: f16",
    ),
    Case(
        "equal c32",
        "%r = equal %a, %b : bool",
        "%r = complex.eq %a, %b : complex<f32>",
        parameters="%a: c32, %b: c32",
    ),
    Case(
        "not_equal c32",
        "%r = not_equal %a, %b : bool",
        "%r = complex.neq %a, %b : complex<f32>",
        parameters="%a: c32, %b: c32",
    ),
    Case(
        "cos",
        "%r = cos %a : f32",
        "%r = math.cos %a : f32",
        parameters="%a: f32",
    ),
    Case(
        "native_cos",
        "%r = native_cos %a : f16",
        "%r = math.cos %a fastmath<afn> : f16",
        parameters="%a: f16",
    ),
    Case(
        "sin",
        "%r = sin %a : f32",
        "%r = math.sin %a : f32",
        parameters="%a: f32",
    ),
    Case(
        "native_sin",
        "%r = native_sin %a : f16",
        "%r = math.sin %a fastmath<afn> : f16",
        parameters="%a: f16",
    ),
    Case(
        "exp",
        "%r = exp %a : f32",
        "%r = math.exp %a : f32",
        parameters="%a: f32",
    ),
    Case(
        "native_exp",
        "%r = native_exp %a : f16",
        "%r = math.exp %a fastmath<afn> : f16",
        parameters="%a: f16",
    ),
    Case(
        "exp2",
        "%r = exp2 %a : f32",
        "%r = math.exp2 %a : f32",
        parameters="%a: f32",
    ),
    Case(
        "native_exp2",
        "%r = native_exp2 %a : f16",
        "%r = math.exp2 %a fastmath<afn> : f16",
        parameters="%a: f16",
    ),
    Case(
        "log",
        "%r = log %a : f32",
        "%r = math.log %a : f32",
        parameters="%a: f32",
    ),
    Case(
        "native_log",
        "%r = native_log %a : f16",
        "%r = math.log %a fastmath<afn> : f16",
        parameters="%a: f16",
    ),
    Case(
        "log2",
        "%r = log2 %a : f32",
        "%r = math.log2 %a : f32",
        parameters="%a: f32",
    ),
    Case(
        "native_log2",
        "%r = native_log2 %a : f16",
        "%r = math.log2 %a fastmath<afn> : f16",
        parameters="%a: f16",
    ),
    Case(
        "exp c32",
        "%r = exp %a : c32",
        "%r = complex.exp %a : complex<f32>",
        parameters="%a: c32",
    ),
    Case(
        "native_exp c32",
        "%r = native_exp %a : c32",
        "%r = complex.exp %a fastmath<afn> : complex<f32>",
        parameters="%a: c32",
    ),
    Case(
        "exp2 c64",
        "%r = exp2 %a : c64",
        """
%0 = complex.re %a : complex<f64>
%1 = complex.im %a : complex<f64>
%2 = math.exp2 %0 : f64
%3 = arith.constant 0.69314718055994529 : f64
%4 = arith.mulf %1, %3 : f64
%5 = math.cos %4 : f64
%6 = arith.mulf %2, %5 : f64
%7 = math.sin %4 : f64
%8 = arith.mulf %2, %7 : f64
%r = complex.create %6, %8 : complex<f64>
""",
        parameters="%a: c64",
    ),
    Case(
        "native_exp2 c32",
        "%r = native_exp2 %a : c32",
        """
%0 = complex.re %a : complex<f32>
%1 = complex.im %a : complex<f32>
%2 = math.exp2 %0 fastmath<afn> : f32
%3 = arith.constant 0.693147182 : f32
%4 = arith.mulf %1, %3 : f32
%5 = math.cos %4 fastmath<afn> : f32
%6 = arith.mulf %2, %5 : f32
%7 = math.sin %4 fastmath<afn> : f32
%8 = arith.mulf %2, %7 : f32
%r = complex.create %6, %8 : complex<f32>
""",
        parameters="%a: c32",
    ),
    Case(
        "cast i8 i64",
        "%r = cast %a : i64",
        "%r = arith.extsi %a : i8 to i64",
        parameters="%a: i8",
    ),
    Case(
        "cast i64 i16",
        "%r = cast %a : i16",
        "%r = arith.trunci %a : i64 to i16",
        parameters="%a: i64",
    ),
    Case(
        "cast i32 index",
        "%r = cast %a : index",
        "%r = arith.index_cast %a : i32 to index",
        parameters="%a: i32",
    ),
    Case(
        "cast index i8",
        "%r = cast %a : i8",
        "%r = arith.index_cast %a : index to i8",
        parameters="%a: index",
    ),
    Case(
        "cast i16 f64",
        "%r = cast %a : f64",
        "%r = arith.sitofp %a : i16 to f64",
        parameters="%a: i16",
    ),
    Case(
        "cast index bf16",
        "%r = cast %a : bf16",
        """
%0 = arith.index_cast %a : index to i64
%r = arith.sitofp %0 : i64 to bf16
""",
        parameters="%a: index",
    ),
    Case(
        "cast f32 i8",
        "%r = cast %a : i8",
        "%r = arith.fptosi %a : f32 to i8",
        parameters="%a: f32",
    ),
    Case(
        "cast f64 index",
        "%r = cast %a : index",
        """
%0 = arith.fptosi %a : f64 to i64
%r = arith.index_cast %0 : i64 to index
""",
        parameters="%a: f64",
    ),
    Case(
        "cast f16 f64",
        "%r = cast %a : f64",
        "%r = arith.extf %a : f16 to f64",
        parameters="%a: f16",
    ),
    Case(
        "cast f64 bf16",
        "%r = cast %a : bf16",
        "%r = arith.truncf %a : f64 to bf16",
        parameters="%a: f64",
    ),
    Case(
        "cast f16 bf16",
        "%r = cast %a : bf16",
        """
%0 = arith.extf %a : f16 to f32
%r = arith.truncf %0 : f32 to bf16
""",
        parameters="%a: f16",
    ),
    Case(
        "cast bf16 f16",
        "%r = cast %a : f16",
        """
%0 = arith.extf %a : bf16 to f32
%r = arith.truncf %0 : f32 to f16
""",
        parameters="%a: bf16",
    ),
    Case(
        "cast i32 c64",
        "%r = cast %a : c64",
        """
%0 = arith.sitofp %a : i32 to f64
%1 = arith.constant 0.000000e+00 : f64
%r = complex.create %0, %1 : complex<f64>
""",
        parameters="%a: i32",
    ),
    Case(
        "cast f64 c32",
        "%r = cast %a : c32",
        """
%0 = arith.truncf %a : f64 to f32
%1 = arith.constant 0.000000e+00 : f32
%r = complex.create %0, %1 : complex<f32>
""",
        parameters="%a: f64",
    ),
    Case(
        "cast c32 c64",
        "%r = cast %a : c64",
        """
%0 = complex.re %a : complex<f32>
%1 = complex.im %a : complex<f32>
%2 = arith.extf %0 : f32 to f64
%3 = arith.extf %1 : f32 to f64
%r = complex.create %2, %3 : complex<f64>
""",
        parameters="%a: c32",
    ),
    Case(
        "cast f32 f32",
        "%r = cast %a : f32",
        "",
        parameters="%a: f32",
    ),
    Case(
        "constants",
        """
%a = constant 200 : i8
%b = constant true : bool
%c = constant -7 : index
%d = constant 0.1 : bf16
%e = constant -inf : f32
%f = constant nan : f16
%g = constant [1.5, -0.0] : c32
%h = constant 0x1p-1074 : f64
""",
        """
%a = arith.constant -56 : i8
%b = arith.constant true
%c = arith.constant -7 : index
%d = arith.constant 1.000980e-01 : bf16
%e = arith.constant 0xFF800000 : f32
%f = arith.constant 0x7E00 : f16
%g = complex.constant [1.500000e+00 : f32, -0.000000e+00 : f32] : complex<f32>
%h = arith.constant 4.940660e-324 : f64
""",
    ),
]
