"""Linear layouts: from the numbers of registers, lanes and subgroups to the indices of a tensor.

Source: "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2" (2025);
Triton 3.8, `include/triton/Tools/LinearLayout.h`, whose names of operations differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xtile.layouts import bits

Image = tuple[int, ...]
"""An index in each output."""

UNITS = ("register", "lane", "subgroup", "block")
"""The inputs of layouts of values in registers, the innermost first; a block is a work-group."""


class LayoutError(ValueError):
    """What was asked of a layout is not defined; the message says why."""


@dataclass(frozen=True)
class LinearLayout:
    """A map from named inputs to named outputs, linear over bits.

    Each bit of an input has an image, an index in each output; the index of some numbers is the
    exclusive or of the images of their bits. All sizes are powers of two.

    `str` gives an input on each line, its bits with their images, and then the outputs' sizes:

        register 1 -> (0, 1), 2 -> (2, 0)
        lane 1 -> (1, 0)
        to dim0 < 4, dim1 < 2

    Attributes:
        inputs: The name of each input, and the images of its bits, the lowest bit first.
        outputs: The name and the size of each output.
    """

    inputs: tuple[tuple[str, tuple[Image, ...]], ...]
    outputs: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        for names in (self.input_names, self.output_names):
            if len(set(names)) < len(names):
                raise LayoutError(f"{', '.join(names)} are not all different")
        for name, size in self.outputs:
            log2(size, f"the size of {name}")
        for name, images in self.inputs:
            for image in images:
                self._check(name, image)

    def _check(self, name: str, image: Image) -> None:
        if len(image) != len(self.outputs):
            raise LayoutError(
                f"{name} has an image of {len(image)} indices; there are {len(self.outputs)} "
                "outputs"
            )
        for index, (output, size) in zip(image, self.outputs, strict=True):
            if not 0 <= index < size:
                raise LayoutError(f"{name} has the index {index} in {output}, whose size is {size}")

    @classmethod
    def of(
        cls, inputs: Mapping[str, Iterable[Sequence[int]]], outputs: Mapping[str, int]
    ) -> LinearLayout:
        """A layout from the images of each input's bits and each output's size.

        Raises:
            LayoutError: A size is no power of two, or an image is not inside.
        """
        images = ((name, tuple(map(tuple, given))) for name, given in inputs.items())
        return cls(tuple(images), tuple(outputs.items()))

    @classmethod
    def identity(cls, size: int, input: str, output: str) -> LinearLayout:
        """Number i of the input has index i."""
        return cls.strided(size, 1, input, output)

    @classmethod
    def strided(cls, size: int, stride: int, input: str, output: str) -> LinearLayout:
        """Number i of the input has index i * stride; both are powers of two."""
        log2(stride, "the stride")
        images = [(stride << bit,) for bit in range(log2(size, f"the size of {input}"))]
        return cls.of({input: images}, {output: size * stride if size > 1 else 1})

    @classmethod
    def zeros(cls, size: int, input: str, output: str, output_size: int = 1) -> LinearLayout:
        """Every number of the input has index 0: all hold the same (broadcast)."""
        return cls.of({input: [(0,)] * log2(size, f"the size of {input}")}, {output: output_size})

    @classmethod
    def empty(cls) -> LinearLayout:
        """The layout without inputs and outputs."""
        return cls((), ())

    # --- what there is ---

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs; the first varies fastest where they are numbered together."""
        return tuple(name for name, _ in self.inputs)

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of the outputs; the last varies fastest where they are numbered together."""
        return tuple(name for name, _ in self.outputs)

    @cached_property
    def _images(self) -> dict[str, tuple[Image, ...]]:
        return dict(self.inputs)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the outputs."""
        return tuple(size for _, size in self.outputs)

    def images(self, input: str) -> tuple[Image, ...]:
        """The images of the bits of an input; none if there is no such input."""
        return self._images.get(input, ())

    def size(self, input: str) -> int:
        """How many numbers an input has; 1 if there is no such input."""
        return 1 << len(self.images(input))

    def apply(self, **numbers: int) -> Image:
        """The index in each output of a number of each input; inputs not given are 0.

        Raises:
            LayoutError: There is no such input, or no such number.
        """
        index = (0,) * len(self.outputs)
        for name, number in numbers.items():
            images = self._images.get(name)
            if images is None:
                raise LayoutError(f"there is no input {name}, but {', '.join(self.input_names)}")
            if not 0 <= number < 1 << len(images):
                raise LayoutError(f"{name} is {number}; it has the numbers below {self.size(name)}")
            for bit, image in enumerate(images):
                if number >> bit & 1:
                    index = tuple(a ^ b for a, b in zip(index, image, strict=True))
        return index

    def __str__(self) -> str:
        lines = [
            f"{name} " + (", ".join(f"{1 << i} -> {x}" for i, x in enumerate(images)) or "0 only")
            for name, images in self.inputs
        ]
        sizes = ", ".join(f"{name} < {size}" for name, size in self.outputs)
        return "\n".join([*lines, f"to {sizes}"])

    # --- all bits in one row ---

    @property
    def vectors(self) -> dict[str, list[int]]:
        """The images of each input's bits, with the indices put together to one number."""
        return {name: [self.number_of(image) for image in images] for name, images in self.inputs}

    @property
    def columns(self) -> list[int]:
        """The images of all bits, those of the first input first, as in `vectors`."""
        return [vector for vectors in self.vectors.values() for vector in vectors]

    def columns_of(self, input: str) -> list[int]:
        """The images of an input's bits, as in `vectors`; none if there is no such input."""
        return self.vectors.get(input, [])

    @property
    def output_bits(self) -> int:
        """How many bits the numbers of `vectors` have."""
        return sum(log2(size) for size in self.shape)

    def number_of(self, image: Image) -> int:
        """An index in each output as one number; the last one varies fastest."""
        number = 0
        for index, size in zip(image, self.shape, strict=True):
            number = number * size + index
        return number

    def image_of(self, number: int) -> Image:
        """The index in each output that `number_of` puts together."""
        image: list[int] = []
        for size in reversed(self.shape):
            number, index = divmod(number, size)
            image.append(index)
        return tuple(reversed(image))

    # --- questions ---

    @property
    def is_surjective(self) -> bool:
        """Whether every index of the outputs is reached."""
        return bits.rank(self.columns) == self.output_bits

    @property
    def is_injective(self) -> bool:
        """Whether no two numbers of the inputs have the same index."""
        return bits.rank(self.columns) == len(self.columns)

    @property
    def free_variables(self) -> dict[str, int]:
        """For each input the bits whose images are sums of those of bits before them, as a mask.

        Numbers that differ in these bits only hold, after the other bits are adapted, the same.
        """
        span = bits.Span()
        return {
            name: sum(1 << bit for bit, vector in enumerate(vectors) if not span.add(vector))
            for name, vectors in self.vectors.items()
        }

    # --- layouts from layouts ---

    def __mul__(self, outer: LinearLayout) -> LinearLayout:
        """The direct sum: `outer` places copies of this layout next to each other.

        The bits of `outer` come behind those of this layout, in inputs and outputs of the same
        name.
        """
        sizes, outer_sizes = dict(self.outputs), dict(outer.outputs)
        names = list(dict.fromkeys((*self.output_names, *outer.output_names)))

        def widened(image: Image, own: tuple[str, ...], scale: Mapping[str, int]) -> Image:
            given = dict(zip(own, image, strict=True))
            return tuple(given.get(name, 0) * scale.get(name, 1) for name in names)

        inputs = {
            name: [
                *(widened(image, self.output_names, {}) for image in self.images(name)),
                *(widened(image, outer.output_names, sizes) for image in outer.images(name)),
            ]
            for name in dict.fromkeys((*self.input_names, *outer.input_names))
        }
        outputs = {name: sizes.get(name, 1) * outer_sizes.get(name, 1) for name in names}
        return LinearLayout.of(inputs, outputs)

    def then(self, following: LinearLayout) -> LinearLayout:
        """The composition: `following` takes what this layout gives, by name.

        Raises:
            LayoutError: The outputs here are not the inputs there.
        """
        given = {name: log2(size) for name, size in self.outputs}
        taken = {name: len(images) for name, images in following.inputs}
        if given != taken:
            raise LayoutError(
                f"a layout to {_sizes(self.outputs)} cannot be followed by one from "
                f"{_sizes((name, following.size(name)) for name in following.input_names)}"
            )

        def composed(image: Image) -> Image:
            return following.apply(**dict(zip(self.output_names, image, strict=True)))

        inputs = {name: [composed(image) for image in images] for name, images in self.inputs}
        return LinearLayout.of(inputs, dict(following.outputs))

    def inverse(self) -> LinearLayout:
        """The layout from indices back to numbers.

        Raises:
            LayoutError: Several numbers have the same index, or an index has none.
        """
        if not self.is_injective:
            raise LayoutError("several numbers have the same index; take the pseudo_inverse")
        return self.pseudo_inverse()

    def pseudo_inverse(self) -> LinearLayout:
        """The layout from indices to numbers that have them.

        Where several numbers do, bits are used that are independent of those before them.

        Raises:
            LayoutError: An index has no number.
        """
        if not self.is_surjective:
            raise LayoutError("not every index has a number, so there is no inverse")
        whole = LinearLayout.empty()
        for name, size in self.outputs:
            whole *= LinearLayout.identity(size, name, name)
        return whole.invert_and_compose(self)

    def invert_and_compose(self, source: LinearLayout) -> LinearLayout:
        """The layout from numbers here to numbers of `source` with the same index.

        So `self.invert_and_compose(source).then(source)` is this layout: it says where what is
        held here can be read. Where several numbers of `source` have the index, a bit is mapped to
        itself as far as it can be, with bits of the inputs before its own.

        Raises:
            LayoutError: The outputs differ, or an index has no number in `source`.
        """
        if self.outputs != source.outputs:
            raise LayoutError(
                f"a layout to {_sizes(self.outputs)} and one to {_sizes(source.outputs)} do not "
                "hold the same tensor"
            )
        search = _Search(source)
        inputs = {
            name: [search.numbers(name, bit, vector) for bit, vector in enumerate(vectors)]
            for name, vectors in self.vectors.items()
        }
        return LinearLayout.of(inputs, {name: source.size(name) for name in source.input_names})

    def restrict(self, *inputs: str) -> LinearLayout:
        """The layout of these inputs, where all others are 0."""
        return LinearLayout.of({name: self.images(name) for name in inputs}, dict(self.outputs))

    def project(self, *outputs: str) -> LinearLayout:
        """The layout to these outputs, in their order; the other indices are left out."""
        positions = [self.output_names.index(name) for name in outputs]
        inputs = {
            name: [tuple(image[position] for position in positions) for image in images]
            for name, images in self.inputs
        }
        return LinearLayout.of(
            inputs, {o: self.shape[p] for o, p in zip(outputs, positions, strict=True)}
        )

    def transpose(self, *outputs: str) -> LinearLayout:
        """The same layout with its outputs in another order.

        Raises:
            LayoutError: These are not all outputs.
        """
        if sorted(outputs) != sorted(self.output_names):
            raise LayoutError(f"{', '.join(outputs)} are not {', '.join(self.output_names)}")
        return self.project(*outputs)

    def reshape(self, outputs: Mapping[str, int]) -> LinearLayout:
        """The same elements under other indices, counted with the last index fastest.

        Raises:
            LayoutError: There are more or fewer elements.
        """
        target = LinearLayout((), tuple(outputs.items()))
        if target.output_bits != self.output_bits:
            raise LayoutError(
                f"{_sizes(self.outputs)} cannot be reshaped to {_sizes(target.outputs)}"
            )
        inputs = {
            name: [target.image_of(vector) for vector in vectors]
            for name, vectors in self.vectors.items()
        }
        return LinearLayout.of(inputs, outputs)

    def flatten(self, output: str = "index") -> LinearLayout:
        """The same elements under one index, counted with the last index fastest."""
        return self.reshape({output: 1 << self.output_bits})

    def reshape_inputs(self, inputs: Mapping[str, int]) -> LinearLayout:
        """The same layout with its bits under other inputs, counted with the first one fastest.

        Raises:
            LayoutError: There are more or fewer bits.
        """
        images = [image for _, given in self.inputs for image in given]
        counts = {name: log2(size, f"the size of {name}") for name, size in inputs.items()}
        if sum(counts.values()) != len(images):
            raise LayoutError(f"{len(images)} bits of inputs cannot be shared out to {counts}")
        rest = iter(images)
        shared = {name: [next(rest) for _ in range(count)] for name, count in counts.items()}
        return LinearLayout.of(shared, dict(self.outputs))

    def renamed(
        self, inputs: Mapping[str, str] | None = None, outputs: Mapping[str, str] | None = None
    ) -> LinearLayout:
        """The same layout with other names."""
        new_inputs, new_outputs = inputs or {}, outputs or {}
        return LinearLayout(
            tuple((new_inputs.get(name, name), images) for name, images in self.inputs),
            tuple((new_outputs.get(name, name), size) for name, size in self.outputs),
        )

    def divide_left(self, tile: LinearLayout) -> LinearLayout | None:
        """The layout that places copies of `tile`: `tile * result` is this one; None if none is."""
        if not set(tile.input_names) <= set(self.input_names):
            return None
        if not set(tile.output_names) <= set(self.output_names):
            return None
        scale = {name: dict(tile.outputs).get(name, 1) for name in self.output_names}
        outputs = {name: max(1, size // scale[name]) for name, size in self.outputs}
        inputs = {
            name: [
                tuple(index // scale[o] for o, index in zip(self.output_names, image, strict=True))
                for image in images[len(tile.images(name)) :]
            ]
            for name, images in self.inputs
        }
        result = LinearLayout.of(inputs, outputs)
        whole = tile * result
        fits = set(whole.output_names) == set(self.output_names)
        is_same = fits and whole.transpose(*self.output_names).reordered(*self.input_names) == self
        return result if is_same else None

    def reordered(self, *inputs: str) -> LinearLayout:
        """The same layout with its inputs in another order, and new ones without bits."""
        missing = set(self.input_names) - set(inputs)
        if missing:
            raise LayoutError(f"the inputs {', '.join(sorted(missing))} are left out")
        return self.restrict(*inputs)


class _Search:
    """Numbers of a layout that have a given index."""

    def __init__(self, source: LinearLayout) -> None:
        self._source = source
        self._columns = source.columns
        self._starts: dict[str, int] = {}
        start = 0
        for name, images in source.inputs:
            self._starts[name] = start
            start += len(images)
        self._all = bits.Span(self._columns)
        self._before = {
            name: bits.Span(self._columns[:start]) for name, start in self._starts.items()
        }

    def numbers(self, name: str, bit: int, vector: int) -> Image:
        """A number of each input, for the image of a bit of an input of another layout."""
        source = self._source
        combination: int | None = None
        if bit < len(source.images(name)):
            own = self._starts[name] + bit
            below = self._before[name].combination(vector ^ self._columns[own])
            combination = None if below is None else below | 1 << own
        if combination is None:
            combination = self._all.combination(vector)
        if combination is None:
            raise LayoutError(f"index {source.image_of(vector)} has no number")
        return tuple(
            combination >> self._starts[name] & ((1 << len(images)) - 1)
            for name, images in source.inputs
        )


def log2(size: int, what: str = "a size") -> int:
    """The number of bits that count so many.

    Raises:
        LayoutError: It is no power of two.
    """
    if size < 1 or size & (size - 1):
        raise LayoutError(f"{what} is {size}; it must be a power of two")
    return size.bit_length() - 1


def _sizes(sizes: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} < {size}" for name, size in sizes) or "nothing"
