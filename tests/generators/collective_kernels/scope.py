"""The values of a random kernel: constants, numbers, memory and views of it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

import numpy as np
from xdsl.ir import Attribute

from tests.generators.collective_kernels.kernel import Parameter, positions_of
from xtile.dialects.tensorlang.types import (
    COMPLEX_TYPES,
    DYNAMIC,
    FLOATING_TYPES,
    INDEX,
    MemrefType,
    type_text,
)

T = TypeVar("T")


@dataclass
class Root:
    """Memory: what a parameter points to in one work-group, or local memory.

    Attributes:
        size: How many elements it has.
        is_local: Whether it is local.
        is_ready: Whether all of it holds numbers, so that it may be read.
        is_shared: Whether several work-groups have it; they only read it, or update it once.
        is_read: Whether it has been read.
        is_updated: Whether it has been updated.
    """

    size: int
    is_local: bool = False
    is_ready: bool = True
    is_shared: bool = False
    is_read: bool = False
    is_updated: bool = False


@dataclass(frozen=True)
class View:
    """A memref.

    Attributes:
        name: Its name.
        type: Its type.
        shape: Its sizes at run time.
        strides: Its strides at run time.
        root: The memory that it is a part of.
        offset: The position of its first element; None if that is another one in each iteration.
    """

    name: str
    type: MemrefType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    root: Root
    offset: int | None = 0

    @property
    def element(self) -> Attribute:
        """The type of its elements."""
        return self.type.element_type

    def overlaps(self, other: View) -> bool:
        """Whether an element may be one of another view."""
        if self.root is not other.root:
            return False
        if self.offset is None or other.offset is None:
            return True
        mine = self.offset + positions_of(self.shape, self.strides)
        others = other.offset + positions_of(other.shape, other.strides)
        return bool(np.isin(mine, others).any())


@dataclass
class Scope:
    """What one kernel has in reach, and its lines.

    Attributes:
        random: The source of all choices.
        groups: The work-groups of the launch.
        dynamic: How likely a size is not known to the kernel.
        types: The types that memory has.
        sizes: The sizes that modes have.
        parameters: The parameters by name.
        constants: The constants by type and text.
        head: The lines before the body.
        lines: The lines of the body.
        views: The memrefs in reach until a region ends.
        counters: The variables of loops, and how often the loops turn.
        numbers: Numbers in reach, by type.
        depth: How many regions are around what comes next.
        names: How many names there are.
    """

    random: Random
    groups: int
    dynamic: float
    types: Sequence[Attribute]
    sizes: Sequence[int]
    parameters: dict[str, Parameter] = field(default_factory=dict[str, Parameter])
    constants: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    head: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])
    views: list[View] = field(default_factory=list[View])
    counters: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    numbers: dict[Attribute, list[str]] = field(default_factory=dict[Attribute, list[str]])
    depth: int = 0
    names: int = 0
    _everywhere: list[View] = field(default_factory=list[View])

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.random.random() < probability

    def choice(self, options: Sequence[T]) -> T:
        """One of the options."""
        return self.random.choice(options)

    def name(self, prefix: str = "v") -> str:
        """A new name."""
        self.names += 1
        return f"%{prefix}{self.names}"

    def emit(self, text: str, type: Attribute, prefix: str = "v") -> str:
        """Appends an instruction with a result; returns its name."""
        name = self.name(prefix)
        self.lines.append(f"{name} = {text} : {type_text(type)}")
        return name

    def parameter(self, parameter: Parameter, prefix: str) -> str:
        """A new parameter; returns its name."""
        name = self.name(prefix)
        self.parameters[name] = parameter
        return name

    def constant(self, type: Attribute, value: int | str) -> str:
        """A constant of a number type."""
        text = str(value)
        if type in FLOATING_TYPES:
            text = text if isinstance(value, str) else f"{value}.0"
        elif type in COMPLEX_TYPES:
            text = f"[{text}, 0.0]" if isinstance(value, str) else f"[{value}.0, 0.0]"
        key = type_text(type), text
        if key not in self.constants:
            name = self.constants[key] = self.name("c")
            self.head.append(f"{name} = constant {text} : {key[0]}")
        return self.constants[key]

    def index(self, value: int) -> str:
        """An index: a constant, or a parameter that the kernel does not know the value of."""
        if self.chance(0.7):
            return self.constant(INDEX, value)
        known = [n for n, p in self.parameters.items() if p.type == INDEX and p.value == value]
        return known[0] if known else self.parameter(Parameter(INDEX, value=value), "n")

    def see(self, view: View) -> View:
        """Brings a memref into reach."""
        self.views.append(view)
        return view

    @property
    def group_id(self) -> str:
        """The number of the work-group."""
        if "%group" not in self.constants.values():
            self.constants["group_id", ""] = "%group"
            self.head.append("%group = group_id.x : index")
        return "%group"

    def see_everywhere(self, view: View) -> View:
        """Brings a parameter into reach, also after the end of the region."""
        self._everywhere.append(view)
        return view

    @property
    def all_views(self) -> list[View]:
        """All memrefs in reach."""
        return self._everywhere + self.views

    def view(
        self,
        text: str,
        source: View,
        shape: Sequence[tuple[int, int]],
        strides: Sequence[tuple[int, int]],
        offset: int | None,
    ) -> View:
        """Appends an instruction that makes a view.

        Args:
            text: The instruction without its type.
            source: What it is a view of.
            shape: The size of each mode in the type, and at run time.
            strides: The same of the strides.
            offset: The position of its first element.
        """
        written: list[int] = []
        least = 1
        for (size, _), (stride, _) in zip(shape, strides, strict=True):
            # A type must not look as if modes overlapped.
            forgotten = stride == DYNAMIC or stride < least or self.chance(0.15)
            written.append(DYNAMIC if forgotten else stride)
            least = (least if forgotten else stride) * max(size, 1)
        sizes = [size for size, _ in shape]
        type_ = MemrefType.get(source.element, sizes, written, source.type.address_space)
        name = self.emit(text, type_, "m")
        run_time = tuple(n for _, n in shape), tuple(n for _, n in strides)
        return self.see(View(name, type_, *run_time, source.root, offset))

    @contextmanager
    def region(self) -> Generator[None]:
        """Whatever comes into reach in a region goes out of it at its end."""
        views, counters = len(self.views), len(self.counters)
        numbers = {type: len(names) for type, names in self.numbers.items()}
        ready = [view.root for view in self.all_views if not view.root.is_ready]
        self.depth += 1
        yield
        self.depth -= 1
        del self.views[views:], self.counters[counters:]
        for type, names in self.numbers.items():
            del names[numbers.get(type, 0) :]
        for root in ready:
            root.is_ready = False
