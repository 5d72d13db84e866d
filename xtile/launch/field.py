"""Launches with exact numbers in place of floats.

Source: docs/field.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
from typing_extensions import override

from xtile.arguments.binding import BoundArgument
from xtile.launch.executable import FIELD_NAME, Kernel, Launch, LaunchResult
from xtile.launch.reference import ReferenceExecutable, load
from xtile.semantics.field.launch import FieldInterpretation
from xtile.semantics.field.numbers import Field, computing_in
from xtile.semantics.interpretation import interpreted

DEFAULT_SEED = 0
"""The draw of `device="field"`, so that launches can be compared with each other."""


class FieldExecutable(ReferenceExecutable):
    """A function that runs on the reference device with numbers of the field."""

    @override
    def launch(self, arguments: Sequence[BoundArgument], how: Launch) -> LaunchResult:
        """Runs the function; arrays hold floats afterwards that stand for the numbers.

        Raises:
            DeviceError: It was not done in time.
            DiagnosticError: An instruction cannot be executed, or not followed in the field.
        """
        numbers = FieldInterpretation(Field(DEFAULT_SEED))
        result = self.launch_in(numbers, arguments, how)
        with computing_in(numbers.field):
            numbers.show()
        return result

    def launch_in(
        self,
        numbers: FieldInterpretation,
        arguments: Sequence[BoundArgument],
        how: Launch,
    ) -> LaunchResult:
        """Runs the function in a draw."""
        with ExitStack() as stack:
            stack.enter_context(computing_in(numbers.field))
            stack.enter_context(np.errstate(all="ignore"))
            numbers.give(self.converted(arguments))
            stack.enter_context(interpreted(numbers))
            result = super().launch(arguments, replace(how, sanitize=False, workers=1))
            return LaunchResult(FIELD_NAME, None, result.warnings)


def load_for_field(kernel: Kernel) -> FieldExecutable:
    """Makes a kernel ready.

    Raises:
        ArgumentError: There is no such function.
        DiagnosticError: The text cannot be read, or the kernel breaks the language's rules.
    """
    loaded = load(kernel)
    return FieldExecutable(loaded.function, loaded.signature)
