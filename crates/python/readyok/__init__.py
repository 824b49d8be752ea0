"""Chess, Chess960 and shogi: positions, game records, and UCI and USI engines.

    >>> from readyok import Position
    >>> position = Position()
    >>> position.push("e4")
    'e2e4'
    >>> position.line(["e7e5", "g1f3"])
    ['e5', 'Nf3']
"""

from importlib.metadata import PackageNotFoundError as _PackageNotFoundError, version as _version

from ._headers import Headers
from ._names import FenForm, Format, GameName, Handicap, Notation, Result, Side, Termination
from ._program import program
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

try:
    __version__ = _version("readyok")
except _PackageNotFoundError:
    __version__ = "unknown"

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
    "parse_command",
    "parse_reply",
    "program",
    "read",
    "write",
]
