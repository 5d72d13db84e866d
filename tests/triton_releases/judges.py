"""The releases of Triton as judges: what each reads, prints, compiles and interprets.

The newest is in the environment. XTILE_TRITON_RELEASES there, or pytest's option `--triton-all`,
names a folder with more of them, each unpacked into a folder that has the release's name
(`pip download --no-deps triton==3.4.0` and `python -m zipfile -e`).

Triton runs in processes of its own, one for each release, which are started when they are first
asked. A question that ends one (Triton aborts on some inputs) is answered by that.
"""

from __future__ import annotations

import atexit
import base64
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any

import numpy as np

from tests.triton_releases.folders import folders, newest
from tests.triton_releases.source import Source
from xtile.backends.cache import Cache
from xtile.backends.tools import signal_name

SECONDS = 30
"""Time of the processor that a question may take; kernels of the corpus take less than one."""

NEWEST = newest()
"""The release in the environment."""

_SERVER = "tests.triton_releases.server"

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Verdict:
    """What a release says of a module.

    Attributes:
        accepted: Whether it parses, verifies, or compiles; if not, the texts are empty.
        said: The diagnostics, and the error or the signal that ended it.
        text: The module as the release prints it, without locations.
        located: The module as the release's own cache on disk has it, with locations.
        generic: The module in MLIR's generic form, without locations.
        metadata: What a compiler notes beside the text, such as `shared`, bytes of local memory.
    """

    accepted: bool
    said: str
    text: str = ""
    located: str = ""
    generic: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


def judge(release: str, text: str, *, chip: str = "gfx942") -> Verdict:
    """Has a release parse, verify and print a module.

    Args:
        release: One of `releases()`.
        text: The module, of `tt`, or of `ttg` and a vendor's dialect.
        chip: Whose vendor's dialects are known: "gfx942", or "90" for NVIDIA's.
    """
    return _verdict(release, {"ask": "judge", "text": text, "chip": chip})


def compiled(release: str, source: Source, chip: str, stage: str = "ttgir") -> Verdict:
    """Has a release compile a function, which needs neither a GPU nor a driver.

    Args:
        release: One of `releases()`.
        source: The function with what a launch tells of its arguments.
        chip: Such as "gfx942", or "90" for NVIDIA's.
        stage: The last stage: "source", which is `tt` before any pass, "ttir", "ttgir", "llir" or
            "amdgcn"; later ones do not run.
    """
    code = Path(source.file).read_text()
    question = {"ask": "compile", **asdict(source), "chip": chip, "stage": stage}
    return _verdict(release, question, code)


def assembled(release: str, text: str, chip: str, language: str = "ttir") -> Verdict:
    """Has a release compile the text of a module with one kernel to machine code.

    Args:
        release: One of `releases()`.
        text: The module.
        chip: Such as "gfx942", or "90" for NVIDIA's.
        language: "ttir", or "ttgir" for a module with layouts.

    Returns:
        A verdict whose text is the assembly for chips of AMD, and whose metadata have the names of
        what was made, such as "cubin", under `kinds`, and the bytes of local memory as `shared`.
    """
    question = {"ask": "assemble", "text": text, "chip": chip, "language": language}
    return _verdict(release, question)


def interpreted(
    source: Source, arguments: Mapping[str, Any], grid: tuple[int, ...]
) -> dict[str, Any]:
    """Runs a function in the interpreter of the newest release, whose arithmetic is repaired.

    Args:
        source: The function.
        arguments: Arrays, which stay as they are, and numbers.
        grid: The programs along each dimension.

    Returns:
        The arrays as they are afterwards.

    Raises:
        RuntimeError: The interpreter fails; the message is its own.
    """
    arrays: dict[str, Any] = {n: a for n, a in arguments.items() if isinstance(a, np.ndarray)}
    data = {n: base64.b64encode(a.tobytes()).decode() for n, a in arrays.items()}
    numbers: dict[str, Any] = {
        n: a.item() if isinstance(a, np.generic) else a
        for n, a in arguments.items()
        if n not in arrays
    }
    answer, said = _server(NEWEST, interprets=True).ask(
        {"ask": "interpret", **asdict(source), "arrays": data, "numbers": numbers, "grid": grid}
    )
    if not answer["ok"]:
        raise RuntimeError(_joined(said, answer["error"]))
    return {
        n: np.frombuffer(base64.b64decode(answer["arrays"][n]), a.dtype).reshape(a.shape)
        for n, a in arrays.items()
    }


