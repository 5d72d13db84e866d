"""Products, reductions and scans of vectors against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function, read

KINDS = {
    "f32": ("add", "mul", "minnumf", "maxnumf", "minimumf", "maximumf"),
    "i8": ("add", "mul", "minui", "minsi", "maxui", "maxsi", "and", "or", "xor"),
    "index": ("add", "xor"),
}

MATRICES = (
    "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, "
    "affine_map<(m, n, k) -> (m, n)>"
)
BATCHES = (
    "affine_map<(b, f, g, c) -> (c, b, f)>, affine_map<(b, f, g, c) -> (b, c, g)>, "
    "affine_map<(b, f, g, c) -> (b, g, f)>"
)
LINES = "affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>"
PPR = '["parallel", "parallel", "reduction"]'


def contraction(
    maps: str, iterators: str, types: tuple[str, str, str], kind: str = "", shown: str = ""
) -> str:
    """Returns a function with a contraction of three values of the types."""
    left, right, result = types
    return in_function(
        f"%a: {left}, %b: {right}, %c: {result}",
        f"%0 = vector.contract {{indexing_maps = [{maps}], iterator_types = {iterators}{kind}}} "
        f"%a, %b, %c{shown} : {left}, {right} into {result}",
    )


RIGHT = {
    "fma": in_function(
        "%a: vector<4x[8]xf32>, %b: vector<bf16>",
        "%0 = vector.fma %a, %a, %a : vector<4x[8]xf32>\n"
        "%1 = vector.fma %b, %b, %b {a} : vector<bf16>",
    ),
    "outerproduct": in_function(
        "%a: vector<4xf32>, %b: vector<6xf32>, %c: vector<4x6xf32>, %x: f32, %s: vector<[4]xf32>",
        "%0 = vector.outerproduct %a, %b : vector<4xf32>, vector<6xf32>\n"
        "%1 = vector.outerproduct %a, %b, %c : vector<4xf32>, vector<6xf32>\n"
        "%2 = vector.outerproduct %a, %b, %1 {a, kind = #vector.kind<maxnumf>} "
        ": vector<4xf32>, vector<6xf32>\n"
        "%3 = vector.outerproduct %a, %x, %a {kind = #vector.kind<mul>} : vector<4xf32>, f32\n"
        "%4 = vector.outerproduct %a, %s : vector<4xf32>, vector<[4]xf32>",
    ),
    "reduction": "".join(
        in_function(
            f"%v: vector<16x{element}>",
            "\n".join(
                f"%{i} = vector.reduction <{kind}>, %v : vector<16x{element}> into {element}"
                for i, kind in enumerate(kinds)
            ),
        ).replace("@f", f"@{element}")
        for element, kinds in KINDS.items()
    ),
    "reduction with more": in_function(
        "%v: vector<16xf32>, %s: vector<f32>, %x: f32",
        "%0 = vector.reduction <add>, %v, %x : vector<16xf32> into f32\n"
        "%1 = vector.reduction <mul>, %v fastmath<reassoc> {a} : vector<16xf32> into f32\n"
        "%2 = vector.reduction <maximumf>, %v, %0 fastmath<nnan,ninf> : vector<16xf32> into f32\n"
        "%3 = vector.reduction #vector.kind<add>, %s : vector<f32> into f32",
    ),
    "multi_reduction": in_function(
        "%v: vector<4x8x[16]xf32>, %w: vector<8xi32>, %a: vector<8xf32>, %n: i32",
        "%0 = vector.multi_reduction <add>, %v, %a [0, 2] : vector<4x8x[16]xf32> to vector<8xf32>\n"
        "%1 = vector.multi_reduction <maxsi>, %w, %n {a} [0] : vector<8xi32> to i32\n"
        "%2 = vector.multi_reduction #vector.kind<xor>, %w, %w [] : vector<8xi32> to vector<8xi32>",
    ),
    "scan": in_function(
        "%v: vector<4x8xi32>, %a: vector<8xi32>, %b: vector<4xi32>, %l: vector<3xf16>, "
        "%s: vector<f16>",
        "%0, %1 = vector.scan <add>, %v, %a {inclusive = true, reduction_dim = 0 : i64} "
        ": vector<4x8xi32>, vector<8xi32>\n"
        "%2, %3 = vector.scan <or>, %v, %b {a, inclusive = false, reduction_dim = 1 : i64} "
        ": vector<4x8xi32>, vector<4xi32>\n"
        "%4, %5 = vector.scan #vector.kind<mul>, %l, %s {inclusive = false, "
        "reduction_dim = 0 : i64} : vector<3xf16>, vector<f16>",
    ),
    "contract": contraction(
        MATRICES, PPR, ("vector<4x8xf16>", "vector<8x5xf16>", "vector<4x5xf32>")
    ),
    "contract of a kind": contraction(
        BATCHES,
        '["parallel", "parallel", "parallel", "reduction"]',
        ("vector<2x3x4xi8>", "vector<3x2x5xi8>", "vector<3x5x4xi32>"),
        kind=", kind = #vector.kind<maxsi>",
        shown=" {a}",
    ),
    "contract to a scalar": contraction(
        LINES, '["reduction"]', ("vector<7xf32>", "vector<7xf32>", "f32")
    ),
    "contract of scalable vectors": contraction(
        MATRICES, PPR, ("vector<4x8xf32>", "vector<8x[4]xf32>", "vector<4x[4]xf32>")
    ),
    "contract by an alias": (
        f"#maps = [{MATRICES}]\n#trait = {{indexing_maps = #maps, iterator_types = {PPR}}}\n"
    )
    + in_function(
        "%a: vector<4x8xf32>, %b: vector<8x4xf32>, %c: vector<4x4xf32>",
        "%0 = vector.contract #trait %a, %b, %c "
        ": vector<4x8xf32>, vector<8x4xf32>, vector<4x4xf32> into vector<4x4xf32>",
    ),
}

WRONG = {
    "fma of integers": (
        in_function("%a: vector<4xi32>", "%0 = vector.fma %a, %a, %a : vector<4xi32>"),
        "expected a vector of floats, got vector<4xi32>",
    ),
    "outerproduct of matrices": (
        in_function(
            "%a: vector<4x4xf32>, %b: vector<4xf32>",
            "%0 = vector.outerproduct %a, %b : vector<4x4xf32>, vector<4xf32>",
        ),
        "expected vectors of one dimension, got vector<4x4xf32> and vector<4xf32>",
    ),
    "outerproduct of other elements": (
        in_function(
            "%a: vector<4xf32>, %b: vector<4xi32>",
            "%0 = vector.outerproduct %a, %b : vector<4xf32>, vector<4xi32>",
        ),
        "the second operand must have elements of type f32, got vector<4xi32>",
    ),
    "outerproduct of a scalable and a fixed vector": (
        in_function(
            "%a: vector<[4]xf32>, %b: vector<4xf32>",
            "%0 = vector.outerproduct %a, %b : vector<[4]xf32>, vector<4xf32>",
        ),
        "both vectors or only the second may be scalable",
    ),
    "outerproduct of one operand": (
        in_function(
            "%a: vector<4xf32>", "%0 = vector.outerproduct %a : vector<4xf32>, vector<4xf32>"
        ),
        "expected 2 or 3 operands, got 1",
    ),
    "outerproduct of floats as bits": (
        in_function(
            "%a: vector<4xf32>, %c: vector<4x4xf32>",
            "%0 = vector.outerproduct %a, %a, %c {kind = #vector.kind<and>} "
            ": vector<4xf32>, vector<4xf32>",
        ),
        "<and> combines integers, got f32",
    ),
    "reduction of a matrix": (
        in_function(
            "%v: vector<4x4xf32>", "%0 = vector.reduction <add>, %v : vector<4x4xf32> into f32"
        ),
        "expected a vector of one dimension, got vector<4x4xf32>",
    ),
    "reduction of floats as bits": (
        in_function(
            "%v: vector<4xf32>", "%0 = vector.reduction <xor>, %v : vector<4xf32> into f32"
        ),
        "<xor> combines integers, got f32",
    ),
    "reduction of integers as floats": (
        in_function(
            "%v: vector<4xi32>", "%0 = vector.reduction <maxnumf>, %v : vector<4xi32> into i32"
        ),
        "<maxnumf> combines floats, got i32",
    ),
    "reduction to another type": (
        in_function(
            "%v: vector<4xf32>", "%0 = vector.reduction <add>, %v : vector<4xf32> into f16"
        ),
        "the result must be f32, but is f16",
    ),
    "reduction of an unknown kind": (
        in_function(
            "%v: vector<4xf32>", "%0 = vector.reduction <sum>, %v : vector<4xf32> into f32"
        ),
        "Expected `add`, `mul`",
    ),
    "multi_reduction to another shape": (
        in_function(
            "%v: vector<4x8xf32>, %a: vector<8xf32>",
            "%0 = vector.multi_reduction <add>, %v, %a [1] : vector<4x8xf32> to vector<8xf32>",
        ),
        "the result must be vector<4xf32>, but is vector<8xf32>",
    ),
    "scan along no dimension": (
        in_function(
            "%v: vector<4x8xi32>, %a: vector<8xi32>",
            "%0, %1 = vector.scan <add>, %v, %a {inclusive = true, reduction_dim = 2 : i64} "
            ": vector<4x8xi32>, vector<8xi32>",
        ),
        "the dimension must be from 0 to 1, got 2",
    ),
    "scan from another shape": (
        in_function(
            "%v: vector<4x8xi32>, %a: vector<8xi32>",
            "%0, %1 = vector.scan <add>, %v, %a {inclusive = true, reduction_dim = 1 : i64} "
            ": vector<4x8xi32>, vector<8xi32>",
        ),
        "the initial value must have the shape [4], got vector<8xi32>",
    ),
    "scan of integers as floats": (
        in_function(
            "%v: vector<4xi32>, %a: vector<i32>",
            "%0, %1 = vector.scan <minimumf>, %v, %a {inclusive = true, reduction_dim = 0 : i64} "
            ": vector<4xi32>, vector<i32>",
        ),
        "<minimumf> combines floats, got i32",
    ),
    "contract with two maps": (
        contraction(
            "affine_map<(k) -> (k)>, affine_map<(k) -> (k)>",
            '["reduction"]',
            ("vector<7xf32>", "vector<7xf32>", "f32"),
        ),
        "expected 3 indexing maps, got 2",
    ),
    "contract without maps": (
        in_function(
            "%a: vector<4xf32>, %c: f32",
            '%0 = vector.contract {iterator_types = ["reduction"]} %a, %a, %c '
            ": vector<4xf32>, vector<4xf32> into f32",
        ),
        "expected indexing_maps and iterator_types",
    ),
    "contract by unknown iterators": (
        contraction(LINES, '["window"]', ("vector<7xf32>", "vector<7xf32>", "f32")),
        'an iterator type is "parallel" or "reduction"',
    ),
    "contract with too few iterators": (
        contraction(
            MATRICES,
            '["parallel", "reduction"]',
            ("vector<4x8xf32>", "vector<8x5xf32>", "vector<4x5xf32>"),
        ),
        "the map of the first operand must have 2 dimensions, one for each iterator",
    ),
    "contract by a map with too few results": (
        contraction(
            "affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>",
            '["parallel", "reduction"]',
            ("vector<4x8xf32>", "vector<8xf32>", "vector<4xf32>"),
        ),
        "the map of the first operand must have 2 results",
    ),
    "contract by a map with a sum": (
        contraction(
            "affine_map<(m, k) -> (m + k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>",
            '["parallel", "reduction"]',
            ("vector<4xf32>", "vector<8xf32>", "vector<4xf32>"),
        ),
        "the results of the first operand's map must be different dimensions",
    ),
    "contract by a map with symbols": (
        contraction(
            "affine_map<(k)[s] -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>",
            '["reduction"]',
            ("vector<7xf32>", "vector<7xf32>", "f32"),
        ),
        "the map of the first operand must have no symbols",
    ),
    "contract of different sizes": (
        contraction(MATRICES, PPR, ("vector<4x8xf32>", "vector<9x5xf32>", "vector<4x5xf32>")),
        "iteration d2 has size 8, but 9 in the second operand",
    ),
    "contract to another shape": (
        contraction(MATRICES, PPR, ("vector<4x8xf32>", "vector<8x5xf32>", "vector<5x4xf32>")),
        "the accumulator must be vector<4x5xf32>, but is vector<5x4xf32>",
    ),
    "contract without a sum": (
        contraction(
            MATRICES,
            '["parallel", "parallel", "parallel"]',
            ("vector<4x8xf32>", "vector<8x5xf32>", "vector<4x5xf32>"),
        ),
        "both operands must have a reduction dimension in common",
    ),
    "contract of everything to a vector": (
        contraction(
            "affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> (k)>",
            '["reduction"]',
            ("vector<7xf32>", "vector<7xf32>", "vector<7xf32>"),
        ),
        "the accumulator of a contraction of all dimensions must be f32, but is vector<7xf32>",
    ),
    "contract of a part to a scalar": (
        contraction(
            "affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> ()>",
            '["parallel", "reduction"]',
            ("vector<4x8xf32>", "vector<8xf32>", "f32"),
        ),
        "the accumulator must be a vector, got f32",
    ),
    "contract with an iteration of no operand": (
        contraction(
            "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k)>, "
            "affine_map<(m, n, k) -> (m, n)>",
            PPR,
            ("vector<4x8xf32>", "vector<8xf32>", "vector<4x5xf32>"),
        ),
        "iteration d1 is a dimension of no operand",
    ),
    "contract of other elements": (
        contraction(MATRICES, PPR, ("vector<4x8xf32>", "vector<8x5xf16>", "vector<4x5xf32>")),
        "the second operand must have elements of type f32, got vector<8x5xf16>",
    ),
    "contract of signed integers": (
        contraction(LINES, '["reduction"]', ("vector<7xsi8>", "vector<7xsi8>", "i32")),
        "expected signless integers such as i32, got si8",
    ),
    "contract of integers as floats": (
        contraction(
            LINES,
            '["reduction"]',
            ("vector<7xi8>", "vector<7xi8>", "i32"),
            kind=", kind = #vector.kind<maxnumf>",
        ),
        "<maxnumf> combines floats, got i32",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    check_refusal(WRONG, name)


@pytest.mark.parametrize("dimensions", ["2", "0, 0", "-1"])
def test_dimensions_of_a_reduction_exist_once(dimensions: str) -> None:
    # mlir-opt does not look at them, and accepts what it cannot lower.
    rendered = read(
        in_function(
            "%v: vector<4x8xf32>, %a: vector<4x8xf32>",
            f"%0 = vector.multi_reduction <add>, %v, %a [{dimensions}] "
            ": vector<4x8xf32> to vector<4x8xf32>",
        )
    )
    assert isinstance(rendered, str)
    assert f"dimensions must be different and from 0 to 1, got [{dimensions}]" in rendered
