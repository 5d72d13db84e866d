"""The text of layouts in each release, what they mean, and what is refused."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Attribute
from xdsl.utils.exceptions import ParseError

from tests.samples import one_of
from tests.triton_releases.folders import releases
from tests.triton_releases.judges import NEWEST as NEWEST_TRITON
from tests.triton_releases.judges import judge
from xtile.dialects.triton.encodings import distributed, matrix_units, shared
from xtile.dialects.triton.encodings.encoding import DistributedEncodingAttr, EncodingAttr
from xtile.dialects.triton.encodings.shared import SwizzledSharedEncodingAttr
from xtile.dialects.triton.parser import TritonParser
from xtile.dialects.triton.printer import TritonPrinter
from xtile.dialects.triton.ttg.dialect import TTG
from xtile.dialects.triton.ttg.types import TYPES
from xtile.dialects.triton.versions import NEWEST, RELEASES, Release, parse_release
from xtile.layouts import triton
from xtile.text.source import Source

ATTRIBUTES = [*distributed.ATTRIBUTES, *matrix_units.ATTRIBUTES, *shared.ATTRIBUTES, *TYPES]

MFMA = "warpsPerCTA = [2, 2], instrShape = [32, 32"
BLOCKED = "sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]"

SPELLINGS: list[tuple[str, dict[str, str]]] = [
    ("blocked", {"3.4": f"#ttg.blocked<{{{BLOCKED}}}>"}),
    (
        "blocked with blocks",
        {
            "3.4": f"#ttg.blocked<{{{BLOCKED}, CTAsPerCGA = [4, 1], CTASplitNum = [2, 1], "
            "CTAOrder = [0, 1]}>",
            "3.6": f"#ttg.blocked<{{{BLOCKED}, CGALayout = [[1, 0], [0, 0]]}}>",
        },
    ),
    (
        "wmma",
        {
            "3.4": "#ttg.amd_wmma<{version = 2, isTranspose = true, warpsPerCTA = [2, 2]}>",
            "3.7": "#ttg.amd_wmma<{version = 2, isTranspose = true, "
            "ctaLayout = {warp = [[0, 1], [1, 0]]}}>",
        },
    ),
    (
        "wmma of one warp",
        {
            "3.4": "#ttg.amd_wmma<{version = 1, isTranspose = false, warpsPerCTA = [1, 1]}>",
            "3.7": "#ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {warp = []}}>",
        },
    ),
    (
        "wmma with a batch",
        {
            "3.4": "#ttg.amd_wmma<{version = 1, isTranspose = false, warpsPerCTA = [2, 1, 1]}>",
            "3.7": "#ttg.amd_wmma<{version = 1, rank = 3, isTranspose = false, "
            "ctaLayout = {warp = [[1, 0, 0]]}}>",
        },
    ),
    (
        "f64",
        {
            "3.5": "#ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [16, 16], "
            "isTransposed = true, elementType = f64}>",
        },
    ),
    (
        "padded",
        {"3.6": "#ttg.padded_shared<[512:+16, 64:+2] {order = [1, 0], shape = [64, 32]}>"},
    ),
    (
        "swizzled",
        {"3.4": "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>"},
    ),
    (
        "nvmma",
        {
            "3.4": "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, "
            "elementBitWidth = 8, fp4Padded = true}>",
        },
    ),
]
"""Layouts, and how they are written from a release on."""


def read(text: str) -> Attribute:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(TTG)
    parser = TritonParser(context, Source("layout", text))
    return parser.parse_type() if text.startswith("!") else parser.parse_attribute()


def encoding(text: str) -> EncodingAttr:
    attribute = read(text)
    assert isinstance(attribute, EncodingAttr)
    return attribute


def written(attribute: Attribute, release: Release = NEWEST) -> str:
    stream = StringIO()
    TritonPrinter(stream, release=release, has_aliases=False).print_attribute(attribute)
    return stream.getvalue()


def example(kind: type[Attribute]) -> str:
    """The text in the class's docstring, in one line."""
    found = re.search(r"```\n(.*?)```", kind.__doc__ or "", re.DOTALL)
    assert found is not None, kind
    return re.sub(r"\s*\n\s+", " ", found[1]).strip()


@pytest.mark.parametrize("kind", ATTRIBUTES)
def test_the_text_of_each_attribute_is_read_and_printed(kind: type[Attribute]) -> None:
    attribute = read(example(kind))
    assert type(attribute) is kind
    assert written(attribute) == example(kind)
    for release in RELEASES:
        lost = attribute.lost_in(release) if isinstance(attribute, EncodingAttr) else None
        if lost is None and release < NEWEST:
            again = read(written(attribute, release))
            assert written(again, release) == written(attribute, release)