def _verdict(release: str, question: dict[str, Any], code: str = "") -> Verdict:
    """A verdict, which is asked for once: it depends on the release and the question only."""
    parts = (
        release,
        Path(__file__).with_name("server.py").read_text(),
        code,
        json.dumps(question, sort_keys=True),
    )
    key = f"triton-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"
    cache_on_disk = Cache()
    entry = cache_on_disk.get(key)
    if entry is not None:
        return Verdict(**entry.header)
    answer, said = _server(release).ask(question)
    if answer.pop("ok"):
        verdict = Verdict(accepted=True, said=said, **answer)
    else:
        verdict = Verdict(accepted=False, said=_joined(said, answer["error"]))
    cache_on_disk.put(key, asdict(verdict))
    return verdict


def _joined(said: str, error: str) -> str:
    return f"{said}{error}".strip()


@cache
def _server(release: str, *, interprets: bool = False) -> _Server:
    server = _Server(release, interprets=interprets)
    atexit.register(server.close)
    return server


class _Server:
    """A process with a release, started when it is asked."""

    def __init__(self, release: str, *, interprets: bool) -> None:
        self._release = release
        self._interprets = interprets
        self._process: subprocess.Popen[str] | None = None
        self._answers: IO[str] | None = None
        # Triton's own cache must be empty, and it writes beside it.
        self._home = tempfile.TemporaryDirectory(prefix="xtile-triton-")
        self._said = Path(self._home.name) / "said"

    def ask(self, question: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """The answer to a question, and what Triton wrote meanwhile."""
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._answers is not None
        self._said.write_text("")
        self._process.stdin.write(json.dumps({"seconds": SECONDS, **question}) + "\n")
        self._process.stdin.flush()
        line = self._answers.readline()
        if line:
            return json.loads(line), self._said.read_text(errors="replace")
        code = self._process.wait()
        self.close()
        died = f"it died of {signal_name(-code)}" if code < 0 else f"it ended with code {code}"
        return {"ok": False, "error": died}, self._said.read_text(errors="replace")

    def close(self) -> None:
        """Ends the process, if there is one."""
        if self._process is not None:
            assert self._process.stdin is not None
            assert self._answers is not None
            self._process.kill()
            self._process.wait()
            self._process.stdin.close()
            self._answers.close()
            self._process = None

    def _start(self) -> None:
        read, write = os.pipe()
        with self._said.open("a") as said:
            self._process = subprocess.Popen(
                [sys.executable, "-m", _SERVER, str(os.getpid()), str(write)],
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=said,
                cwd=self._home.name,
                env=self._environment(),
                pass_fds=[write],
                text=True,
            )
        os.close(write)
        self._answers = os.fdopen(read)

    def _environment(self) -> dict[str, str]:
        kept = {n: v for n, v in os.environ.items() if not n.startswith(("TRITON_", "AMDGCN_"))}
        added = {"TRITON_HOME": self._home.name, "TRITON_CACHE_DIR": f"{self._home.name}/cache"}
        # 3.9 warns where nobody says whether products and sums may be fused.
        added["TRITON_DEFAULT_FP_FUSION"] = "1"
        folder = folders().get(self._release)
        added["PYTHONPATH"] = os.pathsep.join(map(str, [folder, _ROOT] if folder else [_ROOT]))
        if self._interprets:
            added["TRITON_INTERPRET"] = "1"
        return {**kept, **added}
