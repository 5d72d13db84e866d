"""`xtile-opt`: reads a kernel, runs passes on it and prints it."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import IO, TYPE_CHECKING, NoReturn

from typing_extensions import override
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.universe import Universe
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException
from xdsl.utils.target import Target
from xdsl.xdsl_opt_main import xDSLOptMain

from xtile.arguments.errors import DeviceError
from xtile.command import (
    EXIT_INPUT_WRONG,
    EXIT_OK,
    EXIT_TOOL_FAILED,
    EXIT_USAGE_WRONG,
    is_colored,
    run_command,
    show_trace,
    write_standard_output,
)
from xtile.dialects.languages import LANGUAGES, Language, file_endings, guess_binary, guess_language
from xtile.dialects.registry import COMPLETED_DIALECTS
from xtile.opt_arguments import (
    BINARY,
    COMPILING,
    ENCODED,
    LANGUAGE_OF_LEVEL,
    add_arguments,
    translations,
)
from xtile.opt_steps import StepError, StepLog, step_error
from xtile.text.diagnostics import (
    Diagnostic,
    DiagnosticError,
    Diagnostics,
    Severity,
    SourceWarning,
    error_at,
    words_of,
)
from xtile.text.files import source_from_bytes, source_from_path
from xtile.text.source import Source
from xtile.universe import XTILE_UNIVERSE

if TYPE_CHECKING:
    from xtile.text.mlir_printer import MlirPrinter
    from xtile.translate.route import Options

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

_CHOOSERS = f"--translate, or -t with one of {', '.join(COMPILING)}"
"""What chooses instructions for a chip."""


class XtileOptMain(xDSLOptMain):
    """xDSL's driver with located errors and the languages of this package."""

    def __init__(self, args: Sequence[str] | None = None) -> None:
        # Three registrations need it, and making it scans the installed packages.
        self._universe = _installed_universe()
        self._diagnostics = Diagnostics()
        self._running_step = ""
        self._running: object = None
        self._emitter: Target | None = None
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
        self._enter_folder()
        self._check_arguments()
        self._target = self._target_spec()
        self._emitter = self._make_emitter()
        self._check_passes()
        self._steps = StepLog(
            self.args.time_passes, self.args.print_between_passes, lambda m: self._mlir(m)
        )
        try:
            self.pipeline = PassPipeline.parse_spec(
                self.available_passes, self.args.passes, self._between_passes
            )
        except ValueError as error:
            self._usage_error(f"argument -p/--passes: {error}")
        except ImportError as error:
            raise step_error(error, f"a pass of '{self.args.passes}'", self) from error

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
            with _shown_warnings():
                self.pipeline.apply(self.ctx, module)
                module = self._compile(self._translate(module, diagnostics), diagnostics)
                return self._print(module)
        except DiagnosticError as error:
            for diagnostic in error.diagnostics:
                diagnostics.add(diagnostic)
        except DiagnosticException as error:
            diagnostics.error(source, None, f"{self._running_step} failed: {error}")
        except DeviceError:
            raise
        except Exception as error:
            raise step_error(error, self._running_step, self._running) from error
        return None

    def _translate(self, module: ModuleOp, diagnostics: Diagnostics) -> ModuleOp:
        """Translates a module as the command line says, and verifies the result.

        Raises:
            DiagnosticError: Something cannot be translated.
        """
        if self.args.translate is None:
            return module
        route = translations()[self.args.translate].route
        if route is None:
            return module
        from xtile.translate.contracts import warn_of_left_out
        from xtile.translate.route import ROUTES, translate

        self._running_step, self._running = f"translation '{route.name}'", self
        if ROUTES.leaves_out_hosts(route.target):
            warn_of_left_out(module, diagnostics)
        wanted = diagnostics if self.args.remarks else None
        result = translate(module, route.name, self._options(), wanted, self._steps.begin)
        self._steps.end()
        found = Diagnostics()
        self._verify(result, found)
        if found.has_errors:
            raise DiagnosticError(list(found))
        return result

    def _options(self) -> Options:
        """What a translation may depend on, as the command line says."""
        from xtile.translate.route import Options

        arguments = self.args
        return Options(
            arguments.chip,
            arguments.matrix_spelling,
            arguments.may_overlap,
            arguments.xegpu_level,
            exact=arguments.exact,
            warps=arguments.num_warps,
        )

    def _compile(self, module: ModuleOp, diagnostics: Diagnostics) -> ModuleOp:
        """The module in the language that the target encodes.

        Raises:
            DiagnosticError: A kernel cannot be compiled to that language.
        """
        if self._target.name not in COMPILING:
            return module
        from xtile.output_formats import CompilingFormat
        from xtile.translate.contracts import warn_of_left_out

        assert isinstance(self._emitter, CompilingFormat)
        warn_of_left_out(module, diagnostics)
        wanted = diagnostics if self.args.remarks else None
        result = self._emitter.compile(module, wanted, self._steps.begin)
        self._steps.end()
        return result

    def _verify(self, module: ModuleOp, diagnostics: Diagnostics) -> None:
        """Verifies a module unless the command line says otherwise."""
        if self.args.skip_verify:
            return
        from xtile.dialects.verification import verify_module

        verify_module(module, diagnostics)

    def _between_passes(
        self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
    ) -> None:
        """Verifies what a pass has left, and shows it if the command line says so.

        Raises:
            DiagnosticError: The pass has left an invalid module.
        """
        from xtile.dialects.normalisation import give_back, normalise

        self._steps.end()
        normalise(module)
        if previous is not None:
            found = Diagnostics()
            self._verify(module, found)
            if found.has_errors:
                raise DiagnosticError([_after_pass(error, previous) for error in found])
        self._running = self._emitter if following is None else following
        if following is None:
            self._running_step = f"target '{self._target.name}'"
        else:
            self._running_step = f"pass '{following.name}'"
            if following.name not in XTILE_UNIVERSE.all_passes:
                # It knows the classes of xDSL's.
                give_back(module)
            self._steps.begin(following.name, module)

    def _print(self, module: ModuleOp) -> str | bytes:
        """Returns a module in the target's language."""
        self._check_version(module)
        if self._emitter is None:
            return self._mlir(module, self._triton_printer(module) or self._xegpu_printer(module))
        from xtile.output_formats import BinaryFormat

        if isinstance(self._emitter, BinaryFormat):
            return self._emitter.encode(module)
        output = StringIO()
        self._emitter.emit(self.ctx, module, output)
        first = module.body.ops.first
        if not output.getvalue() and first is not None:
            # Some of xDSL's targets leave out every operation that they do not know.
            raise error_at(first, f"{self._running_step} writes none of the operations here")
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

    def _triton_printer(self, module: ModuleOp) -> type[MlirPrinter] | None:
        """Makes a module one of the release of Triton that is asked for; returns what prints it.

        Raises:
            DiagnosticError: The release cannot say what is in the module.
        """
        if self.args.triton_version is None:
            return None
        from xtile.dialects.triton.adapt import printer_for
        from xtile.dialects.triton.versions import parse_release

        return printer_for(module, parse_release(self.args.triton_version), self._diagnostics)

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
            self._check_encoding()
        if arguments.remarks and self._content is None:
            self._usage_error(f"argument --remarks: needs {_CHOOSERS}")
        self._check_chip()
        self._check_matrix_spelling()
        if arguments.may_overlap:
            self._check_overlaps()
        self._check_options_of_routes()
        if arguments.split_input_file and self._target_name in BINARY:
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

    def _check_options_of_routes(self) -> None:
        """Ends the process if no route that is taken reads an option."""
        arguments = self.args
        if arguments.exact and not self._reads("exact"):
            self._usage_error(
                "argument --exact: is for kernels that become tiles for NVIDIA's chips"
            )
        if arguments.xegpu_level is not None and (
            arguments.translate is None or not self._reads("xegpu_level")
        ):
            self._usage_error(
                "argument --xegpu-level: is for kernels of XeGPU that --translate takes or makes"
            )
        if arguments.num_warps is not None and (
            arguments.translate is None or not self._reads("warps")
        ):
            self._usage_error(
                "argument --num-warps: is for kernels that --translate gives layouts, as "
                "triton-to-amdg does"
            )

    def _check_overlaps(self) -> None:
        """Ends the process if nothing is compiled for arguments that overlap."""
        if not self._reads("may_overlap"):
            self._usage_error(
                "argument --may-overlap: is for kernels of the tensor language and the core form "
                "that are translated"
            )
        if ENCODED.get(self._target_name) == "triton":
            self._usage_error(
                "argument --may-overlap: Triton takes different arguments for different memory"
            )

    def _check_chip(self) -> None:
        """Ends the process if a chip is not of the kind that kernels are translated for."""
        chip = self.args.chip
        if chip is None:
            return
        if self._content is None:
            self._usage_error(f"argument --chip: needs {_CHOOSERS}")
        from xtile.targets import OptionError
        from xtile.translate.route import ROUTES, check_route, check_target

        try:
            if self.args.translate in ROUTES.names:
                check_route(self.args.translate, chip)
            else:
                check_target(self._content, chip)
        except OptionError as error:
            self._usage_error(f"argument --chip: {error}")

    def _check_matrix_spelling(self) -> None:
        """Ends the process if products are not spelled here, or the chip lacks the spelling."""
        spelling = self.args.matrix_spelling
        if spelling is None:
            return
        if not self._reads("matrix_spelling"):
            self._usage_error("argument --matrix-spelling: is for kernels that become SPIR-V")
        from xtile.targets import INTEL
        from xtile.targets.spellings import check_spelling

        try:
            check_spelling(spelling, self._options().target(INTEL))
        except ValueError as error:
            self._usage_error(f"argument --matrix-spelling: {error}")

    def _check_encoding(self) -> None:
        """Ends the process if the target cannot hold what a translation ends with."""
        content, target = translations()[self.args.translate].content, self._target_name
        content = LANGUAGE_OF_LEVEL.get(content, content)
        if not self.args.is_target_given or target == "mlir" or ENCODED.get(target) == content:
            return
        others = (name for name, encoded in ENCODED.items() if encoded == content)
        known = " or ".join(("mlir", *others))
        self._usage_error(
            f"argument -t/--target: {target} does not encode {content}, which "
            f"--translate {self.args.translate} ends with; choose {known}"
        )

    def _reads(self, option: str) -> bool:
        """Whether translating kernels as the command line says depends on an option."""
        from xtile.translate.route import ROUTES

        if self._content is None:
            return False
        source = None
        if self.args.translate is not None:
            route = translations()[self.args.translate].route
            source = None if route is None else route.source
        return option in ROUTES.options_of(self._content, source)

    @property
    def _content(self) -> str | None:
        """The language that kernels are translated or compiled to; None if they are not."""
        if self.args.translate is not None:
            translation = translations()[self.args.translate]
            return None if translation.route is None else translation.content
        return ENCODED[self._target_name] if self._target_name in COMPILING else None

    def _check_passes(self) -> None:
        """Ends the process if a pass is unknown."""
        for spec in parse_pipeline(self.args.passes):
            if spec.name not in self.available_passes:
                hint = _similar(spec.name, list(self.available_passes))
                self._usage_error(f"argument -p/--passes: unknown pass '{spec.name}'{hint}")

    def _target_spec(self) -> ArgSpec:
        """Returns the target and its options."""
        if self.args.translate is not None and not self.args.is_target_given:
            return ArgSpec(translations()[self.args.translate].target, {})
        spec = parse_spec(self.args.target)
        given: dict[str, str | bool | None] = {}
        if spec.name in COMPILING:
            given["chip"] = self.args.chip
            if ENCODED[spec.name] != "triton":
                given["may-overlap"] = self.args.may_overlap or None
            if ENCODED[spec.name] == "cuda_tile":
                given["exact"] = self.args.exact or None
        if ENCODED.get(spec.name) == "spirv":
            given["matrix-spelling"] = self.args.matrix_spelling
        if spec.name == _BYTECODE:
            given["version"] = self.args.cuda_tile_version
        more = {name: (value,) for name, value in given.items() if value is not None}
        for name in more:
            if name in spec.parameters:
                self._usage_error(f"argument -t/--target: {name} is given twice")
        return ArgSpec(spec.name, {**spec.parameters, **more})

    def _make_emitter(self) -> Target | None:
        """Returns the target, or None if it is MLIR; ends the process if its options are wrong."""
        if self._target.name == "mlir":
            return None
        try:
            return self._universe.all_targets[self._target.name]().from_spec(self._target)
        except ValueError as error:
            self._usage_error(f"argument -t/--target: {error}")
        except ImportError as error:
            raise step_error(error, f"target '{self._target.name}'", self) from error

    @property
    def _target_name(self) -> str:
        """The name of the target that the command line says."""
        return parse_spec(self.args.target).name

    def _input_language(self) -> Language | None:
        """Returns the language of the input, or None where only its text tells.

        Ends the process if the name of a file does not tell it.
        """
        if self.args.frontend is not None:
            return LANGUAGES[self.args.frontend]
        path = "" if self._reads_standard_input() else self.args.input_file
        extension = os.path.splitext(path)[1].removeprefix(".")
        if self.args.translate is not None and extension not in LANGUAGES:
            return LANGUAGES[translations()[self.args.translate].extension]
        if not path:
            return None
        if extension not in LANGUAGES:
            self._usage_error(
                f"{self.args.input_file}: expected a file ending with {file_endings()}; "
                "use --frontend to say what is in it"
            )
        return LANGUAGES[extension]

    def _enter_folder(self) -> None:
        """Takes the kernel of a folder that Triton wrote; ends the process if there is none."""
        path = self.args.input_file
        if path is None or not os.path.isdir(path):
            return
        from xtile.dialects.triton_dumps import kernel_file

        try:
            self.args.input_file = kernel_file(path)
        except DiagnosticError as error:
            self._show(error.diagnostics)
            sys.exit(EXIT_INPUT_WRONG)

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
            return source_from_path(self.args.input_file, is_binary)
        data = sys.stdin.buffer.read()
        if is_binary or (language is None and guess_binary(data) is not None):
            return Source.from_binary(STANDARD_INPUT, data)
        return source_from_bytes(STANDARD_INPUT, data)

    def _read_stream(self, stream: IO[bytes]) -> ModuleOp:
        """Reads a module as xDSL's own drivers do.

        Raises:
            DiagnosticError: The text has errors.
        """
        source = source_from_bytes(self.args.input_file or STANDARD_INPUT, stream.read())
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
        from xtile.text.files import write_file

        try:
            write_file(path, text)
        except OSError as error:
            self._usage_error(f"argument -o/--output-file: cannot write {path}: {error.strerror}")

    def _show(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Prints diagnostics to standard error."""
        colored = is_colored(self.args.color)
        for diagnostic in diagnostics:
            words = _json_of(diagnostic) if self.args.json else None
            sys.stderr.write(f"{words or diagnostic.render(colored)}\n")

    def _usage_error(self, message: str) -> NoReturn:
        """Ends the process because the command line is wrong."""
        self._arg_parser.error(message)


def _json_of(diagnostic: Diagnostic) -> str:
    import json

    return json.dumps(words_of(diagnostic))


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
        return XtileOptMain(args).execute()
    # xDSL parses the target's and the passes' options, and its error is none of `Exception`.
    except ArgSpecParseError as error:
        sys.stderr.write(f"xtile-opt: error: {error}\n")
        return EXIT_USAGE_WRONG
    except DeviceError as error:
        sys.stderr.write(f"xtile-opt: error: {error}\n")
        return EXIT_TOOL_FAILED
    except StepError as error:
        show_trace()
        sys.stderr.write(f"xtile-opt: error: {error}\n")
        return EXIT_TOOL_FAILED


@contextmanager
def _shown_warnings() -> Generator[None]:
    """Shows what passes warn of as this command does, not as Python does."""

    def show(message: Warning | str, *_: object) -> None:
        sys.stderr.write(f"{message}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("always", SourceWarning)
        warnings.showwarning = show
        yield


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
