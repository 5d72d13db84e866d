"""The functions of IMEX's runtime library, and how mistakes in calls are told."""

from __future__ import annotations

import re

import pytest

from tests.host.programs import PRINT_F32, print_f32, printed
from xtile.semantics.errors import ExecutionError

BITS = {"F16": "f16", "BF16": "bf16", "F32": "f32"}

FILL = "\n".join(
    f"func.func private @fillResource1D{suffix}(memref<*x{type}>, f32)"
    for suffix, type in BITS.items()
)

RANDOM = "\n".join(
    f"func.func private @fillResource1DRandom{suffix}(memref<*x{type}>, f32, f32, i1)"
    for suffix, type in BITS.items()
)

COMPARE = "\n".join(
    f"func.func private @printAllclose{suffix}(memref<*x{type}>, memref<*xf32>)\n"
    f"func.func private @printMaxError{suffix}(memref<*x{type}>, memref<*x{type}>)"
    for suffix, type in BITS.items()
)


def filled(name: str, shape: str, value: str, suffix: str = "F32") -> str:
    """Allocates a memref and fills it with one number."""
    type = BITS[suffix]
    return f"""
      %{name} = memref.alloc() : memref<{shape}x{type}>
      %any_{name} = memref.cast %{name} : memref<{shape}x{type}> to memref<*x{type}>
      %value_{name} = arith.constant {value} : f32
      call @fillResource1D{suffix}(%any_{name}, %value_{name}) : (memref<*x{type}>, f32) -> ()
    """


