#!/usr/bin/env python3
"""Times of positions and records against python-chess and cshogi, as a table in Markdown.

Usage: bench.py [--quick] [--check]
"""

import argparse
import io
import logging
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import chess
import chess.pgn
import cshogi
import readyok

from table import Table, lowest

RECORDS = Path(__file__).resolve().parents[2] / "testdata/records"
# Files without defects, which both packages read the same way.
FILES = ["chesscom.pgn", "cutechess.pgn", "lichess.pgn", "lichess-broadcast.pgn", "scid.pgn", "twic.pgn"]
SEED = 1
STREAM_BYTES = 140_000_000
# Megabytes.
STREAM_MEMORY = 20
# A process of its own, without the peers. The peak of `getrusage` includes the parent before `exec`, so that of Linux is read
# from /proc.
STREAM = """
import resource, sys, time
import readyok

def peak():
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1e3
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)

before, start = peak(), time.perf_counter()
games = sum(1 for _ in readyok.read(sys.argv[1]))
print(games, time.perf_counter() - start, before, peak())
"""


def chess_games(count, plies=80):
    """The moves of random games."""
    rng = random.Random(SEED)
    games = []
    for _ in range(count):
        board = chess.Board()
        while len(board.move_stack) < plies and not board.is_game_over():
            board.push(rng.choice(sorted(board.legal_moves, key=chess.Move.uci)))
        games.append([move.uci() for move in board.move_stack])
    return games


def shogi_games(count, plies=120):
    rng = random.Random(SEED)
    games = []
    for _ in range(count):
        board, moves = cshogi.Board(), []
        while len(moves) < plies and not board.is_game_over():
            moves.append(rng.choice(sorted(cshogi.move_to_usi(move) for move in board.legal_moves)))
            board.push_usi(moves[-1])
        games.append(moves)
    return games


def pgn_text(games):
    """The files of `testdata`, and a game of random moves after each of them until all games are used."""
    files = [(RECORDS / name).read_text(encoding="utf-8-sig") for name in FILES]
    parts = []
    for index, moves in enumerate(games):
        board = chess.Board()
        game = chess.pgn.Game()
        game.add_line([board.push_uci(move) for move in moves])
        parts += [files[index % len(files)].strip(), str(game)]
    return "\n\n".join(parts) + "\n\n"


