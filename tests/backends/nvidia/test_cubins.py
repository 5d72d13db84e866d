"""Assembling bytecode, what is kept of it, and what is said where the assembler fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from xtile.arguments.errors import DeviceError
from xtile.backends.cache import Cache
from xtile.backends.located_log import located, shortened
from xtile.backends.nvidia import cubins
from xtile.backends.nvidia.cubins import build_cubin
from xtile.backends.nvidia.tools import Tool, find_tileiras
from xtile.text.diagnostics import DiagnosticError
from xtile.text.source import Source, Span

SOURCE = Source("kernels/k.ir", "func @f() {\n    nothing\n}\n")

DEBUG_INFORMATION = (
    '#cuda_tile.di_loc<loc("/tmp/k.ir":2:5) in #cuda_tile.di_subprogram<file = <"k.ir" in "/tmp">, '
    'line = 1, name = "f", linkageName = "f", compileUnit = <file = <"k.ir" in "/tmp">>, '
    "scopeLine = 1>>: error: it is wrong"
)
"""How tileiras 13.5.37 writes the location of an error."""


class FakeTool:
    """A script in place of the assembler, which counts how often it runs."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        self.tool = Tool(directory / "tileiras", "13.5.1", is_packaged=False)
        monkeypatch.setattr(cubins, "find_tileiras", lambda: self.tool)

    def does(self, *lines: str) -> None:
        """Sets what it does; $* are its arguments and $last is the path of the cubin."""
        begin = ("#!/bin/sh", f"echo $* >> {self.directory}/runs", "for last; do :; done")
        self.tool.path.write_text("\n".join((*begin, *lines, "")))
        self.tool.path.chmod(0o755)

    @property
    def runs(self) -> list[list[str]]:
        """The arguments of each run."""
        path = self.directory / "runs"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture(name="tool")
def fake_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTool:
    return FakeTool(tmp_path, monkeypatch)


@pytest.fixture(name="cache")
def empty_cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def test_it_is_assembled_once(tool: FakeTool, cache: Cache) -> None:
    tool.does('cp "$5" "$last"')
    for _ in range(2):
        assert build_cubin(b"bytecode", "sm_90", cache) == b"bytecode"
    assert len(tool.runs) == 1
    gpu, chip, level, lines, source, _, target = tool.runs[0]
    assert (gpu, chip, level, lines) == ("--gpu-name", "sm_90", "-O3", "--lineinfo")
    # Nothing is left behind.
    assert not Path(source).parent.exists()
    assert not Path(target).exists()


def test_what_it_depends_on(tool: FakeTool, cache: Cache) -> None:
    tool.does('cp "$5" "$last"')
    build_cubin(b"1", "sm_90", cache)
    build_cubin(b"2", "sm_90", cache)
    build_cubin(b"1", "sm_80", cache)
    build_cubin(b"1", "sm_90", cache, level=0)
    tool.tool = Tool(tool.tool.path, "13.5.2", is_packaged=False)
    build_cubin(b"1", "sm_90", cache)
    assert len(tool.runs) == 5
    assert [run[2] for run in tool.runs] == ["-O3", "-O3", "-O3", "-O0", "-O3"]


def failure_of(cache: Cache, source: Source | None = None, seconds: float | None = None) -> str:
    with pytest.raises(DeviceError) as raised:
        build_cubin(b"bytecode", "sm_90", cache, seconds=seconds, source=source)
    return str(raised.value)


def test_a_failure_is_explained_and_remembered(tool: FakeTool, cache: Cache) -> None:
    tool.does("echo 'error: at offset 7' >&2", "exit 3")
    assert failure_of(cache) == (
        "tileiras 13.5.1, for sm_90, cannot build the kernel: it ended the process with code 3\n"
        "error: at offset 7"
    )
    assert failure_of(cache) == (
        "tileiras 13.5.1, for sm_90, cannot build the kernel: it ended the process with code 3 "
        "(in an earlier attempt; `xtile cache clear` forgets it)\nerror: at offset 7"
    )
    assert len(tool.runs) == 1
    cache.clear()
    tool.does('cp "$5" "$last"')
    assert build_cubin(b"bytecode", "sm_90", cache) == b"bytecode"


