"""Layouts whose counts are no powers of two: a linear layout, repeated by counts of any size.

Source of the notation: CuTe's layouts of shapes and strides (NVIDIA CUTLASS 3, "CuTe Layouts").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain, combinations, product
from math import prod
from typing import NamedTuple

from xtile.layouts.linear import Image, LayoutError, LinearLayout, log2


class Digit(NamedTuple):
    """A digit of a number: how many values it has, and how far one more moves each index."""

    size: int
    step: Image


class Step(NamedTuple):
    """So many numbers of an input follow each other in an output, at a distance.

    Attributes:
        size: How many.
        output: The output; None if all have the same index (broadcast).
        distance: The distance.
    """

    size: int
    output: str | None = None
    distance: int = 1


@dataclass(frozen=True)
class Layout:
    """A linear layout, and digits of any count that place copies of it next to each other.

    Of a number of an input, the lowest bits are those of the linear part, and the rest is written
    with the input's digits, the fastest first. The digits' steps add up to an outer index in each
    output, which counts in sizes of the linear part's.

    `str` gives the linear part, and then how many copies of it stand at which distance:

        register 0 only
        lane 1 -> (0, 1), 2 -> (0, 2)
        to dim0 < 1, dim1 < 4
        outer register 3 by (1, 0)
        to dim0 < 3, dim1 < 4

    Attributes:
        linear: The linear part.
        digits: The digits of each input of `linear`, in the order of its inputs; a step has the
            outer index in each output.
        counts: The number of outer indices of each output, in the order of `linear`'s outputs.
    """

    linear: LinearLayout
    digits: tuple[tuple[Digit, ...], ...]
    counts: tuple[int, ...]

    @classmethod
    def of(
        cls,
        linear: LinearLayout,
        digits: Mapping[str, Sequence[Digit]] | None = None,
        counts: Mapping[str, int] | None = None,
    ) -> Layout:
        """A layout from the digits of some inputs and the outer counts of some outputs."""
        given, sizes = digits or {}, counts or {}
        return cls(
            linear,
            tuple(tuple(given.get(name, ())) for name in linear.input_names),
            tuple(sizes.get(name, 1) for name in linear.output_names),
        )

    @classmethod
    def strided(cls, inputs: Mapping[str, Sequence[Step]], outputs: Mapping[str, int]) -> Layout:
        """The layout whose index is the sum of distances, as of an array with strides.

        As much of it as can be is linear.

        Args:
            inputs: The steps of each input, the fastest first.
            outputs: The size of each output.

        Raises:
            LayoutError: Two bits have the same distance in an output, so that sums carry.
        """
        return _split(inputs, outputs)

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return self.linear.input_names

    @property
    def outputs(self) -> tuple[tuple[str, int], ...]:
        """The name and the size of each output."""
        pairs = zip(self.linear.outputs, self.counts, strict=True)
        return tuple((name, size * count) for (name, size), count in pairs)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the outputs."""
        return tuple(size for _, size in self.outputs)

    @property
    def is_linear(self) -> bool:
        """Whether there are no digits."""
        return not any(self.digits) and set(self.counts) <= {1}

    def digits_of(self, input: str) -> tuple[Digit, ...]:
        """The digits of an input; none if there is no such input."""
        return self._digits.get(input, ())

    @cached_property
    def _digits(self) -> dict[str, tuple[Digit, ...]]:
        return dict(zip(self.input_names, self.digits, strict=True))

    def outer_size(self, input: str) -> int:
        """How many numbers the digits of an input write."""
        return prod(digit.size for digit in self.digits_of(input))

    def size(self, input: str) -> int:
        """How many numbers an input has; 1 if there is no such input."""
        return self.linear.size(input) * self.outer_size(input)

    def steps(self, input: str) -> tuple[Step, ...]:
        """The steps that make up an input, as `strided` takes them; those that count on are one.

        Raises:
            LayoutError: The layout is no sum of distances.
        """
        return self._steps[input]

    @cached_property
    def _steps(self) -> dict[str, tuple[Step, ...]]:
        if any(a & b for a, b in combinations(filter(None, self.linear.columns), 2)):
            raise LayoutError("indices are no sums of distances where bits have a part in common")
        return {name: tuple(self._steps_of(name)) for name in self.input_names}

    def _steps_of(self, input: str) -> Iterator[Step]:
        bits = [Digit(2, image) for image in self.linear.images(input)]
        digits = [
            Digit(size, tuple(a * b for a, b in zip(step, self.linear.shape, strict=True)))
            for size, step in self.digits_of(input)
        ]
        for size, image in _merged([*bits, *digits]):
            names = zip(self.linear.output_names, image, strict=True)
            moved = [name for name, distance in names if distance]
            if len(moved) > 1:
                raise LayoutError(f"a digit of {input} moves {' and '.join(moved)}")
            yield Step(size, moved[0], max(image)) if moved else Step(size)

    def apply(self, **numbers: int) -> Image:
        """The index in each output of a number of each input; inputs not given are 0.

        Raises:
            LayoutError: There is no such input, or no such number.
        """
        outer = (0,) * len(self.counts)
        rest: dict[str, int] = {}
        for name, number in numbers.items():
            if name in self.input_names and not 0 <= number < self.size(name):
                raise LayoutError(f"{name} is {number}; it has the numbers below {self.size(name)}")
            high, rest[name] = divmod(number, self.linear.size(name))
            if high:
                outer = _sum(outer, self.outer_image(name, high))
        inner = self.linear.apply(**rest)
        parts = zip(outer, self.linear.shape, inner, strict=True)
        return tuple(high * size + low for high, size, low in parts)

    def outer_image(self, input: str, number: int) -> Image:
        """The outer index in each output of a number that the digits of an input write."""
        image = (0,) * len(self.counts)
        for count, step in self.digits_of(input):
            number, digit = divmod(number, count)
            image = _sum(image, tuple(digit * distance for distance in step))
        return image

    def then(self, following: Layout) -> Layout:
        """The composition: `following` takes what this layout gives, by name.

        Raises:
            LayoutError: They cut the sizes into powers of two and the rest in different ways, or
                sums of steps here carry from digit to digit there.
        """
        for name, count in zip(self.linear.output_names, self.counts, strict=True):
            if count != following.outer_size(name):
                raise LayoutError(
                    f"{name} has {count} outer indices, but {following.outer_size(name)} are taken"
                )
        linear = self.linear.then(following.linear)
        digits = {
            name: [Digit(count, following.outer_sum(self, step)) for count, step in given]
            for name, given in zip(self.input_names, self.digits, strict=True)
        }
        counts = dict(zip(following.linear.output_names, following.counts, strict=True))
        result = Layout.of(linear, digits, counts)
        for numbers in product(*(range(self.outer_size(name)) for name in self.input_names)):
            pairs = list(zip(self.input_names, numbers, strict=True))
            mine = _sum_all(len(self.counts), (self.outer_image(*pair) for pair in pairs))
            made = _sum_all(len(counts), (result.outer_image(*pair) for pair in pairs))
            if following.outer_sum(self, mine) != made:
                raise LayoutError("steps of the first layout carry from digit to digit of the next")
        return result

    def outer_sum(self, before: Layout, index: Image) -> Image:
        """The outer index of an outer index in each output of the layout before."""
        names = before.linear.output_names
        images = (self.outer_image(name, i) for name, i in zip(names, index, strict=True))
        return _sum_all(len(self.counts), images)

    def inverse(self) -> Layout:
        """The layout from indices back to numbers.

        Raises:
            LayoutError: Several numbers have the same index, an index has none, or a digit is no
                digit of one index.
        """
        names = self.linear.output_names
        found: dict[str, list[tuple[int, Digit]]] = {name: [] for name in names}
        for position, given in enumerate(self.digits):
            weight = 1
            for count, step in given:
                moved = [output for output, distance in enumerate(step) if distance]
                if len(moved) != 1:
                    raise LayoutError("a digit that moves no index, or several, has no inverse")
                image = tuple(weight if i == position else 0 for i in range(len(self.digits)))
                found[names[moved[0]]].append((step[moved[0]], Digit(count, image)))
                weight *= count
        for name, count in zip(names, self.counts, strict=True):
            weight = 1
            for distance, digit in sorted(found[name]):
                if distance != weight:
                    raise LayoutError(f"the digits do not reach each outer index of {name} once")
                weight *= digit.size
            if weight != count:
                raise LayoutError(f"the digits reach {weight} of {count} outer indices of {name}")
        digits = {name: [digit for _, digit in sorted(found[name])] for name in names}
        counts = {name: self.outer_size(name) for name in self.input_names}
        return Layout.of(self.linear.inverse(), digits, counts)

    def __str__(self) -> str:
        if self.is_linear:
            return str(self.linear)

        def scaled(step: Image) -> Image:
            return tuple(a * b for a, b in zip(step, self.linear.shape, strict=True))

        lines = [
            f"outer {name} " + ", ".join(f"{size} by {scaled(step)}" for size, step in given)
            for name, given in zip(self.input_names, self.digits, strict=True)
            if given
        ]
        sizes = ", ".join(f"{name} < {size}" for name, size in self.outputs)
        return "\n".join([str(self.linear), *lines, f"to {sizes}"])