@pytest.mark.parametrize(("name", "texts"), SPELLINGS)
def test_each_release_has_its_spelling(name: str, texts: dict[str, str]) -> None:
    layout = encoding(next(iter(texts.values())))
    text = None
    for release in RELEASES:
        text = texts.get(str(release), text)
        if text is not None and layout.lost_in(release) is None:
            assert written(layout, release) == text, name
            assert read(text) == layout, name


def test_the_version_of_mfma_in_3_4_is_the_version() -> None:
    old = encoding(
        f"#ttg.amd_mfma<{{versionMajor = 3, versionMinor = 0, {MFMA}], isTransposed = true}}>"
    )
    assert isinstance(old, matrix_units.AMDMfmaEncodingAttr)
    assert old.version.data == 3
    assert written(old, parse_release("3.5")) == (
        f"#ttg.amd_mfma<{{version = 3, {MFMA}], isTransposed = true}}>"
    )
    assert old.lost_in(parse_release("3.5")) is None
    assert "also needs K" in str(old.lost_in(parse_release("3.6")))


def test_three_numbers_are_two_before_3_6() -> None:
    new = encoding(f"#ttg.amd_mfma<{{version = 3, {MFMA}, 8], isTransposed = true}}>")
    assert written(new, parse_release("3.4")) == (
        f"#ttg.amd_mfma<{{versionMajor = 3, versionMinor = 0, {MFMA}], isTransposed = true}}>"
    )


@pytest.mark.parametrize(
    ("text", "release", "message"),
    [
        (
            (
                "#ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [16, 16, 4], "
                "isTransposed = true, elementBitWidth = 64}>"
            ),
            "3.4",
            "results have 32 bits",
        ),
        (
            (
                "#ttg.amd_wmma<{version = 3, isTranspose = true, ctaLayout = {warp = []}, "
                "instrShape = [16, 16, 32]}>"
            ),
            "3.5",
            "has versions 1 and 2 with 16x16x16",
        ),
        (
            (
                "#ttg.amd_wmma<{version = 2, isTranspose = true, "
                "ctaLayout = {warp = [[1, 0], [0, 1]]}}>"
            ),
            "3.6",
            "cannot be said with warpsPerCTA",
        ),
        (
            f"#ttg.blocked<{{{BLOCKED}, CGALayout = [[1, 0], [0, 1], [2, 0]]}}>",
            "3.5",
            "cannot be said with CTAsPerCGA",
        ),
        ("#ttg.padded_shared<[8:+2] {order = [0], shape = [8]}>", "3.4", "came in with Triton 3.5"),
        (
            "#ttg.padded_shared<[8:+2] {offset = [[2], [1], [4]], block = []}>",
            "3.5",
            "has the elements in order",
        ),
        ("#ttg.padded_shared<[8:+2] {order = [0]}>", "3.6", "the shape is not known"),
    ],
)
def test_what_a_release_cannot_say(text: str, release: str, message: str) -> None:
    lost = encoding(text).lost_in(parse_release(release))
    assert lost is not None
    assert message in lost


