"""What `xtile port` does."""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xtile.arguments.errors import ArgumentError
from xtile.arguments.kernel import kernels_of
from xtile.checking.agreement import fresh_seed, real_devices
from xtile.checking.given_inputs import given_arguments, given_shapes
from xtile.checking.launches import Given
from xtile.checking.trials import Trials
from xtile.command import (
    EXIT_INPUT_WRONG,
    EXIT_OK,
    Messages,
    print_table,
    write_standard_output,
)
from xtile.dialects.reading import parse_source, read_source
from xtile.launch.progress import StatusLine
from xtile.launch.run import checked_sizes
from xtile.ports.outcome import key_of
from xtile.ports.port import Port, Porting, check_port
from xtile.ports.report import PAGE_NAME, Report
from xtile.ports.targets import check_chips, chip_for, chosen_targets
from xtile.text.diagnostics import Diagnostics
from xtile.translate.forms import BESIDE, Form, forms_of

_WIDTH = 110
"""Columns of the table off a terminal."""


def run_port(options: Namespace) -> int:
    """Ports a kernel, or a folder of them, as the command line says; returns the exit code."""
    messages = Messages(as_json=options.json)
    if Path(options.kernel).is_dir() and not _is_dump(options.kernel):
        from xtile.ports.batch import run_batch

        return messages.answer(lambda: run_batch(options, messages))
    return messages.answer(lambda: _port(options, messages))


def _port(options: Namespace, messages: Messages) -> int:
    with StatusLine() as progress:
        report = make_report(options, progress)
        progress.begin("writing")
        report.write(options.output)
    if not messages.as_json:
        print_table(report.table(), width=_WIDTH)
        write_standard_output(f"{Path(options.output) / PAGE_NAME} shows the ports line by line\n")
    return messages.end(EXIT_OK if report.is_right else EXIT_INPUT_WRONG, report.words())


def make_report(options: Namespace, progress: StatusLine) -> Report:
    """Ports a kernel to every language that is asked for, and checks the ports.

    Raises:
        ArgumentError: What is said of the inputs is wrong.
        DiagnosticError: The kernel cannot be read.
        OptionError: A language or a chip is unknown.
    """
    began = time.monotonic()
    source, language = read_source(options.kernel)
    module = parse_source(source, language, Diagnostics())
    seed = fresh_seed() if options.seed is None else options.seed
    form = _form_of(module)
    own = () if form is None else (form.language, form.level or form.language)
    targets = chosen_targets(options.to, own)
    check_chips(targets, options.chip)
    kernels = kernels_of(module)
    wanted = [each for each in kernels if options.entry in (None, each)]
    if not wanted and options.entry is not None:
        raise ArgumentError(f"the kernel has no function '{options.entry}'")
    sources = [] if options.no_check else [_trials(options, each, seed) for each in wanted]
    ports: list[Port] = []
    for target in targets:
        progress.begin(f"to {target.name}")
        porting = Porting(module, target, chip_for(target, options.chip))
        porting.translate()
        if not porting.port.errors and sources:
            progress.begin(f"checking {target.name}")
            reproducer = str(Path(options.output) / f"{Path(options.kernel).stem}.{target.name}.py")
            Path(options.output).mkdir(parents=True, exist_ok=True)
            devices = real_devices() if options.device is None else options.device
            check_port(porting, sources, devices, reproducer, field=options.field)
        ports.append(porting.port)
    text = source.text if source.data is None else ""
    return Report(
        source=str(options.kernel),
        text=text,
        language="" if form is None else form.language,
        kernels=tuple(wanted),
        ports=tuple(ports),
        is_checked=not options.no_check,
        seed=seed,
        key=key_of(options),
        seconds=time.monotonic() - began,
    )


def _trials(options: Namespace, entry: str, seed: int) -> Trials | str:
    """What ports of a kernel are compared in, or why they cannot be."""
    from xtile.launch.executable import Kernel
    from xtile.launch.reference import load

    signature = load(Kernel(Path(options.kernel), entry)).signature
    arguments, grid = given_arguments(options, signature)
    given = Given(
        arguments,
        given_shapes(options, signature),
        None if grid is None else checked_sizes("grid", grid),
        None if options.block is None else checked_sizes("block", options.block),
    )
    trials = Trials(options.kernel, entry, given, seed)
    try:
        list(trials)
    except ArgumentError as error:
        return str(error)
    return trials


def _form_of(module: ModuleOp) -> Form | None:
    """What the first kernel of a module is written in; None where there is no kernel."""
    forms = [found.form for found in forms_of(module) if found.form not in BESIDE]
    return forms[0] if forms else None


def _is_dump(path: str) -> bool:
    """Whether a folder is one kernel, as Triton writes them: several stages of one name."""
    files = [each for each in Path(path).rglob("*") if each.is_file()]
    endings = {each.suffix for each in files}
    is_one = len({each.stem for each in files}) == 1
    return is_one and len(files) > 1 and not endings.isdisjoint((".ttir", ".ttgir"))
