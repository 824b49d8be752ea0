"""Plays moves and runs an analysis with python-chess.

Usage: python-chess.py ENGINE
"""

import sys

import chess
import chess.engine


def main() -> None:
    board = chess.Board()
    with chess.engine.SimpleEngine.popen_uci(sys.argv[1], timeout=4) as engine:
        engine.configure({"Hash": 32} if "Hash" in engine.options else {})
        for ply in range(4):
            # Without a time, python-chess applies no timeout.
            limit = chess.engine.Limit(time=1, white_clock=60, black_clock=60, white_inc=1, black_inc=1)
            played = engine.play(board, limit, game="one", ponder=ply < 2)
            if played.move is None:
                raise SystemExit("the engine has no move")
            board.push(played.move)
            if played.ponder is not None and ply < 2:
                board.push(played.ponder)
        lines = 2 if "MultiPV" in engine.options else None
        engine.analyse(board, chess.engine.Limit(depth=3), multipv=lines)
        with engine.analysis(board) as analysis:
            for _ in analysis:
                break
        engine.quit()


main()
