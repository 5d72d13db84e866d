"""`xtile-opt`: reads a kernel, runs passes on it and prints it."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import IO, TYPE_CHECKING, NoReturn

from typing_extensions import override
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.universe import Universe
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException
from xdsl.xdsl_opt_main import xDSLOptMain

from xtile.command import (
    EXIT_INPUT_WRONG,
    EXIT_OK,
    EXIT_USAGE_WRONG,
    is_colored,
    run_command,
    write_standard_output,
)
from xtile.opt_arguments import TRANSLATIONS, add_arguments
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity
from xtile.text.languages import (
    LANGUAGES,
    Language,
    file_endings,
    guess_binary,
    guess_language,
)
from xtile.text.source import Source
from xtile.universe import COMPLETED_DIALECTS, XTILE_UNIVERSE

if TYPE_CHECKING:
    from xtile.text.mlir_printer import MlirPrinter

STANDARD_INPUT = "<stdin>"
"""What messages call standard input."""

_COLLECTION_THRESHOLD = 10_000
"""Allocations between collections; Python's default of 700 costs a tenth of the time."""


@dataclass(frozen=True, slots=True)
class _Output:
    """What one part of the input came to; `text` is None if there is nothing to write."""

    text: str | bytes | None
    has_failed: bool


_BYTECODE = "tileir-bytecode"
"""The target of bytes for NVIDIA's assembler."""


