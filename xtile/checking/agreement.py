"""`xtile.check`: runs a kernel and its port on the same fresh inputs, and compares the results."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from xtile.arguments.copies import copied
from xtile.arguments.errors import (
    ArgumentError,
    DeviceError,
    HostFunctionError,
    SanitizerError,
    UnfitDeviceError,
    UnfitLaunchError,
)
from xtile.arguments.signature import Signature
from xtile.checking.comparison import Difference, Expectation, Map
from xtile.checking.inputs import Launch, Numbers
from xtile.checking.launches import Given
from xtile.checking.results import CheckResult, Comparison, Verdict
from xtile.checking.rounding_errors import has_rough_quotients
from xtile.checking.trials import LAUNCH_SECONDS, Trial, Trials, as_path
from xtile.launch.devices import find_device
from xtile.launch.executable import REFERENCE_NAME, Executable, Kernel
from xtile.launch.reference import ReferenceExecutable
from xtile.launch.run import checked_sizes
from xtile.launch.run import launch as launch_on
from xtile.text.diagnostics import DiagnosticError


def check(
    source: str | os.PathLike[str] | ModuleOp,
    port: str | os.PathLike[str] | ModuleOp,
    args: Mapping[str, Any] | None = None,
    grid: int | Sequence[int] | None = None,
    *,
    block: int | Sequence[int] | None = None,
    sizes: Mapping[str, Sequence[int]] | None = None,
    entry: str | None = None,
    port_entry: str | None = None,
    devices: Sequence[str] | None = None,
    sanitize: bool = True,
    field: bool = False,
    seed: int | None = None,
    reproducer: str | os.PathLike[str] | None = None,
) -> CheckResult:
    """Checks that a port computes what its source computes.

    Both run on the same fresh inputs: random numbers, numbers of a wide range with negative zeros,
    and numbers with NaN and infinities; with sizes that are no multiples of tiles, with full tiles,
    and with nothing. Outputs are NaN before. How far numbers may differ follows from the source: it
    runs a few times with the errors that functions and sums may have in any order
    (docs/checking.md, "What may differ").

    Args:
        source: A path, a text or a module, as `run` takes it.
        port: The same of the kernel that must compute what the source computes. It takes the
            source's arguments, in their order.
        args: Arguments by the source's names; those that are not given are made.
        grid: The number of work-groups; None for as many as have something to do.
        block: The number of work-items of a work-group, for a `gpu.func` that does not say it.
        sizes: The shapes of arrays by name; the others are made up.
        entry: The source's function, if there are several.
        port_entry: The port's function, if there are several; None is that of the source's name.
        devices: What both run on, as `run` names it, besides the reference device; None is every
            device that is here.
        sanitize: Whether the first launch of the port also looks for mistakes; of the source's
            launches only those are taken that have none.
        field: Whether the first launch is also compared on exact numbers, without tolerances
            (docs/field.md). What they do not follow counts as not run.
        seed: Of the inputs; None takes another one each time.
        reproducer: Where a script goes that shows the first difference, with its inputs beside it;
            None for nowhere.

    Returns:
        What was compared, with the largest error and its location, and a verdict.

    Raises:
        ArgumentError: No launch was found for which the source has no mistakes; it says what to
            give. Or an argument does not fit.
        DiagnosticError: The source cannot be read.
        OSError: The reproducer cannot be written.
    """
    given = Given(
        dict(args or {}),
        {name: tuple(shape) for name, shape in (sizes or {}).items()},
        None if grid is None else checked_sizes("grid", grid),
        None if block is None else checked_sizes("block", block),
    )
    trials = Trials(source, entry, given, fresh_seed() if seed is None else seed)
    names = real_devices() if devices is None else devices
    return compare(
        trials,
        port,
        port_entry=port_entry,
        devices=names,
        sanitize=sanitize,
        field=field,
        reproducer=reproducer,
    )


def fresh_seed() -> int:
    """A seed that is another one each time."""
    return int(np.random.SeedSequence().generate_state(1)[0])


def real_devices() -> tuple[str, ...]:
    """The devices that are here besides the reference device."""
    from xtile.backends.amd.hip.device import available_devices as amd_gpus
    from xtile.backends.intel.opencl import setup
    from xtile.backends.nvidia.cuda.device import available_devices as nvidia_gpus

    has_opencl = "pyopencl" not in setup.missing_packages() and setup.available_devices()
    found = {"opencl": has_opencl, "cuda": nvidia_gpus(), "hip": amd_gpus()}
    return tuple(name for name, is_there in found.items() if is_there)


def compare(
    trials: Trials,
    port: str | os.PathLike[str] | ModuleOp,
    *,
    port_entry: str | None = None,
    devices: Sequence[str] = (),
    sanitize: bool = True,
    field: bool = False,
    reproducer: str | os.PathLike[str] | None = None,
) -> CheckResult:
    """Like `check`, with trials of the source that may be there already."""
    began = time.monotonic()
    comparing = _Comparing(trials, port, port_entry, field=field)
    for number, trial in enumerate(trials):
        if not comparing.takes_small:
            comparing.on_reference(trial, sanitize=sanitize and number == 0)
        for device in devices:
            if device != REFERENCE_NAME:
                comparing.run("source", device, trial)
                comparing.run("port", device, trial)
    for number, trial in enumerate(trials.small if comparing.takes_small else ()):
        comparing.on_reference(trial, sanitize=sanitize and number == 0, is_small=True)
    if comparing.exact is not None:
        comparing.comparisons.append(comparing.exact)
    written = None
    if reproducer is not None and comparing.counterexample is not None:
        from xtile.checking.reproducer import write_reproducer

        written = os.fspath(reproducer)
        write_reproducer(written, trials.source, port, comparing.shrunk(comparing.counterexample))
    return CheckResult(
        trials.signature.name,
        tuple(comparing.comparisons),
        tuple(comparing.maps),
        trials.seed,
        time.monotonic() - began,
        written,
    )


@dataclass(frozen=True)
class Counterexample:
    """A launch after which source and port differ.

    Attributes:
        launch: The launch.
        numbers: What arrays are filled with.
        inputs: What reports call them.
        device: What the port ran on.
        arguments: The arguments before the launch, in the source's order.
        signature: That of the source.
        difference: The difference.
        port_entry: The port's function.
    """

    launch: Launch
    numbers: Numbers
    inputs: str
    device: str
    arguments: Sequence[Any]
    signature: Signature
    difference: Difference
    port_entry: str | None


_SLACK = 4.0
"""How much farther than usual floats may be apart where exact numbers agree.