WRONG: list[tuple[str, str]] = [
    ("#ttg.blocked<{order = [0]}>", "sizePerThread is missing"),
    (f"#ttg.blocked<{{{BLOCKED}, color = 1}}>", "'color' is no key of this layout"),
    (f"#ttg.blocked<{{{BLOCKED}, order = [0, 1]}}>", "'order' is there twice"),
    (
        f"#ttg.blocked<{{{BLOCKED.replace('[1, 0]', '[1, 1]')}}}>",
        r"order is \[1, 1\]; it must name each of the dimensions 0 to 1 once",
    ),
    (
        f"#ttg.blocked<{{{BLOCKED.replace('[1, 4]', '[1, 3]')}}}>",
        r"sizePerThread is \[1, 3\]; these must be powers of two",
    ),
    (
        f"#ttg.blocked<{{{BLOCKED.replace('[1, 4]', '[4]')}}}>",
        "sizePerThread has 1, threadsPerWarp has 2",
    ),
    (f"#ttg.blocked<{{{BLOCKED}, CTAsPerCGA = [1, 1]}}>", "given together or not at all"),
    (f"#ttg.blocked<{{{BLOCKED}, CGALayout = [[3, 0]]}}>", "a power of two in one dimension"),
    (
        f"#ttg.amd_mfma<{{version = 0, {MFMA}, 8], isTransposed = true}}>",
        "there is no version 0 of MFMA",
    ),
    (
        (
            "#ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [8, 8, 8], "
            "isTransposed = true}>"
        ),
        "M and N are 32 and 32",
    ),
    (
        "#ttg.amd_wmma<{version = 1, ctaLayout = {warp = []}, instrShape = [16, 16, 32]}>",
        "version 1 has",
    ),
    (
        f"#ttg.dot_op<{{opIdx = 2, parent = #ttg.blocked<{{{BLOCKED}}}>}}>",
        "opIdx is 2; operands are 0 and 1",
    ),
    (
        f"#ttg.dot_op<{{opIdx = 1, kWidth = 2, parent = #ttg.blocked<{{{BLOCKED}}}>}}>",
        "kWidth is 2",
    ),
    (
        (
            "#ttg.dot_op<{opIdx = 1, kWidth = 2, parent = "
            "#ttg.amd_wmma<{version = 2, warpsPerCTA = [1, 1]}>}>"
        ),
        "it is 4, 8, 16",
    ),
    (
        (
            f"#ttg.dot_op<{{opIdx = 1, parent = #ttg.amd_mfma<{{version = 3, {MFMA}, 8], "
            "isTransposed = true}>}>"
        ),
        "kWidth is missing",
    ),
    (
        "#ttg.dot_op<{opIdx = 1, parent = #ttg.shared_memory}>",
        "expected a layout of results of products",
    ),
    (f"#ttg.slice<{{dim = 2, parent = #ttg.blocked<{{{BLOCKED}}}>}}>", "dim is 2; parent has"),
    ("#ttg.slice<{dim = 0, parent = #ttg.shared_memory}>", "expected a layout of values"),
    (
        "#ttg.linear<{register = [[0, 1]], lane = [[0, 1]], warp = [], block = []}>",
        "is the image of two bits",
    ),
    (
        "#ttg.linear<{register = [[0, 2]], lane = [], warp = [], block = []}>",
        "no bit's image is 1 in dimension 1",
    ),
    ("#ttg.linear<{register = [], lane = [], warp = [], block = []}>", "there is no image"),
    (
        "#ttg.generic_linear<{register = [[1, 1]], lane = [], warp = [], block = []}>",
        "only images of warps move in several dimensions",
    ),
    (
        "#ttg.generic_linear<{register = [], lane = [], warp = [[1, 1]], block = []}>",
        "some index has no number",
    ),
    ("#ttg.padded_shared<[3:+2] {order = [0], shape = [8]}>", "these must be powers of two"),
    ("#ttg.padded_shared<[] {order = [0], shape = [8]}>", "there is at least one"),
    ("#ttg.padded_shared<[4:+1] {offset = [[1], [0]], block = []}>", "an image of 0"),
    ("#ttg.shared_linear<{offset = [[1], [3]]}, alignment = 12>", "alignment is 12"),
    ("#ttg.shared_linear<{offset = [[1], [1]]}, alignment = 16>", "each index must be"),
    (
        (
            "#ttg.partitioned_shared<{numPartitions = 1, numGroups = 1, partitionDim = 0, "
            "partitionLayout = #ttg.padded_shared<[4:+1] {order = [0], shape = [8]}>}>"
        ),
        "numPartitions is 1",
    ),
    (
        "#ttg.nvmma_shared<{swizzlingByteWidth = 48, transposed = true, elementBitWidth = 8}>",
        "it is 0, 32, 64 or 128",
    ),
    (
        "!ttg.memdesc<8x8xf16, #ttg.shared_memory, #ttg.shared_memory>",
        "expected one of local memory",
    ),
]
"""Layouts that there are not, and what is said of them."""


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        read(text)


def _judged(release: str, attribute: str) -> bool:
    """Whether a release reads an attribute."""
    return judge(release, f"module attributes {{ttg.layout = {attribute}}} {{}}\n").accepted


@pytest.mark.parametrize("release", releases())
def test_tritons_read_the_layouts(release: str) -> None:
    version = parse_release(release)
    layouts = [read(example(kind)) for kind in ATTRIBUTES]
    layouts += [encoding(next(iter(texts.values()))) for _, texts in SPELLINGS]
    for layout in layouts:
        lost = layout.lost_in(version) if isinstance(layout, EncodingAttr) else None
        assert lost is not None or _judged(release, written(layout, version)), layout


TAKEN = {"there is no version 0 of MFMA"}
"""What Triton takes: it reads `versionMajor = 3` of 3.4 so."""


def test_triton_refuses_them_too() -> None:
    for text, message in one_of(2, WRONG):
        assert _judged(NEWEST_TRITON, text) == (message in TAKEN), text


