"""What kernels at tile level become for Triton: their text, and what is refused."""

from __future__ import annotations

import pytest

import xtile
from tests.transforms.distribute.kernels import printed, read
from tests.translate.core_to_cuda_tile.entries import tile_kernel
from xtile.targets import AMD, NVIDIA
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.translate.core_to_triton import translate_module


def lowered(parameters: str, body: str, chip: str = "gfx942") -> str:
    """The text of what a kernel becomes; it is read again."""
    chips = {**AMD.chips, **NVIDIA.chips}
    text = printed(translate_module(read(tile_kernel(parameters, body)), chips[chip]))
    assert printed(read(text)) == text
    return text


PRODUCT = """
    %zeros = arith.constant dense<0.0> : vector<{m}x{n}xf32>
    %c0 = arith.constant 0 : index
    %a = vector.load %A[%c0, %c0] : memref<{m}x{k}x{t}>, vector<{m}x{k}x{t}>
    %b = vector.load %B[%c0, %c0] : memref<{k}x{n}x{t}>, vector<{k}x{n}x{t}>
    {cast}
    %c = vector.contract {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}}
        %{f}a, %{f}b, %zeros
        : vector<{m}x{k}x{u}>, vector<{k}x{n}x{u}> into vector<{m}x{n}xf32>
    vector.store %c, %C[%c0, %c0] : memref<{m}x{n}xf32>, vector<{m}x{n}xf32>
"""


def product(m: int, n: int, k: int, type_: str, *, is_tf32: bool = False) -> str:
    """The text of what a product of matrices becomes."""
    cast = "\n".join(
        f"%t{name} = arith.truncf %{name} : vector<{shape}xf32> to vector<{shape}xtf32>"
        for name, shape in (("a", f"{m}x{k}"), ("b", f"{k}x{n}"))
    )
    values = {"m": m, "n": n, "k": k, "t": type_, "u": "tf32" if is_tf32 else type_}
    body = PRODUCT.format(cast=cast if is_tf32 else "", f="t" if is_tf32 else "", **values)
    sizes = f"%A: memref<{m}x{k}x{type_}>, %B: memref<{k}x{n}x{type_}>, %C: memref<{m}x{n}xf32>"
    return lowered(sizes, body)


@pytest.mark.parametrize(
    ("m", "n", "k", "type_", "wanted"),
    [
        (16, 32, 64, "f16", "tensor<16x64xf16> * tensor<64x32xf16> -> tensor<16x32xf32>"),
        (4, 8, 2, "bf16", "tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>"),
        (16, 16, 16, "f8E5M2", "tensor<16x32xf8E5M2> * tensor<32x16xf8E5M2>"),
    ],
)
def test_products_have_the_least_size(m: int, n: int, k: int, type_: str, wanted: str) -> None:
    text = product(m, n, k, type_)
    assert wanted in text
    assert "inputPrecision" not in text


def test_only_factors_of_tf32_are_multiplied_as_such() -> None:
    assert "inputPrecision = tf32" in product(16, 16, 16, "f32", is_tf32=True)
    assert "inputPrecision" not in product(16, 16, 16, "f32")


COPY = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant 0.0 : f32
    %v = vector.transfer_read %A[%c1, %c0], %z {in_bounds = [true]} : {type}, vector<8xf32>
    vector.transfer_write %v, %A[%c0, %c0] {in_bounds = [true]} : vector<8xf32>, {type}
