"""Ports one kernel file to one language, and checks it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xtile.arguments.errors import ArgumentError, DeviceError
from xtile.backends.build_error import BuildError
from xtile.backends.compiling import compile as compile_kernels
from xtile.checking.agreement import compare
from xtile.checking.results import CheckResult, Verdict
from xtile.checking.trials import Trials
from xtile.dialects.printing import text_of
from xtile.dialects.reading import parse
from xtile.ports.machine_code import MachineCode, of_cubin, of_hsaco, of_spirv
from xtile.ports.measures import Measures, measure, spirv_instructions
from xtile.ports.steps import Form, form_of, plain_form
from xtile.ports.targets import PortTarget
from xtile.targets import INTEL, OptionError, find_target
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity
from xtile.text.source import Source, source_of
from xtile.translate.route import Options, translate_to

REFUSED = "refused"
"""The verdict of a kernel that a language cannot express."""

_EXACT = (Verdict.DIFFERS.value, REFUSED, Verdict.AGREES.value)

UNCHECKED = "not checked"
"""The verdict of a port that nobody compared."""


@dataclass(frozen=True)
class Remark:
    """Why a translation chose what it did.

    Attributes:
        line: The line of the source, from 1; 0 for the whole.
        text: The words.
    """

    line: int
    text: str


@dataclass
class Port:
    """What became of a kernel in one language.

    Attributes:
        target: The language.
        chip: The chip; None for the default one.
        forms: The forms on the way, the port last.
        files: What is to be written: by the end of its name its content.
        missing: Why binaries are not there.
        measures: What the port is made of; None where there is none.
        instructions: By tool how often each instruction is there.
        remarks: Why the translation chose what it did.
        errors: Why the kernel was refused, as messages show it, each with its line.
        checks: What was compared, for each kernel of the file.
        unchecked: Why a kernel was not checked.
    """

    target: PortTarget
    chip: str | None
    forms: list[Form] = field(default_factory=list[Form])
    files: dict[str, str | bytes] = field(default_factory=dict[str, "str | bytes"])
    missing: list[str] = field(default_factory=list[str])
    measures: Measures | None = None
    instructions: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    remarks: list[Remark] = field(default_factory=list[Remark])
    errors: list[Remark] = field(default_factory=list[Remark])
    checks: list[CheckResult] = field(default_factory=list[CheckResult])
    unchecked: list[str] = field(default_factory=list[str])

    @property
    def verdict(self) -> str:
        """What is known of the port."""
        verdicts = {check.verdict for check in self.checks}
        if self.errors:
            return REFUSED
        if Verdict.DIFFERS in verdicts:
            return Verdict.DIFFERS.value
        if self.unchecked or not verdicts:
            return UNCHECKED
        return (Verdict.NOT_RUN if Verdict.NOT_RUN in verdicts else Verdict.AGREES).value

    @property
    def exact(self) -> str:
        """What the comparison on exact numbers says of all kernels; empty without one.

        One that differs counts before one that is refused, and that before one that agrees.
        """
        found = {check.exact for check in self.checks}
        return next((word for word in _EXACT if word in found), "")

    @property
    def seconds(self) -> float:
        """How long the translation took."""
        return sum(form.seconds for form in self.forms if not form.is_of_a_tool)

    def words(self) -> dict[str, Any]:
        """The port as JSON holds it."""
        measures = self.measures
        return {
            "target": self.target.name,
            "chip": self.chip,
            "verdict": self.verdict,
            "exact": self.exact,
            "seconds": round(self.seconds, 6),
            "structured_accesses": None if measures is None else measures.structured,
            "scattered_accesses": None if measures is None else measures.scattered,
            "matrix_products": None if measures is None else measures.products,
            "instructions": self.instructions,
            "remarks": [vars(each) for each in self.remarks],
            "errors": [vars(each) for each in self.errors],
            "missing": self.missing,
            "unchecked": self.unchecked,
            "forms": [form.words() for form in self.forms],
            "checks": [check.words() for check in self.checks],
        }


class Porting:
    """Translates a kernel and keeps every form on the way.

    Args:
        module: The kernels.
        target: The language.
        chip: The chip; None for the default one.

    Attributes:
        port: What became of them.
        runnable: What the reference device runs in place of the port; None after an error.
    """

    def __init__(self, module: ModuleOp, target: PortTarget, chip: str | None) -> None:
        self.port = Port(target, chip)
        self.runnable: ModuleOp | None = None
        self._module = module
        self._source = source_of(module)
        self._before: list[tuple[str, float, ModuleOp]] = []

    def translate(self) -> None:
        """Translates; what is wrong is in the port's errors."""
        port, diagnostics = self.port, Diagnostics()
        options = Options(port.chip, may_wrap=port.target.name == "spirv")
        try:
            made = translate_to(self._module, port.target.name, options, diagnostics, self._on_step)
        except (DiagnosticError, OptionError) as error:
            port.errors = _errors(error, self._source)
            return
        end = time.perf_counter()
        port.remarks = _remarks(diagnostics, self._source)
        self._keep_forms(made, end)
        # SPIR-V runs on no reference device; what it was made of does.
        is_spirv = port.target.name == "spirv"
        self.runnable = self._before[-1][2] if is_spirv and self._before else made
        port.measures = measure(self.runnable)
        try:
            self._write(made)
            if not is_spirv:
                # What is checked is the text that is written.
                text, language = str(port.files[port.target.text]), _LANGUAGES[port.target.text]
                self.runnable = parse(text, language=language)
        except DiagnosticError as error:
            port.errors = _errors(error, self._source)

    def _on_step(self, name: str, module: ModuleOp) -> None:
        self._before.append((name, time.perf_counter(), module))

    def _keep_forms(self, made: ModuleOp, end: float) -> None:
        if not self._before:
            self.port.forms.append(form_of("as it is", 0.0, made, self._source))
            return
        ends = [began for _, began, _ in self._before[1:]] + [end]
        modules = [module for _, _, module in self._before[1:]] + [made]
        for (name, began, _), stop, module in zip(self._before, ends, modules, strict=True):
            self.port.forms.append(form_of(name, stop - began, module, self._source))

    def _write(self, made: ModuleOp) -> None:
        """Makes the content of all files."""
        port = self.port
        if port.target.name == "spirv":
            self._write_spirv(made)
            return
        text, _ = text_of(made)
        port.files[port.target.text] = text
        for ending in port.target.binaries_for(port.chip):
            self._compile(ending)

    def _write_spirv(self, made: ModuleOp) -> None:
        from xtile.arguments.kernel import signatures_of
        from xtile.backends.intel.compilation import program_from, spirv_in
        from xtile.backends.intel.files import SpirvFile, sidecar_text
        from xtile.dialects.spirv import disassemble
        from xtile.targets.lanes import for_spirv

        port, lanes = self.port, self.runnable
        target = for_spirv(find_target(port.chip or INTEL.default))
        assert lanes is not None
        program = program_from(self._module, lanes, made, target)
        described = SpirvFile(program, target.name, signatures_of(self._module))
        text = disassemble(program.spirv)
        port.files = {
            ".spvasm": text,
            ".spv": program.spirv,
            ".spv.json": sidecar_text(described),
        }
        port.instructions["SPIR-V"] = spirv_instructions(text)
        port.forms.append(plain_form("SPIR-V assembly", 0.0, text))
        self._show_intel_code(spirv_in(made), program.spirv)

    def _compile(self, ending: str) -> None:
        """Compiles to a binary where its tool is here."""
        port = self.port
        with tempfile.TemporaryDirectory(prefix="xtile-port-") as directory:
            path = Path(directory) / f"kernel{ending}"
            try:
                compile_kernels(self._module, path, chip=port.chip, diagnostics=Diagnostics())
            except (DeviceError, ArgumentError, DiagnosticError) as error:
                port.missing.append(f"{ending}: {str(error).splitlines()[0]}")
                return
            for made in sorted(Path(directory).iterdir()):
                port.files[made.name.removeprefix("kernel")] = made.read_bytes()
            self._show_machine_code(path)

    def _show_machine_code(self, binary: Path) -> None:
        """Keeps the machine code of a binary as text, where a tool is here that shows it."""
        port = self.port
        try:
            if binary.suffix == ".cubin":
                code = of_cubin(binary, self._source)
            elif binary.suffix == ".hsaco" and port.chip is not None:
                code = of_hsaco(self._module, port.chip)
            else:
                return
        except (BuildError, DeviceError, DiagnosticError) as error:
            port.missing.append(f"machine code: {str(error).splitlines()[0]}")
            return
        self._keep(code)

    def _show_intel_code(self, module: Operation, words: bytes) -> None:
        """Keeps the machine code of SPIR-V for one of Intel's GPUs that is named."""
        from xtile.backends.intel.registers import build_options

        chip = self.port.chip
        if chip is None:
            return
        target = find_target(chip)
        if target.vector_unit is not None:
            # A CPU, whose code the driver makes.
            return
        options = build_options(module, target, target.subgroup_size)
        try:
            self._keep(of_spirv(words, chip, options))
        except BuildError as error:
            self.port.missing.append(f"machine code: {error}")

    def _keep(self, code: MachineCode | None) -> None:
        if code is not None:
            self.port.instructions["machine code"] = code.instructions
            self.port.forms.append(code.form)


