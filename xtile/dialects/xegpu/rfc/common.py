"""What the readers of the RFC's operations share."""

from __future__ import annotations

from math import prod
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, VectorType, i64
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.xegpu.attributes import MEMORY_SPACE_NUMBERS, CachePolicy, CachePolicyAttr
from xtile.dialects.xegpu.constraints import memory_space_number
from xtile.dialects.xegpu.rfc.names import CACHE_HINTS, CACHE_POLICIES, MEMORY_SCOPE, MODE
from xtile.dialects.xegpu.rfc.operation_text import Given, OperationText
from xtile.dialects.xegpu.types import TensorDescType

Properties = dict[str, Attribute]
"""Properties or discardable attributes of an operation, by name."""

SIMT: Properties = {MODE: StringAttr("simt")}
"""What marks an operation on the fragments of work items."""


def take_mode(text: OperationText, descriptor: TensorDescType | None = None) -> str | None:
    """Takes the mode, `vc` or `simt`; None if the text gives none.

    Raises:
        ParseError: A descriptor with a `sg_map` is used in VC mode, which excludes each other.
    """
    given = text.attributes.get("mode")
    mode = text.take_keyword("mode", ("vc", "simt"))
    has_map = descriptor is not None and descriptor.layout_or_none is not None
    if mode == "vc" and has_map:
        text.error(
            "mode = vc excludes a sg_map: the vectors belong to the subgroup as a whole",
            None if given is None else given.position,
        )
    return mode


def take_hints(text: OperationText) -> Properties:
    """Takes the cache hints, which the RFC writes `L1`, `L1_hint` or `l1_hint`.

    Raises:
        ParseError: One has no such policy, or is given twice.
    """
    hints: Properties = {}
    for name in [name for name in text.attributes if name in CACHE_HINTS]:
        given = text.attributes.pop(name)
        if CACHE_HINTS[name] in hints:
            text.error(f"{given.name} is given twice; it may be given once", given.position)
        hints[CACHE_HINTS[name]] = _cache_policy(text, given)
    return hints


def leftover(text: OperationText) -> Properties:
    """Returns the attributes that nothing has taken, which the operation keeps as they are.

    Raises:
        ParseError: One is a bare keyword, which only known attributes can be.
    """
    rest: Properties = {}
    for given in text.attributes.values():
        if isinstance(given.value, str):
            text.error(f"{text.spelling} has no attribute '{given.name}'", given.position)
        rest[given.name] = given.value
    if text.unnamed:
        text.error(f"{text.unnamed[0]} stands here without a name")
    return rest


def result_type(text: OperationText, default: Attribute | None = None) -> Attribute:
    """Returns the type after the arrow.

    Raises:
        ParseError: There is none, and none is implied.
    """
    found = text.result_type or default
    if found is None:
        text.error(f"expected '->', 'into' or 'to' and the type of {text.spelling}'s result")
    return found


def vector_type(text: OperationText, type: Attribute) -> VectorType[Attribute]:
    """Returns a type that must be a vector.

    Raises:
        ParseError: It is something else.
    """
    if not isinstance(type, VectorType):
        text.error(f"{text.spelling} works on a vector, not on {type}")
    return cast("VectorType[Attribute]", type)


def simt(mode: str | None, value: Attribute, descriptor: TensorDescType) -> Properties:
    """Returns what marks an operation whose vector is a work item's fragment."""
    is_simt = mode == "simt" or (
        isinstance(value, VectorType)
        and is_fragment(cast("VectorType[Attribute]", value), descriptor)
    )
    return SIMT if is_simt else {}


def memory_scope(source: SSAValue, descriptor: TensorDescType) -> Properties:
    """Returns what marks a descriptor of another memory than its source's type says.

    LLVM 22 takes every address for one of global memory.
    """
    space = descriptor.memory_space
    if memory_space_number(source.type) == MEMORY_SPACE_NUMBERS[space]:
        return {}
    return {MEMORY_SCOPE: StringAttr(space)}


def integer_array(numbers: tuple[int, ...]) -> DenseArrayBase:
    """Returns numbers as `array<i64: ...>`."""
    return DenseArrayBase.from_list(i64, numbers)


def is_fragment(value: VectorType[Attribute], descriptor: TensorDescType) -> bool:
    """Whether a vector is what one work item owns of a block, by the descriptor's `sg_map`."""
    layout = descriptor.layout_or_none
    lanes = 1 if layout is None else prod(layout.effective_lane_layout)
    elements = descriptor.number_of_elements * descriptor.array_length
    return lanes > 1 and value.element_count() * lanes == elements


def _cache_policy(text: OperationText, given: Given) -> CachePolicyAttr:
    if isinstance(given.value, CachePolicyAttr):
        return given.value
    keyword = CACHE_POLICIES.get(given.keyword or "", given.keyword)
    if keyword not in list(CachePolicy):
        policies = ", ".join(CachePolicy)
        text.error(f"{given.name} must be one of {policies}", given.position)
    return CachePolicyAttr(CachePolicy(keyword))