"""


def copied(type_: str, promises: str = "") -> str:
    """The text of what a copy of a row of memory becomes."""
    return lowered(f"%A: {type_} {promises}", COPY.replace("{type}", type_))


def test_offsets_have_64_bits_unless_32_are_proved() -> None:
    dynamic = copied("memref<?x8xf32, strided<[?, 1]>>")
    assert "tt.addptr %A, %A_stride0 : !tt.ptr<f32>, i64" in dynamic
    assert "tt.pointer_range" not in dynamic
    assert "{tt.pointer_range = 32 : i32}" in copied("memref<4x8xf32>")
    # 2^29 rows of 32 bytes.
    assert "tt.pointer_range" not in copied("memref<536870912x8xf32>")


def test_alignment_is_told() -> None:
    text = copied("memref<4x8xf32>", "{core.alignment = 64 : i64}")
    assert "%A: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}" in text
    assert "tt.divisibility" not in copied("memref<4x8xf32>")


def test_functions_are_of_the_vendors_library() -> None:
    body = """
    %c0 = arith.constant 0 : index
    %v = vector.load %A[%c0] : memref<8xf32>, vector<8xf32>
    %t = math.tan %v : vector<8xf32>
    vector.store %t, %A[%c0] : memref<8xf32>, vector<8xf32>
    """
    assert 'libname = "ocml"' in lowered("%A: memref<8xf32>", body)
    assert 'symbol = "__ocml_tan_f32"' in lowered("%A: memref<8xf32>", body, "gfx1100")
    assert 'symbol = "__nv_tanf"' in lowered("%A: memref<8xf32>", body, "sm_90")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%m = memref.alloca() : memref<8xf32>", "memref.alloca cannot be translated to Triton"),
        (
            (
                "%z = arith.constant 0.0 : f32\n"
                '%y = arith.addf %z, %z {core.rounding = "upward"} : f32'
            ),
            "arith.addf with core.rounding cannot be translated to Triton",
        ),
        (
            "%z = arith.constant dense<0.0> : vector<8xf6E3M2FN>",
            "Triton has no tensors of f6E3M2FN",
        ),
        (
            "%z = arith.constant dense<1.0> : vector<8xf8E8M0FNU>",
            "constants of f8E8M0FNU have no form in Triton; load the scales",
        ),
        (
            (
                "%b = arith.constant dense<127> : vector<8xi8>\n"
                "%s = arith.bitcast %b : vector<8xi8> to vector<8xf8E8M0FNU>\n"
                "%z = arith.extf %s : vector<8xf8E8M0FNU> to vector<8xf32>"
            ),
            "Triton has no arithmetic on f8E8M0FNU; scales are those of core.scaled_contract",
        ),
        (
            (
                "%b = arith.constant dense<1> : vector<8x8xi8>\n"
                "%n = core.unpack %b axis 1 : vector<8x8xi8> -> vector<8x16xf4E2M1FN>\n"
                "%z = arith.extf %n : vector<8x16xf4E2M1FN> to vector<8x16xf32>"
            ),
            "Triton has no tensors of f4E2M1FN; only factors of core.scaled_contract are",
        ),
        (
            (
                "%a = arith.constant dense<1.0> : vector<32x32xf8E4M3FN>\n"
                "%c = arith.constant dense<1.0> : vector<32x32xf32>\n"
                "%b = arith.constant dense<127> : vector<32x2xi8>\n"
                "%s = arith.bitcast %b : vector<32x2xi8> to vector<32x2xf8E8M0FNU>\n"
                "%z = core.scaled_contract %a, %a, %c lhs_scale %s : vector<32x32xf8E4M3FN>, "
                "vector<32x32xf8E4M3FN>, vector<32x32xf32> lhs_scale vector<32x2xf8E8M0FNU> "
                "-> vector<32x32xf32>"
            ),
            "in Triton 32 factors share a scale of f8E8M0FNU, and not 16 one of f8E8M0FNU",
        ),
    ],
)
def test_refused(body: str, message: str) -> None:
    with pytest.raises(DiagnosticError, match=rf"\d+\.\d+.*error: {message}"):
        lowered("%A: memref<8xf32>", body)


def test_a_second_kernel_of_a_module_is_remarked() -> None:
    body = "func @f(%A: memref<f32x8>) {\n}\nfunc @g(%A: memref<f32x8>) {\n}\n"
    diagnostics = Diagnostics()
    xtile.translate(
        xtile.parse(body, language="tensorlang"), "triton", chip="gfx942", diagnostics=diagnostics
    )
    assert "Triton compiles one kernel of a module" in diagnostics.render()


ROWS = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = vector.load %A[%c0, %c0] : memref<4x8xf32>, vector<8xf32>
    %w = arith.addf %v, %v : vector<8xf32>
    vector.store {value}, {memory}[{row}, %c0] : memref<4x8xf32>, vector<8xf32>
    {more}
"""

