"""The exceptions and warnings of the package."""

from __future__ import annotations

from typing import Any, List


class ReadyokError(Exception):
    """The base of all exceptions of this package."""

    def __init__(self, text: str = "", **details: Any) -> None:
        super().__init__(text)
        self.__dict__.update(details)


class PositionError(ReadyokError, ValueError):
    """The text is not a position of the game, or no moves are possible in it."""


class IllegalMoveError(ReadyokError, ValueError):
    """A move is illegal, unreadable or ambiguous."""

    #: The text of the move, shortened.
    move: str = ""
    #: The moves that an ambiguous text fits, in UCI or USI notation.
    candidates: List[str] = []
    #: The index of the move in a list of moves.
    index: int = 0


class RecordError(ReadyokError, ValueError):
    """A game of a file cannot be read or written."""

    #: The number of the game in the file, from 1. 0 if a game cannot be written.
    game: int = 0
    #: The line, from 1.
    line: int = 0
    #: The column, in characters, from 1.
    column: int = 0


class TablebaseError(ReadyokError, LookupError):
    """No tablebase can have the position."""


class EngineError(ReadyokError):
    """An engine gave no result."""

    #: The name of the engine.
    engine: str = ""
    #: The last lines of its error output.
    stderr: List[str] = []
    #: Whether the engine is still usable.
    recoverable: bool = False


class EngineStartError(EngineError, OSError):
    """The engine cannot be started."""


class EngineTimeoutError(EngineError, TimeoutError):
    """The engine did not answer in time."""


class EngineTerminatedError(EngineError):
    """The engine exited, crashed, closed its output, or was closed."""


class EngineUsageError(EngineError, ValueError):
    """The request is invalid: an unknown option, a bad value, a limit that the protocol does not have."""


class SearchDroppedError(EngineError):
    """The search ended without an answer, because a newer one replaced it or the game ended."""


class RecordWarning(UserWarning):
    """A format cannot hold some content of a game."""
