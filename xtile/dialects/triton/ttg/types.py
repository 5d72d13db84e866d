"""The types of `ttg`.

Source: Triton 3.9, `TritonGPUTypes.td`, `lib/Dialect/TritonGPU/IR/Types.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import BoolAttr, FixedBitwidthType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import check_parameters
from xtile.dialects.triton.encodings.encoding import (
    Numbers,
    NumbersAttr,
    SharedEncodingAttr,
    is_power_of_two,
    numbers,
)
from xtile.dialects.triton.encodings.shared import (
    PaddedSharedEncodingAttr,
    SharedLinearEncodingAttr,
    SharedMemorySpaceAttr,
)
from xtile.dialects.triton.tt.types import PointerType


@irdl_attr_definition
class AsyncTokenType(ParametrizedAttribute, TypeAttribute):
    """What orders asynchronous operations.

    ```
    !ttg.async.token
    ```
    """

    name = "ttg.async.token"


@irdl_attr_definition
class MemDescType(ParametrizedAttribute, TypeAttribute):
    """A view of local memory.

    Memory that is not mutable is written once, where it is allocated. `alloc_shape` is the shape of
    what was allocated; a part of it has fewer elements, or fewer dimensions.

    ```
    !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1,
      order = [1, 0]}>, #ttg.shared_memory, mutable, 2x64x32>
    ```
    """

    name = "ttg.memdesc"

    sizes: NumbersAttr
    element_type: Attribute
    encoding: Attribute
    memory_space: Attribute
    mutable_memory: BoolAttr
    alloc_sizes: NumbersAttr

    def __init__(
        self,
        shape: Sequence[int],
        element_type: Attribute,
        encoding: Attribute,
        memory_space: Attribute | None = None,
        *,
        mutable: bool = False,
        alloc_shape: Sequence[int] | None = None,
    ) -> None:
        whole = shape if alloc_shape is None else alloc_shape
        super().__init__(
            numbers(shape),
            element_type,
            _completed(encoding, whole),
            memory_space or SharedMemorySpaceAttr(),
            BoolAttr.from_bool(mutable),
            numbers(whole),
        )

    def get_shape(self) -> Numbers:
        """The shape of what is seen."""
        return self.sizes.data

    @property
    def alloc_shape(self) -> Numbers:
        """The shape of what was allocated."""
        return self.alloc_sizes.data

    @property
    def is_mutable(self) -> bool:
        """Whether it may be written after it is allocated."""
        return bool(self.mutable_memory.value.data)

    @property
    def layout_shape(self) -> Numbers:
        """The shape that the layout describes, without the dimension of copies before it."""
        return _of_layout(self.encoding, self.get_shape())

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        with parser.in_angle_brackets():
            shape, element = parser.parse_ranked_shape()
            parser.parse_punctuation(",")
            encoding = parser.parse_attribute()
            parser.parse_punctuation(",")
            space = parser.parse_attribute()
            mutable, alloc = False, tuple(shape)
            if parser.parse_optional_punctuation(",") is not None:
                mutable = parser.parse_optional_keyword("mutable") is not None
                if not mutable or parser.parse_optional_punctuation(",") is not None:
                    alloc = tuple(parser.parse_dimension_list())
        encoding = _completed(encoding, alloc)
        parameters = (
            numbers(shape),
            element,
            encoding,
            space,
            BoolAttr.from_bool(mutable),
            numbers(alloc),
        )
        return check_parameters(parser, start, cls, parameters)

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("".join(f"{size}x" for size in self.get_shape()))
            for separator, attribute in zip(
                ("", ", ", ", "), (self.element_type, self.encoding, self.memory_space), strict=True
            ):
                printer.print_string(separator)
                printer.print_attribute(attribute)
            if self.is_mutable:
                printer.print_string(", mutable")
            if self.alloc_shape != self.get_shape():
                printer.print_string(", " + "x".join(map(str, self.alloc_shape)))

    @override
    def verify(self) -> None:
        shape, whole = self.get_shape(), self.alloc_shape
        if not shape:
            raise VerifyException("a view of local memory has at least one dimension")
        _verify_element(self.element_type)
        if len(whole) < len(shape):
            raise VerifyException(
                f"{list(whole)} was allocated, but the view has {len(shape)} dimensions; it has "
                "at most "
                "as many as what was allocated"
            )
        if not isinstance(self.encoding, SharedEncodingAttr):
            _verify_foreign(self.encoding)
            return
        if self.encoding.rank not in (len(shape), len(shape) - 1):
            raise VerifyException(
                f"the layout has {self.encoding.rank} dimensions and the view {len(shape)}; they "
                "have as "
                "many, or the view has one more before them"
            )
        for sizes in (shape, whole):
            if not all(map(is_power_of_two, _of_layout(self.encoding, sizes))) or 0 in sizes:
                raise VerifyException(
                    f"the sizes are {list(sizes)}; those that the layout describes must be "
                    "powers of two"
                )
        if any(size > of for size, of in zip(shape, whole[len(whole) - len(shape) :], strict=True)):
            raise VerifyException(
                f"the view has {list(shape)} of {list(whole)}; it cannot be larger than what was "
                "allocated"
            )
        if not isinstance(self.memory_space, SharedMemorySpaceAttr):
            raise VerifyException(
                f"the memory is {self.memory_space}; a layout of local memory needs "
                "#ttg.shared_memory"
            )
        self._verify_extent()

    def _verify_extent(self) -> None:
        """Checks that a layout that is given by images describes all that was allocated."""
        if isinstance(self.encoding, PaddedSharedEncodingAttr | SharedLinearEncodingAttr):
            whole = _of_layout(self.encoding, self.alloc_shape)
            if self.encoding.shape != whole:
                raise VerifyException(
                    f"the layout describes {list(self.encoding.shape)}, but {list(whole)} was "
                    "allocated"
                )


def _of_layout(encoding: Attribute, sizes: Numbers) -> Numbers:
    """The sizes that a layout describes, without the dimension of copies before them."""
    rank = encoding.rank if isinstance(encoding, SharedEncodingAttr) else len(sizes)
    return sizes[len(sizes) - rank :]


def _completed(encoding: Attribute, whole: Sequence[int]) -> Attribute:
    """The layout of what was allocated, where the text gives an order only."""
    if isinstance(encoding, PaddedSharedEncodingAttr) and encoding.rank <= len(whole):
        return encoding.completed(_of_layout(encoding, tuple(whole)))
    return encoding


def _verify_element(element: Attribute) -> None:
    bits = 64 if isinstance(element, PointerType) else 0
    if isinstance(element, FixedBitwidthType):
        bits = element.bitwidth
    if bits != 1 and bits < 8:
        raise VerifyException(
            f"elements are {element}; local memory has i1, and elements of 8 bits or more"
        )


def _verify_foreign(encoding: Attribute) -> None:
    """Takes layouts of memory that only NVIDIA's GPUs have as they are."""
    if not encoding.name.startswith("ttng."):
        raise VerifyException(f"the layout is {encoding}; expected one of local memory")


TYPES: list[type[TypeAttribute]] = [AsyncTokenType, MemDescType]
"""Every type of the dialect."""