AGAIN = """%x = vector.load {0}[%c0, %c0] : memref<4x8xf32>, vector<8xf32>
    vector.store %x, %B[%c0, %c0] : memref<4x8xf32>, vector<8xf32>"""


@pytest.mark.parametrize(
    ("value", "memory", "row", "more", "count"),
    [
        # Each thread writes what it read, or other memory.
        ("%w", "%A", "%c0", "", 0),
        ("%w", "%B", "%c0", "", 0),
        # What is written is not computed of what was read, or is elsewhere.
        ("%u", "%A", "%c0", "", 1),
        ("%w", "%A", "%c1", "", 1),
        # What was written is read.
        ("%w", "%A", "%c0", AGAIN.format("%A"), 1),
        ("%w", "%B", "%c0", AGAIN.format("%A"), 1),
    ],
)
def test_threads_wait_for_each_other(
    value: str, memory: str, row: str, more: str, count: int
) -> None:
    body = ROWS.format(value=value, memory=memory, row=row, more=more)
    text = lowered(
        "%A: memref<4x8xf32>, %B: memref<4x8xf32>",
        "%u = arith.constant dense<1.0> : vector<8xf32>" + body,
    )
    assert text.count("gpu.barrier") == count


@pytest.mark.parametrize(("attributes", "count"), [("", 1), (" {core.independent}", 0)])
def test_iterations_wait_for_each_other_unless_they_are_independent(
    attributes: str, count: int
) -> None:
    body = f"""
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {{
      %v = vector.load %A[%i, %c0] : memref<4x8xf32>, vector<8xf32>
      vector.store %v, %A[%i, %c0] : memref<4x8xf32>, vector<8xf32>
    }}{attributes}
    """
    assert lowered("%A: memref<4x8xf32>", body).count("gpu.barrier") == count


def test_bf16_becomes_f64_by_way_of_f32() -> None:
    """Of both steps at once Triton dies where it compiles for AMD's chips."""
    text = lowered(
        "%A: memref<8xbf16>, %B: memref<8xf64>",
        """
        %c0 = arith.constant 0 : index
        %a = vector.load %A[%c0] : memref<8xbf16>, vector<8xbf16>
        %b = arith.extf %a : vector<8xbf16> to vector<8xf64>
        vector.store %b, %B[%c0] : memref<8xf64>, vector<8xf64>
        """,
    )
    assert text.count("arith.extf") == 2
    assert "tensor<8xbf16> to tensor<8xf32>" in text
    assert "tensor<8xf32> to tensor<8xf64>" in text


VARIABLE = 'memref.global "private" constant @numbers : memref<4xf32> = dense<1.0>'


def with_variable(kernel: str, *, of_device: bool) -> str:
    """A module with a kernel, and a variable of the device or of the host."""
    module = "gpu.module @"
    assert kernel.count(module) == 1
    begin = kernel.index("{", kernel.index(module)) + 1 if of_device else kernel.index(module)
    return f"{kernel[:begin]}\n{VARIABLE}\n{kernel[begin:]}"


TO_A = """
    %c0 = arith.constant 0 : index
    %v = vector.load {memory}[%c0] : memref<4xf32>, vector<4xf32>
    vector.store %v, %A[%c0] : memref<4xf32>, vector<4xf32>
"""


def test_variables_of_the_host_are_left_out() -> None:
    kernel = tile_kernel("%A: memref<4xf32>", TO_A.format(memory="%A"))
    chip = NVIDIA.chips["sm_90"]
    expected, text = (
        printed(translate_module(read(each), chip))
        for each in (kernel, with_variable(kernel, of_device=False))
    )
    assert "tt.store" in expected
    assert text == expected


def test_a_kernel_that_uses_a_variable_is_refused_where_it_does() -> None:
    body = "%g = memref.get_global @numbers : memref<4xf32>" + TO_A.format(memory="%g")
    kernel = with_variable(tile_kernel("%A: memref<4xf32>", body), of_device=True)
    with pytest.raises(DiagnosticError, match="@numbers cannot be translated to Triton, which has"):
        translate_module(read(kernel), NVIDIA.chips["sm_90"])