class XtileOptMain(xDSLOptMain):
    """xDSL's driver with located errors and the languages of this package."""

    def __init__(self, args: Sequence[str] | None = None) -> None:
        # Three registrations need it, and making it scans the installed packages.
        self._universe = _installed_universe()
        self._diagnostics = Diagnostics()
        self._running_step = ""
        self._pass_started = 0.0
        super().__init__(args=args)

    @override
    def register_all_dialects(self) -> None:
        for name, factory in {**self._universe.all_dialects, **COMPLETED_DIALECTS}.items():
            self.ctx.register_dialect(name, factory)

    @override
    def register_all_frontends(self) -> None:
        for extension in LANGUAGES:
            self.available_frontends[extension] = self._read_stream

    @override
    def register_all_passes(self) -> None:
        self.available_passes.update(self._universe.all_passes)

    @override
    def register_all_targets(self) -> None:
        self.available_targets.update(self._universe.all_targets)

    @override
    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        self._arg_parser = arg_parser
        add_arguments(arg_parser, list(XTILE_UNIVERSE.all_passes), list(self.available_targets))
        # xDSL's constructor reads these. Its own `disable_verify` would switch off the verifiers
        # of all attributes in the whole process.
        arg_parser.set_defaults(disable_verify=False, syntax_highlight=False)

    @override
    def setup_pipeline(self) -> None:
        self._check_arguments()
        self._target = self._target_spec()
        self._check_passes()
        try:
            self.pipeline = PassPipeline.parse_spec(
                self.available_passes, self.args.passes, self._between_passes
            )
        except ValueError as error:
            self._usage_error(f"argument -p/--passes: {error}")

    @override
    def run(self) -> None:
        """Does what the command line says and ends the process with an exit code."""
        sys.exit(self.execute())

    def execute(self) -> int:
        """Does what the command line says and returns the exit code."""
        language = self._input_language()
        try:
            source = self._read_source(language)
        except DiagnosticError as error:
            self._show(error.diagnostics)
            return EXIT_INPUT_WRONG
        if language is None:
            language = _language_of(source)
        parts = language.split(source) if self.args.split_input_file else [source]
        outputs = [self._process(part, language) for part in parts]
        texts = [output.text for output in outputs if output.text is not None]
        # A file holds the result of the whole input or stays as it was.
        if texts and (self.args.output_file is None or len(texts) == len(outputs)):
            self._write(self._joined(texts))
        has_failed = any(output.has_failed for output in outputs)
        return EXIT_INPUT_WRONG if has_failed else EXIT_OK

    def _joined(self, outputs: list[str | bytes]) -> str | bytes:
        """Returns the outputs of all parts as one; what is bytes has one part."""
        texts = [output for output in outputs if isinstance(output, str)]
        comment = "//" if self._target.name == "mlir" else ";"
        return f"{comment} -----\n".join(texts) if texts else outputs[0]

    def _process(self, source: Source, language: Language) -> _Output:
        """Converts one part of the input and shows what is wrong with it."""
        is_test = self.args.verify_diagnostics
        diagnostics = Diagnostics(limit=None) if is_test else Diagnostics()
        text = self._convert(source, language, diagnostics)
        if is_test:
            diagnostics = _compare(source, language, diagnostics)
        self._show(diagnostics.sorted())
        return _Output(text, diagnostics.has_errors)

    def _convert(
        self, source: Source, language: Language, diagnostics: Diagnostics
    ) -> str | bytes | None:
        """Returns what is written for one part of the input; None if it has errors."""
        self._diagnostics = diagnostics
        module = language.read(source, diagnostics, self.ctx, self.args.tensorlang_revision)
        if module is not None:
            self._verify(module, diagnostics)
        if module is None or diagnostics.has_errors:
            return None
        try:
            self.pipeline.apply(self.ctx, module)
            return self._print(self._translate(module, diagnostics))
        except DiagnosticError as error:
            for diagnostic in error.diagnostics:
                diagnostics.add(diagnostic)
        except DiagnosticException as error:
            diagnostics.error(source, None, f"{self._running_step} failed: {error}")
        return None

    def _translate(self, module: ModuleOp, diagnostics: Diagnostics) -> ModuleOp:
        """Translates a module as the command line says, and verifies the result.

        Raises:
            DiagnosticError: Something cannot be translated.
        """
        name = self.args.translate
        route = None if name is None else TRANSLATIONS[name].route
        if route is None:
            return module
        from xtile.translate.route import DEFAULT_CHIP, Options, translate

        self._running_step = f"translation '{route}'"
        chip = self.args.chip or DEFAULT_CHIP
        options = Options(chip, may_overlap=self.args.may_overlap)
        result = translate(module, route, options, diagnostics if self.args.remarks else None)
        found = Diagnostics()
        self._verify(result, found)
        if found.has_errors:
            raise DiagnosticError(list(found))
        return result

    def _verify(self, module: ModuleOp, diagnostics: Diagnostics) -> None:
        """Verifies a module unless the command line says otherwise."""
        if self.args.skip_verify:
            return
        from xtile.text.verification import verify_module

        verify_module(module, diagnostics)

    def _between_passes(
        self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
    ) -> None:
        """Verifies what a pass has left, and shows it if the command line says so.

        Raises:
            DiagnosticError: The pass has left an invalid module.
        """
        now = time.perf_counter()
        if previous is not None:
            if self.args.time_passes:
                sys.stderr.write(f"{previous.name}: {now - self._pass_started:.3f} s\n")
            found = Diagnostics()
            self._verify(module, found)
            if found.has_errors:
                raise DiagnosticError([_after_pass(error, previous) for error in found])
            if self.args.print_between_passes and following is not None:
                sys.stderr.write(f"// after pass '{previous.name}':\n{self._mlir(module)}\n")
        self._running_step = (
            f"target '{self._target.name}'" if following is None else f"pass '{following.name}'"
        )
        self._pass_started = time.perf_counter()

    def _print(self, module: ModuleOp) -> str | bytes:
        """Returns a module in the target's language."""
        self._check_version(module)
        if self._target.name == "mlir":
            return self._mlir(module, self._xegpu_printer(module))
        from xtile.targets import BinaryTarget

        target = self._universe.all_targets[self._target.name]
        output = StringIO()
        try:
            emitter = target().from_spec(self._target)
        except ValueError as error:
            self._usage_error(f"argument -t/--target: {error}")
        if isinstance(emitter, BinaryTarget):
            return emitter.encode(module)
        emitter.emit(self.ctx, module, output)
        return output.getvalue()

    def _check_version(self, module: ModuleOp) -> None:
        """Checks that a module keeps to the version of CUDA Tile IR that is asked for.

        Raises:
            DiagnosticError: It does not.
        """
        if self.args.cuda_tile_version is None:
            return
        from xtile.dialects.cuda_tile.version_check import check_versions
        from xtile.dialects.cuda_tile.versions import parse_version

        diagnostics = Diagnostics()
        check_versions(module, parse_version(self.args.cuda_tile_version), diagnostics)
        if diagnostics.has_errors:
            raise DiagnosticError(diagnostics.sorted())

    def _xegpu_printer(self, module: ModuleOp) -> type[MlirPrinter] | None:
        """Prepares a module for the form of XeGPU that is asked for, and returns what prints it.

        Raises:
            DiagnosticError: The form cannot say what is in the module.
        """
        if self.args.xegpu_syntax == "rfc":
            from xtile.dialects.xegpu.rfc.limits import check_rfc
            from xtile.dialects.xegpu.rfc.printer import XeGPUPrinter

            check_rfc(module)
            return XeGPUPrinter
        if any(operation.dialect_name() == "xegpu" for operation in module.walk()):
            from xtile.dialects.xegpu.rfc.to_llvm22 import to_llvm22

            to_llvm22(module)
        return None

    def _mlir(self, module: ModuleOp, printer_class: type[MlirPrinter] | None = None) -> str:
        """Returns a module as MLIR text."""
        from xtile.text.mlir import print_mlir

        output = StringIO()
        print_mlir(
            module,
            output,
            generic=self.args.print_op_generic,
            debuginfo=self.args.print_debuginfo,
            local_scope=self.args.print_local_scope,
            context=self.ctx,
            printer_class=printer_class,
        )
        return output.getvalue()

    def _check_arguments(self) -> None:
        """Ends the process if arguments contradict each other."""
        arguments = self.args
        if arguments.translate is not None:
            if arguments.frontend is not None:
                self._usage_error("argument --translate: already says what -f/--frontend would")
            if arguments.target != "mlir":
                self._usage_error("argument --translate: already says what -t/--target would")
        if arguments.translate is None and arguments.remarks:
            self._usage_error("argument --remarks: needs --translate")
        is_compiled = self._is_spirv or self._target_name == _BYTECODE
        if arguments.translate is None and arguments.chip is not None and not is_compiled:
            self._usage_error(
                f"argument --chip: needs --translate, a target of SPIR-V or {_BYTECODE}"
            )
        self._check_chip()
        if arguments.matrix_spelling is not None and not self._is_spirv:
            self._usage_error("argument --matrix-spelling: needs a target of SPIR-V")
        if arguments.split_input_file and self._target_name in ("spirv", _BYTECODE):
            self._usage_error("argument --split-input-file: a file of bytes holds one module")
        if arguments.print_op_generic and arguments.xegpu_syntax == "rfc":
            self._usage_error(
                "argument --xegpu-syntax: the RFC has no generic form; leave --print-op-generic out"
            )
        language = self._input_language()
        is_other = language is not None and language.extension != "ir"
        if arguments.tensorlang_revision is not None and is_other:
            self._usage_error(
                "argument --tensorlang-revision: the input is not in the tensor language; "
                "use --frontend ir if it is"
            )

    def _check_chip(self) -> None:
        """Ends the process if a chip is not of the kind that kernels are translated for."""
        chip = self.args.chip
        if chip is None:
            return
        from xtile.translate.route import CHIPS, NVIDIA_CHIPS, chips_of

        route = None if self.args.translate is None else TRANSLATIONS[self.args.translate].route
        of_target = NVIDIA_CHIPS if self._target_name == _BYTECODE else CHIPS
        chips = of_target if route is None else chips_of(route)
        if chip not in chips:
            self._usage_error(f"argument --chip: must be one of {', '.join(chips)} here")

    def _check_passes(self) -> None:
        """Ends the process if a pass is unknown."""
        for spec in parse_pipeline(self.args.passes):
            if spec.name not in self.available_passes:
                hint = _similar(spec.name, list(self.available_passes))
                self._usage_error(f"argument -p/--passes: unknown pass '{spec.name}'{hint}")

    def _target_spec(self) -> ArgSpec:
        """Returns the target and its options."""
        if self.args.translate is None:
            spec = parse_spec(self.args.target)
            if self._is_spirv:
                given = {"chip": self.args.chip, "matrix-spelling": self.args.matrix_spelling}
                more = {name: (value,) for name, value in given.items() if value is not None}
                return ArgSpec(spec.name, {**spec.parameters, **more})
            if spec.name == _BYTECODE:
                given = {"chip": self.args.chip, "version": self.args.cuda_tile_version}
                more = {name: (value,) for name, value in given.items() if value is not None}
                return ArgSpec(spec.name, {**spec.parameters, **more})
            return spec
        return ArgSpec(TRANSLATIONS[self.args.translate].target, {})

    @property
    def _is_spirv(self) -> bool:
        """Whether kernels are compiled to SPIR-V."""
        return self._target_name.startswith("spirv")

    @property
    def _target_name(self) -> str:
        """The name of the target that the command line says."""
        return parse_spec(self.args.target).name

    def _input_language(self) -> Language | None:
        """Returns the language of the input, or None where only its text tells.

        Ends the process if the name of a file does not tell it.
        """
        if self.args.translate is not None:
            return LANGUAGES[TRANSLATIONS[self.args.translate].extension]
        if self.args.frontend is not None:
            return LANGUAGES[self.args.frontend]
        if self._reads_standard_input():
            return None
        extension = os.path.splitext(self.args.input_file)[1].removeprefix(".")
        if extension not in LANGUAGES:
            self._usage_error(
                f"{self.args.input_file}: expected a file ending with {file_endings()}; "
                "use --frontend to say what is in it"
            )
        return LANGUAGES[extension]

    def _reads_standard_input(self) -> bool:
        """Whether the command line names no file to read."""
        return self.args.input_file in (None, "-")

    def _read_source(self, language: Language | None) -> Source:
        """Returns the text or the bytes of the input.

        Raises:
            DiagnosticError: The input cannot be read, or is text and not valid UTF-8.
        """
        is_binary = language is not None and language.is_binary
        if not self._reads_standard_input():
            return Source.from_path(self.args.input_file, is_binary)
        data = sys.stdin.buffer.read()
        if is_binary or (language is None and guess_binary(data) is not None):
            return Source.from_binary(STANDARD_INPUT, data)
        return Source.from_bytes(STANDARD_INPUT, data)

    def _read_stream(self, stream: IO[bytes]) -> ModuleOp:
        """Reads a module as xDSL's own drivers do.

        Raises:
            DiagnosticError: The text has errors.
        """
        source = Source.from_bytes(self.args.input_file or STANDARD_INPUT, stream.read())
        diagnostics = Diagnostics()
        language = self._input_language() or guess_language(source.text)
        module = language.read(source, diagnostics, self.ctx, None)
        diagnostics.raise_if_errors()
        assert module is not None, "a reader that returns nothing reports an error"
        return module

    def _write(self, text: str | bytes) -> None:
        """Writes the output; ends the process if that is not possible."""
        path = self.args.output_file
        if path in (None, "-"):
            write_standard_output(text)
            return
        from xtile.text.output import write_file

        try:
            write_file(path, text)
        except OSError as error:
            self._usage_error(f"argument -o/--output-file: cannot write {path}: {error.strerror}")

    def _show(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Prints diagnostics to standard error."""
        colored = is_colored(self.args.color)
        for diagnostic in diagnostics:
            sys.stderr.write(diagnostic.render(colored) + "\n")

    def _usage_error(self, message: str) -> NoReturn:
        """Ends the process because the command line is wrong."""
        self._arg_parser.error(message)


def main(args: Sequence[str] | None = None) -> int:
    """Runs `xtile-opt` and returns its exit code.

    Args:
        args: The command line without the program's name; None takes that of the process.

    Raises:
        SystemExit: The command line is wrong, or asks for help or for the version.
    """
    return run_command("xtile-opt", lambda: _run(args))


def _run(args: Sequence[str] | None) -> int:
    """Does what the command line says and returns the exit code."""
    # A module is one large graph that lives to the end, so looking for garbage in it is lost time.
    gc.set_threshold(_COLLECTION_THRESHOLD)
    try:
        driver = XtileOptMain(args)
    # xDSL parses the target's and the passes' options, and its error is none of `Exception`.
    except ArgSpecParseError as error:
        sys.stderr.write(f"xtile-opt: error: {error}\n")
        return EXIT_USAGE_WRONG
    return driver.execute()


def _language_of(source: Source) -> Language:
    """Returns the language of an input that has no file name."""
    binary = None if source.data is None else guess_binary(source.data)
    return guess_language(source.text) if binary is None else binary


def _installed_universe() -> Universe:
    """Returns the dialects, passes and targets of all installed packages."""
    universe = Universe.get_multiverse()
    # A source tree that is not installed has no entry point.
    universe.all_dialects.update(XTILE_UNIVERSE.all_dialects)
    universe.all_passes.update(XTILE_UNIVERSE.all_passes)
    universe.all_targets.update(XTILE_UNIVERSE.all_targets)
    return universe


def _compare(source: Source, language: Language, diagnostics: Diagnostics) -> Diagnostics:
    """Returns how the diagnostics differ from what the comments of the input expect."""
    from xtile.text.expected import check_expectations

    differences = Diagnostics(limit=None)
    for difference in check_expectations(source, diagnostics, language.comment):
        differences.add(difference)
    return differences


def _after_pass(diagnostic: Diagnostic, module_pass: ModulePass) -> Diagnostic:
    """Returns a diagnostic with the pass that it was found after."""
    note = Diagnostic(Severity.NOTE, f"found after pass '{module_pass.name}'", None, None)
    return Diagnostic(
        diagnostic.severity,
        diagnostic.message,
        diagnostic.source,
        diagnostic.span,
        (*diagnostic.notes, note),
    )


def _similar(name: str, known: list[str]) -> str:
    """Returns a hint at the known name that is most like `name`; empty if none is."""
    from difflib import get_close_matches

    matches = get_close_matches(name, known, n=1)
    return f"; did you mean '{matches[0]}'?" if matches else ""


if __name__ == "__main__":
    sys.exit(main())
