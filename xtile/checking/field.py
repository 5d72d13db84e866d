"""The comparison of a kernel with its port on exact numbers, which has no tolerance.

Source: docs/field.md.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from xtile.arguments.binding import bind
from xtile.arguments.copies import arrays_of, copied
from xtile.arguments.errors import ArgumentError, DeviceError, UnfitDeviceError, UnfitLaunchError
from xtile.checking.results import Comparison, Verdict
from xtile.checking.trials import Trial
from xtile.launch.executable import FIELD_NAME, Grid, Kernel, Launch
from xtile.launch.field import load_for_field
from xtile.launch.run import checked_sizes
from xtile.semantics.field.arrays import agree as numbers_agree
from xtile.semantics.field.arrays import states
from xtile.semantics.field.launch import FieldInterpretation
from xtile.semantics.field.numbers import Field, RefusedError, computing_in
from xtile.text.diagnostics import DiagnosticError


@dataclass(frozen=True)
class Agreement:
    """What is known of a kernel and its port after both ran in the field.

    Attributes:
        verdict: "agree" if all numbers are equal in all draws, "differ" if one is not, "refused" if
            one of the kernels computes what the field does not follow, which says nothing.
        elements: How many elements were compared in a draw.
        unknown: How many of them depend on inputs of floats, and were a number in some draw.
        unseen: How many were NaN in all draws, so that their agreement says little.
        reason: The first element that differs, or what is not followed; None if they agree.
        meant: For each literal that was not taken exactly what it was taken for.
    """

    verdict: Literal["agree", "differ", "refused"]
    elements: int
    unknown: int
    unseen: int
    reason: str | None
    meant: Mapping[float, str]

    def words(self) -> str:
        """What was found, for people."""
        text = f"{self.unknown} of {self.elements} elements depend on floats, and are equal"
        return f"{text}; {self.unseen} were always NaN" if self.unseen else text


def agree(
    source: object,
    port: object,
    arguments: Sequence[Any] | Mapping[str, Any],
    grid: int | Sequence[int] = (1, 1, 1),
    *,
    port_grid: int | Sequence[int] | None = None,
    block: int | Sequence[int] | None = None,
    port_block: int | Sequence[int] | None = None,
    entry: str | None = None,
    port_entry: str | None = None,
    draws: int = 2,
    seed: int | None = None,
    seconds: float | None = None,
) -> Agreement:
    """Compares a kernel with its port on random numbers of the field.

    Args:
        source: A kernel, as `xtile.run` takes it.
        port: Another one that takes the same arguments.
        arguments: The arguments, as `xtile.run` takes them, with arrays of numpy. Integers,
            scalars and the sizes of arrays are used; the numbers in arrays of floats are drawn,
            but for infinities and NaN. Nothing is written to them.
        grid: The number of work-groups in x, y and z.
        port_grid: That of the port; None for the same.
        block: The number of work-items of a work-group, for a `gpu.func`.
        port_block: That of the port; None for what it says itself.
        entry: The function, if the kernel has several.
        port_entry: That of the port.
        draws: How many independent draws of the algebra and of the inputs are compared; there are
            more where results are NaN, as the roots of numbers are that are negative in a draw.
        seed: What the draws follow from; None draws it.
        seconds: How long a launch may take, as a loop that waits for numbers to converge never
            ends, and after which there are no more draws than `draws`; None for any time.

    Raises:
        ArgumentError: An argument does not fit the signatures.
        DiagnosticError: A kernel cannot be read, or breaks rules when it is executed.
    """
    first = secrets.randbits(48) if seed is None else seed
    sides = (
        _Side(source, entry, checked_sizes("grid", grid), _block(block), seconds),
        _Side(
            port,
            port_entry,
            checked_sizes("grid", grid if port_grid is None else port_grid),
            _block(port_block),
            seconds,
        ),
    )
    comparing = _Comparing(sides, arguments)
    end = math.inf if seconds is None else time.monotonic() + seconds
    for draw in range(_MOST_DRAWS * draws):
        if draw >= draws and (not comparing.is_unseen.any() or time.monotonic() > end):
            break
        result = comparing.draw(Field(first + draw))
        if result is not None:
            return result
    return comparing.agreement("agree", None)


_MOST_DRAWS = 4
"""How many times as many draws as were asked for there are where results are NaN in all before."""


class _Side:
    """A kernel that is compared."""

    def __init__(
        self,
        kernel: object,
        entry: str | None,
        grid: Grid,
        block: Grid | None,
        seconds: float | None,
    ) -> None:
        self.executable = load_for_field(Kernel(kernel, entry))
        self._grid = grid
        self._block = block
        self._seconds = seconds

    def launched(
        self, field: Field, arguments: Sequence[Any] | Mapping[str, Any]
    ) -> FieldInterpretation:
        """Runs the kernel.

        Raises:
            RefusedError: It computes what is not followed, or takes too long.
        """
        numbers = FieldInterpretation(field)
        bound = bind(self.executable.signature, arguments)
        try:
            how = Launch(self._grid, self._block, seconds=self._seconds)
            self.executable.launch_in(numbers, bound, how)
        except DeviceError as error:
            raise RefusedError(str(error)) from error
        except DiagnosticError as error:
            if numbers.refusal is None:
                raise
            raise RefusedError(str(error)) from error
        return numbers


def _block(block: int | Sequence[int] | None) -> Grid | None:
    return None if block is None else checked_sizes("block", block)


class _Comparing:
    """Compares what two kernels compute in several draws.

    Attributes:
        is_unseen: Which elements were computed, and are NaN in all draws so far.
    """

    def __init__(
        self, sides: tuple[_Side, _Side], arguments: Sequence[Any] | Mapping[str, Any]
    ) -> None:
        self._sides = sides
        self._arguments = arguments
        self._meant: dict[float, str] = {}
        count = sum(array.size for _, array in _arrays(arguments))
        self.is_unseen: npt.NDArray[np.bool_] = np.ones(count, np.bool_)
        self._is_unknown: npt.NDArray[np.bool_] = np.zeros(count, np.bool_)

    def draw(self, field: Field) -> Agreement | None:
        """Compares in a draw; returns what ends the comparison, if something does."""
        with computing_in(field):
            try:
                reason = self._difference(field)
            except RefusedError as error:
                return self.agreement("refused", str(error))
            finally:
                self._meant.update(field.literals.meant)
        return None if reason is None else self.agreement("differ", reason)

    def _difference(self, field: Field) -> str | None:
        """The first element that differs."""
        own = [_own(self._arguments) for _ in self._sides]
        launched: list[FieldInterpretation] = []
        without_laws: list[set[str]] = []
        for side, each in zip(self._sides, own, strict=True):
            field.without_laws = set()
            launched.append(side.launched(field, each))
            without_laws.append(field.without_laws)
        known: list[npt.NDArray[np.bool_]] = []
        unseen: list[npt.NDArray[np.bool_]] = []
        for (label, left), (_, right) in zip(*map(_arrays, own), strict=True):
            a, b = launched[0].held(left), launched[1].held(right)
            equal = numbers_agree(a, b)
            if not equal.all():
                index = ", ".join(str(each) for each in np.argwhere(~equal)[0])
                _check_functions(without_laws[0], without_laws[1], f"{label}[{index}]")
                return f"{label}[{index}]"
            is_unknown, is_nan = states(a)
            known.append(is_unknown.ravel())
            unseen.append(is_nan.ravel())
        self._is_unknown |= np.concatenate([*known, self._is_unknown[:0]])
        self.is_unseen &= np.concatenate([*unseen, self.is_unseen[:0]])
        return None

    def agreement(
        self, verdict: Literal["agree", "differ", "refused"], reason: str | None
    ) -> Agreement:
        """The result."""
        return Agreement(
            verdict,
            self.is_unseen.size,
            int(self._is_unknown.sum()),
            int(self.is_unseen.sum()) if verdict == "agree" else 0,
            reason,
            self._meant,
        )


def _check_functions(source: set[str], port: set[str], where: str) -> None:
    """Checks that a difference cannot come of a function that only one of two kernels computes.

    Raises:
        RefusedError: It may: the other kernel composes the function, or approximates it.
    """
    alone = sorted(source ^ port)
    if alone:
        owner = "source" if alone[0] in source else "port"
        raise RefusedError(
            f"{where} differs, but {alone[0]} has no laws in the field, and only the {owner} has it"
        )


_SECONDS = 60.0
"""How long one launch of a check may take."""

_VERDICTS = {
    "agree": Verdict.AGREES,
    "differ": Verdict.DIFFERS,
    "refused": Verdict.NOT_RUN,
}


def comparison(
    kernels: Mapping[str, tuple[object, str | None]], trial: Trial, seed: int
) -> Comparison:
    """The comparison of a source and its port as a part of a check.

    Args:
        kernels: The "source" and the "port", each with the name of its function.
        trial: How both are launched.
        seed: What the draws follow from.
    """
    began = time.monotonic()
    (source, entry), (port, port_entry) = kernels["source"], kernels["port"]
    try:
        found = agree(
            source,
            port,
            trial.arguments,
            trial.launch.grid,
            block=trial.launch.block,
            entry=entry,
            port_entry=port_entry,
            seed=seed,
            seconds=_SECONDS,
        )
        verdict, message = _VERDICTS[found.verdict], found.reason or found.words()
    except (UnfitDeviceError, UnfitLaunchError) as error:
        verdict, message = Verdict.NOT_RUN, str(error)
    except (ArgumentError, DiagnosticError) as error:
        verdict, message = Verdict.DIFFERS, str(error).splitlines()[0]
    return Comparison(
        kernel="port",
        device=FIELD_NAME,
        inputs="drawn",
        sizes=trial.sizes,
        grid=trial.launch.grid,
        was_sanitized=False,
        seconds=time.monotonic() - began,
        verdict=verdict,
        difference=None,
        message=message.splitlines()[0],
    )


def _arrays(arguments: Mapping[str, Any] | Sequence[Any]) -> list[tuple[str, npt.NDArray[Any]]]:
    """The arrays among arguments, each with what messages call it."""
    named: Any = enumerate(arguments)
    if isinstance(arguments, Mapping):
        named = cast("Any", arguments).items()
    return [(f"argument {name}", array) for name, value in named for array in arrays_of(value)]


def _own(arguments: Mapping[str, Any] | Sequence[Any]) -> Any:
    """The same arguments in memory of their own."""
    if isinstance(arguments, Mapping):
        return dict(zip(arguments, copied(list(arguments.values())), strict=True))
    return copied(arguments)
