"""The executable of the package."""

import os
import sys
import sysconfig
from pathlib import Path
from typing import Iterator, List, Optional

_NAME = "readyok.exe" if os.name == "nt" else "readyok"


def _candidates() -> Iterator[Path]:
    if "READYOK_PROGRAM" in os.environ:
        yield Path(os.environ["READYOK_PROGRAM"])
    yield Path(sysconfig.get_path("scripts"), _NAME)
    for scheme in ("posix_user", "nt_user", "osx_framework_user"):
        if scheme in sysconfig.get_scheme_names():
            yield Path(sysconfig.get_path("scripts", scheme=scheme), _NAME)
    # `pip install --target`.
    yield Path(__file__).parents[1] / "bin" / _NAME


def program() -> Optional[str]:
    """The path of the executable `readyok` of this package. None if it is not installed, as in a build from source."""
    for path in _candidates():
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    return None


def narikin() -> List[str]:
    """The command of Narikin, the engine of this package for chess, Chess960 and shogi: `Engine(narikin())`.

    Raises FileNotFoundError if the executable is not installed, as in a build from source.
    """
    found = program()
    if found is None:
        raise FileNotFoundError("the executable of readyok is not installed")
    return [found, "engine"]


def guards() -> List[List[str]]:
    """Commands that run the guardian of engines, the fastest first."""
    commands = []
    found = program()
    if found is not None:
        commands.append([found, "guard"])
    if sys.executable:
        from . import _readyok

        script = (
            "import importlib.util as u; s = u.spec_from_file_location('_readyok', "
            f"{_readyok.__file__!r}); m = u.module_from_spec(s); s.loader.exec_module(m); m.serve_guard()"
        )
        commands.append([sys.executable, "-I", "-S", "-E", "-c", script])
    return commands
