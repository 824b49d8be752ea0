from typing import Literal
GameName = Literal["chess", "chess960", "shogi"]
Side = Literal["first", "second"]
Notation = Literal["uci", "usi", "san", "western", "western-digits", "long", "japanese", "csa"]
Format = Literal["pgn", "kif"]
Result = Literal["1-0", "0-1", "1/2-1/2", "*"]
Termination = Literal["checkmate"]
Handicap = Literal["lance"]