SWIZZLED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        (f"<8x8xi4, {SWIZZLED}, #ttg.shared_memory>", "elements of 8 bits or more"),
        (f"<8x12xi8, {SWIZZLED}, #ttg.shared_memory>", "must be powers of two"),
        (f"<2x2x2x8xi8, {SWIZZLED}, #ttg.shared_memory>", "the view has one more before them"),
        (f"<8x8xi8, {SWIZZLED}, 1 : i32>", "needs #ttg.shared_memory"),
        (f"<8x8xi8, {SWIZZLED}, #ttg.shared_memory, 4x8>", "larger than what was allocated"),
        (f"<8x8xi8, {SWIZZLED}, #ttg.shared_memory, mutable, 8>", "at most as many"),
        (
            (
                "<8x8xi8, #ttg.padded_shared<[8:+4] {order = [1, 0], shape = [8, 16]}>, "
                "#ttg.shared_memory>"
            ),
            r"describes \[8, 16\], but \[8, 8\] was allocated",
        ),
    ],
)
def test_views_of_memory_that_are_refused(type_: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        read(f"!ttg.memdesc{type_}")


def test_a_view_tells_the_shape_of_padded_memory() -> None:
    old = "!ttg.memdesc<2x8x16xf16, #ttg.padded_shared<[16:+4] {order = [1, 0]%s}>, "
    end = "#ttg.shared_memory, mutable>"
    view = read(old % "" + end)
    assert view == read(old % ", shape = [8, 16]" + end)
    assert written(view, parse_release("3.5")) == old % "" + end
    assert written(view, parse_release("3.6")) == old % ", shape = [8, 16]" + end


@pytest.mark.parametrize(
    ("text", "shape", "expected"),
    [
        (
            f"#ttg.blocked<{{{BLOCKED}}}>",
            [64, 128],
            triton.Blocked([1, 4], [4, 16], [4, 1], [1, 0]),
        ),
        (
            f"#ttg.slice<{{dim = 0, parent = #ttg.blocked<{{{BLOCKED}}}>}}>",
            [128],
            triton.Slice(0, triton.Blocked([1, 4], [4, 16], [4, 1], [1, 0])),
        ),
        (
            (
                "#ttg.dot_op<{opIdx = 0, kWidth = 4, parent = #ttg.amd_mfma<{version = 3, "
                f"{MFMA}, 8], isTransposed = true}}>}}>"
            ),
            [128, 64],
            triton.DotOperand(0, triton.Mfma(3, [2, 2], [32, 32, 8], True), 4),
        ),
        (
            "#ttg.amd_wmma<{version = 2, isTranspose = true, warpsPerCTA = [2, 2]}>",
            [64, 64],
            triton.Wmma.of_warps(2, [2, 2], is_transposed=True),
        ),
    ],
)
def test_what_lanes_hold(text: str, shape: list[int], expected: triton.Sliced) -> None:
    layout = read(text)
    assert isinstance(layout, DistributedEncodingAttr)
    assert layout.layout(shape) == expected.layout(shape)


def test_linear_layouts_are_repeated_and_cut() -> None:
    text = (
        "#ttg.linear<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]], block = []}>"
    )
    layout = read(text)
    assert isinstance(layout, DistributedEncodingAttr)
    assert layout.layout([8, 8]).images("register") == ((0, 1), (0, 4), (4, 0))
    small = layout.layout([4, 1])
    assert small.images("register") == ()
    assert small.images("lane") == ((0, 0), (1, 0))


def test_rotating_memory_begins_blocks_with_other_phases() -> None:
    """The examples of Triton's description of `amd_rotating_shared`."""
    for per_phase, phase_count, rows in (
        (1, 2, [[0, 1, 2, 3], [5, 4, 7, 6], [9, 8, 11, 10], [12, 13, 14, 15]]),
        (2, 2, [[0, 1, 2, 3], [4, 5, 6, 7], [9, 8, 11, 10], [13, 12, 15, 14]]),
        (1, 4, [[0, 1, 2, 3], [5, 4, 7, 6], [10, 11, 8, 9], [15, 14, 13, 12]]),
    ):
        layout = shared.AMDRotatingSharedEncodingAttr(1, per_phase, phase_count, [1, 0])
        placed = layout.layout([8, 4])
        for row, numbers in enumerate(rows):
            found = [placed.apply(offset=row * 4 + column) for column in range(4)]
            assert [index[0] * 4 + index[1] for index in found] == numbers


def test_swizzled_memory() -> None:
    layout = SwizzledSharedEncodingAttr(1, 1, 4, [1, 0]).layout([4, 4])
    assert [layout.apply(offset=offset)[1] for offset in range(4, 8)] == [1, 0, 3, 2]
