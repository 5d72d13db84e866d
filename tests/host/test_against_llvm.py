"""What host code prints here and when LLVM compiles it is the same text, up to addresses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.host.programs import printed, program, without_addresses
from tests.mlir_opt import llvm_tool, run_mlir_opt

LOWERING = [
    "--convert-scf-to-cf",
    "--expand-strided-metadata",
    "--finalize-memref-to-llvm",
    "--convert-index-to-llvm",
    "--convert-arith-to-llvm",
    "--convert-func-to-llvm",
    "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts",
]

ELEMENTS = {
    "I8": ("i8", "97"),
    "I16": ("i16", "-300"),
    "I32": ("i32", "-70000"),
    "I64": ("i64", "-5000000000"),
    "Ind": ("index", "-1"),
    "F16": ("f16", "0.333"),
    "BF16": ("bf16", "-2.5e+20"),
    "F32": ("f32", "1234567.0"),
    "F64": ("f64", "1.0e-7"),
}

SHAPES = {"0": "", "1": "3x", "2": "2x3x", "3": "2x1x2x"}


def printed_by_llvm(text: str) -> str:
    lowered = run_mlir_opt(text, *LOWERING)
    assert lowered.returncode == 0, lowered.stderr
    runner = llvm_tool("mlir-runner")
    libraries = Path(runner).resolve().parent.parent / "lib"
    # The names without a version come with the package for developers.
    names = ("libmlir_runner_utils.so.22.1", "libmlir_c_runner_utils.so.22.1")
    done = subprocess.run(
        [
            *(runner, "-e", "main", "-entry-point-result=void"),
            *(f"-shared-libs={libraries / name}" for name in names),
        ],
        input=lowered.stdout,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def compare(body: str, around: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Checks that both print the same; returns it."""
    ours = without_addresses(printed(body, capsys, around))
    assert ours == without_addresses(printed_by_llvm(program(body, around)))
    return ours


def filled_and_printed(suffix: str, name: str, shape: str) -> str:
    """Fills a memref with a number, but for its first element, and prints it."""
    type, value = ELEMENTS[suffix]
    rank = shape.count("x")
    memref = f"memref<{shape}{type}>"
    lines = [f"%v{name} = arith.constant {value} : {type}", f"%m{name} = memref.alloc() : {memref}"]
    indices = [f"%i{name}_{dimension}" for dimension in range(rank)]
    for index, size in zip(indices, shape.split("x"), strict=False):
        lines.append(f"scf.for {index} = %c0 to %c{size} step %c1 {{")
    lines.append(f"memref.store %v{name}, %m{name}[{', '.join(indices)}] : {memref}")
    lines += ["}"] * rank
    zero = f"arith.constant 0{'.0' if 'f' in type else ''} : {type}"
    first = ", ".join(["%c0"] * rank)
    if rank:
        lines += [f"%z{name} = {zero}", f"memref.store %z{name}, %m{name}[{first}] : {memref}"]
    lines.append(f"%u{name} = memref.cast %m{name} : {memref} to memref<*x{type}>")
    lines.append(f"call @printMemref{suffix}(%u{name}) : (memref<*x{type}>) -> ()")
    return "\n".join(lines)


def test_memrefs_of_all_types_and_ranks(capsys: pytest.CaptureFixture[str]) -> None:
    body = [
        filled_and_printed(suffix, f"{suffix}{rank}", shape)
        for suffix in ELEMENTS
        # A character that is 0 ends no line, but hides the rest of it from a reader.
        for rank, shape in (SHAPES if suffix != "I8" else {"0": ""}).items()
    ]
    around = "\n".join(
        f"func.func private @printMemref{suffix}(memref<*x{type}>) "
        "attributes {llvm.emit_c_interface}"
        for suffix, (type, _) in ELEMENTS.items()
    )
    text = compare("\n".join(body), around, capsys)
    assert "[[0,   1.23457e+06,   1.23457e+06]" in text
    assert text.count("base@ = ?") == len(body)


def test_views_are_printed_with_offset_and_strides(capsys: pytest.CaptureFixture[str]) -> None:
    body = """
      %A = memref.alloc() : memref<4x16xf32>
      scf.for %i = %c0 to %c4 step %c1 {
        scf.for %j = %c0 to %c16 step %c1 {
          %ij = arith.muli %i, %j : index
          %n = index.casts %ij : index to i32
          %f = arith.sitofp %n : i32 to f32
          memref.store %f, %A[%i, %j] : memref<4x16xf32>
        }
      }
      %B = memref.subview %A[1, 2] [3, 4] [1, 3] : memref<4x16xf32>
        to memref<3x4xf32, strided<[16, 3], offset: 18>>
      %u = memref.cast %B : memref<3x4xf32, strided<[16, 3], offset: 18>> to memref<*xf32>
      call @printMemrefF32(%u) : (memref<*xf32>) -> ()
      call @printMemrefShapeF32(%u) : (memref<*xf32>) -> ()
    """
    around = """
      func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}
      func.func private @printMemrefShapeF32(memref<*xf32>) attributes {llvm.emit_c_interface}
    """
    text = compare(body, around, capsys)
    assert text.startswith(
        "Unranked Memref base@ = ? rank = 2 offset = 18 sizes = [3, 4] strides = [16, 3] data = \n"
        "[[2,   5,   8,   11], \n [4,   10,   16,   22], \n [6,   15,   24,   33]]\n"
    )