@pytest.mark.parametrize("suffix", BITS)
def test_a_product_is_added_to_what_is_there(
    suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    type = BITS[suffix]
    body = filled("A", "2x3", "1.5", suffix) + filled("B", "3x4", "-2.0", suffix)
    body += (
        filled("C", "2x4", "0.25")
        + f"""
      call @gemm{suffix}{suffix}F32(%any_A, %any_B, %any_C)
        : (memref<*x{type}>, memref<*x{type}>, memref<*xf32>) -> ()
      call @printMemrefF32(%any_C) : (memref<*xf32>) -> ()
    """
    )
    around = (
        f"{FILL}\n{PRINT_F32}\nfunc.func private @gemm{suffix}{suffix}F32"
        f"(memref<*x{type}>, memref<*x{type}>, memref<*xf32>)"
    )
    text = printed(body, capsys, around)
    assert text.endswith(
        "[[-8.75,   -8.75,   -8.75,   -8.75], \n [-8.75,   -8.75,   -8.75,   -8.75]]\n"
    )


def test_a_product_that_is_rounded_to_f16(capsys: pytest.CaptureFixture[str]) -> None:
    body = filled("A", "1x1", "1.0", "F16") + filled("B", "1x1", "1.0", "F16")
    # 2049 is no f16; the nearest ones are 2048 and 2050, and even is 2048.
    body += (
        filled("C", "1x1", "2048.0")
        + """
      call @gemmF16F16F16(%any_A, %any_B, %any_C)
        : (memref<*xf16>, memref<*xf16>, memref<*xf32>) -> ()
      call @printMemrefF32(%any_C) : (memref<*xf32>) -> ()
    """
    )
    around = (
        f"{FILL}\n{PRINT_F32}\n"
        "func.func private @gemmF16F16F16(memref<*xf16>, memref<*xf16>, memref<*xf32>)"
    )
    assert printed(body, capsys, around).endswith("[[2048]]\n")


@pytest.mark.parametrize(
    ("given", "expected", "answer"),
    [
        ("1.0", "1.0", "TRUE"),
        # 1e-4 + 1e-3 of what is expected
        ("1.0009", "1.0", "TRUE"),
        ("1.002", "1.0", "FALSE"),
        ("0.00009", "0.0", "TRUE"),
        ("0.0002", "0.0", "FALSE"),
        ("0x7F800000", "0x7F800000", "TRUE"),
        ("0x7FC00000", "1.0", "FALSE"),
        ("1.0", "0x7FC00000", "FALSE"),
    ],
)
def test_what_is_close(
    given: str, expected: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    body = filled("A", "2x3", given) + filled("B", "2x3", expected)
    body += "call @printAllcloseF32(%any_A, %any_B) : (memref<*xf32>, memref<*xf32>) -> ()"
    assert printed(body, capsys, f"{FILL}\n{COMPARE}") == f"[ALLCLOSE: {answer}]\n"


def test_the_largest_errors(capsys: pytest.CaptureFixture[str]) -> None:
    body = filled("A", "4", "2.0", "F16") + filled("B", "4", "2.0", "F16")
    body += """
      %far = arith.constant 3.0 : f16
      %small = arith.constant 0.5 : f16
      %large = arith.constant 100.0 : f16
      %larger = arith.constant 104.0 : f16
      memref.store %far, %A[%c1] : memref<4xf16>
      memref.store %small, %A[%c2] : memref<4xf16>
      memref.store %large, %A[%c3] : memref<4xf16>
      memref.store %larger, %B[%c3] : memref<4xf16>
      call @printMaxErrorF16(%any_A, %any_B) : (memref<*xf16>, memref<*xf16>) -> ()
      call @printMaxErrorF16(%any_A, %any_A) : (memref<*xf16>, memref<*xf16>) -> ()
    """
    assert printed(body, capsys, f"{FILL}\n{COMPARE}") == (
        "Max absolute error 4 at idx=3 (i=100, j=104)\n"
        "Max relative error 0.75 at idx=2 (i=0.5, j=2)\n"
        "Max absolute error 0 at idx=0 (i=inf, j=inf)\n"
        "Max relative error 0 at idx=0 (i=inf, j=inf)\n"
    )


def random_numbers(suffix: str, is_integer: bool) -> str:
    type = BITS[suffix]
    convert = "" if suffix == "F32" else f"%x = arith.extf %y : {type} to f32"
    loaded = "%x" if suffix == "F32" else "%y"
    return f"""
      %A = memref.alloc() : memref<1000x{type}>
      %n = arith.constant 1000 : index
      %any_R = memref.cast %A : memref<1000x{type}> to memref<*x{type}>
      %lower = arith.constant -4.0 : f32
      %upper = arith.constant 2.0 : f32
      %integer = arith.constant {str(is_integer).lower()}
      call @fillResource1DRandom{suffix}(%any_R, %lower, %upper, %integer)
        : (memref<*x{type}>, f32, f32, i1) -> ()
      %W = memref.alloc() : memref<1000xf32>
      scf.for %i = %c0 to %n step %c1 {{
        {loaded} = memref.load %A[%i] : memref<1000x{type}>
        {convert}
        memref.store %x, %W[%i] : memref<1000xf32>
      }}
    """ + print_f32("W", "memref<1000xf32>")


@pytest.mark.parametrize("suffix", BITS)
@pytest.mark.parametrize("is_integer", [False, True])
def test_random_numbers(suffix: str, is_integer: bool, capsys: pytest.CaptureFixture[str]) -> None:
    body = random_numbers(suffix, is_integer)
    text = printed(body, capsys, f"{RANDOM}\n{PRINT_F32}")
    numbers = [float(number) for number in re.findall(r"-?[\d.e-]+(?=,|\]$)", text.split("\n")[1])]
    assert len(numbers) == 1000
    assert -4 <= min(numbers) < -2.5
    assert (0.5 if is_integer else 1.5) < max(numbers) <= 2
    assert all(number == int(number) for number in numbers) == is_integer
    # The mean of 1000 numbers is within 0.4 of what is expected, but for less than 1 in 10^12.
    mean = -1 + (1 / 6 if is_integer else 0)
    assert abs(sum(numbers) / 1000 - mean) < 0.4


def test_random_numbers_follow_from_a_seed(capsys: pytest.CaptureFixture[str]) -> None:
    body, around = random_numbers("F32", False), f"{RANDOM}\n{PRINT_F32}"
    first = printed(body, capsys, around, seed=3)
    assert printed(body, capsys, around, seed=3) == first
    assert printed(body, capsys, around, seed=4) != first


def test_time_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    body = """
      %a = call @rtclock() : () -> f64
      %b = call @rtclock() : () -> f64
      %x = arith.cmpf ole, %a, %b : f64
      %n = call @nanoTime() : () -> i64
      %m = call @nanoTime() : () -> i64
      %y = arith.cmpi sle, %n, %m : i64
      %z = arith.andi %x, %y : i1
      %w = arith.extui %z : i1 to i64
      call @printI64(%w) : (i64) -> ()
    """
    around = """
      func.func private @rtclock() -> f64
      func.func private @nanoTime() -> i64
      func.func private @printI64(i64)
    """
    assert printed(body, capsys, around) == "1"


@pytest.mark.parametrize(
    ("declaration", "call", "message"),
    [
        (
            "func.func private @printMemRefF32(memref<*xf32>)",
            "call @printMemRefF32(%any_A) : (memref<*xf32>) -> ()",
            (
                "@printMemRefF32 has no body, and is no function of the runtime library; similar "
                "names: printMemrefF32, "
            ),
        ),
        (
            "func.func private @launchTheRocket()",
            "call @launchTheRocket() : () -> ()",
            "@launchTheRocket has no body, and is no function of the runtime library",
        ),
        (
            "func.func private @printMemrefF16(memref<*xf32>)",
            "call @printMemrefF16(%any_A) : (memref<*xf32>) -> ()",
            (
                "the runtime library's @printMemrefF16 is (memref<*xf16>) -> (), but is declared "
                "as (memref<*xf32>) -> ()"
            ),
        ),
        (
            "func.func private @gemmF32F32F32(memref<*xf32>, memref<*xf32>, memref<*xf32>)",
            (
                "call @gemmF32F32F32(%any_A, %any_A, %any_A) "
                ": (memref<*xf32>, memref<*xf32>, memref<*xf32>) -> ()"
            ),
            "matrices of the shapes ((2, 3), (2, 3), (2, 3)) do not fit together",
        ),
        (
            "func.func private @down(%n: index)",
            "call @down(%c4) : (index) -> ()",
            "@down has no body, and is no function of the runtime library",
        ),
        (
            "func.func @down() {\n func.call @down() : () -> ()\n return\n}",
            "call @down() : () -> ()",
            "@down calls itself more than 100 times",
        ),
    ],
)
def test_mistakes(
    declaration: str, call: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ExecutionError) as error:
        printed(filled("A", "2x3", "1.0") + call, capsys, f"{FILL}\n{declaration}")
    assert error.value.message.startswith(message)
    assert error.value.diagnostics[0].render().startswith("<text>:")
