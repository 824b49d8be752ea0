"""Names of values. Generated from the lists of `readyok-rules` by `cargo xtask docs`."""

from typing import Literal

GameName = Literal[
    "chess",
    "chess960",
    "shogi",
]
"""A game."""

Side = Literal[
    "first",
    "second",
]
"""A player: the first is White in chess and Black (sente) in shogi."""

Notation = Literal[
    "uci",
    "usi",
    "san",
    "western",
    "western-digits",
    "lan",
    "long",
    "japanese",
    "csa",
]
"""A notation of moves. `usi`, `western` and `long` are other names of `uci`, `san` and `lan`."""

FenForm = Literal[
    "fen",
    "x-fen",
    "shredder",
]
"""A form of FEN."""

Format = Literal[
    "pgn",
    "kif",
    "ki2",
    "csa",
    "jkf",
    "uci",
    "usi",
]
"""A format of game records."""

Result = Literal[
    "1-0",
    "0-1",
    "1/2-1/2",
    "*",
]
"""A result of a game; `*` is an unfinished or unknown one."""

Termination = Literal[
    "checkmate",
    "stalemate",
    "repetition",
    "fivefold-repetition",
    "perpetual-check",
    "fifty-moves",
    "seventy-five-moves",
    "insufficient-material",
    "dead-position",
    "move-limit",
    "declaration",
    "wrong-declaration",
    "impasse",
    "try",
    "resignation",
    "agreement",
    "time-forfeit",
    "time-without-material",
    "illegal-move",
    "forfeit",
    "adjudication",
    "draw-adjudication",
    "resign-adjudication",
    "mate-claim",
    "tablebase",
    "engine-failure",
    "crash",
    "stall",
    "no-start",
    "aborted",
    "no-mate",
    "take-back",
    "error",
    "other",
]
"""What ended a game."""

Handicap = Literal[
    "lance",
    "right lance",
    "bishop",
    "rook",
    "rook and lance",
    "two pieces",
    "three pieces",
    "four pieces",
    "five pieces",
    "left five pieces",
    "six pieces",
    "right seven pieces",
    "left seven pieces",
    "eight pieces",
    "ten pieces",
    "naked king",
]
"""A handicap of shogi."""
