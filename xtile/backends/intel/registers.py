"""How many registers a kernel needs, and what the driver is told about it.

A hardware thread of a GPU has twice as many registers where a kernel asks for them, but then there
are half as many threads to hide the time that memory takes.

Source: Intel's build option `-cl-intel-256-GRF-per-thread`; `xtile/targets/intel.py` has the
numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import FixedBitwidthType, IntegerType, VectorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.walk import walk
from xtile.targets.target import Target

MANY_REGISTERS_OPTION = "-cl-intel-256-GRF-per-thread"
"""What a driver is told to give a thread twice as many registers."""


_USABLE = 7 / 8
"""What part of the registers has numbers of lanes; the others have addresses and counters."""


def build_options(module: Operation, target: Target, lanes: int) -> str:
    """What a driver is told when it builds kernels.

    Args:
        module: The kernels as SPIR-V.
        target: What they are for.
        lanes: The largest subgroup size of the kernels.
    """
    bodies = [function.regions[0] for function in walk(module) if function.name == "spirv.func"]
    needed = lanes * max((most_alive(body) for body in bodies), default=0)
    most = target.registers * target.register_size * _USABLE
    return MANY_REGISTERS_OPTION if needed >= most else ""


def most_alive(body: Region) -> int:
    """The most bytes of a lane's numbers that are needed later, at any location of a function.

    Only vectors and floats count: what is counted in, and addresses, are mostly the same for all
    lanes, and take no location. Constants take none either.
    """
    sizes = _sizes(body)
    steps = {block: [_step(each, sizes) for each in block.ops] for block in body.blocks}
    ends = _alive_at_ends(steps)
    most = 0
    for block, own in steps.items():
        alive = set(ends[block])
        total = sum(sizes[value] for value in alive)
        most = max(most, total)
        for made, used in reversed(own):
            for value in made:
                if value in alive:
                    alive.remove(value)
                    total -= sizes[value]
            for value in used:
                if value not in alive:
                    alive.add(value)
                    total += sizes[value]
            most = max(most, total)
    return most


_Value: TypeAlias = int
"""The identity of a value: hashing values takes longer."""

_Step: TypeAlias = tuple[list[_Value], list[_Value]]
"""The values that an operation makes, and those that it uses, of those that count."""


def _step(operation: Operation, sizes: Mapping[_Value, int]) -> _Step:
    made, used = map(id, operation.results), map(id, operation.operands)
    return [each for each in made if each in sizes], [each for each in used if each in sizes]


def _sizes(body: Region) -> dict[_Value, int]:
    """The bytes of each value that counts."""
    of_types: dict[int, int] = {}
    sizes: dict[_Value, int] = {}
    for value in _values(body):
        type_ = value.type
        size = of_types.get(id(type_))
        if size is None:
            size = of_types[id(type_)] = _size(type_)
        if size:
            sizes[id(value)] = size
    return sizes


def _values(body: Region) -> Iterator[SSAValue]:
    """Every value that a function computes."""
    for block in body.blocks:
        yield from block.args
        for operation in block.ops:
            yield from operation.results


def _alive_at_ends(steps: Mapping[Block, Sequence[_Step]]) -> dict[Block, set[_Value]]:
    """Which of some values are needed after each block.

    This goes over the blocks until nothing changes.
    """
    blocks = list(steps)
    made = {
        block: {*map(id, block.args), *(value for results, _ in own for value in results)}
        for block, own in steps.items()
    }
    used = {block: {value for _, each in own for value in each} for block, own in steps.items()}
    starts: dict[Block, set[_Value]] = {block: set() for block in blocks}
    ends = dict(starts)
    is_changing = True
    while is_changing:
        is_changing = False
        for block in reversed(blocks):
            following = () if block.last_op is None else tuple(block.last_op.successors)
            ends[block] = set[_Value]().union(*(starts[other] for other in following))
            # In a block a value is made before it is used.
            start = (ends[block] | used[block]) - made[block]
            is_changing = is_changing or start != starts[block]
            starts[block] = start
    return ends


def _size(type_: Attribute) -> int:
    """Bytes of a lane's numbers; 0 for what does not count."""
    if isinstance(type_, VectorType):
        vector = cast("VectorType[Attribute]", type_)
        return cast(FixedBitwidthType, vector.element_type).size * vector.element_count()
    if isinstance(type_, FixedBitwidthType) and not isinstance(type_, IntegerType):
        return type_.size
    return 0