class Bench:
    def __init__(self, quick):
        self.table = Table()
        self.rounds = 2 if quick else 7
        # Programs of the peer take seconds.
        self.slow_rounds = 1 if quick else 3
        scale = 0.2 if quick else 1
        self.chess = chess_games(int(60 * scale))
        self.shogi = shogi_games(int(40 * scale))
        self.pgn = pgn_text(chess_games(int(200 * scale)))

    def compare(self, case, units, ours, peer, theirs, goal=None, repeat=1, rounds=None):
        """Adds a row, if both functions return the same. `repeat`: runs of ours in each round, as it is faster."""
        expected, result = theirs(), ours()
        assert expected == result, f"{case}: the results differ: {str(expected)[:200]} {str(result)[:200]}"

        def repeated():
            for _ in range(repeat):
                ours()

        times = lowest([repeated, theirs], rounds or self.rounds, time.process_time)
        self.table.add(case, times[0] / repeat / units, peer, times[1] / units, goal)

    def records(self):
        data = self.pgn.encode()
        plies = sum(map(len, readyok.read(data, "pgn")))

        def ours():
            return [len(game) for game in readyok.read(data, "pgn")]

        def theirs():
            file, lengths = io.StringIO(self.pgn), []
            while (game := chess.pgn.read_game(file)) is not None:
                lengths.append(sum(1 for _ in game.mainline_moves()))
            return lengths

        self.compare("PGN with legality, a ply", plies, ours, "python-chess", theirs, 100, 20, self.slow_rounds)

        def ours():
            return [game.texts() for game in readyok.read(data, "pgn")]

        def theirs():
            file, texts = io.StringIO(self.pgn), []
            while (game := chess.pgn.read_game(file)) is not None:
                board = game.board()
                texts.append([board.fen()])
                for move in game.mainline_moves():
                    board.push(move)
                    texts[-1].append(board.fen())
            return texts

        self.compare(
            "PGN with the FEN of each ply, a ply", plies, ours, "python-chess", theirs, None, 5, self.slow_rounds
        )

    def positions(self):
        lines = self.chess
        plies = sum(map(len, lines))

        def ours():
            moves = []
            for line in lines:
                position = readyok.Position()
                for move in line:
                    moves.append(len(position.legal_moves))
                    position.push(move)
            return moves

        def theirs():
            moves = []
            for line in lines:
                board = chess.Board()
                for move in line:
                    moves.append(len([move.uci() for move in board.legal_moves]))
                    board.push_uci(move)
            return moves

        self.compare("legal moves as text + push, a ply", plies, ours, "python-chess", theirs, repeat=5)

        def theirs():
            boards = []
            for line in lines:
                board = chess.Board()
                for move in line:
                    board.push_uci(move)
                boards.append(board.fen())
            return boards

        def ours():
            positions = []
            for line in lines:
                position = readyok.Position()
                for move in line:
                    position.push(move)
                positions.append(str(position))
            return positions

        self.compare("push, a ply", plies, ours, "python-chess", theirs, repeat=5)

        def ours():
            positions = []
            for line in lines:
                position = readyok.Position()
                position.push_all(line)
                positions.append(str(position))
            return positions

        self.compare("`push_all`, a ply", plies, ours, "python-chess", theirs, repeat=10)
        objects = [[chess.Move.from_uci(move) for move in line] for line in lines]

        def ours():
            start = readyok.Position()
            return [start.line(line) for line in lines]

        def theirs():
            texts = []
            for line in objects:
                board = chess.Board()
                texts.append([board.san_and_push(move) for move in line])
            return texts

        self.compare("line to SAN, a ply", plies, ours, "python-chess", theirs, repeat=10)
        position, board = readyok.Position(moves=lines[0][:40]), chess.Board()
        for move in lines[0][:40]:
            board.push_uci(move)

        def ours():
            for _ in range(2000):
                position.push(position.pop())

        def theirs():
            for _ in range(2000):
                board.push(board.pop())

        self.compare("pop + push at ply 40", 2000, ours, "python-chess", theirs, repeat=2)

    def shogi_positions(self):
        lines = self.shogi
        plies = sum(map(len, lines))

        def ours():
            moves = []
            for line in lines:
                position = readyok.Position(game="shogi")
                for move in line:
                    moves.append(len(position.legal_moves))
                    position.push(move)
            return moves

        def theirs():
            moves = []
            for line in lines:
                board = cshogi.Board()
                for move in line:
                    moves.append(len([cshogi.move_to_usi(move) for move in board.legal_moves]))
                    board.push_usi(move)
            return moves

        self.compare("shogi: legal moves as text + push, a ply", plies, ours, "cshogi", theirs, 1)

        def theirs():
            moves = []
            for line in lines:
                board = cshogi.Board()
                for move in line:
                    moves.append(len(list(board.legal_moves)))
                    board.push_usi(move)
            return moves

        self.compare("the same; cshogi with integers", plies, ours, "cshogi", theirs)

        def ours():
            texts = []
            for line in lines:
                position = readyok.Position(game="shogi")
                for move in line:
                    position.push(move)
                    texts.append(str(position))
            return texts

        def theirs():
            texts = []
            for line in lines:
                board = cshogi.Board()
                for move in line:
                    board.push_usi(move)
                    texts.append(board.sfen())
            return texts

        self.compare("shogi: push + SFEN, a ply", plies, ours, "cshogi", theirs)

    def streaming(self, bytes):
        """The memory of a process that reads a large file, above that after the imports."""
        part = self.pgn.encode()
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "large.pgn")
            with open(path, "wb") as file:
                for _ in range(bytes // len(part) + 1):
                    file.write(part)
            size = path.stat().st_size / 1e6
            process = subprocess.run(
                [sys.executable, "-c", STREAM, path], check=True, capture_output=True, text=True
            )
        games, seconds, before, after = map(float, process.stdout.split())
        self.table.add_limit(f"memory, {size:.0f} MB of PGN", after - before, "MB", STREAM_MEMORY)
        return (
            f"Streaming: {size:.0f} MB of PGN, {games:,.0f} games in {seconds:.2f} s ({size / seconds:.0f} MB/s). The process has "
            f"{before:.0f} MB after the imports and at most {after:.0f} MB."
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="few rounds and small inputs: a test of this script")
    parser.add_argument("--check", action="store_true", help="fail if a goal is missed")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    bench = Bench(arguments.quick)
    bench.records()
    bench.positions()
    bench.shogi_positions()
    streamed = bench.streaming(2_000_000 if arguments.quick else STREAM_BYTES)
    bench.table.print()
    print(streamed)
    return 1 if arguments.check and bench.table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
