"""Kernels that workers of a Dask cluster port, one of which is lost on the way."""

from __future__ import annotations

import json
import logging
import os
import signal
import time
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from distributed import LocalCluster

from tests.checking.kernels import rows
from xtile.cli import main

KERNELS = 5


def _reports(output: Path) -> dict[Path, int]:
    """The reports that are written, and when."""
    return {path: path.stat().st_mtime_ns for path in output.rglob("report.json")}


class _Killer(Thread):
    """Kills a worker once the first report is there, while others are ported."""

    def __init__(self, worker: int, output: Path) -> None:
        super().__init__()
        self._worker, self._output = worker, output
        self.done_before: dict[Path, int] = {}

    def run(self) -> None:
        deadline = time.monotonic() + 60
        while not self.done_before and time.monotonic() < deadline:
            time.sleep(0.02)
            self.done_before = _reports(self._output)
        os.kill(self._worker, signal.SIGKILL)


@pytest.mark.slow
def test_a_lost_worker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = tmp_path / "kernels", tmp_path / "out"
    folder.mkdir()
    for number in range(KERNELS):
        (folder / f"{number}.mlir").write_text(rows().replace("@rows", f"@rows{number}"))
    options = ["port", str(folder), "--to", "tensorlang", "--no-check", "-o", str(out)]
    started: Any = LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )
    with started as cluster:
        options += ["--scheduler", cluster.scheduler_address]
        killer = _Killer(cluster.workers[0].pid, out)
        killer.start()
        assert main(options) == 0
        killer.join()
        assert 0 < len(killer.done_before) < KERNELS
        said = f"{KERNELS} of {KERNELS} kernels are translated and not checked; 0 were done before"
        assert said in capsys.readouterr().out
        summary = json.loads((out / "summary.json").read_text())
        verdicts = [each["verdicts"] for each in summary["kernels"]]
        assert verdicts == [{"tensorlang": "not checked"}] * KERNELS
        written = _reports(out)
        assert len(written) == KERNELS
        assert killer.done_before.items() <= written.items()
        assert main(options) == 0
        assert f"{KERNELS} were done before" in capsys.readouterr().out
        assert _reports(out) == written