_LANGUAGES: Mapping[str, Literal["tensorlang", "mlir", "ttir", "ttgir"]] = {
    ".ir": "tensorlang",
    ".mlir": "mlir",
    ".ttir": "ttir",
    ".ttgir": "ttgir",
}
"""What texts are read as, by the ends of their names."""


def check_port(
    porting: Porting,
    sources: Sequence[Trials | str],
    devices: Sequence[str],
    reproducer: str | None,
    *,
    field: bool,
) -> None:
    """Compares a port with its source, each kernel of the file.

    Args:
        porting: The port.
        sources: For each kernel what it is compared in, or why it cannot be.
        devices: The devices besides the reference device.
        reproducer: The path of a script for the first difference.
        field: Whether they are also compared on exact numbers.
    """
    port = porting.port
    for trials in sources:
        if isinstance(trials, str):
            port.unchecked.append(trials)
            continue
        assert porting.runnable is not None
        try:
            result = compare(
                trials,
                porting.runnable,
                port_entry=_entry_like(porting.runnable, trials.signature.name),
                devices=devices,
                field=field,
                reproducer=reproducer,
            )
        except (ArgumentError, DiagnosticError) as error:
            port.unchecked.append(str(error).splitlines()[0])
            continue
        port.checks.append(result)


def _entry_like(module: ModuleOp, name: str) -> str | None:
    from xtile.arguments.kernel import kernels_of

    return name if name in kernels_of(module) else None


def _errors(error: DiagnosticError | OptionError, source: Source | None) -> list[Remark]:
    if isinstance(error, DiagnosticError):
        return [_remark(each, source) for each in error.diagnostics]
    return [Remark(0, str(error))]


def _remarks(diagnostics: Diagnostics, source: Source | None) -> list[Remark]:
    wanted = (Severity.REMARK, Severity.WARNING)
    return [_remark(each, source) for each in diagnostics.sorted() if each.severity in wanted]


def _remark(diagnostic: Diagnostic, source: Source | None) -> Remark:
    span = diagnostic.span
    if source is None or span is None or source.data is not None:
        return Remark(0, diagnostic.message)
    return Remark(source.position(span.start)[0], diagnostic.message)
