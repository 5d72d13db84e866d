"""Ports kernels on the workers of a Dask cluster: of one that runs, or of one of this computer.

A worker gets a kernel as bytes and gives back the files as bytes, so it needs no disk in common
with the command. What a lost worker had begun another one begins again; what was done is on the
command's disk already.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed import Client, LocalCluster, as_completed

from xtile.ports.outcome import Outcome, failed, key_of, of_kernel, read_report, words_of
from xtile.ports.report import JSON_NAME
from xtile.text.files import write_file

_CONNECTION_SECONDS = 20

_PROGRAM = """\
import sys
from xtile.processes import die_with
die_with(int(sys.argv.pop(1)))
from xtile.entry_points import xtile
sys.exit(xtile())
"""
"""The command, which ends with the worker that started it."""


@dataclass(frozen=True)
class Task:
    """What a worker needs to port a kernel.

    Attributes:
        name: The kernel's path in its folder.
        files: Files by their relative paths: the kernel, and what inputs are made of.
        words: The options, as words of a command line.
    """

    name: str
    files: dict[str, bytes]
    words: list[str]


@dataclass(frozen=True)
class Made:
    """What a worker has made of a kernel.

    Attributes:
        files: The files by their names; none where the process died.
        code: The exit code of the process.
        errors: What it wrote to standard error.
    """

    files: dict[str, bytes]
    code: int
    errors: str


def port_task(task: Task) -> Made:
    """Ports a kernel; runs on a worker, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="xtile-port-") as directory:
        for name, content in task.files.items():
            path = Path(directory, "in", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        output = Path(directory, "out")
        command = [sys.executable, "-c", _PROGRAM, str(os.getpid())]
        done = subprocess.run(
            [*command, "port", task.name, "-o", str(output), *task.words],
            cwd=Path(directory, "in"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        made = sorted(output.iterdir()) if output.is_dir() else []
        files = {each.name: each.read_bytes() for each in made if each.is_file()}
        return Made(files, done.returncode, done.stderr)


class DistributedJobs:
    """Ports kernels on the workers of a cluster.

    Args:
        options: Those of the command. Its `scheduler` is the address of a cluster's scheduler; None
            starts a cluster of `jobs` workers here.
        folder: Where the kernels are.
    """

    def __init__(self, options: Namespace, folder: Path) -> None:
        self._options = options
        self._folder = folder

    def run(self, kernels: Sequence[Path]) -> Iterator[Outcome]:
        """Ports kernels, and gives what became of each as soon as it is done.

        Raises:
            OSError: No scheduler answers at the address.
        """
        cluster = self._options.scheduler or LocalCluster(
            n_workers=self._options.jobs,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )
        try:
            with Client(cluster, timeout=_CONNECTION_SECONDS) as client:
                yield from self._ported(client, kernels)
        finally:
            if not isinstance(cluster, str):
                cluster.close()

    def _ported(self, client: Any, kernels: Sequence[Path]) -> Iterator[Outcome]:
        by_key = {str(each.relative_to(self._folder)): each for each in kernels}
        futures = [
            client.submit(port_task, self._task(name, kernel), key=f"xtile-{name}", pure=False)
            for name, kernel in by_key.items()
        ]
        try:
            done: Any = as_completed(futures)
            for future in done:
                name = future.key.removeprefix("xtile-")
                yield self._kept(name, by_key[name], future)
                future.release()
        except BaseException:
            client.cancel(futures)
            raise

    def _task(self, name: str, kernel: Path) -> Task:
        files = {name: kernel.read_bytes()}
        words = words_of(self._options)
        if self._options.inputs is not None:
            path = Path(self._options.inputs)
            files[path.name] = path.read_bytes()
            words = words_of(Namespace(**{**vars(self._options), "inputs": path.name}))
        return Task(name, files, words)

    def _kept(self, name: str, kernel: Path, future: Any) -> Outcome:
        """What became of a kernel, whose files are written now."""
        if future.status != "finished":
            return failed(name, 1, f"no worker ported it: {future.exception()}")
        made: Made = future.result()
        output = Path(self._options.output) / name
        output.mkdir(parents=True, exist_ok=True)
        key = key_of(of_kernel(self._options, kernel))
        # The report, which says that all is there, is the last.
        for file in sorted(made.files, key=lambda each: each == JSON_NAME):
            content = made.files[file]
            if file == JSON_NAME:
                content = json.dumps({**json.loads(content), "key": key}) + "\n"
            write_file(str(output / file), content)
        return read_report(name, output, key) or failed(name, made.code, made.errors)