def test_another_ptxas(tool: FakeTool, cache: Cache) -> None:
    tool.does("exit 5")
    ptxas = tool.directory / "ptxas"
    ptxas.write_text("#!/bin/sh\necho V13.4.2\n")
    ptxas.chmod(0o755)
    for _ in range(2):
        assert "\nits ptxas is of version 13.4.2, but both must be" in failure_of(cache)


def test_a_signal(tool: FakeTool, cache: Cache) -> None:
    tool.does("kill -SEGV $$")
    assert "cannot build the kernel: it died of SIGSEGV" in failure_of(cache)


def test_more_time_is_another_attempt(tool: FakeTool, cache: Cache) -> None:
    tool.does("sleep 600")
    for _ in range(2):
        assert "it was not done after 0.5 s" in failure_of(cache, seconds=0.5)
    assert len(tool.runs) == 1
    assert "it was not done after 1 s" in failure_of(cache, seconds=1.0)
    assert len(tool.runs) == 2


def test_temporary_files_are_removed(tool: FakeTool, cache: Cache) -> None:
    tool.does(f'echo "$TMPDIR" > {tool.directory}/place', 'touch "$TMPDIR/x"', "exit 1")
    failure_of(cache)
    position = Path((tool.directory / "place").read_text().strip())
    assert position.name.startswith("xtile-tileiras-")
    assert not position.exists()


def test_no_cubin(tool: FakeTool, cache: Cache) -> None:
    tool.does("echo done")
    assert failure_of(cache).endswith("cannot build the kernel: it wrote no cubin\ndone")


def test_it_cannot_be_started(tool: FakeTool, cache: Cache) -> None:
    assert "it cannot be started: there is no program " in failure_of(cache)


def test_an_error_with_a_place(tool: FakeTool, cache: Cache) -> None:
    tool.does(f"echo '{DEBUG_INFORMATION}' >&2", "exit 5")
    for _ in range(2):
        with pytest.raises(DiagnosticError) as raised:
            build_cubin(b"bytecode", "sm_90", cache, source=SOURCE)
        (diagnostic,) = raised.value.diagnostics
        assert diagnostic.render() == ("kernels/k.ir:2.5: error: it is wrong\n    nothing\n    ~")
    # Where the text is not known, the location is written as compilers write it.
    assert failure_of(cache).endswith("\n/tmp/k.ir:2:5: error: it is wrong")


def test_places() -> None:
    def spans(log: str) -> list[Span | None]:
        return [diagnostic.span for diagnostic in located(log, SOURCE)]

    assert spans('loc("k.ir":2:7): error: no') == [Span(18, 19)]
    # Debug information may leave the column open: it is the line then.
    assert spans('loc("/a/b/k.ir":2:0): error: no') == [Span(16, 23)]
    assert spans('loc("other.ir":2:7): error: no') == []
    assert spans('loc("k.ir":9:1): error: no') == []
    assert spans('loc("k.ir":2:7): warning: perhaps') == []
    assert spans("error: nowhere") == []
    two = 'loc("k.ir":1:1): error: one\nloc("k.ir":3:1): error: two'
    assert [diagnostic.message for diagnostic in located(two, SOURCE)] == ["one", "two"]
    assert shortened(two) == "k.ir:1:1: error: one\nk.ir:3:1: error: two"
    assert shortened("error: nowhere") == "error: nowhere"


def test_what_is_no_bytecode(cache: Cache) -> None:
    message = failure_of(cache)
    assert message.startswith(f"{find_tileiras()}, for sm_90, cannot build the kernel: it ended ")
    assert "error: input does not correspond to Tile IR bytecode" in message