def test_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    body = """
      %a = arith.constant -7 : i64
      %b = arith.constant 0.1 : f32
      %c = arith.constant 0x7FF8000000000000 : f64
      %d = arith.constant 0xFF800000 : f32
      %e = arith.constant -1.5e+300 : f64
      call @printI64(%a) : (i64) -> ()
      call @printComma() : () -> ()
      call @printU64(%a) : (i64) -> ()
      call @printNewline() : () -> ()
      call @printOpen() : () -> ()
      call @printF32(%b) : (f32) -> ()
      call @printComma() : () -> ()
      call @printF64(%c) : (f64) -> ()
      call @printComma() : () -> ()
      call @printF32(%d) : (f32) -> ()
      call @printComma() : () -> ()
      call @printF64(%e) : (f64) -> ()
      call @printClose() : () -> ()
      call @printNewline() : () -> ()
    """
    names = {"I64": "i64", "U64": "i64", "F32": "f32", "F64": "f64"}
    around = "\n".join(
        [
            *(f"func.func private @print{name}({type})" for name, type in names.items()),
            *(
                f"func.func private @print{name}()"
                for name in ("Comma", "Newline", "Open", "Close")
            ),
        ]
    )
    text = compare(body, around, capsys)
    assert text == "-7, 18446744073709551609\n( 0.1, nan, -inf, -1.5e+300 )\n"


def test_verified_memrefs(capsys: pytest.CaptureFixture[str]) -> None:
    """Floats may differ by 1e-6 of what is expected, integers not at all."""
    body = """
      %A = memref.alloc() : memref<2x2xf32>
      %B = memref.alloc() : memref<2x2xf32>
      %one = arith.constant 1.0 : f32
      %near = arith.constant 1.0000005 : f32
      %far = arith.constant 1.00001 : f32
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %j = %c0 to %c2 step %c1 {
          memref.store %one, %A[%i, %j] : memref<2x2xf32>
          memref.store %one, %B[%i, %j] : memref<2x2xf32>
        }
      }
      memref.store %near, %A[%c0, %c1] : memref<2x2xf32>
      memref.store %far, %A[%c1, %c0] : memref<2x2xf32>
      %a = memref.cast %A : memref<2x2xf32> to memref<*xf32>
      %b = memref.cast %B : memref<2x2xf32> to memref<*xf32>
      %n = call @verifyMemRefF32(%a, %b) : (memref<*xf32>, memref<*xf32>) -> i64
      call @printI64(%n) : (i64) -> ()
    """
    around = """
      func.func private @verifyMemRefF32(memref<*xf32>, memref<*xf32>) -> i64
        attributes {llvm.emit_c_interface}
      func.func private @printI64(i64)
    """
    assert compare(body, around, capsys) == "1"


def test_recursion(capsys: pytest.CaptureFixture[str]) -> None:
    """Each call has values of its own, in functions that call each other too."""
    around = """
      func.func private @printI64(i64)
      func.func @other(%n: i64) -> i64 {
        %two = arith.constant 2 : i64
        %less = arith.subi %n, %two : i64
        %r = func.call @sum(%less) : (i64) -> i64
        %s = arith.addi %r, %n : i64
        return %s : i64
      }
      func.func @sum(%n: i64) -> i64 {
        %one = arith.constant 1 : i64
        %is_small = arith.cmpi slt, %n, %one : i64
        %r = scf.if %is_small -> i64 {
          scf.yield %one : i64
        } else {
          %less = arith.subi %n, %one : i64
          %a = func.call @sum(%less) : (i64) -> i64
          %b = func.call @other(%n) : (i64) -> i64
          %c = arith.muli %a, %n : i64
          %d = arith.addi %c, %b : i64
          scf.yield %d : i64
        }
        return %r : i64
      }
    """
    body = """
      %n = arith.constant 11 : i64
      %r = call @sum(%n) : (i64) -> i64
      call @printI64(%r) : (i64) -> ()
    """
    assert int(compare(body, around, capsys)) > 11
