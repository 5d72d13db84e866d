"""Finding the commands of other packages and of the system."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def find_command(name: str) -> str | None:
    """The path of a command: this Python's own, or else the first one on the PATH.

    What pip installs into a virtual environment lies beside its Python, and is found whether or not
    the environment is activated.
    """
    # There is no executable where Python is part of another program.
    own = [str(Path(sys.executable).parent)] if sys.executable else []
    return shutil.which(name, path=os.pathsep.join([*own, os.environ.get("PATH", os.defpath)]))
