"""The command line of `xtile-opt`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import override

from xtile.dialects.cuda_tile.versions import DEFAULT_VERSION, VERSIONS
from xtile.dialects.languages import LANGUAGES
from xtile.dialects.triton.versions import RELEASES
from xtile.targets import COMPILED_VENDORS, INTEL, NVIDIA

if TYPE_CHECKING:
    from xtile.translate.search import Route

DESCRIPTION = """\
Reads a kernel, verifies it, runs passes on it and prints it. All errors of a file go to standard
error in source order.

Exit code: 0 all went well, 1 the input is wrong, 2 the command line is wrong, 3 xtile-opt failed.
"""


class Translation(NamedTuple):
    """From one language to another.

    Attributes:
        extension: The extension of the language that is read.
        content: The language that comes out.
        target: The target that prints it, where no other is asked for.
        route: The route of `xtile.translate` between them; None if there is nothing to translate.
    """

    extension: str
    content: str
    target: str
    route: Route | None = None


@cache
def translations() -> Mapping[str, Translation]:
    """What `--translate` offers."""
    from xtile.translate.route import ROUTES

    found = {
        name: Translation(ROUTES.extension_of(route), route.target, "mlir", route)
        for name, route in ROUTES.routes.items()
    }
    return {"tensorlang-to-tensorlang": Translation("ir", "tensorlang", "tensorlang"), **found}


def _spellings() -> Collection[str]:
    from xtile.targets.spellings import SPELLINGS

    return SPELLINGS


ENCODED = {
    "tensorlang": "tensorlang",
    "spirv": "spirv",
    "spirv-asm": "spirv",
    "tileir-bytecode": "cuda_tile",
    "amdgcn": "triton",
    "hsaco": "triton",
}
"""The one language that a target encodes; MLIR holds all of them."""

LANGUAGE_OF_LEVEL = {"amdg": "triton"}
"""The language of a level that translations end with, where targets encode all of the language."""

COMPILING = tuple(name for name in ENCODED if name != "tensorlang")
"""The targets that kernels of other languages are compiled to."""

BINARY = ("spirv", "tileir-bytecode", "hsaco")
"""The targets that are bytes."""

TENSORLANG_REVISIONS = ("v0.1", "v0.3", "v0.4")
"""The revisions of the tensor language that can be read."""


XEGPU_SYNTAXES = ("llvm22", "rfc")
"""The forms in which XeGPU can be printed."""


class _LateChoices:
    """The choices of an option, which are looked up when it is given: plain reading needs none.

    Args:
        names: Finds them.
    """

    def __init__(self, names: Callable[[], Collection[str]]) -> None:
        self._names = names

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Shows the names of chips, whose tables are loaded for it."""

    @override
    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.dest != "chip" or action.help is None:
            return action.help
        chips = (f"{', '.join(vendor.chips)} ({vendor.name})" for vendor in COMPILED_VENDORS)
        return action.help.format(chips="; ".join(chips))


def add_arguments(parser: argparse.ArgumentParser, passes: list[str], targets: list[str]) -> None:
    """Declares every argument.

    Args:
        parser: Where to declare them.
        passes: The names of this package's own passes, for the help text.
        targets: The names of all targets, for the help text.
    """
    parser.prog = "xtile-opt"
    parser.usage = "xtile-opt [option ...] [input_file]; --help lists the options"
    parser.description = DESCRIPTION
    parser.formatter_class = _HelpFormatter
    _add_input_arguments(parser)
    _add_pass_arguments(parser, passes)
    _add_output_arguments(parser, targets)
    parser.add_argument("-v", "--version", action=_VersionAction, help="show versions and exit")
    parser.add_argument(
        "--routes",
        action=_RoutesAction,
        help="show the steps of each translation, and exit",
    )


