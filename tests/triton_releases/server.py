"""Answers questions about text and functions with the Triton on its path; a process of its own.

    python -m tests.triton_releases.server PARENT ANSWERS

ends with the process PARENT. A question is a line of JSON on standard input, an answer one on the
file descriptor ANSWERS. What Triton itself writes to the descriptors 1 and 2 is for the parent.

`judge`     parses and verifies the text of a module.
`compile`   compiles a function up to a stage, such as `source`, `ttir` or `ttgir`.
`assemble`  compiles the text of a module to machine code.
`interpret` runs a function with Triton's interpreter, where TRITON_INTERPRET is set.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import re
import resource
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.triton_releases.interpreter import interpret
from xtile.processes import die_with

Question = dict[str, Any]
Answer = dict[str, Any]

_LANES_OF_GFX9 = 64
"""The lanes of a warp of chips whose names begin with gfx9; of others 32."""

_MEMORY = 8 * 2**30
"""Bytes of addresses that the process may have."""


def _target(chip: str) -> Any:
    target = _triton("backends.compiler").GPUTarget
    if chip.isdigit():
        return target("cuda", int(chip), 32)
    return target("hip", chip, _LANES_OF_GFX9 if chip.startswith("gfx9") else 32)


def _triton(module: str) -> Any:
    """A module of Triton, which is loaded when something is asked."""
    return import_module(f"triton.{module}")


def _backend(chip: str) -> Any:
    return _triton("compiler.compiler").make_backend(_target(chip))


def _context(backend: Any) -> Any:
    ir = _triton("_C.libtriton").ir
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return context


def _judge(question: Question) -> Answer:
    context = _context(_backend(question["chip"]))
    # Diagnostics name it; it is in the process's own folder.
    Path("input.mlir").write_text(question["text"])
    module = _triton("_C.libtriton").ir.parse_mlir_module("input.mlir", context)
    if not module.verify():
        raise ValueError("the module does not verify")
    return _printed(module, context)


def _printed(module: Any, context: Any) -> Answer:
    """Text without locations, in the generic form, and as Triton's own cache has it.

    Triton's Python cannot ask for the generic form, but what is not valid is printed so. An
    attribute of a wrong type makes the module invalid, and is taken out of the text.
    """
    if isinstance(module, str):
        return {"text": module, "located": module, "generic": ""}
    text, located = module.str_nodebug(), str(module)
    wrong = "llvm.data_layout"
    module.set_attr(wrong, _triton("_C.libtriton").ir.builder(context).get_int32_attr(1))
    generic = re.sub(rf" \{{{wrong} = 1 : i32\}}|{wrong} = 1 : i32, ", "", module.str_nodebug())
    return {"text": text, "located": located, "generic": generic}


def _compile(question: Question) -> Answer:
    target, backend = _target(question["chip"]), _backend(question["chip"])
    options = backend.parse_options(
        {
            "num_warps": question["warps"],
            "num_stages": question["stages"],
            "debug": question["debug"],
        }
    )
    context = _context(backend)
    source = _source(question, backend)
    stages: dict[str, Callable[[Any, Any], Any]] = {}
    backend.add_stages(stages, options, *_language(backend, source))
    metadata: dict[str, Any] = {"target": target, **vars(options)}
    module = _module(source, target, options, backend, context)
    for name, run in [] if question["stage"] == "source" else stages.items():
        module = run(module, metadata)
        if name == question["stage"]:
            break
    answer = _printed(module, context)
    return {**answer, "metadata": json.loads(json.dumps(metadata, default=_plain))}


def _assemble(question: Question) -> Answer:
    """Compiles the text of a module of `tt` or `ttg` with one kernel to machine code."""
    path = f"input.{question['language']}"
    Path(path).write_text(question["text"])
    made = _triton("compiler").compile(path, target=_target(question["chip"]))
    notes = {"kinds": sorted(made.asm), "shared": made.metadata.shared}
    return {"text": made.asm.get("amdgcn", ""), "metadata": notes}


def _plain(value: Any) -> Any:
    fields: Any = getattr(value, "__dict__", None)
    return sorted(value) if fields is None else fields


def _language(backend: Any, source: Any) -> list[Any]:
    """The language, which backends ask for that have more than one."""
    return [source.language] if len(inspect.signature(backend.add_stages).parameters) > 2 else []


def _source(question: Question, backend: Any) -> Any:
    function = _function(question)
    names = list(function.arg_names)
    signature = {name: question["signature"].get(name, "constexpr") for name in names}
    attributes = {
        (names.index(name),): backend.parse_attr("DS" if signature[name][0] == "*" else "D")
        for name in question["divisible"]
    }
    return _triton("compiler.compiler").ASTSource(
        function, signature, _constants(question), attributes
    )


def _constants(question: Question) -> dict[str, Any]:
    return {name: _constant(value) for name, value in question["constants"].items()}


def _constant(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("tl."):
        return getattr(_triton("language"), value.removeprefix("tl."))
    return value


def _module(source: Any, target: Any, options: Any, backend: Any, context: Any) -> Any:
    """The module that the front end makes; newer releases ask for the target, too."""
    given = [options, backend.get_codegen_implementation(options), backend.get_module_map()]
    if "target" in inspect.signature(source.make_ir).parameters:
        given.insert(0, target)
    return source.make_ir(*given, context)


def _function(question: Question) -> Any:
    return getattr(_module_of_file(question["file"]), question["function"])


@cache
def _module_of_file(file: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"kernels_{Path(file).stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _interpret(question: Question) -> Answer:
    arguments = {**_constants(question), **question["numbers"]}
    types = {name: type_[1:] for name, type_ in question["signature"].items()}
    arrays = question["arrays"]
    return {"arrays": interpret(_function(question), question["grid"], arguments, arrays, types)}


_ANSWERS = {"judge": _judge, "compile": _compile, "assemble": _assemble, "interpret": _interpret}


def _answered(question: Question) -> Answer:
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + question["seconds"]
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
    try:
        return {"ok": True, **_ANSWERS[question["ask"]](question)}
    except Exception as error:
        return {"ok": False, "error": _said(error)}


def _said(error: BaseException) -> str:
    """An error with what it came from, on lines of their own."""
    cause = error.__cause__
    return f"{type(error).__name__}: {error}" + (f"\n{_said(cause)}" if cause else "")


def main(parent: int, answers: int) -> None:
    """Answers until standard input ends."""
    die_with(parent)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    with os.fdopen(answers, "w") as output:
        for line in sys.stdin:
            answer = _answered(json.loads(line))
            sys.stdout.flush()
            sys.stderr.flush()
            print(json.dumps(answer), file=output, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
