"""Chess, Chess960 and shogi: positions, game records, and UCI and USI engines.

    >>> from readyok import Position
    >>> position = Position()
    >>> position.push("e4")
    'e2e4'
    >>> position.line(["e7e5", "g1f3"])
    ['e5', 'Nf3']
"""

from ._headers import Headers
from ._names import FenForm, Format, GameName, Handicap, Notation, Result, Side, Termination
from ._program import narikin, program
from ._readyok import (
    Book,
    BookMove,
    Engine,
    EngineOption,
    Evaluation,
    Game,
    Info,
    LogIterator,
    Node,
    Outcome,
    Position,
    Records,
    Score,
    Search,
    SearchResult,
    Tablebase,
    TablebaseMove,
    TablebaseResult,
    Task,
    format_command,
    format_reply,
    parse_command,
    parse_reply,
    read,
    write,
)
from .errors import (
    EngineError,
    EngineStartError,
    EngineTerminatedError,
    EngineTimeoutError,
    EngineUsageError,
    IllegalMoveError,
    PositionError,
    ReadyokError,
    RecordError,
    RecordWarning,
    SearchDroppedError,
    TablebaseError,
)


def __getattr__(name: str) -> str:
    # Importing the metadata takes longer than importing this package.
    if name == "__version__":
        from importlib.metadata import version

        return version("readyok")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Book",
    "BookMove",
    "Engine",
    "EngineError",
    "EngineOption",
    "EngineStartError",
    "EngineTerminatedError",
    "EngineTimeoutError",
    "EngineUsageError",
    "Evaluation",
    "FenForm",
    "Format",
    "Game",
    "GameName",
    "Handicap",
    "Headers",
    "IllegalMoveError",
    "Info",
    "LogIterator",
    "Node",
    "Notation",
    "Outcome",
    "Position",
    "PositionError",
    "ReadyokError",
    "RecordError",
    "RecordWarning",
    "Records",
    "Result",
    "Score",
    "Search",
    "SearchDroppedError",
    "SearchResult",
    "Side",
    "Tablebase",
    "TablebaseError",
    "TablebaseMove",
    "TablebaseResult",
    "Task",
    "Termination",
    "format_command",
    "format_reply",
    "narikin",
    "parse_command",
    "parse_reply",
    "program",
    "read",
    "write",
]
