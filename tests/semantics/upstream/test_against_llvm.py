"""The same arithmetic on random numbers here and in code that LLVM makes of it."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

import numpy as np
import pytest

from tests.mlir_opt import llvm_tool, run_mlir_opt
from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import kernel, run

COUNT = 24
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}

INTEGER_OPERATIONS = [
    *("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"),
    *("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"),
]
SHIFTS = ["shli", "shrsi", "shrui"]
FLOAT_OPERATIONS = [
    "addf",
    "subf",
    "mulf",
    "divf",
    "remf",
    "maximumf",
    "minimumf",
    "maxnumf",
    "minnumf",
]
FLOAT_PREDICATES = [
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
]
FLOAT_FUNCTIONS = ["ceil", "floor", "round", "roundeven", "trunc", "absf", "sqrt"]
BIT_FUNCTIONS = ["ctlz", "cttz", "ctpop", "absi"]

LOWERING = [
    "--math-expand-ops=ops=ctlz",
    "--convert-math-to-llvm",
    "--convert-math-to-libm",
    "--arith-expand",
    "--convert-arith-to-llvm",
    "--convert-func-to-llvm",
    "--reconcile-unrealized-casts",
]


@dataclass
class Case:
    """An operation, in which %a, %b and %c stand for constants."""

    text: str
    operands: list[str]
    result: str


def integer(rng: np.random.Generator, type: str) -> int:
    bits = BITS[type]
    value = int(rng.integers(-(2**63), 2**63)) >> int(rng.integers(64 - bits, 64))
    return max(-(2 ** (bits - 1)), min(value, 2 ** (bits - 1) - 1))


def constant(value: float, type: str) -> str:
    """A constant with its type; floats are written with all their bits."""
    if type == "i1":
        return "true" if value else "false"
    if type.startswith("i"):
        return f"{value} : {type}"
    bits = np.array(value, np.float32 if type == "f32" else np.float64)
    return f"0x{bits.tobytes()[::-1].hex().upper()} : {type}"


def integer_cases(rng: np.random.Generator, type: str) -> list[Case]:
    cases: list[Case] = []
    for _ in range(COUNT):
        a, b = integer(rng, type), integer(rng, type)
        # Neither a division by zero nor one that overflows has a result.
        divisor = 3 if b in (0, -1) else b
        name = str(rng.choice([*INTEGER_OPERATIONS, *SHIFTS]))
        second = int(rng.integers(BITS[type])) if name in SHIFTS else divisor
        operands = [constant(a, type), constant(second, type)]
        cases.append(Case(f"arith.{name} %a, %b : {type}", operands, type))
        predicate = rng.choice(["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"])
        cases.append(Case(f"arith.cmpi {predicate}, %a, %b : {type}", operands, "i1"))
        function = rng.choice(BIT_FUNCTIONS)
        cases.append(Case(f"math.{function} %a : {type}", operands[:1], type))
    return cases


def float_cases(rng: np.random.Generator, type: str) -> list[Case]:
    cases: list[Case] = []
    for _ in range(COUNT):
        a, b, c = rng.standard_normal(3).tolist()
        b = float(rng.choice([b, a, 2.5]))
        operands = [constant(value, type) for value in (a, b, c)]
        name = rng.choice(FLOAT_OPERATIONS)
        cases.append(Case(f"arith.{name} %a, %b : {type}", operands[:2], type))
        cases.append(Case(f"math.fma %a, %b, %c : {type}", operands, type))
        cases.append(Case(f"arith.cmpf {rng.choice(FLOAT_PREDICATES)}, %a, %b : {type}",
                          operands[:2], "i1"))  # fmt: skip
        positive = [constant(abs(a) * 5, type)]
        cases.append(Case(f"math.{rng.choice(FLOAT_FUNCTIONS)} %a : {type}", positive, type))
    return cases


def cast_cases(rng: np.random.Generator, type: str) -> list[Case]:
    cases: list[Case] = []
    for _ in range(COUNT // 3):
        for whole in ("i8", "i16", "i32", "i64"):
            number = [constant(integer(rng, whole), whole)]
            small = [constant(float(rng.uniform(0, 100)), type)]
            for sign in "su":
                cases.append(Case(f"arith.{sign}itofp %a : {whole} to {type}", number, type))
                cases.append(Case(f"arith.fpto{sign}i %a : {type} to {whole}", small, whole))
                if whole != "i64":
                    cases.append(Case(f"arith.ext{sign}i %a : {whole} to i64", number, "i64"))
    wide = [constant(float(rng.standard_normal()), "f64")]
    return [*cases, Case("arith.truncf %a : f64 to f32", wide, "f32")]


def body_of(cases: list[Case]) -> str:
    """The operations, and %sum, which depends on every bit of every result."""
    lines = ["%factor = arith.constant 1000003 : i64", "%sum0 = arith.constant 1 : i64"]
    for number, case in enumerate(cases):
        text = re.sub(r"%([abc])\b", rf"%\g<1>{number}", case.text)
        for name, operand in zip("abc", case.operands, strict=False):
            lines.append(f"%{name}{number} = arith.constant {operand}")
        lines.append(f"%r{number} = {text}")
        bits, type = f"%r{number}", case.result
        if type.startswith("f"):
            type = type.replace("f", "i")
            lines.append(f"%bits{number} = arith.bitcast {bits} : {case.result} to {type}")
            bits = f"%bits{number}"
        if type != "i64":
            lines.append(f"%wide{number} = arith.extui {bits} : {type} to i64")
            bits = f"%wide{number}"
        lines.append(f"%scaled{number} = arith.muli %sum{number}, %factor : i64")
        lines.append(f"%sum{number + 1} = arith.addi %scaled{number}, {bits} : i64")
    return "\n".join(lines)


def computed_by_llvm(cases: list[Case]) -> int:
    text = f"func.func @main() -> i64 {{ {body_of(cases)}\n return %sum{len(cases)} : i64 }}"
    lowered = run_mlir_opt(text, *LOWERING)
    assert lowered.returncode == 0, lowered.stderr
    runner = llvm_tool("mlir-runner")
    done = subprocess.run(
        [runner, "-e", "main", "-entry-point-result=i64"],
        input=lowered.stdout, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return int(done.stdout)


def computed_here(cases: list[Case]) -> int:
    out = np.zeros(1, np.int64)
    run(
        kernel(
            "%out: memref<1xi64>",
            f"""{body_of(cases)}
            %zero = arith.constant 0 : index
            memref.store %sum{len(cases)}, %out[%zero] : memref<1xi64>""",
        ),
        out,
    )
    return int(out[0])


@pytest.mark.parametrize(
    ("make", "type"),
    [
        *((integer_cases, type) for type in ("i8", "i16", "i32", "i64")),
        *((make, type) for make in (float_cases, cast_cases) for type in ("f32", "f64")),
    ],
)
def test_llvm_computes_the_same(make: object, type: str) -> None:
    assert callable(make)
    cases = make(fresh_generator(), type)
    if computed_here(cases) != computed_by_llvm(cases):
        wrong = [case for case in cases if computed_here([case]) != computed_by_llvm([case])]
        pytest.fail("\n".join(map(str, wrong)))