def _add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares what is read and how."""
    group = parser.add_argument_group("input")
    group.add_argument(
        "input_file", nargs="?", help="path of the kernel; standard input if it is '-' or left out"
    )
    group.add_argument(
        "-f",
        "--frontend",
        choices=list(LANGUAGES),
        help="language of the input; default: what the file name or, without one, the text tells",
    )
    group.add_argument(
        "--translate",
        metavar="A-to-B",
        choices=_LateChoices(translations),
        help="read one language and print another; sets --frontend where the name of the file does "
        "not tell it, and --target where it is not given",
    )
    group.add_argument(
        "--chip",
        metavar="NAME",
        help="chip that --translate or -t compiles for: {chips}; default: "
        f"{INTEL.default}, or {NVIDIA.default} where kernels become tiles",
    )
    group.add_argument(
        "--matrix-spelling",
        metavar="NAME",
        choices=_LateChoices(_spellings),
        help="how SPIR-V writes products of matrices and accesses of blocks; default: what drivers "
        "of the chip take",
    )
    _add_flag(
        group,
        "--may-overlap",
        "let kernels that --translate or -t compiles expect arguments that overlap although they "
        "are written",
    )
    _add_flag(
        group,
        "--exact",
        "multiply f32 with fused multiply-adds where a chip has faster products of their parts, "
        "and round the arguments of native powers as the kernel says",
    )
    group.add_argument(
        "--xegpu-level",
        choices=("work-group", "subgroup", "vc", "lane"),
        help="who holds the vectors of kernels of XeGPU that --translate makes, or takes where "
        "these do not say so; vc: each work-item is a subgroup; default of xegpu-to-xegpu: lane",
    )
    group.add_argument(
        "--num-warps",
        type=_warps,
        metavar="N",
        help="warps of a program where --translate chooses layouts for a chip of AMD; default: as "
        "many as tensors keep busy, and 4 at most, or 8 for large products",
    )
    _add_flag(group, "--remarks", "tell why --translate or -t chose what it did, at its location")
    group.add_argument(
        "--tensorlang-revision",
        choices=TENSORLANG_REVISIONS,
        help="revision of tensor language input; default: detected from the text",
    )
    _add_flag(
        group, "--split-input-file", "process the parts between `// -----` lines on their own"
    )
    _add_flag(group, "--allow-unregistered-dialect", "accept operations of unknown dialects")


def _warps(text: str) -> int:
    """A number of warps.

    Raises:
        ArgumentTypeError: A program cannot have so many.
    """
    if text not in ("1", "2", "4", "8", "16"):
        raise argparse.ArgumentTypeError(f"a program has 1, 2, 4, 8 or 16 warps, not {text}")
    return int(text)


def _add_pass_arguments(parser: argparse.ArgumentParser, passes: list[str]) -> None:
    """Declares what is done with the input."""
    group = parser.add_argument_group("passes and checks")
    group.add_argument(
        "-p",
        "--passes",
        default="",
        metavar="PASS[,PASS...]",
        help=f"passes to run, of xDSL or of xtile: {', '.join(passes)}",
    )
    group.add_argument(
        "--disable-verify", dest="skip_verify", action="store_true", help="do not verify the kernel"
    )
    _add_flag(
        group,
        "--verify-diagnostics",
        "check the errors against the comments `expected-error {{...}}` of the input",
    )
    _add_flag(
        group,
        "--print-between-passes",
        "show the kernel between passes and steps of translations on standard error",
    )
    _add_flag(
        group,
        "--time-passes",
        "show how long passes and steps of translations take on standard error",
    )


def _add_output_arguments(parser: argparse.ArgumentParser, targets: list[str]) -> None:
    """Declares what is printed and where."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "-t",
        "--target",
        action=_TargetAction,
        default="mlir",
        help=f"language of the output; default: mlir; available: {', '.join(targets)}",
    )
    parser.set_defaults(is_target_given=False)
    group.add_argument("-o", "--output-file", help="path of the output; default: standard output")
    group.add_argument(
        "--cuda-tile-version",
        choices=[str(version) for version in VERSIONS],
        help="version of CUDA Tile IR that may be used and that its bytecode has; default: any, "
        f"and {DEFAULT_VERSION} for bytecode",
    )
    group.add_argument(
        "--triton-version",
        choices=[str(release) for release in RELEASES],
        help="release of Triton whose text is printed, with what it has instead of operations that "
        "it does not know; default: the newest form of each operation. Text of every release is "
        "read",
    )
    _add_flag(group, "--print-op-generic", "print MLIR's generic form")
    _add_flag(group, "--print-debuginfo", "print locations in MLIR text")
    _add_flag(
        group,
        "--print-local-scope",
        "print attributes and locations in full instead of by aliases; xDSL reads no alias before "
        "its definition",
    )
    group.add_argument(
        "--xegpu-syntax",
        choices=XEGPU_SYNTAXES,
        default=XEGPU_SYNTAXES[0],
        help="form of XeGPU in MLIR text: LLVM 22's or its RFC's; default: llvm22; "
        "both are read without being asked for",
    )
    group.add_argument(
        "--color",
        choices=["auto", "always", "never"],
        default="auto",
        help="colours in messages; default: auto, on a terminal",
    )
    _add_flag(group, "--json", "write each message as one line of JSON")


def _add_flag(group: argparse._ArgumentGroup, name: str, text: str) -> None:  # pyright: ignore[reportPrivateUsage]
    """Declares an argument without a value."""
    group.add_argument(name, action="store_true", help=text)


class _TargetAction(argparse.Action):
    """Remembers that a target was given, because the default one could be meant as well."""

    @override
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        namespace.target = values
        namespace.is_target_given = True


class _PrintingAction(argparse.Action):
    """An argument without a value, instead of which something is printed."""

    def __init__(self, option_strings: list[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)


class _VersionAction(_PrintingAction):
    """Prints the versions when they are asked for, because looking them up takes time."""

    @override
    def __call__(self, parser: argparse.ArgumentParser, *arguments: object) -> None:
        from importlib.metadata import version

        from xtile import __version__

        print(f"xtile-opt {__version__} (xDSL {version('xdsl')})")
        parser.exit()


class _RoutesAction(_PrintingAction):
    """Prints the routes, and what each pass does with a kernel."""

    @override
    def __call__(self, parser: argparse.ArgumentParser, *arguments: object) -> None:
        from xtile.translate.listing import list_routes
        from xtile.translate.route import ROUTES

        print(list_routes(ROUTES))
        parser.exit()