# --- sums of distances ---


def _split(inputs: Mapping[str, Sequence[Step]], outputs: Mapping[str, int]) -> Layout:
    """Cuts steps into bits, as far as they are, and digits."""
    steps = {name: _factored(given) for name, given in inputs.items()}
    # The linear size of an output is a divisor of the distances of all digits behind it.
    sizes = {name: size & -size for name, size in outputs.items()}
    while True:
        linear = {name: _leading_bits(given, sizes) for name, given in steps.items()}
        outer = [step for name, given in steps.items() for step in given[linear[name] :]]
        limits = {
            name: min([size, *(s.distance & -s.distance for s in outer if s.output == name)])
            for name, size in sizes.items()
        }
        if limits == sizes:
            break
        sizes = limits
    names = list(outputs)
    for name, size in outputs.items():
        reach = sum((s.size - 1) * s.distance for s in chain(*steps.values()) if s.output == name)
        if reach >= size:
            raise LayoutError(f"the index {reach} of {name} is reached, whose size is {size}")

    def image(step: Step, scale: Mapping[str, int]) -> Image:
        return tuple(step.distance // scale[n] if n == step.output else 0 for n in names)

    units = dict.fromkeys(names, 1)
    bits = {
        name: [image(step, units) for step in given[: linear[name]]]
        for name, given in steps.items()
    }
    moved = [image for images in bits.values() for image in images if any(image)]
    if len(set(moved)) < len(moved):
        raise LayoutError("two bits move an index by the same distance; give them different ones")
    digits = {
        name: _merged([Digit(step.size, image(step, sizes)) for step in given[linear[name] :]])
        for name, given in steps.items()
    }
    counts = {name: size // sizes[name] for name, size in outputs.items()}
    return Layout.of(LinearLayout.of(bits, sizes), digits, counts)


def _factored(steps: Sequence[Step]) -> list[Step]:
    """Steps of two each, and behind them what is left of a count that is no power of two.

    Steps that count on are taken together before, so that equal sums give equal layouts.
    """
    together: list[Step] = []
    for step in (step for step in steps if step.size > 1):
        last = together[-1] if together else None
        if (
            last
            and step.output == last.output
            and (step.output is None or step.distance == last.size * last.distance)
        ):
            together[-1] = last._replace(size=last.size * step.size)
        else:
            together.append(step)
    found: list[Step] = []
    for count, output, distance in together:
        power = count & -count
        found += [Step(2, output, distance << bit) for bit in range(log2(power))]
        if count > power:
            found.append(Step(count // power, output, distance * power))
    return found


def _leading_bits(steps: Sequence[Step], sizes: Mapping[str, int]) -> int:
    """How many of the first steps are bits of the linear part."""
    for position, (count, output, distance) in enumerate(steps):
        is_inside = output is None or (
            distance & (distance - 1) == 0 and 0 < distance < sizes[output]
        )
        if count != 2 or not is_inside:
            return position
    return len(steps)


def _merged(digits: Sequence[Digit]) -> list[Digit]:
    """Digits that count on are one digit."""
    result: list[Digit] = []
    for digit in digits:
        last = result[-1] if result else None
        if last and digit.step == tuple(last.size * distance for distance in last.step):
            result[-1] = Digit(last.size * digit.size, last.step)
        else:
            result.append(digit)
    return result


def _sum(left: Image, right: Image) -> Image:
    return tuple(a + b for a, b in zip(left, right, strict=True))


def _sum_all(rank: int, images: Iterable[Image]) -> Image:
    return reduce(_sum, images, (0,) * rank)