What is computed is right then, and only its rounding is left, of which a few runs are a sample.
"""

_LONG = 3.0
"""Seconds of the processor that a launch of the port may take before smaller ones follow."""

_LONG_ON_THE_CLOCK = 10.0
"""The same on a busy computer."""

_SECONDS_BEFORE_SMALL = 30.0
"""How long a launch of the port may take where smaller ones may follow."""


@dataclass(frozen=True)
class _Ran:
    """A launch that was tried.

    Attributes:
        comparison: What is known of it already.
        own: The arguments afterwards; None where it did not run to its end.
    """

    comparison: Comparison
    own: Sequence[Any] | None


class _Comparing:
    """Runs a port, and its source on real devices."""

    def __init__(
        self,
        trials: Trials,
        port: str | os.PathLike[str] | ModuleOp,
        port_entry: str | None,
        *,
        field: bool,
    ) -> None:
        name = trials.signature.name
        self._trials = trials
        self._kernels = {
            "source": (trials.source, name),
            "port": (as_path(port), port_entry or _same_name(port, name)),
        }
        self._loaded: dict[tuple[str, str], Executable | str] = {}
        self._slack = 1.0
        self._field = field
        self._is_slow = False
        self.exact: Comparison | None = None
        self.comparisons: list[Comparison] = []
        self.maps: list[Map] = []
        self.counterexample: Counterexample | None = None

    @property
    def takes_small(self) -> bool:
        """Whether the reference device is too slow for other launches than the smallest ones.

        It runs the scalars of lanes one after the other, which takes far longer than the blocks of
        the source that launches were chosen by.
        """
        return self._is_slow and bool(self._trials.small)

    def on_reference(self, trial: Trial, *, sanitize: bool = False, is_small: bool = False) -> None:
        """Runs the port on the reference device, and the first time on exact numbers, too."""
        may_be_small = not is_small and self._trials.can_be_small
        limit = _SECONDS_BEFORE_SMALL if may_be_small else LAUNCH_SECONDS
        began = time.process_time()
        ran = self._ran("port", REFERENCE_NAME, trial, sanitize, limit)
        launches = 2 if sanitize else 1
        self._is_slow |= time.process_time() - began > launches * _LONG
        self._is_slow |= ran.comparison.seconds > launches * _LONG_ON_THE_CLOCK
        if self._field and self.exact is None:
            # Where exact numbers agree, floats may be farther apart, on every device.
            self.exact = self._in_field(self._trials.small[0] if self.takes_small else trial)
        self._compare("port", REFERENCE_NAME, trial, ran)

    def run(self, kernel: str, device: str, trial: Trial) -> None:
        """Runs a kernel on a device, and compares what it writes with what the source may write."""
        self._compare(
            kernel, device, trial, self._ran(kernel, device, trial, False, LAUNCH_SECONDS)
        )

    def _ran(self, kernel: str, device: str, trial: Trial, sanitize: bool, limit: float) -> _Ran:
        own = copied(trial.arguments)
        began = time.monotonic()
        message, verdict = "", Verdict.AGREES
        try:
            if sanitize:
                arguments = copied(trial.arguments)
                self._launch(kernel, device, arguments, trial.launch, sanitize=True, seconds=limit)
            self._launch(kernel, device, own, trial.launch, seconds=limit)
        except (ArgumentError, DiagnosticError, ValueError) as error:
            # A port may be for other launches, and a device that is no reference lack something.
            may_lack = isinstance(error, DeviceError | UnfitDeviceError | UnfitLaunchError) or (
                device != REFERENCE_NAME and not isinstance(error, SanitizerError)
            )
            verdict = Verdict.NOT_RUN if may_lack else Verdict.DIFFERS
            message = _first_line(error)
        comparison = Comparison(
            kernel=kernel,
            device=device,
            inputs=trial.inputs,
            sizes=trial.sizes,
            grid=trial.launch.grid,
            was_sanitized=sanitize,
            seconds=time.monotonic() - began,
            verdict=verdict,
            difference=None,
            message=message,
        )
        return _Ran(comparison, None if message else own)

    def _compare(self, kernel: str, device: str, trial: Trial, ran: _Ran) -> None:
        comparison, own = ran.comparison, ran.own
        if own is not None:
            difference = self._expectation(kernel, trial).difference(own, self._slack)
            is_wrong = difference is not None and difference.is_wrong
            verdict = Verdict.DIFFERS if is_wrong else Verdict.AGREES
            comparison = replace(comparison, difference=difference, verdict=verdict)
            if kernel == "port":
                self._keep(trial, device, own, difference)
        self.comparisons.append(comparison)

    def _expectation(self, kernel: str, trial: Trial) -> Expectation:
        """What a launch may give; a port whose quotients are approximations may be farther off."""
        is_rough = kernel == "port" and self._is_rough
        return trial.rough_expectation if is_rough else trial.expectation

    @cached_property
    def _is_rough(self) -> bool:
        try:
            port = self._load("port", REFERENCE_NAME)
        except (ArgumentError, DiagnosticError):
            # Only other devices take it.
            return False
        return isinstance(port, ReferenceExecutable) and has_rough_quotients(port.function)

    def _in_field(self, trial: Trial) -> Comparison:
        from xtile.checking.field import comparison

        found = comparison(self._kernels, trial, self._trials.seed)
        self._slack = _SLACK if found.verdict is Verdict.AGREES else 1.0
        return found

    def _keep(
        self, trial: Trial, device: str, own: Sequence[Any], difference: Difference | None
    ) -> None:
        """Keeps the errors as pictures, those of the first launch that is wrong before others."""
        is_wrong = difference is not None and difference.is_wrong
        if not self.maps or (is_wrong and self.counterexample is None):
            self.maps = self._expectation("port", trial).maps(own) or self.maps
        if difference is not None and is_wrong and self.counterexample is None:
            self.counterexample = Counterexample(
                trial.launch,
                trial.numbers,
                trial.inputs,
                device,
                trial.arguments,
                self._trials.signature,
                difference,
                self._kernels["port"][1],
            )

    def shrunk(self, found: Counterexample) -> Counterexample:
        """The smallest launch that differs as one does: smaller sizes, fewer work-groups."""
        best: Counterexample | None = found
        while best is not None:
            found = best
            best = next(filter(None, map(self._differing, _smaller(found))), None)
        return found

    def _differing(self, candidate: Counterexample) -> Counterexample | None:
        trial = self._trials.trial(candidate.launch, candidate.numbers)
        if trial is None:
            return None
        own = copied(trial.arguments)
        try:
            self._launch("port", candidate.device, own, trial.launch)
        except (ArgumentError, DiagnosticError, ValueError):
            return None
        difference = self._expectation("port", trial).difference(own, self._slack)
        if difference is None or not difference.is_wrong:
            return None
        return replace(
            candidate, launch=trial.launch, arguments=trial.arguments, difference=difference
        )

    def _load(self, kernel: str, device: str) -> Executable:
        """The source or the port, ready on a device.

        Raises:
            ArgumentError: The device cannot run it.
            DiagnosticError: It cannot be compiled.
        """
        key = (kernel, device)
        if key not in self._loaded:
            try:
                self._loaded[key] = find_device(device).load(Kernel(*self._kernels[kernel]))
            except (DeviceError, HostFunctionError, DiagnosticError) as error:
                if device == REFERENCE_NAME:
                    raise
                self._loaded[key] = _first_line(error)
        loaded = self._loaded[key]
        if isinstance(loaded, str):
            raise DeviceError(loaded)
        return loaded

    def _launch(
        self,
        kernel: str,
        device: str,
        arguments: list[Any],
        launch: Launch,
        *,
        sanitize: bool = False,
        seconds: float = LAUNCH_SECONDS,
    ) -> None:
        launch_on(
            self._load(kernel, device),
            arguments,
            launch.grid,
            find_device(device),
            # A port says its own.
            block=launch.block if kernel == "source" else None,
            sanitize=sanitize,
            seconds=seconds,
        )


def _smaller(found: Counterexample) -> list[Counterexample]:
    """Launches that are smaller than one in one respect."""
    launch = found.launch
    sizes = [size for size in (1, launch.size // 2, launch.size - 1) if 0 < size < launch.size]
    launches = [replace(launch, size=size) for size in dict.fromkeys(sizes)]
    for axis, count in enumerate(launch.grid):
        for fewer in dict.fromkeys((1, count // 2)):
            if 0 < fewer < count:
                x, y, z = (fewer if mode == axis else n for mode, n in enumerate(launch.grid))
                launches.append(replace(launch, grid=(x, y, z)))
    return [replace(found, launch=each) for each in launches]


def _same_name(port: Any, name: str) -> str | None:
    """The name of the source's function, if the port is a module that has it."""
    if not isinstance(port, ModuleOp):
        return None
    from xtile.arguments.kernel import kernels_of

    return name if name in kernels_of(port) else None


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
