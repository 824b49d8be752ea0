"""Programs that the tests need. A missing one is a failure, never a skipped test."""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def stockfish() -> str:
    path = shutil.which("stockfish", path=f"{os.environ['PATH']}:/usr/games")
    assert path, "scripts/install-engines.sh installs Stockfish"
    return path


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


def script(tmp_path: Path, *lines: str) -> str:
    """An engine that is a shell script."""
    path = tmp_path / "engine.sh"
    path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)
